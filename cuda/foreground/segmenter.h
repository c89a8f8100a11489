/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Foreground segmenters on a GPU, for frames of full size: the data that all methods share, and the
 * interface that each method implements in a file of its name. Functions assume that the device's
 * context is current (device.h), unless they say otherwise. One thread at a time.
 */
#pragma once

#include "core/foreground/foreground-class.h"
#include "core/foreground/foreground-list.h"

#include "cuda/driver/frame-upload.h"
#include "cuda/driver/launch.h"
#include "cuda/driver/runner.h"
#include "filters.h"
#include "foreground-parameters.h"

typedef struct CclCudaSegmenter CclCudaSegmenter;

/* The kernels of a labeller that reads the mask of the next run. A method that queues its own
 * kernels as a graph may add them to it, so that they start sooner. */
typedef struct CclCudaFollowers {
  const CclCudaLaunch *launches; /* NULL: there are none */
  uint32_t n, needed;            /* launches, and a bit for each of those that the frame takes */
  const void *parameters;        /* of all of them */
  size_t parameters_size;        /* bytes, at most CUDACCL_MOST_FOLLOWER_PARAMETERS */
  const void *mask;              /* that they read */
  uint32_t turn;                 /* 0 or 1 in turns: the parameters differ little from those of the
                                  * run before the last */
  bool are_queued;               /* set by the method */
} CclCudaFollowers;

enum { CUDACCL_MOST_FOLLOWERS = 8, CUDACCL_MOST_FOLLOWER_PARAMETERS = 1024 };

/* What a method does. Functions that are NULL have nothing to do. */
typedef struct CclCudaMethod {
  bool queues_first;    /* it queues CclCudaSegmenter.first with its own kernels */
  bool copies_bits;     /* ccl_cuda_foreground_copy_bits() can copy its result */
  bool takes_followers; /* it may queue CclCudaSegmenter.followers with its own kernels */
  size_t model_size;    /* bytes of CclCudaSegmenter.model, which begins with zeros */
  /* Prepares the model: looks up the kernels and allocates memory of the runner. */
  CclStatus (*prepare) (CclCudaSegmenter *segmenter, CclError *error);
  /* Comes before anything of a frame is queued. */
  CclStatus (*begin) (
      CclCudaSegmenter *segmenter, const CclForegroundOptions *options, CclError *error);
  /* Has the model forget what it has learnt, before the first frame, and whenever n_frames is 0. */
  CclStatus (*reset) (CclCudaSegmenter *segmenter, CclError *error);
  /* Queues the kernels of a frame, which write their result as `mask` says. */
  CclStatus (*queue) (
      CclCudaSegmenter *segmenter, const CclForegroundOptions *options, CclError *error);
  /* Takes what a run that has ended has written for the host. */
  void (*take) (CclCudaSegmenter *segmenter);
  /* Frees what the model, which may be incomplete, has besides memory. No run is pending. */
  void (*clear) (CclCudaSegmenter *segmenter);
} CclCudaMethod;

#define DECLARE(number, name, ...) extern const CclCudaMethod ccl_cuda_##name;
CCL_FOREGROUND_METHODS (DECLARE)
#undef DECLARE

struct CclCudaSegmenter {
  CclForeground base;
  const CclCudaMethod *method;
  void *model; /* of the method */
  CclCudaRunner runner;
  CclCudaFrameUpload upload; /* of frames that come from the host */
  CclCudaFilters filters;
  CUdeviceptr roi_mask; /* bits; 0: the whole frame */
  CclCudaLaunch first;  /* a kernel that writes the frame of the next run; no function: none */
  CclCudaFollowers followers; /* of the next run */
  void *scene_change;         /* pinned: CclSceneChange of the last run; NULL: there is no model */

  /* For kernels. */
  CclExtent extent;
  CclFrameParameters frame;         /* at work */
  CclMaskParameters mask;           /* of the frame at work */
  uint32_t *kept;                   /* set by the method: CclFilterParameters */
  uint32_t *scene_change_on_device; /* the memory of scene_change */
};

/* Makes a segmenter for frames of the plan; makes the context current. CUDACCL_ERROR_NO_MEMORY,
 * CUDACCL_ERROR_DEVICE: *foreground is NULL. */
CclStatus ccl_cuda_segmenter_new (CclCudaDevice *device, const CclForegroundPlan *plan,
    CclForeground **foreground, CclError *error);

/* The segmenter that an object is; NULL: it is another one. */
CclCudaSegmenter *ccl_cuda_segmenter_of (CclForeground *foreground);

/* The segmenter of an object, that of reduced frames if it has one; NULL: the object is not one of
 * a GPU. */
CclCudaSegmenter *ccl_cuda_foreground_find_segmenter (CclForeground *foreground);

/* Whether the next run, with these options, would queue kernels that follow. */
bool ccl_cuda_segmenter_takes_followers (
    const CclCudaSegmenter *segmenter, const CclForegroundOptions *options);

/* Has the next run begin with this kernel, which writes the run's frame: queues it, or has the
 * method queue it. Its parameters must stay until the run is queued. */
CclStatus ccl_cuda_segmenter_begin_with (
    CclCudaSegmenter *segmenter, const CclCudaLaunch *first, CclError *error);

/* Waits for the last run, unless it is known to have ended, and takes what it has found. */
CclStatus ccl_cuda_segmenter_settle (CclCudaSegmenter *segmenter, CclError *error);

/* Writes a region of interest mask as kernels read it to memory of zeros. */
typedef void (*CclRoiMaskWriter) (
    const CclForegroundPlan *plan, const CclFrame *roi_mask, void *copy);

/* Replaces a region of interest mask in device memory, of size bytes; NULL: there is none. */
CclStatus ccl_cuda_set_roi_mask (CclCudaRunner *runner, const CclForegroundPlan *plan,
    const CclFrame *roi_mask, CclRoiMaskWriter write, size_t size, CUdeviceptr *memory,
    CclError *error);

/* Bytes of a plane of bits. */
size_t ccl_cuda_segmenter_plane_size (const CclCudaSegmenter *segmenter);

/* Whether the frame at work has shadows that are not foreground. */
static inline bool
ccl_cuda_segmenter_tells_shadows (
    const CclCudaSegmenter *segmenter, const CclForegroundOptions *options)
{
  return ccl_foreground_method_has_model (segmenter->base.plan.method) &&
         options->shadows != CUDACCL_SHADOWS_KEEP;
}

static inline bool
ccl_cuda_segmenter_is_wide (const CclCudaSegmenter *segmenter)
{
  return segmenter->base.plan.format == CUDACCL_PIXEL_FORMAT_16;
}

/* The kernel for the plan's pixels, of those for one byte, packed ones, and 16 bits. */
static inline const char *
ccl_cuda_segmenter_choose_kernel (const CclCudaSegmenter *segmenter, const char *const kernels[3])
{
  const CclPixelFormat format = segmenter->base.plan.format;
  return kernels[format == CUDACCL_PIXEL_FORMAT_8 ? 0 : format == CUDACCL_PIXEL_FORMAT_16 ? 2 : 1];
}

/* Queues a kernel of which each warp handles warp_pixels pixels of a row. is_dependent: as in
 * CclCudaLaunch. */
CclStatus ccl_cuda_segmenter_launch (CclCudaSegmenter *segmenter, CUfunction function,
    const char *kernel, void *parameters, uint32_t warp_pixels, bool is_dependent, CclError *error);
