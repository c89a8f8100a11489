/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps of measure-runs.h with AVX-512. measure-scalar.h describes them. */
#pragma once

#include "measure-x86.h"

/* A lane for each count. */
typedef __m512i PlaneCounts;

/* The numbers 0…63. */
static inline __m512i
place_numbers (void)
{
  return _mm512_set_epi64 (0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928,
      0x2726252423222120, 0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908,
      0x0706050403020100);
}

/* Transposes 8×8 words: the planes of a word come together. */
static inline void
transpose_planes (const uint64_t *planes, uint64_t *arranged)
{
  __m512i of_two[8], of_four[8];

#pragma GCC unroll 4
  for (uint32_t i = 0; i < 4; i++) {
    const __m512i a = _mm512_loadu_si512 (planes + (2 * i) * GROUP);
    const __m512i b = _mm512_loadu_si512 (planes + (2 * i + 1) * GROUP);
    of_two[i] = _mm512_unpacklo_epi64 (a, b);     /* words 0, 2, 4, 6 */
    of_two[4 + i] = _mm512_unpackhi_epi64 (a, b); /* words 1, 3, 5, 7 */
  }
#pragma GCC unroll 4
  for (uint32_t i = 0; i < 4; i++) {
    const __m512i a = of_two[2 * i], b = of_two[2 * i + 1];
    of_four[2 * i] = _mm512_shuffle_i64x2 (a, b, 0x88);     /* words 0 and 4, or 1 and 5 */
    of_four[2 * i + 1] = _mm512_shuffle_i64x2 (a, b, 0xdd); /* words 2 and 6, or 3 and 7 */
  }
#pragma GCC unroll 4
  for (uint32_t i = 0; i < 4; i++) {
    const uint32_t odd = i / 2, at_2 = i % 2, w = odd + 2 * at_2;
    const __m512i a = of_four[4 * odd + at_2], b = of_four[4 * odd + 2 + at_2];
    _mm512_storeu_si512 (arranged + w * N_PLANES, _mm512_shuffle_i64x2 (a, b, 0x88));
    _mm512_storeu_si512 (arranged + (w + 4) * N_PLANES, _mm512_shuffle_i64x2 (a, b, 0xdd));
  }
}

static inline void
arrange_planes (const uint64_t *planes, uint64_t *arranged)
{
  transpose_planes (planes, arranged);
  transpose_planes (planes + N_COUNTS * GROUP, arranged + N_COUNTS);
}

static ALWAYS_INLINE void
count_planes (const uint64_t *arranged, uint32_t w, uint64_t pixels, PlaneCounts *counts)
{
  const uint64_t *planes = arranged + (size_t)w * N_PLANES;
  const __m512i here = _mm512_set1_epi64 ((int64_t)pixels);
  const __m512i once = _mm512_and_si512 (_mm512_loadu_si512 (planes), here);
  const __m512i twice = _mm512_and_si512 (_mm512_loadu_si512 (planes + N_COUNTS), here);
  const __m512i n_twice = _mm512_slli_epi64 (_mm512_popcnt_epi64 (twice), 1);

  *counts = _mm512_add_epi64 (*counts, _mm512_add_epi64 (_mm512_popcnt_epi64 (once), n_twice));
}

static ALWAYS_INLINE void
add_counts (uint32_t of_component[N_COUNTS], const PlaneCounts *counts)
{
  add_counts_of_span (of_component, _mm512_cvtepi64_epi32 (*counts));
}

/* The sums of neighbouring lanes of 16 bits. */
static ALWAYS_INLINE __m512i
sum_pairs (__m512i lanes)
{
  return _mm512_madd_epi16 (lanes, _mm512_set1_epi16 (1));
}

/* For both rows, in the halves of 64 bits: the sums of eight bytes. */
static ALWAYS_INLINE __m512i
sum_eights (__m512i top, __m512i bottom)
{
  const __m512i zero = _mm512_setzero_si512 ();
  return _mm512_or_si512 (
      _mm512_sad_epu8 (top, zero), _mm512_slli_epi64 (_mm512_sad_epu8 (bottom, zero), 32));
}

static ALWAYS_INLINE __m256i
add_halves (__m512i lanes)
{
  return _mm256_add_epi32 (_mm512_castsi512_si256 (lanes), _mm512_extracti64x4_epi64 (lanes, 1));
}

static ALWAYS_INLINE void
sum_places (uint64_t top, uint64_t bottom, PlaceSums *sums)
{
  const __m512i of_top = _mm512_maskz_mov_epi8 (top, place_numbers ());
  const __m512i of_bottom = _mm512_maskz_mov_epi8 (bottom, place_numbers ());
  const __m512i squares = sum_pairs (_mm512_add_epi16 (
      _mm512_maddubs_epi16 (of_top, of_top), _mm512_maddubs_epi16 (of_bottom, of_bottom)));

  *sums = add_place_lanes (
      top, bottom, add_halves (sum_eights (of_top, of_bottom)), add_halves (squares));
}

/* The squares of 64 bytes, summed by four. */
static ALWAYS_INLINE __m512i
sum_squares (__m512i bytes)
{
  const __m512i even = _mm512_and_si512 (bytes, _mm512_set1_epi16 (0xff));
  const __m512i odd = _mm512_srli_epi16 (bytes, 8);
  return _mm512_add_epi32 (_mm512_madd_epi16 (even, even), _mm512_madd_epi16 (odd, odd));
}

static ALWAYS_INLINE void
sum_bytes (const uint8_t *const values[2], uint32_t n_values, uint64_t top, uint64_t bottom,
    ValueSums *sums)
{
  const __m512i ones = _mm512_set1_epi8 (-1), numbers = place_numbers ();
  const __m512i of_top = _mm512_maskz_loadu_epi8 (top, values[0]);
  const __m512i of_bottom = _mm512_maskz_loadu_epi8 (bottom, values[1]);
  const __m512i squares = _mm512_add_epi32 (sum_squares (of_top), sum_squares (of_bottom));
  const __m512i products = _mm512_add_epi32 (sum_pairs (_mm512_maddubs_epi16 (of_top, numbers)),
      sum_pairs (_mm512_maddubs_epi16 (of_bottom, numbers)));
  const __m512i least = _mm512_min_epu8 (
      _mm512_mask_mov_epi8 (ones, top, of_top), _mm512_mask_mov_epi8 (ones, bottom, of_bottom));
  const __m512i greatest = _mm512_max_epu8 (of_top, of_bottom);

  *sums = add_value_lanes (add_halves (sum_eights (of_top, of_bottom)), add_halves (squares),
      add_halves (products),
      _mm256_min_epu8 (_mm512_castsi512_si256 (least), _mm512_extracti64x4_epi64 (least, 1)),
      _mm256_max_epu8 (_mm512_castsi512_si256 (greatest), _mm512_extracti64x4_epi64 (greatest, 1)));
}
