/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labelling by the steps of one algorithm's row: from a frame in device memory to raw labels.
 *
 * Below the labellers of cudalabeller.h, for the engine that adds the analysis and for those who
 * look at labelling alone (bench/, tests/gpu/). Functions assume that the device's context is
 * current (device.h). One thread at a time.
 */
#ifndef CCL_CUDA_LABELLING_H
#define CCL_CUDA_LABELLING_H

#include "algorithms.h"

typedef struct CclCudaLabelling {
  CclCudaDevice *device;         /* the caller keeps the reference */
  const CclAlgorithm *algorithm; /* one with steps */
  CUfunction functions[CCL_MAX_STEPS];
  CclStep steps[CCL_MAX_STEPS]; /* the algorithm's; thread blocks may be changed before a run */
  uint32_t n_steps;
  CclLabellingParameters parameters; /* frame, threshold and invert are set by queue */
  size_t n_elements;                 /* of the label buffer */
  CUdeviceptr labels, scratch, changed;
  uint32_t *changed_on_host; /* pinned */
  double deadline; /* seconds of CLOCK_MONOTONIC after which no further round begins; 0: never */
  bool gave_up;    /* a run has failed for that reason */
} CclCudaLabelling;

/* Allocates label buffer and scratch memory for frames of width × height, or volumes of width ×
 * height × depth pixels, all ≥ 1 with a product ≤ CCL_MAX_PIXELS; connectivity is one that the
 * algorithm has. Preparing work is queued on the stream.
 *
 * Returns with nothing allocated: CCL_ERROR_UNSUPPORTED (more elements than the algorithm
 * manages), CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CclStatus ccl_cuda_labelling_init (CclCudaLabelling *labelling, CclCudaDevice *device,
    const CclAlgorithm *algorithm, uint32_t width, uint32_t height, uint32_t depth,
    uint32_t connectivity, CUstream stream, CclError *error);

/* Frees what init allocated; nothing queued is running any more. */
void ccl_cuda_labelling_clear (CclCudaLabelling *labelling);

/* Tells where the frame is and what is foreground; strides in bytes, slice for volumes only. */
void ccl_cuda_labelling_set_frame (CclCudaLabelling *labelling, CUdeviceptr frame, size_t stride,
    size_t slice, uint32_t threshold, bool invert);

/* Queues the steps from first up to but not including end; whole repeated groups only. Direct
 * algorithms return at once, iterative ones wait for their rounds. CCL_ERROR_DEVICE also when the
 * deadline has passed; then gave_up is set, and nothing is running any more.
 *
 * After the last step, labelling->labels holds the raw labels. */
CclStatus ccl_cuda_labelling_queue (
    CclCudaLabelling *labelling, uint32_t first, uint32_t end, CUstream stream, CclError *error);

/* Launches a kernel over width × height × depth pixels, each thread doing its work on them. */
CclStatus ccl_cuda_launch (CclCudaDevice *device, CUfunction function, CclWork work,
    const uint32_t block[3], uint32_t width, uint32_t height, uint32_t depth, void *parameters,
    CUstream stream, CclError *error);

/* Puts the name of the kernel that was to be launched before the message of an error, and gives
 * the status back. */
CclStatus ccl_cuda_error_in_kernel (CclStatus status, const char *kernel, CclError *error);

#endif /* CCL_CUDA_LABELLING_H */
