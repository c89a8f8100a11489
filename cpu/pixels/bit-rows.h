/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a mask between the steps of a foreground: one bit per pixel, as in pixels.h. */
#pragma once

#include "core/base/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each row has a word before its first and one after its last. */
typedef struct BitRows {
  uint64_t *words; /* the first word of the first row */
  size_t words_per_row;
} BitRows;

static inline uint64_t *
row_of (const BitRows *rows, uint32_t y)
{
  return rows->words + y * rows->words_per_row;
}

/* Sets the words before and after a row, and the bits of its last word beyond the row's end. */
static inline void
surround_row (uint64_t *row, size_t n_words, uint32_t width, uint64_t before, uint64_t after)
{
  const uint32_t rest = width % 64;

  row[-1] = before;
  row[n_words] = after;
  if (rest)
    row[n_words - 1] = (row[n_words - 1] & (UINT64_MAX >> (64 - rest))) | after << rest;
}

/* Continues a row with copies of its edge pixels. */
static inline void
extend_row (uint64_t *row, size_t n_words, uint32_t width)
{
  surround_row (row, n_words, width, -(row[0] & 1), -(row[n_words - 1] >> (width - 1) % 64 & 1));
}

/* The rows of a window of 3×3 pixels, or 5×5 if it is large, around row y. Those outside the frame
 * are copies of the nearest row inside. */
static inline void
find_window (const BitRows *from, uint32_t height, uint32_t y, bool large, const uint64_t *rows[5])
{
  const int64_t radius = large ? 2 : 1, last = (int64_t)height - 1;

  for (int64_t i = -radius; i <= radius; i++) {
    const int64_t row = y + i;
    rows[i + radius] = row_of (from, (uint32_t)(row < 0 ? 0 : row > last ? last : row));
  }
}

static inline void
lay_out_rows (Layout *layout, size_t n_words, size_t n_rows, BitRows *rows)
{
  rows->words_per_row = n_words + 2;
  uint64_t *words = lay_out (layout, n_rows * rows->words_per_row, sizeof *rows->words);
  rows->words = words ? words + 1 : NULL;
}

/* The first row of a band of the frame. Two rows may share their samples of chroma, so it is even.
 */
static inline uint32_t
band_first_row (uint32_t height, uint32_t band, uint32_t n_bands)
{
  return band < n_bands ? (uint32_t)((uint64_t)band * height / n_bands) / 2 * 2 : height;
}
