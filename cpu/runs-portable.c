/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run labeller in standard C, for any processor. */
#include "pack-portable.h"
#include "runs-scalar.h"

typedef uint8_t Threshold;

static inline Threshold
threshold_prepare (uint8_t threshold)
{
  return threshold;
}

static inline uint64_t
pack (const uint8_t *pixels, Threshold threshold)
{
  return pack_portable (pixels, threshold);
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
