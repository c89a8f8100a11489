/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Launching kernels. The device's context is current (device.h). One thread at a time. */
#pragma once

#include "core/base/divide-up.h"
#include "device.h"

/* A kernel and the size of its grid. */
typedef struct CclCudaLaunch {
  CUfunction function;
  const char *kernel; /* its name, for error messages */
  uint32_t grid[3];   /* thread blocks */
  uint32_t block[3];  /* threads of a block */
  bool is_dependent;  /* the kernel waits for the previous one by itself
                       * (kernel-lib/dependent-launch.cuh), so its blocks may become resident before
                       * that one has ended: programmatic dependent launch, where driver and GPU
                       * have it */
  void *parameters;   /* in a graph; NULL: the struct that all its kernels share */
} CclCudaLaunch;

/* The pixels that one thread works on; 0 means all pixels in that direction. */
typedef struct CclWork {
  uint32_t x, y, z;
} CclWork;

/* Sets the grid of a launch, whose block is set, so that its threads cover width × height × depth
 * pixels. Kernels find their pixels by kernel-lib/geometry.cuh, which wraps grids that are too
 * tall. */
void ccl_cuda_launch_cover (
    CclCudaLaunch *launch, CclWork work, uint32_t width, uint32_t height, uint32_t depth);

/* Whether the kernel may overlap with the previous one. */
bool ccl_cuda_launch_overlaps (const CclCudaDevice *device, const CclCudaLaunch *launch);

/* Queues a kernel with one parameter struct, which is copied. CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_launch (CclCudaDevice *device, const CclCudaLaunch *launch, void *parameters,
    CUstream stream, CclError *error);

/* A kernel whose blocks are in a row. */
typedef struct CclCudaStep {
  const char *kernel;
  uint32_t n_blocks, n_threads; /* threads of a block */
  bool is_dependent;            /* as in CclCudaLaunch */
} CclCudaStep;

/* Looks up the kernels of n steps, which are in one image, and sets their launches. Errors of
 * ccl_cuda_device_find_kernel(). */
CclStatus ccl_cuda_launch_plan (CclCudaLaunch *launches, CclCudaDevice *device,
    const CclCudaImage *image, const CclCudaStep *steps, uint32_t n, CclError *error);

/* Queues n kernels that take the same parameter struct. CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_launch_all (CclCudaDevice *device, const CclCudaLaunch *launches, uint32_t n,
    void *parameters, CUstream stream, CclError *error);
