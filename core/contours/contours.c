/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "contours-class.h"
#include "core/label/labeller-class.h"
#include "core/base/struct-size.h"

CclStatus
ccl_contours_plan_check (const CclContoursPlan *plan, CclError *error)
{
  CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->width < 1 || plan->height < 1 || plan->width > CUDACCL_MAX_CONTOUR_SIDE ||
      plan->height > CUDACCL_MAX_CONTOUR_SIDE ||
      (uint64_t)plan->width * plan->height > CUDACCL_MAX_CONTOUR_PIXELS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "contours need frames of 1…%d pixels in width and height and of at most %d in all, not "
        "%u×%u",
        CUDACCL_MAX_CONTOUR_SIDE, CUDACCL_MAX_CONTOUR_PIXELS, plan->width, plan->height);
  status = ccl_connectivity_check (plan->connectivity, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->kind > CUDACCL_CONTOUR_CRACKS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the kind of contours must be 0 or 1, not %d", (int)plan->kind);
  if (plan->format > CUDACCL_PIXEL_FORMAT_8_SECOND)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the pixel format must be 0…3, not %d", (int)plan->format);
  return CUDACCL_OK;
}

CclStatus
ccl_contours_set_too_many (CclError *error)
{
  return ccl_error_set (
      error, CUDACCL_ERROR_ARGUMENT, "the contours have more than %u points", UINT32_MAX);
}

CclStatus
ccl_contours_of_frame (CclContours *contours, const CclFrame *frame,
    const CclLabellerOptions *options, CclContourTable *table, CclError *error)
{
  if (!contours || !frame || !options || !table)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "contours, frame, options and table must not be NULL");
  CclStatus status = ccl_struct_size_check (options, sizeof *options, error);
  if (status == CUDACCL_OK)
    status = ccl_frame_check (frame, contours->plan.width, contours->plan.format, error);
  if (status == CUDACCL_OK)
    status = ccl_threshold_check (options->threshold, contours->plan.format, error);
  if (status != CUDACCL_OK)
    return status;
  if (options->min_area > 1 || options->max_area)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "contours of a frame cannot be filtered by area: use those of the label map");
  return contours->klass->of_frame (contours, frame, options, table, error);
}

CclStatus
ccl_contours_of_labels (
    CclContours *contours, const CclLabels *labels, CclContourTable *table, CclError *error)
{
  if (!contours || !labels || !table)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "contours, labels and table must not be NULL");
  const CclStatus status = ccl_labels_check (labels, contours->plan.width, error);
  return status == CUDACCL_OK ? contours->klass->of_labels (contours, labels, table, error)
                              : status;
}

void
ccl_contours_free (CclContours **contours)
{
  if (!contours || !*contours)
    return;
  (*contours)->klass->free (*contours);
  *contours = NULL;
}
