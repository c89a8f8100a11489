/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "codebook-light.h"

#include <string.h>

static const uint16_t powers[2 * CUDACCL_LIGHT_LIMIT + 1] = {CUDACCL_LIGHT_POWERS};

/* Samples of a row of cells: those of a cell are CUDACCL_LIGHT_SAMPLES columns and rows. */
enum { MAX_SAMPLES = CUDACCL_LIGHT_MAX_COLUMNS * CUDACCL_LIGHT_SAMPLES };

typedef struct Samples {
  uint8_t frame[CUDACCL_LIGHT_SAMPLES][MAX_SAMPLES], model[CUDACCL_LIGHT_SAMPLES][MAX_SAMPLES];
  int16_t ratios[CUDACCL_LIGHT_SAMPLES][MAX_SAMPLES]; /* NO_LOG_RATIO beyond the frame */
} Samples;

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

static void
measure_samples (const CclLightGrid *grid, const PixelCode *code, const uint8_t *logs,
    const CodebookLuma *luma, uint32_t row, Samples *samples)
{
  const uint32_t distance = (1u << grid->shift) / CUDACCL_LIGHT_SAMPLES;
  const uint32_t n = (luma->width + distance - 1) / distance;

  for (uint32_t j = 0; j < CUDACCL_LIGHT_SAMPLES; j++) {
    const uint32_t y = (row << grid->shift) + j * distance;
    const uint32_t n_of_row = y < luma->height ? n : 0;
    if (n_of_row > 0) {
      take_samples (luma->frame + y * luma->frame_stride, distance, n, samples->frame[j]);
      take_samples (luma->model + y * luma->model_stride, distance, n, samples->model[j]);
      code->log_ratios (logs, samples->frame[j], samples->model[j], n, samples->ratios[j]);
    }
    for (uint32_t i = n_of_row; i < grid->columns * CUDACCL_LIGHT_SAMPLES; i++)
      samples->ratios[j][i] = NO_LOG_RATIO;
  }
}

/* The number of a cell's ratios up to one. */
static uint32_t
count_up_to (const Samples *samples, const PixelCode *code, uint32_t column, int ratio)
{
  return code->count_ratios (
      samples->ratios[0] + column * CUDACCL_LIGHT_SAMPLES, MAX_SAMPLES, (int16_t)ratio);
}

/* The lower median of n ratios, looked for at the one of the frame before first. */
static int
find_median (const Samples *samples, const PixelCode *code, uint32_t column, uint32_t n, int before)
{
  int least = -CUDACCL_LIGHT_LIMIT, most = CUDACCL_LIGHT_LIMIT;

  if (2 * count_up_to (samples, code, column, before) >= n) {
    if (before == least || 2 * count_up_to (samples, code, column, before - 1) < n)
      return before;
    most = before - 1;
  } else {
    least = before + 1;
  }
  while (least < most) {
    const int middle = least + (most - least) / 2;
    if (2 * count_up_to (samples, code, column, middle) >= n)
      most = middle;
    else
      least = middle + 1;
  }
  return least;
}

/* Whether noise explains a measured cell of n ratios that is not uniform. */
static bool
is_noise (const Samples *samples, uint32_t column, uint32_t n, int ratio,
    const uint8_t noise[CUDACCL_CODEBOOK_LEVELS])
{
  const uint32_t factor = powers[ratio + CUDACCL_LIGHT_LIMIT];
  const uint32_t first = column * CUDACCL_LIGHT_SAMPLES;
  uint32_t explained = 0;

  for (uint32_t j = 0; j < CUDACCL_LIGHT_SAMPLES; j++)
    for (uint32_t i = first; i < first + CUDACCL_LIGHT_SAMPLES; i++) {
      const uint32_t value = samples->frame[j][i], mean = samples->model[j][i];
      if (samples->ratios[j][i] != NO_LOG_RATIO)
        explained +=
            ccl_light_is_near (samples->ratios[j][i], ratio) ||
            ccl_codebook_difference (value, ccl_light_expected (mean, factor)) <= noise[mean >> 4];
    }
  return 5 * explained >= 3 * n;
}

void
codebook_measure_row (Light *light, const PixelCode *code, const uint8_t *logs,
    const CodebookLuma *luma, const uint8_t noise[CUDACCL_CODEBOOK_LEVELS], uint32_t row)
{
  Samples samples;

  measure_samples (&light->grid, code, logs, luma, row, &samples);
  for (uint32_t column = 0; column < light->grid.columns; column++) {
    CclLightCell *cell = &light->cells[(size_t)row * light->grid.columns + column];
    const int before = cell->measured ? cell->ratio : 0;
    const uint32_t n = count_up_to (&samples, code, column, CUDACCL_LIGHT_LIMIT);
    *cell = (CclLightCell){.measured = n >= CUDACCL_LIGHT_LEAST_SAMPLES};
    if (!cell->measured)
      continue;
    const int ratio = find_median (&samples, code, column, n, before);
    const uint32_t near = count_up_to (&samples, code, column, ratio + CUDACCL_LIGHT_NEAR) -
                          count_up_to (&samples, code, column, ratio - CUDACCL_LIGHT_NEAR - 1);
    cell->ratio = (int16_t)ratio;
    cell->uniform = 5 * near >= 3 * n;
    cell->explained = cell->uniform || is_noise (&samples, column, n, ratio, noise);
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

/* The last column is repeated. Returns false if all factors are one. The loop over columns has no
 * branches so that compilers vectorise it. */
static bool
find_row_of_factors (const Light *light, uint32_t y, RowOfFactors *row)
{
  const CclLightGrid *grid = &light->grid;
  const uint32_t n = grid->columns, shift = grid->shift;
  const bool fits_32_bits = shift < 16; /* frames of fewer than two million columns */
  uint32_t above, below, weight, differs = 0;

  ccl_light_place (y, shift, grid->rows, &above, &below, &weight);
  const uint16_t *a = light->factors + (size_t)above * n, *b = light->factors + (size_t)below * n;
  for (uint32_t i = 0; i < n; i++) {
    row->factors[i] = fits_32_bits ? (a[i] * ((1u << shift) - weight) + b[i] * weight) >> shift
                                   : ccl_light_between (a[i], b[i], weight, shift);
    row->least[i] = least_of (a[i], b[i]);
    row->most[i] = most_of (a[i], b[i]);
    differs |= (a[i] ^ (uint32_t)CUDACCL_LIGHT_ONE) | (b[i] ^ (uint32_t)CUDACCL_LIGHT_ONE);
  }
  row->factors[n] = row->factors[n - 1];
  row->least[n] = row->least[n - 1];
  row->most[n] = row->most[n - 1];
  return differs != 0;
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
