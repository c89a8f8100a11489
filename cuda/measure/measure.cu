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
#include "picture-sums.cuh"
#include "value-sums.cuh"
#include "cuda/driver/tuning.h"
#include "cuda/kernel-lib/warp.cuh"

enum {
  WIDTH = CUDACCL_MEASURE_TILE_WIDTH,
  HEIGHT = CUDACCL_MEASURE_TILE_HEIGHT,
};

/* What is summed of a part of a component, x and y in coordinates of its tile, and the words of its
 * values. Maxima come last. */
enum Count {
  N_PIXELS,
  X,
  Y,
  XX,
  YY,
  XY,
  NEIGHBOURS, /* neighbour-counts.h */
  VALUES = NEIGHBOURS + CUDACCL_NEIGHBOUR_COUNTS,
  FIRST_MAXIMUM = VALUES + LEAST,
  N_COUNTS = VALUES + N_VALUE_WORDS,
};

enum { LOWER_BITS = 20 }; /* a tile has 2^8 patches of 16 values */

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
template <bool HAS_NEIGHBOURS, bool HAS_VALUES>
static __device__ __forceinline__ constexpr bool
is_needed (uint32_t count)
{
  return count < NEIGHBOURS || (count < VALUES ? HAS_NEIGHBOURS : HAS_VALUES);
}

/* ---- from parts to the sums of the frame ---- */

/* The features of a part of the block's tile in coordinates of the frame. */
static __device__ __forceinline__ CclFeatures
features_of_part (const Part &part)
{
  const Long left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
  const uint32_t *const c = part.counts;
  const Long n = c[N_PIXELS], x = c[X], y = c[Y];
  CclFeatures f;
  f.sum_x = n * left + x;
  f.sum_y = n * top + y;
  f.sum_xx = (n * left + 2 * x) * left + c[XX];
  f.sum_yy = (n * top + 2 * y) * top + c[YY];
  f.sum_xy = (n * left + x) * top + y * left + c[XY];
  set_neighbour_counts (f, &c[NEIGHBOURS]);
  set_values<LOWER_BITS> (f, &c[VALUES], FramePlace{left, top});
  return f;
}

/* Adds a part of the block's tile to the component with that label. */
static __device__ void
add_to_frame (const CclMeasureParameters &p, uint32_t label, const Part &part)
{
  add_features (&p.sums[label - 1], features_of_part (part), p.columns);
}

/* Adds a part to the component's slot of the tile; to the frame if the tile has none for it. */
template <bool HAS_NEIGHBOURS, bool HAS_VALUES>
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
    if (is_needed<HAS_NEIGHBOURS, HAS_VALUES> (i) && part.counts[i]) {
      if (i < FIRST_MAXIMUM)
        atomicAdd (&tile.counts[i][slot], part.counts[i]);
      else
        atomicMax (&tile.counts[i][slot], part.counts[i]);
    }
}

/* Adds the parts of a warp. Those of lanes with the same component as the first one that has any
 * are reduced first, which are most lanes inside a large component. */
template <bool HAS_NEIGHBOURS, bool HAS_VALUES>
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
      if (is_needed<HAS_NEIGHBOURS, HAS_VALUES> (i))
        part.counts[i] = i < FIRST_MAXIMUM ? reduce_add (sharing, part.counts[i])
                                           : reduce_max (sharing, part.counts[i]);
    if (lane_of_warp () != first)
      label = 0;
  }
  add_to_tile<HAS_NEIGHBOURS, HAS_VALUES> (p, tile, label, part);
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
  const QuadCounts quads = count_quads (neighbours, board);
  uint32_t *const c = &part.counts[NEIGHBOURS];
  c[CCL_COUNT_n_straight] = __popcll (borders.straight & board);
  c[CCL_COUNT_n_diagonal] = __popcll (borders.diagonal & board);
  c[CCL_COUNT_n_mixed] = __popcll (borders.mixed & board);
  c[CCL_COUNT_n_quads_1] = quads.n_1;
  c[CCL_COUNT_n_quads_2] = quads.n_2;
  c[CCL_COUNT_n_quads_3] = quads.n_3;
  c[CCL_COUNT_n_quads_diagonal] = quads.n_diagonal;
}

/* Sums the values of pixels of a patch at (x, y) of the tile. */
static __device__ __forceinline__ void
sum_values (Part &part, const Patch &values, uint32_t pixels, uint32_t x, uint32_t y)
{
  ValueTotals totals;
#pragma unroll
  for (uint32_t i = 0; i < PATCH_PIXELS; i++)
    if (pixels >> i & 1)
      add_value (totals, values.pixels[i], i % PATCH, i / PATCH);
  set_words<LOWER_BITS> (&part.counts[VALUES], totals, x, y);
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
template <bool HAS_NEIGHBOURS, bool HAS_VALUES>
static __device__ __forceinline__ uint32_t
add_patch (const CclMeasureParameters &p, Tile &tile, const Patch &labels, uint32_t left)
{
  const uint32_t lane = lane_of_warp (), warp = threadIdx.x / 32;
  const uint32_t x = lane * PATCH, y = warp * PATCH;
  uint32_t greatest = 0;
  Neighbours neighbours;
  Patch values;
  if (HAS_NEIGHBOURS && left)
    neighbours = neighbours_of (p, tile.foreground, lane, warp);
  if (HAS_VALUES && left)
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
      if (HAS_NEIGHBOURS)
        count_neighbours (part, neighbours, pixels);
      if (HAS_VALUES)
        sum_values (part, values, pixels, x, y);
    }
    if (is_first) {
      __syncwarp ();
      add_warp_to_tile<HAS_NEIGHBOURS, HAS_VALUES> (p, tile, label, part);
    } else {
      add_to_tile<HAS_NEIGHBOURS, HAS_VALUES> (p, tile, label, part);
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
    add_MAX (p.greatest_label, tile.greatest_label);
}

template <bool HAS_NEIGHBOURS, bool HAS_VALUES>
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
  if (HAS_NEIGHBOURS)
    store_foreground (p, tile.foreground, pixels);
  __syncthreads ();
  const uint32_t greatest = add_patch<HAS_NEIGHBOURS, HAS_VALUES> (p, tile, labels, pixels);
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
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint64_t n_words = (uint64_t)min (*p.greatest_label, p.n_rows) * row_words;
  for (uint64_t i = thread; i < n_words; i += gridDim.x * blockDim.x)
    if (p.words >> i % row_words & 1)
      finish_word ((uint32_t *)p.result, (uint32_t *)p.sums, i, row_words, minima_of_features);
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
