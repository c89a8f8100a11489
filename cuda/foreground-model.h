/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The background model of a foreground segmenter, for tests. */
#ifndef CCL_CUDA_FOREGROUND_MODEL_H
#define CCL_CUDA_FOREGROUND_MODEL_H

#include <cudaccl/cuda.h>

/* Copies the background model after the last run: CCL_MAX_MIXTURES × height × width values of each
 * kind, in this order. The plan's method is CCL_FOREGROUND_MOG2. Errors: CCL_ERROR_NO_MEMORY,
 * CCL_ERROR_DEVICE. */
CclStatus ccl_cuda_foreground_read_model (CclForeground *foreground, uint16_t *weights,
    uint16_t *means, uint16_t *variances, uint16_t *chroma, CclError *error);

#endif /* CCL_CUDA_FOREGROUND_MODEL_H */
