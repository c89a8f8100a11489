/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of values.cu, compiled by the host's C and by nvcc. The terms
 * (tile, chunk, neighbours as bits) are explained at the head of values.cu. */
#pragma once

#include "cuda/driver/tuning.h"

#include <cudaccl/values.h>

/* A tile has 32 columns and 64 rows of one or more slices. */
enum {
  CUDACCL_VALUES_TILE_ROWS_SHIFT = 6,
  CUDACCL_VALUES_TILE_ROWS = 1 << CUDACCL_VALUES_TILE_ROWS_SHIFT,
  CUDACCL_VALUES_CHUNK_SHIFT = 12, /* pixels, as a power of two */
};

/* The bit of a neighbour; dx, dy and dz are -1, 0 or 1. */
#define CUDACCL_VALUES_NEIGHBOUR(dx, dy, dz) (1u << (9 * ((dz) + 1) + 3 * ((dy) + 1) + (dx) + 1))

/* The parent of background, and what is set in that of a root once the components are numbered: the
 * lower bits are then the number of the component inside its chunk. */
#define CUDACCL_VALUES_BACKGROUND 0xffffffffu
#define CUDACCL_VALUES_ROOT 0x80000000u

typedef struct CclValuesParameters {
  const uint8_t *values;
  uint64_t row_stride, slice_stride; /* bytes; slice_stride is not used with a depth of 1 */
  uint32_t width, height, depth;     /* pixels */
  uint32_t zero_is_background, nan_is_background;
  uint32_t neighbours; /* bits: those before a pixel in raster order that it is connected to */
  uint32_t compared;   /* bits: these, and those that show which unions are not needed */

  /* Geometry, fixed by the plan. */
  uint32_t n_pixels, n_chunks;
  uint32_t tile_y_shift, tile_z_shift; /* rows and slices of a tile, as powers of two */
  uint32_t tile_columns, tile_rows;    /* tiles of the picture in x and y */

  /* Scratch memory and results. */
  uint32_t *parents;               /* [n_pixels] in raster order; later CUDACCL_VALUES_ROOT | … */
  uint32_t *chunk_offsets;         /* [n_chunks] components in it, then components before it */
  uint32_t *n_components;          /* pinned host memory */
  uint32_t *labels;                /* the caller's label map */
  uint64_t label_row, label_slice; /* elements from row to row and from slice to slice */
} CclValuesParameters;
