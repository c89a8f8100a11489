/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels of strips.cu for tables with columns, in its graph. The tile phase is the same, and
 * keeps bits and runs. From these, blocks beside those that merge measure each tile component, in
 * integers. The reduce phase adds what is measured of open tile components to their roots, and the
 * number phase writes the rows of features. So no label map is needed.
 *
 * What depends on neighbours is for 8-connectivity alone, in which foreground that touches is one
 * component: with 4-connectivity, labels of pixels that touch at a corner are compared, which are
 * known in the end only (measure.cu).
 */
#include "last-phases.cuh"
#include "component-rows.cuh"
#include "measure-tile.cuh"
#include "merge.cuh"

/* The first blocks merge, the others measure. */
#define MERGE_KERNEL(name, rows, neighbours, values)                                               \
  extern "C" __global__ void __launch_bounds__ (CUDACCL_STRIPS_COLUMNS_THREADS,                    \
      CUDACCL_STRIPS_COLUMNS_BLOCKS) name (const CclStripsColumnsParameters p)                     \
  {                                                                                                \
    const uint32_t n_tiles = p.strips.tile_columns * p.strips.tile_rows;                           \
    if (blockIdx.x < n_tiles)                                                                      \
      merge_tiles<rows> (p.strips);                                                                \
    else                                                                                           \
      measure_tile<rows, neighbours, values> (p, blockIdx.x - n_tiles);                            \
  }
MERGE_KERNEL (ccl_strips_columns_merge_4, 1, false, false)
MERGE_KERNEL (ccl_strips_columns_merge_values_4, 1, false, true)
MERGE_KERNEL (ccl_strips_columns_merge_8, 2, false, false)
MERGE_KERNEL (ccl_strips_columns_merge_values_8, 2, false, true)
MERGE_KERNEL (ccl_strips_columns_merge_neighbours_8, 2, true, false)
MERGE_KERNEL (ccl_strips_columns_merge_both_8, 2, true, true)

extern "C" __global__ void
__launch_bounds__ (CUDACCL_STRIPS_NUMBER_THREADS)
    ccl_strips_columns_reduce (const CclStripsColumnsParameters p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  reduce_components (p.strips, ReducedColumns{p});
}

#define LAST_KERNEL(name, function)                                                                \
  extern "C" __global__ void __launch_bounds__ (CUDACCL_STRIPS_NUMBER_THREADS,                     \
      CUDACCL_STRIPS_COLUMNS_BLOCKS) name (const CclStripsColumnsParameters p)                     \
  {                                                                                                \
    function (p.strips, MeasuredColumns{p});                                                       \
  }
LAST_KERNEL (ccl_strips_columns_number_4, number_components<1>)
LAST_KERNEL (ccl_strips_columns_number_8, number_components<2>)
LAST_KERNEL (ccl_strips_columns_write_labels_4, number_and_write_labels<1>)
LAST_KERNEL (ccl_strips_columns_write_labels_8, number_and_write_labels<2>)
