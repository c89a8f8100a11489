/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tiles whose pixels are all foreground, which are one tile component. */
#pragma once

#include "tile.cuh"

/* Whether all pixels of a word that are in the frame are foreground. */
template <int ROWS>
static __device__ __forceinline__ bool
is_full (const Parameters &p, const Place &place, const Word &word)
{
  const uint32_t x = place.tile_x + place.column, y = place.tile_y + place.row;
  if (x >= p.width || y >= p.height)
    return true;
  const uint32_t all = (1u << min (p.width - x, (uint32_t)WORD_WIDTH)) - 1;
  return word.top == all && (ROWS == 1 || y + 1 >= p.height || word.bottom == all);
}

/* Writes the one tile component, which is open if there is another tile. Returns whether it counts
 * as a component by now. */
static __device__ __forceinline__ bool
write_full_component (const Parameters &p, const Place &place, uint32_t width, uint32_t height)
{
  const uint32_t area = width * height, number = blockIdx.x * TILE_RUNS;
  const uint32_t sum_x = height * (width * (width - 1) / 2);
  const uint32_t sum_y = width * (height * (height - 1) / 2);
  const bool open = p.tile_columns * p.tile_rows > 1;
  if (p.keeps_runs) {
    p.component_count[blockIdx.x] = 1;
    p.component_first[number] = open ? place.origin | CUDACCL_STRIPS_OPEN : place.origin;
  }
  if (!open) {
    p.parent[place.origin] = CUDACCL_STRIPS_ROOT | CUDACCL_STRIPS_CLOSED | number;
    p.component[number] = make_uint4 (area | (height - 1) << 16, sum_x, sum_y, (width - 1) << 16);
    return area >= p.min_area && area <= p.max_area;
  }
  const uint32_t first = blockIdx.x * CUDACCL_STRIPS_TILE_OPEN;
  p.open_first[first] = place.origin;
  p.parent[place.origin] = CUDACCL_STRIPS_ROOT | first;
  p.sums.sum_x[first] = (unsigned long long)area * place.tile_x + sum_x;
  p.sums.sum_y[first] = (unsigned long long)area * place.tile_y + sum_y;
  p.sums.area[first] = area;
  p.sums.left[first] = place.tile_x;
  p.sums.right[first] = place.tile_x + width - 1;
  p.sums.bottom[first] = place.tile_y + height - 1;
  return !p.filtered;
}

/* Writes the edges of a tile that is not whole. Half of the threads write the upper and the left
 * edge, the others the lower and the right one. */
template <int ROWS>
static __device__ __forceinline__ void
write_full_edges (const Parameters &p, const Place &place, uint32_t width, uint32_t height)
{
  enum { TILE_ROWS = STRIPS * ROWS };
  const uint32_t at = threadIdx.x % TILE_EDGE;
  const bool is_first = threadIdx.x < TILE_EDGE;
  uint32_t *const edges = p.edge + blockIdx.x * (CUDACCL_STRIPS_EDGES * TILE_EDGE);
  edges[(is_first ? CUDACCL_STRIPS_TOP : CUDACCL_STRIPS_BOTTOM) * TILE_EDGE + at] =
      at < width && (is_first || height == TILE_ROWS) ? place.origin : NOTHING;
  if (at < TILE_ROWS)
    edges[(is_first ? CUDACCL_STRIPS_LEFT : CUDACCL_STRIPS_RIGHT) * TILE_EDGE + at] =
        at < height && (is_first || width == TILE_WIDTH) ? place.origin : NOTHING;
}

/* Writes all that later phases need of a full tile, but for its words, and only what they need. The
 * runs of this thread's warp are first_run…end_run - 1. */
template <int ROWS>
static __device__ __forceinline__ void
write_full_tile (const Parameters &p, const Place &place, uint32_t first_run, uint32_t end_run)
{
  const uint32_t width = min (p.width - place.tile_x, (uint32_t)TILE_WIDTH);
  const uint32_t height = min (p.height - place.tile_y, (uint32_t)(STRIPS * ROWS));
  const bool is_whole = width == TILE_WIDTH && height == STRIPS * ROWS;
  bool counts = false;
  if (threadIdx.x == 0) {
    counts = write_full_component (p, place, width, height);
    p.open_count[blockIdx.x] =
        (p.tile_columns * p.tile_rows > 1) | (is_whole ? CUDACCL_STRIPS_FULL : 0);
  }
  if (!is_whole)
    write_full_edges<ROWS> (p, place, width, height);
  if (p.keeps_runs)
    for (uint32_t run = first_run + place.lane; run < end_run; run += 32)
      p.run_component[blockIdx.x * TILE_RUNS + run] = 0;
  if (threadIdx.x >= height)
    return;
  const uint32_t group = (place.tile_y + threadIdx.x) * p.tile_columns + place.tile_column;
  ((uint4 *)p.first_bits)[group] = make_uint4 (counts, 0, 0, 0);
  if (p.labels)
    p.group_count[group] = counts;
  if (counts)
    atomicAdd (&p.chunk_count[group >> p.chunk_shift], 1u);
}
