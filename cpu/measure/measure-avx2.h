/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps of measure-runs.h with AVX2. measure-scalar.h describes them. */
#pragma once

#include "measure-x86.h"

#include <string.h>

/* Counts 0, 1, 4, 5 and 2, 3, 6, 7 in lanes of 64 bits. */
typedef struct PlaneCounts {
  __m256i lanes[2];
} PlaneCounts;

/* Brings 4×4 words of planes together that belong to one word of the row. */
static inline void
transpose_planes (const uint64_t *a, const uint64_t *b, uint64_t *arranged)
{
  const __m256i p0 = _mm256_loadu_si256 ((const __m256i *)a);
  const __m256i p1 = _mm256_loadu_si256 ((const __m256i *)(a + GROUP));
  const __m256i p2 = _mm256_loadu_si256 ((const __m256i *)b);
  const __m256i p3 = _mm256_loadu_si256 ((const __m256i *)(b + GROUP));
  const __m256i even_01 = _mm256_unpacklo_epi64 (p0, p1), odd_01 = _mm256_unpackhi_epi64 (p0, p1);
  const __m256i even_23 = _mm256_unpacklo_epi64 (p2, p3), odd_23 = _mm256_unpackhi_epi64 (p2, p3);
  const __m256i words[4] = {
      _mm256_permute2x128_si256 (even_01, even_23, 0x20),
      _mm256_permute2x128_si256 (odd_01, odd_23, 0x20),
      _mm256_permute2x128_si256 (even_01, even_23, 0x31),
      _mm256_permute2x128_si256 (odd_01, odd_23, 0x31),
  };

  for (uint32_t w = 0; w < 4; w++)
    _mm256_storeu_si256 ((__m256i *)(arranged + w * N_PLANES), words[w]);
}

static inline void
arrange_planes (const uint64_t *planes, uint64_t *arranged)
{
  for (uint32_t set = 0; set < 2; set++)
    for (uint32_t w = 0; w < GROUP; w += 4) {
      const uint64_t *of_set = planes + set * N_COUNTS * GROUP + w;
      uint64_t *of_word = arranged + w * N_PLANES + set * N_COUNTS;
      transpose_planes (of_set, of_set + 4 * GROUP, of_word);
      transpose_planes (of_set + 2 * GROUP, of_set + 6 * GROUP, of_word + 4);
    }
}

static ALWAYS_INLINE void
count_planes (const uint64_t *arranged, uint32_t w, uint64_t pixels, PlaneCounts *counts)
{
  const __m256i *planes = (const __m256i *)(arranged + (size_t)w * N_PLANES);
  const __m256i here = _mm256_set1_epi64x ((int64_t)pixels), nibble = _mm256_set1_epi8 (15);
  const __m256i bits = _mm256_setr_epi8 (0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2,
      1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i twice_bits = _mm256_add_epi8 (bits, bits);

  for (uint32_t i = 0; i < 2; i++) {
    const __m256i once = _mm256_and_si256 (_mm256_loadu_si256 (planes + i), here);
    const __m256i twice = _mm256_and_si256 (_mm256_loadu_si256 (planes + 2 + i), here);
    const __m256i low =
        _mm256_add_epi8 (_mm256_shuffle_epi8 (bits, _mm256_and_si256 (once, nibble)),
            _mm256_shuffle_epi8 (twice_bits, _mm256_and_si256 (twice, nibble)));
    const __m256i high = _mm256_add_epi8 (
        _mm256_shuffle_epi8 (bits, _mm256_and_si256 (_mm256_srli_epi16 (once, 4), nibble)),
        _mm256_shuffle_epi8 (twice_bits, _mm256_and_si256 (_mm256_srli_epi16 (twice, 4), nibble)));
    counts->lanes[i] = _mm256_add_epi64 (
        counts->lanes[i], _mm256_sad_epu8 (_mm256_add_epi8 (low, high), _mm256_setzero_si256 ()));
  }
}

static ALWAYS_INLINE void
add_counts (uint32_t of_component[N_COUNTS], const PlaneCounts *counts)
{
  add_counts_of_span (
      of_component, _mm256_castps_si256 (_mm256_shuffle_ps (_mm256_castsi256_ps (counts->lanes[0]),
                        _mm256_castsi256_ps (counts->lanes[1]), 0x88)));
}

/* All ones in the bytes whose bits are not set. */
static ALWAYS_INLINE __m256i
bytes_without (uint32_t bits)
{
  const __m256i byte_of_place =
      _mm256_setr_epi64x (0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit_of_place = _mm256_set1_epi64x ((int64_t)0x8040201008040201);
  const __m256i bytes = _mm256_shuffle_epi8 (_mm256_set1_epi32 ((int)bits), byte_of_place);
  return _mm256_cmpeq_epi8 (_mm256_and_si256 (bytes, bit_of_place), _mm256_setzero_si256 ());
}

/* The numbers of 32 places of a word, from `first` on. */
static ALWAYS_INLINE __m256i
place_numbers (uint32_t first)
{
  const __m256i numbers = _mm256_setr_epi8 (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
  return _mm256_add_epi8 (numbers, _mm256_set1_epi8 ((char)first));
}

/* The bits of a word behind 32 of them from `first` on. */
static ALWAYS_INLINE uint64_t
bits_behind (uint32_t first)
{
  return UINT64_MAX << first << 31 << 1;
}

static ALWAYS_INLINE __m256i
sum_pairs (__m256i lanes)
{
  return _mm256_madd_epi16 (lanes, _mm256_set1_epi16 (1));
}

/* Most spans are within 32 places from their first one. */
static ALWAYS_INLINE void
sum_places (uint64_t top, uint64_t bottom, PlaceSums *sums)
{
  __m256i places = _mm256_setzero_si256 (), squares = places;

  for (uint64_t rest = top | bottom; rest;) {
    const uint32_t first = lowest_bit (rest);
    const __m256i numbers = place_numbers (first);
    const __m256i of_top = _mm256_andnot_si256 (bytes_without ((uint32_t)(top >> first)), numbers);
    const __m256i of_bottom =
        _mm256_andnot_si256 (bytes_without ((uint32_t)(bottom >> first)), numbers);
    places = _mm256_add_epi32 (places, sum_eights_256 (of_top, of_bottom));
    squares = _mm256_add_epi32 (
        squares, sum_pairs (_mm256_add_epi16 (_mm256_maddubs_epi16 (of_top, of_top),
                     _mm256_maddubs_epi16 (of_bottom, of_bottom))));
    rest &= bits_behind (first);
  }
  *sums = add_place_lanes (top, bottom, places, squares);
}

/* The first n of 32 bytes. */
static ALWAYS_INLINE __m256i
load_bytes (const uint8_t *bytes, uint32_t n)
{
  uint8_t first[32] = {0};

  if (n >= 32)
    return _mm256_loadu_si256 ((const __m256i *)bytes);
  memcpy (first, bytes, n);
  return _mm256_loadu_si256 ((const __m256i *)first);
}

/* The squares of 32 bytes, summed by four. */
static ALWAYS_INLINE __m256i
sum_squares (__m256i bytes)
{
  const __m256i even = _mm256_and_si256 (bytes, _mm256_set1_epi16 (0xff));
  const __m256i odd = _mm256_srli_epi16 (bytes, 8);
  return _mm256_add_epi32 (_mm256_madd_epi16 (even, even), _mm256_madd_epi16 (odd, odd));
}

static ALWAYS_INLINE void
sum_bytes (const uint8_t *const values[2], uint32_t n_values, uint64_t top, uint64_t bottom,
    ValueSums *sums)
{
  const uint64_t words[2] = {top, bottom};
  __m256i rows = _mm256_setzero_si256 (), squares = rows, products = rows, greatest = rows;
  __m256i least = _mm256_set1_epi8 (-1);

  for (uint64_t rest = top | bottom; rest;) {
    const uint32_t first = lowest_bit (rest);
    const __m256i numbers = place_numbers (first);
    __m256i of_rows[2];
    for (uint32_t row = 0; row < 2; row++) {
      const __m256i outside = bytes_without ((uint32_t)(words[row] >> first));
      const __m256i all = load_bytes (values[row] + first, n_values - first);
      const __m256i inside = of_rows[row] = _mm256_andnot_si256 (outside, all);
      squares = _mm256_add_epi32 (squares, sum_squares (inside));
      products = _mm256_add_epi32 (products, sum_pairs (_mm256_maddubs_epi16 (inside, numbers)));
      least = _mm256_min_epu8 (least, _mm256_or_si256 (outside, all));
      greatest = _mm256_max_epu8 (greatest, inside);
    }
    rows = _mm256_add_epi32 (rows, sum_eights_256 (of_rows[0], of_rows[1]));
    rest &= bits_behind (first);
  }
  *sums = add_value_lanes (rows, squares, products, least, greatest);
}
