/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sums of tile components and components, in pixels of the frame. */
#pragma once

#include "bits.cuh"

/* The sums of one tile component. */
struct ComponentSums {
  unsigned long long sum_x, sum_y;
  uint32_t area, left, right, bottom;
};

static __device__ __forceinline__ ComponentSums
load_sums (const CclStripsSums &f, uint32_t component)
{
  return {__ldcg (&f.sum_x[component]), __ldcg (&f.sum_y[component]), __ldcg (&f.area[component]),
      __ldcg (&f.left[component]), __ldcg (&f.right[component]), __ldcg (&f.bottom[component])};
}
