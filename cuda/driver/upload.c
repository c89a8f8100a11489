/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "upload.h"
#include "core/base/divide-up.h"

CclStatus
ccl_cuda_upload_init (
    CclCudaUpload *upload, CclCudaDevice *device, uint32_t width, uint32_t height, CclError *error)
{
  *upload = (CclCudaUpload){.device = device};
  return ccl_cuda_upload_resize (upload, width, height, error);
}

CclStatus
ccl_cuda_upload_resize (CclCudaUpload *upload, uint32_t width, uint32_t height, CclError *error)
{
  const size_t stride = height > 1 ? round_up (width, 16) : width;
  const size_t size = stride * height;

  if (size > upload->capacity) {
    CUdeviceptr memory;
    const CclStatus status = ccl_cuda_device_allocate (upload->device, size, &memory, error);
    if (status != CUDACCL_OK)
      return status;
    ccl_cuda_device_release (upload->device, &upload->memory);
    upload->memory = memory;
    upload->capacity = size;
  }
  upload->width = width;
  upload->height = height;
  upload->stride = stride;
  return CUDACCL_OK;
}

static CclStatus
queue_copy (CclCudaUpload *upload, const void *data, size_t stride, uint32_t first_row,
    uint32_t n_samples, uint32_t n_rows, CUstream stream, CclError *error)
{
  /* The pitch of a single row has no meaning, but the driver refuses one above its limit. */
  CUDA_MEMCPY2D copy = {
      .srcMemoryType = CU_MEMORYTYPE_HOST,
      .srcHost = data,
      .srcPitch = n_rows > 1 ? stride : n_samples,
      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
      .dstDevice = upload->memory + first_row * upload->stride,
      .dstPitch = upload->stride,
      .WidthInBytes = n_samples,
      .Height = n_rows,
  };
  return ccl_cuda_call (upload->device->driver, error, cuMemcpy2DAsync (&copy, stream));
}

CclStatus
ccl_cuda_upload_queue_rows (CclCudaUpload *upload, uint32_t first_row, uint32_t n_rows,
    const void *data, size_t stride, CUstream stream, CclError *error)
{
  return queue_copy (upload, data, stride, first_row, upload->width, n_rows, stream, error);
}

CclStatus
ccl_cuda_upload_queue_samples (CclCudaUpload *upload, const void *data, size_t stride,
    uint32_t n_samples, uint32_t n_rows, CUstream stream, CclError *error)
{
  return queue_copy (upload, data, stride, 0, n_samples, n_rows, stream, error);
}

CclStatus
ccl_cuda_upload_queue (
    CclCudaUpload *upload, const CclFrame *frame, CUstream stream, CclError *error)
{
  return ccl_cuda_upload_queue_rows (
      upload, 0, upload->height, frame->data, frame->stride, stream, error);
}

void
ccl_cuda_upload_clear (CclCudaUpload *upload)
{
  if (upload->device)
    ccl_cuda_device_release (upload->device, &upload->memory);
}

CclStatus
ccl_cuda_upload_and_wait (CclCudaDevice *device, const void *from, CUdeviceptr memory, size_t size,
    CUstream stream, CclError *error)
{
  const CclStatus queued =
      ccl_cuda_call (device->driver, error, cuMemcpyHtoDAsync (memory, from, size, stream));
  /* The copy must have ended, after an error, too, because the caller may free the host's memory.
   */
  const CclStatus ended = ccl_cuda_call (
      device->driver, queued == CUDACCL_OK ? error : NULL, cuStreamSynchronize (stream));
  return queued == CUDACCL_OK ? ended : queued;
}
