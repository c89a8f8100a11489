/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "upload.h"

CclStatus
ccl_cuda_upload_init (
    CclCudaUpload *upload, CclCudaDevice *device, uint32_t width, uint32_t height, CclError *error)
{
  *upload = (CclCudaUpload){
      .device = device,
      .width = width,
      .height = height,
      .stride = height > 1 ? ((size_t)width + 15) / 16 * 16 : width,
  };
  return ccl_cuda_device_allocate (device, upload->stride * height, &upload->memory, error);
}

CclStatus
ccl_cuda_upload_queue (
    CclCudaUpload *upload, const CclFrame *frame, CUstream stream, CclError *error)
{
  CUDA_MEMCPY2D copy = {
      .srcMemoryType = CU_MEMORYTYPE_HOST,
      .srcHost = frame->data,
      .srcPitch = upload->height > 1 ? frame->stride : upload->width,
      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
      .dstDevice = upload->memory,
      .dstPitch = upload->stride,
      .WidthInBytes = upload->width,
      .Height = upload->height,
  };
  return ccl_cuda_call (upload->device->driver, error, cuMemcpy2DAsync (&copy, stream));
}

void
ccl_cuda_upload_clear (CclCudaUpload *upload)
{
  if (upload->device)
    ccl_cuda_device_release (upload->device, &upload->memory);
}
