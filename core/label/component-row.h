/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The row of the component table that follows from the sums of a component, for all backends. */
#pragma once

#include <cudaccl/labeller.h>

#ifdef __CUDACC__
#define CUDACCL_ROW_FUNCTION __device__ static __forceinline__
#else
#define CUDACCL_ROW_FUNCTION static inline
#endif

/* left, top, right, bottom: of the bounding box, inclusive. sum_x, sum_y: of the coordinates of all
 * pixels. */
CUDACCL_ROW_FUNCTION CclComponent
ccl_component_row (uint32_t label, uint32_t area, uint32_t left, uint32_t top, uint32_t right,
    uint32_t bottom, uint64_t sum_x, uint64_t sum_y)
{
  CclComponent row;
  row.label = label;
  row.area = area;
  row.x = left;
  row.y = top;
  row.width = right - left + 1;
  row.height = bottom - top + 1;
  row.centroid_x = (double)sum_x / (double)area;
  row.centroid_y = (double)sum_y / (double)area;
  return row;
}
