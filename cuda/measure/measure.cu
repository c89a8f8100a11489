/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The features of components, from the label map: what cpu/measure/measure.c does on the CPU. All
 * are integers, so the order in which threads add does not matter.
 *
 * 1. add: a thread has a patch of 4×4 pixels, a warp 32 patches side by side, a block a tile of
 *    them. The pixels of a patch are bits of a word; sums of their coordinates are numbers of bits.
 *    The block adds the sums of patches up in a table in shared memory, which is added to device
 *    memory. Coordinates of the tile keep them in 32 bits.
 * 2. finish: writes the sums of device memory to the result, and clears them for the next frame.
 * 3. signal: sets the completion flag.
 *
 * What depends on neighbours is computed for all pixels of a patch at once, from the foreground of
 * 8×8 pixels around it: pixels that touch at an edge have the same label, or one of them is
 * background. With 4-connectivity, labels are compared where pixels touch at a corner only.
 */
#include "cuda/kernel-lib/component-table.cuh"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "measure-parameters.h"
#include "neighbours.cuh"
#include "patch.cuh"
#include "totals.cuh"
#include "cuda/driver/tuning.h"
#include "cuda/kernel-lib/warp.cuh"

enum {
  WIDTH = CUDACCL_MEASURE_TILE_WIDTH,
  HEIGHT = CUDACCL_MEASURE_TILE_HEIGHT,
};

/* What is summed of a part of a component, x and y in coordinates of its tile. A sum over values
 * takes two words (split_total()): a tile has 2^8 patches of 16 values. Maxima come last; the least
 * value is the maximum of the complement. */
enum Count {
  N_PIXELS,
  X,
  Y,
  XX,
  YY,
  XY,
  STRAIGHT,
  DIAGONAL,
  MIXED,
  QUADS_1,
  QUADS_2,
  QUADS_3,
  QUADS_DIAGONAL,
  VALUE,
  SQUARES = VALUE + 2,
  VALUE_X = SQUARES + 2,
  VALUE_Y = VALUE_X + 2,
  LEAST = VALUE_Y + 2,
  GREATEST,
  N_COUNTS
};

struct Part {
  uint32_t counts[N_COUNTS];
};

struct Tile {
  uint32_t greatest_label;
  Foreground foreground;

  /* The components of the tile, a slot each. */
  uint32_t owners[N_SLOTS];
  uint32_t counts[N_COUNTS][N_SLOTS];
};

/* Which counts a kernel needs. */
template <bool NEIGHBOURS, bool VALUES>
static __device__ __forceinline__ constexpr bool
is_needed (uint32_t count)
{
  return count < STRAIGHT || (count < VALUE ? NEIGHBOURS : VALUES);
}

/* ---- from parts to the sums of the frame ---- */

static __device__ __forceinline__ void
add_word (uint32_t *to, uint32_t value)
{
  if (value)
    atomicAdd (to, value);
}

static __device__ __forceinline__ void
raise_word (uint32_t *to, uint32_t value)
{
  if (value > *to)
    atomicMax (to, value);
}

/* Adds a part of the block's tile to the component with that label, in coordinates of the frame. */
static __device__ void
add_to_frame (const CclMeasureParameters &p, uint32_t label, const Part &part)
{
  const Long left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
  const uint32_t *const c = part.counts;
  const Long n = c[N_PIXELS], x = c[X], y = c[Y];
  CclFeatures *const sums = &p.sums[label - 1];
  if (p.columns & CUDACCL_COLUMN_SUMS) {
    add_long (&sums->sum_x, n * left + x);
    add_long (&sums->sum_y, n * top + y);
  }
  if (p.columns & CUDACCL_COLUMN_MOMENTS) {
    add_long (&sums->sum_xx, (n * left + 2 * x) * left + c[XX]);
    add_long (&sums->sum_yy, (n * top + 2 * y) * top + c[YY]);
    add_long (&sums->sum_xy, (n * left + x) * top + y * left + c[XY]);
  }
  if (p.columns & CUDACCL_COLUMN_PERIMETER) {
    add_word (&sums->n_straight, c[STRAIGHT]);
    add_word (&sums->n_diagonal, c[DIAGONAL]);
    add_word (&sums->n_mixed, c[MIXED]);
  }
  if (p.columns & CUDACCL_COLUMN_TOPOLOGY) {
    add_word (&sums->n_quads_1, c[QUADS_1]);
    add_word (&sums->n_quads_2, c[QUADS_2]);
    add_word (&sums->n_quads_3, c[QUADS_3]);
    add_word (&sums->n_quads_diagonal, c[QUADS_DIAGONAL]);
  }
  if (p.columns & CUDACCL_COLUMN_INTENSITY) {
    const Long value = join_total (&c[VALUE]);
    add_long (&sums->sum_value, value);
    add_long (&sums->sum_squares, join_total (&c[SQUARES]));
    add_long (&sums->sum_value_x, value * left + join_total (&c[VALUE_X]));
    add_long (&sums->sum_value_y, value * top + join_total (&c[VALUE_Y]));
    raise_word (&sums->least_value, c[LEAST]);
    raise_word (&sums->greatest_value, c[GREATEST]);
  }
}

/* Adds a part to the component's slot of the tile; to the frame if the tile has none for it. */
template <bool NEIGHBOURS, bool VALUES>
static __device__ __forceinline__ void
add_to_tile (const CclMeasureParameters &p, Tile &tile, uint32_t label, const Part &part)
{
  if (label == 0 || label > p.n_rows)
    return;
  const uint32_t slot = find_slot (tile.owners, label);
  if (slot == N_SLOTS) {
    add_to_frame (p, label, part);
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < N_COUNTS; i++)
    if (is_needed<NEIGHBOURS, VALUES> (i) && part.counts[i]) {
      if (i < LEAST)
        atomicAdd (&tile.counts[i][slot], part.counts[i]);
      else
        atomicMax (&tile.counts[i][slot], part.counts[i]);
    }
}

/* Adds the parts of a warp. Those of lanes with the same component as the first one that has any
 * are reduced first, which are most lanes inside a large component. */
template <bool NEIGHBOURS, bool VALUES>
static __device__ __forceinline__ void
add_warp_to_tile (const CclMeasureParameters &p, Tile &tile, uint32_t label, Part &part)
{
  const uint32_t with_label = __ballot_sync (FULL_WARP, label != 0);
  if (!with_label)
    return;
  const uint32_t first = __ffs (with_label) - 1;
  const uint32_t shared_label = __shfl_sync (FULL_WARP, label, first);
  const uint32_t sharing = __ballot_sync (FULL_WARP, label == shared_label);
  if (__popc (sharing) > 2 && label == shared_label) {
#pragma unroll
    for (uint32_t i = 0; i < N_COUNTS; i++)
      if (is_needed<NEIGHBOURS, VALUES> (i))
        part.counts[i] =
            i < LEAST ? reduce_add (sharing, part.counts[i]) : reduce_max (sharing, part.counts[i]);
    if (lane_of_warp () != first)
      label = 0;
  }
  add_to_tile<NEIGHBOURS, VALUES> (p, tile, label, part);
}

/* ---- parts of patches ---- */

/* Sums the coordinates of pixels of a patch at (x, y) of the tile. */
static __device__ __forceinline__ void
sum_coordinates (Part &part, uint32_t pixels, uint32_t x, uint32_t y)
{
  const PatchSums sums = sums_of_patch (pixels);
  uint32_t *const c = part.counts;
  c[N_PIXELS] = sums.n;
  c[X] = sums.n * x + sums.x;
  c[Y] = sums.n * y + sums.y;
  c[XX] = (sums.n * x + 2 * sums.x) * x + sums.xx;
  c[YY] = (sums.n * y + 2 * sums.y) * y + sums.yy;
  c[XY] = (sums.n * x + sums.x) * y + sums.y * x + sums.xy;
}

/* Counts the neighbours of pixels of a patch. around: the foreground around it. */
static __device__ __forceinline__ void
count_neighbours (Part &part, const Neighbours &neighbours, uint32_t pixels)
{
  const Board board = board_of_patch (pixels);
  const BorderBoards borders = border_boards (neighbours);
  part.counts[STRAIGHT] = __popcll (borders.straight & board);
  part.counts[DIAGONAL] = __popcll (borders.diagonal & board);
  part.counts[MIXED] = __popcll (borders.mixed & board);
  const QuadCounts quads = count_quads (neighbours, board);
  part.counts[QUADS_1] = quads.n_1;
  part.counts[QUADS_2] = quads.n_2;
  part.counts[QUADS_3] = quads.n_3;
  part.counts[QUADS_DIAGONAL] = quads.n_diagonal;
}

/* Sums the values of pixels of a patch at (x, y) of the tile. */
static __device__ __forceinline__ void
sum_values (Part &part, const Patch &values, uint32_t pixels, uint32_t x, uint32_t y)
{
  uint32_t sum = 0, sum_x = 0, sum_y = 0;
  Long squares = 0;
#pragma unroll
  for (uint32_t i = 0; i < PATCH_PIXELS; i++)
    if (pixels >> i & 1) {
      const uint32_t value = values.pixels[i];
      sum += value;
      sum_x += value * (i % PATCH);
      sum_y += value * (i / PATCH);
      squares += (Long)value * value;
      part.counts[LEAST] = max (part.counts[LEAST], ~value);
      part.counts[GREATEST] = max (part.counts[GREATEST], value);
    }
  split_total (&part.counts[VALUE], sum);
  split_total (&part.counts[SQUARES], squares);
  split_total (&part.counts[VALUE_X], (Long)sum * x + sum_x);
  split_total (&part.counts[VALUE_Y], (Long)sum * y + sum_y);
}

/* ---- add ---- */

static __device__ __forceinline__ void
clear_tile (Tile &tile)
{
  if (threadIdx.x == 0)
    tile.greatest_label = 0;
  for (uint32_t slot = threadIdx.x; slot < N_SLOTS; slot += blockDim.x) {
    tile.owners[slot] = NO_COMPONENT;
    for (uint32_t i = 0; i < N_COUNTS; i++)
      tile.counts[i][slot] = 0;
  }
}

/* Adds the thread's patch to the tile. Returns the greatest label. */
template <bool NEIGHBOURS, bool VALUES>
static __device__ __forceinline__ uint32_t
add_patch (const CclMeasureParameters &p, Tile &tile, const Patch &labels, uint32_t left)
{
  const uint32_t lane = lane_of_warp (), warp = threadIdx.x / 32;
  const uint32_t x = lane * PATCH, y = warp * PATCH;
  uint32_t greatest = 0;
  Neighbours neighbours;
  Patch values;
  if (NEIGHBOURS && left)
    neighbours = neighbours_of (p, tile.foreground, lane, warp);
  if (VALUES && left)
    values = load_values (p, blockIdx.x * WIDTH + x, blockIdx.y * HEIGHT + y);
  /* All lanes add their first component, then each the others that it has. */
  for (bool is_first = true; is_first || left; is_first = false) {
    uint32_t label = 0;
    Part part = {};
    if (left) {
      label = label_of_first (labels, left);
      const uint32_t pixels = pixels_with (labels, label);
      left &= ~pixels;
      greatest = max (greatest, label);
      sum_coordinates (part, pixels, x, y);
      if (NEIGHBOURS)
        count_neighbours (part, neighbours, pixels);
      if (VALUES)
        sum_values (part, values, pixels, x, y);
    }
    if (is_first) {
      __syncwarp ();
      add_warp_to_tile<NEIGHBOURS, VALUES> (p, tile, label, part);
    } else {
      add_to_tile<NEIGHBOURS, VALUES> (p, tile, label, part);
    }
  }
  return greatest;
}

/* Adds the sums of the tile to those of the frame. */
static __device__ __forceinline__ void
add_tile_to_frame (const CclMeasureParameters &p, const Tile &tile)
{
  for (uint32_t slot = threadIdx.x; slot < N_SLOTS; slot += blockDim.x)
    if (tile.owners[slot] != NO_COMPONENT) {
      Part part;
      for (uint32_t i = 0; i < N_COUNTS; i++)
        part.counts[i] = tile.counts[i][slot];
      add_to_frame (p, tile.owners[slot], part);
    }
  if (threadIdx.x == 0)
    raise_word (p.greatest_label, tile.greatest_label);
}

template <bool NEIGHBOURS, bool VALUES>
static __device__ __forceinline__ void
add_tile (const CclMeasureParameters &p)
{
  __shared__ Tile tile;
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const Patch labels = load_labels (p, blockIdx.x * WIDTH + lane_of_warp () * PATCH,
      blockIdx.y * HEIGHT + threadIdx.x / 32 * PATCH);
  const uint32_t pixels = pixels_of (labels);
  if (!__syncthreads_or (pixels != 0))
    return;
  clear_tile (tile);
  if (NEIGHBOURS)
    store_foreground (p, tile.foreground, pixels);
  __syncthreads ();
  const uint32_t greatest = add_patch<NEIGHBOURS, VALUES> (p, tile, labels, pixels);
  __syncwarp ();
  const uint32_t warp_greatest = reduce_max (FULL_WARP, greatest);
  if (lane_of_warp () == 0)
    atomicMax (&tile.greatest_label, warp_greatest);
  __syncthreads ();
  add_tile_to_frame (p, tile);
}

/* One block for each tile. */
#define ADD_KERNEL(name, neighbours, values)                                                       \
  extern "C" __global__ void __launch_bounds__ (CUDACCL_MEASURE_THREADS)                           \
      name (const CclMeasureParameters p)                                                          \
  {                                                                                                \
    add_tile<neighbours, values> (p);                                                              \
  }
ADD_KERNEL (ccl_measure_add, false, false)
ADD_KERNEL (ccl_measure_add_neighbours, true, false)
ADD_KERNEL (ccl_measure_add_values, false, true)
ADD_KERNEL (ccl_measure_add_both, true, true)

/* Any number of threads; they write words, so that rows cross the bus in whole lines. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_MEASURE_THREADS) ccl_measure_finish (const CclMeasureParameters p)
{
  const uint32_t row_words = sizeof (CclFeatures) / sizeof (uint32_t);
  const uint32_t least_value = offsetof (CclFeatures, least_value) / sizeof (uint32_t);
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint64_t n_words = (uint64_t)min (*p.greatest_label, p.n_rows) * row_words;
  for (uint64_t i = thread; i < n_words; i += gridDim.x * blockDim.x)
    if (p.words >> i % row_words & 1) {
      const uint32_t word = ((const uint32_t *)p.sums)[i];
      ((uint32_t *)p.result)[i] = i % row_words == least_value ? ~word : word;
      ((uint32_t *)p.sums)[i] = 0;
    }
}

/* One thread. */
extern "C" __global__ void
ccl_measure_signal (const CclMeasureParameters p)
{
  wait_for_previous_kernel ();
  *p.greatest_label = 0;
  __threadfence_system ();
  *(volatile uint32_t *)p.finished = 1;
}
