/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sizes of thread blocks, and how many of them a device gets. What follows from these numbers,
 * such as the shared memory of a block, is in the kernels and in the headers of their parameters.
 *
 * The numbers were measured on an H200, so there is one table for all architectures. A device with
 * fewer or more multiprocessors gets the same share of blocks for each of them, so that its blocks
 * are resident at once where they are on an H200. Threads, registers and shared memory of a block
 * are compiled into the kernels; they stay within what a multiprocessor of every device of compute
 * capability 7.5 or later has.
 */
#pragma once

#include "core/base/divide-up.h"
#include <stdint.h>

/* Compiled into the kernels. */
enum {
  CUDACCL_TABLE_THREADS = 256,     /* blocks that write rows: of analysis.cu and volume.cu */
  CUDACCL_MEASURE_THREADS = 256,   /* measure.cu */
  CUDACCL_REDUCTION_THREADS = 256, /* reduction.cu: the most */
  CUDACCL_SCAN_THREADS = 1024,     /* of the one block that numbers chunks */
  CUDACCL_VALUES_THREADS = 256,    /* values.cu */

  CUDACCL_FOREGROUND_WARPS = 4, /* a row each; not of the histogram's kernels */
  CUDACCL_HISTOGRAM_WARPS = 16, /* otsu.cu */
  CUDACCL_MOG2_BLOCKS = 8,      /* for each multiprocessor: limits the registers of a thread */
  CUDACCL_CODEBOOK_WARPS = 8,   /* of a block that updates the model */
  CUDACCL_CONFIRM_WARPS = 32,   /* a row each; all of a block look at all cells first */
  CUDACCL_CODEBOOK_BLOCKS = 4,  /* of these at once for each multiprocessor */

  /* Of blocks that number, reduce or write labels: they are in one kernel. */
  CUDACCL_STRIPS_NUMBER_THREADS = 256,
  CUDACCL_STRIPS_REDUCE_THREADS = 64, /* per tile */

  /* Of a block; a block has one word per thread at a time. */
  CUDACCL_VOLUME_THREADS = CUDACCL_TABLE_THREADS,
  CUDACCL_VOLUME_MERGE_BLOCKS = 4, /* of ccl_volume_merge for each multiprocessor */
};

/* Numbers of blocks. */
enum {
  /* Of a device with this number of multiprocessors. */
  CUDACCL_TUNED_MULTIPROCESSORS = 132,
  CUDACCL_MARK_BLOCKS = 512,           /* of ccl_analysis_mark */
  CUDACCL_MEASURE_FINISH_BLOCKS = 256, /* of ccl_measure_finish */

  /* Of each multiprocessor. */
  CUDACCL_THRESHOLD_BLOCKS = 4, /* ccl_threshold: threads get more rows from so many blocks on */
  CUDACCL_CODEBOOK_GRID_BLOCKS = 4, /* ccl_codebook_update_words: blocks get more pixels */
  CUDACCL_VOLUME_SUM_BLOCKS = 8,    /* ccl_volume_sum_voxels: blocks get more tiles */
};

/* As many blocks for each multiprocessor as `tuned` ones are on the device that was measured. */
static inline uint32_t
ccl_cuda_blocks_of (int n_multiprocessors, uint32_t tuned)
{
  const uint64_t blocks = (uint64_t)tuned * (uint32_t)n_multiprocessors;
  return (uint32_t)CUDACCL_DIVIDE_UP (blocks, CUDACCL_TUNED_MULTIPROCESSORS);
}
