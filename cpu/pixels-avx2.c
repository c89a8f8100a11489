/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segmenter's work on pixels for x86-64 processors with AVX2. */
#include "filters.h"

#include <immintrin.h>
#include <string.h>

#define LANES 8
typedef __m256 Floats;
typedef __m256 Mask; /* all bits of a lane are alike */

static ALWAYS_INLINE Floats
floats_of (float value)
{
  return _mm256_set1_ps (value);
}

static ALWAYS_INLINE Floats
load_uint8 (const uint8_t *from)
{
  return _mm256_cvtepi32_ps (_mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const __m128i *)from)));
}

static ALWAYS_INLINE Floats
load_uint16 (const uint16_t *from)
{
  return _mm256_cvtepi32_ps (_mm256_cvtepu16_epi32 (_mm_load_si128 ((const __m128i *)from)));
}

/* Rounds down; what is greater than 65535 becomes that. */
static ALWAYS_INLINE void
store_uint16 (uint16_t *to, Floats values)
{
  const __m256i whole = _mm256_cvttps_epi32 (values);
  _mm_store_si128 ((__m128i *)to,
      _mm_packus_epi32 (_mm256_castsi256_si128 (whole), _mm256_extracti128_si256 (whole, 1)));
}

static ALWAYS_INLINE Floats
greater_of (Floats a, Floats b)
{
  return _mm256_max_ps (a, b);
}

static ALWAYS_INLINE Floats
lesser_of (Floats a, Floats b)
{
  return _mm256_min_ps (a, b);
}

static ALWAYS_INLINE Mask
less (Floats a, Floats b)
{
  return _mm256_cmp_ps (a, b, _CMP_LT_OQ);
}

static ALWAYS_INLINE Floats
choose (Mask lanes, Floats inside, Floats outside)
{
  return _mm256_blendv_ps (outside, inside, lanes);
}

/* 0 in the other lanes. */
static ALWAYS_INLINE Floats
keep_lanes (Mask lanes, Floats values)
{
  return _mm256_and_ps (lanes, values);
}

static ALWAYS_INLINE Mask
no_lanes (void)
{
  return _mm256_setzero_ps ();
}

static ALWAYS_INLINE Mask
all_but (Mask lanes)
{
  return _mm256_xor_ps (lanes, _mm256_castsi256_ps (_mm256_set1_epi32 (-1)));
}

static ALWAYS_INLINE Mask
both (Mask a, Mask b)
{
  return _mm256_and_ps (a, b);
}

static ALWAYS_INLINE Mask
and_not (Mask a, Mask b)
{
  return _mm256_andnot_ps (b, a);
}

static ALWAYS_INLINE Mask
either (Mask a, Mask b)
{
  return _mm256_or_ps (a, b);
}

static ALWAYS_INLINE bool
any_lane (Mask lanes)
{
  return !_mm256_testz_ps (lanes, lanes);
}

static ALWAYS_INLINE uint32_t
bits_of (Mask lanes)
{
  return (uint32_t)_mm256_movemask_ps (lanes);
}

#include "background.h"

static ALWAYS_INLINE uint32_t
threshold_32 (const uint8_t *pixels, __m256i thresholds)
{
  const __m256i values = _mm256_loadu_si256 ((const __m256i *)pixels);
  const __m256i excess = _mm256_subs_epu8 (values, thresholds);
  return ~(uint32_t)_mm256_movemask_epi8 (_mm256_cmpeq_epi8 (excess, _mm256_setzero_si256 ()));
}

static void
threshold_row (const uint8_t *pixels, uint32_t width, uint8_t threshold, uint64_t *foreground)
{
  const __m256i thresholds = _mm256_set1_epi8 ((char)threshold);
  for (uint32_t x = 0; x < width; x += 64) {
    const uint8_t *of_word = pixels + x;
    uint8_t rest[64] = {0};
    if (width - x < 64)
      of_word = memcpy (rest, of_word, width - x);
    foreground[x / 64] = threshold_32 (of_word, thresholds) |
                         (uint64_t)threshold_32 (of_word + 32, thresholds) << 32;
  }
}

/* Each bit picks its byte of the word and is compared with itself. */
static ALWAYS_INLINE void
write_32 (uint32_t bits, uint8_t *mask)
{
  const __m256i byte_of_column = _mm256_setr_epi8 (0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
      2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  const __m256i bit_of_column = _mm256_set1_epi64x ((int64_t)0x8040201008040201);
  const __m256i bytes = _mm256_shuffle_epi8 (_mm256_set1_epi32 ((int)bits), byte_of_column);
  _mm256_storeu_si256 (
      (__m256i *)mask, _mm256_cmpeq_epi8 (_mm256_and_si256 (bytes, bit_of_column), bit_of_column));
}

static void
write_row (const uint64_t *foreground, uint32_t width, uint8_t *mask)
{
  for (uint32_t x = 0; x < width; x += 32) {
    const uint32_t bits = (uint32_t)(foreground[x / 64] >> x % 64);
    uint8_t rest[32];
    if (width - x >= 32) {
      write_32 (bits, mask + x);
    } else {
      write_32 (bits, rest);
      memcpy (mask + x, rest, width - x);
    }
  }
}

const PixelCode pixel_code_avx2 = {
    .name = "avx2",
    .threshold_row = threshold_row,
    .background_row = background_row,
    .filter_row = filter_row,
    .write_row = write_row,
};
