/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "codebook-light.h"

#include <string.h>

static const uint16_t powers[2 * CUDACCL_LIGHT_LIMIT + 1] = {CUDACCL_LIGHT_POWERS};

/* The samples of a cell. */
typedef struct Samples {
  uint32_t left, top;
  uint32_t n_columns, n_rows, distance;
} Samples;

static Samples
samples_of (const CclLightGrid *grid, const CodebookLuma *luma, uint32_t column, uint32_t row)
{
  const uint32_t distance = (1u << grid->shift) / CUDACCL_LIGHT_SAMPLES;
  const uint32_t left = column << grid->shift, top = row << grid->shift;
  const uint32_t columns = (luma->width - left + distance - 1) / distance;
  const uint32_t rows = (luma->height - top + distance - 1) / distance;
  return (Samples){
      .left = left,
      .top = top,
      .n_columns = columns < CUDACCL_LIGHT_SAMPLES ? columns : CUDACCL_LIGHT_SAMPLES,
      .n_rows = rows < CUDACCL_LIGHT_SAMPLES ? rows : CUDACCL_LIGHT_SAMPLES,
      .distance = distance,
  };
}

static const uint8_t *
frame_at (const CodebookLuma *luma, uint32_t x, uint32_t y)
{
  return luma->frame + y * luma->frame_stride + x;
}

static const uint8_t *
model_at (const CodebookLuma *luma, uint32_t x, uint32_t y)
{
  return luma->model + y * luma->model_stride + x;
}

static void
count_ratios (const CodebookLuma *luma, const Samples *samples, LightHistogram *histogram)
{
  for (uint32_t j = 0; j < samples->n_rows; j++) {
    const uint32_t y = samples->top + j * samples->distance;
    const uint8_t *of_frame = frame_at (luma, samples->left, y);
    const uint8_t *of_model = model_at (luma, samples->left, y);
    for (uint32_t i = 0; i < samples->n_columns * samples->distance; i += samples->distance)
      if (ccl_light_compares (of_frame[i]) && ccl_light_compares (of_model[i]))
        histogram->counts[light_log_ratio (of_frame[i], of_model[i]) + CUDACCL_LIGHT_LIMIT]++;
  }
}

/* Whether noise explains a measured cell that is not uniform. */
static bool
is_noise (const CodebookLuma *luma, const Samples *samples, int ratio,
    const uint8_t noise[CUDACCL_CODEBOOK_LEVELS])
{
  const uint32_t factor = powers[ratio + CUDACCL_LIGHT_LIMIT];
  uint32_t n = 0, explained = 0;

  for (uint32_t j = 0; j < samples->n_rows; j++) {
    const uint32_t y = samples->top + j * samples->distance;
    const uint8_t *of_frame = frame_at (luma, samples->left, y);
    const uint8_t *of_model = model_at (luma, samples->left, y);
    for (uint32_t i = 0; i < samples->n_columns * samples->distance; i += samples->distance) {
      const uint32_t value = of_frame[i], mean = of_model[i];
      if (!ccl_light_compares (value) || !ccl_light_compares (mean))
        continue;
      n++;
      explained +=
          ccl_light_is_near (light_log_ratio (value, mean), ratio) ||
          ccl_codebook_difference (value, ccl_light_expected (mean, factor)) <= noise[mean >> 4];
    }
  }
  return 5 * explained >= 3 * n;
}

void
codebook_measure_row (Light *light, const CodebookLuma *luma,
    const uint8_t noise[CUDACCL_CODEBOOK_LEVELS], uint32_t row)
{
  CclLightCell *cells = &light->cells[(size_t)row * light->grid.columns];

  memset (cells, 0, light->grid.columns * sizeof *cells);
  for (uint32_t column = 0; column < light->grid.columns; column++) {
    CclLightCell *cell = &cells[column];
    const Samples samples = samples_of (&light->grid, luma, column, row);
    LightHistogram histogram = {0};
    count_ratios (luma, &samples, &histogram);
    light_find_middle (cell, &histogram);
    if (cell->measured && !cell->uniform)
      cell->explained = is_noise (luma, &samples, cell->ratio, noise);
  }
}

static uint32_t
least_of (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

static uint32_t
most_of (uint32_t a, uint32_t b)
{
  return a < b ? b : a;
}

/* The factors of a row of pixels, in the columns of the grid's cells, and their range. */
typedef struct RowOfFactors {
  uint32_t factors[CUDACCL_LIGHT_MAX_COLUMNS + 1];
  uint32_t least[CUDACCL_LIGHT_MAX_COLUMNS + 1], most[CUDACCL_LIGHT_MAX_COLUMNS + 1];
} RowOfFactors;

/* The last column is repeated. Returns false if all factors are one. */
static bool
find_row_of_factors (const Light *light, uint32_t y, RowOfFactors *row)
{
  const CclLightGrid *grid = &light->grid;
  uint32_t above, below, weight;
  bool all_one = true;

  ccl_light_place (y, grid->shift, grid->rows, &above, &below, &weight);
  for (uint32_t i = 0; i <= grid->columns; i++) {
    const uint32_t column = i < grid->columns ? i : i - 1;
    const uint32_t a = light->factors[(size_t)above * grid->columns + column];
    const uint32_t b = light->factors[(size_t)below * grid->columns + column];
    row->factors[i] = ccl_light_between (a, b, weight, grid->shift);
    row->least[i] = least_of (a, b);
    row->most[i] = most_of (a, b);
    all_one = all_one && a == CUDACCL_LIGHT_ONE && b == CUDACCL_LIGHT_ONE;
  }
  return !all_one;
}

bool
codebook_row_factors (
    const Light *light, uint32_t y, uint32_t width, uint16_t *factors, uint16_t *spreads)
{
  const uint32_t shift = light->grid.shift, side = 1u << shift;
  RowOfFactors row;

  if (!find_row_of_factors (light, y, &row))
    return false;
  /* Pixels between the middles of column i and the next one; before the first middle, the weight of
   * the next column is 0. */
  for (uint32_t i = 0, x = 0; x < width; i++) {
    const uint32_t end = least_of (width, side / 2 + (i + 1) * side);
    const uint32_t begin = i == 0 ? side / 2 : x;
    const int64_t left = row.factors[i], growth = row.factors[i + 1] - left;
    int64_t sum = left << shift;
    const uint32_t spread =
        most_of (row.most[i], row.most[i + 1]) - least_of (row.least[i], row.least[i + 1]);
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
