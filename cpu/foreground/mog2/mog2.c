/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreground by MOG2: the light of a frame, and its comparison with the mixtures of Gaussians, row
 * by row. */
#include "mog2-model.h"
#include "core/base/divide-up.h"

#include "cpu/foreground/foreground.h"

#include <stdlib.h>
#include <string.h>

static void
measure_light (void *data, uint32_t index)
{
  CpuForeground *self = data;
  Mog2 *mog2 = self->model;
  for (uint32_t row = index; row < mog2->light.grid.rows; row += self->n_bands)
    light_measure_row (&mog2->light, &mog2->model, self->job.frame, &self->base.plan, row);
}

/* Compares the light of the frame with the model's. Discards the model if the scene has changed. */
static void
follow_light (CpuForeground *self)
{
  Mog2 *mog2 = self->model;
  CclForeground *base = &self->base;

  mog2->has_light = mog2->is_empty = false;
  if (!self->job.options->light || base->n_frames == 0)
    return;
  workers_run (self->workers, measure_light, self);
  const CclSceneChange change =
      ccl_light_smooth (&mog2->light.grid, mog2->light.cells, NULL, mog2->light.factors);
  if (change != CUDACCL_SCENE_UNCHANGED && base->n_frames >= CUDACCL_LIGHT_FIRST_FRAMES) {
    base->scene_change = change;
    base->n_frames = 0;
  } else {
    mog2->has_light = true;
    mog2->is_empty = change != CUDACCL_SCENE_UNCHANGED;
  }
}

/* The chroma of the pixels of row y, in the model's light if there are factors. Rows that share
 * samples share it; bands begin with the first one of them. */
static const uint16_t *
spread_chroma (const CpuForeground *self, const Mog2Band *band, uint32_t y, const uint16_t *factors)
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
mog2_find_row (
    const CpuForeground *self, uint32_t band, uint32_t y, uint64_t *foreground, uint64_t *shadow)
{
  const Mog2 *mog2 = self->model;
  const Mog2Band *scratch = &mog2->bands[band];
  const uint32_t width = self->base.plan.width;
  const uint8_t *luma = luma_row (self, &self->bands[band], y);
  const uint16_t *factors = NULL;

  if (mog2->has_light && light_row_factors (&mog2->light, y, width, scratch->factors)) {
    factors = scratch->factors;
    (is_wide (self) ? self->code->correct_wide_luma : self->code->correct_luma) (
        luma, factors, width, scratch->luma);
    luma = scratch->luma;
  }
  const BackgroundRow row = {
      .luma = luma,
      .is_wide = is_wide (self),
      .chroma = mog2->model.chroma ? spread_chroma (self, scratch, y, factors) : NULL,
      .width = width,
      .y = y,
      .end_row = self->bands[band].end_row,
      .model = &mog2->model,
      .parameters = &mog2->parameters,
      .tells_shadows = has_shadows (self),
      .held = mog2->skips_held ? row_of (&mog2->held, y) : NULL,
      .foreground = foreground,
      .shadow = shadow,
  };
  self->code->background_row (&row);
  if (mog2->is_empty) {
    memset (foreground, 0, self->n_words * sizeof *foreground);
    memset (shadow, 0, self->n_words * sizeof *shadow);
  }
}

static void
mog2_keep_row (const CpuForeground *self, uint32_t y, const uint64_t *row)
{
  const Mog2 *mog2 = self->model;
  if (mog2->has_held)
    memcpy (row_of (&mog2->held, y), row, self->n_words * sizeof *row);
}

static CclStatus
mog2_reset (CpuForeground *self, CclError *error)
{
  Mog2 *mog2 = self->model;
  const Mapping *model = &mog2->model_mapping;
  mog2->has_held = false;
  /* A new model is memory of zeros, and discarded pages read as zeros. */
  if (madvise (model->memory, model->size, MADV_DONTNEED) != 0)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "the background model cannot be cleared");
  return CUDACCL_OK;
}

static CclStatus
mog2_begin (CpuForeground *self, CclError *error)
{
  Mog2 *mog2 = self->model;
  const CclForegroundOptions *options = self->job.options;
  const bool had_frames = self->base.n_frames > 0;
  CclStatus status = CUDACCL_OK;

  self->base.scene_change = CUDACCL_SCENE_UNCHANGED;
  follow_light (self);
  if (had_frames && self->base.n_frames == 0)
    status = mog2_reset (self, error);
  mog2->parameters = ccl_mixture_parameters (options, self->base.n_frames);
  mog2->skips_held = mog2->has_held && ccl_mixture_skips_held (options, self->base.n_frames);
  mog2->has_held = options->hold > 1;
  return status;
}

static void
lay_out_rows_of_frame (Layout *layout, void *data)
{
  const CpuForeground *self = data;
  Mog2 *mog2 = self->model;
  const size_t n_cells = (size_t)mog2->light.grid.columns * mog2->light.grid.rows;

  lay_out_rows (layout, self->n_words, self->base.plan.height, &mog2->held);
  mog2->light.cells = lay_out (layout, n_cells, sizeof *mog2->light.cells);
  mog2->light.factors = lay_out (layout, n_cells, sizeof *mog2->light.factors);
  for (uint32_t i = 0; i < self->n_bands; i++) {
    Mog2Band *band = &mog2->bands[i];
    band->luma = lay_out (layout, 64 * self->n_words, is_wide (self) ? 2 : 1);
    band->chroma = lay_out (layout, 64 * self->n_words, sizeof *band->chroma);
    band->factors = lay_out (layout, 64 * self->n_words, sizeof *band->factors);
  }
}

static void
lay_out_model (Layout *layout, void *data)
{
  const CpuForeground *self = data;
  Model *model = &((Mog2 *)self->model)->model;

  model->blocks_per_row = divide_up (self->base.plan.width, BLOCK_PIXELS);
  const size_t n_blocks = model->blocks_per_row * self->base.plan.height;
  model->n_blocks = n_blocks;
  model->weights = lay_out (layout, CUDACCL_MAX_MIXTURES * n_blocks, sizeof *model->weights);
  model->gaussians = lay_out (layout, CUDACCL_MAX_MIXTURES * n_blocks, sizeof *model->gaussians);
  if (self->base.plan.has_chroma)
    model->chroma = lay_out (layout, CUDACCL_MAX_MIXTURES * n_blocks, sizeof *model->chroma);
  model->uses = lay_out (layout, n_blocks, sizeof *model->uses);
}

static bool
mog2_prepare (CpuForeground *self)
{
  const CclForegroundPlan *plan = &self->base.plan;
  Mog2 *mog2 = self->model = calloc (1, sizeof *mog2);
  if (!mog2)
    return false;
  mog2->light.grid = ccl_light_grid (plan->width, plan->height);
  mog2->bands = calloc (self->n_bands, sizeof *mog2->bands);
  if (!mog2->bands || !mapping_lay_out (&mog2->rows_mapping, lay_out_rows_of_frame, self) ||
      !mapping_lay_out (&mog2->model_mapping, lay_out_model, self))
    return false;
  /* The Gaussians of a block lie on up to ten pages. Huge pages, where the system has them, save
   * translations of addresses. */
  madvise (mog2->model_mapping.memory, mog2->model_mapping.size, MADV_HUGEPAGE);
  return true;
}

static void
mog2_free (void *model)
{
  Mog2 *mog2 = model;
  mapping_unmap (&mog2->rows_mapping);
  mapping_unmap (&mog2->model_mapping);
  free (mog2->bands);
  free (mog2);
}

const CpuMethod cpu_mog2 = {
    .prepare = mog2_prepare,
    .reset = mog2_reset,
    .begin = mog2_begin,
    .find_row = mog2_find_row,
    .keep_row = mog2_keep_row,
    .free = mog2_free,
};
