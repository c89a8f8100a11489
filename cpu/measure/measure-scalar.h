/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps of measure-runs.h without vectors. */
#pragma once

#include "measure-sums.h"

#include <string.h>

/* What the planes of a span count. */
typedef struct PlaneCounts {
  uint32_t n[N_COUNTS];
} PlaneCounts;

/* Brings the planes of a group of words into the order in which count_planes() reads them. */
static inline void
arrange_planes (const uint64_t *planes, uint64_t *arranged)
{
  memcpy (arranged, planes, N_PLANES * GROUP * sizeof *planes);
}

/* Adds what the planes count at these pixels of word w. */
static ALWAYS_INLINE void
count_planes (const uint64_t *arranged, uint32_t w, uint64_t pixels, PlaneCounts *counts)
{
  const uint64_t *once = arranged + (size_t)(w / GROUP * GROUP) * N_PLANES + w % GROUP;
  const uint64_t *twice = once + N_COUNTS * GROUP;

  for (uint32_t i = 0; i < N_COUNTS; i++)
    counts->n[i] +=
        count_bits (once[i * GROUP] & pixels) + 2 * count_bits (twice[i * GROUP] & pixels);
}

/* Adds the counts of a span to those of its component. */
static ALWAYS_INLINE void
add_counts (uint32_t of_component[N_COUNTS], const PlaneCounts *counts)
{
  for (uint32_t i = 0; i < N_COUNTS; i++)
    of_component[i] += counts->n[i];
}

/* Sums the places of the pixels of a word of the top row and of the one below. */
static ALWAYS_INLINE void
sum_places (uint64_t top, uint64_t bottom, PlaceSums *sums)
{
  const uint64_t rows[2] = {top, bottom};
  sum_places_of_runs (rows, sums);
}

/* Sums the values of these pixels. values: of the word's first pixel, in both rows. n_values: of
 * the frame from there on; no values behind them are read. */
static ALWAYS_INLINE void
sum_bytes (const uint8_t *const values[2], uint32_t n_values, uint64_t top, uint64_t bottom,
    ValueSums *sums)
{
  const uint64_t rows[2] = {top, bottom};
  sum_bytes_one_by_one (values, rows, sums);
}
