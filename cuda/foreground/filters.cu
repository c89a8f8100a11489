/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What follows a foreground method: the filters that remove noise, and closing.
 *
 * Filters work on bits, 32 pixels of a row per operation. A median filter sets a bit if more
 * than half of the bits in its window are set.
 */
#include "bit-windows.cuh"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "mask-words.cuh"

typedef CclFilterParameters Parameters;

/* ---- denoise ---- */

/* Median filter. */
template <int RADIUS>
static __device__ __forceinline__ uint32_t
median (const Parameters &p, uint32_t column, uint32_t y)
{
  return majority<RADIUS> (count_window<RADIUS> (p.extent, p.bits, column, y));
}

/* Median filter of the classes background, shadow and foreground. Returns the foreground. */
template <int RADIUS>
static __device__ __forceinline__ uint32_t
median_of_classes (const Parameters &p, uint32_t column, uint32_t y, uint32_t *shadow)
{
  const Counts foreground = count_window<RADIUS> (p.extent, p.bits, column, y);
  const Counts shadows = count_window<RADIUS> (p.extent, p.shadow, column, y);
  const uint32_t some = majority<RADIUS> (sum_of_counts (foreground, shadows));
  const uint32_t found = some & foreground_prevails (foreground, shadows);
  *shadow = some & ~found;
  return found;
}

/* Morphological opening: erosion, then dilation. */
template <int RADIUS>
static __device__ __forceinline__ uint32_t
opening (const Parameters &p, uint32_t column, uint32_t y)
{
  const int ROWS = 2 * RADIUS + 1;
  /* Erosion of the rows of the window. Pixels outside the frame must not count in the dilation. */
  const uint32_t end = p.extent.width - 32 * column + 16;
  uint64_t inside = end < 64 ? ~(~0ull << end) : ~0ull;
  if (column == 0)
    inside &= ~0xffffull;
  uint64_t rows[ROWS], result = 0;
#pragma unroll
  for (int i = 0; i < 2 * ROWS - 1; i++) {
    const uint64_t window = load_window (p.extent, p.bits, column, (int64_t)y + i - 2 * RADIUS);
    uint64_t eroded = window;
    for (int dx = 1; dx <= RADIUS; dx++)
      eroded &= window << dx & window >> dx;
    rows[i % ROWS] = eroded;
    if (i >= ROWS - 1) {
      /* All rows of the window are complete. */
      const int64_t middle = (int64_t)y + i - 3 * RADIUS;
      uint64_t square = ~0ull;
      for (int j = 0; j < ROWS; j++)
        square &= rows[j];
      if (middle >= 0 && middle < p.extent.height)
        result |= square & inside;
    }
  }
  uint64_t dilated = result;
  for (int dx = 1; dx <= RADIUS; dx++)
    dilated |= result << dx | result >> dx;
  return shifted_word (dilated, 0);
}

/* An opening: the shadows stay. */
template <int RADIUS>
static __device__ __forceinline__ uint32_t
open_words (const Parameters &p, uint32_t column, uint32_t y, uint32_t *shadow)
{
  if (p.mask.marks_shadows)
    *shadow = p.shadow[(size_t)y * p.extent.row_words + column];
  return opening<RADIUS> (p, column, y);
}

/* A median filter without shadows. */
template <int RADIUS>
static __device__ __forceinline__ uint32_t
median_words (const Parameters &p, uint32_t column, uint32_t y, uint32_t *)
{
  return median<RADIUS> (p, column, y);
}

/* A block handles four rows, a thread 32 pixels. */
template <uint32_t (*FILTER) (const Parameters &p, uint32_t column, uint32_t y, uint32_t *shadow)>
static __device__ __forceinline__ void
denoise (const Parameters &p)
{
  const uint32_t first_column = blockIdx.x * 32;
  const uint32_t column = first_column + lane_of_warp ();
  const uint32_t y = row_of_warp ();
  const size_t place = (size_t)y * p.extent.row_words + column;
  uint32_t word = 0, shadow = 0;
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (y >= p.extent.height)
    return;
  if (column < p.extent.row_words) {
    word = FILTER (p, column, y, &shadow);
    const uint32_t end = p.extent.width - 32 * column;
    if (end < 32) {
      word &= bits_below (end);
      shadow &= bits_below (end);
    }
    if (p.kept)
      p.kept[place] = word;
    if (p.mask.result)
      p.mask.result[place] = word;
    if (p.mask.shadow_result)
      p.mask.shadow_result[place] = shadow;
  }
  if (!p.mask.result)
    finish_words (p.extent, p.mask, first_column, y, word, p.mask.marks_shadows ? shadow : 0);
}

#define CUDACCL_DENOISE_KERNEL(name, filter)                                                       \
  extern "C" __global__ void __launch_bounds__ (CUDACCL_FOREGROUND_THREADS)                        \
      name (const __grid_constant__ Parameters p)                                                  \
  {                                                                                                \
    denoise<filter> (p);                                                                           \
  }

CUDACCL_DENOISE_KERNEL (ccl_denoise_median_3, median_words<1>)
CUDACCL_DENOISE_KERNEL (ccl_denoise_median_5, median_words<2>)
CUDACCL_DENOISE_KERNEL (ccl_denoise_opening_3, open_words<1>)
CUDACCL_DENOISE_KERNEL (ccl_denoise_opening_5, open_words<2>)
CUDACCL_DENOISE_KERNEL (ccl_denoise_classes_3, median_of_classes<1>)
CUDACCL_DENOISE_KERNEL (ccl_denoise_classes_5, median_of_classes<2>)

/* ---- closing ---- */

/* A word of a dilated row: the bits of which a row of `before` and `behind` pixels around has a set
 * one. The words are those to the left, of the pixels and to the right; before, behind < 32. */
static __device__ __forceinline__ uint32_t
dilate_words (uint32_t left, uint32_t middle, uint32_t right, uint32_t before, uint32_t behind)
{
  uint32_t result = middle;
  for (uint32_t i = 1; i <= before; i++)
    result |= __funnelshift_l (left, middle, i);
  for (uint32_t i = 1; i <= behind; i++)
    result |= __funnelshift_r (middle, right, i);
  return result;
}

static __device__ __forceinline__ uint32_t
before_middle (uint32_t size)
{
  return (size - 1) / 2;
}

static __device__ __forceinline__ uint32_t
behind_middle (uint32_t size)
{
  return size / 2;
}

/* Dilation, of the pixels around the frame as well. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_FOREGROUND_THREADS) ccl_dilate (const __grid_constant__ Parameters p)
{
  const uint32_t column = blockIdx.x * 32 + lane_of_warp (), row = row_of_warp ();
  const uint32_t row_words = p.extent.row_words + 2;
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (column >= row_words || row >= p.extent.height + 2 * CUDACCL_CLOSING_MARGIN)
    return;
  const int64_t y = (int64_t)row - CUDACCL_CLOSING_MARGIN;
  const int64_t first = max (y - (int64_t)before_middle (p.closing_height), (int64_t)0);
  const int64_t last =
      min (y + (int64_t)behind_middle (p.closing_height), (int64_t)p.extent.height - 1);
  uint32_t left = 0, middle = 0, right = 0;
  for (int64_t i = first; i <= last; i++) {
    const uint32_t *words = p.bits + i * p.extent.row_words;
    left |= column >= 2 ? words[column - 2] : 0;
    middle |= column >= 1 && column <= p.extent.row_words ? words[column - 1] : 0;
    right |= column < p.extent.row_words ? words[column] : 0;
  }
  p.dilated[(size_t)row * row_words + column] = dilate_words (
      left, middle, right, before_middle (p.closing_width), behind_middle (p.closing_width));
}

/* Erosion by the mirrored window. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_FOREGROUND_THREADS) ccl_erode (const __grid_constant__ Parameters p)
{
  const uint32_t first_column = blockIdx.x * 32, column = first_column + lane_of_warp ();
  const uint32_t y = row_of_warp ();
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (y >= p.extent.height)
    return;
  uint32_t word = 0;
  if (column < p.extent.row_words) {
    const uint32_t first = y + CUDACCL_CLOSING_MARGIN - behind_middle (p.closing_height);
    uint32_t left = 0, middle = 0, right = 0; /* bits that are not set in all rows */
    for (uint32_t i = 0; i < p.closing_height; i++) {
      const uint32_t *words = p.dilated + (size_t)(first + i) * (p.extent.row_words + 2) + column;
      left |= ~words[0];
      middle |= ~words[1];
      right |= ~words[2];
    }
    word = ~dilate_words (
        left, middle, right, behind_middle (p.closing_width), before_middle (p.closing_width));
    const uint32_t end = p.extent.width - 32 * column;
    if (end < 32)
      word &= bits_below (end);
  }
  const bool has_shadow = p.mask.marks_shadows && column < p.extent.row_words;
  finish_words (p.extent, p.mask, first_column, y, word,
      has_shadow ? p.shadow[(size_t)y * p.extent.row_words + column] : 0);
}
