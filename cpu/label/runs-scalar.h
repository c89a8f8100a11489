/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Steps of the run labeller without vectors. Where possible, no branch depends on the pixels,
 * because mispredicted branches dominate the time of noisy masks.
 */
#pragma once

#include "cpu/base/band.h"
#include "cpu/pixels/words.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Fills a strip's starts, ends, runs_before and occupied from its pixels. Returns the number of
 * runs. */
static ALWAYS_INLINE uint32_t
find_runs (const Strip *strip, uint32_t n_words, bool two_rows)
{
  uint64_t before = 0;
  uint64_t either = strip->top[0] | (two_rows ? strip->bottom[0] : 0);
  uint32_t n_runs = 0;

  for (uint32_t group = 0; group < n_words; group += 64) {
    const uint32_t n = n_words - group < 64 ? n_words - group : 64;
    uint64_t occupied = 0;

    for (uint32_t i = 0; i < n; i++) {
      const uint32_t w = group + i;
      const uint64_t behind = strip->top[w + 1] | (two_rows ? strip->bottom[w + 1] : 0);
      const uint64_t starts = either & ~(either << 1 | before >> 63);
      strip->starts[w] = starts;
      strip->ends[w] = either & ~(either >> 1 | behind << 63);
      strip->runs_before[w] = n_runs;
      n_runs += count_bits (starts);
      occupied |= (uint64_t)(either != 0) << i;
      before = either;
      either = behind;
    }
    strip->occupied[group / 64] = occupied;
  }
  return n_runs;
}

/* Fills Scratch.touching and touching_words for two strips. Of columns at which the same two runs
 * touch, mostly only the first is set. */
static ALWAYS_INLINE void
find_touching_columns (const Strip *above, const Strip *below, const Scratch *scratch,
    uint32_t n_words, bool diagonals)
{
  for (uint32_t group = 0; group < n_words; group += 64) {
    const uint32_t n = n_words - group < 64 ? n_words - group : 64;
    uint64_t touching_words = 0;

    for (uint32_t i = 0; i < n; i++) {
      const uint32_t w = group + i;
      const uint64_t a = above->bottom[w];
      const uint64_t b = below->top[w];
      const uint64_t a_before = a << 1 | (above->bottom + w)[-1] >> 63; /* the pixel to the left */
      const uint64_t b_before = b << 1 | (below->top + w)[-1] >> 63;
      uint64_t touching = a & b & ~(a_before & b_before);

      if (diagonals) {
        /* Two pixels touch only diagonally if the other two of the 2×2 square are background. The
         * bit is set in the right column. In that column the strip of the left pixel has no start,
         * so counting starts still finds the run of the left pixel. */
        touching |= (a_before & b & ~a & ~b_before) | (a & b_before & ~a_before & ~b);
      }

      /* Between two starts, all columns belong to the same two runs; keep the first. Adding it to
       * a word that has ones in all columns without a start makes a carry that flips the ones up
       * to the next start, except in columns where another bit is added. */
      const uint64_t inside = ~(above->starts[w] | below->starts[w]);
      const uint64_t at_start = touching & ~inside;
      const uint64_t after_start = at_start << 1;
      const uint64_t sum = inside + ((touching | after_start) & inside);
      touching = at_start | (touching & inside & ~after_start & (sum ^ inside));

      scratch->touching[w] = touching;
      touching_words |= (uint64_t)(touching != 0) << i;
    }
    scratch->touching_words[group / 64] = touching_words;
  }
}

/* Lists the runs at the columns whose bits are set in `columns`.
 *
 * starts: the columns at which runs start. n_before: the number of runs that start before the word.
 */
static ALWAYS_INLINE void
list_links (uint32_t *out, uint64_t columns, uint64_t starts, uint32_t n_before)
{
  for (; columns; columns &= columns - 1)
    *out++ = n_before - 1 + count_bits (starts & up_to_lowest_bit (columns));
}

/* The bits of a word at the set bits of the mask, moved together to the low end. */
static ALWAYS_INLINE uint64_t
extract_bits_scalar (uint64_t word, uint64_t mask)
{
  uint64_t bits = 0;
  for (uint64_t bit = 1; mask; mask &= mask - 1, bit <<= 1)
    bits |= word & mask & -mask ? bit : 0;
  return bits;
}

/* Lists the columns whose bits are set in a word; bit 0 is the column `first`. */
static ALWAYS_INLINE void
list_columns_scalar (uint32_t *out, uint64_t word, uint32_t first)
{
  for (; word; word &= word - 1)
    *out++ = first + lowest_bit (word);
}

/* Gives each linked run below the label of a run above that it is linked with. If it is linked with
 * runs of several labels, lists each pair of consecutive labels in same_labels. Returns the number
 * of pairs. */
static ALWAYS_INLINE uint32_t
take_labels (
    const Scratch *scratch, uint32_t n_links, const uint32_t *above_labels, uint32_t *below_labels)
{
  uint32_t n_same = 0;
  uint32_t run_before = UINT32_MAX;
  uint32_t label_before = 0;

  for (uint32_t i = 0; i < n_links; i++) {
    const uint32_t run = scratch->links_below[i];
    const uint32_t label = above_labels[scratch->links_above[i]];
    const bool again = run == run_before;

    scratch->same_labels[0][n_same] = label_before;
    scratch->same_labels[1][n_same] = label;
    n_same += again & (label != label_before);
    below_labels[run] = label;
    run_before = run;
    label_before = label;
  }
  return n_same;
}

/* Gives the labels from `next` on to the runs without a label; if `chosen` is not NULL, only to
 * those whose bit is set there. Returns the next label. */
static ALWAYS_INLINE uint32_t
number_runs (uint32_t *labels, uint32_t n_runs, const uint8_t *chosen, uint32_t next)
{
  for (uint32_t i = 0; i < n_runs; i++) {
    const uint32_t label = labels[i];
    const uint32_t is_chosen = chosen ? chosen[i / 8] >> i % 8 & 1 : 1;
    const uint32_t mine = (label == NO_LABEL) & is_chosen;
    labels[i] = label ^ ((label ^ next) & -mine);
    next += mine;
  }
  return next;
}

/* Fills Scratch.word_counts. */
static ALWAYS_INLINE void
count_before_words (const Strip *strip, const Scratch *scratch, uint32_t n_words, bool two_rows)
{
  uint64_t counts = 0;
  uint64_t sum = 0;

  for (uint32_t w = 0; w < n_words; w++) {
    const uint64_t top = strip->top[w];
    const uint64_t bottom = two_rows ? strip->bottom[w] : 0;

    scratch->word_counts[w] = (WordCounts){top, bottom, counts, sum};
    if (top | bottom) {
      const uint32_t n_top = count_bits (top);
      const uint32_t n_bottom = two_rows ? count_bits (bottom) : 0;
      counts += n_top | (uint64_t)n_bottom << 32;
      sum += (uint64_t)(64 * w) * (n_top + n_bottom) + sum_bit_indices_of_both (top, bottom);
    }
  }
  scratch->word_counts[n_words] = (WordCounts){0, 0, counts, sum};
}

/* Replaces each run's label by its parent and lists the spans. Returns their number. */
static ALWAYS_INLINE uint32_t
list_spans (uint32_t *labels, uint32_t n_runs, const Scratch *scratch, const uint32_t *parents)
{
  uint32_t n_spans = 0;

  for (uint32_t i = 0; i < n_runs; i++)
    labels[i] = parents[labels[i]];

  /* Entries written for a run that begins no span are overwritten by the next run. */
  uint32_t label_before = NO_LABEL;
  uint32_t last_before = 0;
  for (uint32_t i = 0; i < n_runs; i++) {
    const uint32_t label = labels[i];
    scratch->span_labels[n_spans] = label;
    scratch->span_firsts[n_spans] = scratch->firsts[i];
    scratch->span_lasts[(ptrdiff_t)n_spans - 1] = last_before;
    n_spans += label != label_before;
    label_before = label;
    last_before = scratch->lasts[i];
  }
  scratch->span_lasts[n_spans - 1] = last_before;
  return n_spans;
}

/* Fills Scratch.counts_before_span and sums_before_span from those of words. */
static ALWAYS_INLINE void
count_before_spans (const Scratch *scratch, uint32_t n_spans, bool two_rows)
{
  for (uint32_t i = 0; i < n_spans; i++) {
    const uint32_t x = scratch->span_firsts[i];
    const uint32_t w = x / 64;
    const WordCounts *word = &scratch->word_counts[w];
    const uint64_t before = (UINT64_C (1) << x % 64) - 1;
    const uint64_t top = word->top & before;
    const uint64_t bottom = two_rows ? word->bottom & before : 0;
    const uint32_t n_top = count_bits (top);
    const uint32_t n_bottom = two_rows ? count_bits (bottom) : 0;

    scratch->counts_before_span[i] = word->counts_before + (n_top | (uint64_t)n_bottom << 32);
    scratch->sums_before_span[i] = word->sums_before + (uint64_t)(64 * w) * (n_top + n_bottom) +
                                   sum_bit_indices_of_both (top, bottom);
  }
}

static ALWAYS_INLINE void
add_sums (RowSums *sum, const RowSums *other)
{
  sum->sum_x += other->sum_x;
  sum->sum_y += other->sum_y;
  sum->area += other->area;
  sum->left_complement =
      other->left_complement > sum->left_complement ? other->left_complement : sum->left_complement;
  sum->right = other->right > sum->right ? other->right : sum->right;
  sum->bottom = other->bottom > sum->bottom ? other->bottom : sum->bottom;
}

/* Adds the pixels of each span to the sums of its label. */
static ALWAYS_INLINE void
add_spans (RowSums *all_sums, const Scratch *scratch, uint32_t n_spans, uint32_t y, bool two_rows)
{
  for (uint32_t i = 0; i < n_spans; i++) {
    const uint64_t counts = scratch->counts_before_span[i + 1] - scratch->counts_before_span[i];
    const uint32_t n_bottom = two_rows ? counts >> 32 : 0;
    const uint32_t n = (uint32_t)counts + n_bottom;
    const RowSums sums = {
        .sum_x = scratch->sums_before_span[i + 1] - scratch->sums_before_span[i],
        .sum_y = (uint64_t)y * n + n_bottom,
        .area = n,
        .left_complement = ~scratch->span_firsts[i],
        .right = scratch->span_lasts[i],
        .bottom = y + (n_bottom != 0),
    };
    add_sums (&all_sums[scratch->span_labels[i]], &sums);
  }
}

/* Writes the labels of one word of a row to the label map.
 *
 * n: columns of the frame in this word, 1…64.
 * starts: the columns at which runs of the strip start.
 * labels: labels[0] belongs to the run that continues from the word before (undefined if there is
 *   none), labels[i] to the i-th run that starts in the word. */
static ALWAYS_INLINE void
expand_scalar (uint32_t *out, uint32_t n, uint64_t pixels, uint64_t starts, const uint32_t *labels)
{
  memset (out, 0, n * sizeof *out);
  while (pixels) {
    const uint32_t label = labels[count_bits (starts & up_to_lowest_bit (pixels))];
    uint32_t x = lowest_bit (pixels);
    /* Adding the first bit clears the sequence of ones that it begins. */
    const uint64_t rest = pixels & (pixels + (pixels & -pixels));
    const uint32_t end = x + count_bits (pixels & ~rest);
    for (; x < end; x++)
      out[x] = label;
    pixels = rest;
  }
}
