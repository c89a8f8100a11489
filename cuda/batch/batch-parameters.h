/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of batch.cu and replace.cu, compiled by the host's C and by nvcc.
 */
#pragma once

#include "cuda/label/strips/strips-parameters.h"

/* The tiles of replace.cu, whose terms are explained at its head. */
enum {
  CUDACCL_REPLACE_WORDS = 4, /* of a tile's width: as wide as the tiles of strips.cu */
  CUDACCL_REPLACE_ROWS = 64,
  CUDACCL_REPLACE_TILE_THREADS = CUDACCL_REPLACE_WORDS * CUDACCL_REPLACE_ROWS, /* one per word */
  CUDACCL_REPLACE_RUNS = CUDACCL_REPLACE_TILE_THREADS * 16, /* the most of a tile */
  /* The most open tile components of a tile. */
  CUDACCL_REPLACE_OPEN = CUDACCL_STRIPS_TILE_WIDTH + CUDACCL_REPLACE_ROWS,
  CUDACCL_REPLACE_MERGE_THREADS = CUDACCL_STRIPS_TILE_WIDTH + CUDACCL_REPLACE_ROWS,
  CUDACCL_REPLACE_REDUCE_THREADS = 64, /* of a block, which has a tile */
  CUDACCL_REPLACE_WRITE_THREADS = 64,  /* likewise */
};

/* In open_count: the edges of the tile are written; it is full, and has no words. */
#define CUDACCL_REPLACE_EDGES 0x80000000u
#define CUDACCL_REPLACE_FULL 0x40000000u
#define CUDACCL_REPLACE_NO_COMPONENT 0xffffu

/* Which components replace.cu writes a value to. */
typedef struct CclBatchSelection {
  uint32_t inside_only; /* those that do not touch the border of the mask */
  uint32_t by_area;     /* those with min_area…max_area pixels */
  uint32_t min_area, max_area;
  uint32_t value;
} CclBatchSelection;

/* Scratch memory of replace.cu, besides parent and open_count of strips. */
typedef struct CclBatchReplacement {
  uint16_t *edge;     /* [tile][edge][pixel] number of the open tile component, 0 for an outer one,
                       * CUDACCL_REPLACE_NO_COMPONENT; tiles with CUDACCL_REPLACE_EDGES only */
  uint32_t *words;    /* [tile][word] */
  uint16_t *base;     /* [tile][word] number of the run of its first part */
  uint16_t *run_open; /* [tile][run] number of the open tile component, 0 for all others */
  uint32_t *area;     /* [tile][number], of roots in the end those of their components */
} CclBatchReplacement;

typedef struct CclBatchParameters {
  /* Parameters of the first mask; only rows and max_components are those of all masks together, and
   * n_components has an element for each mask. */
  CclStripsParameters strips;

  /* Distances in memory from mask to mask. */
  uint64_t scratch_stride; /* bytes: of the scratch memory, without chunk_count */
  uint64_t counts_stride;  /* elements of chunk_count and next_chunk_count */
  uint64_t mask_stride;    /* bytes */
  uint64_t labels_slice;   /* elements of the label map */
  uint64_t areas_slice;    /* elements of the area map */

  uint32_t n_masks;
  uint32_t *mask_count;      /* [n_masks] components */
  uint32_t *areas;           /* the area map; NULL if not wanted */
  uint64_t areas_stride;     /* elements */
  uint32_t areas_vectorised; /* as labels_vectorised */
  CclBatchSelection selection;
  CclBatchReplacement replacement;
} CclBatchParameters;
