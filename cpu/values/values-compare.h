/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comparisons of n values, 0…64, to a word of one bit per value, in standard C: with those of b or,
 * with_zero, with 0. */
#pragma once

#include "cpu/pixels/words.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A bit for each of eight bytes, which are 0 or 1. */
static ALWAYS_INLINE uint64_t
pack_8_bytes (const uint8_t *bytes)
{
  uint64_t word;
  memcpy (&word, bytes, 8);
  return (le64toh (word) * 0x0102040810204080) >> 56;
}

#define DEFINE_VALUE_TYPE(Type, name)                                                              \
  static ALWAYS_INLINE uint64_t some_equal_##name (                                                \
      const void *a, const void *b, uint32_t n, bool with_zero)                                    \
  {                                                                                                \
    const Type *first = a, *second = b;                                                            \
    uint8_t bytes[8];                                                                              \
    uint64_t word = 0;                                                                             \
    uint32_t i = 0;                                                                                \
    for (; i + 8 <= n; i += 8) {                                                                   \
      for (uint32_t k = 0; k < 8; k++)                                                             \
        bytes[k] = first[i + k] == (with_zero ? 0 : second[i + k]);                                \
      word |= pack_8_bytes (bytes) << i;                                                           \
    }                                                                                              \
    for (; i < n; i++)                                                                             \
      word |= (uint64_t)(first[i] == (with_zero ? 0 : second[i])) << i;                            \
    return word;                                                                                   \
  }

DEFINE_VALUE_TYPE (uint8_t, integer_8)
DEFINE_VALUE_TYPE (uint16_t, integer_16)
DEFINE_VALUE_TYPE (uint32_t, integer_32)
DEFINE_VALUE_TYPE (uint64_t, integer_64)
DEFINE_VALUE_TYPE (float, real_32)
DEFINE_VALUE_TYPE (double, real_64)

#undef DEFINE_VALUE_TYPE
