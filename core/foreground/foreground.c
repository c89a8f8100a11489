/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "foreground-class.h"

#include "core/label/labeller-class.h"
#include "reduction.h"
#include "core/base/struct-size.h"

#include "mixture.h"

#include <inttypes.h>
#include <stddef.h>

static CclStatus
check_roi_mask (const CclForegroundPlan *plan, const CclFrame *roi_mask, CclError *error)
{
  if (roi_mask && (!roi_mask->data || roi_mask->location != CUDACCL_LOCATION_HOST ||
                      roi_mask->stride < plan->width))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the region of interest mask must be host memory with a stride of at least %u bytes",
        plan->width);
  return CUDACCL_OK;
}

CclStatus
ccl_foreground_plan_check (const CclForegroundPlan *plan, CclError *error)
{
  CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  if (status != CUDACCL_OK)
    return status;
  CclLabellerPlan frames = {
      .width = plan->width,
      .height = plan->height,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = 1,
      .format = plan->format,
  };
  status = ccl_plan_check (&frames, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_method_check (plan->method, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->reduction > 2 && plan->reduction != 4 && plan->reduction != CUDACCL_MAX_REDUCTION)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the reduction must be 1, 2, 4, 8 or CUDACCL_REDUCTION_AUTO, not %u", plan->reduction);
  return check_roi_mask (plan, plan->roi_mask, error);
}

static CclStatus
check_model_options (const CclForegroundOptions *options, CclError *error)
{
  if (options->shadows > CUDACCL_SHADOWS_REMOVE)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "shadows must be 0…2, not %d", (int)options->shadows);
  if (options->hold > CUDACCL_MAX_HOLD)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "hold must be 0…%d, not %u",
        CUDACCL_MAX_HOLD, options->hold);
  if (options->absorb_after > CUDACCL_MAX_ABSORB_AFTER)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "absorb_after must be at most a day, %" PRIu64 " nanoseconds, not %" PRIu64,
        CUDACCL_MAX_ABSORB_AFTER, options->absorb_after);
  if (options->sensitivity != 0 && (options->sensitivity < CUDACCL_MIN_SENSITIVITY ||
                                       options->sensitivity > CUDACCL_MAX_SENSITIVITY))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "sensitivity must be 0 or %d…%d percent, not %" PRIu32, CUDACCL_MIN_SENSITIVITY,
        CUDACCL_MAX_SENSITIVITY, options->sensitivity);
  return CUDACCL_OK;
}

static CclStatus
check_chroma (const CclForegroundPlan *plan, const CclChroma *chroma, CclError *error)
{
  if (!chroma->u || !chroma->v)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the frame has no chroma, the plan has");
  const bool is_step =
      chroma->step == 1 || chroma->step == 2 || (chroma->step == 4 && chroma->shift_x > 0);
  if (!is_step || chroma->shift_x > 2 || chroma->shift_y > 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "chroma must have a step of 1 or 2 bytes, or of 4 where its horizontal shift is not 0, a "
        "horizontal shift of 0…2 and a vertical one of 0 or 1, not %u, %u and %u",
        chroma->step, chroma->shift_x, chroma->shift_y);
  const size_t samples = ((size_t)plan->width + (1u << chroma->shift_x) - 1) >> chroma->shift_x;
  const size_t row = (samples - 1) * chroma->step + 1;
  if (chroma->u_stride < row || chroma->v_stride < row)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "strides of %zu and %zu bytes are too small for rows of %zu samples of chroma",
        chroma->u_stride, chroma->v_stride, samples);
  return CUDACCL_OK;
}

/* Checks the arguments of a run. options: complete. */
static CclStatus
check_run (const CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  const CclForegroundPlan *plan = &foreground->plan;
  const CclMethod *method = ccl_find_method (plan->method);
  CclStatus status = ccl_frame_check (frame, plan->width, plan->format, error);
  if (status == CUDACCL_OK && method->check)
    status = method->check (plan, options, error);
  if (status != CUDACCL_OK)
    return status;
  const uint32_t mask_width = ccl_reduced (
      plan->width, options->reduced_mask ? ccl_foreground_get_reduction (foreground) : 1);
  if (!mask->data || mask->stride < mask_width)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the mask must have data, and a stride of at least %u bytes", mask_width);
  if (options->denoise > CUDACCL_DENOISE_OPENING_5)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "denoise must be 0…4, not %d", (int)options->denoise);
  if (options->closing_width > CUDACCL_MAX_CLOSING || options->closing_height > CUDACCL_MAX_CLOSING)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a closing is at most %d×%d pixels, not %u×%u", CUDACCL_MAX_CLOSING, CUDACCL_MAX_CLOSING,
        options->closing_width, options->closing_height);
  if (method->has_model) {
    status = check_model_options (options, error);
    if (status == CUDACCL_OK && plan->has_chroma)
      status = check_chroma (plan, &frame->chroma, error);
  }
  return status;
}

CclStatus
ccl_foreground_watch_camera (CclForeground *foreground, CclError *error)
{
  foreground->camera = ccl_camera_new (foreground->plan.width, foreground->plan.height);
  return foreground->camera ? CUDACCL_OK
                            : ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
                                  "no memory for the registration of frames");
}

/* Before a frame: takes the comparison with the frame before into account. The model begins anew if
 * the camera has moved. */
static CclStatus
follow_camera (CclForeground *foreground, const CclForegroundOptions *options, CclError *error)
{
  CclCamera *camera = foreground->camera;
  CclStatus status = CUDACCL_OK;

  if (foreground->n_frames == 0)
    ccl_camera_begin (camera, options->warm_up);
  else if (camera->takes_boxes) /* a device makes them */
    status = ccl_foreground_wait (foreground, error);
  if (status != CUDACCL_OK)
    return status;
  if (ccl_camera_advance (
          camera, options->frame_duration, options->light && foreground->n_frames > 0))
    foreground->n_frames = 0;
  foreground->is_noted = false;
  return CUDACCL_OK;
}

CclStatus
ccl_foreground_queue (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  CclForegroundOptions complete = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;

  if (!foreground || !frame || !options || !mask)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "foreground, frame, options and mask must not be NULL");
  CclStatus status = ccl_struct_complete (
      &complete, sizeof complete, options, offsetof (CclForegroundOptions, frame_duration), error);
  if (status == CUDACCL_OK)
    status = check_run (foreground, frame, &complete, mask, error);
  if (status == CUDACCL_OK && foreground->camera)
    status = follow_camera (foreground, &complete, error);
  if (status == CUDACCL_OK)
    status = foreground->klass->queue (foreground, frame, &complete, mask, error);
  if (status == CUDACCL_OK)
    foreground->n_frames++;
  return status;
}

CclStatus
ccl_foreground_run (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  const CclStatus status = ccl_foreground_queue (foreground, frame, options, mask, error);
  return status == CUDACCL_OK ? ccl_foreground_wait (foreground, error) : status;
}

uint32_t
ccl_foreground_get_reduction (const CclForeground *foreground)
{
  return foreground ? ccl_reduction_factor (&foreground->plan) : 1;
}

CclSceneChange
ccl_foreground_get_scene_change (const CclForeground *foreground)
{
  if (!foreground)
    return CUDACCL_SCENE_UNCHANGED;
  const CclForeground *model = ccl_foreground_model (foreground);
  const bool has_moved = model->camera && model->camera->change != CUDACCL_SCENE_UNCHANGED;
  return has_moved ? model->camera->change : model->scene_change;
}

CclStatus
ccl_foreground_get_scene (const CclForeground *foreground, CclScene *scene, CclError *error)
{
  if (!foreground || !scene)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "foreground and scene must not be NULL");
  if (scene->size != sizeof *scene)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a scene has %zu bytes, not %zu",
        sizeof *scene, scene->size);
  const CclForeground *model = ccl_foreground_model (foreground);
  const int32_t factor = (int32_t)ccl_reduction_factor (&foreground->plan);
  *scene = (CclScene){
      .size = sizeof *scene,
      .change = ccl_foreground_get_scene_change (foreground),
      .n_foreground = model->n_foreground,
      .n_changed = model->n_changed,
  };
  if (model->camera) {
    scene->has_displacement = model->camera->has_displacement;
    scene->dx = factor * model->camera->dx;
    scene->dy = factor * model->camera->dy;
    scene->is_hidden = model->camera->hides;
  }
  return CUDACCL_OK;
}

CclStatus
ccl_foreground_wait (CclForeground *foreground, CclError *error)
{
  if (!foreground)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "foreground must not be NULL");
  CclStatus status = CUDACCL_OK;
  if (foreground->klass->wait)
    status = foreground->klass->wait (foreground, error);
  else if (foreground->model)
    status = ccl_foreground_wait (foreground->model, error);
  if (status == CUDACCL_OK && foreground->camera && !foreground->is_noted) {
    ccl_camera_note (foreground->camera, foreground->scene_change);
    foreground->is_noted = true;
  }
  return status;
}

CclStatus
ccl_foreground_set_roi_mask (CclForeground *foreground, const CclFrame *roi_mask, CclError *error)
{
  if (!foreground)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "foreground must not be NULL");
  CclStatus status = check_roi_mask (&foreground->plan, roi_mask, error);
  if (status == CUDACCL_OK)
    status = ccl_foreground_wait (foreground, error);
  return status == CUDACCL_OK ? foreground->klass->set_roi_mask (foreground, roi_mask, error)
                              : status;
}

void
ccl_foreground_reset (CclForeground *foreground)
{
  if (foreground)
    foreground->n_frames = 0;
}

void
ccl_foreground_free (CclForeground **foreground)
{
  if (!foreground || !*foreground)
    return;
  CclCamera *camera = (*foreground)->camera;
  (*foreground)->klass->free (*foreground);
  ccl_camera_free (camera);
  *foreground = NULL;
}
