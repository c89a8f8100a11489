/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of measure-map.cu, compiled by the host's C and by nvcc. */
#pragma once

#include "core/label/component-part.h"

enum {
  CUDACCL_MAP_WARPS_SHIFT = 3, /* warps of a block, as a power of two */
  CUDACCL_MAP_THREADS = 32 << CUDACCL_MAP_WARPS_SHIFT,
  CUDACCL_MAP_BLOCKS = 2,          /* for each multiprocessor: limits the registers of a thread */
  CUDACCL_MAP_MOST_ROWS_SHIFT = 8, /* rows of a tile, as a power of two; they are 32 pixels long */
};

/* What a kernel adds besides rows. */
enum {
  CUDACCL_MAP_MOMENTS = 1,
  CUDACCL_MAP_NEIGHBOURS = 2,
  CUDACCL_MAP_VALUES = 4,
};

/* What the host reads, in pinned memory. */
typedef struct CclMapHead {
  uint32_t greatest_label;
  uint32_t finished; /* set when all else is written */
} CclMapHead;

typedef struct CclMapParameters {
  const uint32_t *labels;
  uint64_t label_row, label_slice; /* elements from row to row and from slice to slice */
  const uint8_t *values;           /* NULL without CUDACCL_COLUMN_INTENSITY */
  uint64_t value_row, value_slice; /* bytes */
  uint32_t value_bytes;            /* 1 or 2 */
  uint32_t values_are_aligned;     /* to their size */
  uint32_t width, height, depth;
  uint32_t is_volume;
  uint32_t columns; /* flags of CclColumn */
  uint32_t n_rows;  /* the labels 1…n_rows are measured */

  uint32_t rows_shift;              /* rows of a tile, all its slices together, as powers of two */
  uint32_t tile_y_shift;            /* rows of a slice of a tile */
  uint32_t tile_columns, tile_rows; /* tiles of the map in these directions */

  /* [n_rows] Sums over the pixels so far, minima as maxima of the complement: all zeros between
   * runs. */
  CclPart *parts;
  CclMeasures *measures; /* NULL without columns */
  uint32_t *greatest_label;

  /* Pinned host memory. */
  CclPart *result_parts;
  CclMeasures *result_measures;
  CclMapHead *head;
} CclMapParameters;
