/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run labeller in standard C, for any processor. */
#include "cpu/measure/measure-scalar.h"
#include "cpu/pixels/pack-portable.h"
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
pack_words (const uint8_t *pixels, CclWordThreshold threshold)
{
  return pack_words_portable (pixels, threshold);
}

static inline uint64_t
extract_bits (uint64_t word, uint64_t mask)
{
  return extract_bits_scalar (word, mask);
}

static inline void
list_columns (uint32_t *out, uint64_t word, uint32_t first)
{
  list_columns_scalar (out, word, first);
}

static inline void
expand (uint32_t *out, uint32_t n, uint64_t pixels, uint64_t starts, const uint32_t *labels)
{
  expand_scalar (out, n, pixels, starts, labels);
}

#define RUN_LABELLER run_labeller_portable
#define RUN_LABELLER_NAME "portable"
#include "runs.h"
