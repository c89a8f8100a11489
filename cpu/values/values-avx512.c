/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scan of values for processors with AVX-512, which reads the values of a mask only, so that no
 * number of values is a special case. */
#include "cpu/pixels/words.h"

#include <immintrin.h>
#include <stdbool.h>

/* The lowest n bits, n ≤ 64. */
static ALWAYS_INLINE uint64_t
mask_of (uint32_t n)
{
  return _bzhi_u64 (UINT64_MAX, n);
}

/* n_values: of a vector. load, compare: with a mask, which has the type Mask. */
#define DEFINE_TYPE(type, n_values, Mask, load, compare, zero)                                     \
  static ALWAYS_INLINE uint64_t equal_##type (                                                     \
      const void *a, const void *b, uint32_t n, bool with_zero)                                    \
  {                                                                                                \
    const uint64_t all = mask_of (n);                                                              \
    uint64_t word = 0;                                                                             \
    for (int i = 0; i < 64 / n_values; i++) {                                                      \
      const Mask some = (Mask)(all >> (n_values * i));                                             \
      word |= (uint64_t)compare (some, load (some, (const uint8_t *)a + 64 * i),                   \
                  with_zero ? zero () : load (some, (const uint8_t *)b + 64 * i))                  \
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

/* Writes n labels, up to 16. begins: where runs begin; labels: of the run before the first that
 * begins and of those behind it. */
static ALWAYS_INLINE void
write_16 (uint32_t *out, uint32_t n, uint32_t begins, uint32_t foreground, const uint32_t *labels)
{
  const __m512i up_to = _mm512_setr_epi32 (0x1, 0x3, 0x7, 0xf, 0x1f, 0x3f, 0x7f, 0xff, 0x1ff, 0x3ff,
      0x7ff, 0xfff, 0x1fff, 0x3fff, 0x7fff, 0xffff);
  const uint32_t first = begins & 1;
  const __m512i runs = _mm512_popcnt_epi32 (
      _mm512_and_si512 (_mm512_set1_epi32 ((int)(begins & ~UINT32_C (1))), up_to));
  const __m512i row = _mm512_maskz_permutexvar_epi32 (
      (__mmask16)foreground, runs, _mm512_loadu_si512 (labels + first));
  _mm512_mask_storeu_epi32 (out, (__mmask16)mask_of (n), row);
}

static void
write_row (const CpuValuesLabeller *self, size_t first_word, uint32_t *out)
{
  const uint32_t width = self->base.plan.width;

  for (uint32_t i = 0; i < self->n_words; i++) {
    const uint64_t begins = self->begins[first_word + i];
    const uint64_t foreground = self->foreground[first_word + i];
    const uint32_t end = width - 64 * i < 64 ? width - 64 * i : 64;
    const uint32_t *labels = self->parents + self->runs_before[first_word + i] - 1;
    for (uint32_t x = 0; x < end; x += 16) {
      const uint32_t some = begins >> x & 0xffff;
      write_16 (
          out + 64 * i + x, end - x < 16 ? end - x : 16, some, foreground >> x & 0xffff, labels);
      labels += count_bits (some);
    }
  }
}

const ValuesCode values_code_avx512 = {"avx512", scan_type, write_row};
