/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a pixel of a component adds to the Euler numbers and the crack length, from those of its
 * neighbours that precede it in raster order and are in the same component, for CPU and GPU. The
 * neighbours of a pixel, as bits:
 *
 *   0 1 2     9 10 11
 *   3 4 5    12  ·
 *   6 7 8
 *
 *   in the slice above, and in its own one
 */
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#define CUDACCL_PRECEDING_FUNCTION __device__ static __forceinline__
#else
#define CUDACCL_PRECEDING_FUNCTION static inline
#endif

enum {
  CCL_N_PRECEDING = 13,
  CCL_ABOVE_NORTH_WEST = 0,
  CCL_ABOVE_NORTH = 1,
  CCL_ABOVE_WEST = 3,
  CCL_ABOVE = 4,
  CCL_NORTH_WEST = 9,
  CCL_NORTH = 10,
  CCL_WEST = 12,
};

/* The places of the 3×3×3 pixels around a pixel, in raster order; its own one is in the middle. */
enum {
  CCL_N_PLACES = 27,
  CCL_OWN_PLACE = 13,
};

/* The sign of a place in Euler's formula. A pixel is a cube here, and the places around it are its
 * 8 corners, 12 edges and 6 faces: corners and faces are added, edges are subtracted. */
CUDACCL_PRECEDING_FUNCTION int32_t
ccl_cell_sign (uint32_t place)
{
  const uint32_t n_axes = (place % 3 != 1) + (place / 3 % 3 != 1) + (place / 9 != 1);
  return n_axes == 2 ? -1 : 1;
}

/* Whether a preceding neighbour has this corner, edge or face, too: along each axis, the neighbour
 * is in the middle or on the same side as the place. */
CUDACCL_PRECEDING_FUNCTION uint32_t
ccl_cell_is_of (uint32_t place, uint32_t neighbour)
{
  return (neighbour % 3 == 1 || neighbour % 3 == place % 3) &&
         (neighbour / 3 % 3 == 1 || neighbour / 3 % 3 == place / 3 % 3) &&
         (neighbour / 9 == 1 || neighbour / 9 == place / 9);
}
