/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether values of two neighbours are similar. */
#pragma once

#include "values-class.h"

/* Whether two values differ by at most the tolerance; what is not a number differs from all. */
#define IS_SIMILAR(type, magnitude)                                                                \
  static inline bool is_similar_##type (const void *a, const void *b, magnitude most)              \
  {                                                                                                \
    const type one = *(const type *)a, other = *(const type *)b;                                   \
    if (one == other) /* infinities, too */                                                        \
      return true;                                                                                 \
    return one > other ? (magnitude)((magnitude)one - (magnitude)other) <= most                    \
                       : other > one && (magnitude)((magnitude)other - (magnitude)one) <= most;    \
  }
IS_SIMILAR (uint8_t, uint64_t)
IS_SIMILAR (int8_t, uint64_t)
IS_SIMILAR (uint16_t, uint64_t)
IS_SIMILAR (int16_t, uint64_t)
IS_SIMILAR (uint32_t, uint64_t)
IS_SIMILAR (int32_t, uint64_t)
IS_SIMILAR (uint64_t, uint64_t)
IS_SIMILAR (int64_t, uint64_t)
IS_SIMILAR (float, double)
IS_SIMILAR (double, double)

typedef bool (*IsSimilar) (const void *a, const void *b, uint64_t most);
typedef bool (*IsSimilarReal) (const void *a, const void *b, double most);

/* A comparison of values of one type with a tolerance. */
typedef struct CclSimilarity {
  size_t bytes; /* of a value */
  IsSimilar of_integers;
  IsSimilarReal of_reals; /* NULL: values are integers */
  uint64_t most;          /* the tolerance of integers */
  double most_real;
} CclSimilarity;

/* tolerance: 0 or more; 0: values are equal. */
static inline CclSimilarity
ccl_similarity (CclValueType type, bool is_signed, double tolerance)
{
  static const IsSimilar of_integers[2][4] = {
      {is_similar_uint8_t, is_similar_uint16_t, is_similar_uint32_t, is_similar_uint64_t},
      {is_similar_int8_t, is_similar_int16_t, is_similar_int32_t, is_similar_int64_t}};
  CclSimilarity self = {.bytes = ccl_bytes_of_type (type),
      .most = tolerance >= 0x1p64 ? UINT64_MAX : (uint64_t)tolerance,
      .most_real = tolerance};

  if (type >= CUDACCL_VALUE_TYPE_REAL_32)
    self.of_reals = type == CUDACCL_VALUE_TYPE_REAL_32 ? is_similar_float : is_similar_double;
  else
    self.of_integers = of_integers[is_signed][type];
  return self;
}

/* Addresses are multiples of a value's bytes. */
static inline bool
ccl_are_similar (const CclSimilarity *self, const void *a, const void *b)
{
  return self->of_reals ? self->of_reals (a, b, self->most_real)
                        : self->of_integers (a, b, self->most);
}
