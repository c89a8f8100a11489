/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sampled-places.h"
#include "core/base/divide-up.h"

#include <string.h>

void
sampled_places_init (
    SampledPlaces *self, const PixelCode *code, uint32_t width, uint32_t height, bool has_chroma)
{
  self->width = width;
  self->height = height;
  self->has_chroma = has_chroma;
  self->code = code;
  self->grid = ccl_sampled_grid (width, height);
  self->n_words = divide_up (self->grid.columns, 64);
  self->n_pixel_words = divide_up (width, 64);
  self->stride = 64 * self->n_words;
}

void
sampled_places_lay_out_model (Layout *layout, SampledPlaces *self)
{
  const size_t rows = self->grid.rows;
  self->samples = lay_out (layout, self->n_words * rows, sizeof *self->samples);
  self->restlessness = lay_out (layout, self->stride * rows, 1);
  lay_out_rows (layout, self->n_words, rows, &self->different);
  lay_out_rows (layout, self->n_words, rows, &self->restless);
  lay_out_rows (layout, self->n_pixel_words, self->height, &self->found);
  self->uncovered = lay_out (layout, CUDACCL_SAMPLED_CELLS, sizeof *self->uncovered);
  self->uncovered_for =
      lay_out (layout, CUDACCL_SAMPLED_CELLS * CUDACCL_SAMPLED_CELLS, sizeof *self->uncovered_for);
}

void
sampled_places_lay_out_frame (Layout *layout, SampledPlaces *self)
{
  lay_out_rows (layout, self->n_words, self->grid.rows, &self->unlike);
  lay_out_rows (layout, self->n_words, self->grid.rows, &self->around);
  lay_out_rows (layout, self->n_words, self->grid.rows, &self->faint);
  lay_out_rows (layout, self->n_pixel_words, self->height, &self->candidates);
  lay_out_rows (layout, self->n_pixel_words, self->height, &self->shadows);
  lay_out_rows (layout, self->n_pixel_words, self->height, &self->agrees);
  lay_out_rows (layout, self->n_pixel_words, self->height, &self->differs);
  lay_out_rows (layout, self->n_pixel_words, self->height, &self->ended);
  lay_out_rows (layout, self->n_pixel_words, self->height, &self->begun);
  self->counts = lay_out (layout, CUDACCL_SAMPLED_CELLS, sizeof *self->counts);
  self->kept = lay_out (layout, CUDACCL_SAMPLED_CELLS * self->n_pixel_words, sizeof *self->kept);
  self->kept_faint =
      lay_out (layout, CUDACCL_SAMPLED_CELLS * self->n_pixel_words, sizeof *self->kept_faint);
}

void
sampled_places_begin_frame (SampledPlaces *self, const CclForegroundOptions *options, bool begins,
    const uint8_t tolerances[CUDACCL_CODEBOOK_LEVELS], uint8_t faint_tolerance)
{
  for (uint32_t i = 0; i < CUDACCL_CODEBOOK_LEVELS; i++)
    self->tolerances[i] = ccl_sampled_tolerance (tolerances[i], tolerances[i > 0 ? i - 1 : 0],
        ccl_codebook_sensitivity (options->sensitivity));
  self->faint_tolerance = faint_tolerance;
  self->begins = begins;
  self->period = ccl_sampled_period (ccl_absorb_time (options->absorb_after, options->hold));
  self->finds_light = options->light && options->shadows != CUDACCL_SHADOWS_KEEP;
  self->time = ccl_sampled_advance (&self->clock, options->frame_duration);
}

void
sampled_places_update_row (SampledPlaces *self, uint32_t row, const uint8_t *upper,
    const uint8_t *lower, const uint16_t *chroma, const uint8_t *const ranges[4])
{
  const SampledRow of_row = {
      .luma = {upper, lower},
      .chroma = self->has_chroma ? chroma : NULL,
      .ranges = ranges,
      .y = row,
      .columns = self->grid.columns,
      .time = self->time,
      .begins = self->begins,
      .period = self->period,
      .tolerances = self->tolerances,
      .faint = self->faint_tolerance,
      .found = row_of (&self->found, 2 * row),
      .samples = self->samples + row * self->n_words,
      .restlessness = self->restlessness + row * self->stride,
      .different = row_of (&self->different, row),
      .restless = row_of (&self->restless, row),
      .unlike = row_of (&self->unlike, row),
  };
  self->code->sampled_row (&of_row);
  extend_row (of_row.different, self->n_words, self->grid.columns);
  extend_row (of_row.unlike, self->n_words, self->grid.columns);
}

/* The places of a row around which most have a bit. */
static void
find_majority (
    const SampledPlaces *self, const BitRows *bits, uint32_t row, uint64_t *scratch, uint64_t *to)
{
  const uint64_t *rows[5];
  uint64_t any = 0;

  find_window (bits, self->grid.rows, row, true, rows);
  for (int i = 0; i < 5; i++)
    for (size_t k = 0; k < self->n_words; k++)
      any |= rows[i][k];
  if (any)
    self->code->filter_row (FILTER_MEDIAN_5, rows, self->n_words, scratch, to);
  else
    memset (to, 0, self->n_words * sizeof *to);
}

void
sampled_places_look_around (SampledPlaces *self, uint32_t row, uint64_t *scratch)
{
  find_majority (self, &self->different, row, scratch, row_of (&self->around, row));
  find_majority (self, &self->unlike, row, scratch, row_of (&self->faint, row));
}

/* Each of the lower 32 bits twice. */
static uint64_t
doubled_bits (uint64_t bits)
{
  bits = (bits | bits << 16) & UINT64_C (0x0000ffff0000ffff);
  bits = (bits | bits << 8) & UINT64_C (0x00ff00ff00ff00ff);
  bits = (bits | bits << 4) & UINT64_C (0x0f0f0f0f0f0f0f0f);
  bits = (bits | bits << 2) & UINT64_C (0x3333333333333333);
  bits = (bits | bits << 1) & UINT64_C (0x5555555555555555);
  return bits | bits << 1;
}

/* The places of 64 pixels. */
static uint64_t
pixels_of_places (const uint64_t *places, size_t word)
{
  return doubled_bits (places[word / 2] >> 32 * (word % 2) & UINT32_MAX);
}

/* The bits of a word of 64 pixels that are inside the frame. */
static uint64_t
inside_frame (const SampledPlaces *self, size_t word)
{
  const uint32_t n = self->width - 64 * (uint32_t)word;
  return n < 64 ? (UINT64_C (1) << n) - 1 : UINT64_MAX;
}

void
sampled_places_add_candidates (SampledPlaces *self, uint32_t y, const uint64_t *dynamic)
{
  const uint64_t *around = row_of (&self->around, y / 2);
  const uint64_t *restless = row_of (&self->restless, y / 2);
  uint64_t *candidates = row_of (&self->candidates, y), *shadows = row_of (&self->shadows, y);

  for (size_t i = 0; i < self->n_pixel_words; i++) {
    if (dynamic[i])
      candidates[i] |= dynamic[i] & pixels_of_places (around, i) & ~pixels_of_places (restless, i);
    candidates[i] &= inside_frame (self, i);
    shadows[i] &= ~candidates[i];
  }
}

uint64_t
sampled_places_faint (const SampledPlaces *self, uint32_t y, size_t word)
{
  if (!self->finds_faint)
    return 0;
  return pixels_of_places (row_of (&self->faint, y / 2), word) & inside_frame (self, word);
}

/* Compares the pairs whose first pixels are set in a word. */
static void
compare_pairs (uint64_t firsts, const uint8_t *frame, const uint8_t *model, bool is_dark,
    uint64_t *agrees, uint64_t *differs)
{
  *agrees = *differs = 0;
  for (; firsts; firsts &= firsts - 1) {
    const int i = __builtin_ctzll (firsts), k = i + CUDACCL_TEXTURE_DISTANCE;
    const CclTexture texture =
        ccl_texture_compare (frame[i], frame[k], model[i], model[k], is_dark);
    *agrees |= (uint64_t)(texture == CCL_TEXTURE_AGREES) << i;
    *differs |= (uint64_t)(texture == CCL_TEXTURE_DIFFERS) << i;
  }
}

/* The same of outlines. */
static void
compare_outlines (
    uint64_t firsts, const uint8_t *frame, const uint8_t *model, uint64_t *ended, uint64_t *begun)
{
  *ended = *begun = 0;
  for (; firsts; firsts &= firsts - 1) {
    const int i = __builtin_ctzll (firsts), k = i + CUDACCL_TEXTURE_DISTANCE;
    const CclOutline outline = ccl_outline_compare (frame[i], frame[k], model[i], model[k]);
    *ended |= (uint64_t)(outline == CCL_OUTLINE_UNCOVERED) << i;
    *begun |= (uint64_t)(outline == CCL_OUTLINE_COVERED) << i;
  }
}

void
sampled_places_compare (SampledPlaces *self, uint32_t y, const uint8_t *frame, const uint8_t *model)
{
  const uint64_t *candidates = row_of (&self->candidates, y);
  for (size_t i = 0; i < self->n_pixel_words; i++)
    compare_outlines (ccl_outline_pairs (candidates[i], inside_frame (self, i)), frame + 64 * i,
        model + 64 * i, row_of (&self->ended, y) + i, row_of (&self->begun, y) + i);
  for (size_t i = 0; self->finds_light && i < self->n_pixel_words; i++)
    compare_pairs (
        candidates[i] & candidates[i] >> CUDACCL_TEXTURE_DISTANCE & CUDACCL_TEXTURE_FIRST,
        frame + 64 * i, model + 64 * i, self->is_dark, row_of (&self->agrees, y) + i,
        row_of (&self->differs, y) + i);
}

/* Adds the candidates of a word of row y. */
static void
count_word (const SampledPlaces *self, uint32_t y, size_t word, SampledCellCounts *counts)
{
  const uint64_t candidates = row_of (&self->candidates, y)[word];
  const uint64_t around = pixels_of_places (row_of (&self->around, y / 2), word);
  const uint64_t agrees = row_of (&self->agrees, y)[word];
  const uint64_t differs = row_of (&self->differs, y)[word];
  const uint64_t ended = row_of (&self->ended, y)[word], begun = row_of (&self->begun, y)[word];
  const uint32_t shift = self->grid.shift, n = shift < 6 ? 1u << shift : 64;
  const uint64_t mask = n < 64 ? (UINT64_C (1) << n) - 1 : UINT64_MAX;
  for (uint32_t x = 0; x < 64; x += n) {
    const uint32_t cell = (64 * (uint32_t)word + x) >> shift;
    if (((candidates | ended | begun) >> x & mask) == 0)
      continue;
    counts->candidates |= (uint64_t)((candidates >> x & mask) != 0) << cell;
    counts->confirming[cell] += (uint32_t)__builtin_popcountll (candidates & around & mask << x);
    counts->outlines[cell].uncovered += (uint32_t)__builtin_popcountll (ended & mask << x);
    counts->outlines[cell].covered += (uint32_t)__builtin_popcountll (begun & mask << x);
    if (!self->finds_light)
      continue;
    counts->pairs[cell].agreeing += (uint32_t)__builtin_popcountll (agrees & mask << x);
    counts->pairs[cell].differing += (uint32_t)__builtin_popcountll (differs & mask << x);
  }
}

/* Adds the faint pixels of a word of row y. */
static void
count_faint_word (const SampledPlaces *self, uint32_t y, size_t word, SampledCellCounts *counts)
{
  const uint32_t shift = self->grid.shift, n = shift < 6 ? 1u << shift : 64;
  const uint64_t mask = n < 64 ? (UINT64_C (1) << n) - 1 : UINT64_MAX;
  const uint64_t faint = sampled_places_faint (self, y, word);
  for (uint32_t x = 0; faint && x < 64; x += n)
    counts->faint[(64 * (uint32_t)word + x) >> shift] +=
        (uint32_t)__builtin_popcountll (faint & mask << x);
}

/* Counts a row of cells. Returns those that are confirmed. */
static uint64_t
count_cells_of_row (const SampledPlaces *self, uint32_t row, SampledCellCounts *counts)
{
  const uint32_t top = row << self->grid.shift, end = top + (1u << self->grid.shift);
  uint64_t confirmed = 0;

  *counts = (SampledCellCounts){0};
  for (uint32_t y = top; y < end && y < self->height; y++) {
    for (size_t i = 0; i < self->n_pixel_words; i++) {
      if (row_of (&self->candidates, y)[i])
        count_word (self, y, i, counts);
      count_faint_word (self, y, i, counts);
    }
  }
  for (uint32_t i = 0; counts->candidates && i < CUDACCL_SAMPLED_CELLS; i++)
    confirmed |= (uint64_t)(counts->confirming[i] >= CUDACCL_SAMPLED_CONFIRMING) << i;
  return confirmed;
}

/* The class of the pairs of a cell and of the cells around it. */
static CclTexture
texture_of_cell (const SampledCellCounts *rows, uint32_t n_rows, uint32_t column, uint32_t row)
{
  const uint32_t top = row > 0 ? row - 1 : 0, left = column > 0 ? column - 1 : 0;
  CclTexturePairs around = {0};
  for (uint32_t y = top; y <= row + 1 && y < n_rows; y++) {
    for (uint32_t x = left; x <= column + 1 && x < CUDACCL_SAMPLED_CELLS; x++) {
      around.agreeing += rows[y].pairs[x].agreeing;
      around.differing += rows[y].pairs[x].differing;
    }
  }
  return ccl_texture_of_cell (rows[row].pairs[column], around);
}

/* Adds to the kept cells those that are connected with them. */
static void
connect_cells (const CclSampledCells candidates, CclSampledCells kept)
{
  for (bool changes = true; changes;) {
    changes = false;
    for (uint32_t i = 0; i < CUDACCL_SAMPLED_CELLS; i++) {
      const uint64_t reached = ccl_sampled_reached (i > 0 ? kept[i - 1] : 0, kept[i],
          i + 1 < CUDACCL_SAMPLED_CELLS ? kept[i + 1] : 0, candidates[i]);
      changes |= reached != kept[i];
      kept[i] = reached;
    }
  }
}

/* Removes lit cells beside those that are neither lit nor unknown. */
static void
remove_sides_of_objects (
    const CclSampledCells candidates, const CclSampledCells unknown, CclSampledCells lit)
{
  uint64_t above = 0, own = candidates[0] & ~lit[0] & ~unknown[0];
  for (uint32_t i = 0; i < CUDACCL_SAMPLED_CELLS; i++) {
    const uint32_t next = i + 1;
    const uint64_t below =
        next < CUDACCL_SAMPLED_CELLS ? candidates[next] & ~lit[next] & ~unknown[next] : 0;
    lit[i] = ccl_sampled_lit (lit[i], above, own, below);
    above = own;
    own = below;
  }
}

/* Takes cells that are lit away from those with candidates. */
static void
remove_lit_cells (const SampledCellCounts *rows, uint32_t n_rows, CclSampledCells candidates)
{
  CclSampledCells lit = {0}, unknown = {0};
  for (uint32_t row = 0; row < n_rows; row++) {
    for (uint64_t rest = candidates[row]; rest; rest &= rest - 1) {
      const uint32_t column = (uint32_t)__builtin_ctzll (rest);
      const CclTexture texture = texture_of_cell (rows, n_rows, column, row);
      lit[row] |= (uint64_t)(texture == CCL_TEXTURE_AGREES) << column;
      unknown[row] |= (uint64_t)(texture == CCL_TEXTURE_UNKNOWN) << column;
    }
  }
  remove_sides_of_objects (candidates, unknown, lit);
  connect_cells (unknown, lit);
  for (uint32_t row = 0; row < n_rows; row++)
    candidates[row] &= ~lit[row];
}

/* The class of the outlines of a cell and of the cells around it. */
static CclOutline
outline_of_cell (const SampledCellCounts *rows, uint32_t n_rows, uint32_t column, uint32_t row)
{
  const uint32_t top = row > 0 ? row - 1 : 0, left = column > 0 ? column - 1 : 0;
  CclOutlinePairs around = {0};
  for (uint32_t y = top; y <= row + 1 && y < n_rows; y++) {
    for (uint32_t x = left; x <= column + 1 && x < CUDACCL_SAMPLED_CELLS; x++) {
      around.uncovered += rows[y].outlines[x].uncovered;
      around.covered += rows[y].outlines[x].covered;
    }
  }
  return ccl_outline_of_cell (around);
}

/* Finds the cells that are connected with an uncovered one and not with a covered one. */
static void
find_uncovered_cells (const SampledCellCounts *rows, uint32_t n_rows,
    const CclSampledCells candidates, CclSampledCells uncovered)
{
  CclSampledCells covered = {0};
  for (uint32_t row = 0; row < n_rows; row++) {
    for (uint64_t rest = candidates[row]; rest; rest &= rest - 1) {
      const uint32_t column = (uint32_t)__builtin_ctzll (rest);
      const CclOutline outline = outline_of_cell (rows, n_rows, column, row);
      uncovered[row] |= (uint64_t)(outline == CCL_OUTLINE_UNCOVERED) << column;
      covered[row] |= (uint64_t)(outline == CCL_OUTLINE_COVERED) << column;
    }
  }
  connect_cells (candidates, covered);
  connect_cells (candidates, uncovered);
  for (uint32_t row = 0; row < n_rows; row++)
    uncovered[row] &= ~covered[row];
}

/* Takes cells that have been uncovered for long enough away from those with candidates. */
static void
remove_uncovered_cells (SampledPlaces *self, uint32_t n_rows, CclSampledCells candidates)
{
  CclSampledCells uncovered = {0};
  find_uncovered_cells (self->counts, n_rows, candidates, uncovered);
  for (uint32_t row = 0; row < n_rows; row++) {
    for (uint64_t rest = uncovered[row]; rest; rest &= rest - 1) {
      const uint32_t column = (uint32_t)__builtin_ctzll (rest);
      uint16_t *age = &self->uncovered_for[row * CUDACCL_SAMPLED_CELLS + column];
      *age = ccl_uncovered_age (*age, self->uncovered[row] >> column & 1, self->time.unhurried);
      if (*age >= CUDACCL_UNCOVERED_AGE)
        candidates[row] &= ~(UINT64_C (1) << column);
    }
    self->uncovered[row] = uncovered[row];
  }
}

/* Finds the faint cells that are not connected with those that have candidates. */
static void
find_faint_cells (const SampledPlaces *self, uint32_t n_rows, const CclSampledCells candidates,
    CclSampledCells faint)
{
  CclSampledCells both = {0}, reached = {0};
  for (uint32_t row = 0; row < n_rows; row++) {
    for (uint32_t i = 0; i < CUDACCL_SAMPLED_CELLS; i++)
      faint[row] |= (uint64_t)(self->counts[row].faint[i] >= CUDACCL_SAMPLED_CONFIRMING) << i;
    reached[row] = candidates[row];
    both[row] = candidates[row] | faint[row];
  }
  connect_cells (both, reached);
  for (uint32_t row = 0; row < n_rows; row++)
    faint[row] &= ~reached[row];
}

/* The pixels of a row of cells. */
static void
fill_kept (const SampledPlaces *self, uint64_t cells, uint64_t *kept)
{
  const uint32_t shift = self->grid.shift, n = shift < 6 ? 1u << shift : 64;
  const uint64_t mask = n < 64 ? (UINT64_C (1) << n) - 1 : UINT64_MAX;
  for (size_t i = 0; i < self->n_pixel_words; i++) {
    kept[i] = 0;
    for (uint32_t x = 0; x < 64; x += n) {
      const size_t cell = (64 * i + x) >> shift;
      kept[i] |= cell < CUDACCL_SAMPLED_CELLS && (cells >> cell & 1) ? mask << x : 0;
    }
  }
}

void
sampled_places_connect (SampledPlaces *self)
{
  const uint32_t n_rows = ((self->height - 1) >> self->grid.shift) + 1;
  CclSampledCells candidates = {0}, kept = {0}, faint = {0};
  for (uint32_t i = 0; i < n_rows; i++) {
    kept[i] = count_cells_of_row (self, i, &self->counts[i]);
    candidates[i] = self->counts[i].candidates;
  }
  if (self->finds_faint)
    find_faint_cells (self, n_rows, candidates, faint);
  remove_uncovered_cells (self, n_rows, candidates);
  if (self->finds_light)
    remove_lit_cells (self->counts, n_rows, candidates);
  for (uint32_t i = 0; i < n_rows; i++)
    kept[i] &= candidates[i];
  connect_cells (candidates, kept);
  for (uint32_t i = 0; i < n_rows; i++) {
    fill_kept (self, kept[i], self->kept + i * self->n_pixel_words);
    fill_kept (self, faint[i], self->kept_faint + i * self->n_pixel_words);
  }
}

void
sampled_places_finish_row (SampledPlaces *self, uint32_t y, uint64_t *foreground, uint64_t *shadow)
{
  const size_t row_of_cells = (y >> self->grid.shift) * self->n_pixel_words;
  const uint64_t *kept = self->kept + row_of_cells, *kept_faint = self->kept_faint + row_of_cells;
  const uint64_t *candidates = row_of (&self->candidates, y), *shadows = row_of (&self->shadows, y);
  uint64_t *found = row_of (&self->found, y);
  for (size_t i = 0; i < self->n_pixel_words; i++) {
    found[i] = (candidates[i] & kept[i]) | (sampled_places_faint (self, y, i) & kept_faint[i]);
    foreground[i] = found[i];
    shadow[i] = shadows[i];
  }
}
