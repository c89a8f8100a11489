/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thresholding of pixels of two bytes to bits with AVX-512; for those of one byte, a comparison is
 * enough. */
#pragma once

#include "core/label/labeller-class.h"

#include <immintrin.h>
#include <stdint.h>

/* 32 bits for 32 pixels, set where the pixel is greater than the threshold. */
static inline uint32_t
pack_words_avx512_32 (const uint8_t *pixels, CclWordThreshold threshold)
{
  const __m512i words =
      _mm512_and_si512 (_mm512_loadu_si512 (pixels), _mm512_set1_epi16 ((int16_t)threshold.mask));
  return _mm512_cmpgt_epu16_mask (words, _mm512_set1_epi16 ((int16_t)threshold.threshold));
}

static inline uint64_t
pack_words_avx512 (const uint8_t *pixels, CclWordThreshold threshold)
{
  return pack_words_avx512_32 (pixels, threshold) |
         (uint64_t)pack_words_avx512_32 (pixels + 64, threshold) << 32;
}
