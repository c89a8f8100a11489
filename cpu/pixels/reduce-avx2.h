/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of frames reduced with AVX2; reduce-rows.h says what the functions do. */
#pragma once

#include "pixels.h"

#include <immintrin.h>

/* The sums of pairs of 32 samples. */
static ALWAYS_INLINE __m256i
sum_pairs (const uint8_t *from)
{
  return _mm256_maddubs_epi16 (_mm256_loadu_si256 ((const __m256i *)from), _mm256_set1_epi8 (1));
}

static ALWAYS_INLINE __m256i
sum_pairs_of_two (const uint8_t *a, const uint8_t *b)
{
  return _mm256_add_epi16 (sum_pairs (a), sum_pairs (b));
}

/* Starts to load 64 samples of each row that are needed next. */
static ALWAYS_INLINE void
prefetch_next (const ReducedRow *row, uint32_t n_rows, uint32_t x)
{
  for (uint32_t y = 0; y < n_rows; y++)
    __builtin_prefetch (row->rows[y] + x + row->ahead, 0, 2);
}

/* 8 means, of 32 bits each, from 32 columns. */
static ALWAYS_INLINE __m256i
means_of_fours (const ReducedRow *row, uint32_t x)
{
  const __m256i sums =
      _mm256_madd_epi16 (_mm256_add_epi16 (sum_pairs_of_two (row->rows[0] + x, row->rows[1] + x),
                             sum_pairs_of_two (row->rows[2] + x, row->rows[3] + x)),
          _mm256_set1_epi16 (1));
  return _mm256_srli_epi32 (_mm256_add_epi32 (sums, _mm256_set1_epi32 (8)), 4);
}

/* 32 means from 128 columns at a time. */
static uint32_t
reduce_fours (const ReducedRow *row)
{
  const __m256i order = _mm256_setr_epi32 (0, 4, 1, 5, 2, 6, 3, 7);
  uint32_t x = 0;

  for (; x + 128 <= row->n_samples; x += 128) {
    prefetch_next (row, 4, x);
    const __m256i left =
        _mm256_packus_epi32 (means_of_fours (row, x), means_of_fours (row, x + 32));
    prefetch_next (row, 4, x + 64);
    const __m256i right =
        _mm256_packus_epi32 (means_of_fours (row, x + 64), means_of_fours (row, x + 96));
    _mm256_storeu_si256 ((__m256i *)(row->means + x / 4),
        _mm256_permutevar8x32_epi32 (_mm256_packus_epi16 (left, right), order));
  }
  return x / 4;
}

/* 16 means, of 16 bits each, from 32 columns. */
static ALWAYS_INLINE __m256i
means_of_twos (const ReducedRow *row, uint32_t x)
{
  const __m256i sums = sum_pairs_of_two (row->rows[0] + x, row->rows[1] + x);
  return _mm256_srli_epi16 (_mm256_add_epi16 (sums, _mm256_set1_epi16 (2)), 2);
}

/* 32 means from 64 columns at a time. */
static uint32_t
reduce_twos (const ReducedRow *row)
{
  uint32_t x = 0;

  for (; x + 64 <= row->n_samples; x += 64) {
    prefetch_next (row, 2, x);
    const __m256i means = _mm256_packus_epi16 (means_of_twos (row, x), means_of_twos (row, x + 32));
    _mm256_storeu_si256 ((__m256i *)(row->means + x / 2), _mm256_permute4x64_epi64 (means, 0xd8));
  }
  return x / 2;
}
