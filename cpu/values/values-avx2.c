/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scan of values for processors with AVX2. */
#include "values-compare.h"

#include <immintrin.h>

static ALWAYS_INLINE __m256i
load (const void *values, int i)
{
  return _mm256_loadu_si256 ((const __m256i *)values + i);
}

/* A bit for each value of a vector: whether it equals that of another one. */
static ALWAYS_INLINE uint64_t
bits_integer_8 (__m256i a, __m256i b)
{
  return (uint32_t)_mm256_movemask_epi8 (_mm256_cmpeq_epi8 (a, b));
}

static ALWAYS_INLINE uint64_t
bits_integer_16 (__m256i a, __m256i b)
{
  const __m256i equal = _mm256_cmpeq_epi16 (a, b);
  const __m256i bytes = _mm256_packs_epi16 (equal, _mm256_setzero_si256 ());
  return (uint32_t)_mm256_movemask_epi8 (_mm256_permute4x64_epi64 (bytes, 0xd8));
}

static ALWAYS_INLINE uint64_t
bits_integer_32 (__m256i a, __m256i b)
{
  return (uint32_t)_mm256_movemask_ps (_mm256_castsi256_ps (_mm256_cmpeq_epi32 (a, b)));
}

static ALWAYS_INLINE uint64_t
bits_integer_64 (__m256i a, __m256i b)
{
  return (uint32_t)_mm256_movemask_pd (_mm256_castsi256_pd (_mm256_cmpeq_epi64 (a, b)));
}

static ALWAYS_INLINE uint64_t
bits_real_32 (__m256i a, __m256i b)
{
  return (uint32_t)_mm256_movemask_ps (
      _mm256_cmp_ps (_mm256_castsi256_ps (a), _mm256_castsi256_ps (b), _CMP_EQ_OQ));
}

static ALWAYS_INLINE uint64_t
bits_real_64 (__m256i a, __m256i b)
{
  return (uint32_t)_mm256_movemask_pd (
      _mm256_cmp_pd (_mm256_castsi256_pd (a), _mm256_castsi256_pd (b), _CMP_EQ_OQ));
}

/* n_values: of a vector. */
#define DEFINE_TYPE(type, n_values)                                                                \
  static ALWAYS_INLINE uint64_t equal_##type (                                                     \
      const void *a, const void *b, uint32_t n, bool with_zero)                                    \
  {                                                                                                \
    uint64_t word = 0;                                                                             \
    if (n < 64)                                                                                    \
      return some_equal_##type (a, b, n, with_zero);                                               \
    for (int i = 0; i < 64 / n_values; i++) {                                                      \
      const __m256i other = with_zero ? _mm256_setzero_si256 () : load (b, i);                     \
      word |= bits_##type (load (a, i), other) << (n_values * i);                                  \
    }                                                                                              \
    return word;                                                                                   \
  }

DEFINE_TYPE (integer_8, 32)
DEFINE_TYPE (integer_16, 16)
DEFINE_TYPE (integer_32, 8)
DEFINE_TYPE (integer_64, 4)
DEFINE_TYPE (real_32, 8)
DEFINE_TYPE (real_64, 4)

#include "values-scan.h"

#include "values-write.h"

const ValuesCode values_code_avx2 = {"avx2", scan_type, write_row};
