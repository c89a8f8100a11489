/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums over the places of the pixels of a word of 64, in both rows of a strip. */
#pragma once

#include "run-measurer.h"
#include "value-sums.h"
#include "cpu/pixels/words.h"

/* Of places 0…63 in the word. */
typedef struct PlaceSums {
  uint64_t n[2], places[2]; /* in each row */
  uint64_t squares;
} PlaceSums;

/* The bits of the lowest run of a word that is not zero. */
static ALWAYS_INLINE uint64_t
lowest_run (uint64_t word)
{
  const uint64_t behind = word + (word & -word);
  return word & ~behind;
}

static inline void
sum_places_of_runs (const uint64_t rows[2], PlaceSums *sums)
{
  *sums = (PlaceSums){0};
  for (uint32_t row = 0; row < 2; row++) {
    for (uint64_t rest = rows[row], run; rest; rest &= ~run) {
      run = lowest_run (rest);
      const uint64_t n = count_bits (run), first = lowest_bit (run);
      /* The sums of 0…n - 1 and of their squares. */
      const uint64_t sum = n * (n - 1) / 2, squares = sum * (2 * n - 1) / 3;
      sums->n[row] += n;
      sums->places[row] += n * first + sum;
      sums->squares += n * first * first + 2 * first * sum + squares;
    }
  }
}
