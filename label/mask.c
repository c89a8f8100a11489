/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mask.h"

#include "error.h"
#include "label/output/processes.h"

#include <stdlib.h>
#include <string.h>

/* Pixels that are filtered at once; more if a few rows have more. */
#define BAND_PIXELS ((uint64_t)1 << 22)

struct Mask {
  MaskSettings settings;
  Picture *picture;
  Picture *roi_mask;     /* NULL: none */
  uint64_t halo;         /* rows above and below a row on which its mask depends */
  uint64_t band_rows;    /* the most rows that are filtered at once, halos included */
  uint8_t *input;        /* rows begin…end − 1 of the picture */
  uint64_t begin, end;   /* rows of one slice; begin = end: none */
  uint8_t *valid;        /* whether they have data; NULL: all have */
  uint8_t *filtered;     /* their mask */
  uint8_t *roi_row;      /* a row of the region of interest mask */
  CclForeground *filter; /* for bands of filter_rows rows; NULL: none yet */
  uint64_t filter_rows;
};

bool
mask_is_needed (const MaskSettings *settings)
{
  return settings->use_otsu || settings->denoise != CUDACCL_DENOISE_NONE ||
         settings->closing_width > 1 || settings->closing_height > 1 || settings->roi_mask;
}

/* How far the noise filter and the closing reach. */
static uint64_t
reach (const MaskSettings *settings)
{
  return ccl_denoise_reach (settings->denoise) +
         (settings->closing_height > 1 ? settings->closing_height : 0);
}

static bool
open_roi_mask (Mask *self, CclError *error)
{
  const Picture *picture = self->picture;
  const char *path = self->settings.roi_mask;
  const PictureOptions options = {.formats = picture_formats};

  self->roi_mask = picture_open ((char *const *)&path, 1, &options, error);
  if (!self->roi_mask)
    return false;
  if (self->roi_mask->width != picture->width || self->roi_mask->height != picture->height ||
      (self->roi_mask->depth != 1 && self->roi_mask->depth != picture->depth))
    return fail (error, "%s: the region of interest mask has another size than the picture", path);
  self->roi_row = malloc (picture->width);
  return self->roi_row || fail_without_memory (error);
}

/* Reads a row of the region of interest mask: 0 outside. */
static bool
read_roi_row (Mask *self, uint64_t row, CclError *error)
{
  const uint64_t of_mask = self->roi_mask->depth == 1 ? row % self->picture->height : row;
  return picture_read_mask (self->roi_mask, of_mask, 1, self->roi_row, error);
}

static bool
allocate (Mask *self, CclError *error)
{
  const uint64_t width = self->picture->width;

  self->halo = reach (&self->settings);
  self->band_rows = BAND_PIXELS / width;
  if (self->band_rows < 4 * self->halo + 1)
    self->band_rows = 4 * self->halo + 1;
  if (self->band_rows > self->picture->height)
    self->band_rows = self->picture->height;
  self->input = malloc (self->band_rows * width);
  self->filtered = malloc (self->band_rows * width);
  if (self->picture->has_no_data)
    self->valid = malloc (self->band_rows * width);
  return (self->input && self->filtered && (self->valid || !self->picture->has_no_data)) ||
         fail_without_memory (error);
}

/* The histogram of a picture, with a count for each value of its type. */
typedef struct Histogram {
  uint64_t *counts;
  void *samples; /* rows of the picture */
} Histogram;

/* Counts the values of a row inside the region of interest. */
static void
count_row (const Mask *self, uint64_t row, Histogram *histogram)
{
  const uint64_t width = self->picture->width;
  const bool is_wide = self->picture->type == SAMPLE_UINT16;
  const uint8_t *bytes = (const uint8_t *)histogram->samples + (is_wide ? 0 : row * width);
  const uint16_t *words = (const uint16_t *)histogram->samples + (is_wide ? row * width : 0);

  for (uint64_t x = 0; x < width; x++)
    if (!self->roi_mask || self->roi_row[x])
      histogram->counts[is_wide ? words[x] : bytes[x]]++;
}

/* Adds this process's rows to a histogram. */
static bool
count_rows (Mask *self, uint64_t row, uint64_t end, Histogram *histogram, CclError *error)
{
  if (!histogram->counts || !histogram->samples)
    return fail (error, "not enough memory for a histogram");
  while (row < end) {
    const uint64_t n = end - row < self->band_rows ? end - row : self->band_rows;
    if (!picture_read_grey (self->picture, row, n, histogram->samples, error))
      return false;
    for (uint64_t i = 0; i < n; i++, row++) {
      if (self->roi_mask && !read_roi_row (self, row, error))
        return false;
      count_row (self, i, histogram);
    }
  }
  return true;
}

/* Collective. */
static bool
find_otsu_threshold (Mask *self, uint64_t first_row, uint64_t n_rows, CclError *error)
{
  const uint32_t bytes = sample_bytes (self->picture->type);
  const uint32_t n_values = 1u << 8 * bytes;
  Histogram histogram = {
      .counts = calloc (n_values, sizeof *histogram.counts),
      .samples = malloc (self->band_rows * self->picture->width * bytes),
  };
  const bool succeeded =
      processes_agree (count_rows (self, first_row, first_row + n_rows, &histogram, error), error);

  if (succeeded) {
    if (self->picture->has_no_data && self->picture->no_data >= 0 &&
        self->picture->no_data < n_values)
      histogram.counts[(uint32_t)self->picture->no_data] = 0;
    processes_sum_all (histogram.counts, n_values);
    self->settings.threshold = ccl_otsu_threshold (histogram.counts, n_values);
  }
  free (histogram.counts);
  free (histogram.samples);
  return succeeded;
}

Mask *
mask_new (Picture *picture, const MaskSettings *settings, uint64_t first_row, uint64_t n_rows,
    CclError *error)
{
  Mask *self = calloc (1, sizeof *self);
  bool succeeded = self || fail_without_memory (error);

  if (succeeded) {
    self->settings = *settings;
    self->picture = picture;
  }
  if (succeeded && settings->use_otsu && picture->type != SAMPLE_UINT8 &&
      picture->type != SAMPLE_UINT16)
    succeeded = fail (error, "Otsu's threshold needs pixels of uint8 or uint16");
  if (succeeded && settings->roi_mask)
    succeeded = open_roi_mask (self, error);
  succeeded = succeeded && allocate (self, error);
  if (processes_agree (succeeded, error) &&
      (!settings->use_otsu || find_otsu_threshold (self, first_row, n_rows, error)))
    return self;
  mask_free (self);
  return NULL;
}

/* Reads the rows of the input that are not there yet, up to end. */
static bool
read_rows (Mask *self, uint64_t end, CclError *error)
{
  const uint64_t place = (self->end - self->begin) * self->picture->width, n = end - self->end;
  const double threshold = self->settings.threshold;

  if (self->valid)
    return picture_read_valid (
        self->picture, self->end, n, threshold, self->input + place, self->valid + place, error);
  return picture_read (self->picture, self->end, n, threshold, self->input + place, error);
}

/* Makes begin…end − 1 the rows of the input, and reads those that are not there yet. A file of
 * compressed rows is thus read from its beginning to its end. */
static bool
read_input (Mask *self, uint64_t begin, uint64_t end, CclError *error)
{
  const uint64_t width = self->picture->width;

  if (begin < self->begin || begin >= self->end)
    self->begin = self->end = begin;
  memmove (self->input, self->input + (begin - self->begin) * width, (self->end - begin) * width);
  if (self->valid)
    memmove (self->valid, self->valid + (begin - self->begin) * width, (self->end - begin) * width);
  self->begin = begin;
  if (self->end < end && !read_rows (self, end, error)) {
    self->end = begin;
    return false;
  }
  if (self->end < end)
    self->end = end;
  return true;
}

/* Makes the mask of the input. */
static bool
filter_input (Mask *self, CclError *error)
{
  const MaskSettings *settings = &self->settings;
  const uint64_t width = self->picture->width, n_rows = self->end - self->begin;
  CclForegroundPlan plan = CUDACCL_FOREGROUND_PLAN_DEFAULT;
  CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  const CclFrame frame = {.data = self->input, .stride = width};
  const CclMask mask = {.data = self->filtered, .stride = width};

  plan.width = (uint32_t)width;
  plan.height = (uint32_t)n_rows;
  plan.n_threads = settings->n_threads;
  /* picture_read() has compared pixels of other types. */
  options.threshold = self->picture->type == SAMPLE_UINT8 ? (uint32_t)settings->threshold : 0;
  options.denoise = settings->denoise;
  options.closing_width = settings->closing_width;
  options.closing_height = settings->closing_height;
  if (self->filter_rows != n_rows) {
    ccl_foreground_free (&self->filter);
    self->filter = ccl_cpu_foreground_new (&plan, error);
    self->filter_rows = self->filter ? n_rows : 0;
  }
  return self->filter &&
         ccl_foreground_run (self->filter, &frame, &options, &mask, error) == CUDACCL_OK;
}

/* Inverts a row of the mask, removes pixels without data, and applies the region of interest mask.
 */
static bool
finish_row (Mask *self, uint64_t row, uint8_t *pixels, CclError *error)
{
  if (self->settings.invert)
    for (uint64_t x = 0; x < self->picture->width; x++)
      pixels[x] = (uint8_t)~pixels[x];
  if (self->valid) {
    const uint8_t *valid = self->valid + (row - self->begin) * self->picture->width;
    for (uint64_t x = 0; x < self->picture->width; x++)
      pixels[x] = valid[x] ? pixels[x] : 0;
  }
  if (!self->roi_mask)
    return true;
  if (!read_roi_row (self, row, error))
    return false;
  for (uint64_t x = 0; x < self->picture->width; x++)
    pixels[x] = self->roi_row[x] ? pixels[x] : 0;
  return true;
}

/* The rows from row on that are filtered together, at most n_rows: with the rows around them on
 * which they depend, they are begin…end − 1 and lie in one slice. */
static uint64_t
plan_strip (const Mask *self, uint64_t row, uint64_t n_rows, uint64_t *begin, uint64_t *end)
{
  const uint64_t height = self->picture->height, top = row - row % height, bottom = top + height;
  uint64_t n = bottom - row < n_rows ? bottom - row : n_rows;

  *begin = row - top > self->halo ? row - self->halo : top;
  *end = bottom - row - n > self->halo ? row + n + self->halo : bottom;
  if (*end - *begin > self->band_rows) {
    *end = *begin + self->band_rows;
    n = *end - self->halo - row;
  }
  return n;
}

bool
mask_read (Mask *self, uint64_t first_row, uint64_t n_rows, uint8_t *pixels, CclError *error)
{
  const uint64_t width = self->picture->width;

  for (uint64_t done = 0, n; done < n_rows; done += n) {
    const uint64_t row = first_row + done;
    uint64_t begin, end;
    n = plan_strip (self, row, n_rows - done, &begin, &end);
    if (!read_input (self, begin, end, error) || !filter_input (self, error))
      return false;
    memcpy (pixels + done * width, self->filtered + (row - begin) * width, n * width);
    for (uint64_t i = 0; i < n; i++)
      if (!finish_row (self, row + i, pixels + (done + i) * width, error))
        return false;
  }
  return true;
}

void
mask_free (Mask *self)
{
  if (!self)
    return;
  picture_free (self->roi_mask);
  ccl_foreground_free (&self->filter);
  free (self->input);
  free (self->valid);
  free (self->filtered);
  free (self->roi_row);
  free (self);
}
