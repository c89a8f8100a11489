/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The peaks of distances, as cpu/split/split.c finds them, joined to objects.
 *
 * 1. find: a thread has a pixel. A peak becomes a tree of a union-find forest.
 * 2. unite: of each peak with those before it in the window around it.
 *
 * The kernels of values.cu then number the objects by their first peaks.
 */
#include "cuda/kernel-lib/union-find.cuh"
#include "cuda/kernel-lib/word-map.cuh"
#include "cuda/values/values-parameters.h"
#include "peaks-parameters.h"

typedef CclMapPeaksParameters Parameters;

/* The first pixel of a window along an axis, and the last one. */
static __device__ __forceinline__ uint32_t
first_of (uint32_t place, uint32_t radius)
{
  return place - min (place, radius);
}

static __device__ __forceinline__ uint32_t
last_of (uint32_t place, uint32_t radius, uint32_t side)
{
  return min (place + radius, side - 1);
}

/* Whether no pixel of the same label in the window around a pixel is higher. */
static __device__ __forceinline__ bool
is_highest (const Parameters &p, const Place &place, uint32_t radius)
{
  const uint32_t label = row_of (p.labels, place.y, place.z)[place.x];
  const uint32_t height = row_of (p.squared, place.y, place.z)[place.x];
  const uint32_t last = last_of (place.x, radius, p.width);

  for (uint32_t z = first_of (place.z, radius); z <= last_of (place.z, radius, p.depth); z++)
    for (uint32_t y = first_of (place.y, radius); y <= last_of (place.y, radius, p.height); y++) {
      const uint32_t *const labels = row_of (p.labels, y, z);
      const uint32_t *const squared = row_of (p.squared, y, z);
      for (uint32_t x = first_of (place.x, radius); x <= last; x++)
        if (squared[x] > height && labels[x] == label)
          return false;
    }
  return true;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_PEAKS_THREADS)
    ccl_map_peaks_find (const __grid_constant__ Parameters p)
{
  const uint64_t n = (uint64_t)p.width * p.height * p.depth;

  for (uint64_t pixel = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; pixel < n;
       pixel += (uint64_t)gridDim.x * blockDim.x) {
    const Place place = place_of (p, pixel);
    /* Most pixels have a higher one beside them. */
    const bool is_peak = row_of (p.labels, place.y, place.z)[place.x] && is_highest (p, place, 1) &&
                         (p.radius == 1 || is_highest (p, place, p.radius));
    p.parents[pixel] = is_peak ? (uint32_t)pixel : CUDACCL_VALUES_BACKGROUND;
  }
}

/* Unites a peak with those before it in a row of its window. */
static __device__ __forceinline__ void
unite_with_row (
    const Parameters &p, uint32_t peak, uint32_t label, const Place &place, uint32_t y, uint32_t z)
{
  const uint32_t *const labels = row_of (p.labels, y, z);
  const uint32_t row = (z * p.height + y) * p.width;
  const uint32_t last = last_of (place.x, p.radius, p.width);

  for (uint32_t x = first_of (place.x, p.radius); x <= last && row + x < peak; x++)
    if (labels[x] == label && load_parent (p.parents, row + x) != CUDACCL_VALUES_BACKGROUND)
      unite (p.parents, peak, row + x);
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_PEAKS_THREADS)
    ccl_map_peaks_unite (const __grid_constant__ Parameters p)
{
  const uint64_t n = (uint64_t)p.width * p.height * p.depth;

  for (uint64_t pixel = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; pixel < n;
       pixel += (uint64_t)gridDim.x * blockDim.x) {
    if (load_parent (p.parents, (uint32_t)pixel) == CUDACCL_VALUES_BACKGROUND)
      continue;
    const Place place = place_of (p, pixel);
    const uint32_t label = row_of (p.labels, place.y, place.z)[place.x];
    for (uint32_t z = first_of (place.z, p.radius); z <= place.z; z++) {
      const uint32_t last = z < place.z ? last_of (place.y, p.radius, p.height) : place.y;
      for (uint32_t y = first_of (place.y, p.radius); y <= last; y++)
        unite_with_row (p, (uint32_t)pixel, label, place, y, z);
    }
  }
}
