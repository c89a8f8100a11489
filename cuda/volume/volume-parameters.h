/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of volume.cu, compiled by the host's C and by nvcc. The terms
 * (word, run, element, chunk, tile) are explained at the head of volume.cu. */
#pragma once

#include "cuda/driver/tuning.h"

#include <cudaccl/volume.h>

enum {
  CUDACCL_VOLUME_CHUNK_SHIFT = 8,
  CUDACCL_VOLUME_CHUNK_WORDS = 1 << CUDACCL_VOLUME_CHUNK_SHIFT,
};

/* Set in the parent of a root once the components are numbered. The lower bits are then the number
 * of the component inside its chunk, or all set when the area filter removed it. */
#define CUDACCL_VOLUME_ROOT 0x80000000u
#define CUDACCL_VOLUME_REMOVED 0xffffffffu

/* The sums over one component while its runs are added in any order. All fields start with all
 * bits set, so that one memset prepares them: counts and sums are off by one until they are read,
 * and maxima are kept as minima of the complement. */
typedef struct CclVolumeAccumulator {
  uint64_t sum_x, sum_y, sum_z; /* minus 1 */
  uint32_t n_voxels;            /* minus 1 */
  uint32_t min_x, min_y, min_z;
  uint32_t max_x_complement, max_y_complement, max_z_complement;
  uint32_t unused;
} CclVolumeAccumulator;

typedef struct CclVolumeParameters {
  /* The volume and its foreground. */
  const uint8_t *volume;
  uint64_t row_stride, slice_stride; /* bytes */
  uint32_t width, height, depth;     /* voxels */
  uint32_t connectivity;             /* 6, 18 or 26 */
  uint32_t threshold;
  uint32_t invert;             /* 0 or all ones */
  uint32_t vectorised;         /* address and strides are multiples of 16 */
  uint32_t filtered;           /* whether the area filter can remove a component */
  uint32_t min_area, max_area; /* voxels; max_area: UINT32_MAX for no limit */

  /* Geometry, fixed by the plan. */
  uint32_t row_words;                            /* words of a row */
  uint32_t n_words;                              /* row_words × height × depth */
  uint32_t n_chunks;                             /* of CUDACCL_VOLUME_CHUNK_WORDS words */
  uint32_t element_shift;                        /* elements of a word, as a power of two */
  uint32_t tile_x_shift, tile_y_shift;           /* words and rows of a tile, as powers of two */
  uint32_t tile_z_shift;                         /* slices; the three add up to 8 */
  uint32_t tile_columns, tile_rows, tile_slices; /* tiles of the volume in each direction */
  uint32_t sum_depth;                            /* tiles that a block sums, one behind another */

  /* Scratch memory, fixed by the plan. */
  uint32_t *words; /* [word] foreground, the voxel of the least x in the lowest bit */
  uint32_t
      *parents; /* [element] of each run: the index of its parent; later CUDACCL_VOLUME_ROOT | … */
  uint32_t *areas; /* [element] voxels of the component of a root; only with an area filter */
  uint32_t *chunk_offsets;            /* [chunk] components in it, then components before it */
  CclVolumeAccumulator *accumulators; /* [n_rows] */

  /* The result. */
  uint32_t n_rows;                 /* rows that the table has room for */
  uint32_t *n_components;          /* device memory */
  uint32_t *result_count;          /* pinned host memory */
  CclVolumeComponent *rows;        /* [n_rows] pinned host memory */
  uint32_t *labels;                /* the caller's label map */
  uint64_t label_row, label_slice; /* elements from row to row and from slice to slice */
} CclVolumeParameters;
