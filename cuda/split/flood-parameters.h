/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of flood.cu, compiled by the host's C and by nvcc. */
#pragma once

#include "cuda/kernel-lib/word-map.h"

enum {
  CUDACCL_MAP_FLOOD_COLUMNS = 32, /* of a tile, which a block works on */
  CUDACCL_MAP_FLOOD_ROWS = 8,
  CUDACCL_MAP_FLOOD_BLOCKS = 8,  /* for each multiprocessor */
  CUDACCL_MAP_FLOOD_ROUNDS = 16, /* over a tile in a pass */
  CUDACCL_MAP_FLOOD_STEPS = 26,  /* the most neighbours of a pixel */
  CUDACCL_MAP_FLOOD_MARKER = 31, /* in place of a step */
};

/* What has no value yet. */
#define CUDACCL_MAP_FLOOD_NONE UINT64_MAX

/* From a pixel to a neighbour. */
typedef struct CclFloodStep {
  int32_t x, y, z;
} CclFloodStep;

typedef struct CclMapFloodParameters {
  CclWordMap labels, squared, objects;
  uint32_t width, height, depth;
  uint32_t tile_columns, tile_rows; /* tiles of a slice */
  CclFloodStep steps[CUDACCL_MAP_FLOOD_STEPS];
  uint32_t n_steps;
  uint64_t *times;   /* [pixel]: level << 32 | generation */
  uint64_t *origins; /* [pixel]: the marker's pixel << 32 | the step that reached this one */
  uint32_t *changed; /* set to 1 by a pass that changes something */
} CclMapFloodParameters;
