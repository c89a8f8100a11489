/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "label-map.h"

#include "device.h"

CclStatus
ccl_cuda_label_map_new (CclCudaDevice *device, size_t size, void **map, CclError *error)
{
  CUdeviceptr memory = 0;
  CclStatus status = ccl_cuda_device_enter (device, error);

  if (status != CCL_OK)
    return status;
  status = ccl_cuda_device_allocate (device, size, &memory, error);
  ccl_cuda_device_leave (device);
  *map = (void *)memory;
  return status;
}

CclStatus
ccl_cuda_label_map_download (
    CclCudaDevice *device, const void *map, void *host, size_t size, CclError *error)
{
  CclStatus status = ccl_cuda_device_enter (device, error);

  if (status != CCL_OK)
    return status;
  status =
      ccl_cuda_call (device->driver, error, cuMemcpyDtoHAsync (host, (CUdeviceptr)map, size, NULL));
  if (status == CCL_OK)
    status = ccl_cuda_call (device->driver, error, cuStreamSynchronize (NULL));
  ccl_cuda_device_leave (device);
  return status;
}

void
ccl_cuda_label_map_free (CclCudaDevice *device, void **map)
{
  CUdeviceptr memory = (CUdeviceptr)*map;

  if (*map && ccl_cuda_device_enter (device, NULL) == CCL_OK) {
    ccl_cuda_device_release (device, &memory);
    ccl_cuda_device_leave (device);
  }
  *map = NULL;
}
