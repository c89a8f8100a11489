/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What foreground segmenters on a GPU have in common: their stream, the frame, and the filters
 * of foreground.cu that follow the method. Functions assume that the device's context is current
 * (device.h), unless they make it current. One thread at a time. */
#ifndef CUDACCL_CUDA_SEGMENTER_H
#define CUDACCL_CUDA_SEGMENTER_H

#include "core/foreground/foreground-class.h"

#include "foreground-parameters.h"
#include "cuda/driver/frame-upload.h"
#include "cuda/driver/launch.h"

/* Numbers of the filter kernels: first those of CclDenoise, in its order, without
 * CUDACCL_DENOISE_NONE; then the median filters that read classes (foreground, shadow, background);
 * then the dilation and the erosion of a closing. */
enum {
  CUDACCL_DENOISE_KERNEL,
  CUDACCL_CLASSES_KERNEL = CUDACCL_DENOISE_KERNEL + CUDACCL_DENOISE_OPENING_5,
  CUDACCL_DILATE_KERNEL = CUDACCL_CLASSES_KERNEL + 2,
  CUDACCL_ERODE_KERNEL,
  CUDACCL_FILTER_KERNELS,
};

/* Device memory of masks in bits; 0: not needed. */
typedef struct CclCudaBitPlanes {
  CUdeviceptr found, filtered; /* results of the method, and of the noise filter */
  CUdeviceptr dilated;
  CUdeviceptr roi_mask;
  CUdeviceptr shadow, filtered_shadow; /* as found and filtered */
} CclCudaBitPlanes;

/* The first member of a backend's struct. */
typedef struct CclCudaSegmenter {
  CclForeground base;
  CclCudaDevice *device;
  CclForegroundParameters *parameters; /* in the struct that this one is a part of */
  CUfunction filters[CUDACCL_FILTER_KERNELS];
  CUstream own_stream, stream; /* stream: the caller's, or own_stream */
  CUevent done;                /* recorded after the last run */
  bool is_pending;             /* the last run has not been waited for */
  bool is_finished;            /* it has ended, as the caller knows */
  CclCudaFrameUpload upload;   /* of frames that come from the host */
  CclCudaBitPlanes bits;
  void *scene_change; /* pinned: CclSceneChange of the last run; NULL: the method finds none */
} CclCudaSegmenter;

/* Allocates everything, and sets the parameters that are the same in all frames. is_model: the
 * method is a background model, which finds shadows and scene changes. The segmenter, whose
 * memory is zero before, must be freed after a failure, too. CUDACCL_ERROR_NO_MEMORY,
 * CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_segmenter_init (CclCudaSegmenter *segmenter, CclCudaDevice *device,
    const CclForegroundPlan *plan, bool is_model, CclError *error);

/* Bytes of a plane of bits. */
size_t ccl_cuda_segmenter_plane_size (const CclCudaSegmenter *segmenter);

/* Makes the device's context current, and checks that work can be queued on the stream. After a
 * failure the context is not current. */
CclStatus ccl_cuda_segmenter_enter (CclCudaSegmenter *segmenter, CclError *error);

/* Begins a run: sets the parameters of the frame, which is uploaded if it comes from the host, and
 * of the mask. */
CclStatus ccl_cuda_segmenter_begin (CclCudaSegmenter *segmenter, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error);

/* Sets grid and block of a launch so that they cover the frame: each warp handles warp_pixels
 * pixels of a row. */
void ccl_cuda_segmenter_set_grid (
    const CclCudaSegmenter *segmenter, uint32_t warp_pixels, CclCudaLaunch *launch);

/* Queues a kernel of which each warp handles warp_pixels pixels of a row. all: the parameters that
 * it takes. is_dependent: as in CclCudaLaunch. */
CclStatus ccl_cuda_segmenter_launch (CclCudaSegmenter *segmenter, CUfunction function,
    const char *kernel, void *all, uint32_t warp_pixels, bool is_dependent, CclError *error);

/* Queues the noise filter and the closing. Before, the method has written its result to bits.found,
 * and if it finds shadows to bits.shadow. filters_shadows: median filters count shadows, too. */
CclStatus ccl_cuda_segmenter_filter (CclCudaSegmenter *segmenter,
    const CclForegroundOptions *options, bool filters_shadows, CclError *error);

/* Ends a run whose work has been queued or, as `status` says, has failed. Returns its status. */
CclStatus ccl_cuda_segmenter_end (CclCudaSegmenter *segmenter, CclStatus status, CclError *error);

/* Waits for the last run, unless it is known to have ended. */
CclStatus ccl_cuda_segmenter_settle (CclCudaSegmenter *segmenter, CclError *error);

/* Frees what init() has allocated but not the segmenter itself; memories: n further allocations,
 * which may be 0. Waits for the last run. Makes the context current. */
void ccl_cuda_segmenter_clear (
    CclCudaSegmenter *segmenter, CUdeviceptr *const memories[], size_t n);

#endif /* CUDACCL_CUDA_SEGMENTER_H */
