/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/foreground/mixture-reference.h"
#include "tests/unit/foreground/foreground-reference.h"

#include "core/foreground/light.h"
#include "core/foreground/otsu.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

ModelState
model_state_new (uint32_t width, uint32_t height)
{
  const size_t n = (size_t)width * height * CUDACCL_MAX_MIXTURES;
  return (ModelState){
      g_new0 (uint16_t, n), g_new0 (uint16_t, n), g_new0 (uint16_t, n), g_new0 (uint16_t, n)};
}

void
model_state_clear (ModelState *state)
{
  g_free (state->weights);
  g_free (state->means);
  g_free (state->variances);
  g_free (state->chroma);
}

ForegroundReference *
foreground_reference_new (const CclForegroundPlan *plan)
{
  ForegroundReference *self = g_new0 (ForegroundReference, 1);
  self->width = plan->width;
  self->height = plan->height;
  self->method = plan->method;
  self->format = plan->format;
  self->has_chroma = plan->has_chroma;
  self->held = g_new0 (bool, (size_t)plan->width * plan->height);
  self->mask = g_new0 (uint8_t, (size_t)plan->width * plan->height);
  self->model = model_state_new (plan->width, plan->height);
  foreground_reference_set_roi_mask (self, plan->roi_mask);
  return self;
}

void
foreground_reference_set_roi_mask (ForegroundReference *self, const CclFrame *roi_mask)
{
  g_free (self->roi_mask);
  self->roi_mask = roi_mask ? g_new (bool, (size_t)self->width * self->height) : NULL;
  for (uint32_t y = 0; roi_mask && y < self->height; y++)
    for (uint32_t x = 0; x < self->width; x++)
      self->roi_mask[(size_t)y * self->width + x] =
          ((const uint8_t *)roi_mask->data)[y * roi_mask->stride + x] != 0;
}

void
foreground_reference_free (ForegroundReference *self)
{
  model_state_clear (&self->model);
  g_clear_pointer (&self->codebook, codebook_reference_free);
  g_free (self->roi_mask);
  g_free (self->held);
  g_free (self->mask);
  g_free (self);
}

static uint32_t
pixel_of (const ForegroundReference *self, const CclFrame *frame, uint32_t x, uint32_t y)
{
  const uint8_t *row = (const uint8_t *)frame->data + y * frame->stride;
  switch (self->format) {
  case CUDACCL_PIXEL_FORMAT_16:
    return row[2 * x] + 256u * row[2 * x + 1];
  case CUDACCL_PIXEL_FORMAT_8_FIRST:
    return row[2 * x];
  case CUDACCL_PIXEL_FORMAT_8_SECOND:
    return row[2 * x + 1];
  default:
    return row[x];
  }
}

static uint32_t
otsu_threshold (const ForegroundReference *self, const CclFrame *frame)
{
  const uint32_t n_values = self->format == CUDACCL_PIXEL_FORMAT_16 ? 65536 : 256;
  uint64_t *histogram = g_new0 (uint64_t, n_values);
  for (uint32_t y = 0; y < self->height; y++)
    for (uint32_t x = 0; x < self->width; x++)
      if (!self->roi_mask || self->roi_mask[(size_t)y * self->width + x])
        histogram[pixel_of (self, frame, x, y)]++;
  const uint32_t threshold = ccl_otsu_threshold_of (histogram, n_values);
  g_free (histogram);
  return threshold;
}

/* A value of 16 bits in 8, rounded. */
static int
in_8_bits (uint32_t value)
{
  return (int)MIN ((value + 128) / 256, 255);
}

/* u + 256 × v. */
static uint32_t
chroma_of (const ForegroundReference *self, const CclFrame *frame, uint32_t x, uint32_t y)
{
  const CclChroma *c = &frame->chroma;
  if (!self->has_chroma)
    return CUDACCL_NO_CHROMA;
  const uint8_t *u = (const uint8_t *)c->u + (y >> c->shift_y) * c->u_stride;
  const uint8_t *v = (const uint8_t *)c->v + (y >> c->shift_y) * c->v_stride;
  return u[(x >> c->shift_x) * c->step] + 256u * v[(x >> c->shift_x) * c->step];
}

static CclPixelClass
update_model (ForegroundReference *self, size_t pixel, uint32_t luma, uint32_t chroma, bool stays,
    const CclMixtureParameters *p)
{
  const size_t n = (size_t)self->width * self->height;
  CclGaussian gaussians[CUDACCL_MAX_MIXTURES];

  for (int k = 0; k < CUDACCL_MAX_MIXTURES; k++)
    gaussians[k] = (CclGaussian){
        .weight = self->n_frames > 0 ? self->model.weights[k * n + pixel] : 0,
        .mean = self->model.means[k * n + pixel],
        .variance = self->model.variances[k * n + pixel],
        .chroma = self->model.chroma[k * n + pixel],
    };
  CclPixelClass class = mixture_update (gaussians, luma, chroma, p);
  for (int k = 0; k < CUDACCL_MAX_MIXTURES && !stays; k++) {
    self->model.weights[k * n + pixel] = (uint16_t)gaussians[k].weight;
    self->model.means[k * n + pixel] = (uint16_t)gaussians[k].mean;
    self->model.variances[k * n + pixel] = (uint16_t)gaussians[k].variance;
    self->model.chroma[k * n + pixel] = (uint16_t)gaussians[k].chroma;
  }
  return class;
}

/* The light of a frame, by sorting. */
typedef struct ReferenceCell {
  bool measured, uniform, explained, in_frame, in_model;
  int ratio, factor;
} ReferenceCell;

typedef struct ReferenceLight {
  int side, columns, rows;
  ReferenceCell *cells;
  int64_t dark, bright, frame_colour, model_colour;
} ReferenceLight;

static int
compare_ints (const void *a, const void *b)
{
  return *(const int *)a - *(const int *)b;
}

static int
lower_median (int *values, int n)
{
  qsort (values, (size_t)n, sizeof *values, compare_ints);
  return values[(n - 1) / 2];
}

static int
colour_of (uint32_t chroma)
{
  return ABS ((int)(chroma % 256) - 128) + ABS ((int)(chroma / 256) - 128);
}

static void
measure_cell (const ForegroundReference *self, const CclFrame *frame, ReferenceLight *light,
    ReferenceCell *cell, int left, int top)
{
  static const int16_t logs[] = {CUDACCL_LIGHT_LOGS};
  static const uint16_t powers[] = {CUDACCL_LIGHT_POWERS};
  int ratios[256], lumas[256], means[256], variances[256], sorted[256];
  int n = 0, in_frame = 0, in_model = 0, near = 0, near_or_noise = 0;

  for (int i = 0; i < 256; i++) {
    const int x = left + i % 16 * light->side / 16, y = top + i / 16 * light->side / 16;
    if (x >= (int)self->width || y >= (int)self->height)
      continue;
    const size_t pixel = (size_t)y * self->width + (size_t)x;
    const uint32_t value = pixel_of (self, frame, (uint32_t)x, (uint32_t)y);
    const int luma = self->format == CUDACCL_PIXEL_FORMAT_16 ? in_8_bits (value) : (int)value;
    const int mean = in_8_bits (self->model.means[pixel]);
    const bool luma_counts = luma >= 24 && luma <= 232, mean_counts = mean >= 24 && mean <= 232;
    in_frame += luma_counts;
    in_model += mean_counts;
    light->dark += luma < 24;
    light->bright += luma > 232;
    if (i % 16 == i / 16 && self->has_chroma) {
      light->frame_colour += colour_of (chroma_of (self, frame, (uint32_t)x, (uint32_t)y));
      light->model_colour += colour_of (self->model.chroma[pixel]);
    }
    if (!luma_counts || !mean_counts)
      continue;
    lumas[n] = luma;
    means[n] = mean;
    variances[n] = self->model.variances[pixel];
    sorted[n] = ratios[n] = CLAMP (logs[luma] - logs[mean], -128, 128);
    n++;
  }
  cell->in_frame = in_frame >= 64;
  cell->in_model = in_model >= 64;
  cell->measured = n >= 64;
  if (!cell->measured)
    return;
  cell->ratio = lower_median (sorted, n);
  for (int i = 0; i < n; i++) {
    const int deviation = lumas[i] - (means[i] * powers[128 + cell->ratio] + 2048) / 4096;
    /* Within two standard deviations; variances are in units of 1/512. */
    const bool is_near = ABS (ratios[i] - cell->ratio) <= 8;
    near += is_near;
    near_or_noise += is_near || deviation * deviation * 512 <= 4 * variances[i];
  }
  cell->uniform = near * 5 >= n * 3;
  cell->explained = near_or_noise * 5 >= n * 3;
}

/* The median of the explained cells of the frame; 0 without any. */
static int
light_of_frame (const ReferenceLight *light)
{
  int *ratios = g_new (int, light->columns * light->rows);
  int n = 0;
  for (int i = 0; i < light->columns * light->rows; i++)
    if (light->cells[i].explained)
      ratios[n++] = light->cells[i].ratio;
  const int median = n > 0 ? lower_median (ratios, n) : 0;
  g_free (ratios);
  return median;
}

/* The median of the uniform cells at most two columns and rows away from a cell; whole, where fewer
 * than a third are uniform. */
static int
light_around (const ReferenceLight *light, int column, int row, int whole)
{
  int ratios[25], n = 0, inside = 0;
  for (int i = 0; i < light->columns * light->rows; i++) {
    if (ABS (i % light->columns - column) <= 2 && ABS (i / light->columns - row) <= 2) {
      inside++;
      if (light->cells[i].uniform)
        ratios[n++] = light->cells[i].ratio;
    }
  }
  return n > 0 && 3 * n >= inside ? lower_median (ratios, n) : whole;
}

static CclSceneChange
judge_light (ReferenceLight *light)
{
  static const uint16_t powers[] = {CUDACCL_LIGHT_POWERS};
  const int n_cells = light->columns * light->rows;
  const int whole = light_of_frame (light);
  int measured = 0, bad = 0, in_frame = 0, in_model = 0;

  for (int i = 0; i < n_cells; i++) {
    ReferenceCell *cell = &light->cells[i];
    const int of_cell = light_around (light, i % light->columns, i / light->columns, whole);
    measured += cell->measured;
    in_frame += cell->in_frame;
    in_model += cell->in_model;
    bad += cell->measured && (!cell->explained || ABS (cell->ratio - of_cell) > 8);
    cell->factor = powers[128 - of_cell + (of_cell > 0) - (of_cell < 0)];
  }
  if (in_model * 4 >= n_cells && measured * 4 < in_model)
    return light->bright > light->dark ? CUDACCL_SCENE_BLINDED : CUDACCL_SCENE_COVERED;
  if (in_frame * 4 >= n_cells && measured * 4 < in_frame)
    return CUDACCL_SCENE_UNCOVERED;
  if (bad * 100 <= measured * 80)
    return CUDACCL_SCENE_UNCHANGED;
  return MIN (light->frame_colour, light->model_colour) * 4 <
                 MAX (light->frame_colour, light->model_colour)
             ? CUDACCL_SCENE_INFRARED
             : CUDACCL_SCENE_MOVED;
}

static CclSceneChange
measure_light (const ForegroundReference *self, const CclFrame *frame, ReferenceLight *light)
{
  for (light->side = 16; ((int)self->width + light->side - 1) / light->side > 32;)
    light->side *= 2;
  light->columns = ((int)self->width + light->side - 1) / light->side;
  light->rows = ((int)self->height + light->side - 1) / light->side;
  light->cells = g_new0 (ReferenceCell, light->columns * light->rows);
  for (int i = 0; i < light->columns * light->rows; i++)
    measure_cell (self, frame, light, &light->cells[i], i % light->columns * light->side,
        i / light->columns * light->side);
  return judge_light (light);
}

/* Linear between the middles of cells, for four pixels at a time. */
static int
factor_at (const ReferenceLight *light, uint32_t x, uint32_t y)
{
  const int side = light->side;
  const int px = MAX ((int)(x / 4 * 4) + 2 - side / 2, 0), py = MAX ((int)y - side / 2, 0);
  const int c0 = px / side, r0 = py / side, wx = px % side, wy = py % side;
  const int c1 = MIN (c0 + 1, light->columns - 1), r1 = MIN (r0 + 1, light->rows - 1);
  const ReferenceCell *above = light->cells + r0 * light->columns;
  const ReferenceCell *below = light->cells + r1 * light->columns;
  const int left = (above[c0].factor * (side - wy) + below[c0].factor * wy) / side;
  const int right = (above[c1].factor * (side - wy) + below[c1].factor * wy) / side;
  return (left * (side - wx) + right * wx) / side;
}

static uint32_t
times_factor (int value, int zero, int factor, int most)
{
  return (uint32_t)CLAMP (zero + (((value - zero) * factor + 2048) >> 12), 0, most);
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
  case CUDACCL_DENOISE_NONE:
    break;
  case CUDACCL_DENOISE_MEDIAN_3:
  case CUDACCL_DENOISE_MEDIAN_5:
    filter (pixels, width, height, MEDIAN, kind == CUDACCL_DENOISE_MEDIAN_3 ? 1 : 2);
    break;
  case CUDACCL_DENOISE_OPENING_3:
  case CUDACCL_DENOISE_OPENING_5:
    filter (pixels, width, height, EROSION, kind == CUDACCL_DENOISE_OPENING_3 ? 1 : 2);
    filter (pixels, width, height, DILATION, kind == CUDACCL_DENOISE_OPENING_3 ? 1 : 2);
    break;
  }
}

/* Median filter of the classes: where most of the window is not background, foreground if it has 2
 * foreground pixels for 3 shadow pixels or more. */
static void
filter_classes (CclPixelClass *classes, int64_t width, int64_t height, int64_t radius)
{
  CclPixelClass *before = g_memdup2 (classes, (gsize)(width * height) * sizeof *classes);
  for (int64_t y = 0; y < height; y++) {
    for (int64_t x = 0; x < width; x++) {
      int counts[3] = {0};
      for (int64_t j = y - radius; j <= y + radius; j++)
        for (int64_t i = x - radius; i <= x + radius; i++)
          counts[before[CLAMP (j, 0, height - 1) * width + CLAMP (i, 0, width - 1)]]++;
      const int f = counts[CUDACCL_PIXEL_FOREGROUND], s = counts[CUDACCL_PIXEL_SHADOW];
      classes[y * width + x] = f + s < counts[CUDACCL_PIXEL_BACKGROUND] ? CUDACCL_PIXEL_BACKGROUND
                               : 3 * f >= 2 * s                         ? CUDACCL_PIXEL_FOREGROUND
                                                                        : CUDACCL_PIXEL_SHADOW;
    }
  }
  g_free (before);
}

/* The number of set pixels in windows of a plane, from its summed-area table. */
static int
count_in_window (const int *table, int width, int left, int top, int right, int bottom)
{
  const int *above = table + top * (width + 1), *below = table + bottom * (width + 1);
  return below[right] - below[left] - above[right] + above[left];
}

static int *
make_table (const bool *plane, int width, int height)
{
  int *table = g_new0 (int, (width + 1) * (height + 1));
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      table[(y + 1) * (width + 1) + x + 1] = plane[y * width + x] + table[y * (width + 1) + x + 1] +
                                             table[(y + 1) * (width + 1) + x] -
                                             table[y * (width + 1) + x];
  return table;
}

/* Closing in a plane that continues with background around the frame: a pixel is foreground if all
 * windows that contain it contain foreground. */
static void
close_gaps (bool *pixels, int width, int height, int w, int h)
{
  enum { MARGIN = CUDACCL_MAX_CLOSING };
  const int plane_width = width + 2 * MARGIN, plane_height = height + 2 * MARGIN;
  bool *plane = g_new0 (bool, plane_width *plane_height);
  w = MAX (w, 1);
  h = MAX (h, 1);

  for (int y = 0; y < height; y++)
    memcpy (plane + (y + MARGIN) * plane_width + MARGIN, pixels + y * width, (size_t)width);
  int *table = make_table (plane, plane_width, plane_height);
  /* hits: whether the window whose first pixel is here contains foreground. */
  bool *hits = g_new0 (bool, plane_width *plane_height);
  for (int y = 0; y + h <= plane_height; y++)
    for (int x = 0; x + w <= plane_width; x++)
      hits[y * plane_width + x] = count_in_window (table, plane_width, x, y, x + w, y + h) > 0;
  g_free (table);
  table = make_table (hits, plane_width, plane_height);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      pixels[y * width + x] = count_in_window (table, plane_width, x + MARGIN - w + 1,
                                  y + MARGIN - h + 1, x + MARGIN + 1, y + MARGIN + 1) == w * h;
  g_free (table);
  g_free (hits);
  g_free (plane);
}

/* Sets the class of every pixel by the background model, which is updated. */
static void
compare_with_model (ForegroundReference *self, const CclFrame *frame,
    const CclForegroundOptions *options, CclPixelClass *classes)
{
  ReferenceLight light = {0};
  bool is_empty = false;

  self->scene_change = CUDACCL_SCENE_UNCHANGED;
  if (options->light && self->n_frames > 0) {
    const CclSceneChange change = measure_light (self, frame, &light);
    if (change != CUDACCL_SCENE_UNCHANGED && self->n_frames >= 16) {
      self->scene_change = change;
      self->n_frames = 0;
      g_clear_pointer (&light.cells, g_free);
    } else {
      is_empty = change != CUDACCL_SCENE_UNCHANGED;
    }
  }
  if (self->n_frames == 0)
    self->has_held = false;
  const bool is_wide = self->format == CUDACCL_PIXEL_FORMAT_16;
  const CclMixtureParameters parameters = ccl_mixture_parameters (options, self->n_frames);
  const uint64_t slower = MIN (self->n_frames / 16, options->hold);
  const bool holds = self->has_held && slower > 1 && self->n_frames % slower > 0;

  for (uint32_t y = 0; y < self->height; y++) {
    for (uint32_t x = 0; x < self->width; x++) {
      const size_t pixel = (size_t)y * self->width + x;
      uint32_t luma = pixel_of (self, frame, x, y), chroma = chroma_of (self, frame, x, y);
      if (light.cells) {
        luma = times_factor ((int)luma, 0, factor_at (&light, x, y), is_wide ? 65535 : 255);
        if (self->has_chroma) {
          const int factor = factor_at (&light, x >> frame->chroma.shift_x << frame->chroma.shift_x,
              y >> frame->chroma.shift_y << frame->chroma.shift_y);
          chroma = times_factor ((int)(chroma % 256), 128, factor, 255) +
                   256 * times_factor ((int)(chroma / 256), 128, factor, 255);
        }
      }
      classes[pixel] = update_model (self, pixel, is_wide ? luma : 256 * luma, chroma,
          holds && self->held[pixel], &parameters);
      if (options->shadows == CUDACCL_SHADOWS_KEEP && classes[pixel] == CUDACCL_PIXEL_SHADOW)
        classes[pixel] = CUDACCL_PIXEL_FOREGROUND;
      if (is_empty)
        classes[pixel] = CUDACCL_PIXEL_BACKGROUND;
    }
  }
  g_free (light.cells);
}

/* Sets the class of every pixel by the codebook model, which is updated. */
static void
compare_with_codebook (ForegroundReference *self, const CclFrame *frame,
    const CclForegroundOptions *options, CclPixelClass *classes)
{
  const size_t n = (size_t)self->width * self->height;
  uint8_t *luma = g_malloc (3 * n), *u = luma + n, *v = u + n;

  if (self->n_frames == 0)
    g_clear_pointer (&self->codebook, codebook_reference_free);
  if (!self->codebook)
    self->codebook = codebook_reference_new (self->width, self->height);
  for (size_t i = 0; i < n; i++) {
    const uint32_t x = (uint32_t)(i % self->width), y = (uint32_t)(i / self->width);
    const uint32_t value = pixel_of (self, frame, x, y);
    const uint32_t chroma = self->has_chroma ? chroma_of (self, frame, x, y) : 128 + 256 * 128;
    luma[i] =
        (uint8_t)(self->format == CUDACCL_PIXEL_FORMAT_16 ? (uint32_t)in_8_bits (value) : value);
    u[i] = (uint8_t)(chroma % 256);
    v[i] = (uint8_t)(chroma / 256);
  }
  self->codebook->has_light = options->light;
  self->codebook->shadows = options->shadows;
  self->codebook->hold = options->hold;
  self->codebook->sensitivity = options->sensitivity;
  self->codebook->absorb_after = options->absorb_after;
  self->codebook->frame_duration = options->frame_duration;
  codebook_reference_run (self->codebook, luma, u, v);
  self->scene_change = self->codebook->change;
  for (size_t i = 0; i < n; i++)
    classes[i] = self->codebook->mask[i] == 255   ? CUDACCL_PIXEL_FOREGROUND
                 : self->codebook->mask[i] == 127 ? CUDACCL_PIXEL_SHADOW
                                                  : CUDACCL_PIXEL_BACKGROUND;
  g_free (luma);
}

void
foreground_reference_run (
    ForegroundReference *self, const CclFrame *frame, const CclForegroundOptions *options)
{
  const size_t n = (size_t)self->width * self->height;
  const bool is_mog2 = self->method == CUDACCL_FOREGROUND_MOG2;
  const bool is_codebook = self->method == CUDACCL_FOREGROUND_CODEBOOK;
  const uint32_t threshold =
      self->method == CUDACCL_FOREGROUND_OTSU ? otsu_threshold (self, frame) : options->threshold;
  CclPixelClass *classes = g_new0 (CclPixelClass, n);
  bool *pixels = g_new (bool, n);

  const bool is_median =
      options->denoise == CUDACCL_DENOISE_MEDIAN_3 || options->denoise == CUDACCL_DENOISE_MEDIAN_5;
  const bool filters_classes = is_mog2 && is_median && options->shadows != CUDACCL_SHADOWS_KEEP;

  if (is_mog2)
    compare_with_model (self, frame, options, classes);
  if (is_codebook)
    compare_with_codebook (self, frame, options, classes);
  if (filters_classes)
    filter_classes (
        classes, self->width, self->height, options->denoise == CUDACCL_DENOISE_MEDIAN_3 ? 1 : 2);
  for (uint32_t y = 0; y < self->height; y++)
    for (uint32_t x = 0; x < self->width; x++) {
      const size_t pixel = (size_t)y * self->width + x;
      pixels[pixel] = is_mog2 || is_codebook ? classes[pixel] == CUDACCL_PIXEL_FOREGROUND
                                             : pixel_of (self, frame, x, y) > threshold;
    }
  if (!filters_classes && !(is_codebook && is_median))
    denoise (pixels, self->width, self->height, options->denoise);
  self->has_held = options->hold > 1;
  memcpy (self->held, pixels, n * sizeof *pixels);
  close_gaps (pixels, (int)self->width, (int)self->height, (int)options->closing_width,
      (int)options->closing_height);
  for (size_t i = 0; i < n; i++) {
    const bool inside = !self->roi_mask || self->roi_mask[i];
    const bool shadow = options->shadows == CUDACCL_SHADOWS_MARK && !pixels[i] &&
                        classes[i] == CUDACCL_PIXEL_SHADOW;
    self->mask[i] = !inside ? 0 : shadow ? 127 : pixels[i] != options->invert ? 255 : 0;
  }
  g_free (pixels);
  g_free (classes);
  self->n_frames++;
}
