/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/foreground/codebook-reference.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

static const int16_t logs[] = {CUDACCL_LIGHT_LOGS};
static const uint16_t powers[] = {CUDACCL_LIGHT_POWERS};

/* The relief in hundredths: it grows by 1 in a second in dark frames, else by a quarter, down to a
 * tolerance of 6 at dark levels and in dark frames, and not below a quarter and 1 above the
 * distance that a sixteenth of the pixels pass. Where it loses, it grows by a quarter of that for a
 * minute. */
static CclCodebookLevel
level_after_frame (const CodebookReference *self, uint32_t level)
{
  static const int dark[] = {8, 8, 11, 15};
  const CclCodebookLevel *before = &self->levels[level];
  const int tail = (int)ccl_codebook_quantile (self->noise[level], 15);
  const int elapsed = self->frame.time.elapsed, least = level < 4 ? dark[level] : 20;
  const int most =
      level < 4 || self->frame.is_dark ? 100 * MAX (least - MAX (6, tail + tail / 4 + 1), 0) : 0;
  const int relief = before->relief + elapsed * (self->frame.is_dark && !before->caution ? 4 : 1);
  return (CclCodebookLevel){
      (uint16_t)ccl_codebook_quantile (self->noise[level], 8),
      (uint16_t)MIN (relief, most),
      (uint16_t)(before->relief > most ? 60 * 25 : MAX (before->caution - elapsed, 0)),
  };
}

/* Three times the median distance (2.25 times that of weak pixels), and at least 20 steps where it
 * is bright, 8 in the dark, less the relief (three fifths of that). The least is divided by the
 * sensitivity; what noise demands is not, where it is above 1. White noise explains three times the
 * median, where that is more than the least. */
static void
set_tolerances (CodebookReference *self)
{
  static const int dark[] = {8, 8, 11, 15};
  const int percent = self->sensitivity ? (int)self->sensitivity : 100;
  for (int i = 0; i < CUDACCL_CODEBOOK_LEVELS; i++) {
    const int least = ((i < 4 ? dark[i] : 20) - self->levels[i].relief / 100) * 100 / percent;
    const int median = self->levels[i].median, divisor = 4 * MIN (percent, 100);
    const int noise = MIN (1200 * median / divisor, 60);
    self->frame.noise_tolerances[i] = (uint8_t)(self->is_white && noise > least ? noise : 0);
    self->frame.tolerances[i] = (uint8_t)MAX (noise, least);
    self->frame.weak_tolerances[i] = (uint8_t)MAX (MIN (900 * median / divisor, 45), 3 * least / 5);
  }
}

/* How far from its samples a place has to be: 16 to begin with, then less by one in a
 * second down to 10, and not below twice what three quarters of the pixels do not pass and one.
 * Where that rises, it falls by a quarter of that for a minute. Nothing is found before it has
 * fallen by one. */
static void
set_faint (CodebookReference *self)
{
  const int percent = self->sensitivity ? (int)MIN (self->sensitivity, 100) : 100;
  const bool is_off = self->frame.is_dark || self->has_rows || self->sways || self->quiet < 100;
  self->sampled->faint = is_off ? G_MAXINT : (16 - self->quiet / 100) * 100 / percent;
}

static void
take_faint_noise (CodebookReference *self)
{
  uint32_t counts[CUDACCL_CODEBOOK_DISTANCES] = {0};
  for (uint32_t i = 0; i < CUDACCL_CODEBOOK_LEVELS; i++)
    for (uint32_t k = 0; k < CUDACCL_CODEBOOK_DISTANCES; k++)
      counts[k] += self->noise[i][k];
  const int elapsed = self->frame.time.elapsed;
  const int room = 100 * MAX (16 - MAX (10, 2 * (int)ccl_codebook_quantile (counts, 12) + 1), 0);
  const int quiet = MIN (self->quiet + elapsed * (self->caution ? 1 : 4), room);
  self->caution = room < self->quiet ? 60 * 25 : MAX (self->caution - elapsed, 0);
  self->quiet = quiet;
}

/* Whether the greatest factor of the cells is at most 17/16 of the least one. */
static bool
is_even (const CodebookReference *self)
{
  uint32_t least = UINT32_MAX, most = 0;
  for (uint32_t i = 0; i < self->grid.columns * self->grid.rows; i++) {
    least = MIN (least, self->factors[i]);
    most = MAX (most, self->factors[i]);
  }
  return 16 * most <= 17 * least;
}

static void
take_noise (CodebookReference *self)
{
  for (uint32_t i = 0; i < CUDACCL_CODEBOOK_LEVELS; i++)
    self->levels[i] = level_after_frame (self, i);
}

/* Most of the background, six eighths, is darker than 80. */
static bool
is_dark_frame (const CodebookReference *self)
{
  uint32_t dark = 0, all = 0;
  for (uint32_t i = 0; i < CUDACCL_CODEBOOK_LEVELS; i++)
    for (uint32_t k = 0; k < CUDACCL_CODEBOOK_DISTANCES; k++) {
      dark += i < 5 ? self->noise[i][k] : 0;
      all += self->noise[i][k];
    }
  return 8 * dark > 6 * all;
}

CodebookReference *
codebook_reference_new (uint32_t width, uint32_t height)
{
  CodebookReference *self = g_new0 (CodebookReference, 1);
  const size_t n = (size_t)width * height;
  self->width = width;
  self->height = height;
  self->n_pixels = (uint32_t)n;
  self->words = g_malloc0_n (n, sizeof *self->words);
  self->states = g_new0 (CclCodebookState, n);
  self->classes = g_new0 (CclPixelClass, n);
  self->background = g_new0 (uint8_t, n);
  self->low = g_new0 (uint8_t, n);
  self->high = g_new0 (uint8_t, n);
  self->recurrent = g_new0 (bool, n);
  self->mask = g_new0 (uint8_t, n);
  self->sampled = sampled_reference_new (width, height);
  self->values = g_new0 (CclCodebookValue, n);
  self->hold = 4;
  self->grid = ccl_light_grid (width, height);
  const size_t n_cells = (size_t)self->grid.columns * self->grid.rows;
  self->cells = g_new0 (CclLightCell, n_cells);
  self->factors = g_new0 (uint16_t, n_cells);
  self->rows = g_new0 (int, height);
  self->lost = g_new0 (uint32_t, n_cells);
  self->settled = g_new0 (uint32_t, n_cells);
  self->camera = ccl_camera_new (width, height);
  g_assert_nonnull (self->camera);
  self->has_light = true;
  self->shadows = CUDACCL_SHADOWS_REMOVE;
  return self;
}

void
codebook_reference_free (CodebookReference *self)
{
  g_free (self->words);
  g_free (self->states);
  g_free (self->classes);
  g_free (self->background);
  g_free (self->low);
  g_free (self->high);
  g_free (self->recurrent);
  g_free (self->mask);
  sampled_reference_free (self->sampled);
  g_free (self->values);
  g_free (self->cells);
  g_free (self->factors);
  g_free (self->rows);
  g_free (self->lost);
  g_free (self->settled);
  ccl_camera_free (self->camera);
  g_free (self);
}

static int
compare_ints (const void *a, const void *b)
{
  return *(const int *)a - *(const int *)b;
}

/* The lower one of the two in the middle, of n ≥ 1. */
static int
lower_median (int *values, uint32_t n)
{
  qsort (values, n, sizeof *values, compare_ints);
  return values[(n - 1) / 2];
}

/* The log ratios of row y of the frame to the model. Returns their number. */
static uint32_t
ratios_of_row (const CodebookReference *self, const uint8_t *luma, uint32_t y, int *ratios)
{
  uint32_t n = 0;
  for (uint32_t x = 0; x < self->width; x += 1u << (self->grid.shift - 4)) {
    const uint32_t of_frame = luma[y * self->width + x];
    const uint32_t of_model = self->background[y * self->width + x];
    if (of_frame >= 24 && of_frame <= 232 && of_model >= 24 && of_model <= 232)
      ratios[n++] = CLAMP (logs[of_frame] - logs[of_model], -128, 128);
  }
  return n;
}

/* The light of rows of samples: the median of each. */
static void
measure_rows (CodebookReference *self, const uint8_t *luma)
{
  const uint32_t step = 1u << (self->grid.shift - 4);
  g_autofree int *ratios = g_new (int, self->width);
  for (uint32_t y = 0; y < self->height; y += step) {
    const uint32_t n = ratios_of_row (self, luma, y, ratios);
    self->rows[y / step] = n >= 64 ? lower_median (ratios, n) : 0;
  }
}

/* The light of rows if it is smoothed as that of cells is: between the middles of rows of cells, of
 * which each has the median of five means. */
static int
smooth_row (const CodebookReference *self, uint32_t y)
{
  const int side = 1 << self->grid.shift, step = side / 16, n = (int)self->grid.rows;
  int around[2];
  const int from_middle = MAX ((int)y - side / 2, 0), first = from_middle / side;
  for (int k = 0; k < 2; k++) {
    const int centre = MIN (first + k, n - 1);
    int means[5];
    uint32_t n_means = 0;
    for (int row = MAX (centre - 2, 0); row <= MIN (centre + 2, n - 1); row++) {
      int sum = 0, n_rows = 0;
      for (int i = 16 * row; i < 16 * row + 16 && i * step < (int)self->height; i++, n_rows++)
        sum += 128 + self->rows[i];
      means[n_means++] = sum / n_rows - 128;
    }
    around[k] = lower_median (means, n_means);
  }
  const int weight = from_middle % side;
  return ((around[0] + 128) * (side - weight) + (around[1] + 128) * weight) / side - 128;
}

/* Whether rows have light of their own in the next frame: seven eighths of the samples are near it
 * (within 8), and more than are near smooth light, by a sixteenth; if the rows of this frame had
 * some, six eighths, and not fewer by as much. */
static bool
finds_rows (const CodebookReference *self, const uint8_t *luma)
{
  const uint32_t step = 1u << (self->grid.shift - 4);
  g_autofree int *ratios = g_new (int, self->width);
  uint32_t n = 0, near_rows = 0, near_smooth = 0;
  for (uint32_t y = 0; y < self->height; y += step) {
    const uint32_t n_row = ratios_of_row (self, luma, y, ratios);
    const int of_row = self->rows[y / step], smooth = smooth_row (self, y);
    for (uint32_t i = 0; i < n_row; i++) {
      const int less = self->has_rows ? CLAMP (ratios[i] - of_row, -128, 128) : ratios[i];
      const int removed = self->has_rows ? of_row : 0;
      near_rows += ABS (less - (of_row - removed)) <= 8;
      near_smooth += ABS (less - (smooth - removed)) <= 8;
    }
    n += n_row;
  }
  return 8 * near_rows >= (self->has_rows ? 6 : 7) * n &&
         16 * near_rows + (self->has_rows ? n : 0) >= 16 * near_smooth + (self->has_rows ? 0 : n);
}

/* The light of a cell, besides that of its rows. Noise is what the pixels of the frame before
 * differed by. */
static void
measure_cell (CodebookReference *self, const uint8_t *luma, uint32_t column, uint32_t row)
{
  CclLightCell *cell = &self->cells[row * self->grid.columns + column];
  const uint32_t step = 1u << (self->grid.shift - 4);
  uint32_t counts[2 * CUDACCL_LIGHT_LIMIT + 1] = {0}, n = 0, near = 0, explained = 0;
  uint32_t samples[256];
  int lights[256];

  for (uint32_t i = 0; i < 256; i++) {
    const uint32_t x = (column << self->grid.shift) + i % 16 * step;
    const uint32_t y = (row << self->grid.shift) + i / 16 * step;
    if (x >= self->width || y >= self->height)
      continue;
    const uint32_t pixel = y * self->width + x;
    if (!ccl_light_compares (luma[pixel]) || !ccl_light_compares (self->background[pixel]))
      continue;
    const int ratio = CLAMP (logs[luma[pixel]] - logs[self->background[pixel]], -128, 128);
    lights[n] = self->has_rows ? self->rows[y / step] : 0;
    counts[CLAMP (ratio - lights[n], -128, 128) + 128]++;
    samples[n++] = pixel;
  }
  memset (cell, 0, sizeof *cell);
  cell->measured = n >= CUDACCL_LIGHT_LEAST_SAMPLES;
  if (!cell->measured)
    return;
  uint32_t middle = 0;
  for (uint32_t below = counts[0]; 2 * below < n; below += counts[middle])
    middle++;
  cell->ratio = (int16_t)((int)middle - CUDACCL_LIGHT_LIMIT);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t of_frame = luma[samples[i]], of_model = self->background[samples[i]];
    const int of_pixel = CLAMP (logs[of_frame] - logs[of_model], -128, 128);
    const int ratio = CLAMP (of_pixel - lights[i], -128, 128);
    const uint32_t expected =
        ccl_light_expected (of_model, powers[128 + CLAMP (cell->ratio + lights[i], -128, 128)]);
    const bool is_near = ccl_light_is_near (ratio, cell->ratio);
    near += is_near;
    explained += is_near ||
                 ccl_codebook_difference (of_frame, expected) <= self->levels[of_model >> 4].median;
  }
  cell->uniform = 5 * near >= 3 * n;
  cell->explained = 5 * explained >= 3 * n;
}

/* Cells of a frame: the explained ones of all, or the uniform ones within two cells of a place. */
typedef struct Choice {
  int column, row;
  int own; /* those within 8 of this ratio; G_MAXINT: any */
  bool is_explained;
} Choice;

static bool
is_chosen (const CodebookReference *self, const Choice *choice, uint32_t i)
{
  const CclLightCell *cell = &self->cells[i];
  const int column = (int)(i % self->grid.columns), row = (int)(i / self->grid.columns);
  if (!choice->is_explained && (ABS (column - choice->column) > 2 || ABS (row - choice->row) > 2))
    return false;
  return choice->is_explained
             ? cell->explained
             : cell->uniform && (choice->own == G_MAXINT || ABS (cell->ratio - choice->own) <= 8);
}

/* The median of the chosen cells; G_MININT if there are fewer than `least`, or none. */
static int
median_of_cells (const CodebookReference *self, Choice choice, uint32_t least)
{
  const uint32_t n_cells = self->grid.columns * self->grid.rows;
  g_autofree int *ratios = g_new (int, n_cells);
  uint32_t n = 0;
  for (uint32_t i = 0; i < n_cells; i++)
    if (is_chosen (self, &choice, i))
      ratios[n++] = self->cells[i].ratio;
  return n >= MAX (least, 1) ? lower_median (ratios, n) : G_MININT;
}

/* Whether three quarters of the cells are uniform, and an eighth of the explained ones differ. */
static bool
has_edges (const CodebookReference *self, int of_frame)
{
  uint32_t measured = 0, uniform = 0, explained = 0, varied = 0;
  for (uint32_t i = 0; i < self->grid.columns * self->grid.rows; i++) {
    const CclLightCell *cell = &self->cells[i];
    measured += cell->measured;
    uniform += cell->uniform;
    explained += cell->explained;
    varied += cell->explained && ABS (cell->ratio - of_frame) > 8;
  }
  return 4 * uniform >= 3 * measured && 8 * varied >= explained;
}

/* The factor that removes all but a step of a light. */
static uint32_t
factor_of (int light)
{
  return powers[128 - light + (light > 0) - (light < 0)];
}

/* The factors of cells, by sorting. */
static void
smooth_cells (CodebookReference *self)
{
  const int n_columns = (int)self->grid.columns, n_rows = (int)self->grid.rows;
  int of_frame = median_of_cells (self, (Choice){0, 0, G_MAXINT, true}, 0);
  if (of_frame == G_MININT)
    of_frame = 0;
  const bool edges = self->has_edges = has_edges (self, of_frame);
  for (int i = 0; i < n_columns * n_rows; i++) {
    const CclLightCell *cell = &self->cells[i];
    const int x = i % n_columns, y = i / n_columns;
    const int width = MIN (x + 2, n_columns - 1) - MAX (x - 2, 0) + 1;
    const int height = MIN (y + 2, n_rows - 1) - MAX (y - 2, 0) + 1;
    int light = G_MININT;
    if (edges && cell->uniform)
      light = median_of_cells (self, (Choice){x, y, cell->ratio, false}, 3);
    if (light == G_MININT)
      light = median_of_cells (
          self, (Choice){x, y, G_MAXINT, false}, (uint32_t)(width * height + 2) / 3);
    self->factors[i] = (uint16_t)factor_of (light == G_MININT ? of_frame : light);
  }
}

/* The same of the light of row y, between those of two rows of samples. */
static uint32_t
factor_of_row (const CodebookReference *self, uint32_t y)
{
  const uint32_t step = 1u << (self->grid.shift - 4), weight = y % step;
  const uint32_t above = factor_of (self->rows[y / step]);
  const uint32_t last = (self->height - 1) / step;
  const uint32_t below = factor_of (self->rows[MIN (y / step + 1, last)]);
  return self->has_rows ? (above * (step - weight) + below * weight) / step : 4096;
}

/* The product of two factors, at most 4. */
static uint32_t
product_of (uint32_t a, uint32_t b)
{
  return MIN ((a * b + 2048) / 4096, 16384);
}

static uint32_t
factor_at (const CodebookReference *self, uint32_t x, uint32_t y)
{
  const CclLightGrid *grid = &self->grid;
  uint32_t c0, c1, wx, r0, r1, wy;
  ccl_light_place (x, grid->shift, grid->columns, &c0, &c1, &wx);
  ccl_light_place (y, grid->shift, grid->rows, &r0, &r1, &wy);
  const uint16_t *above = self->factors + r0 * grid->columns;
  const uint16_t *below = self->factors + r1 * grid->columns;
  const uint32_t left = ccl_light_between (above[c0], below[c0], wy, grid->shift);
  const uint32_t right = ccl_light_between (above[c1], below[c1], wy, grid->shift);
  const uint32_t of_row = factor_of_row (self, y);
  return ccl_light_between (product_of (left, of_row), product_of (right, of_row), wx, grid->shift);
}

/* The least and the greatest factor of the cells around a pixel. */
static void
range_at (const CodebookReference *self, uint32_t x, uint32_t y, uint32_t *least, uint32_t *most)
{
  const CclLightGrid *grid = &self->grid;
  uint32_t c0, c1, wx, r0, r1, wy;
  ccl_light_place (x, grid->shift, grid->columns, &c0, &c1, &wx);
  ccl_light_place (y, grid->shift, grid->rows, &r0, &r1, &wy);
  const uint16_t *above = self->factors + r0 * grid->columns;
  const uint16_t *below = self->factors + r1 * grid->columns;
  *least = MIN (MIN (above[c0], above[c1]), MIN (below[c0], below[c1]));
  *most = MAX (MAX (above[c0], above[c1]), MAX (below[c0], below[c1]));
}

/* The one of three factors that brings a pixel nearest to the background, within 20 steps, the
 * first of equal ones; else the first one. */
static uint32_t
nearest_factor (int luma, int background, const uint32_t factors[3])
{
  int best = 0, nearest = 21;
  for (int i = 0; i < 3; i++) {
    const int corrected = (int)MIN (((uint32_t)luma * factors[i] + 2048) / 4096, 255);
    if (abs (corrected - background) < nearest) {
      nearest = abs (corrected - background);
      best = i;
    }
  }
  return factors[best];
}

static CclCodebookValue
corrected (const CodebookReference *self, CclCodebookValue value, uint32_t x, uint32_t y)
{
  const uint32_t of_row = factor_of_row (self, y);
  uint32_t least, most, factor = factor_at (self, x, y);
  range_at (self, x, y, &least, &most);
  uint32_t slack = ccl_codebook_slack (value.luma, most - least);
  if (self->has_edges) {
    const uint32_t factors[] = {factor, product_of (least, of_row), product_of (most, of_row)};
    const uint32_t side = 1u << self->grid.shift, n_cells = self->grid.columns * self->grid.rows;
    factor = nearest_factor (value.luma, self->background[y * self->width + x], factors);
    if (x < side || y < side || x + side >= self->width || y + side >= self->height) {
      for (uint32_t i = 0; i < n_cells; i++) {
        least = MIN (least, self->factors[i]);
        most = MAX (most, self->factors[i]);
      }
      const uint32_t of_frame[] = {factor, product_of (least, of_row), product_of (most, of_row)};
      factor = nearest_factor (value.luma, self->background[y * self->width + x], of_frame);
    }
    slack = MIN (slack + (factor > 4096 ? 16 * (factor - 4096) / 4096 : 0), 20);
  }
  return (CclCodebookValue){
      (uint8_t)ccl_light_correct_luma (value.luma, factor, 255),
      (uint8_t)ccl_light_correct_chroma (value.u, factor),
      (uint8_t)ccl_light_correct_chroma (value.v, factor),
      (uint8_t)slack,
  };
}

/* What pixels and their words say of a covered camera. */
static void
add_extremes (CodebookReference *self, uint8_t luma, uint8_t model_luma)
{
  self->sums.pixels++;
  self->sums.dark += luma < CUDACCL_LIGHT_LEAST_LUMA;
  self->sums.bright += luma > CUDACCL_LIGHT_MOST_LUMA;
  self->sums.model_dark += model_luma < CUDACCL_LIGHT_LEAST_LUMA;
  self->sums.model_bright += model_luma > CUDACCL_LIGHT_MOST_LUMA;
}

/* What a shaking camera brings to each pixel: the background within the sway. */
static void
find_ranges (CodebookReference *self, int64_t sway)
{
  for (uint32_t pixel = 0; pixel < self->n_pixels; pixel++) {
    const int64_t x = pixel % self->width, y = pixel / self->width;
    self->low[pixel] = UINT8_MAX;
    self->high[pixel] = 0;
    for (int64_t j = MAX (y - sway, 0); j <= MIN (y + sway, (int64_t)self->height - 1); j++) {
      for (int64_t i = MAX (x - sway, 0); i <= MIN (x + sway, (int64_t)self->width - 1); i++) {
        const uint8_t luma = self->background[j * self->width + i];
        self->low[pixel] = MIN (self->low[pixel], luma);
        self->high[pixel] = MAX (self->high[pixel], luma);
      }
    }
  }
}

static void
update_pixel (
    CodebookReference *self, uint32_t pixel, uint8_t luma, CclCodebookValue value, uint32_t cell)
{
  CclCodebookResult result =
      ccl_codebook_update (self->words[pixel], value, self->states[pixel], &self->frame);
  if (ccl_codebook_counts_as_noise (&result))
    self->noise[result.level][MIN (result.distance, CUDACCL_CODEBOOK_DISTANCES - 1)]++;
  if (self->sways && value.luma >= self->low[pixel] && value.luma <= self->high[pixel]) {
    result.pixel_class = CUDACCL_PIXEL_BACKGROUND;
    result.is_strong = result.is_settled = false;
  }
  self->classes[pixel] = result.pixel_class;
  self->background[pixel] = result.background;
  self->recurrent[pixel] = result.is_recurrent;
  self->states[pixel].was_background = !result.is_strong;
  self->states[pixel].place = result.place;
  self->lost[cell] += result.is_strong;
  self->settled[cell] += result.is_settled;
  self->sums.chroma += result.chroma;
  self->sums.model_chroma += result.model_chroma;
  add_extremes (self, luma, result.model_luma);
}

/* Whether the noise is white: where neighbours are not strong, they are on one side of the
 * background in at most 9 of 16 cases. Every eighth row tells. */
static bool
has_white_noise (const CodebookReference *self)
{
  uint32_t pairs = 0, alike = 0;
  for (uint32_t y = 0; y < self->height; y += 8)
    for (uint32_t x = 1; x < self->width; x += 2) {
      const uint32_t right = y * self->width + x, left = right - 1;
      if (!self->states[left].was_background || !self->states[right].was_background)
        continue;
      pairs++;
      alike += (self->values[left].luma > self->background[left]) ==
               (self->values[right].luma > self->background[right]);
    }
  return pairs >= 256 && 16 * alike <= 9 * pairs;
}

/* Counts the pixels of the 5×5 window that have the class; outside, the frame continues. */
static void
count_window (const CodebookReference *self, int64_t x, int64_t y, int classes[3], int *recurrent,
    int *strong)
{
  for (int64_t j = y - 2; j <= y + 2; j++) {
    for (int64_t i = x - 2; i <= x + 2; i++) {
      const int64_t pixel = CLAMP (j, 0, (int64_t)self->height - 1) * self->width +
                            CLAMP (i, 0, (int64_t)self->width - 1);
      classes[self->classes[pixel]]++;
      *recurrent += self->recurrent[pixel];
      *strong += !self->states[pixel].was_background;
    }
  }
}

static void
filter (CodebookReference *self)
{
  static const uint8_t shadow_values[] = {
      [CUDACCL_SHADOWS_MARK] = CUDACCL_MASK_SHADOW, [CUDACCL_SHADOWS_REMOVE] = 0};
  const bool keeps_shadows = self->shadows == CUDACCL_SHADOWS_KEEP;
  for (uint32_t y = 0; y < self->height; y++) {
    for (uint32_t x = 0; x < self->width; x++) {
      const uint32_t pixel = y * self->width + x;
      int classes[3] = {0}, recurrent = 0, strong = 0;
      count_window (self, x, y, classes, &recurrent, &strong);
      int objects = classes[CUDACCL_PIXEL_FOREGROUND], shadows = classes[CUDACCL_PIXEL_SHADOW];
      if (keeps_shadows) {
        objects += shadows;
        shadows = 0;
      }
      const bool is_found = !self->scene.is_lost && !self->camera->hides &&
                            2 * (objects + shadows) > 25 && strong >= CUDACCL_CODEBOOK_LEAST_STRONG;
      const bool in_object = is_found && 3 * objects >= 2 * shadows;
      self->mask[pixel] = in_object ? 255 : is_found ? shadow_values[self->shadows] : 0;
      self->states[pixel].in_object = in_object;
      self->states[pixel].is_dynamic = self->recurrent[pixel] || 2 * recurrent > 25;
    }
  }
}

/* The objects that the second model confirms. */
static void
check_with_samples (CodebookReference *self, const uint8_t *luma)
{
  g_autofree bool *candidates = g_new (bool, self->n_pixels);
  g_autofree bool *is_dynamic = g_new (bool, self->n_pixels);
  for (uint32_t i = 0; i < self->n_pixels; i++) {
    candidates[i] = self->mask[i] == 255;
    is_dynamic[i] = self->states[i].is_dynamic;
  }
  const bool finds_light = self->has_light && self->shadows != CUDACCL_SHADOWS_KEEP;
  sampled_reference_judge (self->sampled, is_dynamic, !self->scene.is_lost && !self->camera->hides,
      finds_light, luma, self->background, candidates);
  for (uint32_t i = 0; i < self->n_pixels; i++) {
    const bool was_object = self->mask[i] == 255;
    self->mask[i] = candidates[i] ? 255 : was_object ? 0 : self->mask[i];
  }
}

/* Whether the cells of the frame that has been run are those of another scene. */
static void
judge_scene (CodebookReference *self)
{
  const CclLightGrid *grid = &self->grid;
  CclCodebookSums *sums = &self->sums;
  for (uint32_t row = 0; row < grid->rows; row++) {
    for (uint32_t column = 0; column < grid->columns; column++) {
      const uint32_t i = row * grid->columns + column;
      const uint32_t width = MIN (1u << grid->shift, self->width - (column << grid->shift));
      const uint32_t height = MIN (1u << grid->shift, self->height - (row << grid->shift));
      sums->cells++;
      sums->lost += ccl_codebook_fills_cell (self->lost[i], width * height);
      sums->settled += ccl_codebook_fills_cell (self->settled[i], width * height);
    }
  }
  if (self->has_light)
    ccl_codebook_judge_scene (&self->scene, sums, self->frame.time.elapsed);
}

/* The mean of the samples of a box in a plane. */
static uint8_t
box_at (const CodebookReference *self, const uint8_t *plane, uint32_t x, uint32_t y)
{
  const uint32_t box = self->camera->box, distance = box / CUDACCL_CAMERA_BOX;
  uint32_t sum = 0, n = 0;
  for (uint32_t j = 0; j < box; j += distance)
    for (uint32_t i = 0; i < box; i += distance, n++)
      sum += plane[(y * box + j) * self->width + x * box + i];
  return (uint8_t)((2 * sum + n) / (2 * n));
}

static void
make_boxes (CodebookReference *self, const uint8_t *luma)
{
  CclCamera *camera = self->camera;
  for (uint32_t y = 0; y < camera->height; y++) {
    for (uint32_t x = 0; x < camera->width; x++) {
      const size_t i = y * camera->stride + x;
      camera->boxes[i] = box_at (self, luma, x, y);
      camera->boxes[ccl_camera_boxes_size (camera) + i] = box_at (self, self->background, x, y);
    }
  }
}

/* A model without words. */
static void
begin_model (CodebookReference *self)
{
  const size_t n = self->n_pixels;
  memset (self->words, 0, n * sizeof *self->words);
  memset (self->states, 0, n * sizeof *self->states);
  memset (self->background, 0, n);
  memset (self->noise, 0, sizeof self->noise);
  memset (self->levels, 0, sizeof self->levels);
  self->quiet = self->caution = 0;
  self->frame = (CclCodebookFrame){0};
  self->now = self->rest = 0;
  self->scene = (CclCodebookScene){0};
  self->n_frames = 0;
  sampled_reference_free (self->sampled);
  self->sampled = sampled_reference_new (self->width, self->height);
}

/* What the frame before says of the camera. */
static void
follow_camera (CodebookReference *self, const uint8_t *luma)
{
  CclCamera *camera = self->camera;
  if (self->n_frames == 0)
    ccl_camera_begin (camera, 0);
  else
    ccl_camera_note (camera, self->noted);
  if (ccl_camera_advance (camera, self->frame_duration, self->has_light && self->n_frames > 0))
    begin_model (self);
  if (camera->takes_boxes)
    make_boxes (self, luma);
}

/* The nanoseconds until an object that has stopped is background. */
static uint64_t
absorb_time (const CodebookReference *self)
{
  return self->absorb_after ? self->absorb_after : UINT64_C (6000000000) * MAX (self->hold, 1);
}

/* Half of that, in whole seconds. Twenty samples take turns. */
static uint32_t
period_of_objects (const CodebookReference *self)
{
  const uint32_t period = MAX ((uint32_t)(absorb_time (self) / 2000000000), 1);
  return period % 20 == 0 ? period + 1 : period;
}

/* The time of a frame: ages count steps of 40 ms, of which each is worth a weight of 16. */
static void
advance (CodebookReference *self)
{
  CclCodebookTime *time = &self->frame.time;
  const uint64_t duration =
      MIN (self->frame_duration ? self->frame_duration : 40000000, UINT64_C (1000000000));
  const uint64_t then = self->now, now = then + duration, absorb = absorb_time (self);
  time->gain = (uint16_t)MAX (now / 2500000 - then / 2500000, 1);
  const uint64_t slow = duration * 2400 + self->rest; /* 16 of 40 ms, times 6 s of absorb */
  time->object_gain = (uint16_t)MIN (slow / absorb, time->gain);
  self->rest = slow % absorb;
  time->elapsed = (uint16_t)(now / 40000000 - then / 40000000);
  time->move = duration <= 20000000 ? 5 : duration < 80000000 ? 4 : duration < 160000000 ? 3 : 2;
  time->rebases = time->now + time->elapsed >= 49152;
  time->now = (uint16_t)(time->now + time->elapsed - (time->rebases ? 32768 : 0));
  self->now = now;
}

void
codebook_reference_run (
    CodebookReference *self, const uint8_t *luma, const uint8_t *u, const uint8_t *v)
{
  const uint32_t n_cells = self->grid.columns * self->grid.rows;
  follow_camera (self, luma);
  advance (self);
  set_tolerances (self);
  const bool corrects = self->has_light && self->n_frames > 0;

  if (!self->has_light)
    self->scene = (CclCodebookScene){0};
  self->noted = self->scene.change;
  self->change =
      self->camera->change != CUDACCL_SCENE_UNCHANGED ? self->camera->change : self->noted;
  self->frame.scene_changes = self->noted != CUDACCL_SCENE_UNCHANGED;
  self->n_scene_changes +=
      self->change != CUDACCL_SCENE_UNCHANGED && self->change != CUDACCL_SCENE_SETTLED;
  if (corrects) {
    measure_rows (self, luma);
    for (uint32_t i = 0; i < n_cells; i++)
      measure_cell (self, luma, i % self->grid.columns, i / self->grid.columns);
    smooth_cells (self);
  }
  const bool next_has_rows = corrects && finds_rows (self, luma);
  memset (self->noise, 0, sizeof self->noise);
  memset (&self->sums, 0, sizeof self->sums);
  memset (self->lost, 0, n_cells * sizeof *self->lost);
  memset (self->settled, 0, n_cells * sizeof *self->settled);
  self->sways = self->n_frames > 0 && ccl_camera_sway (self->camera) > 0;
  self->n_swaying += self->sways;
  if (self->sways)
    find_ranges (self, ccl_camera_sway (self->camera));
  for (uint32_t pixel = 0; pixel < self->n_pixels; pixel++) {
    const uint32_t x = pixel % self->width, y = pixel / self->width;
    const uint32_t cell = (y >> self->grid.shift) * self->grid.columns + (x >> self->grid.shift);
    const CclCodebookValue value = {luma[pixel], u[pixel], v[pixel], 0};
    self->values[pixel] = corrects ? corrected (self, value, x, y) : value;
    update_pixel (self, pixel, luma[pixel], self->values[pixel], cell);
  }
  self->sampled->least_percent = self->sensitivity ? MIN (self->sensitivity, 100) : 100;
  set_faint (self);
  self->sampled->finds_faint = !corrects || is_even (self);
  sampled_reference_update (self->sampled, self->values, self->frame.tolerances,
      period_of_objects (self), self->frame_duration,
      self->n_frames == 0 || self->frame.scene_changes, self->sways ? self->low : NULL, self->high);
  self->has_rows = next_has_rows;
  judge_scene (self);
  take_noise (self);
  take_faint_noise (self);
  self->frame.is_dark = self->sampled->is_dark = is_dark_frame (self);
  self->is_white = has_white_noise (self);
  filter (self);
  check_with_samples (self, luma);
  self->n_frames++;
}
