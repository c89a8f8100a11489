/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contours on the CPU. Each row becomes one bit per pixel, and where the bits change are the ends
 * of its runs; from there on, only ends are read (contours-follow.c).
 */
#include "contours.h"
#include "algorithms.h"
#include "bit-rows.h"
#include "pixel-code.h"
#include "words.h"

#include <stdlib.h>

/* Begins a row with the ends that follow. */
static uint32_t
begin_row (CpuContours *self, uint32_t row, uint32_t n)
{
  self->first_ends[row] = n;
  return n;
}

static uint32_t
end_row (CpuContours *self, uint32_t n)
{
  self->ends[n].key = self->ends[n + 1].key = CONTOUR_SENTINEL;
  return n + 2;
}

/* Appends the ends of a row's runs to the n ends before it. */
static uint32_t
add_ends (CpuContours *self, uint32_t n)
{
  const uint32_t width = self->base.plan.width, rest = width % 64;
  const uint32_t flip = self->base.plan.connectivity == CUDACCL_CONNECTIVITY_4;
  const uint32_t n_words = (width + 63) / 64;
  uint64_t before = 0;

  if (rest)
    self->bits[n_words - 1] &= UINT64_MAX >> (64 - rest);
  for (uint32_t i = 0; i < n_words; i++) {
    const uint64_t word = self->bits[i];
    for (uint64_t changes = word ^ (word << 1 | before); changes; changes &= changes - 1) {
      self->ends[n].key = (64 * i + lowest_bit (changes)) << 1 | ((n & 1) ^ flip);
      n++;
    }
    before = word >> 63;
  }
  if (n & 1) /* a run up to the edge of the frame */
    self->ends[n++].key = width << 1 | !flip;
  return n;
}

/* Packs a row of the frame. */
static void
pack_frame_row (CpuContours *self, const CclFrame *frame, uint32_t threshold, uint32_t y)
{
  const uint32_t width = self->base.plan.width;
  const uint8_t *pixels = (const uint8_t *)frame->data + y * frame->stride;

  if (self->base.plan.format == CUDACCL_PIXEL_FORMAT_8)
    self->code->threshold_row (pixels, width, (uint8_t)threshold, self->bits);
  else
    self->code->threshold_words (
        pixels, width, ccl_word_threshold (self->base.plan.format, threshold), self->bits);
}

static void
pack_label_row (CpuContours *self, const CclLabels *labels, uint32_t y)
{
  const uint32_t width = self->base.plan.width;
  const uint32_t *row = (const uint32_t *)((const uint8_t *)labels->data + y * labels->stride);

  for (uint32_t x = 0; x < width; x++)
    self->bytes[x] = row[x] != 0;
  self->code->threshold_row (self->bytes, width, 0, self->bits);
}

/* Finds the contours of a frame, or of labels without one. */
static void
find_contours (CpuContours *self, const CclFrame *frame, const CclLabellerOptions *options,
    const CclLabels *labels, CclContourTable *table)
{
  const uint32_t height = self->base.plan.height, n_words = (self->base.plan.width + 63) / 64;
  uint32_t n = end_row (self, begin_row (self, 0, 0));

  for (uint32_t y = 0; y < height; y++) {
    if (frame)
      pack_frame_row (self, frame, options->threshold, y);
    else
      pack_label_row (self, labels, y);
    for (uint32_t i = 0; frame && options->invert && i < n_words; i++)
      self->bits[i] = ~self->bits[i];
    n = end_row (self, add_ends (self, begin_row (self, y + 1, n)));
  }
  end_row (self, begin_row (self, height + 1, n));
  cpu_contours_follow (self);
  *table = (CclContourTable){
      self->n_components, self->n_contours, self->n_points, self->contours, self->points};
}

static CclStatus
cpu_contours_of_frame (CclContours *contours, const CclFrame *frame,
    const CclLabellerOptions *options, CclContourTable *table, CclError *error)
{
  const CclStatus status = ccl_cpu_check_frame (frame, error);
  if (status == CUDACCL_OK)
    find_contours ((CpuContours *)contours, frame, options, NULL, table);
  return status;
}

static CclStatus
cpu_contours_of_labels (
    CclContours *contours, const CclLabels *labels, CclContourTable *table, CclError *error)
{
  find_contours ((CpuContours *)contours, NULL, NULL, labels, table);
  return CUDACCL_OK;
}

static void
cpu_contours_free (CclContours *contours)
{
  mapping_unmap (&((CpuContours *)contours)->mapping);
  free (contours);
}

static const CclContoursClass cpu_contours_class = {
    .of_frame = cpu_contours_of_frame,
    .of_labels = cpu_contours_of_labels,
    .free = cpu_contours_free,
};

/* Contours have at most one point for each edge of a pixel. */
static void
lay_out_contours (Layout *layout, void *data)
{
  CpuContours *self = data;
  const uint64_t width = self->base.plan.width, height = self->base.plan.height;
  const uint64_t n_ends = (width + 1) * height;

  self->bits = lay_out (layout, (width + 63) / 64, sizeof *self->bits);
  self->bytes = lay_out (layout, width, sizeof *self->bytes);
  self->first_ends = lay_out (layout, height + 2, sizeof *self->first_ends);
  self->ends = lay_out (layout, n_ends + 2 * (height + 2), sizeof *self->ends);
  self->contours = lay_out (layout, n_ends / 2 + 1, sizeof *self->contours);
  self->points =
      lay_out (layout, 2 * (width + 1) * (height + 1) + CONTOUR_BLOCK, sizeof *self->points);
}

CclContours *
ccl_cpu_contours_new (const CclContoursPlan *plan, CclError *error)
{
  const char *instructions = getenv ("CCL_CPU_INSTRUCTIONS");

  if (ccl_contours_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  const PixelCode *code = choose_pixel_code (instructions && *instructions ? instructions : NULL);
  if (!code) {
    ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "instruction set '%s' is unknown, or this processor lacks it", instructions);
    return NULL;
  }
  CpuContours *self = calloc (1, sizeof *self);
  if (self) {
    self->base = (CclContours){.klass = &cpu_contours_class, .plan = *plan};
    self->code = code;
    if (mapping_lay_out (&self->mapping, lay_out_contours, self))
      return &self->base;
    free (self);
  }
  ccl_cpu_set_no_memory (error, plan->width, plan->height);
  return NULL;
}
