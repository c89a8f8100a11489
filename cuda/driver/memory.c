/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device memory for programs that have no CUDA headers. */
#include "device.h"
#include "upload.h"

static CclStatus
check_copy (
    const CclCudaDevice *device, const void *from, const void *to, size_t size, CclError *error)
{
  if (!device || (size > 0 && (!from || !to)))
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "device, source and destination must not be NULL");
  return CUDACCL_OK;
}

CclStatus
ccl_cuda_memory_new (CclCudaDevice *device, size_t size, void **memory, CclError *error)
{
  CUdeviceptr address = 0;

  if (!device || !memory)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "device and memory must not be NULL");
  *memory = NULL;
  CclStatus status = ccl_cuda_device_enter (device, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_device_allocate (device, size, &address, error);
  ccl_cuda_device_leave (device);
  *memory = (void *)address;
  return status;
}

void
ccl_cuda_memory_free (CclCudaDevice *device, void **memory)
{
  if (!device || !memory || !*memory)
    return;
  CUdeviceptr address = (CUdeviceptr)*memory;
  if (ccl_cuda_device_enter (device, NULL) == CUDACCL_OK) {
    ccl_cuda_device_release (device, &address);
    ccl_cuda_device_leave (device);
  }
  *memory = NULL;
}

CclStatus
ccl_cuda_memory_upload (
    CclCudaDevice *device, const void *host, void *memory, size_t size, CclError *error)
{
  CclStatus status = check_copy (device, host, memory, size, error);

  if (status != CUDACCL_OK || size == 0)
    return status;
  status = ccl_cuda_device_enter (device, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_upload_and_wait (device, host, (CUdeviceptr)memory, size, NULL, error);
  ccl_cuda_device_leave (device);
  return status;
}

CclStatus
ccl_cuda_memory_download (
    CclCudaDevice *device, const void *memory, void *host, size_t size, CclError *error)
{
  CclStatus status = check_copy (device, memory, host, size, error);

  if (status != CUDACCL_OK || size == 0)
    return status;
  status = ccl_cuda_device_enter (device, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_call (
      device->driver, error, cuMemcpyDtoHAsync (host, (CUdeviceptr)memory, size, NULL));
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (device->driver, error, cuStreamSynchronize (NULL));
  ccl_cuda_device_leave (device);
  return status;
}

CclStatus
ccl_cuda_stream_wait (CclCudaDevice *device, void *stream, CclError *error)
{
  if (!device)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device is needed");
  CclStatus status = ccl_cuda_device_enter (device, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_call (device->driver, error, cuStreamSynchronize (stream));
  ccl_cuda_device_leave (device);
  return status;
}

CclStatus
ccl_cuda_labels_download (CclCudaDevice *device, const CclLabels *from, uint32_t width,
    uint32_t height, const CclLabels *to, CclError *error)
{
  const size_t row = sizeof (uint32_t) * width;

  if (!device || !from || !to || !from->data || !to->data)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "device and label maps must not be NULL");
  if (from->stride < row || to->stride < row)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a label map of %u columns needs a stride of at least %zu bytes", width, row);
  if (row == 0 || height == 0)
    return CUDACCL_OK;
  const CUDA_MEMCPY2D copy = {
      .srcMemoryType = CU_MEMORYTYPE_DEVICE,
      .srcDevice = (CUdeviceptr)from->data,
      .srcPitch = from->stride,
      .dstMemoryType = CU_MEMORYTYPE_HOST,
      .dstHost = to->data,
      .dstPitch = to->stride,
      .WidthInBytes = row,
      .Height = height,
  };
  CclStatus status = ccl_cuda_device_enter (device, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_call (device->driver, error, cuMemcpy2DAsync (&copy, NULL));
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (device->driver, error, cuStreamSynchronize (NULL));
  ccl_cuda_device_leave (device);
  return status;
}

int
ccl_cuda_find_device_of (const void *address, CclError *error)
{
  const CclCudaDriver *driver = ccl_cuda_driver (error);
  const CUdeviceptr pointer = (CUdeviceptr)address;
  unsigned memory_type = 0;
  int number = -1;

  if (!driver)
    return -1;
  if (driver->cuPointerGetAttribute (&memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer) !=
          CUDA_SUCCESS ||
      memory_type != CU_MEMORYTYPE_DEVICE ||
      driver->cuPointerGetAttribute (&number, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer) !=
          CUDA_SUCCESS) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the address is not in the memory of a GPU");
    return -1;
  }
  return number;
}
