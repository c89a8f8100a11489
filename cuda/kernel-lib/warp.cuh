/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The 32 threads of a warp together. */
#pragma once

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

/* The same for values below 2^BITS, and the sum over all lanes. Ballots do not depend on each
 * other, as the shuffles of a chain do. */
template <uint32_t BITS>
static __device__ __forceinline__ uint32_t
sum_bits_up_to_lane (uint32_t value, uint32_t *total)
{
  uint32_t sum = 0, all = 0;
#pragma unroll
  for (uint32_t bit = 0; bit < BITS; bit++) {
    const uint32_t lanes = __ballot_sync (FULL_WARP, value >> bit & 1);
    sum += __popc (lanes & ((2u << lane_of_warp ()) - 1)) << bit;
    all += __popc (lanes) << bit;
  }
  *total = all;
  return sum;
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

/* As sum_before_thread() for blocks of few warps, whose sums each thread adds up by itself: loads
 * that do not depend on each other have a lower latency than a chain of shuffles. Ends with a
 * barrier. */
template <uint32_t WARPS>
static __device__ __forceinline__ uint32_t
sum_before_thread_of_few (uint32_t value, uint32_t *total)
{
  __shared__ uint32_t warp_sums[WARPS];
  const uint32_t sum = sum_up_to_lane (value);
  if (lane_of_warp () == 31)
    warp_sums[threadIdx.x / 32] = sum;
  __syncthreads ();
  uint32_t before = 0, all = 0;
  for (uint32_t i = 0; i < WARPS; i++) {
    before += i < threadIdx.x / 32 ? warp_sums[i] : 0;
    all += warp_sums[i];
  }
  __syncthreads ();
  *total = all;
  return before + sum - value;
}

/* How many lanes of the set are below this one. */
static __device__ __forceinline__ uint32_t
lanes_below (uint32_t lanes)
{
  return __popc (lanes & bits_below (lane_of_warp ()));
}

/* Reductions over a set of lanes, all of which take part with the same set. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
/* Before compute capability 8.0 every lane of the set reads the value of every other. */
#define CUDACCL_REDUCE(name, type, combine)                                                        \
  static __device__ __forceinline__ type name (uint32_t lanes, type value)                         \
  {                                                                                                \
    type result = __shfl_sync (lanes, value, __ffs (lanes) - 1);                                   \
    for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) {                            \
      type other = __shfl_sync (lanes, value, __ffs (rest) - 1);                                   \
      result = combine;                                                                            \
    }                                                                                              \
    return result;                                                                                 \
  }
CUDACCL_REDUCE (reduce_add, uint32_t, result + other)
CUDACCL_REDUCE (reduce_min, uint32_t, min (result, other))
CUDACCL_REDUCE (reduce_max, uint32_t, max (result, other))
CUDACCL_REDUCE (reduce_add_long, unsigned long long, result + other)
#else
#define reduce_add __reduce_add_sync
#define reduce_min __reduce_min_sync
#define reduce_max __reduce_max_sync
/* In parts of 26 bits, whose sums over a warp have at most 31 bits. */
static __device__ __forceinline__ unsigned long long
reduce_add_long (uint32_t lanes, unsigned long long value)
{
  const uint32_t mask = (1u << 26) - 1;
  unsigned long long low = __reduce_add_sync (lanes, (uint32_t)value & mask);
  unsigned long long middle = __reduce_add_sync (lanes, (uint32_t)(value >> 26) & mask);
  unsigned long long high = __reduce_add_sync (lanes, (uint32_t)(value >> 52));
  return low + (middle << 26) + (high << 52);
}
#endif
