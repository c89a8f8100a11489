/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tile phase: a block labels its tile. */
#pragma once

#include "cuda/kernel-lib/dependent-launch.cuh"
#include "full-tile.cuh"
#include "tile-components.cuh"
#include "runs.cuh"

template <typename Pixel, int ROWS>
static __device__ __forceinline__ void
read_word (const Parameters &p, const Place &place, Word &word)
{
  const uint32_t x = place.tile_x + place.column, y = place.tile_y + place.row;
  uint32_t rows[2] = {0, 0};
  if (p.vectorised)
    words_of_aligned_rows<Pixel, ROWS> (p, x, y, rows);
  else
    words_of_unaligned_rows<Pixel> (p, x, y, ROWS, rows);
  word.top = rows[0];
  word.bottom = rows[ROWS - 1];
  word.occupied = rows[0] | rows[1];
}

static __device__ __forceinline__ void
clear_tile (Tile &tile)
{
  if (threadIdx.x < STRIPS + 1) {
    tile.occupied[threadIdx.x][0] = tile.occupied[threadIdx.x][WORDS + 1] = 0;
    tile.bottom[threadIdx.x][0] = tile.bottom[threadIdx.x][WORDS + 1] = 0;
  }
  if (threadIdx.x < WORDS)
    tile.occupied[0][threadIdx.x + 1] = tile.bottom[0][threadIdx.x + 1] = 0;
  tile.first_bits[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    tile.n_tile_components = tile.n_open = 0;
}

/* Writes the label map of a tile without foreground. */
static __device__ __forceinline__ void
clear_labels_of_tile (const Parameters &p, uint32_t tile_x, uint32_t tile_y, uint32_t rows)
{
  const uint32_t lane = lane_of_warp (), end_y = min (tile_y + rows, p.height);
  const uint32_t x = tile_x + lane * 4;
#pragma unroll 1
  for (uint32_t y = tile_y + threadIdx.x / 32; y < end_y; y += TILE_WARPS) {
    uint32_t *labels = p.labels + y * p.labels_stride + x;
    if (p.labels_vectorised && x + 4 <= p.width)
      __stcs ((uint4 *)labels, make_uint4 (0, 0, 0, 0));
    else
#pragma unroll 1
      for (uint32_t i = 0; i < 4 && x + i < p.width; i++)
        labels[i] = 0;
  }
}

template <int ROWS>
static __device__ __forceinline__ void
write_empty_tile (const Parameters &p, const Place &place)
{
  enum { TILE_ROWS = STRIPS * ROWS };
  if (threadIdx.x < TILE_ROWS && place.tile_y + threadIdx.x < p.height) {
    const uint32_t group = (place.tile_y + threadIdx.x) * p.tile_columns + place.tile_column;
    ((uint4 *)p.first_bits)[group] = make_uint4 (0, 0, 0, 0);
    if (p.labels)
      p.group_count[group] = 0;
  }
  if (threadIdx.x == 0)
    p.open_count[blockIdx.x] = 0;
  if (p.keeps_runs && threadIdx.x == 0)
    p.component_count[blockIdx.x] = 0;
  if (p.labels)
    clear_labels_of_tile (p, place.tile_x, place.tile_y, TILE_ROWS);
}

template <int ROWS>
static __device__ __forceinline__ void
write_word (const Parameters &p, const Place &place, const Word &word)
{
  const uint32_t row_words = p.tile_columns * WORDS, column = place.tile_column * WORDS + place.w;
  const uint32_t row = place.tile_y + place.row;
  p.bits[row * row_words + column] = word.top;
  if (ROWS == 2)
    p.bits[(row + 1) * row_words + column] = word.bottom;
  p.word_base[(place.tile_row * STRIPS + place.s) * row_words + column] = word.base;
}

/* has_full_tiles: whether many tiles are full, so that it pays to ask. */
template <typename Pixel, int ROWS, bool has_full_tiles = false>
static __device__ __forceinline__ void
label_tile (const Parameters &p)
{
  __shared__ Tile tile;
  const Place place = place_of_thread<ROWS> (p);
  let_next_kernel_start ();

  if (p.follows)
    wait_for_previous_kernel ();
  /* Until the next wait, only the frame and shared memory may be accessed. */
  Word word;
  read_word<Pixel, ROWS> (p, place, word);
  clear_tile (tile);
  const uint32_t n_runs = number_runs (tile, place, word);
  const bool is_empty = !__syncthreads_or (word.occupied);
  wait_for_previous_kernel ();
  if (is_empty) {
    write_empty_tile<ROWS> (p, place);
    return;
  }
  const uint32_t first_run = place.warp * WARP_RUNS, end_run = first_run + n_runs;
  const bool is_all = has_full_tiles && __syncthreads_and (is_full<ROWS> (p, place, word));
  if (p.keeps_runs)
    write_word<ROWS> (p, place, word);
  if (is_all) {
    write_full_tile<ROWS> (p, place, first_run, end_run);
    return;
  }

  const uint32_t n_links = link_to_strip_above<ROWS> (tile, place, word);
  __syncthreads ();
  join_runs (tile.parent, tile.links[place.warp], n_links, first_run, end_run);
  __syncthreads ();
  find_components (tile, place, first_run, end_run);
  __syncthreads ();

  const uint32_t n_tile_components = tile.n_tile_components;
#pragma unroll 1
  for (uint32_t round = 0; round < n_tile_components; round += ROUND_COMPONENTS) {
    const uint32_t in_round = min (n_tile_components - round, (uint32_t)ROUND_COMPONENTS);
    if (round > 0) {
      __syncthreads ();
#pragma unroll 1
      for (uint32_t i = threadIdx.x; i < in_round; i += TILE_THREADS)
        clear_sums (tile, i);
      __syncthreads ();
    }
    sum_pixels<ROWS> (tile, place, word, round, in_round);
    __syncthreads ();
    write_components<ROWS> (p, tile, place, round, in_round);
    write_edges<ROWS> (p, tile, place, round);
#pragma unroll 1
    for (uint32_t run = first_run + place.lane; p.keeps_runs && run < end_run; run += 32) {
      const uint32_t number = tile.component[tile.parent[run]] - round;
      if (number < in_round)
        p.run_component[blockIdx.x * TILE_RUNS + run] = round + number;
    }
  }
  __syncthreads ();
  write_first_bits<ROWS> (p, tile, place);
  if (threadIdx.x == 0) {
    p.open_count[blockIdx.x] = tile.n_open;
    if (p.keeps_runs)
      p.component_count[blockIdx.x] = n_tile_components;
  }
}
