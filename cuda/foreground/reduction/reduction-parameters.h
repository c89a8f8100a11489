/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of reduction.cu, compiled by the host's C and by nvcc. */
#pragma once

#include <stdint.h>

/* Pixels of a mask that a thread writes. */
#define CUDACCL_ENLARGED_PIXELS 4

/* One plane of a frame, and its means. */
typedef struct CclReducedPlane {
  const uint8_t *samples;
  uint64_t stride;             /* bytes */
  uint32_t step;               /* bytes from sample to sample */
  uint32_t n_samples, n_rows;  /* beyond them, the last one is repeated */
  uint32_t factor_x, factor_y; /* samples of a mean; powers of two */
  uint32_t shift;              /* of the sum of factor_x × factor_y samples */
  uint32_t word_mask; /* a row of a mean is an aligned word of four bytes, of which the bytes that
                       * are 255 here are samples; 0: it is not, and samples are read one by one */
  uint8_t *means;
  uint64_t means_stride;  /* bytes */
  uint32_t width, height; /* of the means */
} CclReducedPlane;

/* Luma, u and v; the grid's third dimension is the plane. */
typedef struct CclReductionParameters {
  CclReducedPlane planes[3];
} CclReductionParameters;

typedef struct CclEnlargementParameters {
  const uint8_t *from; /* the mask of the reduced frame */
  uint64_t from_stride;
  uint8_t *mask;
  uint64_t mask_stride;
  uint32_t width, height;  /* of the mask */
  uint32_t factor_shift;   /* the factor as a power of two */
  uint32_t invert;         /* 0 or 255 */
  uint32_t aligned;        /* rows of the mask are aligned to CUDACCL_ENLARGED_PIXELS */
  const uint8_t *roi_mask; /* [y][x] 0 or 255, rows of width bytes; NULL without one */
} CclEnlargementParameters;
