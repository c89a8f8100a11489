/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Components counted in chunks of consecutive elements, to be numbered in raster order. */
#pragma once

#include "cuda/driver/tuning.h"
#include "warp.cuh"

/* Replaces the components in each chunk by those before it; returns their sum. One block of
 * CUDACCL_SCAN_THREADS threads, all of which take part: each has a sequence of chunks. */
static __device__ __forceinline__ uint32_t
number_chunks (uint32_t *offsets, uint32_t n_chunks)
{
  __shared__ uint32_t sums[CUDACCL_SCAN_THREADS / 32];
  const uint32_t n_own = (n_chunks - 1) / CUDACCL_SCAN_THREADS + 1;
  const uint32_t first = min (threadIdx.x * n_own, n_chunks);
  const uint32_t end = min (first + n_own, n_chunks);
  uint32_t sum = 0, n_components;
  for (uint32_t chunk = first; chunk < end; chunk++)
    sum += offsets[chunk];
  uint32_t offset = sum_before_thread (sum, sums, CUDACCL_SCAN_THREADS / 32, &n_components);
  for (uint32_t chunk = first; chunk < end; chunk++) {
    const uint32_t n_chunk = offsets[chunk];
    offsets[chunk] = offset;
    offset += n_chunk;
  }
  return n_components;
}
