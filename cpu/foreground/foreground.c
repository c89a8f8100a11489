/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Foreground masks on the CPU: plans, threads, and the steps of a frame. pixels.h has the
 * operations on the pixels of a row.
 *
 * Each thread has a band of rows. All threads finish a step before the next one begins, because
 * filters read rows of other bands:
 *
 *   1. What the method needs to know of the whole frame: its histogram, its light.
 *   2. The method: the foreground, one bit per pixel.
 *   3. Opening: erosion.
 *   4. Median filter, or dilation of the opening.
 *   5. Closing: dilation.
 *   6. Closing: erosion.
 *
 * The last step of a frame also inverts each row, applies the region of interest mask and writes
 * the mask's bytes.
 */
#include "foreground.h"
#include "core/base/divide-up.h"
#include "foreground-tuning.h"
#include "cpu/base/errors.h"
#include "cpu/pixels/pixel-code.h"
#include "cpu/foreground/reduction/reduced-foreground.h"
#include "core/foreground/reduction.h"
#include "cpu/pixels/words.h"

#include <stdlib.h>
#include <string.h>

/* With fewer pixels, waking a thread takes longer than its work. */
#define DEFAULT_PIXELS_PER_THREAD (1u << 18)

#define ROW(number, name, ...) [CUDACCL_FOREGROUND_##number] = &cpu_##name,
static const CpuMethod *const methods[] = {CCL_FOREGROUND_METHODS (ROW)};

static void
find_foreground (void *data, uint32_t index)
{
  const CpuForeground *self = data;
  const ForegroundBand *band = &self->bands[index];
  const uint32_t width = self->base.plan.width;
  const bool is_last = !is_denoised (self) && !is_closed (self);
  const bool keeps_shadow = marks_shadows (self) || filters_classes (self);

  for (uint32_t y = band->first_row; y < band->end_row; y++) {
    uint64_t *row = is_last ? band->row : row_of (&self->foreground, y);
    uint64_t *shadow = keeps_shadow ? row_of (&self->shadow, y) : band->shadow;
    self->method->find_row (self, index, y, row, shadow);
    if (filters_classes (self))
      extend_row (shadow, self->n_words, width);
    if (is_denoised (self)) {
      extend_row (row, self->n_words, width);
      continue;
    }
    cpu_foreground_keep_row (self, y, row);
    if (is_last)
      cpu_foreground_finish_row (self, y, row, shadow);
    else
      surround_row (row, self->n_words, width, 0, 0);
  }
}

static CclStatus
cpu_foreground_queue (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  CpuForeground *self = (CpuForeground *)foreground;
  const CpuMethod *method = self->method;
  CclStatus status = ccl_cpu_check_frame (frame, error);

  if (status != CUDACCL_OK)
    return status;
  self->job = (FrameJob){
      .frame = frame,
      .mask = mask,
      .options = options,
      .denoise = ccl_foreground_denoise (foreground, options),
  };
  if (foreground->n_frames == 0 && method->reset)
    status = method->reset (self, error);
  if (status == CUDACCL_OK && method->begin)
    status = method->begin (self, error);
  if (status != CUDACCL_OK)
    return status;
  workers_run (self->workers, find_foreground, self);
  cpu_foreground_filter (self);
  if (method->end)
    method->end (self);
  return CUDACCL_OK;
}

static void
cpu_foreground_free (CclForeground *foreground)
{
  CpuForeground *self = (CpuForeground *)foreground;
  if (self->method->free && self->model)
    self->method->free (self->model);
  workers_free (self->workers);
  mapping_unmap (&self->mapping);
  mapping_unmap (&self->roi_mapping);
  free (self->bands);
  free (self);
}

static void
lay_out_roi_mask (Layout *layout, void *data)
{
  CpuForeground *self = data;
  lay_out_rows (layout, self->n_words, self->base.plan.height, &self->roi_mask);
}

static CclStatus
cpu_foreground_set_roi_mask (CclForeground *foreground, const CclFrame *roi_mask, CclError *error)
{
  CpuForeground *self = (CpuForeground *)foreground;
  bool has_room = self->roi_mask.words;

  if (roi_mask && !has_room)
    has_room = mapping_lay_out (&self->roi_mapping, lay_out_roi_mask, self);
  if (!roi_mask || !has_room) {
    mapping_unmap (&self->roi_mapping);
    self->roi_mask.words = NULL;
    return roi_mask ? ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
                          "not enough memory for a region of interest mask")
                    : CUDACCL_OK;
  }
  for (uint32_t y = 0; y < foreground->plan.height; y++)
    self->code->threshold_row ((const uint8_t *)roi_mask->data + y * roi_mask->stride,
        foreground->plan.width, 0, row_of (&self->roi_mask, y));
  return CUDACCL_OK;
}

static const CclForegroundClass cpu_foreground_class = {
    .name = "cpu",
    .queue = cpu_foreground_queue,
    .set_roi_mask = cpu_foreground_set_roi_mask,
    .free = cpu_foreground_free,
};

static void
lay_out_masks (Layout *layout, void *data)
{
  CpuForeground *self = data;
  const size_t height = self->base.plan.height;

  lay_out_rows (layout, self->n_words, height, &self->foreground);
  lay_out_rows (layout, self->n_words, height, &self->eroded);
  lay_out_rows (layout, self->n_words, height + 2 * CLOSING_MARGIN, &self->dilated);
  lay_out_rows (layout, self->n_words, height, &self->filtered);
  lay_out_rows (layout, self->n_words, height, &self->shadow);
  lay_out_rows (layout, self->n_words, height, &self->filtered_shadow);
  for (uint32_t i = 0; i < self->n_bands; i++) {
    ForegroundBand *band = &self->bands[i];
    band->scratch =
        lay_out (layout, FILTER_SCRATCH_ROWS * (self->n_words + 2), sizeof *band->scratch);
    BitRows row;
    lay_out_rows (layout, self->n_words, 1, &row);
    band->row = row.words;
    band->shadow = lay_out (layout, self->n_words, sizeof *band->shadow);
    if (self->base.plan.format != CUDACCL_PIXEL_FORMAT_8)
      band->packed_luma = lay_out (layout, 64 * self->n_words, sizeof *band->packed_luma);
  }
}

/* Makes everything whose size the number of bands determines. */
static bool
allocate (CpuForeground *self)
{
  if (!self->workers || !mapping_lay_out (&self->mapping, lay_out_masks, self))
    return false;
  if (self->method->prepare && !self->method->prepare (self))
    return false;
  return !ccl_foreground_method_has_scene (self->base.plan.method) ||
         ccl_foreground_watch_camera (&self->base, NULL) == CUDACCL_OK;
}

/* An object for frames that are not reduced. */
static CclForeground *
new_for_whole_frames (const CclForegroundPlan *plan, const PixelCode *code,
    const CclCpuTuning *tuning, CclError *error)
{
  CpuForeground *self = calloc (1, sizeof *self);
  if (!self)
    goto no_memory;
  self->base.klass = &cpu_foreground_class;
  self->base.plan = *plan;
  self->method = methods[plan->method];
  self->code = code;
  self->n_words = divide_up (plan->width, 64);
  self->n_bands = workers_choose_number (plan->n_threads, (uint64_t)plan->width * plan->height,
      tuning->pixels_per_thread ? tuning->pixels_per_thread : DEFAULT_PIXELS_PER_THREAD,
      plan->height);
  self->bands = calloc (self->n_bands, sizeof *self->bands);
  if (!self->bands)
    goto no_memory;
  for (uint32_t i = 0; i < self->n_bands; i++) {
    self->bands[i].first_row = band_first_row (plan->height, i, self->n_bands);
    self->bands[i].end_row = band_first_row (plan->height, i + 1, self->n_bands);
  }
  self->workers = workers_new (self->n_bands);
  self->base.plan.roi_mask = NULL;
  if (!allocate (self) || (plan->roi_mask && cpu_foreground_set_roi_mask (
                                                 &self->base, plan->roi_mask, NULL) != CUDACCL_OK))
    goto no_memory;
  return &self->base;

no_memory:
  ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
      "not enough memory for foreground masks of %u×%u pixels", plan->width, plan->height);
  if (self)
    cpu_foreground_free (&self->base);
  return NULL;
}

CclForeground *
ccl_cpu_foreground_new_tuned (
    const CclForegroundPlan *plan, const CclCpuTuning *tuning, CclError *error)
{
  if (ccl_foreground_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  const PixelCode *code = choose_pixel_code (tuning->instructions);
  if (!code) {
    ccl_cpu_set_no_instructions (error, tuning->instructions);
    return NULL;
  }
  const uint32_t factor = ccl_reduction_factor (plan);
  if (factor == 1)
    return new_for_whole_frames (plan, code, tuning, error);
  const CclForegroundPlan reduced_plan = ccl_reduced_plan (plan, factor);
  CclForeground *inner = new_for_whole_frames (&reduced_plan, code, tuning, error);
  CclForeground *foreground = inner ? reduced_foreground_new (plan, factor, code, inner) : NULL;
  if (inner && !foreground)
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
        "not enough memory for foreground masks of %u×%u pixels", plan->width, plan->height);
  return foreground;
}

CclForeground *
ccl_cpu_foreground_new (const CclForegroundPlan *plan, CclError *error)
{
  const CclCpuTuning tuning = {.instructions = instructions_of_user ()};
  return ccl_cpu_foreground_new_tuned (plan, &tuning, error);
}
