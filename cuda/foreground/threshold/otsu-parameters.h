/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of otsu.cu, compiled by the host's C and by nvcc. */
#pragma once

#include "cuda/foreground/foreground-parameters.h"

enum {
  CUDACCL_HISTOGRAM_THREADS = 32 * CUDACCL_HISTOGRAM_WARPS,
  CUDACCL_HISTOGRAM_WIDE_VALUES = 65536,
  CUDACCL_HISTOGRAM_BINS = 256, /* of 256 values of 16 bits each */
  CUDACCL_HISTOGRAM_WINDOW_BINS = 4,
  CUDACCL_HISTOGRAM_COLUMNS = 16,
  /* The most parts of 32 groups that a block may count if pixels have 16 bits: a column has counts
   * of up to 4095 pixels. */
  CUDACCL_HISTOGRAM_MOST_PARTS = 4095 / CUDACCL_FOREGROUND_PIXELS * CUDACCL_HISTOGRAM_COLUMNS / 32,
};

/* Otsu's threshold of a frame. */
typedef struct CclHistogram {
  uint32_t counts[256]; /* of values, or of bins of pixels of 16 bits; zero when a frame starts */
  uint32_t n_blocks;    /* blocks that have added their counts; zero when a kernel starts */
  uint32_t threshold;
} CclHistogram;

/* What Otsu's threshold of pixels of 16 bits needs besides. A bin has the values of one upper byte;
 * windows are the bins that may have the threshold. */
typedef struct CclWideHistogram {
  uint64_t low_sums[CUDACCL_HISTOGRAM_BINS];   /* of the lower bytes; zero when a frame starts */
  uint64_t sum_before[CUDACCL_HISTOGRAM_BINS]; /* of values less than those of the bin */
  uint64_t sum;                                /* of all values */
  uint32_t n_before[CUDACCL_HISTOGRAM_BINS];   /* pixels with values less than those of the bin */
  uint32_t n;                                  /* of all pixels */
  /* Their first bins, ascending, and CUDACCL_HISTOGRAM_BINS after the last. */
  uint32_t windows[CUDACCL_HISTOGRAM_BINS / CUDACCL_HISTOGRAM_WINDOW_BINS + 1];
  /* How often each value of the windows occurs. The last window may begin with the last bin. Zero
   * when a frame starts. */
  uint32_t counts[CUDACCL_HISTOGRAM_WIDE_VALUES + 256 * CUDACCL_HISTOGRAM_WINDOW_BINS];
} CclWideHistogram;

typedef struct CclOtsuParameters {
  CclExtent extent;
  CclFrameParameters frame;
  const uint32_t *roi_mask; /* CclMaskParameters */
  CclHistogram *histogram;
  CclWideHistogram *wide_histogram; /* NULL: pixels of 8 bits */
} CclOtsuParameters;
