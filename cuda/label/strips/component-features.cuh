/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The columns of tile components and of components: from the words of tile components through the
 * roots to the rows of features. */
#pragma once

#include "part-sums.cuh"
#include "cuda/measure/picture-sums.cuh"
#include "reduce.cuh"

/* The features of a tile component of the tile at (tile_x, tile_y) in coordinates of the frame.
 * words: see strips-columns-parameters.h. */
static __device__ __forceinline__ CclFeatures
features_from_words (uint32_t columns, const uint32_t *words, uint32_t area,
    unsigned long long sum_x, unsigned long long sum_y, uint32_t tile_x, uint32_t tile_y)
{
  const Long left = tile_x, top = tile_y, n = area;
  CclFeatures f;
  f.sum_x = sum_x;
  f.sum_y = sum_y;
  if (columns & CUDACCL_COLUMN_MOMENTS) {
    /* Σ (x - left)² = Σ x² - 2 left Σ x + n left², and so on. */
    f.sum_xx = words[XX] + (2 * sum_x - n * left) * left;
    f.sum_yy = words[YY] + (2 * sum_y - n * top) * top;
    f.sum_xy = words[XY] + sum_x * top + sum_y * left - n * left * top;
  }
  words += N_MOMENTS;
  if (CUDACCL_STRIPS_HAS_NEIGHBOURS (columns)) {
    set_neighbour_counts (f, words);
    words += CUDACCL_NEIGHBOUR_COUNTS;
  }
  if (CUDACCL_STRIPS_HAS_VALUES (columns)) {
    set_values<LOWER_BITS> (f, words, FramePlace{left, top});
  }
  return f;
}

/* ---- of open tile components ---- */

static_assert (sizeof (CclOpenFeatures) % 32 == 0, "a whole number of sectors");

static __device__ __forceinline__ CclOpenFeatures
open_features (const CclFeatures &f)
{
  CclOpenFeatures open;
#define COPY(column, type, field, combine) open.field = f.field;
  CCL_OPEN_FEATURES (COPY)
#undef COPY
  return open;
}

/* Loads the columns of an open tile component, or of the component of a root. Moments come first.
 */
static __device__ __forceinline__ CclOpenFeatures
load_open_features (const CclOpenFeatures &open, uint32_t columns)
{
  enum { N_UNITS = sizeof open / sizeof (uint4), OF_MOMENTS = 2 };
  CclOpenFeatures f;
#pragma unroll
  for (uint32_t i = 0; i < N_UNITS; i++)
    if (i < OF_MOMENTS || columns & ~(uint32_t)(CUDACCL_COLUMN_SUMS | CUDACCL_COLUMN_MOMENTS))
      ((uint4 *)&f)[i] = __ldcg ((const uint4 *)&open + i);
  return f;
}

static __device__ __forceinline__ uint64_t
reduce_SUM (uint32_t lanes, uint64_t value)
{
  return reduce_add_long (lanes, value);
}

static __device__ __forceinline__ uint32_t
reduce_SUM (uint32_t lanes, uint32_t value)
{
  return reduce_add (lanes, value);
}

static __device__ __forceinline__ void
combine_SUM (uint64_t *to, uint64_t value)
{
  atomicAdd ((unsigned long long *)to, (unsigned long long)value);
}

static __device__ __forceinline__ void
combine_SUM (uint32_t *to, uint32_t value)
{
  atomicAdd (to, value);
}

static __device__ __forceinline__ uint32_t
reduce_MAX (uint32_t lanes, uint32_t value)
{
  return reduce_max (lanes, value);
}

static __device__ __forceinline__ uint64_t
reduce_MAX (uint32_t lanes, uint64_t value)
{
  const uint32_t upper = reduce_max (lanes, (uint32_t)(value >> 32));
  const uint32_t lower = reduce_max (lanes, value >> 32 == upper ? (uint32_t)value : 0);
  return (uint64_t)upper << 32 | lower;
}

static __device__ __forceinline__ void
combine_MAX (uint32_t *to, uint32_t value)
{
  atomicMax (to, value);
}

static __device__ __forceinline__ void
combine_MAX (uint64_t *to, uint64_t value)
{
  atomicMax ((unsigned long long *)to, (unsigned long long)value);
}

#define reduce_MIN reduce_min
#define combine_MIN atomicMin

static __device__ __forceinline__ void
add_features_to_root (CclOpenFeatures *root, const CclOpenFeatures &f, uint32_t columns)
{
#define ADD(column, type, field, combine)                                                          \
  if (columns & CUDACCL_COLUMN_##column)                                                           \
    combine_##combine (&root->field, f.field);
  CCL_OPEN_FEATURES (ADD)
#undef ADD
}

/* As add_to_roots_by_warp(). */
static __device__ __forceinline__ void
add_features_to_roots_by_warp (
    CclOpenFeatures *open, uint32_t root, CclOpenFeatures f, uint32_t columns)
{
#pragma unroll 1
  for (int i = 0; i < 2; i++) {
    const uint32_t waiting = __ballot_sync (FULL_WARP, root != NOTHING);
    if (!waiting)
      return;
    const uint32_t first_lane = __ffs (waiting) - 1;
    const uint32_t shared_root = __shfl_sync (FULL_WARP, root, first_lane);
    const uint32_t sharing = __ballot_sync (FULL_WARP, root == shared_root);
    if (root == shared_root) {
#define REDUCE(column, type, field, combine)                                                       \
  if (columns & CUDACCL_COLUMN_##column)                                                           \
    f.field = reduce_##combine (sharing, f.field);
      CCL_OPEN_FEATURES (REDUCE)
#undef REDUCE
      if (lane_of_warp () == first_lane)
        add_features_to_root (&open[root], f, columns);
      root = NOTHING;
    }
    __syncwarp ();
  }
  if (root != NOTHING)
    add_features_to_root (&open[root], f, columns);
}

/* What reduce_components() does with columns. */
struct ReducedColumns {
  const CclStripsColumnsParameters &p;

  __device__ __forceinline__ void
  add (uint32_t root, uint32_t open) const
  {
    CclOpenFeatures f = {};
    if (root != NOTHING)
      f = load_open_features (p.open[open], p.columns);
    __syncwarp ();
    add_features_to_roots_by_warp (p.open, root, f, p.columns);
  }
};
