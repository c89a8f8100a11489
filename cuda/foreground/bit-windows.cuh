/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows around pixels that are bits, for the 32 pixels of a word at once. Adders count the bits
 * of all 32 columns, with one word for each bit of the counts.
 */
#ifndef CUDACCL_CUDA_BIT_WINDOWS_CUH
#define CUDACCL_CUDA_BIT_WINDOWS_CUH

#include "foreground-parameters.h"

/* The value of pixels outside the frame. */
enum Outside { ONES, EDGE };

/* A word of a row with half of each neighbouring word: pixel x of the word is bit x + 16. */
template <Outside OUTSIDE>
static __device__ __forceinline__ uint64_t
load_window (const CclExtent &extent, const uint32_t *bits, uint32_t column, int64_t y)
{
  if (OUTSIDE == ONES && (y < 0 || y >= extent.height))
    return ~0ull;
  const size_t row = (size_t)max (min (y, (int64_t)extent.height - 1), (int64_t)0);
  const uint32_t *words = bits + row * extent.row_words + column;
  uint64_t window = (uint64_t)words[0] << 16;
  if (column > 0)
    window |= words[-1] >> 16;
  if (column + 1 < extent.row_words)
    window |= (uint64_t)words[1] << 48;
  const uint32_t inside = extent.width - 32 * column + 16; /* bits before the frame's right edge */
  if (inside < 64 && (OUTSIDE == ONES || window >> (inside - 1) & 1))
    window |= ~0ull << inside;
  if (column == 0 && (OUTSIDE == ONES || window >> 16 & 1))
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

template <int RADIUS>
static __device__ __forceinline__ Counts
count_window (const CclExtent &extent, const uint32_t *bits, uint32_t column, uint32_t y)
{
  Counts count = {};
#pragma unroll
  for (int i = -RADIUS; i <= RADIUS; i++) {
    const uint64_t window = load_window<EDGE> (extent, bits, column, (int64_t)y + i);
    uint32_t one, two, four = 0, carry;
    add_bits (
        shifted_word (window, -1), shifted_word (window, 0), shifted_word (window, 1), &one, &two);
    if (RADIUS == 2) {
      add_bits (one, shifted_word (window, -2), shifted_word (window, 2), &one, &carry);
      four = two & carry;
      two ^= carry;
    }
    add_bits (count.bits[0], one, 0, &count.bits[0], &carry);
    add_bits (count.bits[1], two, carry, &count.bits[1], &carry);
    add_bits (count.bits[2], four, carry, &count.bits[2], &carry);
    add_bits (count.bits[3], carry, 0, &count.bits[3], &carry);
    count.bits[4] |= carry;
  }
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

#endif /* CUDACCL_CUDA_BIT_WINDOWS_CUH */
