/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The squared distances of pixels to the nearest pixel with another label, an axis after the other,
 * as cpu/split/distances.c finds them: exact integers.
 *
 * 1. rows: a warp has a row, and finds where the runs of its pixels begin and end.
 * 2. lines: a thread has a pixel. It looks at those before and behind it on the line, nearer ones
 *    first, until they are farther than what it has found. What is behind a pixel with another
 * label is farther than that pixel.
 * 3. roots: those of the squares, for programs that want distances.
 */
#include "cuda/kernel-lib/warp.cuh"
#include "cuda/kernel-lib/word-map.cuh"
#include "distances-parameters.h"

#include <cudaccl/distance.h>

typedef CclMapDistancesParameters Parameters;

/* Writes how far each pixel is from the end of the run before its own; 0: there is none. */
static __device__ __forceinline__ void
look_back (const uint32_t *labels, uint32_t width, uint32_t *distances)
{
  const uint32_t lane = lane_of_warp ();
  uint32_t begin = 0, last = 0; /* of the run that goes on, and its label */

  for (uint32_t first = 0; first < width; first += 32) {
    const uint32_t x = first + lane;
    const uint32_t label = x < width ? labels[x] : 0;
    uint32_t before = __shfl_up_sync (FULL_WARP, label, 1);
    if (lane == 0)
      before = last;
    const uint32_t begins = __ballot_sync (FULL_WARP, x < width && (x == 0 || label != before));
    const uint32_t here = begins & (FULL_WARP >> (31 - lane));
    const uint32_t own = here ? first + 31 - __clz (here) : begin;
    if (x < width)
      distances[x] = own > 0 ? x - own + 1 : 0;
    last = __shfl_sync (FULL_WARP, label, 31);
    begin = __shfl_sync (FULL_WARP, own, 31);
  }
}

static __device__ __forceinline__ uint32_t
square_of_lesser (uint32_t before, uint32_t behind)
{
  const uint32_t distance = before && behind ? min (before, behind) : before | behind;
  return distance ? distance * distance : CUDACCL_NO_DISTANCE;
}

/* Replaces what look_back() wrote by squared distances to either end. */
static __device__ __forceinline__ void
look_ahead (const uint32_t *labels, uint32_t width, uint32_t *distances)
{
  const uint32_t lane = lane_of_warp ();
  uint32_t end = 0, next = 0; /* the last pixel of the run that goes on, and its label */

  for (uint32_t first = (width - 1) / 32 * 32;; first -= 32) {
    const uint32_t x = first + lane;
    const uint32_t label = x < width ? labels[x] : 0;
    uint32_t behind = __shfl_down_sync (FULL_WARP, label, 1);
    if (lane == 31)
      behind = next;
    const uint32_t ends =
        __ballot_sync (FULL_WARP, x < width && (x == width - 1 || label != behind));
    const uint32_t here = ends & (FULL_WARP << lane);
    const uint32_t own = here ? first + __ffs ((int)here) - 1 : end;
    if (x < width)
      distances[x] = label ? square_of_lesser (distances[x], own + 1 < width ? own + 1 - x : 0) : 0;
    next = __shfl_sync (FULL_WARP, label, 0);
    end = __shfl_sync (FULL_WARP, own, 0);
    if (first == 0)
      return;
  }
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_DISTANCES_THREADS)
    ccl_map_distances_rows (const __grid_constant__ Parameters p)
{
  const uint64_t n_rows = (uint64_t)p.height * p.depth;
  const uint32_t n_warps = CUDACCL_MAP_DISTANCES_THREADS / 32;

  for (uint64_t row = (uint64_t)blockIdx.x * n_warps + threadIdx.x / 32; row < n_rows;
       row += (uint64_t)gridDim.x * n_warps) {
    const uint32_t y = (uint32_t)(row % p.height), z = (uint32_t)(row / p.height);
    look_back (row_of (p.labels, y, z), p.width, row_of (p.to, y, z));
    look_ahead (row_of (p.labels, y, z), p.width, row_of (p.to, y, z));
  }
}

/* The least squared distance to a pixel on the line; place, length: on it, stride: of its pixels.
 */
static __device__ __forceinline__ uint32_t
look_around (const uint32_t *labels, uint64_t label_stride, const uint32_t *from, uint64_t stride,
    uint32_t place, uint32_t length)
{
  const uint32_t label = *labels;
  uint32_t best = *from;

  for (uint32_t d = 1; d < length && (uint64_t)d * d < best; d++) {
    const uint32_t square = d * d;
    const bool is_before = d <= place, is_behind = d < length - place;
    if (!is_before && !is_behind)
      break;
    if (is_before) {
      const uint32_t there = *(from - d * stride);
      if (*(labels - d * label_stride) != label)
        best = square;
      else if (there != CUDACCL_NO_DISTANCE)
        best = min (best, square + there);
    }
    if (is_behind) {
      const uint32_t there = from[d * stride];
      if (labels[d * label_stride] != label)
        best = square;
      else if (there != CUDACCL_NO_DISTANCE)
        best = min (best, square + there);
    }
  }
  return best;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_DISTANCES_THREADS)
    ccl_map_distances_lines (const __grid_constant__ Parameters p)
{
  const uint64_t n = (uint64_t)p.width * p.height * p.depth;
  const uint64_t label_stride = p.is_along_z ? p.labels.slice : p.labels.row;
  const uint64_t stride = p.is_along_z ? p.from.slice : p.from.row;

  for (uint64_t pixel = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; pixel < n;
       pixel += (uint64_t)gridDim.x * blockDim.x) {
    const Place place = place_of (p, pixel);
    const uint32_t *labels = row_of (p.labels, place.y, place.z) + place.x;
    const uint32_t *from = row_of (p.from, place.y, place.z) + place.x;
    uint32_t *to = row_of (p.to, place.y, place.z) + place.x;
    *to = *labels ? look_around (labels, label_stride, from, stride,
                        p.is_along_z ? place.z : place.y, p.is_along_z ? p.depth : p.height)
                  : 0;
  }
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_DISTANCES_THREADS)
    ccl_map_distances_roots (const __grid_constant__ Parameters p)
{
  const uint64_t n = (uint64_t)p.width * p.height * p.depth;

  for (uint64_t pixel = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; pixel < n;
       pixel += (uint64_t)gridDim.x * blockDim.x) {
    const Place place = place_of (p, pixel);
    const uint32_t square = row_of (p.from, place.y, place.z)[place.x];
    p.roots[pixel] = square == CUDACCL_NO_DISTANCE ? (double)INFINITY : sqrt ((double)square);
  }
}
