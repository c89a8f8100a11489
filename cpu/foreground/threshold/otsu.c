/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreground by Otsu's threshold of the frame: the histograms of bands, by all threads. */
#include "cpu/foreground/foreground.h"
#include "core/foreground/otsu.h"
#include "cpu/pixels/words.h"

#include <stdlib.h>
#include <string.h>

/* Histograms that take turns, so that an increment need not wait for that of an equal pixel before
 * it. */
#define N_HISTOGRAMS 4

typedef struct Otsu {
  uint32_t n_values;   /* that pixels may have */
  uint32_t *bands;     /* N_HISTOGRAMS of each band: its pixels in the region of interest */
  uint64_t *histogram; /* of the frame */
  uint32_t threshold;
  Mapping mapping;
} Otsu;

static uint32_t *
histograms_of (const Otsu *otsu, uint32_t band)
{
  return otsu->bands + (size_t)band * N_HISTOGRAMS * otsu->n_values;
}

/* The functions with `words` are specialised for each constant: pixels are bytes, or words of two
 * bytes. */
static ALWAYS_INLINE uint32_t
value_of (const uint8_t *pixels, uint32_t x, bool words)
{
  return words ? pixels[2 * (size_t)x] | (uint32_t)pixels[2 * (size_t)x + 1] << 8 : pixels[x];
}

static ALWAYS_INLINE void
count_values (const uint8_t *pixels, uint32_t first, uint32_t end, bool words, uint32_t *histograms)
{
  const uint32_t size = words ? UINT16_MAX + 1 : UINT8_MAX + 1;
  uint32_t x = first;
  for (; x + N_HISTOGRAMS <= end; x += N_HISTOGRAMS)
    for (uint32_t i = 0; i < N_HISTOGRAMS; i++)
      histograms[i * size + value_of (pixels, x + i, words)]++;
  for (; x < end; x++)
    histograms[value_of (pixels, x, words)]++;
}

static ALWAYS_INLINE void
count_row (
    const CpuForeground *self, uint32_t y, const uint8_t *pixels, bool words, uint32_t *histograms)
{
  const uint32_t width = self->base.plan.width;

  if (!self->roi_mask.words) {
    count_values (pixels, 0, width, words, histograms);
    return;
  }
  const uint64_t *roi_mask = row_of (&self->roi_mask, y);
  for (uint32_t x = 0; x < width; x += 64) {
    if (roi_mask[x / 64] == UINT64_MAX)
      count_values (pixels, x, x + 64, words, histograms);
    else
      for (uint64_t word = roi_mask[x / 64]; word; word &= word - 1)
        histograms[value_of (pixels, x + (uint32_t)__builtin_ctzll (word), words)]++;
  }
}

static void
make_histograms (void *data, uint32_t index)
{
  const CpuForeground *self = data;
  const Otsu *otsu = self->model;
  const ForegroundBand *band = &self->bands[index];
  uint32_t *histograms = histograms_of (otsu, index);

  memset (histograms, 0, N_HISTOGRAMS * otsu->n_values * sizeof *histograms);
  for (uint32_t y = band->first_row; y < band->end_row; y++) {
    if (is_wide (self))
      count_row (self, y, luma_row (self, band, y), true, histograms);
    else
      count_row (self, y, luma_row (self, band, y), false, histograms);
  }
}

static CclStatus
otsu_begin (CpuForeground *self, CclError *error)
{
  Otsu *otsu = self->model;
  const uint32_t size = otsu->n_values;

  workers_run (self->workers, make_histograms, self);
  memset (otsu->histogram, 0, size * sizeof *otsu->histogram);
  for (uint32_t i = 0; i < self->n_bands; i++) {
    const uint32_t *histograms = histograms_of (otsu, i);
    for (uint32_t k = 0; k < N_HISTOGRAMS; k++)
      for (uint32_t value = 0; value < size; value++)
        otsu->histogram[value] += histograms[k * size + value];
  }
  otsu->threshold = ccl_otsu_threshold_of (otsu->histogram, size);
  return CUDACCL_OK;
}

static void
otsu_find_row (
    const CpuForeground *self, uint32_t band, uint32_t y, uint64_t *row, uint64_t *shadow)
{
  (void)band, (void)shadow;
  cpu_foreground_compare_row (self, y, ((const Otsu *)self->model)->threshold, row);
}

static void
lay_out_histograms (Layout *layout, void *data)
{
  const CpuForeground *self = data;
  Otsu *otsu = self->model;

  otsu->histogram = lay_out (layout, otsu->n_values, sizeof *otsu->histogram);
  otsu->bands = lay_out (
      layout, (uint64_t)self->n_bands * N_HISTOGRAMS * otsu->n_values, sizeof *otsu->bands);
}

static bool
otsu_prepare (CpuForeground *self)
{
  Otsu *otsu = self->model = calloc (1, sizeof *otsu);
  if (!otsu)
    return false;
  otsu->n_values = ccl_pixel_max (self->base.plan.format) + 1;
  return mapping_lay_out (&otsu->mapping, lay_out_histograms, self);
}

static void
otsu_free (void *model)
{
  Otsu *otsu = model;
  mapping_unmap (&otsu->mapping);
  free (otsu);
}

const CpuMethod cpu_otsu = {
    .prepare = otsu_prepare,
    .begin = otsu_begin,
    .find_row = otsu_find_row,
    .free = otsu_free,
};
