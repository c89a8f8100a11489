/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "codebook-light.h"
#include "core/base/divide-up.h"
#include "cpu/base/lesser.h"

#include <string.h>

static const uint16_t powers[2 * CUDACCL_LIGHT_LIMIT + 1] = {CUDACCL_LIGHT_POWERS};

enum { BLOCK = CUDACCL_LIGHT_SAMPLES * CUDACCL_LIGHT_SAMPLES };

/* The luma of the samples of a row of cells. */
typedef struct Samples {
  uint8_t frame[CUDACCL_LIGHT_SAMPLES][CODEBOOK_LIGHT_SAMPLES],
      model[CUDACCL_LIGHT_SAMPLES][CODEBOOK_LIGHT_SAMPLES];
} Samples;

/* Log ratios: blocks of CUDACCL_LIGHT_SAMPLES rows of as many. */
typedef struct Ratios {
  const PixelCode *code;
  const int16_t *first;
  size_t stride;     /* from row to row */
  uint32_t n_blocks; /* one after the other */
} Ratios;

void
codebook_fill_logs (uint8_t logs[256])
{
  for (uint32_t luma = 0; luma < 256; luma++)
    logs[luma] = (uint8_t)(ccl_light_compares (luma) ? light_logs[luma] - 256 : 0);
}

static void
take_samples (const uint8_t *row, uint32_t distance, uint32_t n, uint8_t *samples)
{
  if (distance == 1)
    memcpy (samples, row, n);
  else
    for (uint32_t i = 0; i < n; i++)
      samples[i] = row[(size_t)i * distance];
}

/* The number of ratios up to one. */
static uint32_t
count_up_to (const Ratios *ratios, int ratio)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < ratios->n_blocks; i++)
    n += ratios->code->count_ratios (
        ratios->first + (size_t)i * BLOCK, ratios->stride, (int16_t)ratio);
  return n;
}

static uint32_t
count_near (const Ratios *ratios, int ratio)
{
  return count_up_to (ratios, ratio + CUDACCL_LIGHT_NEAR) -
         count_up_to (ratios, ratio - CUDACCL_LIGHT_NEAR - 1);
}

/* The lower median of n ratios. before: that of the frame before, which is tried first. */
static int
find_median (const Ratios *ratios, uint32_t n, int before)
{
  int least = -CUDACCL_LIGHT_LIMIT, most = CUDACCL_LIGHT_LIMIT;

  if (2 * count_up_to (ratios, before) >= n) {
    if (before == least || 2 * count_up_to (ratios, before - 1) < n)
      return before;
    most = before - 1;
  } else {
    least = before + 1;
  }
  while (least < most) {
    const int middle = least + (most - least) / 2;
    if (2 * count_up_to (ratios, middle) >= n)
      most = middle;
    else
      least = middle + 1;
  }
  return least;
}

static int16_t *
ratios_of_row (const CodebookLight *light, uint32_t row, uint32_t j)
{
  return light->ratios + ((size_t)row * CUDACCL_LIGHT_SAMPLES + j) * CODEBOOK_LIGHT_SAMPLES;
}

static Ratios
ratios_of_samples (const CodebookLight *light, const PixelCode *code, uint32_t row, uint32_t j)
{
  return (Ratios){code, ratios_of_row (light, row, j), CUDACCL_LIGHT_SAMPLES,
      divide_up (light->grid.columns, CUDACCL_LIGHT_SAMPLES)};
}

/* Subtracts the light of a row from its ratios. */
static void
subtract_light (int16_t *ratios, int light)
{
  for (uint32_t i = 0; i < CODEBOOK_LIGHT_SAMPLES; i++) {
    const int limited = ccl_light_limited (ratios[i] - light);
    ratios[i] = (int16_t)(ratios[i] == NO_LOG_RATIO ? NO_LOG_RATIO : limited);
  }
}

static void
measure_samples (CodebookLight *light, const PixelCode *code, const uint8_t *logs,
    const CodebookLuma *luma, uint32_t row, Samples *samples)
{
  const CclLightGrid *grid = &light->grid;
  const uint32_t distance = (1u << grid->shift) / CUDACCL_LIGHT_SAMPLES;
  const uint32_t n = divide_up (luma->width, distance);

  for (uint32_t j = 0; j < CUDACCL_LIGHT_SAMPLES; j++) {
    const uint32_t y = (row << grid->shift) + j * distance;
    const uint32_t n_of_row = y < luma->height ? n : 0;
    int16_t *ratios = ratios_of_row (light, row, j);
    if (n_of_row > 0) {
      take_samples (luma->frame + y * luma->frame_stride, distance, n, samples->frame[j]);
      take_samples (luma->model + y * luma->model_stride, distance, n, samples->model[j]);
      code->log_ratios (logs, samples->frame[j], samples->model[j], n, ratios);
    }
    for (uint32_t i = n_of_row; i < CODEBOOK_LIGHT_SAMPLES; i++)
      ratios[i] = NO_LOG_RATIO;
  }
}

/* The light of the rows of a row of cells. */
static void
measure_rows (CodebookLight *light, const PixelCode *code, uint32_t row)
{
  int16_t *lights = light->rows + (size_t)row * CUDACCL_LIGHT_SAMPLES;
  int sum = 0, n_rows = 0;

  for (uint32_t j = 0; j < CUDACCL_LIGHT_SAMPLES; j++) {
    const Ratios ratios = ratios_of_samples (light, code, row, j);
    const uint32_t n = count_up_to (&ratios, CUDACCL_LIGHT_LIMIT);
    lights[j] =
        (int16_t)(n >= CUDACCL_LIGHT_LEAST_SAMPLES ? find_median (&ratios, n, lights[j]) : 0);
    if (row * CUDACCL_LIGHT_SAMPLES + j < light->n_rows) {
      sum += lights[j];
      n_rows++;
    }
    if (light->has_rows && lights[j] != 0)
      subtract_light (ratios_of_row (light, row, j), lights[j]);
  }
  light->means[row] = (int16_t)ccl_light_mean (sum, n_rows);
}

void
codebook_count_row (CodebookLight *light, const PixelCode *code, uint32_t row)
{
  const uint32_t first = row * CUDACCL_LIGHT_SAMPLES;
  CclLightRowSums sums = {0};

  for (uint32_t j = 0; j < CUDACCL_LIGHT_SAMPLES && first + j < light->n_rows; j++) {
    const Ratios ratios = ratios_of_samples (light, code, row, j);
    const int of_row = light->rows[first + j], removed = light->has_rows ? of_row : 0;
    const int smooth =
        ccl_light_smooth_row (&light->grid, light->means, (first + j) << (light->grid.shift - 4));
    const uint32_t near_rows = count_near (&ratios, of_row - removed);
    sums.compared += count_up_to (&ratios, CUDACCL_LIGHT_LIMIT);
    sums.near_rows += near_rows;
    sums.near_smooth += smooth == of_row ? near_rows : count_near (&ratios, smooth - removed);
  }
  light->sums[row] = sums;
}

/* Whether noise explains a measured cell of n ratios that is not uniform. */
static bool
is_noise (const CodebookLight *light, const Samples *samples, uint32_t column, uint32_t row,
    uint32_t n, int ratio, const uint8_t noise[CUDACCL_CODEBOOK_LEVELS])
{
  const uint32_t first = column * CUDACCL_LIGHT_SAMPLES;
  uint32_t explained = 0;

  for (uint32_t j = 0; j < CUDACCL_LIGHT_SAMPLES; j++) {
    const int16_t *ratios = ratios_of_row (light, row, j);
    const int of_row = light->has_rows ? light->rows[row * CUDACCL_LIGHT_SAMPLES + j] : 0;
    const uint32_t factor = powers[ccl_light_limited (ratio + of_row) + CUDACCL_LIGHT_LIMIT];
    for (uint32_t i = first; i < first + CUDACCL_LIGHT_SAMPLES; i++) {
      const uint32_t value = samples->frame[j][i], mean = samples->model[j][i];
      if (ratios[i] != NO_LOG_RATIO)
        explained +=
            ccl_light_is_near (ratios[i], ratio) ||
            ccl_codebook_difference (value, ccl_light_expected (mean, factor)) <= noise[mean >> 4];
    }
  }
  return 5 * explained >= 3 * n;
}

void
codebook_measure_row (CodebookLight *light, const PixelCode *code, const uint8_t *logs,
    const CodebookLuma *luma, const uint8_t noise[CUDACCL_CODEBOOK_LEVELS], uint32_t row)
{
  Samples samples;

  measure_samples (light, code, logs, luma, row, &samples);
  measure_rows (light, code, row);
  for (uint32_t column = 0; column < light->grid.columns; column++) {
    CclLightCell *cell = &light->cells[(size_t)row * light->grid.columns + column];
    const Ratios ratios = {code, ratios_of_row (light, row, 0) + column * CUDACCL_LIGHT_SAMPLES,
        CODEBOOK_LIGHT_SAMPLES, 1};
    const int before = cell->measured ? cell->ratio : 0;
    const uint32_t n = count_up_to (&ratios, CUDACCL_LIGHT_LIMIT);
    *cell = (CclLightCell){.measured = n >= CUDACCL_LIGHT_LEAST_SAMPLES};
    if (!cell->measured)
      continue;
    const int ratio = find_median (&ratios, n, before);
    cell->ratio = (int16_t)ratio;
    cell->uniform = 5 * count_near (&ratios, ratio) >= 3 * n;
    cell->explained = cell->uniform || is_noise (light, &samples, column, row, n, ratio, noise);
  }
}

/* The factor of row y of the frame, between two rows of samples. */
static uint32_t
factor_of_row (const CodebookLight *light, uint32_t y)
{
  if (!light->has_rows)
    return CUDACCL_LIGHT_ONE;
  const uint32_t shift = light->grid.shift - 4, first = y >> shift;
  const uint32_t last = light->n_rows - 1;
  const uint32_t second = first < last ? first + 1 : last;
  return ccl_light_between (powers[CUDACCL_LIGHT_LIMIT - ccl_light_removed (light->rows[first])],
      powers[CUDACCL_LIGHT_LIMIT - ccl_light_removed (light->rows[second])],
      y & ((1u << shift) - 1), shift);
}

/* The factors of a row of pixels, in the columns of the grid's cells, and their range. */
typedef struct RowOfFactors {
  uint32_t factors[CUDACCL_LIGHT_MAX_COLUMNS + 1];
  uint32_t least[CUDACCL_LIGHT_MAX_COLUMNS + 1], most[CUDACCL_LIGHT_MAX_COLUMNS + 1];
} RowOfFactors;

/* The last column is repeated. Returns false if all factors are one. The loop over columns has no
 * branches so that compilers vectorise it. */
static bool
find_row_of_factors (const CodebookLight *light, uint32_t y, RowOfFactors *row)
{
  const CclLightGrid *grid = &light->grid;
  const uint32_t n = grid->columns, shift = grid->shift;
  const bool fits_32_bits = shift < 16; /* frames of fewer than two million columns */
  const uint32_t of_row = factor_of_row (light, y);
  uint32_t above, below, weight, differs = of_row ^ (uint32_t)CUDACCL_LIGHT_ONE;

  ccl_light_place (y, shift, grid->rows, &above, &below, &weight);
  const uint16_t *a = light->factors + (size_t)above * n, *b = light->factors + (size_t)below * n;
  for (uint32_t i = 0; i < n; i++) {
    row->factors[i] = fits_32_bits ? (a[i] * ((1u << shift) - weight) + b[i] * weight) >> shift
                                   : ccl_light_between (a[i], b[i], weight, shift);
    row->least[i] = lesser (a[i], b[i]);
    row->most[i] = greater (a[i], b[i]);
    differs |= (a[i] ^ (uint32_t)CUDACCL_LIGHT_ONE) | (b[i] ^ (uint32_t)CUDACCL_LIGHT_ONE);
  }
  if (of_row != CUDACCL_LIGHT_ONE)
    for (uint32_t i = 0; i < n; i++)
      row->factors[i] = ccl_light_product (row->factors[i], of_row);
  row->factors[n] = row->factors[n - 1];
  row->least[n] = row->least[n - 1];
  row->most[n] = row->most[n - 1];
  return differs != 0;
}

bool
codebook_row_factors (
    const CodebookLight *light, uint32_t y, uint32_t width, uint16_t *factors, uint16_t *spreads)
{
  const uint32_t shift = light->grid.shift, side = 1u << shift;
  RowOfFactors row;

  if (!find_row_of_factors (light, y, &row) && !light->has_edges)
    return false;
  /* Pixels between the middles of column i and the next one; before the first middle, the weight of
   * the next column is 0. */
  for (uint32_t i = 0, x = 0; x < width; i++) {
    const uint32_t end = lesser (width, side / 2 + (i + 1) * side);
    const uint32_t begin = i == 0 ? side / 2 : x;
    const int64_t left = row.factors[i], growth = row.factors[i + 1] - left;
    int64_t sum = left << shift;
    const uint32_t spread =
        greater (row.most[i], row.most[i + 1]) - lesser (row.least[i], row.least[i + 1]);
    for (; x < begin && x < end; x++) {
      factors[x] = (uint16_t)left;
      spreads[x] = (uint16_t)spread;
    }
    for (; x < end; x++, sum += growth) {
      factors[x] = (uint16_t)(sum >> shift);
      spreads[x] = (uint16_t)spread;
    }
  }
  return true;
}

void
codebook_find_range (CodebookLight *light)
{
  const uint32_t n_cells = light->grid.columns * light->grid.rows;

  light->least = light->most = light->factors[0];
  for (uint32_t i = 1; i < n_cells; i++) {
    light->least = lesser (light->least, light->factors[i]);
    light->most = greater (light->most, light->factors[i]);
  }
}

static void
choose_in_frame (const CodebookLight *light, const CodebookLuma *luma, uint32_t y, uint32_t of_row,
    uint16_t *factors)
{
  const uint8_t *frame = luma->frame + y * luma->frame_stride;
  const uint8_t *model = luma->model + y * luma->model_stride;
  const uint32_t least = ccl_light_product (light->least, of_row);
  const uint32_t most = ccl_light_product (light->most, of_row);

  for (uint32_t x = 0; x < luma->width && least < most; x++)
    if (ccl_light_is_at_border (&light->grid, x, y, luma->width, luma->height))
      factors[x] = (uint16_t)ccl_light_choose (frame[x], model[x], factors[x], least, most);
}

void
codebook_choose_factors (
    const CodebookLight *light, const CodebookLuma *luma, uint32_t y, uint16_t *factors)
{
  const uint32_t side = 1u << light->grid.shift, of_row = factor_of_row (light, y);
  const uint32_t width = luma->width;
  const uint8_t *frame = luma->frame + y * luma->frame_stride;
  const uint8_t *model = luma->model + y * luma->model_stride;
  RowOfFactors row;

  find_row_of_factors (light, y, &row);
  for (uint32_t i = 0, x = 0; x < width; i++) {
    const uint32_t end = lesser (width, side / 2 + (i + 1) * side);
    const uint32_t least = ccl_light_product (lesser (row.least[i], row.least[i + 1]), of_row);
    const uint32_t most = ccl_light_product (greater (row.most[i], row.most[i + 1]), of_row);
    for (; x < end && least < most; x++)
      factors[x] = (uint16_t)ccl_light_choose (frame[x], model[x], factors[x], least, most);
    x = end;
  }
  choose_in_frame (light, luma, y, of_row, factors);
}
