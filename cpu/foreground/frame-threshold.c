/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Otsu's threshold of a frame: the histograms of bands, by all threads. */
#include "foreground.h"
#include "core/foreground/otsu.h"
#include "cpu/pixels/words.h"

#include <string.h>

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
count_row (const CpuForeground *self, const ForegroundBand *band, uint32_t y, const uint8_t *pixels,
    bool words)
{
  const uint32_t width = self->base.plan.width;
  uint32_t *histograms = band->histograms;

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
  const ForegroundBand *band = &self->bands[index];

  memset (band->histograms, 0, N_HISTOGRAMS * n_values (self) * sizeof *band->histograms);
  for (uint32_t y = band->first_row; y < band->end_row; y++) {
    if (is_wide (self))
      count_row (self, band, y, luma_row (self, band, y), true);
    else
      count_row (self, band, y, luma_row (self, band, y), false);
  }
}

uint32_t
cpu_foreground_choose_threshold (CpuForeground *self)
{
  const uint32_t size = n_values (self);
  workers_run (self->workers, make_histograms, self);
  memset (self->histogram, 0, size * sizeof *self->histogram);
  for (uint32_t i = 0; i < self->n_bands; i++)
    for (uint32_t k = 0; k < N_HISTOGRAMS; k++)
      for (uint32_t value = 0; value < size; value++)
        self->histogram[value] += self->bands[i].histograms[k * size + value];
  return ccl_otsu_threshold_of (self->histogram, size);
}
