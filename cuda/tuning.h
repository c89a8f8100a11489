/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many thread blocks a device gets of kernels that go through any amount of work.
 *
 * The numbers were measured on an H200. A device with fewer or more multiprocessors gets the same
 * share for each of them, so that its blocks are resident at once where they are on an H200. The
 * threads, registers and shared memory of a block are compiled into the kernels; they stay within
 * what a multiprocessor of every device of compute capability 7.5 or later has.
 */
#ifndef CUDACCL_CUDA_TUNING_H
#define CUDACCL_CUDA_TUNING_H

#include <stdint.h>

enum {
  /* Of a device with this number of multiprocessors. */
  CUDACCL_TUNED_MULTIPROCESSORS = 132,
  CUDACCL_MARK_BLOCKS = 512,           /* of ccl_analysis_mark */
  CUDACCL_MEASURE_FINISH_BLOCKS = 256, /* of ccl_measure_finish */

  /* Of each multiprocessor. */
  CUDACCL_THRESHOLD_BLOCKS = 4,  /* ccl_threshold: threads get more rows from so many blocks on */
  CUDACCL_VOLUME_SUM_BLOCKS = 8, /* ccl_volume_sum_features: blocks get more tiles */
};

/* As many blocks for each multiprocessor as `tuned` ones are on the device that was measured. */
static inline uint32_t
ccl_cuda_blocks_of (int n_multiprocessors, uint32_t tuned)
{
  const uint64_t blocks = (uint64_t)tuned * (uint32_t)n_multiprocessors;
  return (uint32_t)((blocks + CUDACCL_TUNED_MULTIPROCESSORS - 1) / CUDACCL_TUNED_MULTIPROCESSORS);
}

#endif /* CUDACCL_CUDA_TUNING_H */
