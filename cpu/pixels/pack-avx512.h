/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thresholding of pixels to bits with AVX-512; pack-portable.h says what the functions do. */
#pragma once

#include "core/label/labeller-class.h"

#include <immintrin.h>
#include <stdint.h>

typedef __m512i Threshold;

static inline Threshold
threshold_prepare (uint8_t threshold)
{
  return _mm512_set1_epi8 ((char)threshold);
}

static inline uint64_t
pack_pixels (const uint8_t *pixels, Threshold thresholds)
{
  return _mm512_cmpgt_epu8_mask (_mm512_loadu_si512 (pixels), thresholds);
}

static inline uint32_t
pack_words_32 (const uint8_t *pixels, CclWordThreshold threshold)
{
  const __m512i words =
      _mm512_and_si512 (_mm512_loadu_si512 (pixels), _mm512_set1_epi16 ((int16_t)threshold.mask));
  return _mm512_cmpgt_epu16_mask (words, _mm512_set1_epi16 ((int16_t)threshold.threshold));
}

static inline uint64_t
pack_words (const uint8_t *pixels, CclWordThreshold threshold)
{
  return pack_words_32 (pixels, threshold) | (uint64_t)pack_words_32 (pixels + 64, threshold) << 32;
}
