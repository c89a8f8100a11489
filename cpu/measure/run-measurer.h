/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is measured of the components of a frame from its runs (measure-runs.h). */
#pragma once

#include "cpu/base/band.h"

/* The counts of a span. Each counts the pixels at which a pattern of neighbours ends: patterns of a
 * row and the row above it, or squares of 2×2 pixels. A pixel can end up to three patterns of one
 * kind, so a kind has two planes of bits: plane k has the bit of value 1 of the pixel's number,
 * plane k + N_COUNTS the bit of value 2. */
enum {
  COUNT_FOUR_PAIRS, /* pixels that end four pairs, which two bits cannot say: not in COUNT_PAIRS */
  COUNT_STRAIGHT,   /* border pixels by their kind, of the top and the bottom row */
  COUNT_DIAGONAL,
  COUNT_MIXED,
  COUNT_SQUARES,   /* with 4 pixels */
  COUNT_PAIRS,     /* of pixels that touch at an edge */
  COUNT_THREES,    /* squares with 3 pixels */
  COUNT_DIAGONALS, /* squares with 2 pixels that touch at a corner only */
  N_COUNTS,
  N_PLANES = 2 * N_COUNTS,
  GROUP = 8, /* words of which the planes are found together */
};

struct RunMeasurer {
  uint32_t columns;
  uint32_t width; /* of the frame */
  uint32_t n;     /* the labels 1…n are measured */
  const CclIntensity *intensity;
  CclFeatures *features; /* of these, but for what follows from the counts when the frame ends */
  uint32_t (*counts)[N_COUNTS]; /* of these, summed over their spans */

  /* Rows of bits, with a word of zeros on both sides, from row -MEASURED_AROUND on; zeros outside
   * the frame. Words behind a row are readable up to the end of a group. */
  const uint64_t **rows;
  uint64_t *borders[4]; /* the border pixels of rows, by their number modulo 4 */
  uint64_t *planes;     /* of each group of words N_PLANES × GROUP words */
};

/* Rows above and below a strip on which its border pixels and their neighbours depend. */
enum { MEASURED_AROUND = 2 };

static inline const uint64_t *
measured_row (const RunMeasurer *self, int64_t y)
{
  return self->rows[y + MEASURED_AROUND];
}
