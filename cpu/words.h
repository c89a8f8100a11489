/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words of 64 columns. */
#ifndef CCL_CPU_WORDS_H
#define CCL_CPU_WORDS_H

#include <stdint.h>

#define ALWAYS_INLINE inline __attribute__ ((always_inline))

static ALWAYS_INLINE uint32_t
count_bits (uint64_t word)
{
  return (uint32_t)__builtin_popcountll (word);
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

/* The sum of the indices of the bits of a word. */
static ALWAYS_INLINE uint32_t
sum_bit_indices (uint64_t word)
{
  return count_bits (word & 0xaaaaaaaaaaaaaaaa) + 2 * count_bits (word & 0xcccccccccccccccc) +
         4 * count_bits (word & 0xf0f0f0f0f0f0f0f0) + 8 * count_bits (word & 0xff00ff00ff00ff00) +
         16 * count_bits (word & 0xffff0000ffff0000) + 32 * count_bits (word & 0xffffffff00000000);
}

#endif /* CCL_CPU_WORDS_H */
