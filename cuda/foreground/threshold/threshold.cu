/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreground by a threshold, which is given or that of the frame (otsu.cu). */
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "cuda/foreground/mask.cuh"
#include "threshold-parameters.h"

typedef CclThresholdParameters Parameters;

/* A block handles four rows, a warp some parts of a row, which it loads before it writes any. */
template <PixelKind KIND>
static __device__ __forceinline__ void
threshold (const Parameters &p)
{
  const uint32_t PARTS = CUDACCL_THRESHOLD_MOST_PARTS;
  Group groups[PARTS];
  GroupValues<KIND> values[PARTS];
#pragma unroll
  for (uint32_t part = 0; part < PARTS; part++) {
    if (part < p.parts) {
      groups[part] = group_in_part (p.extent, blockIdx.x * p.parts + part);
      values[part] = GroupValues<KIND> (p.frame, groups[part]);
    }
  }
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  const uint32_t threshold = p.found ? *p.found : p.threshold;
#pragma unroll
  for (uint32_t part = 0; part < PARTS; part++) {
    if (part < p.parts) {
      uint32_t found = 0;
#pragma unroll
      for (uint32_t i = 0; i < PIXELS; i++)
        found |= (uint32_t)(values[part][i] > threshold) << i;
      write_group (p.extent, p.mask, groups[part], found, 0);
    }
  }
}

#define THRESHOLD_KERNEL(name, kind)                                                               \
  extern "C" __global__ void __launch_bounds__ (CUDACCL_FOREGROUND_THREADS)                        \
      name (const __grid_constant__ Parameters p)                                                  \
  {                                                                                                \
    threshold<kind> (p);                                                                           \
  }
THRESHOLD_KERNEL (ccl_threshold, BYTES)
THRESHOLD_KERNEL (ccl_threshold_packed, PACKED)
THRESHOLD_KERNEL (ccl_threshold_words, WORDS)
