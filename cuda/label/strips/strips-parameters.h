/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of strips.cu, compiled by the host's C and by nvcc. The terms
 * (strip, tile, run, tile component, group) are explained at the head of strips.cu. */
#pragma once

#include <stdint.h>

#include "cuda/driver/tuning.h"

#include <cudaccl/labeller.h>

enum {
  CUDACCL_STRIPS_WORD_WIDTH = 16,  /* columns */
  CUDACCL_STRIPS_TILE_WORDS = 8,   /* of a tile's width: one group */
  CUDACCL_STRIPS_TILE_STRIPS = 32, /* of a tile's height */
  CUDACCL_STRIPS_TILE_WIDTH = CUDACCL_STRIPS_TILE_WORDS * CUDACCL_STRIPS_WORD_WIDTH,
  CUDACCL_STRIPS_TILE_THREADS =
      CUDACCL_STRIPS_TILE_WORDS * CUDACCL_STRIPS_TILE_STRIPS, /* one per word */
  /* The most runs, and so the most tile components, that a tile can have. */
  CUDACCL_STRIPS_TILE_RUNS = CUDACCL_STRIPS_TILE_WIDTH / 2 * CUDACCL_STRIPS_TILE_STRIPS,
  /* The most open tile components: runs along its four edges. */
  CUDACCL_STRIPS_TILE_OPEN = CUDACCL_STRIPS_TILE_WIDTH + 2 * CUDACCL_STRIPS_TILE_STRIPS,
  /* Pixels of the upper and lower edge of a tile; the left and right ones take as much room. */
  CUDACCL_STRIPS_TILE_EDGE = CUDACCL_STRIPS_TILE_WIDTH,
  /* A block merges the upper and the left edge of a tile, with a thread per pixel. */
  CUDACCL_STRIPS_MERGE_THREADS = CUDACCL_STRIPS_TILE_WIDTH + 2 * CUDACCL_STRIPS_TILE_STRIPS,
  CUDACCL_STRIPS_REDUCE_TILES =
      CUDACCL_STRIPS_NUMBER_THREADS / CUDACCL_STRIPS_REDUCE_THREADS, /* per block */
  CUDACCL_STRIPS_MAX_CHUNKS =
      1024, /* of a frame; four for each thread of a block that writes labels */
};

/* The edges of a tile, in the order in which they are kept. */
enum {
  CUDACCL_STRIPS_TOP,
  CUDACCL_STRIPS_BOTTOM,
  CUDACCL_STRIPS_LEFT,
  CUDACCL_STRIPS_RIGHT,
  CUDACCL_STRIPS_EDGES
};

/* The sums of open tile components, one array each: those of the tile component, and of a root
 * after reducing those of its component. */
typedef struct CclStripsSums {
  unsigned long long *sum_x, *sum_y;
  uint32_t *area;
  uint32_t *left, *right, *bottom; /* inclusive; the top is the row of the first pixel */
} CclStripsSums;

/* The cache of constants, which a kernel finds empty, loads 64 bytes at a time; the first line ends
 * after 48 bytes. So parameters of the same phases stand together. */
typedef struct CclStripsParameters {
  /* The frame and its foreground; the tiles, fixed by the plan. */
  const uint8_t *frame;
  uint64_t frame_stride; /* bytes */
  uint32_t width, height;
  uint32_t threshold;  /* of pixels of two bytes, CclWordThreshold */
  uint32_t invert;     /* 0 or all ones */
  uint16_t vectorised; /* frame and stride are multiples of 16 */
  uint16_t follows;    /* the kernel before the first one writes the frame */
  uint32_t tile_columns, tile_rows;
  uint32_t tile_columns_inverse; /* see quotient() */

  /* Scratch memory of the tile and merge phases, fixed by the plan. Pixels are numbered in raster
   * order over rows padded to whole tiles; that number is below 2^31. */
  uint32_t *parent; /* [pixel] of first pixels of tile components: the first pixel of another tile
                     * component of the component, CUDACCL_STRIPS_ROOT | open tile component, or
                     * CUDACCL_STRIPS_ROOT | CUDACCL_STRIPS_CLOSED | tile component */
  uint32_t *edge;   /* [tile][edge][pixel] first pixel of the tile component there, or
                     * CUDACCL_STRIPS_NOTHING; tiles with open tile components only */
  uint32_t *open_count;    /* [tile] */
  struct uint4 *component; /* [tile][tile component] of closed ones, in coordinates of the tile:
                            * area | last row << 16, sum of x, sum of y, left | right << 16 */
  uint32_t *first_bits;    /* [group][4] first pixels of the components that pass the area filter */
  uint32_t *chunk_count;   /* [chunk] bits set in it, then the number of blocks that have
                            * reduced; zero when the frame starts */
  uint32_t *labels;        /* the label map; NULL if not wanted */
  uint32_t chunk_shift;    /* groups of a chunk, as a power of two */
  uint16_t filtered;       /* whether the area filter can remove a component */
  uint16_t keeps_runs;     /* whether a later kernel needs the runs of tiles */

  /* The open tile components. */
  uint32_t *open_first;        /* [tile][open tile component] first pixel */
  CclStripsSums sums;          /* [tile][open tile component] */
  uint32_t min_area, max_area; /* max_area: UINT32_MAX for no limit */

  /* The number phase. */
  uint32_t n_groups, n_chunks;
  uint32_t n_reduce_blocks;
  uint32_t max_components;
  CclComponent *rows;         /* [max_components] pinned host memory */
  uint32_t *n_components;     /* pinned host memory */
  uint32_t *next_chunk_count; /* chunk_count of the next frame, cleared by this one */
  uint32_t *finished;         /* pinned host memory: set when table and count are written */

  /* For the label map. */
  uint64_t labels_stride;     /* elements */
  uint32_t labels_vectorised; /* labels and stride are multiples of 16 bytes */
  uint32_t word_mask;         /* of pixels of two bytes, CclWordThreshold */
  uint8_t *group_count;       /* [group] bits set in it, see first_bits */
  uint16_t *bits;             /* [rows padded to tiles][words of a row] foreground */
  uint16_t *word_base;        /* [strip][word] number of the run of its first part */
  uint16_t *run_component;    /* [tile][run] number of the tile component in its tile */
  uint32_t *component_first;  /* [tile][tile component] first pixel, | CUDACCL_STRIPS_OPEN */
  uint32_t *component_count;  /* [tile] */
} CclStripsParameters;

#define CUDACCL_STRIPS_ROOT 0x80000000u
#define CUDACCL_STRIPS_CLOSED 0x40000000u
#define CUDACCL_STRIPS_NOTHING 0xffffffffu
#define CUDACCL_STRIPS_OPEN 0x80000000u
#define CUDACCL_STRIPS_FULL 0x80000000u /* in open_count: a whole tile of foreground (batch.cu) */
