/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the arguments of <cudaccl/values.h> and calls the backend. */
#include "values-class.h"

#include "core/label/labeller-class.h"
#include "core/base/strides.h"
#include "core/base/struct-size.h"

#include <stddef.h>

/* Of the plan's connectivity. */
static bool
connectivity_is_known (const CclValuesPlan *plan)
{
  switch (plan->connectivity) {
  case 4:
  case 8:
    return plan->depth == 1;
  case 6:
  case 18:
  case 26:
    return true;
  default:
    return false;
  }
}

CclStatus
ccl_values_plan_check (const CclValuesPlan *plan, CclError *error)
{
  CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->width < 1 || plan->height < 1 || plan->depth < 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a picture of %u×%u×%u pixels is empty",
        plan->width, plan->height, plan->depth);
  if ((uint64_t)plan->width * plan->height > CUDACCL_MAX_PIXELS ||
      (uint64_t)plan->width * plan->height * plan->depth > CUDACCL_MAX_PIXELS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a picture of %u×%u×%u pixels is too large: at most %d can be labelled", plan->width,
        plan->height, plan->depth, CUDACCL_MAX_PIXELS);
  if (!connectivity_is_known (plan))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4 or 8 for images, 6, 18 or 26 for volumes, not %u",
        plan->connectivity);
  if ((unsigned)plan->type > CUDACCL_VALUE_TYPE_REAL_64)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "there is no type of values %d", (int)plan->type);
  if ((unsigned)plan->nan > CUDACCL_NAN_IS_BACKGROUND)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "there is no rule of NaN %d", (int)plan->nan);
  return CUDACCL_OK;
}

CclStatus
ccl_values_plan_complete (CclValuesPlan *complete, const CclValuesPlan *given, CclError *error)
{
  if (!given)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the plan must not be NULL");
  *complete = (CclValuesPlan)CUDACCL_VALUES_PLAN_DEFAULT;
  const CclStatus status =
      ccl_struct_complete (complete, sizeof *complete, given, offsetof (CclValuesPlan, nan), error);
  return status == CUDACCL_OK ? ccl_values_plan_check (complete, error) : status;
}

CclStatus
ccl_values_check (const CclValuesPlan *plan, CclLocation location, const CclValues *values,
    const CclVolumeLabels *labels, CclError *error)
{
  if (values->location != location)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "this labeller takes pictures in %s memory",
        location == CUDACCL_LOCATION_DEVICE ? "device" : "host");
  const uint32_t bytes = ccl_bytes_of_type (plan->type);
  if (!elements_fit (values->data, bytes, plan->width, plan->height, plan->depth > 1,
          values->row_stride, values->slice_stride))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the picture must have rows and slices that do not overlap, and its address and strides "
        "must be multiples of %u",
        bytes);
  if (labels && !elements_fit (labels->data, 4, plan->width, plan->height, plan->depth > 1,
                    labels->row_stride, labels->slice_stride))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the label map must have rows and slices that do not overlap, and its address and strides "
        "must be multiples of 4");
  return CUDACCL_OK;
}

CclStatus
ccl_values_labeller_run (CclValuesLabeller *labeller, const CclValues *values,
    const CclVolumeLabels *labels, uint32_t *n_components, CclError *error)
{
  if (!labeller || !values || !n_components)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "labeller, values and n_components must not be NULL");
  const CclStatus status =
      ccl_values_check (&labeller->plan, labeller->klass->location, values, labels, error);
  return status == CUDACCL_OK ? labeller->klass->run (labeller, values, labels, n_components, error)
                              : status;
}

void
ccl_values_labeller_free (CclValuesLabeller **labeller)
{
  if (!labeller || !*labeller)
    return;
  (*labeller)->klass->free (*labeller);
  *labeller = NULL;
}
