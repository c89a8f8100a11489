/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface that the backends implement behind <cudaccl/foreground.h>. */
#ifndef CUDACCL_FOREGROUND_CLASS_H
#define CUDACCL_FOREGROUND_CLASS_H

#include <cudaccl/foreground.h>

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
};

/* Whether a method learns a model of the background. */
static inline bool
ccl_method_has_model (CclForegroundMethod method)
{
  return method == CUDACCL_FOREGROUND_MOG2 || method == CUDACCL_FOREGROUND_CODEBOOK;
}

/* Checks that a plan is inside the documented ranges. */
CclStatus ccl_foreground_plan_check (const CclForegroundPlan *plan, CclError *error);

#endif /* CUDACCL_FOREGROUND_CLASS_H */
