/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CUDA driver API, resolved at run time.
 *
 * cuda.h gives the types only; libcuda is never linked. A missing core function makes the driver
 * unusable; a missing optional function leaves its pointer NULL and turns off the feature that
 * needs it.
 */
#pragma once

#include <cuda.h>

#include "core/label/labeller-class.h"

/* cuda.h renames functions to their current versions (cuMemAlloc is cuMemAlloc_v2), here as well
 * as where they are called, so the names below are written without one. */
#define CUDACCL_CUDA_CORE_FUNCTIONS(F)                                                             \
  F (cuInit)                                                                                       \
  F (cuGetErrorName)                                                                               \
  F (cuGetErrorString)                                                                             \
  F (cuDriverGetVersion)                                                                           \
  F (cuDeviceGetCount)                                                                             \
  F (cuDeviceGet)                                                                                  \
  F (cuDeviceGetName)                                                                              \
  F (cuDeviceGetAttribute)                                                                         \
  F (cuDevicePrimaryCtxRetain)                                                                     \
  F (cuDevicePrimaryCtxRelease)                                                                    \
  F (cuCtxPushCurrent)                                                                             \
  F (cuCtxPopCurrent)                                                                              \
  F (cuCtxGetDevice)                                                                               \
  F (cuModuleLoadData)                                                                             \
  F (cuModuleUnload)                                                                               \
  F (cuModuleGetFunction)                                                                          \
  F (cuMemAlloc)                                                                                   \
  F (cuMemFree)                                                                                    \
  F (cuMemHostAlloc)                                                                               \
  F (cuMemFreeHost)                                                                                \
  F (cuMemHostGetDevicePointer)                                                                    \
  F (cuMemcpy2DAsync)                                                                              \
  F (cuMemcpyHtoDAsync)                                                                            \
  F (cuMemcpyDtoHAsync)                                                                            \
  F (cuMemcpyPeerAsync)                                                                            \
  F (cuPointerGetAttribute)                                                                        \
  F (cuMemsetD8Async)                                                                              \
  F (cuStreamCreate)                                                                               \
  F (cuStreamDestroy)                                                                              \
  F (cuStreamSynchronize)                                                                          \
  F (cuStreamQuery)                                                                                \
  F (cuStreamIsCapturing)                                                                          \
  F (cuStreamWaitEvent)                                                                            \
  F (cuEventCreate)                                                                                \
  F (cuEventDestroy)                                                                               \
  F (cuEventRecord)                                                                                \
  F (cuEventQuery)                                                                                 \
  F (cuEventSynchronize)                                                                           \
  F (cuLaunchKernel)

#define CUDACCL_CUDA_OPTIONAL_FUNCTIONS(F)                                                         \
  F (cuEventElapsedTime)                                                                           \
  F (cuLaunchKernelEx)                                                                             \
  F (cuStreamBeginCapture)                                                                         \
  F (cuStreamEndCapture)                                                                           \
  F (cuGraphCreate)                                                                                \
  F (cuGraphDestroy)                                                                               \
  F (cuGraphAddKernelNode)                                                                         \
  F (cuGraphAddDependencies_v2)                                                                    \
  F (cuGraphInstantiateWithFlags)                                                                  \
  F (cuGraphExecKernelNodeSetParams)                                                               \
  F (cuGraphExecDestroy)                                                                           \
  F (cuGraphLaunch)

typedef struct CclCudaDriver {
#define CUDACCL_CUDA_DECLARE(name) __typeof__ (name) *name;
  CUDACCL_CUDA_CORE_FUNCTIONS (CUDACCL_CUDA_DECLARE)
  CUDACCL_CUDA_OPTIONAL_FUNCTIONS (CUDACCL_CUDA_DECLARE)
#undef CUDACCL_CUDA_DECLARE
} CclCudaDriver;

/* The driver, loaded and initialised by the first call that succeeds; any thread may call. It stays
 * loaded.
 *
 * Returns NULL with CUDACCL_ERROR_NOT_FOUND: no libcuda.so.1, one that lacks a core function, or
 * one that finds no device; CUDACCL_ERROR_DEVICE: it does not start for another reason. */
const CclCudaDriver *ccl_cuda_driver (CclError *error);

/* Converts the result of a driver call to a status. On an error, the message has the text of the
 * call and CUDA's name and description of the error. */
CclStatus ccl_cuda_result (
    const CclCudaDriver *driver, CUresult result, const char *call, CclError *error);

/* Calls a driver function: ccl_cuda_call (driver, error, cuMemFree (pointer)). */
#define ccl_cuda_call(driver, error, call)                                                         \
  ccl_cuda_result ((driver), (driver)->call, #call, (error))
