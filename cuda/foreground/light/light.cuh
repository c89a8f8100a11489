/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The light of cells (light.h), measured and smoothed by warps. */
#pragma once

#include "light-parameters.h"
#include "core/base/divide-up.h"
#include "cuda/kernel-lib/warp.cuh"

static __constant__ int16_t logs[256] = {CUDACCL_LIGHT_LOGS};
/* The logs where lanes look up different ones, which constant memory gives one after the other. */
typedef int16_t SharedLogs[256];

/* By a block, before its threads synchronise. */
static __device__ __forceinline__ void
share_logs (SharedLogs &shared)
{
  for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x)
    shared[i] = logs[i];
}

static __constant__ uint16_t powers[CUDACCL_LIGHT_RATIOS] = {CUDACCL_LIGHT_POWERS};

/* The lower median of the log ratios that were counted, plus CUDACCL_LIGHT_LIMIT: the first value
 * up to which there are at least half of all. All lanes of a warp take part; there is at least one.
 */
static __device__ __forceinline__ uint32_t
middle_of (const uint32_t counts[CUDACCL_LIGHT_RATIOS])
{
  const uint32_t PER_LANE = CUDACCL_DIVIDE_UP (CUDACCL_LIGHT_RATIOS, 32);
  const uint32_t first = lane_of_warp () * PER_LANE;
  uint32_t own[PER_LANE], sum = 0;
#pragma unroll
  for (uint32_t i = 0; i < PER_LANE; i++) {
    own[i] = first + i < CUDACCL_LIGHT_RATIOS ? counts[first + i] : 0;
    sum += own[i];
  }
  uint32_t below = sum_up_to_lane (sum);
  const uint32_t n = __shfl_sync (FULL_WARP, below, 31);
  const uint32_t lanes = __ballot_sync (FULL_WARP, 2 * below >= n);
  const uint32_t lane = (uint32_t)__ffs ((int)lanes) - 1;
  below -= sum;
  uint32_t middle = first;
#pragma unroll
  for (uint32_t i = 0; i < PER_LANE; i++) {
    below += own[i];
    middle += 2 * below < n;
  }
  return __shfl_sync (FULL_WARP, middle, lane);
}

/* The light of a cell: the lower median of the uniform cells around it, or, where fewer than a
 * third of them are uniform, of the explained cells of the frame; in light with edges, that of the
 * uniform cells around it that are like it, if there are enough. Each lane has a cell of the
 * window. counts: of the log ratios of explained cells. has_edges: called by all lanes where it
 * matters. */
template <typename HasEdges>
static __device__ __forceinline__ int
light_of_cell (const CclLightGrid &grid, const CclLightCell *cells,
    const uint32_t counts[CUDACCL_LIGHT_RATIOS], uint32_t cell, HasEdges has_edges)
{
  const int SIDE = 2 * CUDACCL_LIGHT_WINDOW + 1, OWN = SIDE * SIDE / 2;
  const uint32_t lane = lane_of_warp ();
  const int x = (int)(cell % grid.columns) + (int)lane % SIDE - CUDACCL_LIGHT_WINDOW;
  const int y = (int)(cell / grid.columns) + (int)lane / SIDE - CUDACCL_LIGHT_WINDOW;
  const bool inside =
      lane < SIDE * SIDE && x >= 0 && y >= 0 && x < (int)grid.columns && y < (int)grid.rows;
  const CclLightCell *other = cells + (inside ? (size_t)y * grid.columns + (size_t)x : 0);
  const bool is_uniform = inside && other->uniform;
  const int ratio = is_uniform ? other->ratio : 0;
  const uint32_t in_window = (uint32_t)__popc (__ballot_sync (FULL_WARP, inside));
  uint32_t lanes = __ballot_sync (FULL_WARP, is_uniform);
  const int own = __shfl_sync (FULL_WARP, ratio, OWN);
  const uint32_t alike = __ballot_sync (FULL_WARP, is_uniform && ccl_light_is_near (ratio, own));
  bool suffice = lanes && 3 * (uint32_t)__popc (lanes) >= in_window;

  /* The same for all lanes. */
  if ((lanes >> OWN & 1) && __popc (alike) >= CUDACCL_LIGHT_LEAST_ALIKE &&
      (alike != lanes || !suffice) && has_edges ()) {
    lanes = alike;
    suffice = true;
  }
  if (!suffice) {
    uint32_t any = 0;
    for (uint32_t i = lane; i < CUDACCL_LIGHT_RATIOS; i += 32)
      any |= counts[i];
    if (!__any_sync (FULL_WARP, any))
      return 0;
    return (int)middle_of (counts) - CUDACCL_LIGHT_LIMIT;
  }
  uint32_t rank = 0; /* equal ratios are in order of their lanes */
#pragma unroll
  for (uint32_t i = 0; i < SIDE * SIDE; i++) {
    const int value = __shfl_sync (FULL_WARP, ratio, i);
    rank += (lanes >> i & 1) && (value < ratio || (value == ratio && i < lane));
  }
  const uint32_t n = (uint32_t)__popc (lanes);
  const uint32_t middle = __ballot_sync (FULL_WARP, (lanes >> lane & 1) && rank == (n - 1) / 2);
  return __shfl_sync (FULL_WARP, ratio, __ffs ((int)middle) - 1);
}

/* The factor that removes a light but for one step. */
static __device__ __forceinline__ uint32_t
factor_of_light (int light)
{
  return powers[CUDACCL_LIGHT_LIMIT - ccl_light_removed (light)];
}
