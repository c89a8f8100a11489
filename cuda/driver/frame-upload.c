/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame-upload.h"
#include "core/base/divide-up.h"

#include "core/label/labeller-class.h"

CclStatus
ccl_cuda_frame_upload_init (CclCudaFrameUpload *upload, CclCudaDevice *device,
    const CclForegroundPlan *plan, CclError *error)
{
  /* A row of u or of v has at most so many bytes (check_chroma() in core/foreground/foreground.c).
   * A row in which samples of u and v alternate fits, too, unless they have 16 bits and the width
   * is odd. */
  const uint32_t chroma_row = 2 * plan->width + 1;
  CclStatus status = ccl_cuda_upload_init (
      &upload->luma, device, plan->width * ccl_pixel_bytes (plan->format), plan->height, error);
  if (status == CUDACCL_OK && plan->has_chroma)
    status = ccl_cuda_upload_init (&upload->u, device, chroma_row, plan->height, error);
  if (status == CUDACCL_OK && plan->has_chroma)
    status = ccl_cuda_upload_init (&upload->v, device, chroma_row, plan->height, error);
  return status;
}

/* Queues the copies of the chroma, and lets it point to them. */
static CclStatus
queue_chroma (CclCudaFrameUpload *upload, const CclForegroundPlan *plan, CclChroma *chroma,
    CUstream stream, CclError *error)
{
  const uint32_t distance = ccl_chroma_distance (chroma);
  const uint32_t before = ccl_chroma_lower_byte (plan->format, chroma);
  const uint32_t n_samples = divide_up (plan->width, 1u << chroma->shift_x);
  const uint32_t n_rows = divide_up (plan->height, 1u << chroma->shift_y);
  const uint32_t row = (n_samples - 1) * chroma->step + 1;
  const uint32_t both = before + row + distance;
  const uint8_t *u = chroma->u, *v = chroma->v;
  CclStatus status;

  if (distance > 0 && both <= chroma->u_stride && both <= upload->u.width) {
    /* Copied once. */
    const uint8_t *first = (u < v ? u : v) - before;
    status = ccl_cuda_upload_queue_samples (
        &upload->u, first, chroma->u_stride, both, n_rows, stream, error);
    chroma->u = (const void *)(uintptr_t)(upload->u.memory + (CUdeviceptr)(u - first));
    chroma->v = (const void *)(uintptr_t)(upload->u.memory + (CUdeviceptr)(v - first));
    chroma->u_stride = chroma->v_stride = upload->u.stride;
    return status;
  }
  status =
      ccl_cuda_upload_queue_samples (&upload->u, u, chroma->u_stride, row, n_rows, stream, error);
  if (status == CUDACCL_OK)
    status =
        ccl_cuda_upload_queue_samples (&upload->v, v, chroma->v_stride, row, n_rows, stream, error);
  chroma->u = (const void *)(uintptr_t)upload->u.memory;
  chroma->v = (const void *)(uintptr_t)upload->v.memory;
  chroma->u_stride = upload->u.stride;
  chroma->v_stride = upload->v.stride;
  return status;
}

CclStatus
ccl_cuda_frame_upload_queue (CclCudaFrameUpload *upload, const CclForegroundPlan *plan,
    const CclFrame *frame, CclFrame *on_device, CUstream stream, CclError *error)
{
  *on_device = *frame;
  if (frame->location != CUDACCL_LOCATION_HOST)
    return CUDACCL_OK;
  CclStatus status = ccl_cuda_upload_queue (&upload->luma, frame, stream, error);
  on_device->data = (const void *)(uintptr_t)upload->luma.memory;
  on_device->stride = upload->luma.stride;
  on_device->location = CUDACCL_LOCATION_DEVICE;
  if (status == CUDACCL_OK && plan->has_chroma)
    status = queue_chroma (upload, plan, &on_device->chroma, stream, error);
  return status;
}

void
ccl_cuda_frame_upload_clear (CclCudaFrameUpload *upload)
{
  ccl_cuda_upload_clear (&upload->luma);
  ccl_cuda_upload_clear (&upload->u);
  ccl_cuda_upload_clear (&upload->v);
}
