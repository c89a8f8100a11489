/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checks that contours of all backends share. */
#pragma once

#include "tests/unit/contours/contour-reference.h"

typedef struct ContourBackend {
  const char *name;
  CclContours *(*contours_new) (const CclContoursPlan *plan, CclError *error);
  /* Run the functions of contours.h for memory of the host. */
  CclStatus (*of_frame) (CclContours *contours, const CclFrame *frame,
      const CclLabellerOptions *options, CclContourTable *table, CclError *error);
  CclStatus (*of_labels) (
      CclContours *contours, const CclLabels *labels, CclContourTable *table, CclError *error);
  uint32_t mask_step; /* of all masks of 16 pixels, those that are multiples of it are checked */
} ContourBackend;

/* Adds test cases /NAME/contours/…. The backend must stay valid. */
void contour_checks_register (const ContourBackend *backend);

/* Draws each component from its polygons by the even-odd rule: the components' labels. cracks:
 * contours of that kind. */
uint32_t *contour_checks_draw (const CclContourTable *cracks, uint32_t width, uint32_t height);
