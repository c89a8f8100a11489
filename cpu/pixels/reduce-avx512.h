/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of frames reduced with AVX-512; reduce-rows.h says what the functions do. */
#pragma once

#include "pixels.h"

#include <immintrin.h>

/* The sums of pairs of 64 samples, and starts to load those that are needed next. */
static ALWAYS_INLINE __m512i
sum_pairs (const uint8_t *from, ptrdiff_t ahead)
{
  __builtin_prefetch (from + ahead, 0, 2);
  return _mm512_maddubs_epi16 (_mm512_loadu_si512 (from), _mm512_set1_epi8 (1));
}

/* 16 means from 64 columns at a time. */
static uint32_t
reduce_fours (const ReducedRow *row)
{
  const uint8_t *a = row->rows[0], *b = row->rows[1], *c = row->rows[2], *d = row->rows[3];
  uint32_t x = 0;

  for (; x + 64 <= row->n_samples; x += 64) {
    const __m512i upper =
        _mm512_add_epi16 (sum_pairs (a + x, row->ahead), sum_pairs (b + x, row->ahead));
    const __m512i lower =
        _mm512_add_epi16 (sum_pairs (c + x, row->ahead), sum_pairs (d + x, row->ahead));
    const __m512i sums = _mm512_madd_epi16 (_mm512_add_epi16 (upper, lower), _mm512_set1_epi16 (1));
    const __m512i means = _mm512_srli_epi32 (_mm512_add_epi32 (sums, _mm512_set1_epi32 (8)), 4);
    _mm_storeu_si128 ((__m128i *)(row->means + x / 4), _mm512_cvtepi32_epi8 (means));
  }
  return x / 4;
}

/* 32 means from 64 columns at a time. */
static uint32_t
reduce_twos (const ReducedRow *row)
{
  const uint8_t *a = row->rows[0], *b = row->rows[1];
  uint32_t x = 0;

  for (; x + 64 <= row->n_samples; x += 64) {
    const __m512i sums =
        _mm512_add_epi16 (sum_pairs (a + x, row->ahead), sum_pairs (b + x, row->ahead));
    const __m512i means = _mm512_srli_epi16 (_mm512_add_epi16 (sums, _mm512_set1_epi16 (2)), 2);
    _mm256_storeu_si256 ((__m256i *)(row->means + x / 2), _mm512_cvtepi16_epi8 (means));
  }
  return x / 2;
}
