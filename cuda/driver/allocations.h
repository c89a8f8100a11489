/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an object has allocated on a device, which is freed at once. The device's context is current
 * (device.h). One thread at a time. */
#pragma once

#include "device.h"

enum { CUDACCL_MOST_ALLOCATIONS = 16 };

/* Zeros but for the device: nothing is allocated. */
typedef struct CclCudaAllocations {
  CclCudaDevice *device; /* the caller keeps the reference */
  uint32_t n;
  struct {
    CUdeviceptr memory; /* 0: pinned */
    void *host;
  } all[CUDACCL_MOST_ALLOCATIONS];
} CclCudaAllocations;

/* Allocates device memory. Returns its address for kernels; NULL if the size is 0.
 *
 * status: CUDACCL_OK, or that of an error before, after which nothing is done, so that calls can
 * follow each other. After an error it is CUDACCL_ERROR_NO_MEMORY or CUDACCL_ERROR_DEVICE, and NULL
 * is returned. */
void *ccl_cuda_allocate (
    CclCudaAllocations *allocations, size_t size, CclStatus *status, CclError *error);

/* The same for pinned memory of the host, of which *host becomes the address there. */
void *ccl_cuda_allocate_pinned (
    CclCudaAllocations *allocations, size_t size, void **host, CclStatus *status, CclError *error);

/* Frees all memory. */
void ccl_cuda_allocations_clear (CclCudaAllocations *allocations);
