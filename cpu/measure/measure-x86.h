/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What measure-avx2.h and measure-avx512.h have in common. */
#pragma once

#include "measure-sums.h"

#include <immintrin.h>

static ALWAYS_INLINE void
add_counts_of_span (uint32_t of_component[N_COUNTS], __m256i counts)
{
  __m256i *all = (__m256i *)of_component;
  _mm256_storeu_si256 (all, _mm256_add_epi32 (_mm256_loadu_si256 (all), counts));
}

/* For both rows, in the halves of 64 bits: the sums of eight bytes. */
static ALWAYS_INLINE __m256i
sum_eights_256 (__m256i top, __m256i bottom)
{
  const __m256i zero = _mm256_setzero_si256 ();
  return _mm256_or_si256 (
      _mm256_sad_epu8 (top, zero), _mm256_slli_epi64 (_mm256_sad_epu8 (bottom, zero), 32));
}

/* Adds lanes of 32 bits: those of a with even and with odd numbers, then the same of b. */
static ALWAYS_INLINE __m128i
add_even_and_odd_lanes (__m256i a, __m256i b)
{
  const __m256i lanes =
      _mm256_add_epi32 (_mm256_unpacklo_epi64 (a, b), _mm256_unpackhi_epi64 (a, b));
  return _mm_add_epi32 (_mm256_castsi256_si128 (lanes), _mm256_extracti128_si256 (lanes, 1));
}

/* places: their sums as of sum_eights_256(). squares: lanes of 32 bits. */
static ALWAYS_INLINE PlaceSums
add_place_lanes (uint64_t top, uint64_t bottom, __m256i places, __m256i squares)
{
  const __m128i all = add_even_and_odd_lanes (places, squares);
  const uint64_t both_places = (uint64_t)_mm_cvtsi128_si64 (all);
  const uint64_t both_squares = (uint64_t)_mm_extract_epi64 (all, 1);

  return (PlaceSums){
      .n = {count_bits (top), count_bits (bottom)},
      .places = {(uint32_t)both_places, both_places >> 32},
      .squares = (uint32_t)both_squares + (both_squares >> 32),
  };
}

static ALWAYS_INLINE uint32_t
least_of_32_bytes (__m256i bytes)
{
  const __m128i of_16 =
      _mm_min_epu8 (_mm256_castsi256_si128 (bytes), _mm256_extracti128_si256 (bytes, 1));
  const __m128i of_8 = _mm_min_epu8 (of_16, _mm_srli_epi16 (of_16, 8));
  return (uint32_t)_mm_cvtsi128_si32 (_mm_minpos_epu16 (of_8)) & 0xff;
}

/* rows: the sums of the values, as of sum_eights_256(). squares and products: of the values, and
 * of these with their places, in lanes of 32 bits. */
static ALWAYS_INLINE ValueSums
add_value_lanes (__m256i rows, __m256i squares, __m256i products, __m256i least, __m256i greatest)
{
  const __m256i both = _mm256_add_epi32 (
      _mm256_unpacklo_epi32 (squares, products), _mm256_unpackhi_epi32 (squares, products));
  uint32_t all[4];

  _mm_storeu_si128 ((__m128i *)all, add_even_and_odd_lanes (rows, both));
  return (ValueSums){
      .values = {all[0], all[1]},
      .squares = all[2],
      .times_place = all[3],
      .least = least_of_32_bytes (least),
      .greatest = 0xff ^ least_of_32_bytes (_mm256_xor_si256 (greatest, _mm256_set1_epi8 (-1))),
  };
}
