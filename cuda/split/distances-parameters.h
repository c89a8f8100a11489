/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of distances.cu, compiled by the host's C and by nvcc. */
#pragma once

#include "cuda/kernel-lib/word-map.h"

enum {
  CUDACCL_MAP_DISTANCES_THREADS = 256,
  CUDACCL_MAP_DISTANCES_BLOCKS = 8, /* for each multiprocessor */
};

typedef struct CclMapDistancesParameters {
  CclWordMap labels, from, to; /* squared distances along the axes so far, and with one more */
  double *roots;               /* [width × height × depth] */
  uint32_t width, height, depth;
  uint32_t is_along_z; /* the lines are those along z, not y */
} CclMapDistancesParameters;
