/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a pixel of a component adds to the features that depend on its neighbours, for CPU and GPU.
 *
 * A set of neighbours has a bit for each one in the same component:
 *
 *   0 1 2
 *   3 · 4
 *   5 6 7
 */
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#define CUDACCL_NEIGHBOURHOOD_FUNCTION __device__ static __forceinline__
#else
#define CUDACCL_NEIGHBOURHOOD_FUNCTION static inline
#endif

enum {
  CCL_EDGE_NEIGHBOURS = 1 << 1 | 1 << 3 | 1 << 4 | 1 << 6,
  CCL_ALL_NEIGHBOURS = 0xff,
};

/* Squares of 2×2 pixels by the pixels that the component has in them. */
typedef struct CclQuads {
  uint32_t n_1, n_2, n_3, n_diagonal;
} CclQuads;

/* Counts a square. beside, below, across: whether the component has the pixel beside the present
 * one, the one below or above it, and the one at the other corner. */
CUDACCL_NEIGHBOURHOOD_FUNCTION void
ccl_quads_count (CclQuads *quads, uint32_t beside, uint32_t below, uint32_t across)
{
  const uint32_t n = beside + below + across;
  quads->n_1 += n == 0;
  quads->n_2 += n == 1 && !across;
  quads->n_3 += n == 2;
  quads->n_diagonal += n == 1 && across;
}

/* The squares in which a pixel is the component's first in raster order, so that all pixels
 * together count each square once. */
CUDACCL_NEIGHBOURHOOD_FUNCTION CclQuads
ccl_quads_of_pixel (uint32_t neighbours)
{
  const uint32_t nw = neighbours & 1, n = neighbours >> 1 & 1, ne = neighbours >> 2 & 1;
  const uint32_t w = neighbours >> 3 & 1, e = neighbours >> 4 & 1;
  const uint32_t sw = neighbours >> 5 & 1, s = neighbours >> 6 & 1, se = neighbours >> 7 & 1;
  CclQuads quads = {0, 0, 0, 0};
  ccl_quads_count (&quads, e, s, se);
  if (!w)
    ccl_quads_count (&quads, 0, s, sw);
  if (!n && !ne)
    ccl_quads_count (&quads, e, 0, 0);
  if (!n && !nw && !w)
    quads.n_1++;
  return quads;
}

typedef enum CclBorderKind {
  CCL_BORDER_OTHER, /* adds nothing to the perimeter */
  CCL_BORDER_STRAIGHT,
  CCL_BORDER_DIAGONAL,
  CCL_BORDER_MIXED,
} CclBorderKind;

/* The kind of a border pixel in scikit-image's perimeter, from the numbers of border pixels of its
 * component that touch it at an edge and at a corner only. Benkrid, Crookes: Design and FPGA
 * Implementation of a Perimeter Estimator, 2000. */
CUDACCL_NEIGHBOURHOOD_FUNCTION CclBorderKind
ccl_border_kind (uint32_t n_edge, uint32_t n_corner)
{
  if ((n_edge == 2 || n_edge == 3) && n_corner <= 2)
    return CCL_BORDER_STRAIGHT;
  if ((n_edge == 0 && n_corner == 2) || (n_edge == 1 && n_corner == 3))
    return CCL_BORDER_DIAGONAL;
  if (n_edge == 1 && (n_corner == 1 || n_corner == 2))
    return CCL_BORDER_MIXED;
  return CCL_BORDER_OTHER;
}
