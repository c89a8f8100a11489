/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The features of tile components and components, in pixels of the frame. */
#ifndef CUDACCL_STRIPS_FEATURES_CUH
#define CUDACCL_STRIPS_FEATURES_CUH

#include "bits.cuh"

/* The features of one tile component. */
struct ComponentFeatures {
  unsigned long long sum_x, sum_y;
  uint32_t area, left, right, bottom;
};

static __device__ __forceinline__ ComponentFeatures
load_features (const CclStripsFeatures &f, uint32_t component)
{
  return {__ldcg (&f.sum_x[component]), __ldcg (&f.sum_y[component]), __ldcg (&f.area[component]),
      __ldcg (&f.left[component]), __ldcg (&f.right[component]), __ldcg (&f.bottom[component])};
}

#endif /* CUDACCL_STRIPS_FEATURES_CUH */
