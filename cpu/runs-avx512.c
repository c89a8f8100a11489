/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run labeller for x86-64 processors with AVX-512 (BW and VPOPCNTDQ, Ice Lake and later). */
#include <immintrin.h>
#include <stdint.h>

typedef __m512i Threshold;

static inline Threshold
threshold_prepare (uint8_t threshold)
{
  return _mm512_set1_epi8 ((char)threshold);
}

static inline uint64_t
pack (const uint8_t *pixels, Threshold threshold)
{
  return _mm512_cmpgt_epu8_mask (_mm512_loadu_si512 (pixels), threshold);
}

static inline void
expand (uint32_t *out, uint32_t n, uint64_t pixels, uint64_t starts, const uint32_t *labels)
{
  const __m512i columns_up_to = _mm512_setr_epi32 (0x0001, 0x0003, 0x0007, 0x000f, 0x001f, 0x003f,
      0x007f, 0x00ff, 0x01ff, 0x03ff, 0x07ff, 0x0fff, 0x1fff, 0x3fff, 0x7fff, 0xffff);

  for (uint32_t i = 0; i < n; i += 16, pixels >>= 16, starts >>= 16) {
    /* For each of sixteen columns: which of the labels it has, by counting starts. */
    const __m512i index =
        _mm512_popcnt_epi32 (_mm512_and_si512 (_mm512_set1_epi32 ((int)starts), columns_up_to));
    const __m512i candidates = _mm512_loadu_si512 (labels);
    const __m512i label = _mm512_maskz_permutexvar_epi32 ((__mmask16)pixels, index, candidates);
    if (n - i >= 16)
      _mm512_storeu_si512 (out + i, label);
    else
      _mm512_mask_storeu_epi32 (out + i, (__mmask16)((1u << (n - i)) - 1), label);
    labels += __builtin_popcount (starts & 0xffff);
  }
}

#define RUN_LABELLER run_labeller_avx512
#define RUN_LABELLER_NAME "avx512"
#include "runs.h"
