/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device memory for the luma and chroma of frames that come from the host. Functions assume that
 * the device's context is current (device.h). One thread at a time. */
#pragma once

#include <cudaccl/foreground.h>

#include "upload.h"

typedef struct CclCudaFrameUpload {
  CclCudaUpload luma, u, v; /* v: of chroma in two planes */
} CclCudaFrameUpload;

/* Allocates memory for frames of a plan. CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_frame_upload_init (CclCudaFrameUpload *upload, CclCudaDevice *device,
    const CclForegroundPlan *plan, CclError *error);

/* Queues the copy of a frame in host memory, which must stay valid until the copy is done, and
 * describes the copy. A frame in device memory is described as it is. */
CclStatus ccl_cuda_frame_upload_queue (CclCudaFrameUpload *upload, const CclForegroundPlan *plan,
    const CclFrame *frame, CclFrame *on_device, CUstream stream, CclError *error);

/* Frees the memory of init(); does nothing before it. */
void ccl_cuda_frame_upload_clear (CclCudaFrameUpload *upload);

/* The distance between u and v where their samples take turns in one memory; else 0. */
static inline uint32_t
ccl_chroma_distance (const CclChroma *chroma)
{
  const uintptr_t u = (uintptr_t)chroma->u, v = (uintptr_t)chroma->v;
  const uintptr_t distance = u < v ? v - u : u - v;
  return distance < chroma->step && chroma->u_stride == chroma->v_stride ? (uint32_t)distance : 0;
}

/* Bytes before u and v that belong to their first samples: 1 where these have 16 bits. */
static inline uint32_t
ccl_chroma_lower_byte (CclPixelFormat format, const CclChroma *chroma)
{
  return format == CUDACCL_PIXEL_FORMAT_16 && chroma->step == 4;
}
