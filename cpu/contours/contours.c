/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contours on the CPU. Each row becomes one bit per pixel, and where the bits change are the ends
 * of its runs. Ends that lie one below the other are a chain; from there on, only chains are read
 * (contours-follow.c).
 */
#include "contours.h"
#include "cpu/base/errors.h"
#include "cpu/pixels/bit-rows.h"
#include "cpu/pixels/pixel-code.h"
#include "cpu/pixels/words.h"

#include <stdlib.h>
#include <string.h>

/* Ends the list of a row's ends. */
static void
end_row (const ContourRow *row, uint32_t n)
{
  row->keys[n] = row->keys[n + 1] = CONTOUR_SENTINEL;
}

/* Lists the ends of the runs of the row at work. */
static void
find_ends (CpuContours *self)
{
  const uint32_t width = self->base.plan.width, n_words = (width + 63) / 64;
  const uint32_t flip = self->base.plan.connectivity == CUDACCL_CONNECTIVITY_4;
  const ContourRow *row = &self->rows[1];
  uint64_t before = 0;
  uint32_t n = 0;

  for (uint32_t i = 0; i < n_words; i++) {
    const uint64_t word = self->bits[1][i];
    for (uint64_t changes = word ^ (word << 1 | before); changes; changes &= changes - 1) {
      row->keys[n] = (64 * i + lowest_bit (changes)) << 1 | ((n & 1) ^ flip);
      n++;
    }
    before = word >> 63;
  }
  if (n & 1) /* a run up to the edge of the frame */
    row->keys[n++] = width << 1 | !flip;
  end_row (row, n);
}

/* Packs a row of the frame. */
static void
pack_frame_row (CpuContours *self, const CclFrame *frame, uint32_t threshold, uint32_t y)
{
  const uint32_t width = self->base.plan.width;
  const uint8_t *pixels = (const uint8_t *)frame->data + y * frame->stride;

  if (self->base.plan.format == CUDACCL_PIXEL_FORMAT_8)
    self->code->threshold_row (pixels, width, (uint8_t)threshold, self->bits[1]);
  else
    self->code->threshold_words (
        pixels, width, ccl_word_threshold (self->base.plan.format, threshold), self->bits[1]);
}

static void
pack_label_row (CpuContours *self, const CclLabels *labels, uint32_t y)
{
  const uint32_t width = self->base.plan.width;
  const uint32_t *row = (const uint32_t *)((const uint8_t *)labels->data + y * labels->stride);

  for (uint32_t x = 0; x < width; x++)
    self->bytes[x] = row[x] != 0;
  self->code->threshold_row (self->bytes, width, 0, self->bits[1]);
}

/* Links the ends of the row at work to those of the row before, which it becomes. */
static void
link_row (CpuContours *self, uint32_t y)
{
  const ContourRow before = self->rows[0];
  uint64_t *const bits = self->bits[0];

  cpu_contours_link (self, &self->rows[0], &self->rows[1], y);
  self->rows[0] = self->rows[1];
  self->rows[1] = before;
  self->bits[0] = self->bits[1];
  self->bits[1] = bits;
}

/* Finds the contours of a frame, or of labels without one. */
static void
find_contours (CpuContours *self, const CclFrame *frame, const CclLabellerOptions *options,
    const CclLabels *labels, CclContourTable *table)
{
  const uint32_t width = self->base.plan.width, height = self->base.plan.height;
  const uint32_t n_words = (width + 63) / 64, rest = width % 64;

  self->n_chains = 0;
  memset (self->bits[0], 0, n_words * sizeof **self->bits);
  end_row (&self->rows[0], 0);
  for (uint32_t y = 0; y < height; y++) {
    if (frame)
      pack_frame_row (self, frame, options->threshold, y);
    else
      pack_label_row (self, labels, y);
    for (uint32_t i = 0; frame && options->invert && i < n_words; i++)
      self->bits[1][i] = ~self->bits[1][i];
    if (rest)
      self->bits[1][n_words - 1] &= UINT64_MAX >> (64 - rest);
    if (memcmp (self->bits[0], self->bits[1], n_words * sizeof **self->bits) == 0)
      continue; /* its ends continue the chains of the row before */
    find_ends (self);
    link_row (self, y);
  }
  end_row (&self->rows[1], 0);
  link_row (self, height);
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

  for (uint32_t i = 0; i < 2; i++) {
    self->bits[i] = lay_out (layout, (width + 63) / 64, sizeof *self->bits[i]);
    self->rows[i].keys = lay_out (layout, width + 3, sizeof *self->rows[i].keys);
    self->rows[i].chains = lay_out (layout, width + 4, sizeof *self->rows[i].chains);
    if (self->rows[i].chains)
      *self->rows[i].chains++ = CUDACCL_NO_CONTOUR;
  }
  self->bytes = lay_out (layout, width, sizeof *self->bytes);
  self->chains = lay_out (layout, n_ends + 1, sizeof *self->chains);
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
