/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreground masks by codebooks (core/foreground/codebook.h) on a GPU. */
#ifndef CUDACCL_CUDA_CODEBOOK_FOREGROUND_H
#define CUDACCL_CUDA_CODEBOOK_FOREGROUND_H

#include "cuda/driver/launch.h"

/* A foreground segmenter that begins with a CclCudaSegmenter (segmenter.h). The device's
 * context is current. NULL with the error filled: CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE. */
CclForeground *ccl_cuda_codebook_foreground_new (
    CclCudaDevice *device, const CclForegroundPlan *plan, CclError *error);

/* Has the next run begin with this kernel, which writes the run's frame. Its parameters must stay
 * until the run is queued. */
void ccl_cuda_codebook_foreground_begin_with (
    CclForeground *foreground, const CclCudaLaunch *first);

/* Whether ccl_cuda_codebook_foreground_new() has made the object. */
bool ccl_cuda_is_codebook_foreground (const CclForeground *foreground);

#endif /* CUDACCL_CUDA_CODEBOOK_FOREGROUND_H */
