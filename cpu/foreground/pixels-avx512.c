/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations of pixels.h for x86-64 processors with AVX-512, as in pixels-avx2.c. */
#include "cpu/pixels/colour-rows.h"
#include "cpu/pixels/filters.h"
#include "cpu/pixels/log-ratios.h"
#include "cpu/pixels/pack-avx512.h"
#include "cpu/pixels/reduce-avx512.h"
#include "cpu/pixels/reduce-rows.h"

#include <immintrin.h>

#define STEP_LANES 32
typedef uint16_t Steps __attribute__ ((vector_size (64), may_alias));
typedef uint8_t StepBytes __attribute__ ((vector_size (64), may_alias));
#define LANES 16
typedef int32_t Ints __attribute__ ((vector_size (64)));
typedef __m512 Floats;
typedef __mmask16 Mask;
#define VECTOR(operation) _mm512_##operation
typedef __m512i Vector;
#include "pixels-x86.h"

/* The values of STEP_LANES pixels in steps of a mean. */
static ALWAYS_INLINE Steps
load_luma (const uint8_t *from)
{
  return (Steps)_mm512_slli_epi16 (
      _mm512_cvtepu8_epi16 (_mm256_loadu_si256 ((const __m256i *)from)), 8);
}

static ALWAYS_INLINE Steps
choose (Steps lanes, Steps inside, Steps outside)
{
  return (Steps)_mm512_mask_blend_epi16 (
      _mm512_movepi16_mask ((__m512i)lanes), (__m512i)outside, (__m512i)inside);
}

/* 0 where the first argument is 0. */
static ALWAYS_INLINE Steps
keep_where_not_zero (Steps where, Steps steps)
{
  return (Steps)_mm512_maskz_mov_epi16 (
      _mm512_test_epi16_mask ((__m512i)where, (__m512i)where), (__m512i)steps);
}

static ALWAYS_INLINE bool
all_zero (Steps steps)
{
  return _mm512_test_epi16_mask ((__m512i)steps, (__m512i)steps) == 0;
}

static ALWAYS_INLINE bool
any_zero (Steps steps)
{
  return _mm512_testn_epi16_mask ((__m512i)steps, (__m512i)steps) != 0;
}

/* The lanes of Steps for the lanes of two Ints that were unpacked from it. */
static ALWAYS_INLINE Steps
pack_masks (Mask low, Mask high)
{
  return (Steps)_mm512_packs_epi32 (_mm512_movm_epi32 (low), _mm512_movm_epi32 (high));
}

/* One bit per lane. */
static ALWAYS_INLINE uint32_t
bits_of (Steps lanes)
{
  return _mm512_movepi16_mask ((__m512i)lanes);
}

static ALWAYS_INLINE Ints
round_down (Floats values)
{
  return (Ints)_mm512_cvt_roundps_epi32 (values, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

static ALWAYS_INLINE Mask
less (Floats a, Floats b)
{
  return _mm512_cmp_ps_mask (a, b, _CMP_LT_OQ);
}

/* The lanes whose bits are set. */
static ALWAYS_INLINE Steps
lanes_of (uint32_t bits)
{
  return (Steps)_mm512_movm_epi16 (bits);
}

/* For each lane, the entry of a table of 16 bytes. */
static ALWAYS_INLINE Steps
look_up (const uint8_t *table, Steps places)
{
  const __m512i entries = _mm512_broadcast_i32x4 (_mm_loadu_si128 ((const __m128i *)table));
  return (Steps)_mm512_shuffle_epi8 (entries, (__m512i)places) & 0xff;
}

/* The lower bytes of two vectors, one behind the other. */
static ALWAYS_INLINE StepBytes
pack_bytes (Steps low, Steps high)
{
  return (StepBytes)_mm512_inserti64x4 (
      _mm512_castsi256_si512 (_mm512_cvtepi16_epi8 ((__m512i)low)),
      _mm512_cvtepi16_epi8 ((__m512i)high), 1);
}

/* A bit for each byte, which is 0 or 0xff. */
static ALWAYS_INLINE uint64_t
bits_of_bytes (StepBytes bytes)
{
  return _mm512_movepi8_mask ((__m512i)bytes);
}

/* Whether both masks have all lanes set. */
static ALWAYS_INLINE bool
all_lanes (Mask low, Mask high)
{
  return (Mask)(low & high) == (Mask)UINT16_MAX;
}

static ALWAYS_INLINE __mmask64
columns (uint32_t n)
{
  return n < 64 ? ((__mmask64)1 << n) - 1 : ~(__mmask64)0;
}

static void
threshold_row (const uint8_t *pixels, uint32_t width, uint8_t threshold, uint64_t *foreground)
{
  const Threshold thresholds = threshold_prepare (threshold);
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

/* The entries of a table of 256 bytes. */
static ALWAYS_INLINE __m512i
look_up_bytes (const uint8_t *table, __m512i places)
{
  const __m512i lower = _mm512_permutex2var_epi8 (
      _mm512_loadu_si512 (table), places, _mm512_loadu_si512 (table + 64));
  const __m512i upper = _mm512_permutex2var_epi8 (
      _mm512_loadu_si512 (table + 128), places, _mm512_loadu_si512 (table + 192));
  return _mm512_mask_blend_epi8 (_mm512_movepi8_mask (places), lower, upper);
}

static ALWAYS_INLINE __m512i
limited_ratios (__m256i frame, __m256i model, __mmask32 are_compared)
{
  const __m512i ratios =
      _mm512_sub_epi16 (_mm512_cvtepu8_epi16 (frame), _mm512_cvtepu8_epi16 (model));
  const __m512i limited =
      _mm512_max_epi16 (_mm512_min_epi16 (ratios, _mm512_set1_epi16 (CUDACCL_LIGHT_LIMIT)),
          _mm512_set1_epi16 (-CUDACCL_LIGHT_LIMIT));
  return _mm512_mask_blend_epi16 (are_compared, _mm512_set1_epi16 (NO_LOG_RATIO), limited);
}

static void
log_ratios (
    const uint8_t *logs, const uint8_t *frame, const uint8_t *model, uint32_t n, int16_t *ratios)
{
  for (uint32_t x = 0; x < n; x += 64) {
    const __mmask64 inside = columns (n - x);
    const __m512i of_frame = look_up_bytes (logs, _mm512_maskz_loadu_epi8 (inside, frame + x));
    const __m512i of_model = look_up_bytes (logs, _mm512_maskz_loadu_epi8 (inside, model + x));
    const __mmask64 are_compared =
        _mm512_test_epi8_mask (of_frame, of_frame) & _mm512_test_epi8_mask (of_model, of_model);
    _mm512_mask_storeu_epi16 (ratios + x, (__mmask32)inside,
        limited_ratios (_mm512_castsi512_si256 (of_frame), _mm512_castsi512_si256 (of_model),
            (__mmask32)are_compared));
    _mm512_mask_storeu_epi16 (ratios + x + 32, (__mmask32)(inside >> 32),
        limited_ratios (_mm512_extracti64x4_epi64 (of_frame, 1),
            _mm512_extracti64x4_epi64 (of_model, 1), (__mmask32)(are_compared >> 32)));
  }
}

#include "pixel-rows.h"

const PixelCode pixel_code_avx512 = {PIXEL_ROWS, .name = "avx512", .log_ratios = log_ratios};
