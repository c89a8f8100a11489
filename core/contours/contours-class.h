/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface that the backends implement behind <cudaccl/contours.h>. */
#pragma once

#include <cudaccl/contours.h>

/* The operations of a backend. The public functions check the arguments before they call them. */
typedef struct CclContoursClass {
  CclStatus (*of_frame) (CclContours *contours, const CclFrame *frame,
      const CclLabellerOptions *options, CclContourTable *table, CclError *error);
  CclStatus (*of_labels) (
      CclContours *contours, const CclLabels *labels, CclContourTable *table, CclError *error);
  void (*free) (CclContours *contours);
} CclContoursClass;

/* The first member of every backend's struct. */
struct CclContours {
  const CclContoursClass *klass;
  CclContoursPlan plan;
};

/* Checks that a plan is inside the documented ranges. */
CclStatus ccl_contours_plan_check (const CclContoursPlan *plan, CclError *error);

/* Sets and returns the error that there are more points than 32 bits can count. A map of
 * CUDACCL_MAX_CONTOUR_PIXELS pixels has so many if each pixel has a label of its own. */
CclStatus ccl_contours_set_too_many (CclError *error);
