/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows around pixels that are bits, for the 32 pixels of a word at once. Adders count the bits
 * of all 32 columns, with one word for each bit of the counts.
 */
#pragma once

#include "foreground-parameters.h"

/* A word of a row with half of each neighbouring word: pixel x of the word is bit x + 16. Pixels
 * outside the frame are set. */
static __device__ __forceinline__ uint64_t
load_window (const CclExtent &extent, const uint32_t *bits, uint32_t column, int64_t y)
{
  if (y < 0 || y >= extent.height)
    return ~0ull;
  const uint32_t *words = bits + (size_t)y * extent.row_words + column;
  uint64_t window = (uint64_t)words[0] << 16;
  if (column > 0)
    window |= words[-1] >> 16;
  if (column + 1 < extent.row_words)
    window |= (uint64_t)words[1] << 48;
  const uint32_t inside = extent.width - 32 * column + 16; /* bits before the frame's right edge */
  if (inside < 64)
    window |= ~0ull << inside;
  if (column == 0)
    window |= 0xffff;
  return window;
}

/* The word whose pixel x is pixel x + dx of the window. */
static __device__ __forceinline__ uint32_t
shifted_word (uint64_t window, int dx)
{
  return (uint32_t)(window >> (16 + dx));
}

/* Adds three bits in every column. */
static __device__ __forceinline__ void
add_bits (uint32_t a, uint32_t b, uint32_t c, uint32_t *sum, uint32_t *carry)
{
  *sum = a ^ b ^ c;
  *carry = (a & b) | (c & (a ^ b));
}

/* How many pixels of the window around each pixel of a word are set, one word for each bit of the
 * counts. */
struct Counts {
  uint32_t bits[5];
};

/* A word of a row between its neighbours. */
struct RowPart {
  uint32_t left, own, right;
};

/* The last word of a row of a frame, with its last pixel repeated. */
static __device__ __forceinline__ uint32_t
repeat_edge (const CclExtent &extent, uint32_t word)
{
  const uint32_t end = (extent.width - 1) % 32 + 1;
  return end < 32 && word >> (end - 1) & 1 ? word | ~0u << end : word;
}

/* Beyond the frame, the pixels of its edge are repeated. */
static __device__ __forceinline__ RowPart
load_row_part (const CclExtent &extent, const uint32_t *bits, uint32_t column, int64_t y)
{
  const size_t row = (size_t)max (min (y, (int64_t)extent.height - 1), (int64_t)0);
  const uint32_t *words = bits + row * extent.row_words + column;
  const bool is_first = column == 0, is_last = column + 1 == extent.row_words;
  RowPart part = {is_first ? 0 : words[-1], words[0], is_last ? 0 : words[1]};
  if (is_first)
    part.left = part.own & 1 ? ~0u : 0;
  if (is_last) {
    part.own = repeat_edge (extent, part.own);
    part.right = part.own >> 31 ? ~0u : 0;
  } else if (column + 2 == extent.row_words) {
    part.right = repeat_edge (extent, part.right);
  }
  return part;
}

/* How many of the bits of a column are set, up to five. */
struct ColumnCounts {
  uint32_t one, two, four;
};

template <int N>
static __device__ __forceinline__ ColumnCounts
count_columns (const uint32_t (&words)[N])
{
  static_assert (N == 3 || N == 5, "windows of 3×3 and 5×5");
  ColumnCounts counts = {};
  uint32_t carry;
  add_bits (words[0], words[1], words[2], &counts.one, &counts.two);
  if (N == 5) {
    add_bits (counts.one, words[N - 2], words[N - 1], &counts.one, &carry);
    counts.four = counts.two & carry;
    counts.two ^= carry;
  }
  return counts;
}

/* First the bits of each column are added, then those of the columns of each window. */
template <int RADIUS>
static __device__ __forceinline__ Counts
count_window (const CclExtent &extent, const uint32_t *bits, uint32_t column, uint32_t y)
{
  constexpr int N = 2 * RADIUS + 1;
  uint32_t left[N], own[N], right[N], ones[N], twos[N], fours[N];
#pragma unroll
  for (int i = 0; i < N; i++) {
    const RowPart part = load_row_part (extent, bits, column, (int64_t)y + i - RADIUS);
    left[i] = part.left;
    own[i] = part.own;
    right[i] = part.right;
  }
  const ColumnCounts before = count_columns (left), here = count_columns (own);
  const ColumnCounts after = count_columns (right);
#pragma unroll
  for (int i = 0; i < N; i++) {
    const auto shifted = [i] (uint32_t previous, uint32_t word, uint32_t next) {
      return i < RADIUS ? __funnelshift_l (previous, word, RADIUS - i)
                        : __funnelshift_r (word, next, i - RADIUS);
    };
    ones[i] = shifted (before.one, here.one, after.one);
    twos[i] = shifted (before.two, here.two, after.two);
    fours[i] = shifted (before.four, here.four, after.four);
  }
  const ColumnCounts of_ones = count_columns (ones), of_twos = count_columns (twos);
  const ColumnCounts of_fours = count_columns (fours);
  Counts count;
  uint32_t fours_carry, eights_carry, carry;
  count.bits[0] = of_ones.one;
  add_bits (of_ones.two, of_twos.one, 0, &count.bits[1], &fours_carry);
  add_bits (of_ones.four, of_twos.two, of_fours.one, &count.bits[2], &eights_carry);
  add_bits (count.bits[2], fours_carry, 0, &count.bits[2], &fours_carry);
  add_bits (of_twos.four, of_fours.two, eights_carry, &count.bits[3], &carry);
  add_bits (count.bits[3], fours_carry, 0, &count.bits[3], &fours_carry);
  count.bits[4] = of_fours.four | carry | fours_carry;
  return count;
}

/* Where the counts are more than half of the window: 5 of 9, or 13 of 25. */
template <int RADIUS>
static __device__ __forceinline__ uint32_t
majority (const Counts &count)
{
  const uint32_t *bits = count.bits;
  return RADIUS == 1 ? bits[3] | (bits[2] & (bits[1] | bits[0]))
                     : bits[4] | (bits[3] & bits[2] & (bits[1] | bits[0]));
}

static __device__ __forceinline__ Counts
sum_of_counts (const Counts &a, const Counts &b)
{
  Counts sum;
  uint32_t carry = 0;
#pragma unroll
  for (int i = 0; i < 5; i++)
    add_bits (a.bits[i], b.bits[i], carry, &sum.bits[i], &carry);
  return sum;
}

/* Where the counts are at least n. */
static __device__ __forceinline__ uint32_t
at_least (const Counts &count, uint32_t n)
{
  uint32_t borrow = 0; /* of count - n */
#pragma unroll
  for (int i = 0; i < 5; i++) {
    const uint32_t of_n = n >> i & 1 ? ~0u : 0;
    borrow = (~count.bits[i] & of_n) | (~(count.bits[i] ^ of_n) & borrow);
  }
  return ~borrow;
}

/* Where three times the foreground is at least twice the shadow. */
static __device__ __forceinline__ uint32_t
foreground_prevails (const Counts &foreground, const Counts &shadow)
{
  uint32_t thrice[7], carry = 0, borrow = 0;
#pragma unroll
  for (int i = 0; i < 7; i++) {
    const uint32_t once = i < 5 ? foreground.bits[i] : 0;
    const uint32_t twice = i >= 1 && i < 6 ? foreground.bits[i - 1] : 0;
    add_bits (once, twice, carry, &thrice[i], &carry);
  }
#pragma unroll
  for (int i = 0; i < 7; i++) {
    const uint32_t of_shadow = i >= 1 && i < 6 ? shadow.bits[i - 1] : 0;
    borrow = (~thrice[i] & of_shadow) | (~(thrice[i] ^ of_shadow) & borrow);
  }
  return ~borrow;
}
