/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The 32 threads of a warp together. */
#ifndef CCL_CUDA_WARP_CUH
#define CCL_CUDA_WARP_CUH

#include <stdint.h>

#define FULL_WARP 0xffffffffu

/* The thread's place in its warp, in blocks of one dimension. */
static __device__ __forceinline__ uint32_t
lane_of_warp ()
{
  return threadIdx.x % 32;
}

/* The lower n bits set; n is 0…31. */
static __device__ __forceinline__ uint32_t
bits_below (uint32_t n)
{
  return (1u << n) - 1;
}

/* The sum of a value over this and all lower lanes. All 32 lanes take part. */
static __device__ __forceinline__ uint32_t
sum_up_to_lane (uint32_t value)
{
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const uint32_t other = __shfl_up_sync (FULL_WARP, value, distance);
    if (lane_of_warp () >= distance)
      value += other;
  }
  return value;
}

/* The sum of a value over all threads before this one in the block, and over all of them. The
 * block has one dimension, n_warps full warps, at most 32; sums is shared memory for n_warps
 * numbers. All threads take part; they may reuse sums after the next barrier. */
static __device__ __forceinline__ uint32_t
sum_before_thread (uint32_t value, uint32_t *sums, uint32_t n_warps, uint32_t *total)
{
  const uint32_t lane = lane_of_warp (), warp = threadIdx.x / 32;
  const uint32_t inclusive = sum_up_to_lane (value);
  if (lane == 31)
    sums[warp] = inclusive;
  __syncthreads ();
  const uint32_t warps = sum_up_to_lane (lane < n_warps ? sums[lane] : 0);
  const uint32_t before = __shfl_sync (FULL_WARP, warps, warp == 0 ? 0 : warp - 1);
  *total = __shfl_sync (FULL_WARP, warps, 31);
  return (warp == 0 ? 0 : before) + inclusive - value;
}

#endif /* CCL_CUDA_WARP_CUH */
