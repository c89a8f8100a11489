/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the labels of a label map of any origin, of a frame or a volume: what
 * cpu/measure/measure-parts.c does on the CPU, in the same integers. A label may be in several
 * parts, and labels may touch.
 *
 * 1. add: a block has a tile, 32 pixels wide, of which each of its warps has some rows. A row of a
 *    tile is a word: its pixels are the bits of masks, one for each neighbour, of those pixels that
 *    have that neighbour in the same label. A run is a maximal sequence of pixels of a word with
 *    one label. What a run adds follows from its ends and from numbers of bits. The block adds runs
 *    up in a table in shared memory, in coordinates of the tile, which keeps sums in 32 bits, and
 *    then adds that to device memory, in up to 128 bits.
 * 2. finish: writes the sums of labels that are there to the host, and clears them for the next
 * run.
 * 3. signal: sets the completion flag.
 */
#include "cuda/kernel-lib/component-table.cuh"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "measure-map-parameters.h"
#include "map-part.cuh"
#include "core/measure/neighbourhood.h"
#include "core/label/preceding.h"
#include "cuda/kernel-lib/warp.cuh"

enum { ROWS_AT_ONCE = 4 }; /* of a warp */

struct Tile {
  uint32_t owners[N_SLOTS];
  uint32_t counts[N_COUNTS][N_SLOTS];
  uint32_t greatest_label;
};

/* A word of the map, and the thread's pixel of it. */
struct Word {
  uint32_t x, y, z; /* of the pixel */
  uint32_t row;     /* of the tile */
  uint32_t label;   /* 0 for pixels outside the map, too */
  uint32_t pixels;  /* those that are measured, a bit each */
};

/* Runs that a thread computes: the one of its pixel, or of a word that has only one, that one, so
 * that all threads have the same. */
struct Run {
  uint32_t label, begin, end;
  uint32_t mask;
  bool is_single, is_first; /* of the word; of the pixels of the run the first */
};

/* The label of a pixel, 0 outside the map. Coordinates before 0 are large numbers. */
static __device__ __forceinline__ uint32_t
label_at (const CclMapParameters &p, uint32_t x, uint32_t y, uint32_t z)
{
  if (x >= p.width || y >= p.height || z >= p.depth)
    return 0;
  return p.labels[z * p.label_slice + y * p.label_row + x];
}

/* The pixels from begin to before end of a word; end is greater. */
static __device__ __forceinline__ uint32_t
mask_of (uint32_t begin, uint32_t end)
{
  return FULL_WARP >> (32 - (end - begin)) << begin;
}

/* All threads of a warp take part. */
static __device__ __forceinline__ Run
find_run (const Word &word)
{
  const uint32_t lane = lane_of_warp ();
  const uint32_t before = __shfl_up_sync (FULL_WARP, word.label, 1);
  const bool continues = lane > 0 && before == word.label;
  const uint32_t starts = word.pixels & ~__ballot_sync (FULL_WARP, continues);
  const uint32_t bounds = starts | ~word.pixels;
  Run run;
  run.is_single = (starts & (starts - 1)) == 0;
  run.begin = run.is_single ? __ffs (starts) - 1 : lane;
  run.is_first = run.is_single || (starts >> lane & 1);
  const uint32_t behind = run.begin == 31 ? 0 : bounds >> (run.begin + 1);
  run.end = behind ? run.begin + __ffs (behind) : 32;
  run.label = __shfl_sync (FULL_WARP, word.label, run.begin);
  run.mask = mask_of (run.begin, run.end);
  return run;
}

/* ---- topology ---- */

/* For each preceding neighbour, the pixels of a word that have it in the same label. */
struct Around {
  uint32_t bits[CCL_N_PRECEDING];
};

/* All threads of a warp take part. */
static __device__ __forceinline__ Around
find_around (const CclMapParameters &p, const Word &word)
{
  Around around;
#pragma unroll
  for (uint32_t i = 0; i < CCL_N_PRECEDING; i++) {
    around.bits[i] = 0;
    if (i < 9 && !p.is_volume)
      continue;
    const uint32_t neighbour =
        label_at (p, word.x + i % 3 - 1, word.y + i / 3 % 3 - 1, word.z + i / 9 - 1);
    around.bits[i] = __ballot_sync (FULL_WARP, neighbour == word.label) & word.pixels;
  }
  return around;
}

/* What pixels add to the Euler number if they touch at faces only (in frames at edges): as points
 * that are joined to their neighbours by lines, squares and cubes, those that they complete. */
static __device__ __forceinline__ uint32_t
euler_by_faces (const Around &around, uint32_t pixels)
{
  const uint32_t north = around.bits[CCL_NORTH] & pixels, west = around.bits[CCL_WEST] & pixels;
  const uint32_t above = around.bits[CCL_ABOVE] & pixels;
  const uint32_t square = north & west & around.bits[CCL_NORTH_WEST];
  const uint32_t wall = west & above & around.bits[CCL_ABOVE_WEST];
  const uint32_t front = north & above & around.bits[CCL_ABOVE_NORTH];
  const uint32_t cube = square & wall & front & around.bits[CCL_ABOVE_NORTH_WEST];
  return __popc (pixels) - __popc (north) - __popc (west) - __popc (above) + __popc (square) +
         __popc (wall) + __popc (front) - __popc (cube);
}

/* The same if they touch at corners, too: as solid cubes, the cells that no pixel before has. */
static __device__ __forceinline__ uint32_t
euler_by_corners (const Around &around, uint32_t pixels)
{
  uint32_t sum = -__popc (pixels);
#pragma unroll
  for (uint32_t place = 0; place < CCL_N_PLACES; place++) {
    uint32_t taken = 0;
#pragma unroll
    for (uint32_t i = 0; i < CCL_N_PRECEDING; i++)
      if (ccl_cell_is_of (place, i))
        taken |= around.bits[i];
    if (place != CCL_OWN_PLACE)
      sum += ccl_cell_sign (place) * __popc (pixels & ~taken);
  }
  return sum;
}

static __device__ __forceinline__ void
add_topology (const CclMapParameters &p, const Around &around, const Run &run, Part &part)
{
  uint32_t inner = run.mask;
#pragma unroll
  for (uint32_t i = 0; i < CCL_N_PRECEDING; i++)
    if (i >= 9 || p.is_volume)
      inner &= around.bits[i];
  const uint32_t n_joined = __popc (around.bits[CCL_NORTH] & run.mask) +
                            __popc (around.bits[CCL_WEST] & run.mask) +
                            __popc (around.bits[CCL_ABOVE] & run.mask);
  const uint32_t outer = run.mask & ~inner; /* others add nothing to Euler numbers */
  part.counts[COUNT_crack_length] = (p.is_volume ? 6 : 4) * (run.end - run.begin) - 2 * n_joined;
  if (outer) {
    part.counts[COUNT_euler_number_4] = euler_by_faces (around, outer);
    part.counts[COUNT_euler_number_8] = euler_by_corners (around, outer);
  }
}

/* ---- perimeters of frames ---- */

/* Whether the pixel, which has that label, has a neighbour by an edge outside the label. */
static __device__ __forceinline__ bool
is_border (const CclMapParameters &p, uint32_t x, uint32_t y, uint32_t label)
{
  return label_at (p, x - 1, y, 0) != label || label_at (p, x + 1, y, 0) != label ||
         label_at (p, x, y - 1, 0) != label || label_at (p, x, y + 1, 0) != label;
}

static __device__ CclBorderKind
border_kind_of (const CclMapParameters &p, const Word &word)
{
  uint32_t n_edge = 0, n_corner = 0;
  if (!is_border (p, word.x, word.y, word.label))
    return CCL_BORDER_OTHER;
  for (uint32_t i = 0; i < 9; i++) {
    const uint32_t x = word.x + i % 3 - 1, y = word.y + i / 3 - 1;
    if (i == 4 || label_at (p, x, y, 0) != word.label || !is_border (p, x, y, word.label))
      continue;
    if (i % 2)
      n_edge++;
    else
      n_corner++;
  }
  return ccl_border_kind (n_edge, n_corner);
}

/* All threads of a warp take part. */
static __device__ __forceinline__ void
add_borders (const CclMapParameters &p, const Word &word, const Run &run, Part &part)
{
  const bool is_measured = word.pixels >> lane_of_warp () & 1;
  const CclBorderKind kind = is_measured ? border_kind_of (p, word) : CCL_BORDER_OTHER;
  const uint32_t straight = __ballot_sync (FULL_WARP, kind == CCL_BORDER_STRAIGHT);
  const uint32_t diagonal = __ballot_sync (FULL_WARP, kind == CCL_BORDER_DIAGONAL);
  const uint32_t mixed = __ballot_sync (FULL_WARP, kind == CCL_BORDER_MIXED);
  part.counts[COUNT_n_straight] = __popc (straight & run.mask);
  part.counts[COUNT_n_diagonal] = __popc (diagonal & run.mask);
  part.counts[COUNT_n_mixed] = __popc (mixed & run.mask);
}

/* ---- values ---- */

static __device__ __forceinline__ uint32_t
value_at (const CclMapParameters &p, const Word &word)
{
  const uint8_t *const value =
      p.values + word.z * p.value_slice + word.y * p.value_row + (uint64_t)word.x * p.value_bytes;
  if (p.value_bytes == 1)
    return *value;
  return p.values_are_aligned ? *(const uint16_t *)value : value[0] | value[1] << 8;
}

/* Sums the values of the run of each thread's pixel. All threads of a warp take part. */
static __device__ __forceinline__ void
add_values (const CclMapParameters &p, const Word &word, const Run &run, Part &part)
{
  const uint32_t lane = lane_of_warp ();
  const uint32_t value = word.pixels >> lane & 1 ? value_at (p, word) : 0;
  const uint32_t end = run.is_single && lane >= run.end ? lane + 1 : run.end;
  const ValueTotals totals = totals_of_lane (sum_values_of_lanes (value, end), run.begin);
  set_words_of_row<LOWER_BITS> (
      &part.counts[VALUES], &part.counts[VALUE_Z], totals, word.row, p.tile_y_shift);
}

/* ---- add ---- */

static __device__ __forceinline__ CclMeasures *
measures_of (const CclMapParameters &p, uint32_t label)
{
  return p.measures ? &p.measures[label - 1] : NULL;
}

/* Adds a part to the slot of its label, or to the map if the tile has none for it. */
template <uint32_t FLAGS>
static __device__ __forceinline__ void
add_to_tile (
    const CclMapParameters &p, Tile &tile, const Corner &corner, uint32_t label, const Part &part)
{
  const uint32_t slot = find_slot (tile.owners, label);
  if (slot == N_SLOTS) {
    const Part copy = part;
    add_to_map<FLAGS> (&p.parts[label - 1], measures_of (p, label), p.columns, corner, copy);
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < N_COUNTS; i++)
    if (is_measured<FLAGS> (i) && part.counts[i]) {
      if (i < FIRST_MAXIMUM)
        atomicAdd (&tile.counts[i][slot], part.counts[i]);
      else
        atomicMax (&tile.counts[i][slot], part.counts[i]);
    }
}

/* The sums of the words of a warp that have one run, as long as it is of one label: the same in all
 * of its threads. */
struct Pending {
  uint32_t label; /* 0: none */
  Part part;
};

/* Adds a part of the pending label. */
template <uint32_t FLAGS>
static __device__ __forceinline__ void
add_to_pending (Pending &pending, const Part &part)
{
#pragma unroll
  for (uint32_t i = 0; i < N_COUNTS; i++)
    if (is_measured<FLAGS> (i))
      pending.part.counts[i] = i < FIRST_MAXIMUM ? pending.part.counts[i] + part.counts[i]
                                                 : max (pending.part.counts[i], part.counts[i]);
}

/* Adds the part of a run. That of the only run of a word becomes pending; pending sums of another
 * label are added to the tile then. One call of add_to_tile() serves all, which saves registers. */
template <uint32_t FLAGS>
static __device__ __forceinline__ void
add_run (const CclMapParameters &p, Tile &tile, const Corner &corner, Pending &pending,
    const Run &run, Part part)
{
  uint32_t label = run.label;
  bool is_added = run.is_first;
  if (run.is_single) {
    if (label == pending.label) {
      add_to_pending<FLAGS> (pending, part);
      return;
    }
    const Pending before = pending;
    pending = {label, part};
    label = before.label;
    part = before.part;
    is_added = label && lane_of_warp () == 0;
  }
  if (is_added)
    add_to_tile<FLAGS> (p, tile, corner, label, part);
}

/* Adds the runs of a word. All threads of a warp take part. */
template <uint32_t FLAGS>
static __device__ __forceinline__ void
add_word (
    const CclMapParameters &p, Tile &tile, const Corner &corner, Pending &pending, const Word &word)
{
  const uint32_t y = word.row & bits_below (p.tile_y_shift), z = word.row >> p.tile_y_shift;
  const Run run = find_run (word);
  Part part = {};
  add_coordinates (part, run.begin, run.end, y, z);
  add_box (part, corner, run.begin, run.end, word.row, word.y, word.z);
  if (FLAGS & CUDACCL_MAP_NEIGHBOURS) {
    add_topology (p, find_around (p, word), run, part);
    if (p.columns & CUDACCL_COLUMN_PERIMETER)
      add_borders (p, word, run, part);
  }
  if (FLAGS & CUDACCL_MAP_VALUES)
    add_values (p, word, run, part);
  add_run<FLAGS> (p, tile, corner, pending, run, part);
}

template <uint32_t FLAGS>
static __device__ __forceinline__ void
clear_tile (Tile &tile)
{
  if (threadIdx.x == 0)
    tile.greatest_label = 0;
  for (uint32_t slot = threadIdx.x; slot < N_SLOTS; slot += blockDim.x) {
    tile.owners[slot] = NO_COMPONENT;
#pragma unroll
    for (uint32_t i = 0; i < N_COUNTS; i++)
      if (is_measured<FLAGS> (i))
        tile.counts[i][slot] = 0;
  }
  __syncthreads ();
}

/* Adds the sums of the tile to those of the map. */
template <uint32_t FLAGS>
static __device__ __forceinline__ void
add_tile_to_map (const CclMapParameters &p, const Tile &tile, const Corner &corner)
{
  for (uint32_t slot = threadIdx.x; slot < N_SLOTS; slot += blockDim.x)
    if (tile.owners[slot] != NO_COMPONENT) {
      Part part;
#pragma unroll
      for (uint32_t i = 0; i < N_COUNTS; i++)
        if (is_measured<FLAGS> (i))
          part.counts[i] = tile.counts[i][slot];
      const uint32_t label = tile.owners[slot];
      add_to_map<FLAGS> (&p.parts[label - 1], measures_of (p, label), p.columns, corner, part);
    }
  if (threadIdx.x == 0 && tile.greatest_label > *(volatile uint32_t *)p.greatest_label)
    atomicMax (p.greatest_label, tile.greatest_label);
}

/* A row of the tile. */
static __device__ __forceinline__ Word
word_at (const CclMapParameters &p, const Corner &corner, uint32_t row, bool exists)
{
  Word word;
  word.row = row;
  word.x = corner.x + lane_of_warp ();
  word.y = corner.y + (row & bits_below (p.tile_y_shift));
  word.z = corner.z + (row >> p.tile_y_shift);
  word.label = exists ? label_at (p, word.x, word.y, word.z) : 0;
  word.pixels = 0;
  return word;
}

template <uint32_t FLAGS>
static __device__ __forceinline__ void
add_tile (const CclMapParameters &p)
{
  __shared__ Tile tile;
  let_next_kernel_start ();
  const Corner corner = corner_of_tile (p, blockIdx.x);
  const uint32_t warp_rows_shift = p.rows_shift - CUDACCL_MAP_WARPS_SHIFT;
  const uint32_t first_row = threadIdx.x / 32 << warp_rows_shift;
  uint32_t greatest = 0;
  Pending pending = {};
  clear_tile<FLAGS> (tile);
  const uint32_t end_row = first_row + (1u << warp_rows_shift);
  for (uint32_t row = first_row; row < end_row; row += ROWS_AT_ONCE) {
    Word words[ROWS_AT_ONCE]; /* loads that do not wait for each other */
#pragma unroll
    for (uint32_t i = 0; i < ROWS_AT_ONCE; i++)
      words[i] = word_at (p, corner, row + i, row + i < end_row);
#pragma unroll 1
    for (uint32_t i = 0; i < ROWS_AT_ONCE; i++) {
      Word word = words[0];
#pragma unroll
      for (uint32_t k = 1; k < ROWS_AT_ONCE; k++)
        words[k - 1] = words[k];
      word.pixels = __ballot_sync (FULL_WARP, word.label != 0 && word.label <= p.n_rows);
      greatest = max (greatest, word.label);
      if (word.pixels)
        add_word<FLAGS> (p, tile, corner, pending, word);
    }
  }
  if (pending.label && lane_of_warp () == 0)
    add_to_tile<FLAGS> (p, tile, corner, pending.label, pending.part);
  greatest = reduce_max (FULL_WARP, greatest);
  if (lane_of_warp () == 0)
    atomicMax (&tile.greatest_label, greatest);
  __syncthreads ();
  add_tile_to_map<FLAGS> (p, tile, corner);
}

/* One block for each tile. The number says which flags a kernel has. */
#define ADD_KERNEL(flags)                                                                          \
  extern "C" __global__ void __launch_bounds__ (CUDACCL_MAP_THREADS, CUDACCL_MAP_BLOCKS)           \
      ccl_measure_map_add_##flags (const CclMapParameters p)                                       \
  {                                                                                                \
    add_tile<flags> (p);                                                                           \
  }
ADD_KERNEL (0)
ADD_KERNEL (1)
ADD_KERNEL (2)
ADD_KERNEL (3)
ADD_KERNEL (4)
ADD_KERNEL (5)
ADD_KERNEL (6)
ADD_KERNEL (7)

/* ---- finish and signal ---- */

/* Any number of threads; they write words, so that rows cross the bus in whole lines. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_THREADS) ccl_measure_map_finish (const CclMapParameters p)
{
  const uint32_t part_words = sizeof (CclPart) / 4, measure_words = sizeof (CclMeasures) / 4;
  const uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const uint64_t n_threads = (uint64_t)gridDim.x * blockDim.x;
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint64_t n_rows = min (*p.greatest_label, p.n_rows);
  for (uint64_t i = thread; i < n_rows * part_words; i += n_threads)
    finish_word ((uint32_t *)p.result_parts, (uint32_t *)p.parts, i, part_words, minima_of_part);
  for (uint64_t i = thread; p.measures && i < n_rows * measure_words; i += n_threads)
    finish_word ((uint32_t *)p.result_measures, (uint32_t *)p.measures, i, measure_words,
        minima_of_measures);
}

/* One thread. */
extern "C" __global__ void
ccl_measure_map_signal (const CclMapParameters p)
{
  wait_for_previous_kernel ();
  p.head->greatest_label = *p.greatest_label;
  *p.greatest_label = 0;
  __threadfence_system ();
  *(volatile uint32_t *)&p.head->finished = 1;
}
