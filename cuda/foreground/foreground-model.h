/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The background model of a foreground segmenter, for tests. */
#ifndef CUDACCL_CUDA_FOREGROUND_MODEL_H
#define CUDACCL_CUDA_FOREGROUND_MODEL_H

#include <cudaccl/device.h>

/* Copies the background model after the last run: CUDACCL_MAX_MIXTURES × height × width values of
 * each kind, in this order. The plan's method is CUDACCL_FOREGROUND_MOG2. Errors:
 * CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_foreground_read_model (CclForeground *foreground, uint16_t *weights,
    uint16_t *means, uint16_t *variances, uint16_t *chroma, CclError *error);

#endif /* CUDACCL_CUDA_FOREGROUND_MODEL_H */
