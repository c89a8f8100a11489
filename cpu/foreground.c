/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Foreground masks on the CPU: plans, threads, and the steps of a frame. pixels.h has the
 * operations on the pixels of a row.
 *
 * Each thread has a band of rows. All threads finish a step before the next one begins, because
 * filters read rows of other bands:
 *
 *   1. Otsu's method only: the histogram of the frame.
 *   2. The foreground, one bit per pixel.
 *   3. Opening only: erosion.
 *   4. Median filter or dilation, inversion, region of interest mask, and the mask's bytes.
 *
 * Without a filter, each row is finished right after its step 2.
 */
#include "foreground-class.h"
#include "labeller-class.h"
#include "foreground-tuning.h"

#include "instructions.h"
#include "layout.h"
#include "otsu.h"
#include "pixels.h"
#include "workers.h"

#include <stdlib.h>

/* With fewer pixels, waking a thread takes longer than its work. */
#define DEFAULT_PIXELS_PER_THREAD (1u << 18)

/* Rows of a mask, one bit per pixel, each with a word before its first and one after its last. */
typedef struct BitRows {
  uint64_t *words; /* the first word of the first row */
  size_t words_per_row;
} BitRows;

typedef struct ForegroundBand {
  uint32_t first_row, end_row;
  uint64_t *scratch;       /* for filters */
  uint64_t *row;           /* one row of the mask */
  uint32_t histogram[256]; /* of the band's pixels in the region of interest */
} ForegroundBand;

/* The frame at work, for all threads. */
typedef struct FrameJob {
  const CclFrame *frame;
  const CclMask *mask;
  const CclForegroundOptions *options;
  uint8_t threshold;
  CclMixtureParameters parameters;
} FrameJob;

typedef struct CpuForeground {
  CclForeground base;
  const PixelCode *code;
  Workers *workers;
  FrameJob job;
  size_t n_words; /* of a row */
  uint32_t n_bands;
  ForegroundBand *bands;
  BitRows foreground, eroded, roi_mask; /* roi_mask.words: NULL without one */
  Model model;

  Layout masks_layout;
  Layout model_layout; /* no memory without a model */
} CpuForeground;

static uint64_t *
row_of (const BitRows *rows, uint32_t y)
{
  return rows->words + y * rows->words_per_row;
}

/* Copies the edge pixels of a row into the words around it and into the rest of its last word. */
static void
extend_row (uint64_t *row, size_t n_words, uint32_t width)
{
  const uint32_t rest = width % 64;
  uint64_t *last = row + n_words - 1;
  const uint64_t last_pixel = *last >> (width - 1) % 64 & 1;

  row[-1] = -(row[0] & 1);
  row[n_words] = -last_pixel;
  if (rest)
    *last = (*last & (UINT64_MAX >> (64 - rest))) | -last_pixel << rest;
}

/* Filters row y. Rows outside the frame are copies of the nearest row inside. */
static void
filter (const CpuForeground *self, const ForegroundBand *band, const BitRows *from, uint32_t y,
    Filter filter, uint64_t *filtered)
{
  const bool large =
      filter == FILTER_MEDIAN_5 || filter == FILTER_ERODE_5 || filter == FILTER_DILATE_5;
  const int64_t radius = large ? 2 : 1, last = (int64_t)self->base.plan.height - 1;
  const uint64_t *rows[5];

  for (int64_t i = -radius; i <= radius; i++) {
    const int64_t row = y + i;
    rows[i + radius] = row_of (from, (uint32_t)(row < 0 ? 0 : row > last ? last : row));
  }
  self->code->filter_row (filter, rows, self->n_words, band->scratch, filtered);
}

/* Inverts a row if asked, clears what lies outside the region of interest, and writes the mask. */
static void
finish_row (const CpuForeground *self, uint32_t y, uint64_t *row)
{
  const FrameJob *job = &self->job;
  if (job->options->invert)
    for (size_t i = 0; i < self->n_words; i++)
      row[i] = ~row[i];
  if (self->roi_mask.words) {
    const uint64_t *roi_mask = row_of (&self->roi_mask, y);
    for (size_t i = 0; i < self->n_words; i++)
      row[i] &= roi_mask[i];
  }
  self->code->write_row (
      row, self->base.plan.width, (uint8_t *)job->mask->data + y * job->mask->stride);
}

static void
count_values (const uint8_t *pixels, uint32_t n, uint32_t histograms[4][256])
{
  uint32_t x = 0;
  for (; x + 4 <= n; x += 4)
    for (uint32_t i = 0; i < 4; i++)
      histograms[i][pixels[x + i]]++;
  for (; x < n; x++)
    histograms[0][pixels[x]]++;
}

/* The histogram of a band. Four histograms take turns, so that an increment need not wait for that
 * of an equal pixel before it. */
static void
make_histogram (void *data, uint32_t index)
{
  const CpuForeground *self = data;
  ForegroundBand *band = &self->bands[index];
  const uint32_t width = self->base.plan.width;
  const CclFrame *frame = self->job.frame;
  uint32_t histograms[4][256] = {0};

  for (uint32_t y = band->first_row; y < band->end_row; y++) {
    const uint8_t *pixels = (const uint8_t *)frame->data + y * frame->stride;
    if (!self->roi_mask.words) {
      count_values (pixels, width, histograms);
      continue;
    }
    const uint64_t *roi_mask = row_of (&self->roi_mask, y);
    for (uint32_t x = 0; x < width; x += 64) {
      if (roi_mask[x / 64] == UINT64_MAX)
        count_values (pixels + x, 64, histograms);
      else
        for (uint64_t word = roi_mask[x / 64]; word; word &= word - 1)
          histograms[0][pixels[x + (uint32_t)__builtin_ctzll (word)]]++;
    }
  }
  for (int value = 0; value < 256; value++)
    band->histogram[value] =
        histograms[0][value] + histograms[1][value] + histograms[2][value] + histograms[3][value];
}

static uint8_t
choose_threshold (CpuForeground *self)
{
  uint32_t histogram[256] = {0};
  workers_run (self->workers, make_histogram, self);
  for (uint32_t i = 0; i < self->n_bands; i++)
    for (int value = 0; value < 256; value++)
      histogram[value] += self->bands[i].histogram[value];
  return (uint8_t)ccl_otsu_threshold (histogram);
}

static void
find_foreground (void *data, uint32_t index)
{
  const CpuForeground *self = data;
  const ForegroundBand *band = &self->bands[index];
  const FrameJob *job = &self->job;
  const CclForegroundPlan *plan = &self->base.plan;
  const bool denoised = job->options->denoise != CCL_DENOISE_NONE;

  for (uint32_t y = band->first_row; y < band->end_row; y++) {
    const uint8_t *pixels = (const uint8_t *)job->frame->data + y * job->frame->stride;
    uint64_t *row = denoised ? row_of (&self->foreground, y) : band->row;
    if (plan->method == CCL_FOREGROUND_MOG2)
      self->code->background_row (
          pixels, plan->width, &job->parameters, &self->model, y, band->end_row, row);
    else
      self->code->threshold_row (pixels, plan->width, job->threshold, row);
    if (denoised)
      extend_row (row, self->n_words, plan->width);
    else
      finish_row (self, y, row);
  }
}

static void
erode_band (void *data, uint32_t index)
{
  const CpuForeground *self = data;
  const ForegroundBand *band = &self->bands[index];
  const Filter erosion =
      self->job.options->denoise == CCL_DENOISE_OPENING_3 ? FILTER_ERODE_3 : FILTER_ERODE_5;

  for (uint32_t y = band->first_row; y < band->end_row; y++) {
    uint64_t *row = row_of (&self->eroded, y);
    filter (self, band, &self->foreground, y, erosion, row);
    extend_row (row, self->n_words, self->base.plan.width);
  }
}

static void
finish_band (void *data, uint32_t index)
{
  const CpuForeground *self = data;
  const ForegroundBand *band = &self->bands[index];
  static const Filter last_filters[] = {
      [CCL_DENOISE_MEDIAN_3] = FILTER_MEDIAN_3,
      [CCL_DENOISE_MEDIAN_5] = FILTER_MEDIAN_5,
      [CCL_DENOISE_OPENING_3] = FILTER_DILATE_3,
      [CCL_DENOISE_OPENING_5] = FILTER_DILATE_5,
  };
  const CclDenoise denoise = self->job.options->denoise;
  const bool opened = denoise == CCL_DENOISE_OPENING_3 || denoise == CCL_DENOISE_OPENING_5;
  const BitRows *from = opened ? &self->eroded : &self->foreground;

  for (uint32_t y = band->first_row; y < band->end_row; y++) {
    filter (self, band, from, y, last_filters[denoise], band->row);
    finish_row (self, y, band->row);
  }
}

static CclStatus
cpu_foreground_run (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  CpuForeground *self = (CpuForeground *)foreground;
  const CclForegroundMethod method = foreground->plan.method;

  if (frame->location != CCL_LOCATION_HOST)
    return ccl_error_set (error, CCL_ERROR_ARGUMENT, "the CPU cannot read frames in device memory");

  /* A new model is memory of zeros, and discarded pages read as zeros. */
  Layout *model = &self->model_layout;
  if (model->memory && foreground->n_frames == 0 &&
      madvise (model->memory, model->size, MADV_DONTNEED) != 0)
    return ccl_error_set (error, CCL_ERROR_NO_MEMORY, "the background model cannot be cleared");

  self->job = (FrameJob){.frame = frame, .mask = mask, .options = options};
  switch (method) {
  case CCL_FOREGROUND_THRESHOLD:
    self->job.threshold = (uint8_t)options->threshold;
    break;
  case CCL_FOREGROUND_OTSU:
    self->job.threshold = choose_threshold (self);
    break;
  case CCL_FOREGROUND_MOG2:
    self->job.parameters = ccl_mixture_parameters (options, foreground->n_frames);
    break;
  }
  workers_run (self->workers, find_foreground, self);
  if (options->denoise == CCL_DENOISE_OPENING_3 || options->denoise == CCL_DENOISE_OPENING_5)
    workers_run (self->workers, erode_band, self);
  if (options->denoise != CCL_DENOISE_NONE)
    workers_run (self->workers, finish_band, self);
  return CCL_OK;
}

static void
cpu_foreground_free (CclForeground *foreground)
{
  CpuForeground *self = (CpuForeground *)foreground;
  workers_free (self->workers);
  layout_unmap (&self->masks_layout);
  layout_unmap (&self->model_layout);
  free (self->bands);
  free (self);
}

static const CclForegroundClass cpu_foreground_class = {
    .name = "cpu",
    .run = cpu_foreground_run,
    .free = cpu_foreground_free,
};

/* The best code for this processor, or the code for the named instructions; NULL without any. */
static const PixelCode *
choose_code (const char *instructions)
{
  static const PixelCode *const all[] = {
#if HAVE_X86_64
    &pixel_code_avx512,
    &pixel_code_avx2,
#endif
    &pixel_code_portable,
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (instructions_are_offered (all[i]->name) &&
        (!instructions || strcmp (instructions, all[i]->name) == 0))
      return all[i];
  return NULL;
}

static void
lay_out_rows (Layout *layout, const CpuForeground *self, BitRows *rows)
{
  rows->words_per_row = self->n_words + 2;
  uint64_t *words =
      lay_out (layout, self->base.plan.height * rows->words_per_row, sizeof *rows->words);
  rows->words = words ? words + 1 : NULL;
}

static void
lay_out_masks (Layout *layout, void *data)
{
  CpuForeground *self = data;

  lay_out_rows (layout, self, &self->foreground);
  lay_out_rows (layout, self, &self->eroded);
  if (self->base.plan.roi_mask)
    lay_out_rows (layout, self, &self->roi_mask);
  for (uint32_t i = 0; i < self->n_bands; i++) {
    ForegroundBand *band = &self->bands[i];
    band->scratch =
        lay_out (layout, FILTER_SCRATCH_ROWS * (self->n_words + 2), sizeof *band->scratch);
    band->row = lay_out (layout, self->n_words, sizeof *band->row);
  }
}

static void
lay_out_model (Layout *layout, void *data)
{
  CpuForeground *self = data;
  Model *model = &self->model;

  model->blocks_per_row = ((size_t)self->base.plan.width + BLOCK_PIXELS - 1) / BLOCK_PIXELS;
  const size_t n_blocks = model->blocks_per_row * self->base.plan.height;
  model->n_blocks = n_blocks;
  model->weights = lay_out (layout, CCL_MAX_MIXTURES * n_blocks, sizeof *model->weights);
  model->gaussians = lay_out (layout, CCL_MAX_MIXTURES * n_blocks, sizeof *model->gaussians);
  model->uses = lay_out (layout, n_blocks, sizeof *model->uses);
}

static bool
allocate (CpuForeground *self)
{
  self->masks_layout = layout_map (lay_out_masks, self);
  if (!self->masks_layout.memory)
    return false;
  if (self->base.plan.method != CCL_FOREGROUND_MOG2)
    return true;
  self->model_layout = layout_map (lay_out_model, self);
  if (!self->model_layout.memory)
    return false;
  /* The Gaussians of a block lie on up to ten pages. Huge pages, where the system has them, save
   * translations of addresses. */
  madvise (self->model_layout.memory, self->model_layout.size, MADV_HUGEPAGE);
  return true;
}

static void
copy_roi_mask (CpuForeground *self, const CclFrame *roi_mask)
{
  for (uint32_t y = 0; y < self->base.plan.height; y++)
    self->code->threshold_row ((const uint8_t *)roi_mask->data + y * roi_mask->stride,
        self->base.plan.width, 0, row_of (&self->roi_mask, y));
}

CclForeground *
ccl_cpu_foreground_new_tuned (
    const CclForegroundPlan *plan, const CclCpuTuning *tuning, CclError *error)
{
  if (ccl_foreground_plan_check (plan, error) != CCL_OK)
    return NULL;
  const PixelCode *code = choose_code (tuning->instructions);
  if (!code) {
    ccl_error_set (error, CCL_ERROR_UNSUPPORTED,
        "instruction set '%s' is unknown, or this processor lacks it", tuning->instructions);
    return NULL;
  }

  CpuForeground *self = calloc (1, sizeof *self);
  if (!self)
    goto no_memory;
  self->base.klass = &cpu_foreground_class;
  self->base.plan = *plan;
  self->code = code;
  self->n_words = ((size_t)plan->width + 63) / 64;
  self->n_bands = workers_choose_number (plan->n_threads, (uint64_t)plan->width * plan->height,
      tuning->pixels_per_thread ? tuning->pixels_per_thread : DEFAULT_PIXELS_PER_THREAD,
      plan->height);
  self->bands = calloc (self->n_bands, sizeof *self->bands);
  if (!self->bands)
    goto no_memory;
  for (uint32_t i = 0; i < self->n_bands; i++) {
    self->bands[i].first_row = (uint32_t)((uint64_t)i * plan->height / self->n_bands);
    self->bands[i].end_row = (uint32_t)((i + 1ull) * plan->height / self->n_bands);
  }
  self->workers = workers_new (self->n_bands);
  if (!self->workers || !allocate (self))
    goto no_memory;
  if (plan->roi_mask)
    copy_roi_mask (self, plan->roi_mask);
  self->base.plan.roi_mask = NULL;
  return &self->base;

no_memory:
  ccl_error_set (error, CCL_ERROR_NO_MEMORY,
      "not enough memory for foreground masks of %u×%u pixels", plan->width, plan->height);
  if (self)
    cpu_foreground_free (&self->base);
  return NULL;
}

CclForeground *
ccl_cpu_foreground_new (const CclForegroundPlan *plan, CclError *error)
{
  const CclCpuTuning tuning = {.instructions = getenv ("CCL_CPU_INSTRUCTIONS")};
  return ccl_cpu_foreground_new_tuned (plan, &tuning, error);
}

void
ccl_cpu_foreground_get_gaussian (const CclForeground *foreground, uint32_t x, uint32_t y,
    uint32_t k, uint16_t *weight, uint16_t *mean, uint16_t *variance)
{
  const Model *model = &((const CpuForeground *)foreground)->model;
  const size_t block = k * model->n_blocks + y * model->blocks_per_row + x / BLOCK_PIXELS;
  *weight = model->weights[block].weights[x % BLOCK_PIXELS];
  *mean = model->gaussians[block].means[x % BLOCK_PIXELS];
  *variance = model->gaussians[block].variances[x % BLOCK_PIXELS];
}
