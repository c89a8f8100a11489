/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of map-runs.cu, compiled by the host's C and by nvcc. */
#pragma once

#include <cudaccl/rle.h>

enum {
  CUDACCL_MAP_RUNS_WARPS = 8, /* of a block */
  CUDACCL_MAP_RUNS_THREADS = 32 * CUDACCL_MAP_RUNS_WARPS,
  CUDACCL_MAP_RUNS_ROWS = 32, /* of a thread */
  CUDACCL_MAP_RUNS_BAND = CUDACCL_MAP_RUNS_WARPS * CUDACCL_MAP_RUNS_ROWS,
  CUDACCL_MAP_RUNS_BLOCKS = 4, /* that deliver, for each multiprocessor */
};

/* What the host reads, in pinned memory. */
typedef struct CclMapRunsHead {
  uint32_t n_runs;   /* also if there is no room for all */
  uint32_t finished; /* set when all else is written */
} CclMapRunsHead;

typedef struct CclMapRunsParameters {
  const uint32_t *labels;
  uint64_t label_row; /* elements from row to row */
  uint32_t width, height;
  uint32_t n_column_blocks; /* of 32 columns */
  uint32_t n_bands;         /* of CUDACCL_MAP_RUNS_BAND rows */
  uint32_t capacity;        /* runs */

  uint32_t *first; /* [width × n_bands] runs in the part of a column in a band, then those before */
  uint32_t *total;
  CclLabelRun *runs; /* [capacity] */

  /* Pinned host memory. */
  CclLabelRun *host_runs;
  CclMapRunsHead *head;
} CclMapRunsParameters;
