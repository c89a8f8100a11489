/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of measure.cu, compiled by the host's C and by nvcc. */
#pragma once

#include <cudaccl/labeller.h>

/* The pixels of a block, each thread of which has 4×4. */
enum {
  CUDACCL_MEASURE_TILE_WIDTH = 128,
  CUDACCL_MEASURE_TILE_HEIGHT = 32,
};

typedef struct CclMeasureParameters {
  const uint32_t *labels; /* the label map */
  uint64_t label_stride;  /* elements */
  const uint8_t *values;  /* the second plane; NULL without it */
  uint64_t value_stride;  /* bytes */
  uint32_t value_bytes;   /* 1 or 2 */
  uint32_t width, height;
  uint32_t connectivity; /* of the labels: 4 or 8 */
  uint32_t columns;      /* flags of CclColumn */
  uint32_t n_rows;       /* the labels 1…n_rows are measured */
  uint32_t words;        /* of a CclFeatures that are written, a bit each */

  /* Sums over the pixels so far, minima as maxima of the complement; all zeros between frames. */
  CclFeatures *sums;
  uint32_t *greatest_label; /* of the frame; 0 between frames */
  CclFeatures *result;      /* [n_rows] at the table's location */
  uint32_t *finished;       /* pinned host memory: set when the result is written */
} CclMeasureParameters;
