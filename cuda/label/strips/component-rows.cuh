/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The number phase with columns: the rows of features. */
#pragma once

#include "component-features.cuh"
#include "number.cuh"

/* What write_rows() does with columns. */
struct MeasuredColumns {
  typedef ReducedColumns Reduced;
  typedef CclFeatures Row;
  const CclStripsColumnsParameters &p;

  __device__ __forceinline__ CclFeatures
  load_open (uint32_t open, const ComponentSums &f) const
  {
    const CclOpenFeatures its = load_open_features (p.open[open], p.columns);
    CclFeatures row;
#define COPY(column, type, field, combine) row.field = its.field;
    CCL_OPEN_FEATURES (COPY)
#undef COPY
    row.intensity_max = (uint32_t)(row.intensity_max_place >> 48);
    row.sum_x = f.sum_x;
    row.sum_y = f.sum_y;
    return row;
  }

  __device__ __forceinline__ CclFeatures
  load_closed (uint32_t number, const ComponentSums &f, uint32_t tile_x, uint32_t tile_y) const
  {
    const uint32_t n_words = CUDACCL_STRIPS_COLUMN_WORDS (
        CUDACCL_STRIPS_HAS_NEIGHBOURS (p.columns), CUDACCL_STRIPS_HAS_VALUES (p.columns));
    return features_from_words (p.columns, p.tile_words + number * (size_t)n_words, f.area, f.sum_x,
        f.sum_y, tile_x, tile_y);
  }

  /* Writes the features of n rows from `first` on, each thread those of one row. They cross the bus
   * in whole lines where most units of a row are written. */
  __device__ __forceinline__ void
  write (Rows &block, const CclFeatures &row, uint32_t first, uint32_t n) const
  {
    typedef unsigned long long Unit;
    enum {
      ROW_UNITS = sizeof (CclFeatures) / sizeof (Unit),
      STAGED = sizeof block.rows / (sizeof (CclFeatures)) / 32 * 32,
    };
    CclFeatures *const staged = (CclFeatures *)block.rows;
#pragma unroll 1
    for (uint32_t begin = 0; begin < n; begin += STAGED) {
      const uint32_t n_staged = min (n - begin, (uint32_t)STAGED);
      if (threadIdx.x - begin < n_staged)
        staged[threadIdx.x - begin] = row;
      __syncthreads ();
      Unit *const to = (Unit *)(p.features + first + begin);
#pragma unroll 1
      for (uint32_t i = threadIdx.x; i < n_staged * p.n_units; i += CUDACCL_STRIPS_NUMBER_THREADS) {
        const uint32_t unit = i / p.n_units * ROW_UNITS + p.first_unit + i % p.n_units;
        to[unit] = ((const Unit *)staged)[unit];
      }
      __syncthreads ();
    }
  }

  __device__ __forceinline__ ReducedColumns
  reduced () const
  {
    return {p};
  }
};
