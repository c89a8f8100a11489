/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests and benchmarks of the CPU foreground decide, or look at, that users leave to it. */
#ifndef CCL_CPU_FOREGROUND_PRIVATE_H
#define CCL_CPU_FOREGROUND_PRIVATE_H

#include "labeller-tuning.h"
#include <cudaccl/foreground.h>

/* As ccl_cpu_foreground_new(). CCL_ERROR_UNSUPPORTED also if the processor lacks the instructions.
 */
CclForeground *ccl_cpu_foreground_new_tuned (
    const CclForegroundPlan *plan, const CclCpuTuning *tuning, CclError *error);

/* What the background model of a foreground made by the CPU keeps of Gaussian k of a pixel:
 * weight, mean and variance in steps as mixture.h has them. */
void ccl_cpu_foreground_get_gaussian (const CclForeground *foreground, uint32_t x, uint32_t y,
    uint32_t k, uint16_t *weight, uint16_t *mean, uint16_t *variance);

#endif /* CCL_CPU_FOREGROUND_PRIVATE_H */
