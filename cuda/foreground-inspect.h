/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests look at inside a GPU foreground. */
#ifndef CCL_CUDA_FOREGROUND_PRIVATE_H
#define CCL_CUDA_FOREGROUND_PRIVATE_H

#include <cudaccl/cuda.h>

/* Copies the background model as the last run leaves it, CCL_MAX_MIXTURES × height × width numbers
 * of each kind, in that order. For a foreground whose plan's foreground is
 * CCL_FOREGROUND_MOG2. Errors: CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CclStatus ccl_cuda_foreground_read_model (CclForeground *foreground, uint16_t *weights,
    uint16_t *means, uint16_t *variances, CclError *error);

#endif /* CCL_CUDA_FOREGROUND_PRIVATE_H */
