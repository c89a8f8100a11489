/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "two-pass.h"
#include "core/base/divide-up.h"
#include "cpu/base/errors.h"

#include "core/label/component-row.h"

#include <stdlib.h>
#include <string.h>

/* Columns of background on both sides of a row of pixels. */
#define MARGIN 2

/* Writes 1 for foreground and 0 for background. */
static void
binarise (uint8_t *restrict out, const uint8_t *restrict pixels, size_t n, uint8_t threshold,
    uint8_t invert)
{
  for (size_t i = 0; i < n; i++)
    out[i] = (pixels[i] > threshold) ^ invert;
}

/* The same for pixels of two bytes. */
static void
binarise_words (uint8_t *restrict out, const uint8_t *restrict pixels, size_t n,
    CclWordThreshold threshold, uint8_t invert)
{
  for (size_t i = 0; i < n; i++) {
    const uint16_t word = (uint16_t)(pixels[2 * i] | pixels[2 * i + 1] << 8);
    out[i] = ((word & threshold.mask) > threshold.threshold) ^ invert;
  }
}

/* A binarised row of the frame, in one of four buffers that take turns; background below the
 * frame. */
static const uint8_t *
load_row (const TwoPass *self, uint32_t y)
{
  if (y >= self->height)
    return self->no_pixels;
  uint8_t *row = self->pixels[y % 4];
  const uint8_t *pixels = self->data + y * self->stride;
  if (ccl_pixel_bytes (self->base.plan.format) == 2)
    binarise_words (row, pixels, self->width, self->word_threshold, self->invert);
  else
    binarise (row, pixels, self->width, self->threshold, self->invert);
  return row;
}

static void
scan_all (TwoPass *self)
{
  const uint32_t rows_per_strip = self->algorithm->rows_per_strip;
  TwoPassStrip strip = {0};

  for (int i = 0; i < 4; i++)
    strip.pixels[i] = self->no_pixels;
  self->n_labels = 1;
  self->parents[0] = self->final_labels[0] = 0;
  for (uint32_t y = 0; y < self->height; y += rows_per_strip) {
    strip.y = y;
    if (rows_per_strip == 1) {
      strip.pixels[1] = strip.pixels[2];
      strip.pixels[2] = load_row (self, y);
    } else {
      strip.pixels[0] = strip.pixels[2];
      strip.pixels[1] = strip.pixels[3];
      strip.pixels[2] = load_row (self, y);
      strip.pixels[3] = load_row (self, y + 1);
    }
    strip.labels_above = strip.labels;
    strip.labels = self->labels ? (uint32_t *)(self->labels + y * self->labels_stride)
                                : self->strip_labels[y / rows_per_strip % 2];
    self->algorithm->first_scan (self, &strip);
  }
}

static void
write_all (const TwoPass *self)
{
  const uint32_t rows_per_strip = self->algorithm->rows_per_strip;

  for (uint32_t y = 0; y < self->height; y += rows_per_strip) {
    uint8_t *row = self->labels + y * self->labels_stride;
    TwoPassStrip strip = {.y = y, .labels = (uint32_t *)row};
    if (rows_per_strip == 2) {
      strip.pixels[2] = load_row (self, y);
      strip.pixels[3] = load_row (self, y + 1);
      if (y + 1 < self->height)
        strip.labels_below = (uint32_t *)(row + self->labels_stride);
    }
    self->algorithm->second_scan (self, &strip);
  }
}

static void
describe (const TwoPass *self, uint32_t root, uint32_t label)
{
  const TwoPassRowSums *features = &self->features[root];
  const uint32_t top = features->first / self->width;

  self->rows[label - 1] = ccl_component_row (label, features->area, features->left, top,
      features->right, features->bottom, features->sum_x, features->sum_y);
}

/* Numbers the roots whose first pixels are in one strip, in raster order of these; number_roots()
 * has stored them by place. Returns the number of components so far. */
static uint32_t
number_strip (TwoPass *self, const CclLabellerOptions *options, uint32_t n_components)
{
  const uint32_t max_area = options->max_area ? options->max_area : UINT32_MAX;
  const size_t n_words =
      divide_up (self->algorithm->rows_per_strip * divide_up (self->width, 2), 64);

  for (size_t w = 0; w < n_words; w++) {
    for (uint64_t word = self->first_pixels[w]; word; word &= word - 1) {
      const uint32_t root = self->labels_of_strip[64 * w + lowest_bit (word)];
      const uint32_t area = self->features[root].area;
      uint32_t label = 0;
      if (area >= options->min_area && area <= max_area) {
        label = ++n_components;
        if (label <= self->base.plan.max_components)
          describe (self, root, label);
      }
      self->final_labels[root] = label;
    }
    self->first_pixels[w] = 0;
  }
  return n_components;
}

/* Gives components their final labels. Roots are in order of the strips of their first pixels,
 * since a component's least label was given in that strip. Inside a strip of two rows they may be
 * out of order, so they are sorted by place: two columns of a row share an entry of
 * labels_of_strip, since their pixels belong to one component. Returns the number of components. */
static uint32_t
number_roots (TwoPass *self, const CclLabellerOptions *options)
{
  const uint32_t rows_per_strip = self->algorithm->rows_per_strip;
  const uint32_t n_columns = (self->width + 1) / 2;
  uint32_t strip = 0, n_components = 0;

  for (uint32_t label = 1; label < self->n_labels; label++) {
    if (self->parents[label] != label)
      continue;
    const uint32_t first = self->features[label].first;
    const uint32_t y = first / self->width, x = first % self->width;
    const uint32_t entry = y % rows_per_strip * n_columns + x / 2;
    if (y / rows_per_strip != strip) {
      n_components = number_strip (self, options, n_components);
      strip = y / rows_per_strip;
    }
    self->labels_of_strip[entry] = label;
    self->first_pixels[entry / 64] |= UINT64_C (1) << entry % 64;
  }
  return number_strip (self, options, n_components);
}

/* Links each label to its root and adds its features to those of the root. */
static void
flatten (TwoPass *self)
{
  for (uint32_t label = 1; label < self->n_labels; label++) {
    /* The parent is less than the label, so it has been linked to the root. */
    const uint32_t root = self->parents[self->parents[label]];
    self->parents[label] = root;
    if (root != label)
      two_pass_add (&self->features[root], &self->features[label]);
  }
}

static CclStatus
two_pass_run (CclLabeller *labeller, const CclFrame *frame, const CclLabellerOptions *options,
    const CclLabels *labels, CclTable *table, CclError *error)
{
  TwoPass *self = (TwoPass *)labeller;
  const uint32_t max_rows = self->base.plan.max_components;

  if (ccl_cpu_check_frame (frame, error) != CUDACCL_OK)
    return CUDACCL_ERROR_ARGUMENT;
  self->data = frame->data;
  self->stride = frame->stride;
  self->threshold = (uint8_t)options->threshold;
  self->word_threshold = ccl_word_threshold (labeller->plan.format, options->threshold);
  self->invert = options->invert;
  self->labels = labels ? labels->data : NULL;
  self->labels_stride = labels ? labels->stride : 0;

  scan_all (self);
  flatten (self);
  table->n_components = number_roots (self, options);
  table->n_rows = table->n_components < max_rows ? table->n_components : max_rows;
  table->rows = self->rows;
  if (labels) {
    for (uint32_t label = 1; label < self->n_labels; label++)
      self->final_labels[label] = self->final_labels[self->parents[label]];
    write_all (self);
  }
  return CUDACCL_OK;
}

static void
two_pass_free (CclLabeller *labeller)
{
  TwoPass *self = (TwoPass *)labeller;
  mapping_unmap (&self->mapping);
  free (self);
}

/* A new label is only given to a pixel, or block, that touches no labelled one. With
 * 8-connectivity, no two of them are in one block of 2×2 pixels; with 4-connectivity, not next to
 * each other in a row. */
static size_t
max_labels (const CclLabellerPlan *plan)
{
  const size_t n_columns = ((size_t)plan->width + 1) / 2;
  return plan->connectivity == CUDACCL_CONNECTIVITY_8 ? n_columns * (((size_t)plan->height + 1) / 2)
                                                      : n_columns * plan->height;
}

static uint8_t *
lay_out_pixels (Layout *layout, uint32_t width)
{
  /* One more column for the right half of the last block. */
  uint8_t *pixels = lay_out_zeros (layout, (size_t)width + 1 + 2 * MARGIN, sizeof *pixels);
  return pixels ? pixels + MARGIN : NULL;
}

static void
lay_out_everything (Layout *layout, void *data)
{
  TwoPass *self = data;
  const size_t n_columns = ((size_t)self->width + 1) / 2;
  const size_t n_labels = max_labels (&self->base.plan) + 1;
  const size_t n_rows =
      self->base.plan.max_components < n_labels ? self->base.plan.max_components : n_labels;

  self->no_pixels = lay_out_pixels (layout, self->width);
  for (int i = 0; i < 4; i++)
    self->pixels[i] = lay_out_pixels (layout, self->width);
  for (int i = 0; i < 2; i++)
    self->strip_labels[i] = lay_out (layout, self->width, sizeof *self->strip_labels[i]);
  self->labels_of_strip = lay_out (layout, 2 * n_columns, sizeof *self->labels_of_strip);
  self->first_pixels = lay_out_zeros (layout, 2 * n_columns / 64 + 1, sizeof *self->first_pixels);
  self->parents = lay_out (layout, n_labels, sizeof *self->parents);
  self->final_labels = lay_out (layout, n_labels, sizeof *self->final_labels);
  self->features = lay_out (layout, n_labels, sizeof *self->features);
  self->rows = lay_out (layout, n_rows, sizeof *self->rows);
}

static bool
set_size (TwoPass *self, uint32_t width, uint32_t height)
{
  self->base.plan.width = self->width = width;
  self->base.plan.height = self->height = height;
  return mapping_lay_out (&self->mapping, lay_out_everything, self);
}

static CclStatus
two_pass_resize (CclLabeller *labeller, uint32_t width, uint32_t height, CclError *error)
{
  TwoPass *self = (TwoPass *)labeller;
  const CclLabellerPlan former = labeller->plan;

  if (set_size (self, width, height))
    return CUDACCL_OK;
  ccl_cpu_set_no_memory (error, width, height);
  set_size (self, former.width, former.height);
  return CUDACCL_ERROR_NO_MEMORY;
}

static const CclLabellerClass two_pass_class = {
    .name = "cpu",
    .run = two_pass_run,
    .resize = two_pass_resize,
    .free = two_pass_free,
};

CclLabeller *
two_pass_labeller_new (const CpuAlgorithm *algorithm, const CclLabellerPlan *plan,
    const CclCpuTuning *tuning, CclError *error)
{
  TwoPass *self = calloc (1, sizeof *self);

  if (self) {
    self->base.klass = &two_pass_class;
    self->base.plan = *plan;
    self->algorithm = (const TwoPassAlgorithm *)algorithm;
    if (set_size (self, plan->width, plan->height))
      return &self->base;
    free (self);
  }
  ccl_cpu_set_no_memory (error, plan->width, plan->height);
  return NULL;
}
