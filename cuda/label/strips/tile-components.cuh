/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tile phase: the sums of the tile components of a tile, and what later phases need of
 * them. */
#pragma once

#include "tile.cuh"

/* The sums of foreground pixels in one word. */
template <int ROWS>
static __device__ __forceinline__ TileSums
sums_of (uint32_t top, uint32_t bottom, uint32_t column, uint32_t row)
{
  const uint32_t both = top | bottom;
  const uint32_t in_bottom = ROWS == 2 ? __popc (bottom) : 0;
  TileSums f;
  const uint32_t area = __popc (top) + in_bottom;
  f.sum_x = sum_of_positions (top, ROWS == 2 ? bottom : 0) + area * column;
  f.area_and_sum_y = pack_area (area, area * row + in_bottom);
  f.left = column + __ffs (both) - 1;
  f.right = column + 31 - __clz (both);
  f.first = top ? row * TILE_WIDTH + column + __ffs (top) - 1 : (row + 1) * TILE_WIDTH + f.left;
  f.last_row = ROWS == 2 && bottom ? row + 1 : row;
  return f;
}

static __device__ __forceinline__ void
add_to_component (Tile &tile, uint32_t component, const TileSums &f)
{
  atomicAdd (&tile.area_and_sum_y[component], f.area_and_sum_y);
  atomicAdd (&tile.sum_x[component], f.sum_x);
  atomicMin (&tile.first[component], f.first);
  atomicMin (&tile.left[component], f.left);
  atomicMax (&tile.right[component], f.right);
  atomicMax (&tile.last_row[component], f.last_row);
}

/* Adds the sums of every lane to its tile component (NOTHING: none). The sums of lanes with
 * the same tile component as the first lane, which are most lanes inside a large component, are
 * summed by the warp first. */
static __device__ __forceinline__ void
add_to_components_by_warp (Tile &tile, uint32_t component, TileSums f)
{
  const uint32_t waiting = __ballot_sync (FULL_WARP, component != NOTHING);
  if (!waiting)
    return;
  const uint32_t first_lane = __ffs (waiting) - 1;
  const uint32_t shared_component = __shfl_sync (FULL_WARP, component, first_lane);
  const uint32_t sharing = __ballot_sync (FULL_WARP, component == shared_component);
  if (__popc (sharing) > 2 && component == shared_component) {
    f.area_and_sum_y = reduce_add (sharing, f.area_and_sum_y);
    f.sum_x = reduce_add (sharing, f.sum_x);
    f.first = reduce_min (sharing, f.first);
    f.left = reduce_min (sharing, f.left);
    f.right = reduce_max (sharing, f.right);
    f.last_row = reduce_max (sharing, f.last_row);
    if (lane_of_warp () != first_lane)
      component = NOTHING;
  }
  if (component != NOTHING)
    add_to_component (tile, component, f);
}

/* Stores the tile component of a pixel of an edge, if it is one of this round. */
template <int ROWS>
static __device__ __forceinline__ void
write_edge_pixel (const Parameters &p, const Tile &tile, uint32_t edge, uint32_t number,
    uint32_t row, uint32_t column, uint32_t round, uint32_t origin)
{
  const uint32_t s = row / ROWS, w = column / WORD_WIDTH;
  const uint32_t word = ROWS == 1 || row % 2 == 0 ? tile.top[s][w] : tile.bottom[s + 1][w + 1];
  uint32_t pixel = NOTHING;
  if (word >> (column % WORD_WIDTH) & 1) {
    const uint32_t component = tile.component[tile.parent[run_at (tile, s, column)]] - round;
    if (component >= ROUND_COMPONENTS)
      return;
    const uint32_t first = tile.first[component];
    pixel = origin + first / TILE_WIDTH * (p.tile_columns * GROUP_WIDTH) + first % TILE_WIDTH;
  } else if (round > 0)
    return;
  p.edge[(blockIdx.x * CUDACCL_STRIPS_EDGES + edge) * TILE_EDGE + number] = pixel;
}

/* Adds this thread's word to the sums of the tile components of a round. Parts that follow
 * each other and belong to one tile component are counted together. */
template <int ROWS>
static __device__ __forceinline__ void
sum_pixels (Tile &tile, const Place &place, const Word &word, uint32_t round, uint32_t in_round)
{
  uint32_t current = NOTHING, its_top = 0, its_bottom = 0, run = word.base - 1;
#pragma unroll 1
  for (uint32_t rest = word.occupied; rest;) {
    const uint32_t part = lowest_run (rest);
    rest ^= part;
    run++;
    const uint32_t number = tile.component[tile.parent[run]] - round;
    if (number >= in_round)
      continue;
    if (number != current && current != NOTHING) {
      add_to_component (
          tile, current, sums_of<ROWS> (its_top, its_bottom, place.column, place.row));
      its_top = its_bottom = 0;
    }
    current = number;
    its_top |= word.top & part;
    its_bottom |= word.bottom & part;
  }
  __syncwarp ();
  add_to_components_by_warp (
      tile, current, sums_of<ROWS> (its_top, its_bottom, place.column, place.row));
}

/* Whether a tile component of the tile touches an edge that the tile shares with another. */
template <int ROWS>
static __device__ __forceinline__ bool
is_open (const Parameters &p, const Tile &tile, const Place &place, uint32_t i)
{
  return (tile.first[i] / TILE_WIDTH == 0 && place.tile_row > 0) ||
         (tile.last_row[i] == STRIPS * ROWS - 1 && place.tile_row + 1 < p.tile_rows) ||
         (tile.left[i] == 0 && place.tile_column > 0) ||
         (tile.right[i] == TILE_WIDTH - 1 && place.tile_column + 1 < p.tile_columns);
}

static __device__ __forceinline__ void
write_open_component (
    const Parameters &p, Tile &tile, const Place &place, uint32_t i, uint32_t pixel)
{
  const uint32_t open = blockIdx.x * CUDACCL_STRIPS_TILE_OPEN + atomicAdd (&tile.n_open, 1u);
  const uint32_t area = unpack_area (tile.area_and_sum_y[i]);
  const uint32_t sum_y = unpack_sum_y (tile.area_and_sum_y[i]);
  p.open_first[open] = pixel;
  p.parent[pixel] = CUDACCL_STRIPS_ROOT | open;
  p.sums.sum_x[open] = (unsigned long long)area * place.tile_x + tile.sum_x[i];
  p.sums.sum_y[open] = (unsigned long long)area * place.tile_y + sum_y;
  p.sums.area[open] = area;
  p.sums.left[open] = place.tile_x + tile.left[i];
  p.sums.right[open] = place.tile_x + tile.right[i];
  p.sums.bottom[open] = place.tile_y + tile.last_row[i];
}

/* Writes the tile components of a round and marks their first pixels. A closed tile component is a
 * component, and counts if it passes the area filter. An open tile component counts until it is
 * joined to another (merge.cuh); with an area filter, roots are marked later. */
template <int ROWS>
static __device__ __forceinline__ void
write_components (
    const Parameters &p, Tile &tile, const Place &place, uint32_t round, uint32_t in_round)
{
  const uint32_t row_pixels = p.tile_columns * GROUP_WIDTH;
  /* The last warps begin, because the first ones have more pixels of edges to write. */
#pragma unroll 1
  for (uint32_t i = threadIdx.x ^ (TILE_THREADS - 32); i < in_round; i += TILE_THREADS) {
    const uint32_t area = unpack_area (tile.area_and_sum_y[i]), first = tile.first[i];
    const uint32_t pixel = place.origin + first / TILE_WIDTH * row_pixels + first % TILE_WIDTH;
    const uint32_t number = blockIdx.x * TILE_RUNS + round + i;
    const bool open = is_open<ROWS> (p, tile, place, i);
    bool counts = !p.filtered;
    if (p.keeps_runs)
      p.component_first[number] = open ? pixel | CUDACCL_STRIPS_OPEN : pixel;
    if (open) {
      write_open_component (p, tile, place, i, pixel);
    } else {
      p.parent[pixel] = CUDACCL_STRIPS_ROOT | CUDACCL_STRIPS_CLOSED | number;
      p.component[number] = make_uint4 (area | tile.last_row[i] << 16, tile.sum_x[i],
          unpack_sum_y (tile.area_and_sum_y[i]), tile.left[i] | tile.right[i] << 16);
      counts = area >= p.min_area && area <= p.max_area;
    }
    if (counts)
      atomicOr (&tile.first_bits[first / 32], 1u << first % 32);
  }
}

/* Writes the tile components of the edges' pixels: half of the threads write the upper and the left
 * edge, the others the lower and the right edge. */
template <int ROWS>
static __device__ __forceinline__ void
write_edges (const Parameters &p, const Tile &tile, const Place &place, uint32_t round)
{
  enum { TILE_ROWS = STRIPS * ROWS };
  const uint32_t at = threadIdx.x % TILE_EDGE;
  const bool is_first = threadIdx.x < TILE_EDGE;
  write_edge_pixel<ROWS> (p, tile, is_first ? CUDACCL_STRIPS_TOP : CUDACCL_STRIPS_BOTTOM, at,
      is_first ? 0 : TILE_ROWS - 1, at, round, place.origin);
  if (at < TILE_ROWS)
    write_edge_pixel<ROWS> (p, tile, is_first ? CUDACCL_STRIPS_LEFT : CUDACCL_STRIPS_RIGHT, at, at,
        is_first ? 0 : TILE_WIDTH - 1, round, place.origin);
}

/* Writes the marks of first pixels and counts them by chunk. */
template <int ROWS>
static __device__ __forceinline__ void
write_first_bits (const Parameters &p, const Tile &tile, const Place &place)
{
  if (threadIdx.x >= STRIPS * ROWS || place.tile_y + threadIdx.x >= p.height)
    return;
  const uint4 group = ((const uint4 *)tile.first_bits)[threadIdx.x];
  const uint32_t number = (place.tile_y + threadIdx.x) * p.tile_columns + place.tile_column;
  ((uint4 *)p.first_bits)[number] = group;
  const uint32_t count = count_bits (group);
  if (p.labels)
    p.group_count[number] = count;
  if (count)
    atomicAdd (&p.chunk_count[number >> p.chunk_shift], count);
}
