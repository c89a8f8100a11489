/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "table-memory.h"

#include <string.h>

/* Allocates what zeros lack. */
static CclStatus
allocate (CclCudaTableMemory *memory, CclCudaDevice *device, bool has_features,
    CclLocation location, CclError *error)
{
  const size_t size = memory->n_rows * sizeof (CclComponent);
  const size_t features_size = memory->n_rows * sizeof (CclFeatures);
  const bool is_on_device = location == CUDACCL_LOCATION_DEVICE;
  CclStatus status =
      ccl_cuda_device_allocate_pinned (device, CUDACCL_TABLE_HEAD_SIZE + (is_on_device ? 0 : size),
          &memory->pinned, &memory->pinned_on_device, error);
  if (status == CUDACCL_OK && is_on_device)
    status = ccl_cuda_device_allocate (device, size, &memory->device_rows, error);
  if (status == CUDACCL_OK && has_features)
    status = is_on_device
                 ? ccl_cuda_device_allocate (device, features_size, &memory->features, error)
                 : ccl_cuda_device_allocate_pinned (
                       device, features_size, &memory->pinned_features, &memory->features, error);
  return status;
}

static CclStatus
resize (CclCudaTableMemory *memory, CclCudaDevice *device, uint32_t n_rows, bool has_features,
    CclLocation location, CclError *error)
{
  CclCudaTableMemory larger = {.n_rows = n_rows};

  if (n_rows <= memory->n_rows)
    return CUDACCL_OK;
  const CclStatus status = allocate (&larger, device, has_features, location, error);
  if (status != CUDACCL_OK) {
    ccl_cuda_table_memory_clear (&larger, device);
    return status;
  }
  ccl_cuda_table_memory_clear (memory, device);
  *memory = larger;
  return CUDACCL_OK;
}

CclStatus
ccl_cuda_table_memory_resize (CclCudaTableMemory *memory, CclCudaDevice *device, uint32_t n_rows,
    CclLocation location, CclError *error)
{
  return resize (memory, device, n_rows, false, location, error);
}

CclStatus
ccl_cuda_table_memory_resize_with_features (CclCudaTableMemory *memory, CclCudaDevice *device,
    uint32_t n_rows, CclLocation location, CclError *error)
{
  return resize (memory, device, n_rows, true, location, error);
}

void
ccl_cuda_table_memory_clear (CclCudaTableMemory *memory, CclCudaDevice *device)
{
  if (!memory->pinned_features)
    ccl_cuda_device_release (device, &memory->features);
  ccl_cuda_device_release_pinned (device, &memory->pinned_features);
  ccl_cuda_device_release_pinned (device, &memory->pinned);
  ccl_cuda_device_release (device, &memory->device_rows);
  memset (memory, 0, sizeof *memory);
}

uint32_t *
ccl_cuda_table_memory_head (const CclCudaTableMemory *memory)
{
  return (uint32_t *)(uintptr_t)memory->pinned_on_device;
}

CclComponent *
ccl_cuda_table_memory_rows (const CclCudaTableMemory *memory)
{
  const CUdeviceptr rows = memory->device_rows ? memory->device_rows
                                               : memory->pinned_on_device + CUDACCL_TABLE_HEAD_SIZE;
  return (CclComponent *)(uintptr_t)rows;
}

void
ccl_cuda_table_memory_read (const CclCudaTableMemory *memory, uint32_t max_rows, CclTable *table)
{
  const uint32_t n = *(const volatile uint32_t *)memory->pinned;
  table->n_components = n;
  table->n_rows = n < max_rows ? n : max_rows;
  table->rows =
      memory->device_rows
          ? ccl_cuda_table_memory_rows (memory)
          : (const CclComponent *)((const char *)memory->pinned + CUDACCL_TABLE_HEAD_SIZE);
  table->features = memory->pinned_features ? memory->pinned_features
                                            : (const CclFeatures *)(uintptr_t)memory->features;
}
