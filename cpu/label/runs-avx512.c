/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run labeller for x86-64 processors with AVX-512 (BW, VBMI2, BITALG and VPOPCNTDQ: Ice Lake,
 * Zen 4 and later). runs-scalar.h describes the steps. */
#include "cpu/base/band.h"
#include "cpu/measure/measure-avx512.h"
#include "cpu/pixels/pack-avx512.h"
#include "cpu/pixels/words.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>

/* Inclusive prefix sums of the lanes. */
static inline __m512i
sum_up_to_each_lane (__m512i lanes)
{
  const __m512i zero = _mm512_setzero_si512 ();
  lanes = _mm512_add_epi64 (lanes, _mm512_alignr_epi64 (lanes, zero, 7));
  lanes = _mm512_add_epi64 (lanes, _mm512_alignr_epi64 (lanes, zero, 6));
  return _mm512_add_epi64 (lanes, _mm512_alignr_epi64 (lanes, zero, 4));
}

/* The lanes that the elements i…n - 1 fill, of 8 or 16. */
static inline __mmask8
first_of_8 (uint32_t i, uint32_t n)
{
  return n - i < 8 ? (__mmask8)((1u << (n - i)) - 1) : 0xff;
}

static inline __mmask16
first_of_16 (uint32_t i, uint32_t n)
{
  return n - i < 16 ? (__mmask16)((1u << (n - i)) - 1) : 0xffff;
}

static inline __m512i
shift_left_1 (__m512i words, __m512i words_before)
{
  return _mm512_or_si512 (_mm512_slli_epi64 (words, 1), _mm512_srli_epi64 (words_before, 63));
}

/* sum_bit_indices_of_both() of words.h for each lane. */
static inline __m512i
sum_bit_indices_of_both_by_lane (__m512i a, __m512i b)
{
  static const uint64_t columns_with_digit[] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc,
      0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000};
  __m512i sum = _mm512_setzero_si512 ();

#pragma GCC unroll 6
  for (uint32_t digit = 0; digit < 6; digit++) {
    const __m512i columns = _mm512_set1_epi64 ((int64_t)columns_with_digit[digit]);
    const __m512i beside = _mm512_srli_epi64 (_mm512_and_si512 (b, columns), 1u << digit);
    const __m512i both = _mm512_or_si512 (_mm512_and_si512 (a, columns), beside);
    sum = _mm512_add_epi64 (sum, _mm512_slli_epi64 (_mm512_popcnt_epi64 (both), digit));
  }
  return sum;
}

static inline uint32_t
find_runs (const Strip *strip, uint32_t n_words, bool two_rows)
{
  const __m512i zero = _mm512_setzero_si512 ();
  const __m512i last_lane = _mm512_set1_epi64 (7);
  uint8_t *occupied = (uint8_t *)strip->occupied; /* x86 is little endian */
  __m512i before = zero;
  __m512i n_before = zero; /* the runs before these eight words, in each lane */

  for (uint32_t w = 0; w < n_words; w += 8) {
    const __mmask8 here = first_of_8 (w, n_words);
    __m512i either = _mm512_maskz_loadu_epi64 (here, strip->top + w);
    /* A word of zeros follows the last word. */
    __m512i behind = _mm512_maskz_loadu_epi64 (here, strip->top + w + 1);
    if (two_rows) {
      either = _mm512_or_si512 (either, _mm512_maskz_loadu_epi64 (here, strip->bottom + w));
      behind = _mm512_or_si512 (behind, _mm512_maskz_loadu_epi64 (here, strip->bottom + w + 1));
    }
    const __m512i from_left = shift_left_1 (either, _mm512_alignr_epi64 (either, before, 7));
    const __m512i from_right =
        _mm512_or_si512 (_mm512_srli_epi64 (either, 1), _mm512_slli_epi64 (behind, 63));
    const __m512i starts = _mm512_andnot_si512 (from_left, either);
    const __m512i n = _mm512_popcnt_epi64 (starts);
    const __m512i n_up_to = sum_up_to_each_lane (n);

    _mm512_mask_storeu_epi64 (strip->starts + w, here, starts);
    _mm512_mask_storeu_epi64 (strip->ends + w, here, _mm512_andnot_si512 (from_right, either));
    _mm256_mask_storeu_epi32 (strip->runs_before + w, here,
        _mm512_cvtepi64_epi32 (_mm512_add_epi64 (n_before, _mm512_sub_epi64 (n_up_to, n))));
    *occupied++ = _mm512_test_epi64_mask (either, either);
    n_before = _mm512_add_epi64 (n_before, _mm512_permutexvar_epi64 (last_lane, n_up_to));
    before = either;
  }
  return (uint32_t)_mm_cvtsi128_si32 (_mm512_castsi512_si128 (n_before));
}

static inline void
find_touching_columns (const Strip *above, const Strip *below, const Scratch *scratch,
    uint32_t n_words, bool diagonals)
{
  uint8_t *touching_words = (uint8_t *)scratch->touching_words;

  for (uint32_t w = 0; w < n_words; w += 8) {
    const __mmask8 here = first_of_8 (w, n_words);
    const __m512i a = _mm512_maskz_loadu_epi64 (here, above->bottom + w);
    const __m512i b = _mm512_maskz_loadu_epi64 (here, below->top + w);
    const __m512i a_before =
        shift_left_1 (a, _mm512_maskz_loadu_epi64 (here, above->bottom + w - 1));
    const __m512i b_before = shift_left_1 (b, _mm512_maskz_loadu_epi64 (here, below->top + w - 1));
    const __m512i starts = _mm512_or_si512 (_mm512_maskz_loadu_epi64 (here, above->starts + w),
        _mm512_maskz_loadu_epi64 (here, below->starts + w));
    const __m512i inside = _mm512_xor_si512 (starts, _mm512_set1_epi64 (-1));
    __m512i touching =
        _mm512_andnot_si512 (_mm512_and_si512 (a_before, b_before), _mm512_and_si512 (a, b));

    if (diagonals) {
      const __m512i falling =
          _mm512_and_si512 (_mm512_andnot_si512 (a, a_before), _mm512_andnot_si512 (b_before, b));
      const __m512i rising =
          _mm512_and_si512 (_mm512_andnot_si512 (a_before, a), _mm512_andnot_si512 (b, b_before));
      touching = _mm512_or_si512 (touching, _mm512_or_si512 (falling, rising));
    }

    const __m512i at_start = _mm512_and_si512 (touching, starts);
    const __m512i after_start = _mm512_slli_epi64 (at_start, 1);
    const __m512i added = _mm512_and_si512 (_mm512_or_si512 (touching, after_start), inside);
    const __m512i flipped = _mm512_xor_si512 (_mm512_add_epi64 (inside, added), inside);
    const __m512i firsts_inside = _mm512_andnot_si512 (
        after_start, _mm512_and_si512 (_mm512_and_si512 (touching, inside), flipped));
    touching = _mm512_or_si512 (at_start, firsts_inside);

    _mm512_mask_storeu_epi64 (scratch->touching + w, here, touching);
    *touching_words++ = _mm512_test_epi64_mask (touching, touching);
  }
}

static inline uint64_t
extract_bits (uint64_t word, uint64_t mask)
{
  return _pext_u64 (word, mask);
}

/* Stores base plus each of n bytes as 32-bit numbers, in groups of 16. */
static inline void
store_bytes (uint32_t *out, __m512i bytes, uint32_t n, uint32_t base)
{
  const __m512i bases = _mm512_set1_epi32 ((int)base);
  _mm512_storeu_si512 (
      out, _mm512_add_epi32 (bases, _mm512_cvtepu8_epi32 (_mm512_castsi512_si128 (bytes))));
  if (n > 16) {
    _mm512_storeu_si512 (out + 16,
        _mm512_add_epi32 (bases, _mm512_cvtepu8_epi32 (_mm512_extracti32x4_epi32 (bytes, 1))));
    if (n > 32) {
      _mm512_storeu_si512 (out + 32,
          _mm512_add_epi32 (bases, _mm512_cvtepu8_epi32 (_mm512_extracti32x4_epi32 (bytes, 2))));
      _mm512_storeu_si512 (out + 48,
          _mm512_add_epi32 (bases, _mm512_cvtepu8_epi32 (_mm512_extracti32x4_epi32 (bytes, 3))));
    }
  }
}

static inline void
list_columns (uint32_t *out, uint64_t word, uint32_t first)
{
  store_bytes (out, _mm512_maskz_compress_epi8 (word, place_numbers ()), count_bits (word), first);
}

/* For each column of a word: the number of bits up to and including it. */
static inline __m512i
count_up_to_each_column (uint64_t word)
{
  const __m512i byte_of_column =
      _mm512_srli_epi16 (_mm512_and_si512 (place_numbers (), _mm512_set1_epi8 (0x38)), 3);
  const __m512i up_to_column = _mm512_set1_epi64 ((int64_t)0xff7f3f1f0f070301);
  const __m512i words = _mm512_set1_epi64 ((int64_t)word);
  const __m512i bytes = _mm512_shuffle_epi8 (words, byte_of_column);
  const __m512i in_byte = _mm512_popcnt_epi8 (_mm512_and_si512 (bytes, up_to_column));

  /* The counts of the bytes before each byte: the multiplication gives prefix sums. */
  const uint64_t counts =
      (uint64_t)_mm_cvtsi128_si64 (_mm_popcnt_epi8 (_mm_cvtsi64_si128 ((int64_t)word)));
  const __m512i before = _mm512_shuffle_epi8 (
      _mm512_set1_epi64 ((int64_t)(counts * 0x0101010101010100)), byte_of_column);
  return _mm512_add_epi8 (in_byte, before);
}

static inline void
list_links (uint32_t *out, uint64_t columns, uint64_t starts, uint32_t n_before)
{
  const uint32_t n = count_bits (columns);

  if (n <= 2) {
    const uint64_t second = columns & (columns - 1);
    out[0] = n_before - 1 + count_bits (starts & up_to_lowest_bit (columns));
    out[1] = n_before - 1 + count_bits (starts & up_to_lowest_bit (second));
  } else {
    store_bytes (out, _mm512_maskz_compress_epi8 (columns, count_up_to_each_column (starts)), n,
        n_before - 1);
  }
}

static inline uint32_t
take_labels (
    const Scratch *scratch, uint32_t n_links, const uint32_t *above_labels, uint32_t *below_labels)
{
  const __m512i one_lane_down =
      _mm512_setr_epi32 (15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
  __m512i last_run = _mm512_set1_epi32 (-1);
  __m512i last_label = _mm512_setzero_si512 ();
  uint32_t n_same = 0;

  for (uint32_t i = 0; i < n_links; i += 16) {
    const __mmask16 here = first_of_16 (i, n_links);
    const __m512i run = _mm512_maskz_loadu_epi32 (here, scratch->links_below + i);
    const __m512i label = _mm512_mask_i32gather_epi32 (_mm512_setzero_si512 (), here,
        _mm512_maskz_loadu_epi32 (here, scratch->links_above + i), above_labels, 4);
    /* The predecessor of each lane: the lane below, or the last of the sixteen before. */
    const __m512i run_down = _mm512_permutexvar_epi32 (one_lane_down, run);
    const __m512i label_down = _mm512_permutexvar_epi32 (one_lane_down, label);
    const __m512i run_before = _mm512_mask_mov_epi32 (run_down, 1, last_run);
    const __m512i label_before = _mm512_mask_mov_epi32 (label_down, 1, last_label);
    const __mmask16 again = _mm512_cmpeq_epi32_mask (run, run_before);
    const __mmask16 same = again & here & _mm512_cmpneq_epi32_mask (label, label_before);

    _mm512_mask_i32scatter_epi32 (below_labels, here & ~again, run, label, 4);
    if (same) {
      /* Some processors take very long to compress to memory. */
      _mm512_storeu_si512 (
          scratch->same_labels[0] + n_same, _mm512_maskz_compress_epi32 (same, label_before));
      _mm512_storeu_si512 (
          scratch->same_labels[1] + n_same, _mm512_maskz_compress_epi32 (same, label));
      n_same += count_bits (same);
    }
    last_run = run_down;
    last_label = label_down;
  }
  return n_same;
}

static inline uint32_t
number_runs (uint32_t *labels, uint32_t n_runs, const uint8_t *chosen, uint32_t next)
{
  const __m512i lanes = _mm512_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

  for (uint32_t i = 0; i < n_runs; i += 16) {
    const __mmask16 here = first_of_16 (i, n_runs);
    const __m512i label = _mm512_maskz_loadu_epi32 (here, labels + i);
    __mmask16 mine = here & _mm512_cmpeq_epi32_mask (label, _mm512_set1_epi32 ((int)NO_LABEL));
    if (chosen)
      mine &= (__mmask16)(chosen[i / 8] | chosen[i / 8 + 1] << 8);
    _mm512_mask_storeu_epi32 (labels + i, mine,
        _mm512_maskz_expand_epi32 (mine, _mm512_add_epi32 (_mm512_set1_epi32 ((int)next), lanes)));
    next += count_bits (mine);
  }
  return next;
}

/* Stores eight structs of four 64-bit fields, from vectors of fields. */
static inline void
store_structs (void *out, __m512i a, __m512i b, __m512i c, __m512i d)
{
  const __m512i first_even = _mm512_unpacklo_epi64 (a, b);
  const __m512i first_odd = _mm512_unpackhi_epi64 (a, b);
  const __m512i last_even = _mm512_unpacklo_epi64 (c, d);
  const __m512i last_odd = _mm512_unpackhi_epi64 (c, d);

#pragma GCC unroll 4
  for (int pair = 0; pair < 4; pair++) {
    const __m512i both =
        _mm512_setr_epi64 (2 * pair, 2 * pair + 1, 8 + 2 * pair, 9 + 2 * pair, 0, 0, 0, 0);
    __m256i *const structs = (__m256i *)out + 2 * pair;
    _mm256_storeu_si256 (
        structs, _mm512_castsi512_si256 (_mm512_permutex2var_epi64 (first_even, both, last_even)));
    _mm256_storeu_si256 (structs + 1,
        _mm512_castsi512_si256 (_mm512_permutex2var_epi64 (first_odd, both, last_odd)));
  }
}

static inline void
count_before_words (const Strip *strip, const Scratch *scratch, uint32_t n_words, bool two_rows)
{
  const __m512i zero = _mm512_setzero_si512 ();
  const __m512i last_lane = _mm512_set1_epi64 (7);
  __m512i total_count = zero;
  __m512i total_sum = zero;

  for (uint32_t w = 0; w < n_words; w += 8) {
    const __m512i x = _mm512_add_epi64 (_mm512_set1_epi64 (64 * (int64_t)w),
        _mm512_setr_epi64 (0, 64, 128, 192, 256, 320, 384, 448));
    const __mmask8 here = first_of_8 (w, n_words);
    const __m512i top = _mm512_maskz_loadu_epi64 (here, strip->top + w);
    const __m512i bottom = two_rows ? _mm512_maskz_loadu_epi64 (here, strip->bottom + w) : zero;
    /* No span starts in words of background. */
    if (!((const uint8_t *)strip->occupied)[w / 8])
      continue;
    const __m512i n_top = _mm512_popcnt_epi64 (top);
    const __m512i n_bottom = _mm512_popcnt_epi64 (bottom);
    const __m512i count = _mm512_add_epi64 (n_top, _mm512_slli_epi64 (n_bottom, 32));
    const __m512i sum = _mm512_add_epi64 (sum_bit_indices_of_both_by_lane (top, bottom),
        _mm512_mul_epu32 (x, _mm512_add_epi64 (n_top, n_bottom)));
    const __m512i count_up_to = sum_up_to_each_lane (count);
    const __m512i sum_up_to = sum_up_to_each_lane (sum);

    store_structs (scratch->word_counts + w, top, bottom,
        _mm512_add_epi64 (total_count, _mm512_sub_epi64 (count_up_to, count)),
        _mm512_add_epi64 (total_sum, _mm512_sub_epi64 (sum_up_to, sum)));
    total_count = _mm512_add_epi64 (total_count, _mm512_permutexvar_epi64 (last_lane, count_up_to));
    total_sum = _mm512_add_epi64 (total_sum, _mm512_permutexvar_epi64 (last_lane, sum_up_to));
  }
  store_structs (scratch->word_counts + n_words, zero, zero, total_count, total_sum);
}

static inline uint32_t
list_spans (uint32_t *labels, uint32_t n_runs, const Scratch *scratch, const uint32_t *parents)
{
  const __m512i one_lane_down =
      _mm512_setr_epi32 (15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
  __m512i last_label = _mm512_set1_epi32 ((int)NO_LABEL);
  __m512i last_column = _mm512_setzero_si512 ();
  uint32_t n_spans = 0;

  for (uint32_t i = 0; i < n_runs; i += 16) {
    const __mmask16 here = first_of_16 (i, n_runs);
    const __m512i label = _mm512_mask_i32gather_epi32 (
        _mm512_setzero_si512 (), here, _mm512_maskz_loadu_epi32 (here, labels + i), parents, 4);
    const __m512i first = _mm512_maskz_loadu_epi32 (here, scratch->firsts + i);
    const __m512i last = _mm512_maskz_loadu_epi32 (here, scratch->lasts + i);
    const __m512i label_down = _mm512_permutexvar_epi32 (one_lane_down, label);
    const __m512i last_down = _mm512_permutexvar_epi32 (one_lane_down, last);
    const __m512i label_before = _mm512_mask_mov_epi32 (label_down, 1, last_label);
    const __m512i last_before = _mm512_mask_mov_epi32 (last_down, 1, last_column);
    const __mmask16 opens = here & _mm512_cmpneq_epi32_mask (label, label_before);

    _mm512_mask_storeu_epi32 (labels + i, here, label);
    _mm512_storeu_si512 (
        scratch->span_labels + n_spans, _mm512_maskz_compress_epi32 (opens, label));
    _mm512_storeu_si512 (
        scratch->span_firsts + n_spans, _mm512_maskz_compress_epi32 (opens, first));
    /* Where a span begins, the one before has ended; there is none before the first. */
    _mm512_storeu_si512 (
        scratch->span_lasts - 1 + n_spans, _mm512_maskz_compress_epi32 (opens, last_before));
    n_spans += count_bits (opens);
    last_label = label_down;
    last_column = last_down;
  }
  scratch->span_lasts[n_spans - 1] = scratch->lasts[n_runs - 1];
  return n_spans;
}

/* The word counts of the words in which two spans begin. */
static inline __m512i
load_two_word_counts (const Scratch *scratch, uint32_t i, uint32_t k)
{
  const WordCounts *const words = scratch->word_counts;
  return _mm512_inserti64x4 (_mm512_castsi256_si512 (_mm256_loadu_si256 (
                                 (const __m256i *)(words + scratch->span_firsts[i] / 64))),
      _mm256_loadu_si256 ((const __m256i *)(words + scratch->span_firsts[k] / 64)), 1);
}

/* The fields of the words in which the spans i…i + 7 begin. Faster than gathers. */
static inline void
load_word_counts (const Scratch *scratch, uint32_t i, __m512i *top, __m512i *bottom,
    __m512i *counts, __m512i *sums)
{
  const __m512i first = _mm512_setr_epi64 (0, 1, 4, 5, 8, 9, 12, 13);
  const __m512i last = _mm512_setr_epi64 (2, 3, 6, 7, 10, 11, 14, 15);
  const __m512i even = load_two_word_counts (scratch, i, i + 2);
  const __m512i odd = load_two_word_counts (scratch, i + 1, i + 3);
  const __m512i next_even = load_two_word_counts (scratch, i + 4, i + 6);
  const __m512i next_odd = load_two_word_counts (scratch, i + 5, i + 7);
  const __m512i low = _mm512_unpacklo_epi64 (even, odd);
  const __m512i high = _mm512_unpackhi_epi64 (even, odd);
  const __m512i next_low = _mm512_unpacklo_epi64 (next_even, next_odd);
  const __m512i next_high = _mm512_unpackhi_epi64 (next_even, next_odd);

  *top = _mm512_permutex2var_epi64 (low, first, next_low);
  *bottom = _mm512_permutex2var_epi64 (high, first, next_high);
  *counts = _mm512_permutex2var_epi64 (low, last, next_low);
  *sums = _mm512_permutex2var_epi64 (high, last, next_high);
}

static inline void
count_before_spans (const Scratch *scratch, uint32_t n_spans, bool two_rows)
{
  const __m512i one = _mm512_set1_epi64 (1);

  for (uint32_t i = 0; i < n_spans; i += 8) {
    const __m512i x =
        _mm512_cvtepu32_epi64 (_mm256_loadu_si256 ((const __m256i *)(scratch->span_firsts + i)));
    const __m512i bit = _mm512_and_si512 (x, _mm512_set1_epi64 (63));
    const __m512i before = _mm512_sub_epi64 (_mm512_sllv_epi64 (one, bit), one);
    __m512i top, bottom, count, sum;

    load_word_counts (scratch, i, &top, &bottom, &count, &sum);
    top = _mm512_and_si512 (top, before);
    bottom = _mm512_and_si512 (bottom, before);
    const __m512i n_top = _mm512_popcnt_epi64 (top);
    const __m512i n_bottom = _mm512_popcnt_epi64 (bottom);
    count = _mm512_add_epi64 (count, _mm512_add_epi64 (n_top, _mm512_slli_epi64 (n_bottom, 32)));
    sum = _mm512_add_epi64 (
        sum, _mm512_mul_epu32 (_mm512_sub_epi64 (x, bit), _mm512_add_epi64 (n_top, n_bottom)));
    sum = _mm512_add_epi64 (sum, sum_bit_indices_of_both_by_lane (top, bottom));
    _mm512_storeu_si512 (scratch->counts_before_span + i, count);
    _mm512_storeu_si512 (scratch->sums_before_span + i, sum);
  }
}

/* All fields of RowSums at once: three sums, then three maxima. */
static inline void
add_sums (RowSums *sum, const RowSums *other)
{
  const __mmask8 maxima = 0xe0;
  const __m256i a = _mm256_loadu_si256 ((const __m256i *)sum);
  const __m256i b = _mm256_loadu_si256 ((const __m256i *)other);
  /* The area is the lower half of a 64-bit sum; a carry out of it is overwritten by a maximum. */
  const __m256i added = _mm256_add_epi64 (a, b);
  _mm256_storeu_si256 ((__m256i *)sum, _mm256_mask_max_epu32 (added, maxima, a, b));
}

static inline void
add_spans (RowSums *all_sums, const Scratch *scratch, uint32_t n_spans, uint32_t y, bool two_rows)
{
  const __m512i ys = _mm512_set1_epi64 (y);
  const __m512i low_half = _mm512_set1_epi64 (UINT32_MAX);

  for (uint32_t i = 0; i < n_spans; i += 8) {
    const __m512i counts =
        _mm512_sub_epi64 (_mm512_loadu_si512 (scratch->counts_before_span + i + 1),
            _mm512_loadu_si512 (scratch->counts_before_span + i));
    const __m512i sum_x = _mm512_sub_epi64 (_mm512_loadu_si512 (scratch->sums_before_span + i + 1),
        _mm512_loadu_si512 (scratch->sums_before_span + i));
    const __m512i n_bottom = _mm512_srli_epi64 (counts, 32);
    const __m512i n = _mm512_add_epi64 (_mm512_and_si512 (counts, low_half), n_bottom);
    const __m512i sum_y = _mm512_add_epi64 (_mm512_mul_epu32 (ys, n), n_bottom);
    const __m512i left =
        _mm512_cvtepu32_epi64 (_mm256_loadu_si256 ((const __m256i *)(scratch->span_firsts + i)));
    const __m512i right =
        _mm512_cvtepu32_epi64 (_mm256_loadu_si256 ((const __m256i *)(scratch->span_lasts + i)));
    const __m512i bottom = _mm512_mask_add_epi64 (
        ys, _mm512_test_epi64_mask (n_bottom, n_bottom), ys, _mm512_set1_epi64 (1));
    const __m512i area_and_left =
        _mm512_or_si512 (n, _mm512_slli_epi64 (_mm512_xor_si512 (left, low_half), 32));
    const __m512i right_and_bottom = _mm512_or_si512 (right, _mm512_slli_epi64 (bottom, 32));

    store_structs (scratch->span_sums + i, sum_x, sum_y, area_and_left, right_and_bottom);
  }
  for (uint32_t i = 0; i < n_spans; i++)
    add_sums (&all_sums[scratch->span_labels[i]], &scratch->span_sums[i]);
}

/* The labels of sixteen columns, 0 where there is no pixel. */
static inline __m512i
labels_of_columns (uint64_t pixels, uint64_t starts, const uint32_t *labels)
{
  const __m512i columns_up_to = _mm512_setr_epi32 (0x0001, 0x0003, 0x0007, 0x000f, 0x001f, 0x003f,
      0x007f, 0x00ff, 0x01ff, 0x03ff, 0x07ff, 0x0fff, 0x1fff, 0x3fff, 0x7fff, 0xffff);
  /* The index of the label of each column, by counting starts. */
  const __m512i index =
      _mm512_popcnt_epi32 (_mm512_and_si512 (_mm512_set1_epi32 ((int)starts), columns_up_to));
  return _mm512_maskz_permutexvar_epi32 ((__mmask16)pixels, index, _mm512_loadu_si512 (labels));
}

static inline void
expand (uint32_t *out, uint32_t n, uint64_t pixels, uint64_t starts, const uint32_t *labels)
{
  if (n == 64) {
    const uint32_t *second = labels + count_bits (starts & 0xffff);
    const uint32_t *third = labels + count_bits (starts & 0xffffffff);
    const uint32_t *fourth = labels + count_bits (starts & 0xffffffffffff);
    _mm512_storeu_si512 (out, labels_of_columns (pixels, starts, labels));
    _mm512_storeu_si512 (out + 16, labels_of_columns (pixels >> 16, starts >> 16, second));
    _mm512_storeu_si512 (out + 32, labels_of_columns (pixels >> 32, starts >> 32, third));
    _mm512_storeu_si512 (out + 48, labels_of_columns (pixels >> 48, starts >> 48, fourth));
    return;
  }
  for (uint32_t i = 0; i < n; i += 16, pixels >>= 16, starts >>= 16) {
    _mm512_mask_storeu_epi32 (
        out + i, first_of_16 (i, n), labels_of_columns (pixels, starts, labels));
    labels += count_bits (starts & 0xffff);
  }
}

#define HAS_STREAMING_STORES true

static inline void
stream_row (uint32_t *out, const uint32_t *labels, uint32_t n)
{
  const uint32_t to_next_line = -(uint32_t)((uintptr_t)out / 4) % 16;
  uint32_t i = to_next_line < n ? to_next_line : n;
  const __mmask16 head = first_of_16 (0, i);

  _mm512_mask_storeu_epi32 (out, head, _mm512_maskz_loadu_epi32 (head, labels));
  for (; i + 16 <= n; i += 16)
    _mm512_stream_si512 ((void *)(out + i), _mm512_loadu_si512 (labels + i));
  const __mmask16 tail = first_of_16 (i, n);
  _mm512_mask_storeu_epi32 (out + i, tail, _mm512_maskz_loadu_epi32 (tail, labels + i));
}

static inline void
end_streaming (void)
{
  _mm_sfence ();
}

#define RUN_LABELLER run_labeller_avx512
#define RUN_LABELLER_NAME "avx512"
#include "runs.h"
