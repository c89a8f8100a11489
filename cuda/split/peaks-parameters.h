/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of peaks.cu, compiled by the host's C and by nvcc. */
#pragma once

#include <stdint.h>

enum {
  CUDACCL_MAP_PEAKS_THREADS = 256,
  CUDACCL_MAP_PEAKS_BLOCKS = 16, /* for each multiprocessor */
};

typedef struct CclMapPeaksParameters {
  const uint32_t *labels, *squared;
  uint64_t label_row, label_slice, squared_row, squared_slice; /* words */
  uint32_t width, height, depth, radius;
  uint32_t *parents; /* [pixel] of peaks; else CUDACCL_VALUES_BACKGROUND */
} CclMapPeaksParameters;
