/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reduced-foreground.h"
#include "core/base/divide-up.h"

#include "core/foreground/foreground-class.h"
#include "cpu/base/errors.h"
#include "cpu/base/mapping.h"
#include "core/foreground/reduction.h"
#include "cpu/base/workers.h"

#include <stdlib.h>
#include <string.h>

/* With fewer pixels, waking a thread takes longer than its work. */
#define PIXELS_PER_THREAD (1u << 20)

typedef struct ReducedForeground {
  CclForeground base;
  CclForeground *inner;
  const PixelCode *code;
  uint32_t factor;
  uint32_t width, height; /* reduced */
  Workers *workers;
  uint32_t n_bands;

  /* The reduced frame, planar, and its mask; rows are aligned to cache lines. */
  size_t stride; /* bytes of a row of any of the planes */
  uint8_t *luma, *u, *v, *mask;
  uint8_t *roi_mask; /* owned: a byte per pixel of the frame, 0 or 255; NULL without one */
  uint16_t *sums;    /* a row for each band */
  size_t n_sums;
  uint8_t *rows; /* an enlarged row for each band */
  Mapping mapping;

  /* The frame at work. */
  const CclFrame *frame;
  const CclMask *full_mask;
  bool invert;
} ReducedForeground;

/* One plane of the frame, and where its means go. */
typedef struct Plane {
  const uint8_t *data;
  size_t stride;
  uint32_t step, n_samples, n_rows;
  uint32_t factor_x, factor_y;
  uint8_t *means;
} Plane;

static void
reduce_row_of (const ReducedForeground *self, const Plane *plane, uint32_t y, uint32_t width,
    bool is_wide, uint16_t *sums)
{
  const uint8_t *rows[CUDACCL_MAX_REDUCTION];
  for (uint32_t i = 0; i < plane->factor_y; i++) {
    const uint32_t row = y * plane->factor_y + i;
    rows[i] = plane->data + (row < plane->n_rows ? row : plane->n_rows - 1) * plane->stride;
  }
  const ReducedRow reduced = {
      .rows = rows,
      .n_rows = plane->factor_y,
      .factor = plane->factor_x,
      .n_samples = plane->n_samples,
      .step = plane->step,
      .n_means = width,
      .ahead = y > 1 ? -2 * (ptrdiff_t)(plane->factor_y * plane->stride) : 0,
      .sums = sums,
      .means = plane->means + y * self->stride,
  };
  (is_wide ? self->code->reduce_wide_row : self->code->reduce_row) (&reduced);
}

static Plane
luma_plane (const ReducedForeground *self)
{
  const CclForegroundPlan *plan = &self->base.plan;
  const CclPixelFormat format = plan->format;
  const bool is_packed =
      format == CUDACCL_PIXEL_FORMAT_8_FIRST || format == CUDACCL_PIXEL_FORMAT_8_SECOND;
  return (Plane){
      .data = (const uint8_t *)self->frame->data + (format == CUDACCL_PIXEL_FORMAT_8_SECOND),
      .stride = self->frame->stride,
      .step = is_packed ? 2 : 1,
      .n_samples = plan->width,
      .n_rows = plan->height,
      .factor_x = self->factor,
      .factor_y = self->factor,
      .means = self->luma,
  };
}

static Plane
chroma_plane (const ReducedForeground *self, bool is_v)
{
  const CclChroma *chroma = &self->frame->chroma;
  return (Plane){
      .data = is_v ? chroma->v : chroma->u,
      .stride = is_v ? chroma->v_stride : chroma->u_stride,
      .step = chroma->step,
      .n_samples = ccl_reduced (self->base.plan.width, 1u << chroma->shift_x),
      .n_rows = ccl_reduced (self->base.plan.height, 1u << chroma->shift_y),
      .factor_x = ccl_reduce_chroma (self->factor, chroma->shift_x).factor,
      .factor_y = ccl_reduce_chroma (self->factor, chroma->shift_y).factor,
      .means = is_v ? self->v : self->u,
  };
}

static void
reduce_band (void *data, uint32_t index)
{
  const ReducedForeground *self = data;
  const uint32_t end = workers_first_part (self->height, index + 1, self->n_bands);
  uint16_t *sums = self->sums + index * self->n_sums;
  const Plane luma = luma_plane (self);

  const uint32_t first = workers_first_part (self->height, index, self->n_bands);
  for (uint32_t y = end; y-- > first;)
    reduce_row_of (
        self, &luma, y, self->width, self->base.plan.format == CUDACCL_PIXEL_FORMAT_16, sums);
  if (!self->base.plan.has_chroma)
    return;
  const CclChroma *chroma = &self->frame->chroma;
  const uint32_t width =
      ccl_reduced (self->width, 1u << ccl_reduce_chroma (self->factor, chroma->shift_x).shift);
  const uint32_t height =
      ccl_reduced (self->height, 1u << ccl_reduce_chroma (self->factor, chroma->shift_y).shift);
  const uint32_t chroma_end = workers_first_part (height, index + 1, self->n_bands);
  const uint32_t chroma_first = workers_first_part (height, index, self->n_bands);
  const Plane u = chroma_plane (self, false), v = chroma_plane (self, true);
  for (uint32_t y = chroma_end; y-- > chroma_first;) {
    reduce_row_of (self, &u, y, width, false, sums);
    reduce_row_of (self, &v, y, width, false, sums);
  }
}

/* Inverts a row of the mask; marked shadows stay. */
static void
invert_row (uint32_t width, uint8_t *mask)
{
  for (uint32_t x = 0; x < width; x++)
    mask[x] = mask[x] == CUDACCL_MASK_SHADOW ? CUDACCL_MASK_SHADOW : (uint8_t)~mask[x];
}

static void
clear_outside (const uint8_t *roi_mask, uint32_t width, const uint8_t *from, uint8_t *to)
{
  for (uint32_t x = 0; x < width; x++)
    to[x] = from[x] & roi_mask[x];
}

static void
enlarge_band (void *data, uint32_t index)
{
  const ReducedForeground *self = data;
  const uint32_t width = self->base.plan.width, height = self->base.plan.height;
  const uint32_t end = workers_first_part (self->height, index + 1, self->n_bands);
  uint8_t *row = self->rows + index * (self->stride * self->factor);

  for (uint32_t y = workers_first_part (self->height, index, self->n_bands); y < end; y++) {
    self->code->enlarge_row (self->mask + y * self->stride, self->factor, width, row);
    if (self->invert)
      invert_row (width, row);
    for (uint32_t i = y * self->factor; i < (y + 1) * self->factor && i < height; i++) {
      uint8_t *to = (uint8_t *)self->full_mask->data + i * self->full_mask->stride;
      if (self->roi_mask)
        clear_outside (self->roi_mask + (size_t)i * width, width, row, to);
      else
        memcpy (to, row, width);
    }
  }
}

static CclFrame
reduced_frame (const ReducedForeground *self)
{
  CclFrame frame = {.data = self->luma, .stride = self->stride};
  if (self->base.plan.has_chroma)
    frame.chroma =
        ccl_reduced_chroma (&self->frame->chroma, self->factor, self->u, self->v, self->stride);
  return frame;
}

static CclStatus
reduced_foreground_queue (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  ReducedForeground *self = (ReducedForeground *)foreground;
  const CclForegroundOptions reduced = ccl_reduced_options (options, self->factor);
  const CclMask own_mask = {.data = self->mask, .stride = self->stride};

  if (ccl_cpu_check_frame (frame, error) != CUDACCL_OK ||
      ccl_reduced_mask_check (options, self->roi_mask != NULL, error) != CUDACCL_OK)
    return CUDACCL_ERROR_ARGUMENT;
  self->frame = frame;
  self->full_mask = mask;
  self->invert = options->invert;
  if (foreground->n_frames == 0)
    ccl_foreground_reset (self->inner);
  workers_run (self->workers, reduce_band, self);
  const CclFrame small = reduced_frame (self);
  const CclStatus status = ccl_foreground_queue (
      self->inner, &small, &reduced, options->reduced_mask ? mask : &own_mask, error);
  if (status != CUDACCL_OK)
    return status;
  if (!options->reduced_mask)
    workers_run (self->workers, enlarge_band, self);
  return CUDACCL_OK;
}

static void
reduced_foreground_free (CclForeground *foreground)
{
  ReducedForeground *self = (ReducedForeground *)foreground;
  ccl_foreground_free (&self->inner);
  workers_free (self->workers);
  mapping_unmap (&self->mapping);
  free (self->roi_mask);
  free (self);
}

static CclStatus
reduced_foreground_set_roi_mask (
    CclForeground *foreground, const CclFrame *roi_mask, CclError *error)
{
  ReducedForeground *self = (ReducedForeground *)foreground;
  const CclForegroundPlan *plan = &foreground->plan;

  free (self->roi_mask);
  self->roi_mask = roi_mask ? malloc ((size_t)plan->width * plan->height) : NULL;
  if (roi_mask && !self->roi_mask)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for a region of interest mask");
  if (roi_mask)
    ccl_copy_roi_mask (plan, roi_mask, self->roi_mask);
  return CUDACCL_OK;
}

static const CclForegroundClass reduced_foreground_class = {
    .name = "cpu",
    .queue = reduced_foreground_queue,
    .set_roi_mask = reduced_foreground_set_roi_mask,
    .free = reduced_foreground_free,
};

static void
lay_out_planes (Layout *layout, void *data)
{
  ReducedForeground *self = data;
  const CclForegroundPlan *plan = &self->base.plan;
  const size_t size = self->stride * self->height;

  self->luma = lay_out (layout, size, 1);
  if (plan->has_chroma) {
    self->u = lay_out (layout, size, 1);
    self->v = lay_out (layout, size, 1);
  }
  self->mask = lay_out (layout, size, 1);
  self->sums = lay_out (layout, self->n_sums * self->n_bands, sizeof *self->sums);
  self->rows = lay_out (layout, self->stride * self->factor * self->n_bands, 1);
}

CclForeground *
reduced_foreground_new (
    const CclForegroundPlan *plan, uint32_t factor, const PixelCode *code, CclForeground *inner)
{
  ReducedForeground *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_foreground_free (&inner);
    return NULL;
  }
  self->base.klass = &reduced_foreground_class;
  self->base.plan = *plan;
  self->base.model = inner;
  self->inner = inner;
  self->code = code;
  self->factor = factor;
  self->width = ccl_reduced (plan->width, factor);
  self->height = ccl_reduced (plan->height, factor);
  /* Samples of 16 bits need two bytes. */
  self->stride = round_up ((size_t)self->width * 2, 64);
  self->n_sums = (self->stride / 2 + 64) * factor * 4; /* steps are at most 4 bytes */
  self->n_bands = workers_choose_number (
      plan->n_threads, (uint64_t)plan->width * plan->height, PIXELS_PER_THREAD, self->height);
  self->workers = workers_new (self->n_bands);
  self->base.plan.roi_mask = NULL;
  if (!self->workers || !mapping_lay_out (&self->mapping, lay_out_planes, self) ||
      reduced_foreground_set_roi_mask (&self->base, plan->roi_mask, NULL) != CUDACCL_OK) {
    reduced_foreground_free (&self->base);
    return NULL;
  }
  return &self->base;
}
