/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of threshold.cu. */
#pragma once

#include "cuda/foreground/segmenter.h"
#include "threshold-parameters.h"

typedef struct CclCudaThreshold {
  CUfunction function;
  const char *kernel;
  uint32_t n_parts; /* CclThresholdParameters */
} CclCudaThreshold;

CclStatus ccl_cuda_threshold_init (
    CclCudaThreshold *threshold, const CclCudaSegmenter *segmenter, CclError *error);

/* Queues the comparison of the frame at work with a value, or, if `found` is not NULL, with the
 * value in device memory that the kernel before writes. */
CclStatus ccl_cuda_threshold_queue (const CclCudaThreshold *threshold, CclCudaSegmenter *segmenter,
    uint32_t value, const uint32_t *found, CclError *error);
