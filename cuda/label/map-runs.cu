/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The runs of a label map down its columns, which follow each other. A run begins at each pixel
 * whose label is another one than that of the pixel before.
 *
 * 1. count: a block has 32 columns of a band of rows, a warp of it some of these rows, a thread a
 *    column of them: it counts where runs begin.
 * 2. number: the parts of columns are numbered, in the order of the runs.
 * 3. write: as count, but runs are written.
 * 4. deliver: runs cross the bus in whole lines.
 * 5. signal: sets the completion flag.
 */
#include "cuda/kernel-lib/chunks.cuh"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "map-runs-parameters.h"

typedef CclMapRunsParameters Parameters;

/* The part of a column that a thread has. */
struct Part {
  uint32_t x, begin, end; /* rows, none if the column is outside the map */
  uint32_t band;
};

static __device__ __forceinline__ Part
own_part (const Parameters &p)
{
  Part part;
  part.band = blockIdx.x / p.n_column_blocks;
  part.x = blockIdx.x % p.n_column_blocks * 32 + lane_of_warp ();
  const uint64_t begin =
      (uint64_t)part.band * CUDACCL_MAP_RUNS_BAND + threadIdx.x / 32 * CUDACCL_MAP_RUNS_ROWS;
  const bool exists = part.x < p.width && begin < p.height;
  part.begin = exists ? (uint32_t)begin : 0;
  part.end = exists ? (uint32_t)min (begin + CUDACCL_MAP_RUNS_ROWS, (uint64_t)p.height) : 0;
  return part;
}

static __device__ __forceinline__ uint32_t
label_at (const Parameters &p, uint32_t x, uint32_t y)
{
  return p.labels[y * p.label_row + x];
}

/* The label of the pixel before the first one of a part; 0 before the first pixel of the map. */
static __device__ __forceinline__ uint32_t
label_before (const Parameters &p, const Part &part)
{
  if (part.begin > 0)
    return label_at (p, part.x, part.begin - 1);
  return part.x > 0 ? label_at (p, part.x - 1, p.height - 1) : 0;
}

/* The labels of a part, and that of the pixel before. */
struct Labels {
  uint32_t before, rows[CUDACCL_MAP_RUNS_ROWS];
};

/* All are loaded before the first is used. Behind the part, no run begins. */
static __device__ __forceinline__ Labels
load_labels (const Parameters &p, const Part &part)
{
  const uint32_t n = part.end - part.begin;
  Labels labels = {};
  if (n == 0)
    return labels;
  labels.before = label_before (p, part);
#pragma unroll
  for (uint32_t i = 0; i < CUDACCL_MAP_RUNS_ROWS; i++)
    labels.rows[i] = label_at (p, part.x, part.begin + min (i, n - 1));
  return labels;
}

/* Calls begin (i) for each row of a part where a run begins. */
template <typename Begin>
static __device__ __forceinline__ void
for_each_run (const Labels &labels, Begin begin)
{
#pragma unroll
  for (uint32_t i = 0; i < CUDACCL_MAP_RUNS_ROWS; i++)
    if (labels.rows[i] != (i > 0 ? labels.rows[i - 1] : labels.before))
      begin (i);
}

static __device__ __forceinline__ uint32_t
count_runs (const Labels &labels)
{
  uint32_t n = 0;
  for_each_run (labels, [&n] (uint32_t) { n++; });
  return n;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_RUNS_THREADS)
    ccl_map_runs_count (const __grid_constant__ Parameters p)
{
  __shared__ uint32_t counts[CUDACCL_MAP_RUNS_WARPS][32];
  let_next_kernel_start ();
  const Part part = own_part (p);
  counts[threadIdx.x / 32][lane_of_warp ()] = count_runs (load_labels (p, part));
  __syncthreads ();
  if (threadIdx.x >= 32 || part.x >= p.width)
    return;
  uint32_t n = 0;
  for (uint32_t warp = 0; warp < CUDACCL_MAP_RUNS_WARPS; warp++)
    n += counts[warp][threadIdx.x];
  p.first[(uint64_t)part.x * p.n_bands + part.band] = n;
}

/* One block. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_SCAN_THREADS) ccl_map_runs_number (const __grid_constant__ Parameters p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint32_t n = number_chunks (p.first, p.width * p.n_bands);
  if (threadIdx.x == 0)
    *p.total = n;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_RUNS_THREADS)
    ccl_map_runs_write (const __grid_constant__ Parameters p)
{
  __shared__ uint32_t counts[CUDACCL_MAP_RUNS_WARPS][32];
  const uint32_t warp = threadIdx.x / 32, lane = lane_of_warp ();
  let_next_kernel_start ();
  const Part part = own_part (p);
  const Labels labels = load_labels (p, part);
  counts[warp][lane] = count_runs (labels);
  __syncthreads ();
  wait_for_previous_kernel ();
  if (part.begin == part.end)
    return;
  uint32_t place = p.first[(uint64_t)part.x * p.n_bands + part.band];
  for (uint32_t other = 0; other < warp; other++)
    place += counts[other][lane];
  for_each_run (labels, [&] (uint32_t i) {
    if (place < p.capacity)
      p.runs[place] = {part.x * p.height + part.begin + i, labels.rows[i]};
    place++;
  });
}

/* Any number of threads. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_RUNS_THREADS)
    ccl_map_runs_deliver (const __grid_constant__ Parameters p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint32_t n = min (*p.total, p.capacity);
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    p.host_runs[i] = p.runs[i];
}

extern "C" __global__ void
ccl_map_runs_signal (const __grid_constant__ Parameters p)
{
  wait_for_previous_kernel ();
  p.head->n_runs = *p.total;
  __threadfence_system ();
  *(volatile uint32_t *)&p.head->finished = 1;
}
