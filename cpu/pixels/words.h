/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words of 64 columns. */
#pragma once

#include <stdint.h>

#define ALWAYS_INLINE inline __attribute__ ((always_inline))

static ALWAYS_INLINE uint32_t
count_bits (uint64_t word)
{
#if defined __x86_64__ && !defined __POPCNT__
  /* Without the instruction, the compiler calls a library function. */
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return (uint32_t)(word * 0x0101010101010101 >> 56);
#else
  return (uint32_t)__builtin_popcountll (word);
#endif
}

/* The index of the lowest bit of a word that is not zero. */
static ALWAYS_INLINE uint32_t
lowest_bit (uint64_t word)
{
  return (uint32_t)__builtin_ctzll (word);
}

/* All bits up to and including the lowest one. */
static ALWAYS_INLINE uint64_t
up_to_lowest_bit (uint64_t word)
{
  return word ^ (word - 1);
}

/* The sum of the indices of the set bits of two words, one binary digit of the index at a time. A
 * digit is set in half of the columns, so those columns of both words fit into one word to count.
 */
static ALWAYS_INLINE uint32_t
sum_bit_indices_of_both (uint64_t a, uint64_t b)
{
#define SUM_DIGIT(digit, columns)                                                                  \
  (count_bits ((a & (columns)) | (b & (columns)) >> (1 << (digit))) << (digit))
  return SUM_DIGIT (0, 0xaaaaaaaaaaaaaaaa) + SUM_DIGIT (1, 0xcccccccccccccccc) +
         SUM_DIGIT (2, 0xf0f0f0f0f0f0f0f0) + SUM_DIGIT (3, 0xff00ff00ff00ff00) +
         SUM_DIGIT (4, 0xffff0000ffff0000) + SUM_DIGIT (5, 0xffffffff00000000);
#undef SUM_DIGIT
}
