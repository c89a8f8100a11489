/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dimensions of strips, tiles and words; from the pixels of a frame to words of bits. */
#pragma once

#include "strips-parameters.h"
#include "cuda/kernel-lib/threshold.cuh"
#include "cuda/kernel-lib/warp.cuh"

#ifndef CUDACCL_STRIPS_ROUND_COMPONENTS
#define CUDACCL_STRIPS_ROUND_COMPONENTS 1024 /* batch.cu has fewer, and more blocks in return */
#endif

typedef CclStripsParameters Parameters;

enum {
  WORD_WIDTH = CUDACCL_STRIPS_WORD_WIDTH,
  WORDS = CUDACCL_STRIPS_TILE_WORDS,
  STRIPS = CUDACCL_STRIPS_TILE_STRIPS,
  TILE_WIDTH = CUDACCL_STRIPS_TILE_WIDTH,
  TILE_THREADS = CUDACCL_STRIPS_TILE_THREADS,
  TILE_WARPS = TILE_THREADS / 32,
  TILE_RUNS = CUDACCL_STRIPS_TILE_RUNS,
  WARP_RUNS = TILE_RUNS / TILE_WARPS, /* the most runs that start in a warp's words */
  /* The most listed links of a warp's words: a word with 8 parts below 9 runs touches at most 16
   * pairs of them, one less than their sum, and each new run links one pair without the list. */
  WARP_LINKS = 32 * 9,
  /* Tile components whose sums fit into shared memory at a time. */
  ROUND_COMPONENTS = CUDACCL_STRIPS_ROUND_COMPONENTS,
  TILE_EDGE = CUDACCL_STRIPS_TILE_EDGE,
  GROUP_WIDTH = 128,
  FIRST_WORDS = 2 * STRIPS * TILE_WIDTH / 32, /* words of 32 pixels in a tile */
};

static const uint32_t NOTHING = CUDACCL_STRIPS_NOTHING;

static __device__ __forceinline__ uint32_t
low_word (const void *pointer)
{
  return (uint32_t)(uintptr_t)pointer;
}

/* Loads parameters into the cache of constants, one of each line that the kernel needs. A kernel
 * does so while it waits for something else. */
static __device__ __forceinline__ void
load_parameters (uint32_t parameters)
{
#ifndef CUDACCL_SIMCUDA
  if (parameters == 0) /* never: one of them is the width */
    __trap ();
#endif
}

/* The quotient of n and a divisor whose inverse is UINT32_MAX / divisor, rounded down: the product
 * is at most one too low. */
static __device__ __forceinline__ uint32_t
quotient (uint32_t n, uint32_t divisor, uint32_t inverse)
{
  const uint32_t estimate = __umulhi (n, inverse);
  return estimate + (n - estimate * divisor >= divisor);
}

/* The lowest run of ones of a word that is not zero. */
static __device__ __forceinline__ uint32_t
lowest_run (uint32_t word)
{
  return word & ~(word + (word & -word));
}

/* How many parts of a word start up to and including a column. The number of the run at the column
 * is this plus the base of the word minus one. */
static __device__ __forceinline__ uint32_t
parts_through (uint32_t occupied, uint32_t column)
{
  return __popc (occupied & ~(occupied << 1) & ((2u << column) - 1));
}

/* The sum of the positions of the set bits of two words. */
static __device__ __forceinline__ uint32_t
sum_of_positions (uint32_t top, uint32_t bottom)
{
  const uint32_t both = top | bottom << WORD_WIDTH;
  return __popc (both & 0xaaaaaaaau) + 2 * __popc (both & 0xccccccccu) +
         4 * __popc (both & 0xf0f0f0f0u) + 8 * __popc (both & 0xff00ff00u);
}

static __device__ __forceinline__ uint32_t
count_bits (uint4 group)
{
  return __popc (group.x) + __popc (group.y) + __popc (group.z) + __popc (group.w);
}

/* Shifts in the bits of four pixels from below, the first pixel lowest. */
static __device__ __forceinline__ uint32_t
shift_in_four_pixels (uint32_t bits, uint32_t pixels, uint32_t complement)
{
  return __funnelshift_l (above_among_bytes (pixels, complement), bits, 4);
}

/* The same for two pixels of two bytes. */
static __device__ __forceinline__ uint32_t
shift_in_two_pixels (uint32_t bits, uint32_t pixels, uint32_t complement)
{
  return __funnelshift_l (above_among_words (pixels, complement), bits, 2);
}

/* The pixels of a row by their type: bytes, or words of two bytes. */
template <typename Pixel>
static __device__ __forceinline__ const Pixel *
pixels_of_row (const Parameters &p, uint32_t row)
{
  return (const Pixel *)(p.frame + row * p.frame_stride);
}

static __device__ __forceinline__ bool
is_above_threshold (const Parameters &p, uint8_t pixel)
{
  return pixel > p.threshold;
}

static __device__ __forceinline__ bool
is_above_threshold (const Parameters &p, uint16_t pixel)
{
  return (pixel & p.word_mask) > p.threshold;
}

/* The bits of a word of 16 pixels. */
static __device__ __forceinline__ uint32_t
bits_of_pixels (const Parameters &p, const uint4 group[1], uint8_t)
{
  const uint32_t complement = (255 - p.threshold) * 0x01010101u;
  uint32_t bits = 0;
  bits = shift_in_four_pixels (bits, group[0].w, complement);
  bits = shift_in_four_pixels (bits, group[0].z, complement);
  bits = shift_in_four_pixels (bits, group[0].y, complement);
  return shift_in_four_pixels (bits, group[0].x, complement);
}

static __device__ __forceinline__ uint32_t
bits_of_pixels (const Parameters &p, const uint4 groups[2], uint16_t)
{
  const uint32_t complement = (65535 - p.threshold) * 0x10001u, mask = p.word_mask * 0x10001u;
  uint32_t bits = 0;
  for (int i = 1; i >= 0; i--) {
    bits = shift_in_two_pixels (bits, groups[i].w & mask, complement);
    bits = shift_in_two_pixels (bits, groups[i].z & mask, complement);
    bits = shift_in_two_pixels (bits, groups[i].y & mask, complement);
    bits = shift_in_two_pixels (bits, groups[i].x & mask, complement);
  }
  return bits;
}

/* The words, which are zero at first, of a frame with aligned rows. All pixels are loaded before
 * the first is used, so that the latencies overlap. */
template <typename Pixel, int ROWS>
static __device__ __forceinline__ void
words_of_aligned_rows (const Parameters &p, uint32_t column, uint32_t row, uint32_t words[2])
{
  if (column >= p.width || row >= p.height)
    return;
  const uint32_t inside = min (p.width - column, (uint32_t)WORD_WIDTH);
  if (inside == WORD_WIDTH) {
    uint4 groups[ROWS][sizeof (Pixel)];
    for (int i = 0; i < ROWS; i++) {
      const Pixel *pixels = pixels_of_row<Pixel> (p, min (row + i, p.height - 1)) + column;
      for (uint32_t k = 0; k < sizeof (Pixel); k++)
        groups[i][k] = __ldg ((const uint4 *)pixels + k);
    }
    for (int i = 0; i < ROWS; i++)
      words[i] = bits_of_pixels (p, groups[i], Pixel ());
  } else {
#pragma unroll 1
    for (uint32_t i = 0; i < inside * ROWS; i++) {
      const uint32_t y = min (row + i / inside, p.height - 1), x = column + i % inside;
      words[i / inside] |= (uint32_t)is_above_threshold (p, pixels_of_row<Pixel> (p, y)[x])
                           << i % inside;
    }
  }
  for (int i = 0; i < ROWS; i++)
    words[i] = row + i < p.height ? (words[i] ^ p.invert) & ((1u << inside) - 1) : 0;
}

/* The same for rows at any address: the warp reads its words together, one pixel per lane. */
template <typename Pixel>
static __device__ __forceinline__ void
words_of_unaligned_rows (
    const Parameters &p, uint32_t column, uint32_t row, uint32_t rows, uint32_t words[2])
{
  const uint32_t lane = lane_of_warp ();
#pragma unroll 1
  for (uint32_t pair = 0; pair < 32; pair += 2) {
    const uint32_t x = __shfl_sync (FULL_WARP, column, pair) + lane;
    const uint32_t y = __shfl_sync (FULL_WARP, row, pair);
    for (uint32_t i = 0; i < rows; i++) {
      const bool inside = x < p.width && y + i < p.height;
      const bool foreground =
          inside && is_above_threshold (p, pixels_of_row<Pixel> (p, y + i)[x]) != (p.invert != 0);
      const uint32_t bits = __ballot_sync (FULL_WARP, foreground);
      if (lane == pair)
        words[i] = bits & 0xffff;
      else if (lane == pair + 1)
        words[i] = bits >> 16;
    }
  }
}
