/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tile of a block in shared memory, and the place and word of each thread. */
#pragma once

#include "bits.cuh"

/* The place of a thread's word. */
struct Place {
  uint32_t lane, warp;
  uint32_t w, s;                  /* word and strip in the tile */
  uint32_t column, row;           /* of the word's first pixel, in the tile */
  uint32_t tile_column, tile_row; /* of the tile among all tiles */
  uint32_t tile_x, tile_y;        /* of the tile's first pixel, in the frame */
  uint32_t origin;                /* the number of the tile's first pixel */
};

template <int ROWS>
static __device__ __forceinline__ Place
place_of_thread (const Parameters &p)
{
  Place place;
  place.lane = lane_of_warp ();
  place.warp = threadIdx.x / 32;
  place.w = threadIdx.x % WORDS;
  place.s = threadIdx.x / WORDS;
  place.column = place.w * WORD_WIDTH;
  place.row = place.s * ROWS;
  place.tile_row = quotient (blockIdx.x, p.tile_columns, p.tile_columns_inverse);
  place.tile_column = blockIdx.x - place.tile_row * p.tile_columns;
  place.tile_x = place.tile_column * TILE_WIDTH;
  place.tile_y = place.tile_row * STRIPS * ROWS;
  place.origin = place.tile_y * (p.tile_columns * GROUP_WIDTH) + place.tile_x;
  return place;
}

/* A thread's word: one row, or two. */
struct Word {
  uint32_t top, bottom; /* the same for a strip of one row */
  uint32_t occupied;
  uint32_t starts; /* columns in which runs start */
  bool top_before; /* whether the pixel left of the upper row is foreground, in the tile */
  uint32_t base;   /* see parts_through() */
};

/* The area of a tile component and the sum of its y coordinates in one word, so that they are
 * summed together: over a whole tile of 64 rows, the sum of y is below 2^18 and the area at most
 * 2^13. */
static __device__ __forceinline__ uint32_t
pack_area (uint32_t area, uint32_t sum_y)
{
  return area << 18 | sum_y;
}

static __device__ __forceinline__ uint32_t
unpack_area (uint32_t area_and_sum_y)
{
  return area_and_sum_y >> 18;
}

static __device__ __forceinline__ uint32_t
unpack_sum_y (uint32_t area_and_sum_y)
{
  return area_and_sum_y & ((1u << 18) - 1);
}

/* The sums of a tile component or a part of it, in coordinates of the tile. */
struct TileSums {
  uint32_t area_and_sum_y; /* see pack_area() */
  uint32_t sum_x;
  uint32_t first; /* y × TILE_WIDTH + x of the first pixel */
  uint32_t left, right, last_row;
};

struct Tile {
  /* The arrays have an empty word on each side of a strip and an empty strip above the tile. */
  uint32_t occupied[STRIPS + 1][WORDS + 2];
  uint32_t bottom[STRIPS + 1][WORDS + 2]; /* the lower row of a strip of two */
  uint32_t base[STRIPS + 1][WORDS + 2];   /* see parts_through() */
  uint32_t top[STRIPS][WORDS];            /* the upper row, without the empty words */
  uint32_t parent[TILE_RUNS];             /* a run with a smaller number, or the run itself */
  uint16_t component[TILE_RUNS];          /* of runs that are roots */
  /* The tile's pixels in raster order, 32 to a word. */
  alignas (16) uint32_t first_bits[FIRST_WORDS]; /* first pixels that count as components */
  uint32_t n_tile_components, n_open;
  union {
    uint32_t links[TILE_WARPS][WARP_LINKS]; /* two runs each */
    /* The sums of the tile components of a round, an array for each. */
    struct {
      uint32_t area_and_sum_y[ROUND_COMPONENTS]; /* see pack_area() */
      uint32_t sum_x[ROUND_COMPONENTS];
      uint32_t first[ROUND_COMPONENTS];
      uint32_t left[ROUND_COMPONENTS], right[ROUND_COMPONENTS], last_row[ROUND_COMPONENTS];
    };
  };
};

/* The number of the run that has an occupied column of the tile; row s + 1 of the tile's arrays is
 * strip s. */
static __device__ __forceinline__ uint32_t
run_at (const Tile &tile, uint32_t s, uint32_t column)
{
  const uint32_t w = column / WORD_WIDTH;
  return tile.base[s + 1][w + 1] - 1 +
         parts_through (tile.occupied[s + 1][w + 1], column % WORD_WIDTH);
}

static __device__ __forceinline__ void
clear_sums (Tile &tile, uint32_t component)
{
  tile.area_and_sum_y[component] = tile.sum_x[component] = 0;
  tile.right[component] = tile.last_row[component] = 0;
  tile.first[component] = tile.left[component] = NOTHING;
}
