/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segmenter's work on pixels for x86-64 processors with AVX-512. */
#include "filters.h"

#include <immintrin.h>

#define LANES 16
typedef __m512 Floats;
typedef __mmask16 Mask;

static ALWAYS_INLINE Floats
floats_of (float value)
{
  return _mm512_set1_ps (value);
}

static ALWAYS_INLINE Floats
load_uint8 (const uint8_t *from)
{
  return _mm512_cvtepi32_ps (_mm512_cvtepu8_epi32 (_mm_loadu_si128 ((const __m128i *)from)));
}

static ALWAYS_INLINE Floats
load_uint16 (const uint16_t *from)
{
  return _mm512_cvtepi32_ps (_mm512_cvtepu16_epi32 (_mm256_load_si256 ((const __m256i *)from)));
}

/* Rounds down; what is greater than 65535 becomes that. */
static ALWAYS_INLINE void
store_uint16 (uint16_t *to, Floats values)
{
  _mm256_store_si256 ((__m256i *)to, _mm512_cvtusepi32_epi16 (_mm512_cvttps_epi32 (values)));
}

static ALWAYS_INLINE Floats
greater_of (Floats a, Floats b)
{
  return _mm512_max_ps (a, b);
}

static ALWAYS_INLINE Floats
lesser_of (Floats a, Floats b)
{
  return _mm512_min_ps (a, b);
}

static ALWAYS_INLINE Mask
less (Floats a, Floats b)
{
  return _mm512_cmp_ps_mask (a, b, _CMP_LT_OQ);
}

static ALWAYS_INLINE Floats
choose (Mask lanes, Floats inside, Floats outside)
{
  return _mm512_mask_blend_ps (lanes, outside, inside);
}

/* 0 in the other lanes. */
static ALWAYS_INLINE Floats
keep_lanes (Mask lanes, Floats values)
{
  return _mm512_maskz_mov_ps (lanes, values);
}

static ALWAYS_INLINE Mask
no_lanes (void)
{
  return 0;
}

static ALWAYS_INLINE Mask
all_but (Mask lanes)
{
  return (Mask)~lanes;
}

static ALWAYS_INLINE Mask
both (Mask a, Mask b)
{
  return a & b;
}

static ALWAYS_INLINE Mask
and_not (Mask a, Mask b)
{
  return (Mask)(a & ~b);
}

static ALWAYS_INLINE Mask
either (Mask a, Mask b)
{
  return a | b;
}

static ALWAYS_INLINE bool
any_lane (Mask lanes)
{
  return lanes != 0;
}

static ALWAYS_INLINE uint32_t
bits_of (Mask lanes)
{
  return lanes;
}

#include "background.h"

static ALWAYS_INLINE __mmask64
columns (uint32_t n)
{
  return n < 64 ? ((__mmask64)1 << n) - 1 : ~(__mmask64)0;
}

static void
threshold_row (const uint8_t *pixels, uint32_t width, uint8_t threshold, uint64_t *foreground)
{
  const __m512i thresholds = _mm512_set1_epi8 ((char)threshold);
  for (uint32_t x = 0; x < width; x += 64) {
    const __m512i values = _mm512_maskz_loadu_epi8 (columns (width - x), pixels + x);
    foreground[x / 64] = _mm512_cmpgt_epu8_mask (values, thresholds);
  }
}

static void
write_row (const uint64_t *foreground, uint32_t width, uint8_t *mask)
{
  for (uint32_t x = 0; x < width; x += 64)
    _mm512_mask_storeu_epi8 (mask + x, columns (width - x), _mm512_movm_epi8 (foreground[x / 64]));
}

const PixelCode pixel_code_avx512 = {
    .name = "avx512",
    .threshold_row = threshold_row,
    .background_row = background_row,
    .filter_row = filter_row,
    .write_row = write_row,
};
