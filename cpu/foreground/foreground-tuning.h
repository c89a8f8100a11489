/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Choices that the CPU foreground makes by itself, except in tests and benchmarks. */
#pragma once

#include "cpu/label/labeller-tuning.h"
#include <cudaccl/foreground.h>

/* As ccl_cpu_foreground_new(). CUDACCL_ERROR_UNSUPPORTED also if the processor lacks the
 * instructions.
 */
CclForeground *ccl_cpu_foreground_new_tuned (
    const CclForegroundPlan *plan, const CclCpuTuning *tuning, CclError *error);
