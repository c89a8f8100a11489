/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "allocations.h"

#include <assert.h>

void *
ccl_cuda_allocate (CclCudaAllocations *allocations, size_t size, CclStatus *status, CclError *error)
{
  CUdeviceptr memory = 0;

  assert (allocations->n < CUDACCL_MOST_ALLOCATIONS);
  if (*status == CUDACCL_OK)
    *status = ccl_cuda_device_allocate (allocations->device, size, &memory, error);
  if (memory)
    allocations->all[allocations->n++].memory = memory;
  return (void *)(uintptr_t)memory;
}

void *
ccl_cuda_allocate_pinned (
    CclCudaAllocations *allocations, size_t size, void **host, CclStatus *status, CclError *error)
{
  CUdeviceptr memory = 0;

  assert (allocations->n < CUDACCL_MOST_ALLOCATIONS);
  *host = NULL;
  if (*status == CUDACCL_OK && size > 0)
    *status = ccl_cuda_device_allocate_pinned (allocations->device, size, host, &memory, error);
  if (*host)
    allocations->all[allocations->n++].host = *host;
  return (void *)(uintptr_t)memory;
}

void
ccl_cuda_allocations_clear (CclCudaAllocations *allocations)
{
  while (allocations->n > 0) {
    const uint32_t last = --allocations->n;
    ccl_cuda_device_release (allocations->device, &allocations->all[last].memory);
    ccl_cuda_device_release_pinned (allocations->device, &allocations->all[last].host);
  }
}
