/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of peaks.cu, compiled by the host's C and by nvcc. */
#pragma once

#include "cuda/kernel-lib/word-map.h"

enum {
  CUDACCL_MAP_PEAKS_THREADS = 256,
  CUDACCL_MAP_PEAKS_BLOCKS = 16, /* for each multiprocessor */
};

typedef struct CclMapPeaksParameters {
  CclWordMap labels, squared;
  uint32_t width, height, depth, radius;
  uint32_t *parents; /* [pixel] of peaks; else CUDACCL_VALUES_BACKGROUND */
} CclMapPeaksParameters;
