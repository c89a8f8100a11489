/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreground masks on the CPU: noise filter, closing, and the bytes of the mask. */
#include "foreground.h"

#include <string.h>

static void
mark_shadow (const uint64_t *shadow, uint32_t width, uint8_t *mask)
{
  for (uint32_t x = 0; x < width; x += 64)
    for (uint64_t word = shadow[x / 64]; word; word &= word - 1) {
      const uint32_t i = x + (uint32_t)__builtin_ctzll (word);
      if (i < width)
        mask[i] = CUDACCL_MASK_SHADOW;
    }
}

void
cpu_foreground_finish_row (const CpuForeground *self, uint32_t y, uint64_t *row, uint64_t *shadow)
{
  const FrameJob *job = &self->job;
  const bool marks = marks_shadows (self);
  const uint64_t *roi_mask = self->roi_mask.words ? row_of (&self->roi_mask, y) : NULL;
  uint8_t *mask = (uint8_t *)job->mask->data + y * job->mask->stride;

  for (size_t i = 0; i < self->n_words; i++) {
    const uint64_t inside = roi_mask ? roi_mask[i] : UINT64_MAX;
    if (marks)
      shadow[i] &= ~row[i] & inside;
    row[i] = (job->options->invert ? ~row[i] : row[i]) & inside;
  }
  self->code->write_row (row, self->base.plan.width, mask);
  if (marks)
    mark_shadow (shadow, self->base.plan.width, mask);
}

static void
filter (const CpuForeground *self, const ForegroundBand *band, const BitRows *from, uint32_t y,
    Filter filter, uint64_t *filtered)
{
  const bool large =
      filter == FILTER_MEDIAN_5 || filter == FILTER_ERODE_5 || filter == FILTER_DILATE_5;
  const uint64_t *rows[5];

  find_window (from, self->base.plan.height, y, large, rows);
  self->code->filter_row (filter, rows, self->n_words, band->scratch, filtered);
}

/* Filters foreground and shadow of row y together. */
static void
filter_classes (const CpuForeground *self, const ForegroundBand *band, uint32_t y,
    uint64_t *filtered, uint64_t *filtered_shadow)
{
  const bool large = self->job.denoise == CUDACCL_DENOISE_MEDIAN_5;
  const uint64_t *foreground[5], *shadow[5];

  find_window (&self->foreground, self->base.plan.height, y, large, foreground);
  find_window (&self->shadow, self->base.plan.height, y, large, shadow);
  self->code->median_of_classes (
      large, foreground, shadow, self->n_words, band->scratch, filtered, filtered_shadow);
}

static void
erode_band (void *data, uint32_t index)
{
  const CpuForeground *self = data;
  const ForegroundBand *band = &self->bands[index];
  const Filter erosion =
      self->job.denoise == CUDACCL_DENOISE_OPENING_3 ? FILTER_ERODE_3 : FILTER_ERODE_5;

  for (uint32_t y = band->first_row; y < band->end_row; y++) {
    uint64_t *row = row_of (&self->eroded, y);
    filter (self, band, &self->foreground, y, erosion, row);
    extend_row (row, self->n_words, self->base.plan.width);
  }
}

static void
denoise_band (void *data, uint32_t index)
{
  const CpuForeground *self = data;
  const ForegroundBand *band = &self->bands[index];
  static const Filter last_filters[] = {
      [CUDACCL_DENOISE_MEDIAN_3] = FILTER_MEDIAN_3,
      [CUDACCL_DENOISE_MEDIAN_5] = FILTER_MEDIAN_5,
      [CUDACCL_DENOISE_OPENING_3] = FILTER_DILATE_3,
      [CUDACCL_DENOISE_OPENING_5] = FILTER_DILATE_5,
  };
  const Filter last_filter = last_filters[self->job.denoise];
  const BitRows *from = is_opened (self) ? &self->eroded : &self->foreground;

  for (uint32_t y = band->first_row; y < band->end_row; y++) {
    uint64_t *row = is_closed (self) ? row_of (&self->filtered, y) : band->row;
    uint64_t *shadow = row_of (filters_classes (self) ? &self->filtered_shadow : &self->shadow, y);
    if (filters_classes (self))
      filter_classes (self, band, y, row, shadow);
    else
      filter (self, band, from, y, last_filter, row);
    cpu_foreground_keep_row (self, y, row);
    if (is_closed (self))
      surround_row (row, self->n_words, self->base.plan.width, 0, 0);
    else
      cpu_foreground_finish_row (self, y, row, shadow);
  }
}

/* The pixels of a closing's window before and behind its middle. */
static uint32_t
before_middle (uint32_t size)
{
  return size > 0 ? (size - 1) / 2 : 0;
}

static uint32_t
behind_middle (uint32_t size)
{
  return size / 2;
}

/* Closing, first half: dilation. Rows and columns outside the frame become foreground, too, so that
 * erosion gives the frame's edges the same result as its middle. */
static void
dilate_band (void *data, uint32_t index)
{
  const CpuForeground *self = data;
  const ForegroundBand *band = &self->bands[index];
  const int64_t last = (int64_t)self->base.plan.height - 1;
  const uint32_t width = self->job.options->closing_width;
  const uint32_t height = self->job.options->closing_height;
  const int64_t up = before_middle (height), down = behind_middle (height);
  /* The first and the last band have the rows above and below the frame. Bands may be empty. */
  const int64_t first_row = index > 0 ? band->first_row : -down;
  const int64_t end_row = index < self->n_bands - 1 ? band->end_row : last + 1 + up;
  const BitRows *from = is_denoised (self) ? &self->filtered : &self->foreground;
  const uint64_t *rows[CUDACCL_MAX_CLOSING];

  for (int64_t y = first_row; y < end_row; y++) {
    const int64_t last_row = y + down < last ? y + down : last;
    int n_rows = 0;
    for (int64_t row = y > up ? y - up : 0; row <= last_row; row++)
      rows[n_rows++] = row_of (from, (uint32_t)row);
    self->code->dilate_row (rows, n_rows, (int)before_middle (width), (int)behind_middle (width),
        self->n_words, 0, band->scratch, row_of (&self->dilated, (uint32_t)(y + CLOSING_MARGIN)));
  }
}

/* Second half: erosion by the mirrored window. */
static void
erode_dilated_band (void *data, uint32_t index)
{
  const CpuForeground *self = data;
  const ForegroundBand *band = &self->bands[index];
  const uint32_t width = self->job.options->closing_width;
  const uint32_t height = self->job.options->closing_height;
  const uint32_t n_rows = height > 1 ? height : 1;
  const uint64_t *rows[CUDACCL_MAX_CLOSING];

  for (uint32_t y = band->first_row; y < band->end_row; y++) {
    const uint32_t first_row = y + CLOSING_MARGIN - behind_middle (height);
    for (uint32_t i = 0; i < n_rows; i++)
      rows[i] = row_of (&self->dilated, first_row + i);
    self->code->dilate_row (rows, (int)n_rows, (int)behind_middle (width),
        (int)before_middle (width), self->n_words, UINT64_MAX, band->scratch, band->row);
    cpu_foreground_finish_row (self, y, band->row,
        row_of (filters_classes (self) ? &self->filtered_shadow : &self->shadow, y));
  }
}

void
cpu_foreground_filter (CpuForeground *self)
{
  if (is_opened (self))
    workers_run (self->workers, erode_band, self);
  if (is_denoised (self))
    workers_run (self->workers, denoise_band, self);
  if (is_closed (self)) {
    workers_run (self->workers, dilate_band, self);
    workers_run (self->workers, erode_dilated_band, self);
  }
}
