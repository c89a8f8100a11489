/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of frames reduced to means of squares, and rows of masks enlarged; plain loops that the
 * compiler vectorises for each instruction set. The including file also includes one that has
 * reduce_fours() and reduce_twos(): they reduce most of a row of successive samples by 4 or 2,
 * start to load the rows ahead, and return how many means they have made. */
#pragma once

#include "cpu/base/mapping.h"
#include "pixels.h"

#include <string.h>

/* Adds up rows of bytes, column by column. */
static ALWAYS_INLINE void
add_rows (const uint8_t *const *rows, uint32_t n_rows, size_t n_bytes, uint16_t *restrict sums)
{
  const uint8_t *first = rows[0], *second = rows[n_rows > 1 ? 1 : 0];
  if (n_rows == 1)
    for (size_t i = 0; i < n_bytes; i++)
      sums[i] = first[i];
  else
    for (size_t i = 0; i < n_bytes; i++)
      sums[i] = (uint16_t)(first[i] + second[i]);
  for (uint32_t y = 2; y + 1 < n_rows; y += 2) {
    const uint8_t *upper = rows[y], *lower = rows[y + 1];
    for (size_t i = 0; i < n_bytes; i++)
      sums[i] = (uint16_t)(sums[i] + upper[i] + lower[i]);
  }
}

/* The sum of samples 2i and 2i + 1: words of 16 bits keep vectors full, and no samples have to be
 * widened. */
static ALWAYS_INLINE uint32_t
pair_of (const uint8_t *row, size_t i)
{
  uint16_t pair;
  memcpy (&pair, row + 2 * i, sizeof pair);
  return (pair & 0xffu) + (pair >> 8);
}

/* Adds up pairs of successive samples of all rows. A sum of 16 samples fits in 16 bits. */
static ALWAYS_INLINE void
add_pairs (const uint8_t *const *rows, uint32_t n_rows, size_t n_pairs, uint16_t *restrict sums)
{
  const uint8_t *a = rows[0], *b = rows[n_rows > 1 ? 1 : 0];
  if (n_rows == 4) {
    const uint8_t *c = rows[2], *d = rows[3];
    for (size_t i = 0; i < n_pairs; i++)
      sums[i] = (uint16_t)(pair_of (a, i) + pair_of (b, i) + pair_of (c, i) + pair_of (d, i));
  } else if (n_rows == 2) {
    for (size_t i = 0; i < n_pairs; i++)
      sums[i] = (uint16_t)(pair_of (a, i) + pair_of (b, i));
  } else {
    for (size_t i = 0; i < n_pairs; i++)
      sums[i] = (uint16_t)pair_of (a, i);
  }
}

/* The means of pairs of samples, and of pairs of pairs. */
static ALWAYS_INLINE void
average_pairs (const uint16_t *restrict sums, uint32_t shift, size_t n, uint8_t *restrict means)
{
  const uint32_t half = 1u << (shift - 1);
  for (size_t i = 0; i < n; i++)
    means[i] = (uint8_t)((sums[i] + half) >> shift);
}

static ALWAYS_INLINE void
average_fours (const uint16_t *restrict sums, uint32_t shift, size_t n, uint8_t *restrict means)
{
  const uint32_t half = 1u << (shift - 1);
  for (size_t i = 0; i < n; i++) {
    uint32_t pairs;
    memcpy (&pairs, sums + 2 * i, sizeof pairs);
    means[i] = (uint8_t)(((pairs & UINT16_MAX) + (pairs >> 16) + half) >> shift);
  }
}

/* The means of successive samples by their pairs: 2 or 4 samples of at most 4 rows. */
static void
reduce_pairs (const ReducedRow *row, uint32_t shift)
{
  const uint32_t n_pairs = row->n_means * row->factor / 2, last = row->n_samples - 1;
  add_pairs (row->rows, row->n_rows, row->n_samples / 2, row->sums);
  for (uint32_t i = row->n_samples / 2; i < n_pairs; i++) {
    const uint32_t left = 2 * i < last ? 2 * i : last;
    row->sums[i] = 0;
    for (uint32_t y = 0; y < row->n_rows; y++)
      row->sums[i] = (uint16_t)(row->sums[i] + row->rows[y][left] + row->rows[y][last]);
  }
  if (row->factor == 2)
    average_pairs (row->sums, shift, row->n_means, row->means);
  else
    average_fours (row->sums, shift, row->n_means, row->means);
}

/* Starts to load the rows that are reduced next but one, into the second-level cache, which can
 * wait for more lines at a time than the first one. Processors do not predict by themselves what
 * begins on another page, as most rows do. */
static void
prefetch_ahead (const ReducedRow *row, uint32_t n_bytes)
{
  if (row->ahead == 0)
    return;
  for (uint32_t y = 0; y < row->n_rows; y++)
    for (size_t x = 0; x < n_bytes; x += CACHE_LINE)
      __builtin_prefetch (row->rows[y] + row->ahead + x, 0, 2);
}

/* The means from one on. */
static void
reduce_rest (const ReducedRow *row, uint32_t shift, uint32_t n_done)
{
  const uint32_t n_samples = n_done * row->factor;
  const uint8_t *rows[CUDACCL_MAX_REDUCTION] = {NULL};
  ReducedRow rest = *row;

  if (n_done == row->n_means)
    return;
  for (uint32_t y = 0; y < row->n_rows; y++)
    rows[y] = row->rows[y] + n_samples;
  rest.rows = rows;
  rest.n_samples -= n_samples;
  rest.n_means -= n_done;
  rest.means += n_done;
  reduce_pairs (&rest, shift);
}

/* The means of `factor` successive samples; constants for the compiler. */
static ALWAYS_INLINE void
average_samples (const uint16_t *restrict sums, uint32_t step, uint32_t factor, uint32_t shift,
    uint32_t n, uint8_t *restrict means)
{
  const uint32_t half = shift > 0 ? 1u << (shift - 1) : 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t sum = half;
    for (uint32_t k = 0; k < factor; k++)
      sum += sums[(size_t)(i * factor + k) * step];
    means[i] = (uint8_t)(sum >> shift);
  }
}

static void
reduce_row (const ReducedRow *row)
{
  const uint32_t n_bytes = (row->n_samples - 1) * row->step + 1;
  const uint32_t padded = row->n_means * row->factor;
  uint32_t shift = 0;

  while (1u << shift < row->factor * row->n_rows)
    shift++;
  if (row->step == 1 && (row->factor == 2 || row->factor == 4) && row->n_rows <= 4) {
    const bool fours = row->factor == 4 && row->n_rows == 4;
    const bool twos = row->factor == 2 && row->n_rows == 2;
    const uint32_t n_done = fours ? reduce_fours (row) : twos ? reduce_twos (row) : 0;
    if (n_done == 0)
      prefetch_ahead (row, n_bytes);
    reduce_rest (row, shift, n_done);
    return;
  }
  prefetch_ahead (row, n_bytes);
  add_rows (row->rows, row->n_rows, n_bytes, row->sums);
  for (uint32_t i = row->n_samples; i < padded; i++)
    row->sums[(size_t)i * row->step] = row->sums[n_bytes - 1];
#define AVERAGE(STEP, FACTOR)                                                                      \
  case STEP * 16 + FACTOR:                                                                         \
    average_samples (row->sums, STEP, FACTOR, shift, row->n_means, row->means);                    \
    break;
  switch (row->step * 16 + row->factor) {
    AVERAGE (1, 1)
    AVERAGE (1, 8)
    AVERAGE (2, 1)
    AVERAGE (2, 2)
    AVERAGE (2, 4)
    AVERAGE (2, 8)
  default:
    average_samples (row->sums, row->step, row->factor, shift, row->n_means, row->means);
  }
#undef AVERAGE
}

static void
reduce_wide_row (const ReducedRow *row)
{
  uint32_t shift = 0;
  while (1u << shift < row->factor * row->n_rows)
    shift++;
  prefetch_ahead (row, 2 * row->n_samples);
  const uint32_t half = shift > 0 ? 1u << (shift - 1) : 0;
  for (uint32_t i = 0; i < row->n_means; i++) {
    uint32_t sum = half;
    for (uint32_t k = 0; k < row->factor; k++) {
      const uint32_t column = i * row->factor + k;
      const uint32_t x = column < row->n_samples ? column : row->n_samples - 1;
      for (uint32_t y = 0; y < row->n_rows; y++)
        sum += row->rows[y][2 * (size_t)x] | (uint32_t)row->rows[y][2 * (size_t)x + 1] << 8;
    }
    row->means[2 * (size_t)i] = (uint8_t)(sum >> shift);
    row->means[2 * (size_t)i + 1] = (uint8_t)(sum >> shift >> 8);
  }
}

static void
enlarge_row (const uint8_t *restrict from, uint32_t factor, uint32_t width, uint8_t *restrict to)
{
  const uint32_t whole = width / factor;
  if (factor == 2) {
    for (uint32_t i = 0; i < whole; i++) {
      const uint16_t pair = (uint16_t)(from[i] * 0x0101u);
      memcpy (to + (size_t)i * 2, &pair, sizeof pair);
    }
  } else if (factor == 4) {
    for (uint32_t i = 0; i < whole; i++) {
      const uint32_t pixels = from[i] * 0x01010101u;
      memcpy (to + (size_t)i * 4, &pixels, sizeof pixels);
    }
  } else {
    for (uint32_t i = 0; i < whole; i++)
      memset (to + (size_t)i * factor, from[i], factor);
  }
  for (uint32_t x = whole * factor; x < width; x++)
    to[x] = from[whole];
}
