/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From raw labels to component table and label map.
 *
 * The number of a component follows from its first pixel in raster order. A bit map over the label
 * buffer marks the first pixels, and the number of marks before one of them is the component's
 * number. So the table is in label order, whatever the number of components and whichever pixel is
 * the root.
 *
 * 1. find_firsts: for each root the first pixel of its component; not needed if the algorithm's
 *    roots are the first pixels.
 * 2. mark_firsts: the bit map, with counts inside chunks of it.
 * 3. number_chunks: counts before each chunk; the number of components.
 * 4. With an area filter only: sum_areas, filter_firsts (which clears the marks of components that
 *    do not pass), number_chunks again.
 * 5. sum_features: area, box and sums of coordinates of the components that get a row.
 * 6. write_table: the rows, in host memory.
 * 7. With a label map only: write_labels.
 *
 * Sums are added run by run: neighbours in a row with the same label count as one.
 */
#include "component-table.cuh"
#include "geometry.cuh"
#include "kernel-parameters.h"
#include "warp.cuh"

static __device__ __forceinline__ uint32_t
first_of_root (const CclAnalysisParameters &p, uint32_t root)
{
  return p.firsts ? p.firsts[root] : root;
}

/* The number, from 0, of the component with that raw label; UINT32_MAX when it was filtered out. */
static __device__ __forceinline__ uint32_t
component_number (const CclAnalysisParameters &p, uint32_t label)
{
  const uint32_t first = first_of_root (p, label - 1);
  const CclFirstPixels word = p.first_pixels[first / 32];
  if (!(word.bits >> first % 32 & 1))
    return UINT32_MAX;
  return p.chunk_offsets[first / CCL_CHUNK_ELEMENTS] + word.n_before +
         __popc (word.bits & bits_below (first % 32));
}

/* Four elements per thread. An element with the same label as the one before it is neither the
 * first of its component nor at the start of a row, so rows need not be distinguished. */
extern "C" __global__ void
ccl_analysis_find_firsts (const CclAnalysisParameters p)
{
  const uint32_t first_element = 4 * thread_column ();
  if (thread_column () > (p.n_elements - 1) / 4)
    return;
  uint32_t before = first_element ? p.labels[first_element - 1] : 0;
  uint32_t labels[4] = {0, 0, 0, 0};
  if (p.n_elements - first_element >= 4) {
    const uint4 quad = *(const uint4 *)&p.labels[first_element];
    labels[0] = quad.x;
    labels[1] = quad.y;
    labels[2] = quad.z;
    labels[3] = quad.w;
  } else {
    for (uint32_t i = 0; i < p.n_elements - first_element; i++)
      labels[i] = p.labels[first_element + i];
  }
#pragma unroll
  for (uint32_t i = 0; i < 4; i++) {
    const uint32_t element = first_element + i, label = labels[i];
    /* Most atomic operations are saved by a load before them: the value only ever decreases. */
    if (label && label != before && p.firsts[label - 1] > element)
      atomicMin (&p.firsts[label - 1], element);
    before = label;
  }
}

/* Each of the block's 256 threads stores a word of marks; the counts are stored, too. */
static __device__ __forceinline__ void
store_marks (const CclAnalysisParameters &p, uint32_t *sums, uint32_t bits)
{
  uint32_t n_chunk;
  const uint32_t n_before = sum_before_thread (__popc (bits), sums, CCL_CHUNK_WORDS / 32, &n_chunk);
  const uint32_t word = blockIdx.x * CCL_CHUNK_WORDS + threadIdx.x;
  if (word <= (p.n_elements - 1) / 32) {
    CclFirstPixels marks;
    marks.bits = bits;
    marks.n_before = n_before;
    p.first_pixels[word] = marks;
  }
  if (threadIdx.x == 0)
    p.chunk_offsets[blockIdx.x] = n_chunk;
}

/* One block of 256 threads for each chunk; a warp makes 32 words, a lane keeps one of them. */
extern "C" __global__ void __launch_bounds__ (256)
    ccl_analysis_mark_firsts (const CclAnalysisParameters p)
{
  __shared__ uint32_t sums[CCL_CHUNK_WORDS / 32];
  const uint32_t lane = lane_of_warp ();
  const uint32_t start = blockIdx.x * CCL_CHUNK_ELEMENTS + threadIdx.x / 32 * 1024 + lane;
  const uint32_t n_left = start < p.n_elements ? p.n_elements - start : 0;
  /* The only chunk of a small frame leaves most warps without elements. */
  const uint32_t n_words = start - lane < p.n_elements ? 32 : 0;
  uint32_t own_bits = 0;
#pragma unroll 8
  for (uint32_t i = 0; i < n_words; i++) {
    const uint32_t label = 32 * i < n_left ? p.labels[start + 32 * i] : 0;
    const bool is_first = label && first_of_root (p, label - 1) == start + 32 * i;
    const uint32_t bits = __ballot_sync (FULL_WARP, is_first);
    if (lane == i)
      own_bits = bits;
  }
  store_marks (p, sums, own_bits);
}

/* One block of whole warps, as many as there are chunks for, at most 1024 threads. */
extern "C" __global__ void __launch_bounds__ (1024)
    ccl_analysis_number_chunks (const CclAnalysisParameters p)
{
  __shared__ uint32_t sums[32];
  uint32_t n_before = 0;
  for (uint32_t start = 0; start < p.n_chunks; start += blockDim.x) {
    const uint32_t chunk = start + threadIdx.x;
    const uint32_t n_chunk = chunk < p.n_chunks ? p.chunk_offsets[chunk] : 0;
    uint32_t n_round;
    const uint32_t offset = sum_before_thread (n_chunk, sums, blockDim.x / 32, &n_round);
    if (chunk < p.n_chunks)
      p.chunk_offsets[chunk] = n_before + offset;
    n_before += n_round;
    __syncthreads ();
  }
  if (threadIdx.x == 0) {
    *p.n_components = n_before;
    *p.result_count = n_before;
  }
}

/* One block of 256 threads for each chunk. */
extern "C" __global__ void __launch_bounds__ (256)
    ccl_analysis_filter_firsts (const CclAnalysisParameters p)
{
  __shared__ uint32_t sums[CCL_CHUNK_WORDS / 32];
  const uint32_t word = blockIdx.x * CCL_CHUNK_WORDS + threadIdx.x;
  uint32_t kept = 0;
  if (word <= (p.n_elements - 1) / 32) {
    const CclFirstPixels marks = p.first_pixels[word];
    uint32_t component = p.chunk_offsets[blockIdx.x] + marks.n_before;
    for (uint32_t bits = marks.bits; bits; bits &= bits - 1) {
      const uint32_t area = p.areas[component++];
      if (area >= p.min_area && area <= p.max_area)
        kept |= bits & -bits;
    }
  }
  store_marks (p, sums, kept);
}

/* Tiles of the two kernels that sum: a block of 256 threads goes through 128 columns and 32
 * rows, each of its warps through 32 columns of every second row. */
#define TILE_WIDTH 128u
#define TILE_HEIGHT 32u

/* Sums of the components in a tile. Sums and coordinates count from the tile's upper left corner.
 */
struct TileSums {
  uint32_t component[N_SLOTS];
  uint32_t area[N_SLOTS];
  uint32_t sum_x[N_SLOTS], sum_y[N_SLOTS];
  uint32_t min_x[N_SLOTS], min_y[N_SLOTS];
  uint32_t max_x[N_SLOTS], max_y[N_SLOTS];
};

/* The part of a run inside 32 columns of a tile. */
struct Run {
  uint32_t length; /* 0: no run starts here */
  uint32_t component;
};

/* The run that starts at this lane's pixel; the label is 0 outside the frame. */
static __device__ __forceinline__ Run
run_of_lane (const CclAnalysisParameters &p, uint32_t label)
{
  const uint32_t lane = lane_of_warp ();
  const uint32_t before = __shfl_up_sync (FULL_WARP, label, 1);
  const uint32_t starts = __ballot_sync (FULL_WARP, lane == 0 || label != before);
  Run run = {0, NO_COMPONENT};
  if (label && (starts >> lane & 1)) {
    const uint32_t later = lane == 31 ? 0 : starts >> (lane + 1);
    run.length = later ? __ffs (later) : 32 - lane;
    run.component = component_number (p, label);
  }
  return run;
}

/* Adds to a component; coordinates in pixels of the frame. */
static __device__ __forceinline__ void
accumulate (const CclAnalysisParameters &p, uint32_t component, uint32_t area, uint64_t sum_x,
    uint64_t sum_y, uint32_t min_x, uint32_t min_y, uint32_t max_x, uint32_t max_y)
{
  CclAccumulator *accumulator = &p.accumulators[component];
  atomicAdd (&accumulator->area, area);
  atomicAdd ((unsigned long long *)&accumulator->sum_x, (unsigned long long)sum_x);
  atomicAdd ((unsigned long long *)&accumulator->sum_y, (unsigned long long)sum_y);
  atomicMin (&accumulator->min_x, min_x);
  atomicMin (&accumulator->min_y, min_y);
  atomicMin (&accumulator->max_x_complement, ~max_x);
  atomicMin (&accumulator->max_y_complement, ~max_y);
}

extern "C" __global__ void __launch_bounds__ (256)
    ccl_analysis_sum_features (const CclAnalysisParameters p)
{
  __shared__ TileSums tile;
  const uint32_t tile_x = blockIdx.x * TILE_WIDTH, tile_y = block_row () * TILE_HEIGHT;
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t x = tile_x + warp % 4 * 32 + lane_of_warp ();
  const uint32_t n_tile_rows = tile_y < p.height ? min (p.height - tile_y, TILE_HEIGHT) : 0;
  if (threadIdx.x < N_SLOTS) {
    tile.component[threadIdx.x] = NO_COMPONENT;
    tile.area[threadIdx.x] = 0;
    tile.sum_x[threadIdx.x] = 0;
    tile.sum_y[threadIdx.x] = 0;
    tile.min_x[threadIdx.x] = UINT32_MAX;
    tile.min_y[threadIdx.x] = UINT32_MAX;
    tile.max_x[threadIdx.x] = 0;
    tile.max_y[threadIdx.x] = 0;
  }
  __syncthreads ();

#pragma unroll 4
  for (uint32_t row = warp / 4; row < n_tile_rows; row += 2) {
    const uint32_t y = tile_y + row;
    const uint32_t label = x < p.width ? p.labels[y * p.label_stride + x] : 0;
    const Run run = run_of_lane (p, label);
    if (run.component >= p.n_rows)
      continue;
    const uint32_t end = x + run.length - 1;
    const uint32_t slot = find_slot (tile.component, run.component);
    if (slot == N_SLOTS) {
      accumulate (p, run.component, run.length, (uint64_t)run.length * (x + end) / 2,
          (uint64_t)run.length * y, x, y, end, y);
      continue;
    }
    atomicAdd (&tile.area[slot], run.length);
    atomicAdd (&tile.sum_x[slot], run.length * (x - tile_x + end - tile_x) / 2);
    atomicAdd (&tile.sum_y[slot], run.length * row);
    atomicMin (&tile.min_x[slot], x - tile_x);
    atomicMax (&tile.max_x[slot], end - tile_x);
    atomicMin (&tile.min_y[slot], row);
    atomicMax (&tile.max_y[slot], row);
  }
  __syncthreads ();

  const uint32_t slot = threadIdx.x;
  if (slot < N_SLOTS && tile.component[slot] != NO_COMPONENT) {
    const uint64_t area = tile.area[slot];
    accumulate (p, tile.component[slot], tile.area[slot], tile.sum_x[slot] + area * tile_x,
        tile.sum_y[slot] + area * tile_y, tile_x + tile.min_x[slot], tile_y + tile.min_y[slot],
        tile_x + tile.max_x[slot], tile_y + tile.max_y[slot]);
  }
}

extern "C" __global__ void __launch_bounds__ (256)
    ccl_analysis_sum_areas (const CclAnalysisParameters p)
{
  __shared__ TileSums tile;
  const uint32_t tile_x = blockIdx.x * TILE_WIDTH, tile_y = block_row () * TILE_HEIGHT;
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t x = tile_x + warp % 4 * 32 + lane_of_warp ();
  const uint32_t n_tile_rows = tile_y < p.height ? min (p.height - tile_y, TILE_HEIGHT) : 0;
  if (threadIdx.x < N_SLOTS) {
    tile.component[threadIdx.x] = NO_COMPONENT;
    tile.area[threadIdx.x] = 0;
  }
  __syncthreads ();

#pragma unroll 4
  for (uint32_t row = warp / 4; row < n_tile_rows; row += 2) {
    const uint32_t y = tile_y + row;
    const uint32_t label = x < p.width ? p.labels[y * p.label_stride + x] : 0;
    const Run run = run_of_lane (p, label);
    if (run.length == 0)
      continue;
    const uint32_t slot = find_slot (tile.component, run.component);
    atomicAdd (slot == N_SLOTS ? &p.areas[run.component] : &tile.area[slot], run.length);
  }
  __syncthreads ();

  const uint32_t slot = threadIdx.x;
  if (slot < N_SLOTS && tile.component[slot] != NO_COMPONENT)
    atomicAdd (&p.areas[tile.component[slot]], tile.area[slot]);
}

/* One thread for each row of the table, blocks of 256; the rows cross the bus in whole lines. */
extern "C" __global__ void __launch_bounds__ (256)
    ccl_analysis_write_table (const CclAnalysisParameters p)
{
  __shared__ CclComponent rows[256];
  const uint32_t n_rows = min (*p.n_components, p.n_rows);
  const uint32_t first_row = blockIdx.x * 256;
  if (first_row >= n_rows)
    return;
  const uint32_t n_block_rows = min (n_rows - first_row, 256u);
  if (threadIdx.x < n_block_rows) {
    const CclAccumulator sums = p.accumulators[first_row + threadIdx.x];
    CclComponent *row = &rows[threadIdx.x];
    row->label = first_row + threadIdx.x + 1;
    row->area = sums.area + 1;
    row->x = sums.min_x;
    row->y = sums.min_y;
    row->width = ~sums.max_x_complement - sums.min_x + 1;
    row->height = ~sums.max_y_complement - sums.min_y + 1;
    row->centroid_x = (double)(sums.sum_x + 1) / (double)row->area;
    row->centroid_y = (double)(sums.sum_y + 1) / (double)row->area;
  }
  __syncthreads ();
  store_rows (p.result_rows + first_row, rows, n_block_rows);
}

/* One thread for each pixel. */
extern "C" __global__ void
ccl_analysis_write_labels (const CclAnalysisParameters p)
{
  const uint32_t x = thread_column (), y = thread_row ();
  if (x >= p.width || y >= p.height)
    return;
  const uint32_t label = p.labels[y * p.label_stride + x];
  /* The number of a removed component is UINT32_MAX, which the addition turns into background. */
  p.label_map[y * p.label_map_stride + x] = label ? component_number (p, label) + 1 : 0;
}
