/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The features of components, from the label map: what cpu/measure.c does on the CPU. All are
 * integers, so the order in which threads add does not matter.
 *
 * 1. add: each thread goes down a few rows of its column and adds to the sums of a component what
 * it has of it, when another one begins. What the threads of a warp have in the end is added
 *    together first where they have the same component.
 * 2. finish: writes the sums to host memory and clears them for the next frame.
 */
#include "measure-parameters.h"
#include "neighbourhood.h"
#include "tuning.h"
#include "warp.cuh"

/* What a thread has of one component. Minima are kept as maxima of the complement. */
struct Part {
#define DECLARE(column, type, field, combine) type field;
  CUDACCL_FEATURES (DECLARE)
#undef DECLARE
};

typedef unsigned long long Long;

static __device__ __forceinline__ uint32_t
reduce (uint32_t lanes, uint32_t value, bool is_sum)
{
  return is_sum ? reduce_add (lanes, value) : reduce_max (lanes, value);
}

static __device__ __forceinline__ uint64_t
reduce (uint32_t lanes, uint64_t value, bool)
{
  return reduce_add_long (lanes, value);
}

static __device__ __forceinline__ void
combine_in_memory (uint32_t *to, uint32_t value, bool is_sum)
{
  if (is_sum && value)
    atomicAdd (to, value);
  if (!is_sum && value > *to)
    atomicMax (to, value);
}

static __device__ __forceinline__ void
combine_in_memory (uint64_t *to, uint64_t value, bool)
{
  if (value)
    atomicAdd ((Long *)to, (Long)value);
}

#define IS_SUM_SUM true
#define IS_SUM_MIN false
#define IS_SUM_MAX false

static __device__ __forceinline__ void
add_to_component (const CclMeasureParameters &p, uint32_t label, const Part &part)
{
  if (label == 0 || label > p.n_rows)
    return;
  CclFeatures *const sums = &p.sums[label - 1];
#define ADD(column, type, field, combine)                                                          \
  if (p.columns & CUDACCL_COLUMN_##column)                                                         \
    combine_in_memory (&sums->field, part.field, IS_SUM_##combine);
  CUDACCL_FEATURES (ADD)
#undef ADD
}

/* Adds the parts of all lanes. Those of lanes with the same component as the first one that has any
 * are reduced first. */
static __device__ __forceinline__ void
add_by_warp (const CclMeasureParameters &p, uint32_t label, Part part)
{
  const uint32_t with_label = __ballot_sync (FULL_WARP, label != 0);
  if (!with_label)
    return;
  const uint32_t first = __ffs (with_label) - 1;
  const uint32_t shared_label = __shfl_sync (FULL_WARP, label, first);
  const uint32_t sharing = __ballot_sync (FULL_WARP, label == shared_label);
  if (__popc (sharing) > 2 && label == shared_label) {
#define REDUCE(column, type, field, combine)                                                       \
  if (p.columns & CUDACCL_COLUMN_##column)                                                         \
    part.field = reduce (sharing, part.field, IS_SUM_##combine);
    CUDACCL_FEATURES (REDUCE)
#undef REDUCE
    if (lane_of_warp () != first)
      label = 0;
  }
  add_to_component (p, label, part);
}

static __device__ __forceinline__ uint32_t
label_at (const CclMeasureParameters &p, int32_t x, int32_t y)
{
  const bool exists = x >= 0 && y >= 0 && x < (int32_t)p.width && y < (int32_t)p.height;
  return exists ? p.labels[y * p.label_stride + x] : 0;
}

/* Whether a pixel of a component is a border pixel. */
static __device__ __forceinline__ bool
is_border (const CclMeasureParameters &p, uint32_t label, int32_t x, int32_t y)
{
  return label_at (p, x, y - 1) != label || label_at (p, x - 1, y) != label ||
         label_at (p, x + 1, y) != label || label_at (p, x, y + 1) != label;
}

/* The neighbours with a label (neighbourhood.h). */
static __device__ __forceinline__ uint32_t
neighbours_with (const CclMeasureParameters &p, uint32_t label, int32_t x, int32_t y)
{
  uint32_t neighbours = 0, bit = 0;
#pragma unroll
  for (int32_t dy = -1; dy <= 1; dy++)
#pragma unroll
    for (int32_t dx = -1; dx <= 1; dx++)
      if (dx || dy)
        neighbours |= (uint32_t)(label_at (p, x + dx, y + dy) == label) << bit++;
  return neighbours;
}

/* Of the neighbours with the label, those that are border pixels. */
static __device__ uint32_t
border_neighbours (
    const CclMeasureParameters &p, uint32_t label, int32_t x, int32_t y, uint32_t neighbours)
{
  uint32_t borders = 0, bit = 0;
  for (int32_t dy = -1; dy <= 1; dy++)
    for (int32_t dx = -1; dx <= 1; dx++)
      if (dx || dy) {
        if (neighbours >> bit & 1 && is_border (p, label, x + dx, y + dy))
          borders |= 1u << bit;
        bit++;
      }
  return borders;
}

static __device__ __forceinline__ void
add_neighbours (const CclMeasureParameters &p, Part &part, uint32_t label, int32_t x, int32_t y)
{
  const uint32_t neighbours = neighbours_with (p, label, x, y);
  if (neighbours == CCL_ALL_NEIGHBOURS)
    return;
  if (p.columns & CUDACCL_COLUMN_TOPOLOGY) {
    const CclQuads quads = ccl_quads_of_pixel (neighbours);
    part.n_quads_1 += quads.n_1;
    part.n_quads_2 += quads.n_2;
    part.n_quads_3 += quads.n_3;
    part.n_quads_diagonal += quads.n_diagonal;
  }
  if (p.columns & CUDACCL_COLUMN_PERIMETER &&
      (neighbours & CCL_EDGE_NEIGHBOURS) != CCL_EDGE_NEIGHBOURS) {
    const uint32_t borders = border_neighbours (p, label, x, y, neighbours);
    const CclBorderKind kind = ccl_border_kind (
        __popc (borders & CCL_EDGE_NEIGHBOURS), __popc (borders & ~CCL_EDGE_NEIGHBOURS));
    part.n_straight += kind == CCL_BORDER_STRAIGHT;
    part.n_diagonal += kind == CCL_BORDER_DIAGONAL;
    part.n_mixed += kind == CCL_BORDER_MIXED;
  }
}

static __device__ __forceinline__ void
add_value (const CclMeasureParameters &p, Part &part, uint64_t x, uint64_t y)
{
  const uint8_t *const row = p.values + y * p.value_stride;
  const uint32_t value = p.value_bytes == 2 ? ((const uint16_t *)row)[x] : row[x];
  part.sum_value += value;
  part.sum_squares += (uint64_t)value * value;
  part.sum_value_x += value * x;
  part.sum_value_y += value * y;
  part.least_value = max (part.least_value, ~value);
  part.greatest_value = max (part.greatest_value, value);
}

static __device__ __forceinline__ void
add_pixel (const CclMeasureParameters &p, Part &part, uint32_t label, uint32_t x, uint32_t y)
{
  part.sum_x += x;
  part.sum_y += y;
  part.sum_xx += (uint64_t)x * x;
  part.sum_yy += (uint64_t)y * y;
  part.sum_xy += (uint64_t)x * y;
  if (p.columns & CUDACCL_COLUMN_INTENSITY)
    add_value (p, part, x, y);
  if (p.columns & (CUDACCL_COLUMN_PERIMETER | CUDACCL_COLUMN_TOPOLOGY))
    add_neighbours (p, part, label, (int32_t)x, (int32_t)y);
}

/* One block for each 32 columns of CUDACCL_MEASURE_WARPS × CUDACCL_MEASURE_ROWS rows. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_MEASURE_THREADS) ccl_measure_add (const CclMeasureParameters p)
{
  const uint32_t x = blockIdx.x * 32 + lane_of_warp ();
  const uint32_t warp = blockIdx.y * CUDACCL_MEASURE_WARPS + threadIdx.x / 32;
  const uint32_t first = warp * CUDACCL_MEASURE_ROWS;
  uint32_t current = 0, greatest = 0;
  Part part = {};
  for (uint32_t y = first; y < min (first + CUDACCL_MEASURE_ROWS, p.height); y++) {
    const uint32_t label = x < p.width ? p.labels[y * p.label_stride + x] : 0;
    if (label == 0)
      continue;
    if (label != current) {
      add_to_component (p, current, part);
      part = {};
      current = label;
      greatest = max (greatest, label);
    }
    add_pixel (p, part, label, x, y);
  }
  __syncwarp ();
  add_by_warp (p, current, part);
  __syncwarp ();
  greatest = reduce_max (FULL_WARP, greatest);
  if (lane_of_warp () == 0 && greatest > *p.greatest_label)
    atomicMax (p.greatest_label, greatest);
}

/* Any number of threads; they write words, so that rows cross the bus in whole lines. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_MEASURE_THREADS) ccl_measure_finish (const CclMeasureParameters p)
{
  const uint32_t row_words = sizeof (CclFeatures) / sizeof (uint32_t);
  const uint32_t least_value = offsetof (CclFeatures, least_value) / sizeof (uint32_t);
  const uint64_t n_words = (uint64_t)min (*p.greatest_label, p.n_rows) * row_words;
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (uint64_t i = thread; i < n_words; i += gridDim.x * blockDim.x) {
    const uint32_t word = ((const uint32_t *)p.sums)[i];
    ((uint32_t *)p.result)[i] = i % row_words == least_value ? ~word : word;
    ((uint32_t *)p.sums)[i] = 0;
  }
}
