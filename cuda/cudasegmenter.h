/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The GPU segmenter: the job of segmenter.h on an NVIDIA GPU. */
#ifndef CCL_CUDA_SEGMENTER_H
#define CCL_CUDA_SEGMENTER_H

#include "cudalabeller.h"
#include "segmenter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plans a segmenter on the device.
 *
 * Frames may be in host or device memory, masks are device memory, the zone is host memory. Free
 * with ccl_segmenter_free(). Any thread may call. A background model takes 30 bytes a pixel.
 *
 * Returns the segmenter, which keeps a reference to the device, or NULL with the error filled:
 * CCL_ERROR_ARGUMENT, CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CclSegmenter *ccl_cuda_segmenter_new (
    CclCudaDevice *device, const CclSegmenterPlan *plan, CclError *error);

/* Chooses the stream (a CUstream of the device's context) for the next runs, for a segmenter
 * made by ccl_cuda_segmenter_new(): the one that ccl_cuda_labeller_get_stream() gives, if a
 * labeller is to read the masks. NULL, as at the start: the segmenter's own. Work that runs have
 * queued on the one before must be done. */
void ccl_cuda_segmenter_set_stream (CclSegmenter *segmenter, void *stream);

#ifdef __cplusplus
}
#endif

#endif /* CCL_CUDA_SEGMENTER_H */
