/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operations of pixels.h for x86-64 processors with AVX2.
 *
 * This file and pixels-avx512.c have the same functions in the same order, one intrinsic or two
 * each; pixels-x86.h has those whose intrinsics differ by the width of vectors alone. The algorithm
 * on these vectors, mog2.h, is shared with NEON, too.
 */
#include "cpu/pixels/colour-rows.h"
#include "cpu/pixels/filters.h"
#include "cpu/pixels/log-ratios.h"
#include "cpu/pixels/pack-avx2.h"
#include "cpu/pixels/reduce-avx2.h"
#include "cpu/pixels/reduce-rows.h"

#include <immintrin.h>
#include <string.h>

#define STEP_LANES 16
typedef uint16_t Steps __attribute__ ((vector_size (32), may_alias));
typedef uint8_t StepBytes __attribute__ ((vector_size (32), may_alias));
#define LANES 8
typedef int32_t Ints __attribute__ ((vector_size (32)));
typedef __m256 Floats;
typedef __m256i Mask; /* each lane has all bits set or none */
#define VECTOR(operation) _mm256_##operation
typedef __m256i Vector;
#include "pixels-x86.h"

/* The values of STEP_LANES pixels in steps of a mean. */
static ALWAYS_INLINE Steps
load_luma (const uint8_t *from)
{
  return (Steps)_mm256_slli_epi16 (
      _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *)from)), 8);
}

static ALWAYS_INLINE Steps
choose (Steps lanes, Steps inside, Steps outside)
{
  return (Steps)_mm256_blendv_epi8 ((__m256i)outside, (__m256i)inside, (__m256i)lanes);
}

/* 0 where the first argument is 0. */
static ALWAYS_INLINE Steps
keep_where_not_zero (Steps where, Steps steps)
{
  const __m256i zero = _mm256_cmpeq_epi16 ((__m256i)where, _mm256_setzero_si256 ());
  return (Steps)_mm256_andnot_si256 (zero, (__m256i)steps);
}

static ALWAYS_INLINE bool
all_zero (Steps steps)
{
  return _mm256_testz_si256 ((__m256i)steps, (__m256i)steps);
}

static ALWAYS_INLINE bool
any_zero (Steps steps)
{
  const __m256i zero = _mm256_cmpeq_epi16 ((__m256i)steps, _mm256_setzero_si256 ());
  return !_mm256_testz_si256 (zero, zero);
}

/* The lanes of Steps for the lanes of two Ints that were unpacked from it. */
static ALWAYS_INLINE Steps
pack_masks (Mask low, Mask high)
{
  return (Steps)_mm256_packs_epi32 (low, high);
}

/* One bit per lane. */
static ALWAYS_INLINE uint32_t
bits_of (Steps lanes)
{
  const __m256i bytes = _mm256_packs_epi16 ((__m256i)lanes, _mm256_setzero_si256 ());
  const uint32_t bits = (uint32_t)_mm256_movemask_epi8 (bytes);
  return (bits & 0xff) | bits >> 8;
}

static ALWAYS_INLINE Ints
round_down (Floats values)
{
  return (Ints)_mm256_cvttps_epi32 (_mm256_floor_ps (values));
}

static ALWAYS_INLINE Mask
less (Floats a, Floats b)
{
  return _mm256_castps_si256 (_mm256_cmp_ps (a, b, _CMP_LT_OQ));
}

/* The lanes whose bits are set. */
static ALWAYS_INLINE Steps
lanes_of (uint32_t bits)
{
  const Steps bit_of_lane = {
      1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  return (Steps)((steps_of ((uint16_t)bits) & bit_of_lane) != 0);
}

/* For each lane, the entry of a table of 16 bytes. */
static ALWAYS_INLINE Steps
look_up (const uint8_t *table, Steps places)
{
  const __m256i entries = _mm256_broadcastsi128_si256 (_mm_loadu_si128 ((const __m128i *)table));
  return (Steps)_mm256_shuffle_epi8 (entries, (__m256i)places) & 0xff;
}

/* The lower bytes of two vectors, one behind the other. */
static ALWAYS_INLINE StepBytes
pack_bytes (Steps low, Steps high)
{
  const __m256i bytes = _mm256_packus_epi16 ((__m256i)(low & 0xff), (__m256i)(high & 0xff));
  return (StepBytes)_mm256_permute4x64_epi64 (bytes, 0xd8);
}

/* A bit for each byte, which is 0 or 0xff. */
static ALWAYS_INLINE uint64_t
bits_of_bytes (StepBytes bytes)
{
  return (uint32_t)_mm256_movemask_epi8 ((__m256i)bytes);
}

/* Whether both masks have all lanes set. */
static ALWAYS_INLINE bool
all_lanes (Mask low, Mask high)
{
  return _mm256_testc_si256 (low & high, _mm256_set1_epi32 (-1));
}

/* Copies each byte of bits to 8 columns and tests the bit of each column. */
static ALWAYS_INLINE void
write_columns (uint32_t bits, uint8_t *mask)
{
  const __m256i byte_of_column = _mm256_setr_epi8 (0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
      2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  const __m256i bit_of_column = _mm256_set1_epi64x ((int64_t)0x8040201008040201);
  const __m256i bytes = _mm256_shuffle_epi8 (_mm256_set1_epi32 ((int)bits), byte_of_column);
  _mm256_storeu_si256 (
      (__m256i *)mask, _mm256_cmpeq_epi8 (_mm256_and_si256 (bytes, bit_of_column), bit_of_column));
}

#define WRITTEN_COLUMNS 32
#include "pixel-rows.h"

/* The entries of a table of 256 bytes. */
static ALWAYS_INLINE __m256i
look_up_bytes (const uint8_t *table, __m256i places)
{
  const __m256i digits = _mm256_set1_epi8 (15);
  const __m256i low = _mm256_and_si256 (places, digits);
  const __m256i high = _mm256_and_si256 (_mm256_srli_epi16 (places, 4), digits);
  __m256i entries = _mm256_setzero_si256 ();
  UNROLL for (int i = 0; i < 16; i++)
  {
    const __m256i part =
        _mm256_broadcastsi128_si256 (_mm_loadu_si128 ((const __m128i *)(table + 16 * i)));
    entries = _mm256_blendv_epi8 (entries, _mm256_shuffle_epi8 (part, low),
        _mm256_cmpeq_epi8 (high, _mm256_set1_epi8 ((char)i)));
  }
  return entries;
}

static ALWAYS_INLINE void
store_ratios (__m128i frame, __m128i model, int16_t *ratios)
{
  const __m256i of_frame = _mm256_cvtepu8_epi16 (frame), of_model = _mm256_cvtepu8_epi16 (model);
  const __m256i limited = _mm256_max_epi16 (_mm256_min_epi16 (_mm256_sub_epi16 (of_frame, of_model),
                                                _mm256_set1_epi16 (CUDACCL_LIGHT_LIMIT)),
      _mm256_set1_epi16 (-CUDACCL_LIGHT_LIMIT));
  const __m256i none = _mm256_setzero_si256 ();
  const __m256i lacks_one =
      _mm256_or_si256 (_mm256_cmpeq_epi16 (of_frame, none), _mm256_cmpeq_epi16 (of_model, none));
  _mm256_storeu_si256 (
      (__m256i *)ratios, _mm256_blendv_epi8 (limited, _mm256_set1_epi16 (NO_LOG_RATIO), lacks_one));
}

static void
log_ratios (
    const uint8_t *logs, const uint8_t *frame, const uint8_t *model, uint32_t n, int16_t *ratios)
{
  uint32_t x = 0;
  for (; x + 32 <= n; x += 32) {
    const __m256i of_frame =
        look_up_bytes (logs, _mm256_loadu_si256 ((const __m256i *)(frame + x)));
    const __m256i of_model =
        look_up_bytes (logs, _mm256_loadu_si256 ((const __m256i *)(model + x)));
    store_ratios (_mm256_castsi256_si128 (of_frame), _mm256_castsi256_si128 (of_model), ratios + x);
    store_ratios (_mm256_extracti128_si256 (of_frame, 1), _mm256_extracti128_si256 (of_model, 1),
        ratios + x + 16);
  }
  find_log_ratios (logs, frame + x, model + x, n - x, ratios + x);
}

const PixelCode pixel_code_avx2 = {PIXEL_ROWS, .name = "avx2", .log_ratios = log_ratios};
