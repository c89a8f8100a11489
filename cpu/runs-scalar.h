/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Steps of the run labeller without vectors. They are written without branches that depend on the
 * pixels wherever that can be done: in noisy masks mispredicted branches cost more than all else.
 */
#ifndef CCL_CPU_RUNS_SCALAR_H
#define CCL_CPU_RUNS_SCALAR_H

#include "band.h"
#include "words.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Lists which run is at each of the columns where the word `columns` has bits.
 *
 * starts: the columns at which runs start. rank: the number of runs that start before the word. */
static ALWAYS_INLINE void
list_links (uint32_t *out, uint64_t columns, uint64_t starts, uint32_t rank)
{
  for (; columns; columns &= columns - 1)
    *out++ = rank - 1 + count_bits (starts & up_to_lowest_bit (columns));
}

/* Goes through the links: each run below takes the label of the first run above that it is linked
 * with; what more labels it meets are listed beside the one before as same_labels.
 * Returns how many are listed. */
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

/* Gives the labels from `next` on to the runs that have none, those that have a bit in `chosen` if
 * that is not NULL. Returns the next label. */
static ALWAYS_INLINE uint32_t
number_runs (uint32_t *labels, uint32_t n_runs, const uint8_t *chosen, uint32_t next)
{
  for (uint32_t i = 0; i < n_runs; i++) {
    const uint32_t mine = labels[i] == NO_LABEL && (!chosen || chosen[i / 8] >> i % 8 & 1);
    labels[i] ^= (labels[i] ^ next) & -mine;
    next += mine;
  }
  return next;
}

/* Replaces each run's label by its parent and lists the spans. Returns how many there are. */
static ALWAYS_INLINE uint32_t
list_spans (uint32_t *labels, uint32_t n_runs, const Scratch *scratch, const uint32_t *parents)
{
  uint32_t n_spans = 0;

  for (uint32_t i = 0; i < n_runs; i++)
    labels[i] = parents[labels[i]];
  for (uint32_t i = 0; i < n_runs; i++) {
    const bool opens = i == 0 || labels[i] != labels[i - 1];
    n_spans += opens;
    scratch->span_firsts[n_spans - 1] =
        opens ? scratch->firsts[i] : scratch->span_firsts[n_spans - 1];
    scratch->span_lasts[n_spans - 1] = scratch->lasts[i];
    scratch->span_labels[n_spans - 1] = labels[i];
  }
  return n_spans;
}

/* Counts what lies before each span; what lies before the words is known. */
static ALWAYS_INLINE void
count_before_spans (const Strip *strip, const Scratch *scratch, uint32_t n_spans, bool two_rows)
{
  for (uint32_t i = 0; i < n_spans; i++) {
    const uint32_t x = scratch->span_firsts[i];
    const uint32_t w = x / 64;
    const uint64_t before = (UINT64_C (1) << x % 64) - 1;
    const uint64_t top = strip->top[w] & before;
    const uint64_t bottom = two_rows ? strip->bottom[w] & before : 0;
    const uint32_t n_top = count_bits (top);
    const uint32_t n_bottom = two_rows ? count_bits (bottom) : 0;

    scratch->counts_before_span[i] =
        scratch->counts_before_word[w] + (n_top | (uint64_t)n_bottom << 32);
    scratch->sums_before_span[i] = scratch->sums_before_word[w] +
                                   (uint64_t)(64 * w) * (n_top + n_bottom) + sum_bit_indices (top) +
                                   (two_rows ? sum_bit_indices (bottom) : 0);
  }
}

#endif /* CCL_CPU_RUNS_SCALAR_H */
