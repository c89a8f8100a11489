/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is measured of the components of a frame from its runs (measure-runs.h). */
#ifndef CUDACCL_CPU_RUN_MEASURER_H
#define CUDACCL_CPU_RUN_MEASURER_H

#include "band.h"

/* What is counted: pixels in which a pattern of neighbours ends. A row's pixels touch those of the
 * row above it; squares are of 2×2 pixels. */
enum {
  PLANE_PAIRS = 0,     /* of pixels that touch at an edge: 4 planes */
  PLANE_SQUARES = 4,   /* with 4 pixels: 2 */
  PLANE_THREES = 6,    /* squares with 3 pixels: 3 */
  PLANE_DIAGONALS = 9, /* squares with 2 pixels that touch at a corner only: 3 */
  N_TOPOLOGY_PLANES = 12,
  PLANE_STRAIGHT = 12, /* border pixels by their kind: 2 each, of the top and the bottom row */
  PLANE_DIAGONAL = 14,
  PLANE_MIXED = 16,
  N_PLANES = 18,
  PLANES_STRIDE = 24, /* room for whole vectors */
  GROUP = 8,          /* words of which the planes lie together */
};

struct RunMeasurer {
  uint32_t columns;
  uint32_t n; /* the labels 1…n are measured */
  const CclIntensity *intensity;
  CclFeatures *features; /* of these; n_quads_1, n_quads_2 and so on: pixels of PLANE_SQUARES,
                          * PLANE_PAIRS, PLANE_THREES and PLANE_DIAGONALS, until the frame ends */

  /* Rows of bits, with a word of zeros on both sides, from row -MEASURED_AROUND on; zeros outside
   * the frame. Words behind a row are readable up to the end of a group. */
  const uint64_t **rows;
  uint64_t *borders[4]; /* the border pixels of rows, by their number modulo 4 */
  uint64_t *planes;     /* of each group of words PLANES_STRIDE × GROUP words */
};

/* Rows above and below a strip on which its border pixels and their neighbours depend. */
enum { MEASURED_AROUND = 2 };

static inline const uint64_t *
measured_row (const RunMeasurer *self, int64_t y)
{
  return self->rows[y + MEASURED_AROUND];
}

#endif /* CUDACCL_CPU_RUN_MEASURER_H */
