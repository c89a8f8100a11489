/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Foreground by codebooks (core/foreground/codebook.h), which a second model checks
 * (sampled-places.h). Each thread has a band of rows. The steps of a frame:
 *
 *   1. Luma in planes of 8 bits, if the frame has none.
 *   2. The light of the frame.
 *   3. The classes of all pixels, and the update of their codebooks.
 *   4. The cells of the grid whose pixels are not background.
 *   5. The filter of the classes, and the candidates of both models.
 *   6. The objects, row by row.
 */
#include "codebook-boxes.h"
#include "core/base/divide-up.h"
#include "codebook-light.h"
#include "cpu/foreground/foreground.h"
#include "sampled-places.h"
#include "sway-rows.h"

#include <stdlib.h>
#include <string.h>

typedef struct CodebookBand {
  uint32_t first_row, end_row;
  CodebookCounts counts;
  uint32_t dark, bright; /* pixels */
  uint32_t pairs, alike; /* ccl_codebook_is_white() */
  uint8_t *luma;         /* two rows: of the places of sampled-places.h */
  /* One row each. */
  uint8_t *slack;
  uint16_t *factors, *spreads, *chroma, *corrected_chroma, *place_chroma;
  uint64_t *scratch; /* of filters */
  uint8_t *spread;   /* of sway_find_range() */
} CodebookBand;

/* What a row has: an empty one is not filtered. */
typedef enum RowMarks {
  ROW_HAS_STRONG = 1,
  ROW_HAS_RECURRENT = 2,
  ROW_HAS_CLASSES = 4, /* foreground or shadow */
} RowMarks;

typedef struct Codebooks {
  CclForegroundPlan plan;
  const PixelCode *code;
  Workers *workers;
  uint32_t n_bands;
  size_t n_words;  /* of 64 pixels, in a row */
  size_t stride;   /* bytes of a row of values */
  size_t n_blocks; /* in a row */
  CodebookBand *bands;
  CodebookLight light;
  uint8_t logs[256];              /* codebook_fill_logs() */
  uint32_t *lost, *settled_cells; /* pixels of each cell */
  uint8_t *luma;                  /* planes of `stride`; NULL: the frame's */

  /* The model: memory of zeros before the first frame. */
  CodewordBlock *words;
  uint8_t *n_words_of_blocks; /* words from this place on have weight 0 */
  CodebookRest *rests;
  uint8_t *places, *margins, *background;
  BitRows strong, in_object, is_dynamic;
  /* What the last update found. */
  BitRows foreground, shadow, recurrent, settled;
  uint8_t *marks;                     /* RowMarks of each row */
  uint32_t *n_foreground, *n_changed; /* pixels of objects in each row */
  CclCodebookFrame state;
  CclCodebookClock clock;
  CclCodebookScene scene;
  CclCodebookLevel levels[CUDACCL_CODEBOOK_LEVELS];
  CclCodebookLevel all_levels;            /* together, for faint objects */
  uint8_t noise[CUDACCL_CODEBOOK_LEVELS]; /* median distances */
  bool is_white;                          /* the noise */
  bool is_dark;                           /* the frame before */

  SampledPlaces sampled;

  /* The frame at work. */
  const CclFrame *frame;
  const CclForegroundOptions *options;
  CodebookLuma planes;
  bool corrects;       /* for light */
  bool hides;          /* objects */
  uint32_t sway;       /* pixels that a shaking camera displaces the frame by; 0: it does not */
  uint8_t *low, *high; /* planes of sway_find_range() */
  size_t range_stride;

  Mapping rows_mapping, model_mapping;
} Codebooks;

/* Luma of two bytes per pixel as luma of 8 bits. */
static void
narrow_row (const Codebooks *self, uint32_t y, uint8_t *luma)
{
  const uint8_t *from = (const uint8_t *)self->frame->data + y * self->frame->stride;
  const uint32_t width = self->plan.width;

  if (self->plan.format != CUDACCL_PIXEL_FORMAT_16) {
    self->code->copy_bytes (from, width, self->plan.format == CUDACCL_PIXEL_FORMAT_8_SECOND, luma);
    return;
  }
  for (size_t x = 0; x < width; x++)
    luma[x] = (uint8_t)ccl_mixture_luma_8 (from[2 * x] | (uint32_t)from[2 * x + 1] << 8);
}

static void
narrow_band (void *data, uint32_t index)
{
  const Codebooks *self = data;
  const CodebookBand *band = &self->bands[index];
  for (uint32_t y = band->first_row; y < band->end_row; y++)
    narrow_row (self, y, self->luma + y * self->stride);
}

static void
measure_light (void *data, uint32_t index)
{
  Codebooks *self = data;
  for (uint32_t row = index; row < self->light.grid.rows; row += self->n_bands)
    codebook_measure_row (&self->light, self->code, self->logs, &self->planes, self->noise, row);
}

/* The luma of row y in the model's light. */
static uint8_t *
luma_of_row (const Codebooks *self, const CodebookBand *band, uint32_t y)
{
  return band->luma + y % 2 * self->stride;
}

static void
count_light (void *data, uint32_t index)
{
  Codebooks *self = data;
  for (uint32_t row = index; row < self->light.grid.rows; row += self->n_bands)
    codebook_count_row (&self->light, self->code, row);
}

/* Measures the light of the frame. Whether its rows have light of their own is known from the frame
 * before. Returns whether the rows of the next frame have. */
static bool
follow_light (Codebooks *self)
{
  CodebookLight *light = &self->light;
  CclLightRowSums sums = {0};

  workers_run (self->workers, measure_light, self);
  ccl_light_smooth (&light->grid, light->cells, &light->has_edges, light->factors);
  codebook_find_range (light);
  workers_run (self->workers, count_light, self);
  for (uint32_t i = 0; i < light->grid.rows; i++) {
    sums.compared += light->sums[i].compared;
    sums.near_rows += light->sums[i].near_rows;
    sums.near_smooth += light->sums[i].near_smooth;
  }
  return ccl_light_has_rows (&sums, light->has_rows);
}

/* Copies row y to the band, in the model's light. Returns its chroma; NULL if it has none. */
static const uint16_t *
correct_row (const Codebooks *self, CodebookBand *band, uint32_t y)
{
  uint8_t *corrected = luma_of_row (self, band, y);
  const uint8_t *luma = self->planes.frame + y * self->planes.frame_stride;
  const uint32_t width = self->plan.width;
  const CclChroma *chroma = &self->frame->chroma;
  const bool has_chroma = self->plan.has_chroma;

  if (has_chroma && y >> chroma->shift_y << chroma->shift_y == y)
    self->code->spread_chroma (chroma, y, width, band->chroma);
  if (!self->corrects ||
      !codebook_row_factors (&self->light, y, width, band->factors, band->spreads)) {
    memcpy (corrected, luma, width);
    memset (band->slack, 0, width);
    return has_chroma ? band->chroma : NULL;
  }
  if (self->light.has_edges)
    codebook_choose_factors (&self->light, &self->planes, y, band->factors);
  self->code->correct_luma (luma, band->factors, width, corrected);
  self->code->find_slack (luma, band->spreads, width, band->slack);
  for (uint32_t x = 0; self->light.has_edges && x < width; x++)
    band->slack[x] = (uint8_t)ccl_codebook_edge_slack (band->slack[x], band->factors[x]);
  if (!has_chroma)
    return NULL;
  self->code->correct_chroma (band->chroma, band->factors, width, band->corrected_chroma);
  return band->corrected_chroma;
}

/* Extends what the update found in a row, and notes what there is. */
static void
finish_row (Codebooks *self, const CodebookRow *row, uint32_t y)
{
  const size_t n = self->n_words;
  uint64_t strong = 0, recurrent = 0, classes = 0;

  extend_row (row->foreground, n, row->width);
  extend_row (row->shadow, n, row->width);
  extend_row (row->strong, n, row->width);
  extend_row (row->recurrent, n, row->width);
  for (size_t i = 0; i < n; i++) {
    strong |= row->strong[i];
    recurrent |= row->recurrent[i];
    classes |= row->foreground[i] | row->shadow[i];
  }
  self->marks[y] = (strong ? ROW_HAS_STRONG : 0) | (recurrent ? ROW_HAS_RECURRENT : 0) |
                   (classes ? ROW_HAS_CLASSES : 0);
}

/* Counts the pairs of a row that tell white noise. */
static void
count_pairs (CodebookBand *band, const CodebookRow *row)
{
  for (uint32_t x = 0; x + 1 < row->width; x += 2) {
    const bool first = row->luma[x] > row->background[x];
    const bool second = row->luma[x + 1] > row->background[x + 1];
    const bool counts = (row->strong[x / 64] >> x % 64 & 3) == 0;
    band->pairs += counts;
    band->alike += counts && first == second;
  }
}

/* Updates the second model where row y completes a row of places. */
static void
update_places (Codebooks *self, CodebookBand *band, uint32_t y, const uint16_t *chroma)
{
  const uint32_t width = self->plan.width;
  const bool is_last = y + 1 == self->plan.height;
  uint8_t *luma = luma_of_row (self, band, y);

  if (width % 2 == 1)
    luma[width] = luma[width - 1];
  if (y % 2 == 0 && chroma)
    memcpy (band->place_chroma, chroma, width * sizeof *chroma);
  if (y % 2 == 0 && !is_last)
    return;
  const size_t upper = y / 2 * 2 * self->range_stride, lower = y * self->range_stride;
  const uint8_t *ranges[] = {
      self->low + upper, self->low + lower, self->high + upper, self->high + lower};
  sampled_places_update_row (&self->sampled, y / 2, luma_of_row (self, band, y / 2 * 2), luma,
      band->place_chroma, self->sway > 0 ? ranges : NULL);
}

static void
update_row (Codebooks *self, CodebookBand *band, uint32_t y)
{
  const uint32_t width = self->plan.width;
  const CodebookRow row = {
      .luma = luma_of_row (self, band, y),
      .slack = band->slack,
      .chroma = correct_row (self, band, y),
      .width = width,
      .frame = &self->state,
      .words = self->words + y * self->n_blocks,
      .distance = self->n_blocks * self->plan.height,
      .n_words = self->n_words_of_blocks + y * self->n_blocks,
      .rests = self->rests + y * (self->stride / CODEBOOK_LEAST_LANES),
      .margins = self->margins + y * self->stride,
      .places = self->places + y * self->stride,
      .in_object = row_of (&self->in_object, y),
      .is_dynamic = row_of (&self->is_dynamic, y),
      .strong = row_of (&self->strong, y),
      .foreground = row_of (&self->foreground, y),
      .shadow = row_of (&self->shadow, y),
      .recurrent = row_of (&self->recurrent, y),
      .settled = row_of (&self->settled, y),
      .background = self->background + y * self->stride,
      .counts = &band->counts,
  };
  self->code->count_extremes (
      self->planes.frame + y * self->planes.frame_stride, width, &band->dark, &band->bright);
  self->code->codebook_row (&row);
  if (self->options->shadows == CUDACCL_SHADOWS_KEEP) {
    for (size_t i = 0; i < self->n_words; i++) {
      row.foreground[i] |= row.shadow[i];
      row.shadow[i] = 0;
    }
  }
  if (self->sway > 0)
    sway_clear_row (&row, self->low + y * self->range_stride, self->high + y * self->range_stride);
  if (y % CUDACCL_CODEBOOK_WHITE_ROWS == 0)
    count_pairs (band, &row);
  finish_row (self, &row, y);
  update_places (self, band, y, row.chroma);
}

/* Finds the luma that a shaking camera may bring to each pixel from around it. */
static void
find_ranges (void *data, uint32_t index)
{
  const Codebooks *self = data;
  const CodebookBand *band = &self->bands[index];
  const SwayPlane plane = {
      self->background, self->plan.width, self->plan.height, self->stride, self->sway};
  for (uint32_t y = band->first_row; y < band->end_row; y++)
    sway_find_range (&plane, y, band->spread, self->low + y * self->range_stride,
        self->high + y * self->range_stride);
}

static void
update_band (void *data, uint32_t index)
{
  Codebooks *self = data;
  CodebookBand *band = &self->bands[index];

  memset (&band->counts, 0, sizeof band->counts);
  band->dark = band->bright = band->pairs = band->alike = 0;
  for (uint32_t y = band->first_row; y < band->end_row; y++)
    update_row (self, band, y);
}

/* Adds the pixels of a row to its cells: 16 columns at a time, which no cell's border divides. */
static void
count_row (const Codebooks *self, const uint64_t *row, uint32_t *cells)
{
  const uint32_t width = self->plan.width;
  for (uint32_t x = 0; x < width; x += 16) {
    if (row[x / 64] >> x % 64 == 0) { /* often */
      x = x / 64 * 64 + 48;
      continue;
    }
    const uint32_t inside = width - x < 16 ? (1u << (width - x)) - 1 : UINT16_MAX;
    cells[x >> self->light.grid.shift] +=
        (uint32_t)__builtin_popcount ((uint32_t)(row[x / 64] >> x % 64) & inside);
  }
}

static void
count_cells (void *data, uint32_t index)
{
  Codebooks *self = data;
  const CclLightGrid *grid = &self->light.grid;

  for (uint32_t row = index; row < grid->rows; row += self->n_bands) {
    uint32_t *lost = self->lost + (size_t)row * grid->columns;
    uint32_t *settled = self->settled_cells + (size_t)row * grid->columns;
    const uint32_t top = row << grid->shift, end = top + (1u << grid->shift);
    memset (lost, 0, grid->columns * sizeof *lost);
    memset (settled, 0, grid->columns * sizeof *settled);
    for (uint32_t y = top; y < end && y < self->plan.height; y++) {
      count_row (self, row_of (&self->strong, y), lost);
      count_row (self, row_of (&self->settled, y), settled);
    }
  }
}

/* The length of a cell along a side of the frame that has `size` pixels. */
static uint32_t
cell_size (const CclLightGrid *grid, uint32_t cell, uint32_t size)
{
  const uint32_t side = 1u << grid->shift, rest = size - (cell << grid->shift);
  return rest < side ? rest : side;
}

static void
judge_scene (Codebooks *self)
{
  const CclLightGrid *grid = &self->light.grid;
  const uint32_t width = self->plan.width, height = self->plan.height;
  CclCodebookSums sums = {.cells = grid->columns * grid->rows, .pixels = width * height};

  for (uint32_t i = 0; i < sums.cells; i++) {
    const uint32_t n =
        cell_size (grid, i % grid->columns, width) * cell_size (grid, i / grid->columns, height);
    sums.lost += ccl_codebook_fills_cell (self->lost[i], n);
    sums.settled += ccl_codebook_fills_cell (self->settled_cells[i], n);
  }
  for (uint32_t i = 0; i < self->n_bands; i++) {
    const CodebookBand *band = &self->bands[i];
    sums.dark += band->dark;
    sums.bright += band->bright;
    sums.model_dark += band->counts.model_dark;
    sums.model_bright += band->counts.model_bright;
    sums.chroma += band->counts.chroma;
    sums.model_chroma += band->counts.model_chroma;
  }
  ccl_codebook_judge_scene (&self->scene, &sums, self->state.time.elapsed);
}

static void
take_noise (Codebooks *self)
{
  uint32_t pairs = 0, alike = 0, dark = 0, counted = 0, all[CUDACCL_CODEBOOK_DISTANCES] = {0};
  for (uint32_t i = 0; i < self->n_bands; i++) {
    pairs += self->bands[i].pairs;
    alike += self->bands[i].alike;
  }
  self->is_white = ccl_codebook_is_white (pairs, alike);
  for (uint32_t level = 0; level < CUDACCL_CODEBOOK_LEVELS; level++) {
    uint32_t counts[CUDACCL_CODEBOOK_DISTANCES] = {0};
    for (uint32_t i = 0; i < self->n_bands; i++) {
      const CodebookCounts *of_band = &self->bands[i].counts;
      for (uint32_t k = 0; k < CUDACCL_CODEBOOK_DISTANCES; k++) {
        const uint32_t *noise = of_band->noise[level * CUDACCL_CODEBOOK_DISTANCES + k];
        for (uint32_t j = 0; j < CODEBOOK_HISTOGRAMS; j++)
          counts[k] += noise[j];
      }
    }
    const CclCodebookLevel known = ccl_codebook_count_level (
        self->levels[level], level, counts, self->is_dark, self->state.time.elapsed);
    self->levels[level] = known;
    self->noise[level] = (uint8_t)known.median;
    for (uint32_t k = 0; k < CUDACCL_CODEBOOK_DISTANCES; k++) {
      all[k] += counts[k];
      counted += counts[k];
      dark += level < CUDACCL_CODEBOOK_DARK_LEVELS ? counts[k] : 0;
    }
  }
  self->all_levels =
      ccl_faint_next (self->all_levels, ccl_codebook_quantile (all, 12), self->state.time.elapsed);
  self->is_dark = ccl_codebook_is_dark (dark, counted);
}

/* Sets the tolerances of the frame from what is known of the noise. */
static void
set_tolerances (Codebooks *self, uint32_t sensitivity)
{
  self->state.is_dark = self->sampled.is_dark = self->is_dark;
  for (uint32_t level = 0; level < CUDACCL_CODEBOOK_LEVELS; level++) {
    const CclCodebookLevel known = self->levels[level];
    self->state.tolerances[level] = ccl_codebook_tolerance (level, known, sensitivity);
    self->state.weak_tolerances[level] = ccl_codebook_weak_tolerance (level, known, sensitivity);
    self->state.noise_tolerances[level] =
        ccl_codebook_explained (level, known, self->is_white, sensitivity);
  }
}

static CclStatus
codebook_reset (CpuForeground *foreground, CclError *error)
{
  Codebooks *self = foreground->model;
  self->state = (CclCodebookFrame){0};
  memset (self->levels, 0, sizeof self->levels);
  self->all_levels = (CclCodebookLevel){0};
  memset (self->noise, 0, sizeof self->noise);
  self->is_white = self->is_dark = false;
  self->scene = (CclCodebookScene){0};
  self->clock = (CclCodebookClock){0};
  self->sampled.clock = 0;
  self->light.has_rows = false;
  /* Discarded pages read as zeros. */
  if (madvise (self->model_mapping.memory, self->model_mapping.size, MADV_DONTNEED) != 0)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "the background model cannot be cleared");
  return CUDACCL_OK;
}

/* What the rows of a window have, together. */
static uint32_t
marks_of_window (const Codebooks *self, uint32_t y)
{
  const uint32_t last = y + 2 < self->plan.height ? y + 2 : self->plan.height - 1;
  uint32_t marks = 0;
  for (uint32_t i = y > 2 ? y - 2 : 0; i <= last; i++)
    marks |= self->marks[i];
  return marks;
}

static void
filter_window (Codebooks *self, const BitRows *from, uint32_t y, Filter filter, uint64_t *scratch,
    uint64_t *to)
{
  const uint64_t *rows[5];
  find_window (from, self->plan.height, y, true, rows);
  self->code->filter_row (filter, rows, self->n_words, scratch, to);
}

/* Pixels that have had objects near them, and those that are dynamic. */
static void
filter_states (Codebooks *self, uint32_t y, uint32_t marks, uint64_t *scratch)
{
  const size_t n = self->n_words;
  uint64_t *in_object = row_of (&self->in_object, y), *is_dynamic = row_of (&self->is_dynamic, y);
  const uint64_t *recurrent = row_of (&self->recurrent, y);

  if (marks & ROW_HAS_RECURRENT) {
    filter_window (self, &self->recurrent, y, FILTER_MEDIAN_5, scratch, is_dynamic);
    for (size_t i = 0; i < n; i++)
      is_dynamic[i] |= recurrent[i];
  } else {
    memset (is_dynamic, 0, n * sizeof *is_dynamic);
  }
  if (marks & ROW_HAS_STRONG)
    filter_window (self, &self->strong, y, FILTER_STRONG_5, scratch, in_object);
  else
    memset (in_object, 0, n * sizeof *in_object);
}

/* Finds the objects of row y, and their shadows unless these are kept. */
static void
filter_row (Codebooks *self, uint32_t y, uint64_t *scratch, uint64_t *foreground, uint64_t *shadow)
{
  const uint32_t marks = marks_of_window (self, y);
  const size_t n = self->n_words;
  const uint64_t *rows[5], *shadow_rows[5];
  uint64_t *in_object = row_of (&self->in_object, y);

  filter_states (self, y, marks, scratch);
  if (self->scene.is_lost || self->hides || !(marks & ROW_HAS_STRONG) ||
      !(marks & ROW_HAS_CLASSES)) {
    memset (foreground, 0, n * sizeof *foreground);
    memset (shadow, 0, n * sizeof *shadow);
    memset (in_object, 0, n * sizeof *in_object);
    return;
  }
  find_window (&self->foreground, self->plan.height, y, true, rows);
  find_window (&self->shadow, self->plan.height, y, true, shadow_rows);
  self->code->median_of_classes (true, rows, shadow_rows, n, scratch, foreground, shadow);
  for (size_t i = 0; i < n; i++) {
    foreground[i] &= in_object[i];
    shadow[i] &= in_object[i];
    in_object[i] = foreground[i];
  }
}

/* When all rows are filtered: the pixels of objects, and those of them that have changed since the
 * frame before. */
static void
codebook_end (CpuForeground *foreground)
{
  const Codebooks *self = foreground->model;
  foreground->base.n_foreground = foreground->base.n_changed = 0;
  for (uint32_t y = 0; y < self->plan.height; y++) {
    foreground->base.n_foreground += self->n_foreground[y];
    foreground->base.n_changed += self->n_changed[y];
  }
}

static void
look_around (void *data, uint32_t index)
{
  Codebooks *self = data;
  const CodebookBand *band = &self->bands[index];
  for (uint32_t y = band->first_row; y < band->end_row; y += 2)
    sampled_places_look_around (&self->sampled, y / 2, band->scratch);
}

/* Counts the candidates of a row. Those have changed that are not what they were in the frame
 * before, and those that the codebook does not know for objects. */
static void
count_objects (Codebooks *self, uint32_t y)
{
  const uint64_t *strong = row_of (&self->strong, y), *settled = row_of (&self->settled, y);
  const uint64_t *objects = row_of (&self->in_object, y);
  const uint64_t *candidates = row_of (&self->sampled.candidates, y);

  self->n_foreground[y] = self->n_changed[y] = 0;
  for (size_t i = 0; i < self->n_words; i++) {
    const uint64_t found = candidates[i] | sampled_places_faint (&self->sampled, y, i);
    if (found == 0)
      continue;
    self->n_foreground[y] += (uint32_t)__builtin_popcountll (found);
    self->n_changed[y] +=
        (uint32_t)__builtin_popcountll (found & ((strong[i] & ~settled[i]) | ~objects[i]));
  }
}

static void
find_candidates (void *data, uint32_t index)
{
  Codebooks *self = data;
  const CodebookBand *band = &self->bands[index];
  for (uint32_t y = band->first_row; y < band->end_row; y++) {
    filter_row (self, y, band->scratch, row_of (&self->sampled.candidates, y),
        row_of (&self->sampled.shadows, y));
    if (!self->scene.is_lost && !self->hides)
      sampled_places_add_candidates (&self->sampled, y, row_of (&self->is_dynamic, y));
    sampled_places_compare (&self->sampled, y, self->planes.frame + y * self->planes.frame_stride,
        self->background + y * self->stride);
    count_objects (self, y);
  }
}

static bool
finds_faint (const Codebooks *self)
{
  return !self->scene.is_lost && !self->hides &&
         (!self->corrects || ccl_faint_is_even (self->light.least, self->light.most));
}

/* Updates the codebooks, and the second model that checks them, with a frame, finds its objects,
 * and makes the boxes that the camera takes. */
static CclStatus
codebook_begin (CpuForeground *foreground, CclError *error)
{
  Codebooks *self = foreground->model;
  CclForeground *base = &foreground->base;
  const CclFrame *frame = foreground->job.frame;
  const CclForegroundOptions *options = foreground->job.options;
  const bool begins = base->n_frames == 0;

  self->frame = frame;
  self->options = options;
  self->planes = (CodebookLuma){.frame = self->luma ? self->luma : frame->data,
      .model = self->background,
      .frame_stride = self->luma ? self->stride : frame->stride,
      .model_stride = self->stride,
      .width = self->plan.width,
      .height = self->plan.height};
  if (!options->light)
    self->scene = (CclCodebookScene){0};
  base->scene_change = self->scene.change;
  self->state.scene_changes = self->scene.change != CUDACCL_SCENE_UNCHANGED;
  self->state.time = ccl_codebook_advance (&self->clock, options->frame_duration,
      ccl_absorb_time (options->absorb_after, options->hold));
  set_tolerances (self, ccl_codebook_sensitivity (options->sensitivity));

  if (self->luma)
    workers_run (self->workers, narrow_band, self);
  self->corrects = options->light && !begins;
  self->hides = base->camera->hides;
  self->sway = begins ? 0 : ccl_camera_sway (base->camera);
  if (base->camera->takes_boxes)
    codebook_make_boxes (&self->planes, base->camera);
  const bool next_has_rows = self->corrects && follow_light (self);
  sampled_places_begin_frame (&self->sampled, options, begins || self->state.scene_changes,
      self->state.tolerances,
      ccl_faint_tolerance (self->all_levels,
          !self->is_dark && !self->light.has_rows && self->sway == 0,
          ccl_codebook_sensitivity (options->sensitivity)));
  if (self->sway > 0)
    workers_run (self->workers, find_ranges, self);
  workers_run (self->workers, update_band, self);
  self->light.has_rows = next_has_rows;
  if (options->light) {
    workers_run (self->workers, count_cells, self);
    judge_scene (self);
  }
  take_noise (self);
  self->sampled.finds_faint = finds_faint (self);
  workers_run (self->workers, look_around, self);
  workers_run (self->workers, find_candidates, self);
  sampled_places_connect (&self->sampled);
  return CUDACCL_OK;
}

static void
codebook_find_row (
    const CpuForeground *foreground, uint32_t band, uint32_t y, uint64_t *row, uint64_t *shadow)
{
  Codebooks *self = foreground->model;
  sampled_places_finish_row (&self->sampled, y, row, shadow);
}

static void
lay_out_band (Layout *layout, const Codebooks *self, CodebookBand *band)
{
  band->luma = lay_out (layout, 2 * self->stride, sizeof *band->luma);
  band->slack = lay_out (layout, self->stride, sizeof *band->slack);
  band->factors = lay_out (layout, self->stride, sizeof *band->factors);
  band->spreads = lay_out (layout, self->stride, sizeof *band->spreads);
  band->chroma = lay_out (layout, self->stride, sizeof *band->chroma);
  band->corrected_chroma = lay_out (layout, self->stride, sizeof *band->corrected_chroma);
  /* Places are updated in whole vectors. */
  band->place_chroma = lay_out (layout, 2 * self->sampled.stride, sizeof *band->place_chroma);
  uint64_t *scratch =
      lay_out (layout, FILTER_SCRATCH_ROWS * (self->n_words + 2), sizeof *band->scratch);
  band->scratch = scratch ? scratch + 1 : NULL;
  band->spread = lay_out (layout, self->stride + 2 * CUDACCL_CAMERA_MOST_SWAY, 1);
}

static void
lay_out_frame (Layout *layout, void *data)
{
  Codebooks *self = data;
  const size_t height = self->plan.height;
  const size_t n_cells = (size_t)self->light.grid.columns * self->light.grid.rows;
  const size_t n_rows = (size_t)self->light.grid.rows * CUDACCL_LIGHT_SAMPLES;

  self->light.cells = lay_out (layout, n_cells, sizeof *self->light.cells);
  self->light.factors = lay_out (layout, n_cells, sizeof *self->light.factors);
  self->light.ratios =
      lay_out (layout, n_rows * CODEBOOK_LIGHT_SAMPLES, sizeof *self->light.ratios);
  self->light.rows = lay_out (layout, n_rows, sizeof *self->light.rows);
  self->light.means = lay_out (layout, self->light.grid.rows, sizeof *self->light.means);
  self->light.sums = lay_out (layout, self->light.grid.rows, sizeof *self->light.sums);
  self->lost = lay_out (layout, n_cells, sizeof *self->lost);
  self->settled_cells = lay_out (layout, n_cells, sizeof *self->settled_cells);
  lay_out_rows (layout, self->n_words, height, &self->foreground);
  lay_out_rows (layout, self->n_words, height, &self->shadow);
  lay_out_rows (layout, self->n_words, height, &self->recurrent);
  lay_out_rows (layout, self->n_words, height, &self->settled);
  self->marks = lay_out (layout, height, sizeof *self->marks);
  self->n_foreground = lay_out (layout, height, sizeof *self->n_foreground);
  self->n_changed = lay_out (layout, height, sizeof *self->n_changed);
  self->low = lay_out (layout, self->range_stride * height, 1);
  self->high = lay_out (layout, self->range_stride * height, 1);
  if (self->plan.format != CUDACCL_PIXEL_FORMAT_8)
    self->luma = lay_out (layout, self->stride * height, sizeof *self->luma);
  for (uint32_t i = 0; i < self->n_bands; i++)
    lay_out_band (layout, self, &self->bands[i]);
  sampled_places_lay_out_frame (layout, &self->sampled);
}

static void
lay_out_model (Layout *layout, void *data)
{
  Codebooks *self = data;
  const size_t height = self->plan.height;

  self->words =
      lay_out (layout, CUDACCL_CODEBOOK_WORDS * self->n_blocks * height, sizeof *self->words);
  self->n_words_of_blocks = lay_out (layout, self->n_blocks * height, 1);
  self->rests = lay_out (layout, self->stride / CODEBOOK_LEAST_LANES * height, sizeof *self->rests);
  self->places = lay_out (layout, self->stride * height, sizeof *self->places);
  self->margins = lay_out (layout, self->stride * height, sizeof *self->margins);
  self->background = lay_out (layout, self->stride * height, sizeof *self->background);
  lay_out_rows (layout, self->n_words, height, &self->strong);
  lay_out_rows (layout, self->n_words, height, &self->in_object);
  lay_out_rows (layout, self->n_words, height, &self->is_dynamic);
  sampled_places_lay_out_model (layout, &self->sampled);
}

static bool
codebook_prepare (CpuForeground *foreground)
{
  const CclForegroundPlan *plan = &foreground->base.plan;
  const PixelCode *code = foreground->code;
  Codebooks *self = foreground->model = calloc (1, sizeof *self);
  if (!self)
    return false;
  self->plan = *plan;
  self->plan.roi_mask = NULL;
  self->code = code;
  self->workers = foreground->workers;
  self->n_bands = foreground->n_bands;
  self->n_words = foreground->n_words;
  self->stride = 64 * self->n_words;
  self->range_stride = self->stride + 1;
  self->n_blocks = divide_up (plan->width, CUDACCL_CODEBOOK_LANES);
  self->light.grid = ccl_light_grid (plan->width, plan->height);
  self->light.n_rows = ((plan->height - 1) >> (self->light.grid.shift - 4)) + 1;
  codebook_fill_logs (self->logs);
  sampled_places_init (&self->sampled, code, plan->width, plan->height, plan->has_chroma);
  self->bands = calloc (self->n_bands, sizeof *self->bands);
  for (uint32_t i = 0; i < self->n_bands && self->bands; i++) {
    self->bands[i].first_row = foreground->bands[i].first_row;
    self->bands[i].end_row = foreground->bands[i].end_row;
  }
  if (!self->bands || !mapping_lay_out (&self->rows_mapping, lay_out_frame, self) ||
      !mapping_lay_out (&self->model_mapping, lay_out_model, self))
    return false;
  /* The words of a block are on many lines of a page. Huge pages, where the system has them, save
   * translations of addresses. */
  madvise (self->model_mapping.memory, self->model_mapping.size, MADV_HUGEPAGE);
  return true;
}

static void
codebook_free (void *model)
{
  Codebooks *self = model;
  mapping_unmap (&self->rows_mapping);
  mapping_unmap (&self->model_mapping);
  free (self->bands);
  free (self);
}

const CpuMethod cpu_codebook = {
    .prepare = codebook_prepare,
    .reset = codebook_reset,
    .begin = codebook_begin,
    .find_row = codebook_find_row,
    .end = codebook_end,
    .free = codebook_free,
};
