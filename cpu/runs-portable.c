/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run labeller in standard C, for any processor. */
#include "runs-scalar.h"

#include <endian.h>
#include <string.h>

typedef uint8_t Threshold;

static inline Threshold
threshold_prepare (uint8_t threshold)
{
  return threshold;
}

/* Eight pixels at a time, as the bytes of a word. */
static inline uint64_t
pack (const uint8_t *pixels, Threshold threshold)
{
  const uint64_t ones = 0x0101010101010101;
  const uint64_t low_bits = 0x7f * ones;
  /* What makes the lower seven bits carry into the eighth when they are greater than the
   * threshold's. */
  const uint64_t addend = ones * (0x7fu - (threshold & 0x7fu));
  uint64_t word = 0;

  for (int i = 0; i < 8; i++) {
    uint64_t bytes;
    memcpy (&bytes, pixels + 8 * i, 8);
    bytes = le64toh (bytes);
    const uint64_t low_greater = (bytes & low_bits) + addend;
    const uint64_t greater = threshold < 0x80 ? low_greater | bytes : low_greater & bytes;
    /* Gathers the eighth bits of all bytes in the uppermost byte. */
    word |= (((greater >> 7 & ones) * 0x0102040810204080) >> 56) << (8 * i);
  }
  return word;
}

static inline uint64_t
extract_bits (uint64_t word, uint64_t mask)
{
  uint64_t bits = 0;
  for (uint64_t bit = 1; mask; mask &= mask - 1, bit <<= 1)
    bits |= word & mask & -mask ? bit : 0;
  return bits;
}

static inline void
list_columns (uint32_t *out, uint64_t word, uint32_t first)
{
  for (; word; word &= word - 1)
    *out++ = first + (uint32_t)__builtin_ctzll (word);
}

static inline void
expand (uint32_t *out, uint32_t n, uint64_t pixels, uint64_t starts, const uint32_t *labels)
{
  expand_scalar (out, n, pixels, starts, labels);
}

#define RUN_LABELLER run_labeller_portable
#define RUN_LABELLER_NAME "portable"
#include "runs.h"
