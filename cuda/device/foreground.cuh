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

/* The foreground among four pixels in the bytes of a word, the bit of the first pixel lowest. A
 * pixel is above the threshold if adding the threshold's complement to its byte carries out of the
 * byte; the three terms are the carry out of the byte's highest bit. */
static __device__ __forceinline__ uint32_t
foreground_of_four (const CclLabellingParameters &p, uint32_t pixels)
{
  const uint32_t complement = (255 - p.threshold) * 0x01010101u;
  const uint32_t low = (pixels & 0x7f7f7f7fu) + (complement & 0x7f7f7f7fu);
  const uint32_t carry = (pixels & complement) | ((pixels | complement) & low);
  return ((carry & 0x80808080u) * 0x00204081u >> 28) ^ (p.invert ? 0xf : 0);
}

/* The first pixel of a row of the frame. */
static __device__ __forceinline__ const uint8_t *
frame_row (const CclLabellingParameters &p, uint32_t y)
{
  return p.frame + y * p.frame_stride;
}

#endif /* CCL_CUDA_FOREGROUND_CUH */
