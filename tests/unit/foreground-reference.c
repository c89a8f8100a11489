/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "foreground-reference.h"

#include "otsu.h"

#include <glib.h>
#include <string.h>

ModelState
model_state_new (uint32_t width, uint32_t height)
{
  const size_t n = (size_t)width * height * CCL_MAX_MIXTURES;
  return (ModelState){g_new0 (uint16_t, n), g_new0 (uint16_t, n), g_new0 (uint16_t, n)};
}

void
model_state_clear (ModelState *state)
{
  g_free (state->weights);
  g_free (state->means);
  g_free (state->variances);
}

ForegroundReference *
foreground_reference_new (const CclForegroundPlan *plan)
{
  ForegroundReference *self = g_new0 (ForegroundReference, 1);
  self->width = plan->width;
  self->height = plan->height;
  self->method = plan->method;
  self->mask = g_new0 (uint8_t, (size_t)plan->width * plan->height);
  self->model = model_state_new (plan->width, plan->height);
  if (plan->roi_mask) {
    self->roi_mask = g_new (bool, (size_t)plan->width * plan->height);
    for (uint32_t y = 0; y < plan->height; y++)
      for (uint32_t x = 0; x < plan->width; x++)
        self->roi_mask[(size_t)y * plan->width + x] =
            ((const uint8_t *)plan->roi_mask->data)[y * plan->roi_mask->stride + x] != 0;
  }
  return self;
}

void
foreground_reference_free (ForegroundReference *self)
{
  model_state_clear (&self->model);
  g_free (self->roi_mask);
  g_free (self->mask);
  g_free (self);
}

static uint8_t
pixel_of (const CclFrame *frame, uint32_t x, uint32_t y)
{
  return ((const uint8_t *)frame->data)[y * frame->stride + x];
}

static uint32_t
otsu_threshold (const ForegroundReference *self, const CclFrame *frame)
{
  uint32_t histogram[256] = {0};
  for (uint32_t y = 0; y < self->height; y++)
    for (uint32_t x = 0; x < self->width; x++)
      if (!self->roi_mask || self->roi_mask[(size_t)y * self->width + x])
        histogram[pixel_of (frame, x, y)]++;
  return ccl_otsu_threshold (histogram);
}

static bool
update_model (ForegroundReference *self, size_t pixel, uint8_t luma, const CclMixtureParameters *p)
{
  const size_t n = (size_t)self->width * self->height;
  CclGaussian gaussians[CCL_MAX_MIXTURES];

  for (int k = 0; k < CCL_MAX_MIXTURES; k++)
    gaussians[k] = (CclGaussian){
        .weight = self->n_frames > 0 ? self->model.weights[k * n + pixel] : 0,
        .mean = self->model.means[k * n + pixel],
        .variance = self->model.variances[k * n + pixel],
    };
  bool background = ccl_mixture_update (gaussians, luma, p);
  for (int k = 0; k < CCL_MAX_MIXTURES; k++) {
    self->model.weights[k * n + pixel] = (uint16_t)gaussians[k].weight;
    self->model.means[k * n + pixel] = (uint16_t)gaussians[k].mean;
    self->model.variances[k * n + pixel] = (uint16_t)gaussians[k].variance;
  }
  return background;
}

/* Counts the foreground and the background pixels of the window. Pixels outside the frame are
 * skipped or, with continued, have the value of the nearest pixel inside. */
static void
count_window (const bool *pixels, int64_t width, int64_t height, int64_t x, int64_t y,
    int64_t radius, bool continued, int counts[2])
{
  counts[0] = counts[1] = 0;
  for (int64_t j = y - radius; j <= y + radius; j++) {
    for (int64_t i = x - radius; i <= x + radius; i++) {
      if (continued || (i >= 0 && j >= 0 && i < width && j < height))
        counts[pixels[CLAMP (j, 0, height - 1) * width + CLAMP (i, 0, width - 1)]]++;
    }
  }
}

typedef enum Operation { MEDIAN, EROSION, DILATION } Operation;

static void
filter (bool *pixels, int64_t width, int64_t height, Operation operation, int64_t radius)
{
  bool *before = g_memdup2 (pixels, (gsize)(width * height));
  for (int64_t y = 0; y < height; y++) {
    for (int64_t x = 0; x < width; x++) {
      int counts[2];
      count_window (before, width, height, x, y, radius, operation == MEDIAN, counts);
      pixels[y * width + x] = operation == MEDIAN    ? counts[1] > counts[0]
                              : operation == EROSION ? counts[0] == 0
                                                     : counts[1] > 0;
    }
  }
  g_free (before);
}

static void
denoise (bool *pixels, int64_t width, int64_t height, CclDenoise kind)
{
  switch (kind) {
  case CCL_DENOISE_NONE:
    break;
  case CCL_DENOISE_MEDIAN_3:
  case CCL_DENOISE_MEDIAN_5:
    filter (pixels, width, height, MEDIAN, kind == CCL_DENOISE_MEDIAN_3 ? 1 : 2);
    break;
  case CCL_DENOISE_OPENING_3:
  case CCL_DENOISE_OPENING_5:
    filter (pixels, width, height, EROSION, kind == CCL_DENOISE_OPENING_3 ? 1 : 2);
    filter (pixels, width, height, DILATION, kind == CCL_DENOISE_OPENING_3 ? 1 : 2);
    break;
  }
}

void
foreground_reference_run (
    ForegroundReference *self, const CclFrame *frame, const CclForegroundOptions *options)
{
  const size_t n = (size_t)self->width * self->height;
  const CclMixtureParameters parameters = ccl_mixture_parameters (options, self->n_frames);
  const uint32_t threshold =
      self->method == CCL_FOREGROUND_OTSU ? otsu_threshold (self, frame) : options->threshold;
  bool *pixels = g_new (bool, n);

  for (uint32_t y = 0; y < self->height; y++) {
    for (uint32_t x = 0; x < self->width; x++) {
      const size_t pixel = (size_t)y * self->width + x;
      const uint8_t luma = pixel_of (frame, x, y);
      pixels[pixel] = self->method == CCL_FOREGROUND_MOG2
                          ? !update_model (self, pixel, luma, &parameters)
                          : luma > threshold;
    }
  }
  denoise (pixels, self->width, self->height, options->denoise);
  for (size_t i = 0; i < n; i++)
    self->mask[i] =
        pixels[i] != options->invert && (!self->roi_mask || self->roi_mask[i]) ? 255 : 0;
  g_free (pixels);
  self->n_frames++;
}
