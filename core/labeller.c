/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "labeller-class.h"

#include <stdarg.h>
#include <stdio.h>

CclStatus
ccl_error_set (CclError *error, CclStatus status, const char *format, ...)
{
  if (error) {
    va_list arguments;
    error->status = status;
    va_start (arguments, format);
    vsnprintf (error->message, sizeof error->message, format, arguments);
    va_end (arguments);
  }
  return status;
}

CclStatus
ccl_plan_check (const CclPlan *plan, CclError *error)
{
  if (!plan)
    return ccl_error_set (error, CCL_ERROR_ARGUMENT, "the plan must not be NULL");
  if (plan->width < 1 || plan->height < 1)
    return ccl_error_set (
        error, CCL_ERROR_ARGUMENT, "a frame of %u×%u pixels is empty", plan->width, plan->height);
  if ((uint64_t)plan->width * plan->height > CCL_MAX_PIXELS)
    return ccl_error_set (error, CCL_ERROR_ARGUMENT,
        "a frame of %u×%u pixels is too large: at most %d pixels can be labelled", plan->width,
        plan->height, CCL_MAX_PIXELS);
  if (plan->connectivity != CCL_CONNECTIVITY_4 && plan->connectivity != CCL_CONNECTIVITY_8)
    return ccl_error_set (error, CCL_ERROR_ARGUMENT, "the connectivity must be 4 or 8, not %d",
        (int)plan->connectivity);
  if (plan->max_components < 1)
    return ccl_error_set (error, CCL_ERROR_ARGUMENT,
        "max_components must be at least 1: the component table needs a row");
  return CCL_OK;
}

CclStatus
ccl_labeller_run (CclLabeller *labeller, const CclFrame *frame, const CclOptions *options,
    const CclLabels *labels, CclTable *table, CclError *error)
{
  if (!labeller || !frame || !options || !table)
    return ccl_error_set (
        error, CCL_ERROR_ARGUMENT, "labeller, frame, options and table must not be NULL");
  if (!frame->data)
    return ccl_error_set (error, CCL_ERROR_ARGUMENT, "the frame has no data: its pointer is NULL");
  if (frame->stride < labeller->plan.width)
    return ccl_error_set (error, CCL_ERROR_ARGUMENT,
        "a stride of %zu bytes is too small for rows of %u pixels", frame->stride,
        labeller->plan.width);
  if (options->threshold > 255)
    return ccl_error_set (
        error, CCL_ERROR_ARGUMENT, "the threshold must be 0…255, not %u", options->threshold);
  if (labels && (!labels->data || labels->stride < 4 * (size_t)labeller->plan.width ||
                    labels->stride % 4 || (uintptr_t)labels->data % 4))
    return ccl_error_set (error, CCL_ERROR_ARGUMENT,
        "the label map must have an address and a stride that are multiples of 4, and a stride of "
        "at "
        "least %zu bytes",
        4 * (size_t)labeller->plan.width);
  return labeller->klass->run (labeller, frame, options, labels, table, error);
}

void
ccl_labeller_free (CclLabeller **labeller)
{
  if (!labeller || !*labeller)
    return;
  (*labeller)->klass->free (*labeller);
  *labeller = NULL;
}

const char *
ccl_labeller_algorithm (const CclLabeller *labeller)
{
  return labeller->plan.algorithm;
}
