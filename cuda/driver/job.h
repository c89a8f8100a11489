/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Jobs: what is done at once with a caller's arrays in device memory. A job has memory of its own
 * on the device while it works, and has ended when its call returns. */
#pragma once

#include "launch.h"

typedef struct CclCudaJob {
  CclCudaDevice *device; /* its context is current */
  CUstream stream;       /* the caller's */
  void *memory;          /* of the job; NULL: it needs none */
} CclCudaJob;

/* Queues the work of a job. Before it returns CUDACCL_OK it may wait for parts of it. */
typedef CclStatus (*CclCudaJobFunction) (const CclCudaJob *job, void *object, CclError *error);

/* Allocates `size` bytes, calls queue() with the object and the device's context current, and waits
 * for what is queued, whatever queue() returns.
 *
 * Returns the first error of these: CUDACCL_ERROR_ARGUMENT (the stream is being captured),
 * CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE, or one of queue(). */
CclStatus ccl_cuda_job_run (CclCudaDevice *device, CUstream stream, size_t size,
    CclCudaJobFunction queue, void *object, CclError *error);

/* The grids of kernels whose threads loop over items, a grid's threads apart. */
typedef struct CclCudaLoop {
  const CclCudaImage *image;
  uint32_t n_threads; /* of a block */
  uint32_t n_blocks;  /* the most for each multiprocessor */
} CclCudaLoop;

/* Queues a kernel of the image over n > 0 items. Errors as those of ccl_cuda_launch(), or
 * ccl_cuda_device_find_kernel(). */
CclStatus ccl_cuda_job_loop (const CclCudaJob *job, const CclCudaLoop *loop, const char *kernel,
    uint64_t n, void *parameters, CclError *error);

/* Queue: bytes that become 0, and copies between memory of the host and of the device. */
CclStatus ccl_cuda_job_clear (const CclCudaJob *job, void *memory, size_t size, CclError *error);
CclStatus ccl_cuda_job_upload (
    const CclCudaJob *job, const void *host, void *memory, size_t size, CclError *error);
CclStatus ccl_cuda_job_download (
    const CclCudaJob *job, const void *memory, void *host, size_t size, CclError *error);

/* Waits for what is queued. */
CclStatus ccl_cuda_job_wait (const CclCudaJob *job, CclError *error);
