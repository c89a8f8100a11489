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

/* The sum of the samples in a word of four bytes, as two sums of 16 bits. */
static __device__ __forceinline__ uint32_t
sums_of_word (uint32_t word, uint32_t word_mask)
{
  const uint32_t samples = word & word_mask;
  return (samples & 0xff00ff) + (samples >> 8 & 0xff00ff);
}

/* The samples of a row from an aligned address on. */
static __device__ __forceinline__ const uint8_t *
aligned_row (const CclReducedPlane &plane, uint32_t row)
{
  const uint8_t *samples = (const uint8_t *)((uintptr_t)plane.samples & ~(uintptr_t)3);
  return samples + min (row, plane.n_rows - 1) * plane.stride;
}

/* The same from a word of four bytes for each row. All are loaded before they are added. */
template <uint32_t ROWS>
static __device__ __forceinline__ uint32_t
sum_words (const CclReducedPlane &plane, uint32_t x, uint32_t y)
{
  uint32_t rows[ROWS], sums = 0;
#pragma unroll
  for (uint32_t i = 0; i < ROWS; i++)
    rows[i] = *(const uint32_t *)(aligned_row (plane, y * ROWS + i) + (uint64_t)4 * x);
#pragma unroll
  for (uint32_t i = 0; i < ROWS; i++)
    sums += sums_of_word (rows[i], plane.word_mask);
  return (sums & 0xffff) + (sums >> 16);
}

static __device__ __forceinline__ uint32_t
mean_of_sum (const CclReducedPlane &plane, uint32_t sum)
{
  return (sum + (plane.shift > 0 ? 1u << (plane.shift - 1) : 0)) >> plane.shift;
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
  const uint32_t mean = mean_of_sum (plane, sum);
  if (WIDE)
    ((uint16_t *)(plane.means + y * plane.means_stride))[x] = (uint16_t)mean;
  else
    plane.means[y * plane.means_stride + x] = (uint8_t)mean;
}

/* Four means of a row of each plane, whose samples lie in the same words: one of luma, or u and v.
 * All words are loaded before they are added. */
template <uint32_t ROWS, uint32_t N_PLANES>
static __device__ __forceinline__ void
reduce_four (const CclReducedPlane *planes, uint32_t x, uint32_t y)
{
  uint4 rows[ROWS];
#pragma unroll
  for (uint32_t i = 0; i < ROWS; i++)
    rows[i] = __ldg ((const uint4 *)(aligned_row (planes[0], y * ROWS + i) + (uint64_t)4 * x));
#pragma unroll
  for (uint32_t k = 0; k < N_PLANES; k++) {
    const CclReducedPlane &plane = planes[k];
    uint4 sums = {};
#pragma unroll
    for (uint32_t i = 0; i < ROWS; i++) {
      sums.x += sums_of_word (rows[i].x, plane.word_mask);
      sums.y += sums_of_word (rows[i].y, plane.word_mask);
      sums.z += sums_of_word (rows[i].z, plane.word_mask);
      sums.w += sums_of_word (rows[i].w, plane.word_mask);
    }
    const auto mean = [&plane] (uint32_t sum) {
      return mean_of_sum (plane, (sum & 0xffff) + (sum >> 16));
    };
    *(uint32_t *)(plane.means + y * plane.means_stride + x) =
        mean (sums.x) | mean (sums.y) << 8 | mean (sums.z) << 16 | mean (sums.w) << 24;
  }
}

/* The same where the row may end before. */
template <uint32_t ROWS, uint32_t N_PLANES>
static __device__ __forceinline__ void
reduce_up_to_four (const CclReducedPlane *planes, uint32_t x, uint32_t y)
{
  if ((x + 4) * planes[0].factor_x <= planes[0].n_samples) {
    reduce_four<ROWS, N_PLANES> (planes, x, y);
    return;
  }
  for (uint32_t k = 0; k < N_PLANES; k++)
    for (uint32_t i = x; i < x + 4 && i < planes[k].width; i++)
      reduce_pixel<false> (planes[k], i, y);
}

/* Grids have at most 65,535 blocks in the second dimension, so a thread has several rows of a tall
 * frame. */
template <typename Reduce>
static __device__ __forceinline__ void
for_each_row (uint32_t height, Reduce reduce)
{
  for (uint32_t y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y)
    reduce (y);
}

template <bool WIDE>
static __device__ __forceinline__ void
reduce_plane (const CclReducedPlane &plane)
{
  const uint32_t x = thread_column ();
  if (x < plane.width)
    for_each_row (plane.height, [&] (uint32_t y) { reduce_pixel<WIDE> (plane, x, y); });
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_REDUCTION_THREADS) ccl_reduce (const CclReductionParameters parameters)
{
  let_next_kernel_start ();
  reduce_plane<false> (parameters.planes[blockIdx.z]);
}

template <uint32_t ROWS, uint32_t N_PLANES>
static __device__ __forceinline__ void
reduce_by_four (const CclReducedPlane *planes)
{
  const uint32_t x = thread_column () * 4;
  if (x < planes[0].width)
    for_each_row (
        planes[0].height, [&] (uint32_t y) { reduce_up_to_four<ROWS, N_PLANES> (planes, x, y); });
}

/* Frames whose rows of means are words (word_mask), four of which are aligned: 4×4 samples of luma,
 * 2×2 of u and v side by side. The grid's third dimension is luma and chroma. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_REDUCTION_THREADS)
    ccl_reduce_by_four (const __grid_constant__ CclReductionParameters parameters)
{
  let_next_kernel_start ();
  if (blockIdx.z == 0)
    reduce_by_four<4, 1> (parameters.planes);
  else
    reduce_by_four<2, 2> (parameters.planes + 1);
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
