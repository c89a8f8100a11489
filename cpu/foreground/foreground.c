/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Foreground masks on the CPU: plans, threads, and the steps of a frame. pixels.h has the
 * operations on the pixels of a row.
 *
 * Each thread has a band of rows. All threads finish a step before the next one begins, because
 * filters read rows of other bands:
 *
 *   1. Otsu's method: the histogram of the frame. MOG2: the light of the frame. Codebook: the
 * update of the model (codebook-frames.h).
 *   2. The foreground, one bit per pixel. Codebook: a filter of the pixels' classes.
 *   3. Opening: erosion.
 *   4. Median filter, or dilation of the opening.
 *   5. Closing: dilation.
 *   6. Closing: erosion.
 *
 * The last step of a frame also inverts each row, applies the region of interest mask and writes
 * the mask's bytes.
 */
#include "foreground.h"
#include "foreground-tuning.h"
#include "cpu/pixels/pixel-code.h"
#include "reduced-foreground.h"
#include "core/foreground/reduction.h"
#include "cpu/pixels/words.h"

#include <stdlib.h>
#include <string.h>

/* With fewer pixels, waking a thread takes longer than its work. */
#define DEFAULT_PIXELS_PER_THREAD (1u << 18)

static void
measure_light (void *data, uint32_t index)
{
  CpuForeground *self = data;
  for (uint32_t row = index; row < self->light.grid.rows; row += self->n_bands)
    light_measure_row (&self->light, &self->model, self->job.frame, &self->base.plan, row);
}

/* Compares the light of the frame with the model's. Discards the model if the scene has changed. */
static void
follow_light (CpuForeground *self)
{
  FrameJob *job = &self->job;
  CclForeground *base = &self->base;

  if (!job->options->light || base->n_frames == 0)
    return;
  workers_run (self->workers, measure_light, self);
  const CclSceneChange change =
      ccl_light_smooth (&self->light.grid, self->light.cells, false, self->light.factors);
  if (change != CUDACCL_SCENE_UNCHANGED && base->n_frames >= CUDACCL_LIGHT_FIRST_FRAMES) {
    base->scene_change = change;
    base->n_frames = 0;
  } else {
    job->has_light = true;
    job->is_empty = change != CUDACCL_SCENE_UNCHANGED;
  }
}

/* The chroma of the pixels of row y, in the model's light if there are factors. Rows that share
 * samples share it; bands begin with the first one of them. */
static const uint16_t *
spread_chroma (
    const CpuForeground *self, const ForegroundBand *band, uint32_t y, const uint16_t *factors)
{
  const CclChroma *chroma = &self->job.frame->chroma;
  const uint32_t width = self->base.plan.width;

  if (y >> chroma->shift_y << chroma->shift_y != y)
    return band->chroma;
  self->code->spread_chroma (chroma, y, width, band->chroma);
  if (factors)
    self->code->correct_chroma (band->chroma, factors, width, band->chroma);
  return band->chroma;
}

static void
compare_with_model (
    const CpuForeground *self, const ForegroundBand *band, uint32_t y, uint64_t *foreground)
{
  const FrameJob *job = &self->job;
  const uint32_t width = self->base.plan.width;
  const uint8_t *luma = luma_row (self, band, y);
  const uint16_t *factors = NULL;

  if (job->has_light && light_row_factors (&self->light, y, width, band->factors)) {
    factors = band->factors;
    (is_wide (self) ? self->code->correct_wide_luma : self->code->correct_luma) (
        luma, factors, width, band->luma);
    luma = band->luma;
  }
  const BackgroundRow row = {
      .luma = luma,
      .is_wide = is_wide (self),
      .chroma = self->model.chroma ? spread_chroma (self, band, y, factors) : NULL,
      .width = width,
      .y = y,
      .end_row = band->end_row,
      .model = &self->model,
      .parameters = &job->parameters,
      .tells_shadows = job->options->shadows != CUDACCL_SHADOWS_KEEP,
      .held = job->skips_held ? row_of (&self->held, y) : NULL,
      .foreground = foreground,
      .shadow =
          marks_shadows (self) || filters_classes (self) ? row_of (&self->shadow, y) : band->shadow,
  };
  self->code->background_row (&row);
  if (job->is_empty) {
    memset (row.foreground, 0, self->n_words * sizeof *row.foreground);
    memset (row.shadow, 0, self->n_words * sizeof *row.shadow);
  }
  if (filters_classes (self))
    extend_row (row.shadow, self->n_words, width);
}

/* Compares the pixels of a row with the threshold. */
static void
compare_with_threshold (const CpuForeground *self, uint32_t y, uint64_t *foreground)
{
  const CclForegroundPlan *plan = &self->base.plan;
  const uint32_t threshold = self->job.threshold;

  if (plan->format == CUDACCL_PIXEL_FORMAT_8)
    self->code->threshold_row (frame_row (self, y), plan->width, (uint8_t)threshold, foreground);
  else
    self->code->threshold_words (
        frame_row (self, y), plan->width, ccl_word_threshold (plan->format, threshold), foreground);
}

static void
find_foreground (void *data, uint32_t index)
{
  const CpuForeground *self = data;
  const ForegroundBand *band = &self->bands[index];
  const uint32_t width = self->base.plan.width;
  const bool is_last = !is_denoised (self) && !is_closed (self);

  for (uint32_t y = band->first_row; y < band->end_row; y++) {
    uint64_t *row = is_last ? band->row : row_of (&self->foreground, y);
    if (is_mog2 (self))
      compare_with_model (self, band, y, row);
    else if (self->codebooks)
      codebooks_finish_row (self->codebooks, y, row, row_of (&self->shadow, y));
    else
      compare_with_threshold (self, y, row);
    if (is_denoised (self)) {
      extend_row (row, self->n_words, width);
      continue;
    }
    cpu_foreground_hold_row (self, y, row);
    if (is_last)
      cpu_foreground_finish_row (self, y, row, row_of (&self->shadow, y));
    else
      surround_row (row, self->n_words, width, 0, 0);
  }
}

static CclStatus
begin_model (CpuForeground *self, CclError *error)
{
  const Mapping *model = &self->model_mapping;
  self->has_held = false;
  /* A new model is memory of zeros, and discarded pages read as zeros. */
  if (madvise (model->memory, model->size, MADV_DONTNEED) != 0)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "the background model cannot be cleared");
  return CUDACCL_OK;
}

static CclStatus
prepare_model (CpuForeground *self, CclError *error)
{
  const CclForegroundOptions *options = self->job.options;
  CclStatus status = CUDACCL_OK;

  self->base.scene_change = CUDACCL_SCENE_UNCHANGED;
  follow_light (self);
  if (self->base.n_frames == 0)
    status = begin_model (self, error);
  self->job.parameters = ccl_mixture_parameters (options, self->base.n_frames);
  self->job.skips_held = self->has_held && ccl_mixture_skips_held (options, self->base.n_frames);
  self->has_held = options->hold > 1;
  return status;
}

static CclStatus
cpu_foreground_queue (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  CpuForeground *self = (CpuForeground *)foreground;
  CclStatus status = CUDACCL_OK;

  if (frame->location != CUDACCL_LOCATION_HOST)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the CPU cannot read frames in device memory");

  self->job = (FrameJob){.frame = frame, .mask = mask, .options = options};
  switch (foreground->plan.method) {
  case CUDACCL_FOREGROUND_THRESHOLD:
    self->job.threshold = options->threshold;
    break;
  case CUDACCL_FOREGROUND_OTSU:
    self->job.threshold = cpu_foreground_choose_threshold (self);
    break;
  case CUDACCL_FOREGROUND_MOG2:
    status = prepare_model (self, error);
    break;
  case CUDACCL_FOREGROUND_CODEBOOK:
    if (!codebooks_update (self->codebooks, frame, options, foreground->n_frames == 0,
            foreground->camera, &foreground->scene_change))
      status =
          ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "the background model cannot be cleared");
    break;
  }
  if (status != CUDACCL_OK)
    return status;
  workers_run (self->workers, find_foreground, self);
  cpu_foreground_filter (self);
  if (self->codebooks)
    codebooks_count_objects (self->codebooks, &foreground->n_foreground, &foreground->n_changed);
  return CUDACCL_OK;
}

static void
cpu_foreground_free (CclForeground *foreground)
{
  CpuForeground *self = (CpuForeground *)foreground;
  codebooks_free (self->codebooks);
  workers_free (self->workers);
  mapping_unmap (&self->masks_mapping);
  mapping_unmap (&self->model_mapping);
  free (self->bands);
  free (self);
}

static const CclForegroundClass cpu_foreground_class = {
    .name = "cpu",
    .queue = cpu_foreground_queue,
    .free = cpu_foreground_free,
};

static void
lay_out_masks (Layout *layout, void *data)
{
  CpuForeground *self = data;
  const size_t height = self->base.plan.height;

  lay_out_rows (layout, self->n_words, height, &self->foreground);
  lay_out_rows (layout, self->n_words, height, &self->eroded);
  lay_out_rows (layout, self->n_words, height + 2 * CLOSING_MARGIN, &self->dilated);
  lay_out_rows (layout, self->n_words, height, &self->filtered);
  lay_out_rows (layout, self->n_words, height, &self->shadow);
  lay_out_rows (layout, self->n_words, height, &self->filtered_shadow);
  lay_out_rows (layout, self->n_words, height, &self->held);
  if (self->base.plan.roi_mask)
    lay_out_rows (layout, self->n_words, height, &self->roi_mask);
  if (self->base.plan.method == CUDACCL_FOREGROUND_OTSU)
    self->histogram = lay_out (layout, n_values (self), sizeof *self->histogram);
  const size_t n_cells = (size_t)self->light.grid.columns * self->light.grid.rows;
  self->light.cells = lay_out (layout, n_cells, sizeof *self->light.cells);
  self->light.factors = lay_out (layout, n_cells, sizeof *self->light.factors);
  for (uint32_t i = 0; i < self->n_bands; i++) {
    ForegroundBand *band = &self->bands[i];
    if (self->base.plan.method == CUDACCL_FOREGROUND_OTSU)
      band->histograms = lay_out (layout, N_HISTOGRAMS * n_values (self), sizeof *band->histograms);
    band->scratch =
        lay_out (layout, FILTER_SCRATCH_ROWS * (self->n_words + 2), sizeof *band->scratch);
    BitRows row;
    lay_out_rows (layout, self->n_words, 1, &row);
    band->row = row.words;
    band->shadow = lay_out (layout, self->n_words, sizeof *band->shadow);
    if (self->base.plan.format != CUDACCL_PIXEL_FORMAT_8)
      band->packed_luma = lay_out (layout, 64 * self->n_words, sizeof *band->packed_luma);
    band->luma = lay_out (layout, 64 * self->n_words, is_wide (self) ? 2 : 1);
    band->chroma = lay_out (layout, 64 * self->n_words, sizeof *band->chroma);
    band->factors = lay_out (layout, 64 * self->n_words, sizeof *band->factors);
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
  model->weights = lay_out (layout, CUDACCL_MAX_MIXTURES * n_blocks, sizeof *model->weights);
  model->gaussians = lay_out (layout, CUDACCL_MAX_MIXTURES * n_blocks, sizeof *model->gaussians);
  if (self->base.plan.has_chroma)
    model->chroma = lay_out (layout, CUDACCL_MAX_MIXTURES * n_blocks, sizeof *model->chroma);
  model->uses = lay_out (layout, n_blocks, sizeof *model->uses);
}

static bool
allocate (CpuForeground *self)
{
  if (!mapping_lay_out (&self->masks_mapping, lay_out_masks, self))
    return false;
  if (self->base.plan.method == CUDACCL_FOREGROUND_CODEBOOK) {
    self->codebooks = codebooks_new (&self->base.plan, self->code, self->workers);
    return self->codebooks && ccl_foreground_watch_camera (&self->base, NULL) == CUDACCL_OK;
  }
  if (self->base.plan.method != CUDACCL_FOREGROUND_MOG2)
    return true;
  if (!mapping_lay_out (&self->model_mapping, lay_out_model, self))
    return false;
  /* The Gaussians of a block lie on up to ten pages. Huge pages, where the system has them, save
   * translations of addresses. */
  madvise (self->model_mapping.memory, self->model_mapping.size, MADV_HUGEPAGE);
  return true;
}

static void
copy_roi_mask (CpuForeground *self, const CclFrame *roi_mask)
{
  for (uint32_t y = 0; y < self->base.plan.height; y++)
    self->code->threshold_row ((const uint8_t *)roi_mask->data + y * roi_mask->stride,
        self->base.plan.width, 0, row_of (&self->roi_mask, y));
}

/* An object for frames that are not reduced. */
static CclForeground *
new_for_whole_frames (const CclForegroundPlan *plan, const PixelCode *code,
    const CclCpuTuning *tuning, CclError *error)
{
  CpuForeground *self = calloc (1, sizeof *self);
  if (!self)
    goto no_memory;
  self->base.klass = &cpu_foreground_class;
  self->base.plan = *plan;
  self->code = code;
  self->light.grid = ccl_light_grid (plan->width, plan->height);
  self->n_words = ((size_t)plan->width + 63) / 64;
  self->n_bands = workers_choose_number (plan->n_threads, (uint64_t)plan->width * plan->height,
      tuning->pixels_per_thread ? tuning->pixels_per_thread : DEFAULT_PIXELS_PER_THREAD,
      plan->height);
  self->bands = calloc (self->n_bands, sizeof *self->bands);
  if (!self->bands)
    goto no_memory;
  for (uint32_t i = 0; i < self->n_bands; i++) {
    self->bands[i].first_row = band_first_row (plan->height, i, self->n_bands);
    self->bands[i].end_row = band_first_row (plan->height, i + 1, self->n_bands);
  }
  self->workers = workers_new (self->n_bands);
  if (!self->workers || !allocate (self))
    goto no_memory;
  if (plan->roi_mask)
    copy_roi_mask (self, plan->roi_mask);
  self->base.plan.roi_mask = NULL;
  return &self->base;

no_memory:
  ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
      "not enough memory for foreground masks of %u×%u pixels", plan->width, plan->height);
  if (self)
    cpu_foreground_free (&self->base);
  return NULL;
}

CclForeground *
ccl_cpu_foreground_new_tuned (
    const CclForegroundPlan *plan, const CclCpuTuning *tuning, CclError *error)
{
  if (ccl_foreground_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  const PixelCode *code = choose_pixel_code (tuning->instructions);
  if (!code) {
    ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "instruction set '%s' is unknown, or this processor lacks it", tuning->instructions);
    return NULL;
  }
  const uint32_t factor = ccl_reduction_factor (plan);
  if (factor == 1)
    return new_for_whole_frames (plan, code, tuning, error);
  const CclForegroundPlan reduced_plan = ccl_reduced_plan (plan, factor);
  CclForeground *inner = new_for_whole_frames (&reduced_plan, code, tuning, error);
  CclForeground *foreground = inner ? reduced_foreground_new (plan, factor, code, inner) : NULL;
  if (inner && !foreground)
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
        "not enough memory for foreground masks of %u×%u pixels", plan->width, plan->height);
  return foreground;
}

CclForeground *
ccl_cpu_foreground_new (const CclForegroundPlan *plan, CclError *error)
{
  const CclCpuTuning tuning = {.instructions = getenv ("CCL_CPU_INSTRUCTIONS")};
  return ccl_cpu_foreground_new_tuned (plan, &tuning, error);
}

void
ccl_cpu_foreground_get_gaussian (const CclForeground *foreground, uint32_t x, uint32_t y,
    uint32_t k, uint16_t *weight, uint16_t *mean, uint16_t *variance, uint16_t *chroma)
{
  const Model *model = &((const CpuForeground *)reduced_foreground_inner (foreground))->model;
  const size_t block = k * model->n_blocks + y * model->blocks_per_row + x / BLOCK_PIXELS;
  *weight = model->weights[block].weights[x % BLOCK_PIXELS];
  *mean = model->gaussians[block].means[x % BLOCK_PIXELS];
  *variance = model->gaussians[block].variances[x % BLOCK_PIXELS];
  *chroma = model->chroma ? model->chroma[block].chroma[x % BLOCK_PIXELS] : CUDACCL_NO_CHROMA;
}
