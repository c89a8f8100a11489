/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scan of values for processors with AVX-512, which reads the values of a mask only, so that no
 * number of values is a special case. */
#include "words.h"

#include <immintrin.h>

/* The lowest n bits, n ≤ 64. */
static ALWAYS_INLINE uint64_t
mask_of (uint32_t n)
{
  return _bzhi_u64 (UINT64_MAX, n);
}

/* n_values: of a vector. load, compare: with a mask, which has the type Mask. */
#define DEFINE_TYPE(type, n_values, Mask, load, compare, zero)                                     \
  static ALWAYS_INLINE uint64_t equal_##type (const void *a, const void *b, uint32_t n)            \
  {                                                                                                \
    const uint64_t all = mask_of (n);                                                              \
    uint64_t word = 0;                                                                             \
    for (int i = 0; i < 64 / n_values; i++) {                                                      \
      const Mask some = (Mask)(all >> (n_values * i));                                             \
      word |= (uint64_t)compare (some, load (some, (const uint8_t *)a + 64 * i),                   \
                  load (some, (const uint8_t *)b + 64 * i))                                        \
              << (n_values * i);                                                                   \
    }                                                                                              \
    return word;                                                                                   \
  }                                                                                                \
  static ALWAYS_INLINE uint64_t zero_##type (const void *a, uint32_t n)                            \
  {                                                                                                \
    const uint64_t all = mask_of (n);                                                              \
    uint64_t word = 0;                                                                             \
    for (int i = 0; i < 64 / n_values; i++) {                                                      \
      const Mask some = (Mask)(all >> (n_values * i));                                             \
      word |= (uint64_t)compare (some, load (some, (const uint8_t *)a + 64 * i), zero ())          \
              << (n_values * i);                                                                   \
    }                                                                                              \
    return word;                                                                                   \
  }
#define EQUAL_PS(some, a, b) _mm512_mask_cmp_ps_mask (some, a, b, _CMP_EQ_OQ)
#define EQUAL_PD(some, a, b) _mm512_mask_cmp_pd_mask (some, a, b, _CMP_EQ_OQ)

DEFINE_TYPE (integer_8, 64, __mmask64, _mm512_maskz_loadu_epi8, _mm512_mask_cmpeq_epi8_mask,
    _mm512_setzero_si512)
DEFINE_TYPE (integer_16, 32, __mmask32, _mm512_maskz_loadu_epi16, _mm512_mask_cmpeq_epi16_mask,
    _mm512_setzero_si512)
DEFINE_TYPE (integer_32, 16, __mmask16, _mm512_maskz_loadu_epi32, _mm512_mask_cmpeq_epi32_mask,
    _mm512_setzero_si512)
DEFINE_TYPE (integer_64, 8, __mmask8, _mm512_maskz_loadu_epi64, _mm512_mask_cmpeq_epi64_mask,
    _mm512_setzero_si512)
DEFINE_TYPE (real_32, 16, __mmask16, _mm512_maskz_loadu_ps, EQUAL_PS, _mm512_setzero_ps)
DEFINE_TYPE (real_64, 8, __mmask8, _mm512_maskz_loadu_pd, EQUAL_PD, _mm512_setzero_pd)

#include "values-scan.h"

void
values_scan_avx512 (CpuValuesLabeller *self, const CclValues *values)
{
  scan_type (self, values);
}
