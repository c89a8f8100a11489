/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames reduced for the background model, and its masks enlarged (core/foreground/reduction.h). */
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "cuda/kernel-lib/geometry.cuh"
#include "reduction-parameters.h"
#include "cuda/driver/tuning.h"

#include <cudaccl/foreground.h>

template <bool WIDE>
static __device__ __forceinline__ uint32_t
load_sample (const uint8_t *sample)
{
  return WIDE ? sample[0] | (uint32_t)sample[1] << 8 : sample[0];
}

/* The sum of the samples of a pixel, one after the other. */
template <bool WIDE>
static __device__ __forceinline__ uint32_t
sum_samples (const CclReducedPlane &plane, uint32_t x, uint32_t y)
{
  uint32_t sum = 0;
  for (uint32_t i = 0; i < plane.factor_y; i++) {
    const uint32_t row = min (y * plane.factor_y + i, plane.n_rows - 1);
    const uint8_t *samples = plane.samples + row * plane.stride;
    for (uint32_t k = 0; k < plane.factor_x; k++) {
      const uint32_t column = min (x * plane.factor_x + k, plane.n_samples - 1);
      sum += load_sample<WIDE> (samples + (uint64_t)column * plane.step);
    }
  }
  return sum;
}

/* The same from a word of four bytes for each row. All are loaded before they are added. */
template <uint32_t ROWS>
static __device__ __forceinline__ uint32_t
sum_words (const CclReducedPlane &plane, uint32_t x, uint32_t y)
{
  const uint8_t *words = (const uint8_t *)((uintptr_t)plane.samples & ~(uintptr_t)3);
  uint32_t rows[ROWS], sums = 0; /* two sums of 16 bits */
#pragma unroll
  for (uint32_t i = 0; i < ROWS; i++)
    rows[i] = *(const uint32_t *)(words + min (y * ROWS + i, plane.n_rows - 1) * plane.stride +
                                  (uint64_t)4 * x);
#pragma unroll
  for (uint32_t i = 0; i < ROWS; i++) {
    const uint32_t samples = rows[i] & plane.word_mask;
    sums += (samples & 0xff00ff) + (samples >> 8 & 0xff00ff);
  }
  return (sums & 0xffff) + (sums >> 16);
}

template <bool WIDE>
static __device__ __forceinline__ void
reduce_pixel (const CclReducedPlane &plane, uint32_t x, uint32_t y)
{
  const bool has_word = plane.word_mask && (x + 1) * plane.factor_x <= plane.n_samples;
  uint32_t sum;
  if (!WIDE && has_word && plane.factor_y == 4)
    sum = sum_words<4> (plane, x, y);
  else if (!WIDE && has_word && plane.factor_y == 2)
    sum = sum_words<2> (plane, x, y);
  else
    sum = sum_samples<WIDE> (plane, x, y);
  sum += plane.shift > 0 ? 1u << (plane.shift - 1) : 0;
  const uint32_t mean = sum >> plane.shift;
  if (WIDE)
    ((uint16_t *)(plane.means + y * plane.means_stride))[x] = (uint16_t)mean;
  else
    plane.means[y * plane.means_stride + x] = (uint8_t)mean;
}

/* Grids have at most 65,535 blocks in the second dimension, so a thread has several rows of a tall
 * frame. */
template <bool WIDE>
static __device__ __forceinline__ void
reduce_plane (const CclReducedPlane &plane)
{
  const uint32_t x = thread_column ();
  if (x >= plane.width)
    return;
  for (uint32_t y = blockIdx.y * blockDim.y + threadIdx.y; y < plane.height;
       y += gridDim.y * blockDim.y)
    reduce_pixel<WIDE> (plane, x, y);
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_REDUCTION_THREADS) ccl_reduce (const CclReductionParameters parameters)
{
  let_next_kernel_start ();
  reduce_plane<false> (parameters.planes[blockIdx.z]);
}

/* Luma of 16 bits; chroma has bytes. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_REDUCTION_THREADS)
    ccl_reduce_words (const CclReductionParameters parameters)
{
  let_next_kernel_start ();
  if (blockIdx.z == 0)
    reduce_plane<true> (parameters.planes[0]);
  else
    reduce_plane<false> (parameters.planes[blockIdx.z]);
}

/* Marked shadows are not inverted. */
static __device__ __forceinline__ uint32_t
enlarged_pixel (const CclEnlargementParameters &p, const uint8_t *from, uint32_t x, uint32_t y)
{
  const uint32_t value = from[x >> p.factor_shift];
  const uint32_t mask = value == CUDACCL_MASK_SHADOW ? value : value ^ p.invert;
  return p.roi_mask ? mask & p.roi_mask[(uint64_t)y * p.width + x] : mask;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_REDUCTION_THREADS) ccl_enlarge (const CclEnlargementParameters p)
{
  const uint32_t x = thread_column () * CUDACCL_ENLARGED_PIXELS, y = thread_row ();
  if (x >= p.width || y >= p.height)
    return;
  const uint8_t *from = p.from + (y >> p.factor_shift) * p.from_stride;
  uint8_t *to = p.mask + y * p.mask_stride + x;
  if (p.aligned && x + CUDACCL_ENLARGED_PIXELS <= p.width) {
    uint32_t pixels = 0;
    for (uint32_t i = 0; i < CUDACCL_ENLARGED_PIXELS; i++)
      pixels |= enlarged_pixel (p, from, x + i, y) << 8 * i;
    *(uint32_t *)to = pixels;
  } else {
    for (uint32_t i = 0; i < CUDACCL_ENLARGED_PIXELS && x + i < p.width; i++)
      to[i] = (uint8_t)enlarged_pixel (p, from, x + i, y);
  }
}
