/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thresholding of pixels to bits with AVX2; pack-portable.h says what the functions do. */
#pragma once

#include "core/label/labeller-class.h"

#include <immintrin.h>
#include <stdint.h>

typedef __m256i Threshold;

static inline Threshold
threshold_prepare (uint8_t threshold)
{
  return _mm256_set1_epi8 ((char)threshold);
}

/* Of 32 pixels. */
static inline uint32_t
pack_32 (const uint8_t *pixels, __m256i thresholds)
{
  const __m256i values = _mm256_loadu_si256 ((const __m256i *)pixels);
  const __m256i excess = _mm256_subs_epu8 (values, thresholds);
  return ~(uint32_t)_mm256_movemask_epi8 (_mm256_cmpeq_epi8 (excess, _mm256_setzero_si256 ()));
}

static inline uint64_t
pack_pixels (const uint8_t *pixels, Threshold thresholds)
{
  return pack_32 (pixels, thresholds) | (uint64_t)pack_32 (pixels + 32, thresholds) << 32;
}

static inline __m256i
not_greater_words (const uint8_t *pixels, CclWordThreshold threshold)
{
  const __m256i words = _mm256_and_si256 (
      _mm256_loadu_si256 ((const __m256i *)pixels), _mm256_set1_epi16 ((int16_t)threshold.mask));
  const __m256i excess =
      _mm256_subs_epu16 (words, _mm256_set1_epi16 ((int16_t)threshold.threshold));
  return _mm256_cmpeq_epi16 (excess, _mm256_setzero_si256 ());
}

static inline uint32_t
pack_words_32 (const uint8_t *pixels, CclWordThreshold threshold)
{
  /* Packing interleaves the halves of both vectors. */
  const __m256i packed = _mm256_packs_epi16 (
      not_greater_words (pixels, threshold), not_greater_words (pixels + 32, threshold));
  return ~(uint32_t)_mm256_movemask_epi8 (_mm256_permute4x64_epi64 (packed, 0xd8));
}

static inline uint64_t
pack_words (const uint8_t *pixels, CclWordThreshold threshold)
{
  return pack_words_32 (pixels, threshold) | (uint64_t)pack_words_32 (pixels + 64, threshold) << 32;
}
