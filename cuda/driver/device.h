/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside a device: its context, its memory, and its kernels, loaded file by file on first use.
 *
 * Every public function makes the device's context current and restores the previous one before it
 * returns. Internal functions assume that the context is current.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include <cudaccl/device.h>
#include "driver.h"

/* The machine code of one kernel file, for all architectures of the build. embed-images.py makes
 * ccl_cuda_image_bke of bke.cu. */
typedef struct CclCudaImage {
  const char *file; /* "bke" for bke.cu */
  const void *data; /* a fatbin */
} CclCudaImage;

/* An image that is loaded on a device. */
typedef struct CclCudaModule {
  const CclCudaImage *image;
  CUmodule module;
  struct CclCudaModule *next;
} CclCudaModule;

struct CclCudaDevice {
  atomic_int references;
  const CclCudaDriver *driver;
  CUdevice handle;
  CUcontext context;
  bool is_primary;        /* the context is the primary one, retained by us */
  bool checks_capture;    /* whether runs ask if the caller's stream is being captured */
  int compute_capability; /* 90 for 9.0 */
  int n_multiprocessors;
  char name[128];
  pthread_mutex_t lock; /* guards modules */
  CclCudaModule *modules;
  struct CclCudaDevice *next_open; /* in the list of all open devices */
};

/* Makes the device's context current for the calling thread, until ccl_cuda_device_leave(). */
CclStatus ccl_cuda_device_enter (CclCudaDevice *device, CclError *error);
void ccl_cuda_device_leave (CclCudaDevice *device);

/* Ends a run in which a call failed and returns the status of the run. It waits for the work that
 * was queued before, because that uses the caller's memory. Runs allocate nothing, so the status is
 * CUDACCL_ERROR_DEVICE even if CUDA reports that memory is exhausted. */
CclStatus ccl_cuda_device_abandon (CclCudaDevice *device, CUstream stream, CclError *error);

/* The module of an image on the device, loaded by the first call; it stays as long as the device.
 * Any thread may call. */
CclStatus ccl_cuda_device_load (
    CclCudaDevice *device, const CclCudaImage *image, CclCudaModule **module, CclError *error);

/* Looks up a kernel of an image. Any thread may call. */
CclStatus ccl_cuda_device_find_kernel (CclCudaDevice *device, const CclCudaImage *image,
    const char *kernel, CUfunction *function, CclError *error);

/* Creates a stream for an object that its caller gave none. It is a blocking stream: CUDA orders it
 * behind and before the legacy default stream, on which callers without streams of their own write
 * frames and read label maps. */
CclStatus ccl_cuda_device_create_stream (CclCudaDevice *device, CUstream *stream, CclError *error);

/* Checks that the caller's stream is not being captured into a CUDA graph: a run waits for its
 * results, uploads frames and changes parameters, none of which a graph repeats.
 *
 * Returns CUDACCL_OK, which ccl_cuda_device_set_capture_check() can make the only answer,
 * CUDACCL_ERROR_ARGUMENT if it is being captured, or CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_device_check_stream (CclCudaDevice *device, CUstream stream, CclError *error);

/* Allocates device memory; 0 if the size is 0. */
CclStatus ccl_cuda_device_allocate (
    CclCudaDevice *device, size_t size, CUdeviceptr *memory, CclError *error);

/* Allocates pinned host memory, which kernels access through the device pointer. */
CclStatus ccl_cuda_device_allocate_pinned (
    CclCudaDevice *device, size_t size, void **host, CUdeviceptr *memory, CclError *error);

/* Free the memory and clear the handle, which may be 0 or NULL. */
void ccl_cuda_device_release (CclCudaDevice *device, CUdeviceptr *memory);
void ccl_cuda_device_release_pinned (CclCudaDevice *device, void **host);
