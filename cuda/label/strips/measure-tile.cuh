/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The measure phase, beside the merge phase: what is measured of the tile components of a tile,
 * from its bits and runs. */
#pragma once

#include "component-features.cuh"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "part-sums.cuh"

enum {
  COLUMNS_THREADS = CUDACCL_STRIPS_COLUMNS_THREADS,
  MEASURED_COMPONENTS = 256, /* whose sums fit into shared memory at a time */
  MARGIN = 2,                /* pixels around a word that the perimeter depends on */
};

/* What a block needs of its tile. */
template <int ROWS, bool NEIGHBOURS, bool VALUES> struct MeasuredTile {
  enum {
    N_WORDS = CUDACCL_STRIPS_COLUMN_WORDS (NEIGHBOURS, VALUES),
    TILE_ROWS = STRIPS * ROWS,
  };
  alignas (16) uint32_t sums[MEASURED_COMPONENTS][N_WORDS];
  alignas (16) uint16_t run_component[TILE_RUNS];
  uint16_t occupied[STRIPS][WORDS], base[STRIPS][WORDS];
  /* The foreground with its margins. */
  uint16_t bits[NEIGHBOURS ? TILE_ROWS + 2 * MARGIN : 1][WORDS + 2];
};

/* The tile and the word of a thread. */
struct MeasuredPlace {
  uint32_t number, tile_column, tile_row;
  uint32_t w, s, column, row; /* the word, and its first pixel in the tile */
  uint32_t tile_x, tile_y;    /* the tile's first pixel in the frame */
};

template <int ROWS>
static __device__ __forceinline__ MeasuredPlace
measured_place (const Parameters &p, uint32_t number)
{
  MeasuredPlace place;
  place.number = number;
  place.tile_row = quotient (number, p.tile_columns, p.tile_columns_inverse);
  place.tile_column = number - place.tile_row * p.tile_columns;
  place.w = threadIdx.x % WORDS;
  place.s = threadIdx.x / WORDS;
  place.column = place.w * WORD_WIDTH;
  place.row = place.s * ROWS;
  place.tile_x = place.tile_column * TILE_WIDTH;
  place.tile_y = place.tile_row * STRIPS * ROWS;
  return place;
}

/* The number of 16 columns of the frame's bits, which tiles without foreground do not write.
 * Coordinates left of or above the frame are large numbers. */
template <int ROWS>
static __device__ __forceinline__ uint32_t
load_bits (const Parameters &p, uint32_t column, uint32_t row)
{
  if (column >= p.tile_columns * WORDS || row >= p.tile_rows * STRIPS * ROWS)
    return 0;
  const uint32_t tile = row / (STRIPS * ROWS) * p.tile_columns + column / WORDS;
  const uint32_t bits = p.bits[row * (p.tile_columns * WORDS) + column];
  return p.component_count[tile] ? bits : 0;
}

/* Loads the margins of a tile: two rows above and below it, and a word on each side. */
template <int ROWS, bool VALUES>
static __device__ __forceinline__ void
load_margins (
    const Parameters &p, MeasuredTile<ROWS, true, VALUES> &tile, const MeasuredPlace &place)
{
  enum { TILE_ROWS = STRIPS * ROWS, BESIDE = 2 * TILE_ROWS, ABOVE = 2 * MARGIN * (WORDS + 2) };
  static_assert (BESIDE + ABOVE <= COLUMNS_THREADS, "a thread loads one word");
  uint32_t row, column;
  if (threadIdx.x < BESIDE) {
    row = MARGIN + threadIdx.x / 2;
    column = threadIdx.x % 2 * (WORDS + 1);
  } else if (threadIdx.x < BESIDE + ABOVE) {
    const uint32_t i = threadIdx.x - BESIDE;
    row = i / (WORDS + 2);
    row = row < MARGIN ? row : row + TILE_ROWS;
    column = i % (WORDS + 2);
  } else
    return;
  tile.bits[row][column] =
      load_bits<ROWS> (p, place.tile_column * WORDS + column - 1, place.tile_y + row - MARGIN);
}

template <int ROWS, bool VALUES>
static __device__ __forceinline__ void
load_margins (const Parameters &, MeasuredTile<ROWS, false, VALUES> &, const MeasuredPlace &)
{
}

/* The foreground around a word. */
template <int ROWS, bool NEIGHBOURS, bool VALUES>
static __device__ __forceinline__ NeighbourMasks
neighbours_of (const MeasuredTile<ROWS, NEIGHBOURS, VALUES> &tile, const MeasuredPlace &place)
{
  Surroundings around;
#pragma unroll
  for (uint32_t i = 0; i < 6; i++) {
    const uint16_t *const words = &tile.bits[place.row + i][place.w];
    around.rows[i] = words[0] >> (WORD_WIDTH - MARGIN) | (uint32_t)words[1] << MARGIN |
                     (words[2] & 3u) << (MARGIN + WORD_WIDTH);
  }
  return masks_of (around);
}

/* Whether a word is a maximum. */
template <bool VALUES>
static __device__ __forceinline__ constexpr bool
is_maximum (uint32_t word, uint32_t values_at)
{
  return VALUES && word >= values_at + LEAST;
}

/* Adds the sums of every lane to its tile component (NOTHING: none). Those of lanes with the same
 * tile component as the first lane are reduced first. */
template <bool VALUES, int N_USED, int N_WORDS>
static __device__ __forceinline__ void
add_sums_by_warp (uint32_t all[][N_WORDS], uint32_t component, uint32_t sums[N_WORDS])
{
  enum { VALUES_AT = N_USED - (VALUES ? (int)N_VALUE_WORDS : 0) };
  const uint32_t waiting = __ballot_sync (FULL_WARP, component != NOTHING);
  const uint32_t first_lane = __ffs (waiting) - 1;
  const uint32_t shared_component = __shfl_sync (FULL_WARP, component, first_lane);
  const uint32_t sharing = __ballot_sync (FULL_WARP, component == shared_component);
  if (__popc (sharing) > 2 && component == shared_component) {
#pragma unroll
    for (uint32_t i = 0; i < N_USED; i++)
      sums[i] = is_maximum<VALUES> (i, VALUES_AT) ? reduce_max (sharing, sums[i])
                                                  : reduce_add (sharing, sums[i]);
    if (lane_of_warp () != first_lane)
      component = NOTHING;
  }
  if (component == NOTHING)
    return;
#pragma unroll
  for (uint32_t i = 0; i < N_USED; i++)
    if (is_maximum<VALUES> (i, VALUES_AT))
      atomicMax (&all[component][i], sums[i]);
    else if (sums[i])
      atomicAdd (&all[component][i], sums[i]);
}

/* Takes the next parts of a word that belong to one tile component of the round. Returns its number
 * in the round, or NOTHING. */
template <typename Tile>
static __device__ __forceinline__ uint32_t
next_component (const Tile &tile, uint32_t round, uint32_t in_round, uint32_t pixels,
    uint32_t &rest, uint32_t &run, uint32_t &its_pixels)
{
  uint32_t component = NOTHING;
  its_pixels = 0;
#pragma unroll 1
  while (rest) {
    const uint32_t part = lowest_run (rest);
    const uint32_t number = tile.run_component[run] - round;
    if (number < in_round) {
      if (component != NOTHING && number != component)
        break;
      component = number;
      its_pixels |= pixels & (part | part << WORD_WIDTH);
    }
    rest ^= part;
    run++;
  }
  return component;
}

/* Sums up the tile components of a round over this thread's word. */
template <int ROWS, bool NEIGHBOURS, bool VALUES>
static __device__ __forceinline__ void
sum_word (const CclStripsColumnsParameters &p, MeasuredTile<ROWS, NEIGHBOURS, VALUES> &tile,
    const MeasuredPlace &place, uint32_t pixels, const NeighbourMasks &neighbours,
    const Bytes &bytes, uint32_t round, uint32_t in_round)
{
  typedef MeasuredTile<ROWS, NEIGHBOURS, VALUES> Tile;
  enum {
    VALUES_AT = N_MOMENTS + (NEIGHBOURS ? (int)CUDACCL_NEIGHBOUR_COUNTS : 0),
    N_USED = VALUES_AT + (VALUES ? (int)N_VALUE_WORDS : 0),
  };
  uint32_t rest = tile.occupied[place.s][place.w], run = tile.base[place.s][place.w];
  /* The first part may continue a run of the word before; then the base is one less. */
#pragma unroll 1
  while (__any_sync (FULL_WARP, rest)) {
    uint32_t its_pixels;
    const uint32_t component =
        next_component (tile, round, in_round, pixels, rest, run, its_pixels);
    __syncwarp ();
    uint32_t sums[Tile::N_WORDS] = {};
    sum_moments (sums, its_pixels, place.column, place.row);
    if (NEIGHBOURS)
      count_neighbours (&sums[N_MOMENTS], neighbours, its_pixels);
    if (VALUES)
      sum_values<ROWS> (&sums[VALUES_AT], p, bytes, its_pixels,
          WordPlace{
              place.column, place.row, place.tile_x + place.column, place.tile_y + place.row});
    if (__any_sync (FULL_WARP, component != NOTHING))
      add_sums_by_warp<VALUES, N_USED, Tile::N_WORDS> (tile.sums, component, sums);
  }
}

/* The number of the tile component at a pixel of the tile that is foreground. */
template <typename Tile>
static __device__ __forceinline__ uint32_t
component_at (const Tile &tile, uint32_t s, uint32_t column)
{
  const uint32_t w = column / WORD_WIDTH;
  return tile.run_component[tile.base[s][w] - 1 +
                            parts_through (tile.occupied[s][w], column % WORD_WIDTH)];
}

/* Writes the tile components of a round, and again those that are open, in coordinates of the
 * frame. */
template <int ROWS, bool NEIGHBOURS, bool VALUES>
static __device__ __forceinline__ void
write_sums (const CclStripsColumnsParameters &p, const MeasuredTile<ROWS, NEIGHBOURS, VALUES> &tile,
    const MeasuredPlace &place, uint32_t n_open, uint32_t round, uint32_t in_round)
{
  enum { N_WORDS = MeasuredTile<ROWS, NEIGHBOURS, VALUES>::N_WORDS, UNITS = N_WORDS / 4 };
  const CclStripsSums &f = p.strips.sums;
  uint4 *const words =
      (uint4 *)(p.tile_words + (place.number * TILE_RUNS + round) * (size_t)N_WORDS);
  for (uint32_t i = threadIdx.x; i < in_round * UNITS; i += COLUMNS_THREADS)
    words[i] = ((const uint4 *)tile.sums)[i];
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < n_open; i += COLUMNS_THREADS) {
    const uint32_t open = place.number * CUDACCL_STRIPS_TILE_OPEN + i;
    const uint32_t pixel = p.strips.open_first[open];
    const uint32_t row_pixels = p.strips.tile_columns * GROUP_WIDTH, y = pixel / row_pixels;
    const uint32_t component =
        component_at (tile, (y - place.tile_y) / ROWS, pixel - y * row_pixels - place.tile_x) -
        round;
    if (component < in_round)
      p.open[open] = open_features (features_from_words (p.columns, tile.sums[component],
          f.area[open], f.sum_x[open], f.sum_y[open], place.tile_x, place.tile_y));
  }
}

/* A block measures a tile, by rounds of tile components. */
template <int ROWS, bool NEIGHBOURS, bool VALUES>
static __device__ __forceinline__ void
measure_tile (const CclStripsColumnsParameters &columns, uint32_t number)
{
  __shared__ MeasuredTile<ROWS, NEIGHBOURS, VALUES> tile;
  const Parameters &p = columns.strips;
  const MeasuredPlace place = measured_place<ROWS> (p, number);
  const uint32_t row_words = p.tile_columns * WORDS;
  const uint32_t word = place.tile_column * WORDS + place.w, y = place.tile_y + place.row;
  Bytes bytes;
  let_next_kernel_start ();
  if (VALUES) /* was complete before the first kernel began */
    load_bytes<ROWS> (columns, place.tile_x + place.column, y, bytes);
  wait_for_previous_kernel ();

  /* All is loaded before the number of tile components is needed, so that the latencies overlap. */
  const uint32_t n_components = p.component_count[number], n_open = p.open_count[number];
  const uint4 components = ((const uint4 *)(p.run_component + number * TILE_RUNS))[threadIdx.x];
  const uint32_t base = p.word_base[(place.tile_row * STRIPS + place.s) * row_words + word];
  uint32_t pixels = p.bits[y * row_words + word];
  if (ROWS == 2)
    pixels |= (uint32_t)p.bits[(y + 1) * row_words + word] << WORD_WIDTH;
  if (n_components == 0)
    return;
  load_margins (p, tile, place);
  ((uint4 *)tile.run_component)[threadIdx.x] = components;
  tile.base[place.s][place.w] = base;
  tile.occupied[place.s][place.w] = pixels | pixels >> WORD_WIDTH;
  if (NEIGHBOURS)
    for (uint32_t i = 0; i < ROWS; i++)
      tile.bits[MARGIN + place.row + i][1 + place.w] = pixels >> i * WORD_WIDTH;
  NeighbourMasks neighbours;
#pragma unroll 1
  for (uint32_t round = 0; round < n_components; round += MEASURED_COMPONENTS) {
    enum { UNITS = MeasuredTile<ROWS, NEIGHBOURS, VALUES>::N_WORDS / 4 };
    const uint32_t in_round = min (n_components - round, (uint32_t)MEASURED_COMPONENTS);
    for (uint32_t i = threadIdx.x; i < in_round * UNITS; i += COLUMNS_THREADS)
      ((uint4 *)tile.sums)[i] = make_uint4 (0, 0, 0, 0);
    __syncthreads ();
    if (NEIGHBOURS && round == 0)
      neighbours = neighbours_of (tile, place);
    sum_word (columns, tile, place, pixels, neighbours, bytes, round, in_round);
    __syncthreads ();
    write_sums (columns, tile, place, n_open, round, in_round);
    __syncthreads ();
  }
}
