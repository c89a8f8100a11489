/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contours on the CPU. Each row becomes one bit per pixel, and where the bits change are the ends
 * of its runs. Ends that lie one below the other are a chain; from there on, only chains are read
 * (contours-follow.c).
 */
#include "contours.h"
#include "core/base/divide-up.h"
#include "cpu/base/errors.h"
#include "cpu/pixels/bit-rows.h"
#include "core/base/interruption.h"
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
  const uint32_t width = self->base.plan.width, n_words = divide_up (width, 64);
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

/* Finds the chains of a frame. */
static void
chain_frame (CpuContours *self, const CclFrame *frame, const CclLabellerOptions *options)
{
  const uint32_t width = self->base.plan.width, height = self->base.plan.height;
  const uint32_t n_words = divide_up (width, 64), rest = width % 64;

  memset (self->bits[0], 0, n_words * sizeof **self->bits);
  end_row (&self->rows[0], 0);
  for (uint32_t y = 0; y < height && !ccl_is_interrupted (width); y++) {
    pack_frame_row (self, frame, options->threshold, y);
    for (uint32_t i = 0; options->invert && i < n_words; i++)
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
}

/* Follows the contours that the chains make. labels: the map; NULL: a frame. */
static CclStatus
follow_chains (CpuContours *self, const CclLabels *labels, CclContourTable *table, CclError *error)
{
  CclStatus status = ccl_interruption_status (error);

  if (status != CUDACCL_OK)
    return status;
  self->labels = labels;
  cpu_contours_follow (self);
  status = ccl_interruption_status (error);
  if (status != CUDACCL_OK)
    return status;
  if (self->n_points > UINT32_MAX)
    return ccl_contours_set_too_many (error);
  *table = (CclContourTable){
      self->n_components, self->n_contours, (uint32_t)self->n_points, self->contours, self->points};
  return CUDACCL_OK;
}

static CclStatus
cpu_contours_of_frame (CclContours *contours, const CclFrame *frame,
    const CclLabellerOptions *options, CclContourTable *table, CclError *error)
{
  CpuContours *self = (CpuContours *)contours;
  const CclStatus status = ccl_cpu_check_frame (frame, error);

  if (status != CUDACCL_OK)
    return status;
  self->n_chains = 0;
  chain_frame (self, frame, options);
  return follow_chains (self, NULL, table, error);
}

static CclStatus
cpu_contours_of_labels (
    CclContours *contours, const CclLabels *labels, CclContourTable *table, CclError *error)
{
  CpuContours *self = (CpuContours *)contours;

  self->n_chains = 0;
  cpu_contours_chain_labels (self, labels);
  return follow_chains (self, labels, table, error);
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

static void
lay_out_label_row (Layout *layout, ContourLabelRow *row, uint64_t width)
{
  row->columns = lay_out (layout, 2 * width, sizeof *row->columns);
  row->labels = lay_out (layout, width, sizeof *row->labels);
  row->partners = lay_out (layout, 2 * width, sizeof *row->partners);
  row->chains = lay_out (layout, 2 * width + 1, sizeof *row->chains);
  if (row->chains)
    *row->chains++ = CUDACCL_NO_CONTOUR;
}

/* Each pixel may have a label of its own, and contours have at most one point for each edge of a
 * pixel. */
static void
lay_out_contours (Layout *layout, void *data)
{
  CpuContours *self = data;
  const uint64_t width = self->base.plan.width, height = self->base.plan.height;
  const uint64_t n_ends = 2 * width * height;

  for (uint32_t i = 0; i < 2; i++) {
    lay_out_label_row (layout, &self->label_rows[i], width);
    self->bits[i] = lay_out (layout, divide_up (width, 64), sizeof *self->bits[i]);
    self->rows[i].keys = lay_out (layout, width + 3, sizeof *self->rows[i].keys);
    self->rows[i].chains = lay_out (layout, width + 4, sizeof *self->rows[i].chains);
    if (self->rows[i].chains)
      *self->rows[i].chains++ = CUDACCL_NO_CONTOUR;
  }
  self->bytes = lay_out (layout, width, sizeof *self->bytes);
  self->chains = lay_out (layout, n_ends + 1, sizeof *self->chains);
  self->contours = lay_out (layout, n_ends / 2 + 1, sizeof *self->contours);
  self->points =
      lay_out (layout, 4 * (uint64_t)width * height + CONTOUR_BLOCK, sizeof *self->points);
}

CclContours *
ccl_cpu_contours_new (const CclContoursPlan *plan, CclError *error)
{
  const char *instructions = instructions_of_user ();

  if (ccl_contours_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  const PixelCode *code = choose_pixel_code (instructions);
  if (!code) {
    ccl_cpu_set_no_instructions (error, instructions);
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
