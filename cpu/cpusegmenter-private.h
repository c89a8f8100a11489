/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests and benchmarks of the CPU segmenter decide, or look at, that users leave to it. */
#ifndef CCL_CPU_SEGMENTER_PRIVATE_H
#define CCL_CPU_SEGMENTER_PRIVATE_H

#include "cpulabeller-private.h"
#include "cpusegmenter.h"

/* As ccl_cpu_segmenter_new(). CCL_ERROR_UNSUPPORTED also if the processor lacks the instructions.
 */
CclSegmenter *ccl_cpu_segmenter_new_tuned (
    const CclSegmenterPlan *plan, const CclCpuTuning *tuning, CclError *error);

/* What the background model of a segmenter made by the CPU keeps of Gaussian k of a pixel:
 * weight, mean and variance in steps as mixture.h has them. */
void ccl_cpu_segmenter_get_gaussian (const CclSegmenter *segmenter, uint32_t x, uint32_t y,
    uint32_t k, uint16_t *weight, uint16_t *mean, uint16_t *variance);

#endif /* CCL_CPU_SEGMENTER_PRIVATE_H */
