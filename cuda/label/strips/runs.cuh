/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tile phase: the runs of a tile, from words to tile components. */
#pragma once

#include "tile.cuh"
#include "cuda/kernel-lib/union-find.cuh"

/* Numbers the runs of each warp's strips in raster order, the numbers of each warp apart, and
 * stores the word in the tile. A part at the start of a word may continue the run of the word
 * before; then base is one less. Returns the number of runs of the warp. */
static __device__ __forceinline__ uint32_t
number_runs (Tile &tile, const Place &place, Word &word)
{
  const uint32_t before = __shfl_up_sync (FULL_WARP, word.occupied, 1);
  word.starts = word.occupied & ~(word.occupied << 1 | (place.w > 0 ? before >> 15 : 0));
  word.top_before = __shfl_up_sync (FULL_WARP, word.top, 1) >> 15 && place.w > 0;
  const uint32_t n_starts = __popc (word.starts); /* at most 8 */
  uint32_t n_runs;
  const uint32_t starts_through = sum_bits_up_to_lane<4> (n_starts, &n_runs);
  word.base = place.warp * WARP_RUNS + starts_through - n_starts -
              ((word.occupied & 1) && !(word.starts & 1));

  tile.top[place.s][place.w] = word.top;
  tile.occupied[place.s + 1][place.w + 1] = word.occupied;
  tile.bottom[place.s + 1][place.w + 1] = word.bottom;
  tile.base[place.s + 1][place.w + 1] = word.base;
  return n_runs;
}

/* Links each run that starts in this thread's word to one run above it, and lists the other links
 * of the word's runs for later. Returns the length of the warp's list. */
template <int ROWS>
static __device__ __forceinline__ uint32_t
link_to_strip_above (Tile &tile, const Place &place, const Word &word)
{
  const uint32_t w = place.w, s = place.s;
  /* In these words column c is bit c + 1; bits 0 and 17 are the neighbours'. Row s of the tile's
   * arrays is the strip above. */
  const uint32_t above_occupied = tile.occupied[s][w + 1] << 1 | tile.occupied[s][w] >> 15 |
                                  (tile.occupied[s][w + 2] & 1) << 17;
  const uint32_t above_bottom =
      tile.bottom[s][w + 1] << 1 | tile.bottom[s][w] >> 15 | (tile.bottom[s][w + 2] & 1) << 17;
  const uint32_t above_starts = above_occupied >> 1 & ~(above_occupied & ~1u);
  const uint32_t above_base = tile.base[s][w + 1], above_next_base = tile.base[s][w + 2];
  uint32_t *const links = tile.links[threadIdx.x / 32];
  uint32_t n_links = 0;

  uint32_t rest = word.occupied, run = tile.base[s + 1][w + 1] - 1;
  uint32_t touched = 0;
  bool is_new = false;
#pragma unroll 1
  while (__any_sync (FULL_WARP, rest || touched)) {
    if (!touched && rest) {
      const uint32_t part = lowest_run (rest);
      rest ^= part;
      run++;
      uint32_t reach = (word.top & part) << 1;
      if (ROWS == 2)
        reach |= reach << 1 | reach >> 1;
      touched = above_bottom & reach;
      /* The thread of the word before links a run that comes from there to the run above that
       * touches it there. */
      if (part & 1 && word.top_before) {
        const uint32_t linked = above_bottom & (ROWS == 2 ? 3 : 1);
        touched &= above_occupied + (linked & -linked);
      }
      is_new = part & word.starts;
      if (is_new && !touched)
        tile.parent[run] = run;
    }
    bool is_listed = false;
    uint32_t above = 0;
    if (touched) {
      const uint32_t lowest = touched & -touched;
      touched &= above_occupied + lowest; /* clears the bits of the same run */
      if (lowest == 1u << 17)
        above = above_next_base;
      else if (lowest == 1)
        above = above_base - 1 + (above_occupied >> 1 & 1);
      else
        above = above_base - 1 + __popc (above_starts & (lowest - 1));
      if (is_new)
        tile.parent[run] = above;
      is_listed = !is_new;
      is_new = false;
    }
    const uint32_t listed = __ballot_sync (FULL_WARP, is_listed);
    if (is_listed)
      links[n_links + lanes_below (listed)] = run << 16 | above;
    n_links += __popc (listed);
  }
  return n_links;
}

/* Joins the runs of a warp. The listed links follow after the trees of the first links have been
 * flattened. Both may happen at the same time in different warps: flattening writes only to runs
 * below a root, joining only to roots. */
static __device__ __forceinline__ void
join_runs (
    uint32_t *parent, const uint32_t *links, uint32_t n_links, uint32_t first_run, uint32_t end_run)
{
  const uint32_t lane = lane_of_warp ();
#pragma unroll 1
  for (uint32_t run = first_run + lane; run < end_run; run += 32) {
    uint32_t above = load_parent (parent, run);
#pragma unroll 1
    for (uint32_t next = load_parent (parent, above); next != above;
         next = load_parent (parent, above)) {
      atomicMin (&parent[run], next);
      above = next;
    }
  }
  __syncwarp ();
#pragma unroll 1
  for (uint32_t i = lane; i < n_links; i += 32)
    unite_by_steps (parent, links[i] >> 16, links[i] & 0xffff);
}

/* Links the runs of a warp to their roots, which are the tile components, numbers those and clears
 * the sums of the tile components of the first round. */
static __device__ __forceinline__ void
find_components (Tile &tile, const Place &place, uint32_t first_run, uint32_t end_run)
{
  uint32_t *const parent = tile.parent;
#pragma unroll 1
  for (uint32_t run = first_run + place.lane; run - place.lane < end_run; run += 32) {
    bool is_root = false;
    if (run < end_run) {
      uint32_t above = load_parent (parent, run);
      is_root = above == run;
#pragma unroll 1
      for (uint32_t next = load_parent (parent, above); next != above;
           next = load_parent (parent, above))
        above = next;
      atomicMin (&parent[run], above);
    }
    const uint32_t roots = __ballot_sync (FULL_WARP, is_root);
    uint32_t component = 0;
    if (place.lane == 0 && roots)
      component = atomicAdd (&tile.n_tile_components, __popc (roots));
    component = __shfl_sync (FULL_WARP, component, 0) + lanes_below (roots);
    if (is_root) {
      tile.component[run] = component;
      if (component < ROUND_COMPONENTS)
        clear_sums (tile, component);
    }
  }
}
