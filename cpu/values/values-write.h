/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the label map of the labeller of values, in standard C. */
#pragma once

#include "values.h"
#include "cpu/pixels/words.h"

/* From this number of runs in a word on, labels are looked up pixel by pixel. */
enum { MANY_RUNS = 12 };

/* A word of a row: its n pixels, where runs begin, and the labels from the run before them on. */
typedef struct LabelWord {
  uint32_t n;
  uint64_t begins, foreground;
  const uint32_t *labels;
} LabelWord;

static ALWAYS_INLINE void
write_pixel_by_pixel (const LabelWord *word, uint32_t *out)
{
  uint32_t run = 0; /* runs that have begun in the word */

  for (uint32_t i = 0; i < word->n; i++) {
    run += word->begins >> i & 1;
    out[i] = word->foreground >> i & 1 ? word->labels[run] : 0;
  }
}

static ALWAYS_INLINE void
write_run_by_run (const LabelWord *word, uint32_t *out)
{
  const uint32_t *label = word->labels;
  uint64_t rest = word->foreground;

  memset (out, 0, word->n * sizeof *out);
  while (rest) {
    const uint32_t first = lowest_bit (rest);
    label += word->begins >> first & 1;
    /* A run ends before the next one or before background. */
    const uint64_t behind = ~(UINT64_MAX >> (63 - first));
    const uint64_t stops = behind & (word->begins | ~word->foreground);
    const uint32_t end = stops ? lowest_bit (stops) : 64;
    for (uint32_t i = first; i < end; i++)
      out[i] = *label;
    rest &= end < 64 ? UINT64_MAX << end : 0;
  }
}

static void
write_row (const CpuValuesLabeller *self, size_t first_word, uint32_t *out)
{
  const uint32_t width = self->base.plan.width;

  for (uint32_t i = 0; i < self->n_words; i++, out += 64) {
    const size_t at = first_word + i;
    const LabelWord word = {width - 64 * i < 64 ? width - 64 * i : 64, self->begins[at],
        self->foreground[at], self->parents + self->runs_before[at] - 1};
    const uint32_t n_runs = count_bits (word.begins);
    if (n_runs == word.n)
      memcpy (out, word.labels + 1, word.n * sizeof *out);
    else if (n_runs >= MANY_RUNS)
      write_pixel_by_pixel (&word, out);
    else
      write_run_by_run (&word, out);
  }
}
