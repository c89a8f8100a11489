/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps of measure-runs.h without vectors. */
#ifndef CUDACCL_CPU_MEASURE_SCALAR_H
#define CUDACCL_CPU_MEASURE_SCALAR_H

#include "measure-sums.h"

/* Brings the planes of a group of words into the order in which count_planes() reads them. */
static inline void
arrange_planes (uint64_t *planes)
{
  (void)planes;
}

/* Adds the pixels of each plane that are in columns of word w. */
static inline void
count_planes (const uint64_t *planes, uint32_t w, uint64_t columns, uint64_t counts[PLANES_STRIDE])
{
  const uint64_t *plane = planes + (size_t)(w / GROUP * GROUP) * PLANES_STRIDE + w % GROUP;
  for (uint32_t i = 0; i < N_PLANES; i++)
    counts[i] += count_bits (plane[i * GROUP] & columns);
}

/* Sums the places of the pixels of a word of the top row and of the one below. */
static inline void
sum_places (uint64_t top, uint64_t bottom, PlaceSums *sums)
{
  const uint64_t rows[2] = {top, bottom};
  sum_places_of_runs (rows, sums);
}

/* Sums the values of these pixels; values: of the first column, in both rows. */
static inline void
sum_bytes (const uint8_t *const values[2], uint64_t top, uint64_t bottom, ValueSums *sums)
{
  const uint64_t rows[2] = {top, bottom};
  sum_bytes_one_by_one (values, rows, sums);
}

#endif /* CUDACCL_CPU_MEASURE_SCALAR_H */
