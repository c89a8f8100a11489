/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "segmenter.h"

#include "mixture.h"

CclStatus
ccl_segmenter_plan_check (const CclSegmenterPlan *plan, CclError *error)
{
  if (!plan)
    return ccl_error_set (error, CCL_ERROR_ARGUMENT, "no plan given");
  CclPlan frames = {
      .width = plan->width,
      .height = plan->height,
      .connectivity = CCL_CONNECTIVITY_8,
      .max_components = 1,
  };
  CclStatus status = ccl_plan_check (&frames, error);
  if (status != CCL_OK)
    return status;
  if (plan->foreground > CCL_FOREGROUND_BACKGROUND)
    return ccl_error_set (
        error, CCL_ERROR_ARGUMENT, "there is no kind of foreground %d", (int)plan->foreground);
  if (plan->zone && (!plan->zone->data || plan->zone->location != CCL_LOCATION_HOST ||
                        plan->zone->stride < plan->width))
    return ccl_error_set (error, CCL_ERROR_ARGUMENT,
        "the zone needs host memory with a stride of at least %u bytes", plan->width);
  return CCL_OK;
}

static CclStatus
check_background_options (const CclSegmenterOptions *options, CclError *error)
{
  if (options->history < 1)
    return ccl_error_set (error, CCL_ERROR_ARGUMENT, "the history is at least one frame");
  if (!(options->var_threshold > 0))
    return ccl_error_set (error, CCL_ERROR_ARGUMENT,
        "the variance threshold is greater than 0, not %g", (double)options->var_threshold);
  if (!(options->learning_rate <= 1))
    return ccl_error_set (error, CCL_ERROR_ARGUMENT, "the learning rate is at most 1, not %g",
        options->learning_rate);
  if (options->mixtures < 1 || options->mixtures > CCL_MAX_MIXTURES)
    return ccl_error_set (error, CCL_ERROR_ARGUMENT, "a pixel has 1 to %d Gaussians, not %u",
        CCL_MAX_MIXTURES, options->mixtures);
  return CCL_OK;
}

CclStatus
ccl_segmenter_run (CclSegmenter *segmenter, const CclFrame *frame,
    const CclSegmenterOptions *options, const CclMask *mask, CclError *error)
{
  if (!segmenter || !frame || !options || !mask)
    return ccl_error_set (
        error, CCL_ERROR_ARGUMENT, "segmenter, frame, options and mask are needed");
  const CclSegmenterPlan *plan = &segmenter->plan;
  if (!frame->data || !mask->data)
    return ccl_error_set (error, CCL_ERROR_ARGUMENT, "frame and mask need data");
  if (frame->stride < plan->width || mask->stride < plan->width)
    return ccl_error_set (error, CCL_ERROR_ARGUMENT,
        "strides of %zu and %zu bytes are too small for rows of %u pixels", frame->stride,
        mask->stride, plan->width);
  if (plan->foreground == CCL_FOREGROUND_THRESHOLD && options->threshold > 255)
    return ccl_error_set (
        error, CCL_ERROR_ARGUMENT, "threshold is 0…255, not %u", options->threshold);
  if (options->denoise > CCL_DENOISE_OPENING_5)
    return ccl_error_set (
        error, CCL_ERROR_ARGUMENT, "there is no way %d to denoise", (int)options->denoise);
  if (plan->foreground == CCL_FOREGROUND_BACKGROUND) {
    CclStatus status = check_background_options (options, error);
    if (status != CCL_OK)
      return status;
  }
  CclStatus status = segmenter->klass->run (segmenter, frame, options, mask, error);
  if (status == CCL_OK)
    segmenter->n_frames++;
  return status;
}

CclStatus
ccl_segmenter_wait (CclSegmenter *segmenter, CclError *error)
{
  return segmenter && segmenter->klass->wait ? segmenter->klass->wait (segmenter, error) : CCL_OK;
}

void
ccl_segmenter_reset (CclSegmenter *segmenter)
{
  if (segmenter)
    segmenter->n_frames = 0;
}

void
ccl_segmenter_free (CclSegmenter **segmenter)
{
  if (!segmenter || !*segmenter)
    return;
  (*segmenter)->klass->free (*segmenter);
  *segmenter = NULL;
}
