/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface that the backends implement behind <cudaccl/foreground.h>. */
#pragma once

#include <cudaccl/foreground.h>

#include "core/foreground/camera/camera.h"

/* The operations of a backend. The public functions check the arguments before they call them. */
typedef struct CclForegroundClass {
  const char *name; /* "cpu", "cuda" */
  CclStatus (*queue) (CclForeground *foreground, const CclFrame *frame,
      const CclForegroundOptions *options, const CclMask *mask, CclError *error);
  CclStatus (*wait) (CclForeground *foreground, CclError *error); /* NULL: queue() makes the mask
                                                                   * before it returns */
  CclStatus (*set_roi_mask) (CclForeground *foreground, const CclFrame *roi_mask, CclError *error);
  void (*free) (CclForeground *foreground);
} CclForegroundClass;

/* The first member of every backend's struct. */
struct CclForeground {
  const CclForegroundClass *klass;
  CclForegroundPlan plan; /* roi_mask: NULL */
  uint64_t n_frames;      /* frames that the background model has learnt from. A backend that finds
                           * a scene change sets it to 0 */
  CclSceneChange scene_change; /* of the last run */
  CclForeground *model;        /* the object of reduced frames that does the work; NULL: this one */

  /* Of a method with a scene, else NULL and 0. */
  CclCamera *camera;
  bool is_noted;                    /* the camera has been told scene_change */
  uint32_t n_foreground, n_changed; /* CclScene */
};

/* The object that has the model. */
static inline const CclForeground *
ccl_foreground_model (const CclForeground *foreground)
{
  return foreground->model ? foreground->model : foreground;
}

/* What both backends know of a method: a row of foreground-list.h. */
typedef struct CclMethod {
  const char *name;
  /* Checks the options that the method alone has. NULL: there are none. */
  CclStatus (*check) (
      const CclForegroundPlan *plan, const CclForegroundOptions *options, CclError *error);
  bool has_model;       /* ccl_foreground_method_has_model() */
  bool has_scene;       /* ccl_foreground_method_has_scene(): objects have a camera */
  bool has_median;      /* the method ends with a median filter: of CclDenoise it takes openings */
  uint32_t most_pixels; /* of a model: above that, CUDACCL_REDUCTION_AUTO halves the frame in both
                         * directions again */
} CclMethod;

/* The row of a method; NULL: there is none of this number. */
const CclMethod *ccl_find_method (CclForegroundMethod method);

CclStatus ccl_method_check (CclForegroundMethod method, CclError *error);

static inline bool
ccl_denoise_is_median (CclDenoise denoise)
{
  return denoise == CUDACCL_DENOISE_MEDIAN_3 || denoise == CUDACCL_DENOISE_MEDIAN_5;
}

static inline bool
ccl_is_closed (const CclForegroundOptions *options)
{
  return options->closing_width > 1 || options->closing_height > 1;
}

/* The noise filter that follows the method. */
static inline CclDenoise
ccl_foreground_denoise (const CclForeground *foreground, const CclForegroundOptions *options)
{
  const bool is_done = ccl_find_method (foreground->plan.method)->has_median;
  return is_done && ccl_denoise_is_median (options->denoise) ? CUDACCL_DENOISE_NONE
                                                             : options->denoise;
}

/* Makes what objects of a method with a scene have in `camera`. CUDACCL_ERROR_NO_MEMORY. */
CclStatus ccl_foreground_watch_camera (CclForeground *foreground, CclError *error);

/* Checks that a plan is inside the documented ranges. */
CclStatus ccl_foreground_plan_check (const CclForegroundPlan *plan, CclError *error);
