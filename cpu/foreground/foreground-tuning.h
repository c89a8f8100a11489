/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Choices that the CPU foreground makes by itself, except in tests and benchmarks, and a look at
 * its background model. */
#ifndef CUDACCL_CPU_FOREGROUND_PRIVATE_H
#define CUDACCL_CPU_FOREGROUND_PRIVATE_H

#include "cpu/label/labeller-tuning.h"
#include <cudaccl/foreground.h>

/* As ccl_cpu_foreground_new(). CUDACCL_ERROR_UNSUPPORTED also if the processor lacks the
 * instructions.
 */
CclForeground *ccl_cpu_foreground_new_tuned (
    const CclForegroundPlan *plan, const CclCpuTuning *tuning, CclError *error);

/* Reads Gaussian k of a pixel from the background model of an object made by
 * ccl_cpu_foreground_new(): weight, mean, variance and chroma in the steps of mixture.h. */
void ccl_cpu_foreground_get_gaussian (const CclForeground *foreground, uint32_t x, uint32_t y,
    uint32_t k, uint16_t *weight, uint16_t *mean, uint16_t *variance, uint16_t *chroma);

#endif /* CUDACCL_CPU_FOREGROUND_PRIVATE_H */
