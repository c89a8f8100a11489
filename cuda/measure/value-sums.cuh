/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums over the values of the second plane, for all kernels that measure. In a tile they are words
 * of 32 bits, in device memory 64 or more.
 *
 * A total that may need more than 32 bits is added as two words: its LOWER lowest bits, and the
 * rest. Neither word overflows while 2^(32 - LOWER) totals are added whose sum is below
 * 2^(32 + LOWER).
 */
#pragma once

#include "core/label/component-part.h"
#include "cuda/kernel-lib/warp.cuh"

typedef unsigned long long Long;

/* The words of a part of a component, x and y in coordinates of its tile, which has at most 2^16
 * pixels. Maxima come last; the least value is the maximum of the complement, so that all words of
 * nothing are 0. */
enum ValueWord {
  VALUE,
  SQUARES,
  VALUE_X = SQUARES + 2,
  VALUE_Y = VALUE_X + 2,
  LEAST = VALUE_Y + 2,
  GREATEST, /* placed() */
  N_VALUE_WORDS
};

template <uint32_t LOWER>
static __device__ __forceinline__ void
split_total (uint32_t *words, Long total)
{
  words[0] = (uint32_t)total & ((1u << LOWER) - 1);
  words[1] = (uint32_t)(total >> LOWER);
}

template <uint32_t LOWER>
static __device__ __forceinline__ Long
join_total (const uint32_t *words)
{
  return words[0] + ((Long)words[1] << LOWER);
}

/* A value at a pixel of a tile, as CUDACCL_PLACED(): the first pixel with the greatest value has
 * the greatest. Places of a tile have 16 bits: the row, which is below 256, and the column. */
static __device__ __forceinline__ uint32_t
placed (uint32_t value, uint32_t x, uint32_t row)
{
  return value << 16 | (0xffff - (row << 8 | x));
}

/* The first pixel of a tile in its frame. */
struct FramePlace {
  Long x, y;

  /* The number of a pixel of the tile in features. */
  __device__ __forceinline__ Long
  number (uint32_t place) const
  {
    return (y + (place >> 8)) * CUDACCL_MAX_FEATURE_SIDE + x + (place & 0xff);
  }
};

/* Sets the fields of a CclFeatures or a CclMeasures that follow from the words of a part; z is the
 * caller's. tile: x and y of its first pixel. */
template <uint32_t LOWER, typename Measured, typename Tile>
static __device__ __forceinline__ void
set_values (Measured &measured, const uint32_t *words, const Tile &tile)
{
  const Long sum = words[VALUE];
  measured.sum_value = sum;
  measured.sum_squares = join_total<LOWER> (&words[SQUARES]);
  measured.sum_value_x = sum * tile.x + join_total<LOWER> (&words[VALUE_X]);
  measured.sum_value_y = sum * tile.y + join_total<LOWER> (&words[VALUE_Y]);
  measured.intensity_min = ~words[LEAST];
  measured.intensity_max = words[GREATEST] >> 16;
  measured.intensity_max_place = CUDACCL_PLACED (
      measured.intensity_max, (Long)tile.number (0xffff - (words[GREATEST] & 0xffff)));
}

/* Sums over the values of some pixels; x and y are coordinates beside a pixel of the tile. The
 * least value is the maximum of the complement. */
struct ValueTotals {
  uint32_t sum = 0, sum_x = 0, sum_y = 0;
  Long squares = 0;
  uint32_t least = 0, greatest = 0; /* the latter is placed() */
};

/* The words of totals beside the pixel (x, y) of the tile. */
template <uint32_t LOWER>
static __device__ __forceinline__ void
set_words (uint32_t *words, const ValueTotals &totals, uint32_t x, uint32_t y)
{
  words[VALUE] = totals.sum;
  split_total<LOWER> (&words[SQUARES], totals.squares);
  split_total<LOWER> (&words[VALUE_X], (Long)totals.sum * x + totals.sum_x);
  split_total<LOWER> (&words[VALUE_Y], (Long)totals.sum * y + totals.sum_y);
  words[LEAST] = totals.least;
  words[GREATEST] = totals.greatest - (y << 8 | x);
}

/* The words of totals of a row of a tile of a volume, whose slices have 2^y_shift rows each; z: the
 * two words of the sum of values times z. */
template <uint32_t LOWER>
static __device__ __forceinline__ void
set_words_of_row (
    uint32_t *words, uint32_t *z, const ValueTotals &totals, uint32_t row, uint32_t y_shift)
{
  set_words<LOWER> (words, totals, 0, row & bits_below (y_shift));
  words[GREATEST] = totals.greatest - (row << 8);
  split_total<LOWER> (z, (Long)totals.sum * (row >> y_shift));
}

/* ---- pixel by pixel ---- */

static __device__ __forceinline__ void
add_value (ValueTotals &totals, uint32_t value, uint32_t x, uint32_t y)
{
  totals.sum += value;
  totals.sum_x += value * x;
  totals.sum_y += value * y;
  totals.squares += (Long)value * value;
  totals.least = max (totals.least, ~value);
  totals.greatest = max (totals.greatest, placed (value, x, y));
}

/* ---- in a row of 32 pixels, a pixel of each lane ---- */

/* Sums the values of this lane's pixel and of the next ones up to but not including end. All lanes
 * take part; values of other pixels are 0. */
static __device__ __forceinline__ ValueTotals
sum_values_of_lanes (uint32_t value, uint32_t end)
{
  const uint32_t lane = lane_of_warp ();
  ValueTotals totals;
  add_value (totals, value, lane, 0);
#pragma unroll
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const uint32_t sum = __shfl_down_sync (FULL_WARP, totals.sum, distance);
    const uint32_t sum_x = __shfl_down_sync (FULL_WARP, totals.sum_x, distance);
    const Long squares = __shfl_down_sync (FULL_WARP, totals.squares, distance);
    const uint32_t least = __shfl_down_sync (FULL_WARP, totals.least, distance);
    const uint32_t greatest = __shfl_down_sync (FULL_WARP, totals.greatest, distance);
    if (lane + distance < end) {
      totals.sum += sum;
      totals.sum_x += sum_x;
      totals.squares += squares;
      totals.least = max (totals.least, least);
      totals.greatest = max (totals.greatest, greatest);
    }
  }
  return totals;
}

/* The totals of another lane. */
static __device__ __forceinline__ ValueTotals
totals_of_lane (const ValueTotals &totals, uint32_t lane)
{
  ValueTotals of_lane;
  of_lane.sum = __shfl_sync (FULL_WARP, totals.sum, lane);
  of_lane.sum_x = __shfl_sync (FULL_WARP, totals.sum_x, lane);
  of_lane.squares = __shfl_sync (FULL_WARP, totals.squares, lane);
  of_lane.least = __shfl_sync (FULL_WARP, totals.least, lane);
  of_lane.greatest = __shfl_sync (FULL_WARP, totals.greatest, lane);
  return of_lane;
}

/* ---- four pixels at a time, of a word of 16 columns and up to two rows ---- */

/* Four values of a row: their lower and their upper bytes. */
struct FourValues {
  uint32_t low, high;
};

/* The least value is a minimum of those of the even and of the odd pixels; the greatest one of
 * bytes that of complements, each with the pixel's number in the word behind it. The greatest of
 * words is in the totals. */
struct WordTotals {
  ValueTotals all;
  uint32_t least = UINT32_MAX, greatest = UINT32_MAX;
};

/* Adds the pixels of group i whose bytes in the mask are ones; their values are bytes. */
static __device__ __forceinline__ void
add_bytes (WordTotals &totals, uint32_t bytes, uint32_t mask, uint32_t i)
{
  const uint32_t four = bytes & mask;
  const uint32_t columns = 0x03020100u + i % 4 * 0x04040404u;
  ValueTotals &all = totals.all;
  all.sum = __dp4a (four, 0x01010101u, all.sum);
  all.sum_x = __dp4a (four, columns, all.sum_x);
  if (i >= 4)
    all.sum_y = __dp4a (four, 0x01010101u, all.sum_y);
  all.squares = __dp4a (four, four, (uint32_t)all.squares);
  const uint32_t low = bytes | ~mask, high = ~four;
  totals.least = __vminu2 (__vminu2 (totals.least, low & 0xff00ff), low >> 8 & 0xff00ff);
  /* Other pixels than those of the mask are 0xffff: value and number have a byte each. */
  const uint32_t numbers = (0x03020100u + i * 0x04040404u) | ~mask;
  const uint32_t even = __byte_perm (high, numbers, 0x2604);
  const uint32_t odd = __byte_perm (high, numbers, 0x3715);
  totals.greatest = __vminu2 (__vminu2 (totals.greatest, even), odd);
}

/* The same for values of two bytes. */
static __device__ __forceinline__ void
add_words (WordTotals &totals, const FourValues &four, uint32_t mask, uint32_t i)
{
  const uint32_t low = four.low & mask, high = four.high & mask;
  const uint32_t columns = 0x03020100u + i % 4 * 0x04040404u;
  const uint32_t sum = __dp4a (low, 0x01010101u, 0u) + 256 * __dp4a (high, 0x01010101u, 0u);
  ValueTotals &all = totals.all;
  all.sum += sum;
  all.sum_x += __dp4a (low, columns, 0u) + 256 * __dp4a (high, columns, 0u);
  all.sum_y += i >= 4 ? sum : 0;
  all.squares += __dp4a (low, low, 0u) + 512 * (Long)__dp4a (low, high, 0u) +
                 65536 * (Long)__dp4a (high, high, 0u);
#pragma unroll
  for (uint32_t half = 0; half < 2; half++) {
    const uint32_t two = __byte_perm (four.low, four.high, half ? 0x7362 : 0x5140);
    const uint32_t its_mask = __byte_perm (mask, 0, half ? 0x3322 : 0x1100);
    const uint32_t x = i % 4 * 4 + 2 * half;
    totals.least = __vminu2 (totals.least, two | ~its_mask);
    if (its_mask & 0xffff)
      all.greatest = max (all.greatest, placed (two & 0xffff, x, i / 4));
    if (its_mask >> 16)
      all.greatest = max (all.greatest, placed (two >> 16, x + 1, i / 4));
  }
}

/* The totals of a word that has some pixels. */
static __device__ __forceinline__ ValueTotals
totals_of_word (const WordTotals &word, bool has_bytes)
{
  const uint32_t byte = min (word.greatest & 0xffff, word.greatest >> 16);
  ValueTotals totals = word.all;
  totals.least = ~min (word.least & 0xffff, word.least >> 16);
  if (has_bytes)
    totals.greatest = placed (0xff - (byte >> 8), byte % 16, byte % 256 / 16);
  return totals;
}
