/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An algorithm of the CPU. The library has one, `runs`; those of the papers are in research/cpu/.
 */
#pragma once

#include "core/label/labeller-class.h"
#include "labeller-tuning.h"

typedef struct CpuAlgorithm {
  const char *name;        /* as in CclLabellerPlan.algorithm */
  const char *title;       /* for people: what ccl_cpu_algorithm_title() returns */
  const char *paper;       /* where it is described */
  bool has_4_connectivity; /* all have 8-connectivity */
  bool uses_threads;       /* several threads can share a frame */

  /* Whether its labellers measure the columns of a plan; NULL: never. Otherwise they are measured
   * from the label map. */
  bool (*measures) (const CclLabellerPlan *plan);

  /* Makes a labeller. The plan has been checked; its algorithm is the name above. */
  CclLabeller *(*labeller_new) (const struct CpuAlgorithm *algorithm, const CclLabellerPlan *plan,
      const CclCpuTuning *tuning, CclError *error);
} CpuAlgorithm;

/* The library's. */
extern const CpuAlgorithm cpu_runs;

bool ccl_cpu_algorithm_has (const CpuAlgorithm *algorithm, CclConnectivity connectivity);

/* As ccl_cpu_labeller_new_tuned(), with an algorithm that the library need not have, instead of the
 * plan's. */
CclLabeller *ccl_cpu_labeller_new_with (const CclLabellerPlan *plan, const CpuAlgorithm *algorithm,
    const CclCpuTuning *tuning, CclError *error);
