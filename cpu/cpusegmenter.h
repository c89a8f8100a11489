/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU segmenter: the job of segmenter.h without a GPU. */
#ifndef CCL_CPU_SEGMENTER_H
#define CCL_CPU_SEGMENTER_H

#include "segmenter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plans a segmenter that runs on the CPU.
 *
 * Frames, zone and masks are host memory. Free with ccl_segmenter_free(). Any thread may call. A
 * background model takes up to 30 bytes a pixel, as far as pixels need them.
 *
 * The environment variable CCL_CPU_INSTRUCTIONS ("portable", "avx2", "avx512") overrides the
 * choice of code for the processor.
 *
 * Returns the segmenter, or NULL with the error filled: CCL_ERROR_ARGUMENT, CCL_ERROR_UNSUPPORTED
 * (the processor lacks the instructions asked for), CCL_ERROR_NO_MEMORY. */
CclSegmenter *ccl_cpu_segmenter_new (const CclSegmenterPlan *plan, CclError *error);

#ifdef __cplusplus
}
#endif

#endif /* CCL_CPU_SEGMENTER_H */
