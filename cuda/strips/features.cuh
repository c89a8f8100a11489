/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The features of pieces and components, in pixels of the frame. */
#ifndef CCL_STRIPS_FEATURES_CUH
#define CCL_STRIPS_FEATURES_CUH

#include "bits.cuh"

/* The features of one piece. */
struct PieceFeatures {
  unsigned long long sum_x, sum_y;
  uint32_t area, left, right, bottom;
};

static __device__ __forceinline__ PieceFeatures
load_features (const CclStripsFeatures &f, uint32_t piece)
{
  return {__ldcg (&f.sum_x[piece]), __ldcg (&f.sum_y[piece]), __ldcg (&f.area[piece]),
      __ldcg (&f.left[piece]), __ldcg (&f.right[piece]), __ldcg (&f.bottom[piece])};
}

#endif /* CCL_STRIPS_FEATURES_CUH */
