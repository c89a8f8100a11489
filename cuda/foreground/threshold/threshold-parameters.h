/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of threshold.cu, compiled by the host's C and by nvcc. */
#pragma once

#include "cuda/foreground/foreground-parameters.h"

enum { CUDACCL_THRESHOLD_MOST_PARTS = 4 };

typedef struct CclThresholdParameters {
  CclExtent extent;
  CclFrameParameters frame;
  CclMaskParameters mask;
  uint32_t parts; /* of a row, 32 groups each, for a warp: 1…CUDACCL_THRESHOLD_MOST_PARTS */
  uint32_t threshold;
  const uint32_t *found; /* the threshold in device memory; NULL: the one above */
} CclThresholdParameters;
