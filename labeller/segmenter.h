/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The contract for what stands before a labeller: making a mask from a frame (cpu/, cuda/).
 *
 * A labeller compares pixels with a threshold by itself. A segmenter is for what takes more: a
 * threshold chosen for each frame, a model of the background, a zone that is left out, noise
 * taken off the mask, or a mask that is to be kept.
 *
 * The house rules of labeller.h hold: planned once for a frame size; a run allocates nothing; the
 * mask of a frame is unique, whatever computes it, given the frames before it.
 */
#ifndef CCL_SEGMENTER_H
#define CCL_SEGMENTER_H

#include "labeller.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CclForeground {
  CCL_FOREGROUND_THRESHOLD = 0, /* pixels greater than the options' threshold */
  CCL_FOREGROUND_OTSU,          /* pixels greater than the threshold that parts the frame's
                                 * histogram best: N. Otsu, "A threshold selection method from
                                 * gray-level histograms", 1979 */
  CCL_FOREGROUND_BACKGROUND,    /* pixels that the model of the background does not explain
                                 * (mixture.h) */
} CclForeground;

/* What takes noise off the mask, before zone and inversion. Windows are squares around the pixel.
 */
typedef enum CclDenoise {
  CCL_DENOISE_NONE = 0,
  CCL_DENOISE_MEDIAN_3,  /* what most of 3×3 pixels are; the frame's edge is continued outside */
  CCL_DENOISE_MEDIAN_5,  /* 5×5 pixels */
  CCL_DENOISE_OPENING_3, /* erosion, then dilation, by 3×3; outside there are no pixels */
  CCL_DENOISE_OPENING_5, /* by 5×5 */
} CclDenoise;

typedef struct CclSegmenterPlan {
  uint32_t width;  /* ≥ 1 */
  uint32_t height; /* ≥ 1; width × height ≤ CCL_MAX_PIXELS */
  CclForeground foreground;
  const CclFrame *zone; /* in host memory, of the plan's size: pixels of value 0 are background in
                         * every mask and do not count for Otsu's histogram. NULL: all pixels
                         * count. Copied; needs to live only for the call. */
  uint32_t n_threads;   /* as in CclPlan */
} CclSegmenterPlan;

/* What may differ from frame to frame. Fields that the plan's foreground has no use for are not
 * looked at. */
typedef struct CclSegmenterOptions {
  uint32_t threshold; /* 0…255, for CCL_FOREGROUND_THRESHOLD */
  bool invert;        /* swap foreground and background, inside the zone */
  CclDenoise denoise;

  /* For CCL_FOREGROUND_BACKGROUND. */
  uint32_t history;     /* frames that the model remembers, ≥ 1 */
  float var_threshold;  /* squared distance from a Gaussian's mean, in its variances, up to which
                         * a pixel is background; > 0 */
  double learning_rate; /* how far a frame moves the model, 0…1; negative: 1 / history, and faster
                         * while there were fewer than half as many frames */
  uint32_t mixtures;    /* Gaussians a pixel may have, 1…5 */
} CclSegmenterOptions;

/* Where the mask goes: one byte a pixel, 255 for foreground and 0 for background. The caller keeps
 * the memory; bytes of a row beyond width are left alone. Device memory for a GPU segmenter, else
 * ordinary memory. */
typedef struct CclMask {
  void *data;
  size_t stride; /* ≥ width; any alignment */
} CclMask;

typedef struct CclSegmenter CclSegmenter;

/* What cpu/ and cuda/ implement. Called through the functions below only, which have checked
 * the arguments. */
typedef struct CclSegmenterClass {
  const char *name; /* "cpu", "cuda" */
  CclStatus (*run) (CclSegmenter *segmenter, const CclFrame *frame,
      const CclSegmenterOptions *options, const CclMask *mask, CclError *error);
  CclStatus (*wait) (CclSegmenter *segmenter, CclError *error); /* NULL: there is no waiting */
  void (*free) (CclSegmenter *segmenter);
} CclSegmenterClass;

/* The head of every implementation's own struct. */
struct CclSegmenter {
  const CclSegmenterClass *klass;
  CclSegmenterPlan plan; /* zone: NULL */
  uint64_t n_frames;     /* that the model has seen */
};

/* Makes the mask of one frame.
 *
 * A GPU segmenter only queues the work on its stream (ccl_cuda_segmenter_set_stream()): frame and
 * mask must stay until that is done, which ccl_segmenter_wait() awaits, and so does the run of a
 * labeller on the same stream.
 *
 * The first frame of a background model has an empty mask, as nothing was seen before it.
 *
 * Errors: CCL_ERROR_ARGUMENT (nothing was read or written), CCL_ERROR_DEVICE. */
CclStatus ccl_segmenter_run (CclSegmenter *segmenter, const CclFrame *frame,
    const CclSegmenterOptions *options, const CclMask *mask, CclError *error);

/* Waits until the masks of all runs can be read. Errors: CCL_ERROR_DEVICE. */
CclStatus ccl_segmenter_wait (CclSegmenter *segmenter, CclError *error);

/* Forgets the background; the next frame begins a new model. NULL is fine. */
void ccl_segmenter_reset (CclSegmenter *segmenter);

/* Waits, frees the segmenter and all it allocated, and clears the handle. NULL and a handle that
 * is NULL already are fine. */
void ccl_segmenter_free (CclSegmenter **segmenter);

/* For implementations: whether a plan is inside the ranges documented above. */
CclStatus ccl_segmenter_plan_check (const CclSegmenterPlan *plan, CclError *error);

#ifdef __cplusplus
}
#endif

#endif /* CCL_SEGMENTER_H */
