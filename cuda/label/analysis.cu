/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From raw labels to component table and label map.
 *
 * The number of a component follows from its first pixel in raster order. A bit map over the label
 * buffer marks the first pixels, and the number of marks before one of them is the component's
 * number. So the table is in label order, whatever the number of components and whichever pixel is
 * the root.
 *
 * 1. collect: reads the raw labels once and adds the sums over each component to the accumulator
 *    of its root. The first to add to an accumulator lists the root.
 * 2. mark: marks the first pixels of the listed roots whose components pass the area filter.
 * 3. number: numbers the marks and writes the rows, in host memory.
 * 4. With a label map only: write_labels.
 *
 * What a frame changed in accumulators, list and bit map is undone by the last kernel that reads
 * it, so no memory is cleared between frames.
 */
#include "core/label/component-row.h"
#include "cuda/kernel-lib/component-table.cuh"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "cuda/kernel-lib/geometry.cuh"
#include "cuda/driver/kernel-parameters.h"
#include "cuda/driver/tuning.h"
#include "cuda/kernel-lib/warp.cuh"

#define THREADS ((uint32_t)CUDACCL_TABLE_THREADS)

/* A thread of the collecting kernel has a patch of 4×4 pixels, a warp 32 patches side by side. */
#define PATCH 4u
#define TILE_WIDTH (32u * PATCH)
#define TILE_HEIGHT (THREADS / 32u * PATCH)

/* The components that a block of the collecting kernel sums in shared memory: one for each thread.
 */
#define COLLECT_SLOTS THREADS

/* The first row of a patch, which has a bit for each pixel in raster order. */
#define PATCH_ROW 0x000fu

static __device__ __forceinline__ CclAccumulator *
accumulator_of_root (const CclAnalysisParameters &p, uint32_t root)
{
  if (p.rows_of_accumulator == 1)
    return &p.accumulators[root / 2];
  const uint32_t y = root / p.label_stride, x = root - y * p.label_stride;
  return &p.accumulators[y / 2 * (p.label_stride / 2) + x / 2];
}

/* The sums over a part of a component inside a tile; coordinates count from the tile's upper left
 * corner. */
struct PartSums {
  uint32_t area, sum_x, sum_y;
  uint32_t first; /* the first pixel: row × TILE_WIDTH + column */
  uint32_t left, right, bottom;
};

/* The sums over some pixels of a patch that starts at a column and a row of the tile. */
static __device__ __forceinline__ PartSums
sums_of_patch (uint32_t pixels, uint32_t column, uint32_t row)
{
  const uint32_t columns = (pixels | pixels >> 4 | pixels >> 8 | pixels >> 12) & PATCH_ROW;
  const uint32_t first = __ffs (pixels) - 1;
  PartSums f;
  f.area = __popc (pixels);
  f.sum_x = f.area * column + __popc (pixels & 0xaaaa) + 2 * __popc (pixels & 0xcccc);
  f.sum_y = f.area * row + __popc (pixels & 0xf0f0) + 2 * __popc (pixels & 0xff00);
  f.first = (row + first / PATCH) * TILE_WIDTH + column + first % PATCH;
  f.left = column + __ffs (columns) - 1;
  f.right = column + 31 - __clz (columns);
  f.bottom = row + (31 - __clz (pixels)) / PATCH;
  return f;
}

/* What a block collects in its tile. */
struct Tile {
  uint32_t x, y; /* its upper left corner */
  uint32_t owner[COLLECT_SLOTS];
  PartSums sums[COLLECT_SLOTS];
  uint32_t n_roots;
  uint32_t roots[TILE_WIDTH * TILE_HEIGHT / 2]; /* those that the block is the first to add to */
};

/* Whether a part of a component does not touch the border of its tile, so it is the whole. */
static __device__ __forceinline__ bool
is_inside (const PartSums &f)
{
  return f.first >= TILE_WIDTH && f.left > 0 && f.right < TILE_WIDTH - 1 &&
         f.bottom < TILE_HEIGHT - 1;
}

/* Sets the accumulator of the root of a component that is inside the tile. */
static __device__ __forceinline__ void
set_accumulator (const CclAnalysisParameters &p, Tile &tile, uint32_t root, const PartSums &f)
{
  CclAccumulator *const a = accumulator_of_root (p, root);
  a->sum_x = (uint64_t)f.area * tile.x + f.sum_x - 1;
  a->sum_y = (uint64_t)f.area * tile.y + f.sum_y - 1;
  a->area = f.area - 1;
  a->first = (tile.y + f.first / TILE_WIDTH) * p.label_stride + tile.x + f.first % TILE_WIDTH;
  a->left = tile.x + f.left;
  a->right_complement = ~(tile.x + f.right);
  a->bottom_complement = ~(tile.y + f.bottom);
  tile.roots[atomicAdd (&tile.n_roots, 1u)] = root;
}

/* Adds sums to the accumulator of a root. */
static __device__ __forceinline__ void
accumulate (const CclAnalysisParameters &p, Tile &tile, uint32_t root, const PartSums &f)
{
  CclAccumulator *const a = accumulator_of_root (p, root);
  const uint32_t first =
      (tile.y + f.first / TILE_WIDTH) * p.label_stride + tile.x + f.first % TILE_WIDTH;
  const uint32_t left = tile.x + f.left;
  const uint32_t right_complement = ~(tile.x + f.right), bottom_complement = ~(tile.y + f.bottom);
  /* Most atomic operations are saved by a load before them: these values only ever decrease. */
  if (first < a->first)
    atomicMin (&a->first, first);
  if (left < a->left)
    atomicMin (&a->left, left);
  if (right_complement < a->right_complement)
    atomicMin (&a->right_complement, right_complement);
  if (bottom_complement < a->bottom_complement)
    atomicMin (&a->bottom_complement, bottom_complement);
  atomicAdd ((unsigned long long *)&a->sum_x, (unsigned long long)f.area * tile.x + f.sum_x);
  atomicAdd ((unsigned long long *)&a->sum_y, (unsigned long long)f.area * tile.y + f.sum_y);
  if (atomicAdd (&a->area, f.area) == UINT32_MAX)
    tile.roots[atomicAdd (&tile.n_roots, 1u)] = root;
}

static __device__ __forceinline__ void
add_to_tile (const CclAnalysisParameters &p, Tile &tile, uint32_t root, const PartSums &f)
{
  const uint32_t slot = find_slot<COLLECT_SLOTS> (tile.owner, root);
  if (slot == COLLECT_SLOTS) {
    accumulate (p, tile, root, f);
    return;
  }
  PartSums *const sums = &tile.sums[slot];
  atomicAdd (&sums->area, f.area);
  atomicAdd (&sums->sum_x, f.sum_x);
  atomicAdd (&sums->sum_y, f.sum_y);
  atomicMin (&sums->first, f.first);
  atomicMin (&sums->left, f.left);
  atomicMax (&sums->right, f.right);
  atomicMax (&sums->bottom, f.bottom);
}

/* Adds the sums of every lane to its component; label 0 has none. Those of lanes with the same
 * label as the first of these lanes, which are most lanes inside a large component, are summed by
 * the warp first. */
static __device__ __forceinline__ void
add_by_warp (const CclAnalysisParameters &p, Tile &tile, uint32_t label, PartSums f)
{
  const uint32_t first_lane = __ffs (__ballot_sync (FULL_WARP, label != 0)) - 1;
  const uint32_t shared_label = __shfl_sync (FULL_WARP, label, first_lane);
  const uint32_t sharing = __ballot_sync (FULL_WARP, label == shared_label);
  if (__popc (sharing) > 2 && label == shared_label) {
    f.area = reduce_add (sharing, f.area);
    f.sum_x = reduce_add (sharing, f.sum_x);
    f.sum_y = reduce_add (sharing, f.sum_y);
    f.first = reduce_min (sharing, f.first);
    f.left = reduce_min (sharing, f.left);
    f.right = reduce_max (sharing, f.right);
    f.bottom = reduce_max (sharing, f.bottom);
    if (lane_of_warp () != first_lane)
      label = 0;
  }
  if (label)
    add_to_tile (p, tile, label - 1, f);
  __syncwarp ();
}

/* Reads four labels of a row, 0 outside the label buffer; x is a multiple of four. */
static __device__ __forceinline__ void
load_labels (const CclAnalysisParameters &p, uint32_t x, uint32_t y, uint32_t labels[PATCH])
{
  const uint32_t *row = p.labels + (size_t)y * p.label_stride + x;
  uint4 group = make_uint4 (0, 0, 0, 0);
  if (y < p.height && x < p.label_stride) {
    if (p.label_stride % PATCH == 0)
      group = *(const uint4 *)row;
    else {
      group.x = row[0];
      group.y = row[1];
      if (x + 2 < p.label_stride) {
        group.z = row[2];
        group.w = row[3];
      }
    }
  }
  labels[0] = group.x;
  labels[1] = group.y;
  labels[2] = group.z;
  labels[3] = group.w;
}

static __device__ __forceinline__ void
collect_patch (const CclAnalysisParameters &p, Tile &tile, const uint32_t labels[PATCH * PATCH],
    uint32_t column, uint32_t row)
{
  uint32_t rest = 0;
#pragma unroll
  for (uint32_t i = 0; i < PATCH * PATCH; i++)
    rest |= (uint32_t)(labels[i] != 0) << i;
  while (__any_sync (FULL_WARP, rest)) {
    uint32_t label = 0, pixels = 0;
#pragma unroll
    for (uint32_t i = 0; i < PATCH * PATCH; i++) {
      if (rest >> (PATCH * PATCH - 1 - i) & 1)
        label = labels[PATCH * PATCH - 1 - i];
    }
#pragma unroll
    for (uint32_t i = 0; i < PATCH * PATCH; i++)
      pixels |= (uint32_t)(labels[i] == label) << i;
    pixels &= rest;
    rest ^= pixels;
    add_by_warp (p, tile, label, sums_of_patch (pixels, column, row));
  }
}

/* Adds the sums of the tile to the accumulators and lists new roots. */
static __device__ __forceinline__ void
flush_tile (const CclAnalysisParameters &p, Tile &tile)
{
  __shared__ uint32_t first_place;
  __syncthreads ();
  const uint32_t root = tile.owner[threadIdx.x];
  const PartSums &sums = tile.sums[threadIdx.x];
  if (root != NO_COMPONENT && is_inside (sums))
    set_accumulator (p, tile, root, sums);
  else if (root != NO_COMPONENT)
    accumulate (p, tile, root, sums);
  __syncthreads ();
  if (tile.n_roots == 0)
    return;
  if (threadIdx.x == 0)
    first_place = atomicAdd (p.n_roots, tile.n_roots);
  __syncthreads ();
  for (uint32_t i = threadIdx.x; i < tile.n_roots; i += THREADS)
    p.roots[first_place + i] = tile.roots[i];
}

/* One block for each tile. */
extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_analysis_collect (const CclAnalysisParameters p)
{
  __shared__ Tile tile;
  const uint32_t column = lane_of_warp () * PATCH, row = threadIdx.x / 32 * PATCH;
  const uint32_t tile_x = blockIdx.x * TILE_WIDTH, tile_y = block_row () * TILE_HEIGHT;
  tile.owner[threadIdx.x] = NO_COMPONENT;
  tile.sums[threadIdx.x] = {0, 0, 0, UINT32_MAX, UINT32_MAX, 0, 0};
  if (threadIdx.x == 0) {
    tile.x = tile_x;
    tile.y = tile_y;
    tile.n_roots = 0;
  }
  let_next_kernel_start ();
  wait_for_previous_kernel ();

  uint32_t labels[PATCH * PATCH];
#pragma unroll
  for (uint32_t i = 0; i < PATCH; i++)
    load_labels (p, tile_x + column, tile_y + row + i, labels + PATCH * i);
  const uint32_t thread = (block_row () * gridDim.x + blockIdx.x) * THREADS + threadIdx.x;
  if (thread < p.n_chunks)
    p.chunk_counts[thread] = 0;
  __syncthreads ();
  collect_patch (p, tile, labels, column, row);
  flush_tile (p, tile);
}

static __device__ __forceinline__ void
make_empty (CclAccumulator *a)
{
  a->sum_x = a->sum_y = UINT64_MAX;
  a->area = a->first = a->left = a->right_complement = a->bottom_complement = UINT32_MAX;
}

/* Marks the first pixel of the component of a root and returns its chunk, or empties the
 * accumulator of one that does not pass the filter and returns n_chunks. */
static __device__ __forceinline__ uint32_t
mark_component (const CclAnalysisParameters &p, uint32_t root)
{
  CclAccumulator *const a = accumulator_of_root (p, root);
  const uint32_t area = a->area + 1, first = a->first;
  if (area < p.min_area || area > p.max_area) {
    a->number = 0;
    make_empty (a);
    return p.n_chunks;
  }
  atomicOr (&p.first_bits[first / 32], 1u << first % 32);
  return first / 32 / p.chunk_words;
}

/* For grids of any size. One tile or a few have listed the roots of a warp, and few chunks cross
 * these tiles, so the warp counts the marks chunk by chunk. */
extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_analysis_mark (const CclAnalysisParameters p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint32_t n_roots = *p.n_roots, lane = lane_of_warp ();
  for (uint32_t first = thread_column () - lane; first < n_roots; first += gridDim.x * THREADS) {
    const uint32_t i = first + lane;
    const uint32_t chunk = i < n_roots ? mark_component (p, p.roots[i]) : p.n_chunks;
    const uint32_t sharing = __match_any_sync (FULL_WARP, chunk);
    if (chunk < p.n_chunks && lane == __ffs (sharing) - 1)
      atomicAdd (&p.chunk_counts[chunk], __popc (sharing));
  }
}

/* What a block needs to write rows. */
struct Rows {
  /* The first pixels in a round, counted from the first of its words: no two pixels side by side
   * are among them. */
  uint16_t firsts[THREADS * 32 / 2];
  CclComponent rows[THREADS];
};

/* Numbers the component with that first pixel, and returns its row. */
static __device__ __forceinline__ CclComponent
number_component (const CclAnalysisParameters &p, uint32_t first, uint32_t number)
{
  CclAccumulator *const a = accumulator_of_root (p, p.labels[first] - 1);
  const uint32_t y = first / p.label_stride;
  const CclComponent row = ccl_component_row (number, a->area + 1, a->left, y, ~a->right_complement,
      ~a->bottom_complement, a->sum_x + 1, a->sum_y + 1);
  a->number = number;
  make_empty (a);
  return row;
}

/* Numbers the components whose first pixels are the bits of the threads' words, from n_before + 1
 * on. Before the word of each thread lie before_word of these total bits. */
static __device__ __forceinline__ void
number_components (const CclAnalysisParameters &p, Rows &block, uint32_t first_word, uint32_t bits,
    uint32_t before_word, uint32_t total, uint32_t n_before)
{
  for (uint32_t next = before_word; bits; bits &= bits - 1)
    block.firsts[next++] = threadIdx.x * 32 + __ffs (bits) - 1;
  __syncthreads ();
  for (uint32_t done = 0; done < total; done += THREADS, n_before += THREADS) {
    if (done + threadIdx.x < total)
      block.rows[threadIdx.x] = number_component (
          p, first_word * 32 + block.firsts[done + threadIdx.x], n_before + threadIdx.x + 1);
    __syncthreads ();
    if (n_before < p.n_rows)
      store_rows (p.result_rows + n_before, block.rows,
          min (min (total - done, THREADS), p.n_rows - n_before));
    __syncthreads ();
  }
}

/* One block for each chunk. */
extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_analysis_number (const CclAnalysisParameters p)
{
  __shared__ Rows block;
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint32_t n_chunk = p.chunk_counts[blockIdx.x];
  const bool is_last = blockIdx.x == p.n_chunks - 1;
  if (is_last && threadIdx.x == 0)
    *p.n_roots = 0;
  if (n_chunk == 0 && !is_last)
    return;

  uint32_t before = 0, n_before;
  for (uint32_t i = threadIdx.x; i < blockIdx.x; i += THREADS)
    before += p.chunk_counts[i];
  sum_before_thread_of_few<THREADS / 32> (before, &n_before);
  if (is_last && threadIdx.x == 0)
    *p.result_count = n_before + n_chunk;
  if (n_chunk == 0)
    return;

  const uint32_t start = blockIdx.x * p.chunk_words, n_words = (p.n_elements - 1) / 32 + 1;
  const uint32_t end = min (start + p.chunk_words, n_words);
  for (uint32_t first_word = start; first_word < end; first_word += THREADS) {
    const uint32_t word = first_word + threadIdx.x;
    const uint32_t bits = word < end ? p.first_bits[word] : 0;
    if (bits)
      p.first_bits[word] = 0;
    uint32_t total;
    const uint32_t before_word = sum_before_thread_of_few<THREADS / 32> (__popc (bits), &total);
    number_components (p, block, first_word, bits, before_word, total, n_before);
    n_before += total;
  }
}

/* One thread for four pixels below each other. */
extern "C" __global__ void
ccl_analysis_write_labels (const CclAnalysisParameters p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint32_t x = thread_column (), y = 4 * thread_row ();
  if (x >= p.width || y >= p.height)
    return;
  uint32_t labels[4];
#pragma unroll
  for (uint32_t i = 0; i < 4; i++)
    labels[i] = y + i < p.height ? p.labels[(y + i) * p.label_stride + x] : 0;
  uint32_t label = 0, number = 0;
#pragma unroll
  for (uint32_t i = 0; i < 4; i++) {
    if (labels[i] && labels[i] != label) {
      label = labels[i];
      number = accumulator_of_root (p, label - 1)->number;
    }
    if (y + i < p.height)
      p.label_map[(y + i) * p.label_map_stride + x] = labels[i] ? number : 0;
  }
}
