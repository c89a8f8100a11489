/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of the labels of a map, and new labels for it. All sums are integers, so that their order
 * does not matter.
 *
 * 1. add: a thread has up to 32 pixels of a row. It adds up those of a label in registers as long
 * as they follow each other, then in device memory.
 * 2. renumber: a thread has a pixel.
 */
#include "cuda/kernel-lib/word-map.cuh"
#include "map-sums-parameters.h"

typedef CclMapSumsParameters Parameters;
typedef unsigned long long Long;

/* Pixels of a label that follow each other in a row. */
struct Run {
  uint32_t label, begin, end, y, z;
  uint32_t other;       /* the greatest one at these pixels */
  Long low[2], high[2]; /* of the weights along x */
};

/* The memory is read first: most pixels change no maximum. */
static __device__ __forceinline__ void
raise (uint32_t *greatest, uint32_t value)
{
  if (*(volatile uint32_t *)greatest < value)
    atomicMax (greatest, value);
}

static __device__ __forceinline__ void
add (uint64_t *sum, uint64_t value)
{
  if (value)
    atomicAdd ((Long *)sum, (Long)value);
}

/* The sums of n weights that are equal. */
static __device__ __forceinline__ void
add_turns (CclMapTurn *sum, const int64_t *turn, uint32_t n)
{
#pragma unroll
  for (int i = 0; i < 2; i++) {
    add (&sum->low[i], (uint64_t)(uint32_t)turn[i] * n);
    add (&sum->high[i], (uint64_t)((turn[i] >> 32) * (int64_t)n));
  }
}

static __device__ __forceinline__ void
add_box (CclMapSum *sum, const Run &run)
{
  raise (&sum->least_complement[0], ~run.begin);
  raise (&sum->least_complement[1], ~run.y);
  raise (&sum->least_complement[2], ~run.z);
  raise (&sum->greatest[0], run.end - 1);
  raise (&sum->greatest[1], run.y);
  raise (&sum->greatest[2], run.z);
}

static __device__ __forceinline__ void
add_run (const Parameters &p, const Run &run)
{
  if (run.label > p.n)
    return;
  CclMapSum *const sum = &p.sums[run.label - 1];
  const uint64_t n = run.end - run.begin;
  add (&sum->area, n);
  add (&sum->sum_x, n * run.begin + n * (n - 1) / 2);
  add (&sum->sum_y, n * run.y);
  add (&sum->sum_z, n * run.z);
  add_box (sum, run);
  raise (&sum->first_complement, ~((run.z * p.height + run.y) * p.width + run.begin));
  raise (&sum->other, run.other);
  for (int i = 0; i < 2 && p.turns[0]; i++) {
    add (&p.turn_sums[0][run.label - 1].low[i], run.low[i]);
    add (&p.turn_sums[0][run.label - 1].high[i], run.high[i]);
  }
  if (p.turns[1])
    add_turns (&p.turn_sums[1][run.label - 1], &p.turns[1][2 * (uint64_t)run.y], (uint32_t)n);
  if (p.turns[2])
    add_turns (&p.turn_sums[2][run.label - 1], &p.turns[2][2 * (uint64_t)run.z], (uint32_t)n);
}

static __device__ __forceinline__ void
extend_run (const Parameters &p, Run &run, uint32_t other)
{
  const uint32_t x = run.end++;
  run.other = max (run.other, other);
  for (int i = 0; i < 2 && p.turns[0]; i++) {
    const int64_t turn = p.turns[0][2 * (uint64_t)x + i];
    run.low[i] += (uint32_t)turn;
    run.high[i] += (Long)(turn >> 32);
  }
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_SUMS_THREADS) ccl_map_sums_add (const __grid_constant__ Parameters p)
{
  const uint32_t n_parts = (p.width - 1) / CUDACCL_MAP_SUMS_PIXELS + 1; /* of a row */
  const uint64_t n = (uint64_t)n_parts * p.height * p.depth;
  uint32_t greatest = 0;

  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (uint64_t)gridDim.x * blockDim.x) {
    const uint32_t row = (uint32_t)(i / n_parts), y = row % p.height, z = row / p.height;
    const uint32_t begin = (uint32_t)(i % n_parts) * CUDACCL_MAP_SUMS_PIXELS;
    const uint32_t end = min (p.width - begin, (uint32_t)CUDACCL_MAP_SUMS_PIXELS) + begin;
    const uint32_t *const labels = row_of (p.labels, y, z);
    const uint32_t *const others = p.others.words ? row_of (p.others, y, z) : 0;
    Run run = {0, begin, begin, y, z, 0, {0, 0}, {0, 0}};
    for (uint32_t x = begin; x < end; x++) {
      const uint32_t label = labels[x];
      if (label != run.label) {
        if (run.label)
          add_run (p, run);
        run = {label, x, x, y, z, 0, {0, 0}, {0, 0}};
        greatest = max (greatest, label);
      }
      if (label)
        extend_run (p, run, others ? others[x] : 0);
    }
    if (run.label)
      add_run (p, run);
  }
  raise (p.greatest, greatest);
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_SUMS_THREADS)
    ccl_map_sums_renumber (const __grid_constant__ Parameters p)
{
  const uint64_t n = (uint64_t)p.width * p.height * p.depth;

  for (uint64_t pixel = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; pixel < n;
       pixel += (uint64_t)gridDim.x * blockDim.x) {
    const Place at = place_of (p, pixel);
    const uint32_t label = row_of (p.labels, at.y, at.z)[at.x];
    row_of (p.to, at.y, at.z)[at.x] = label <= p.n ? p.numbers[label] : label;
  }
}
