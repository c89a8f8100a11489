/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU algorithms of the papers, which the benchmark and the tests compare with `runs`, that of
 * the library. All functions are thread safe. */
#pragma once

#include "cpu/label/labeller-tuning.h"

/* All names: those of ccl_cpu_algorithms(), then those of the papers; the list ends with NULL. */
const char *const *ccl_research_cpu_algorithms (void);

/* As ccl_cpu_algorithm_offers() and ccl_cpu_algorithm_uses_threads(), for any of the names. */
bool ccl_research_cpu_offers (const char *algorithm, CclConnectivity connectivity);
bool ccl_research_cpu_uses_threads (const char *algorithm);

/* As ccl_cpu_labeller_new_tuned(), with any of the names. `tuning` may be NULL: that of
 * ccl_cpu_labeller_new(). */
CclLabeller *ccl_research_cpu_labeller_new (
    const CclLabellerPlan *plan, const CclCpuTuning *tuning, CclError *error);
