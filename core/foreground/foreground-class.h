/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface that the backends implement behind <cudaccl/foreground.h>. */
#ifndef CUDACCL_FOREGROUND_CLASS_H
#define CUDACCL_FOREGROUND_CLASS_H

#include <cudaccl/foreground.h>

#include "core/foreground/camera.h"

/* The operations of a backend. The public functions check the arguments before they call them. */
typedef struct CclForegroundClass {
  const char *name; /* "cpu", "cuda" */
  CclStatus (*queue) (CclForeground *foreground, const CclFrame *frame,
      const CclForegroundOptions *options, const CclMask *mask, CclError *error);
  CclStatus (*wait) (CclForeground *foreground, CclError *error); /* NULL: queue() makes the mask
                                                                   * before it returns */
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

  /* Of the codebook, else NULL and 0. */
  CclCamera *camera;
  bool is_noted;                    /* scene_change is in `camera` */
  uint32_t n_foreground, n_changed; /* CclScene */
};

/* The object that has the model. */
static inline const CclForeground *
ccl_foreground_model (const CclForeground *foreground)
{
  return foreground->model ? foreground->model : foreground;
}

/* Whether a method learns a model of the background. */
static inline bool
ccl_method_has_model (CclForegroundMethod method)
{
  return method == CUDACCL_FOREGROUND_MOG2 || method == CUDACCL_FOREGROUND_CODEBOOK;
}

/* Makes what objects with a codebook have in `camera`. CUDACCL_ERROR_NO_MEMORY. */
CclStatus ccl_foreground_watch_camera (CclForeground *foreground, CclError *error);

/* Checks that a plan is inside the documented ranges. */
CclStatus ccl_foreground_plan_check (const CclForegroundPlan *plan, CclError *error);

#endif /* CUDACCL_FOREGROUND_CLASS_H */
