/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pixels of a frame, and which of them are foreground. */
#ifndef CCL_CUDA_FOREGROUND_CUH
#define CCL_CUDA_FOREGROUND_CUH

#include "kernel-parameters.h"

static __device__ __forceinline__ bool
is_foreground (const CclLabellingParameters &p, uint32_t value)
{
  return (value > p.threshold) != p.invert;
}

/* The first pixel of a row of the frame. */
static __device__ __forceinline__ const uint8_t *
frame_row (const CclLabellingParameters &p, uint32_t y)
{
  return p.frame + y * p.frame_stride;
}

#endif /* CCL_CUDA_FOREGROUND_CUH */
