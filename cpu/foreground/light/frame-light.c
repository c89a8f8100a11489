/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame-light.h"

#include "cpu/pixels/words.h"

#include <stdlib.h>
#include <string.h>

const int16_t light_logs[256] = {CUDACCL_LIGHT_LOGS};
static const uint16_t powers[2 * CUDACCL_LIGHT_LIMIT + 1] = {CUDACCL_LIGHT_POWERS};

/* The chroma of a frame at a pixel, as the model has it. */
static uint32_t
chroma_at (const CclChroma *chroma, uint32_t x, uint32_t y)
{
  const size_t row = y >> chroma->shift_y, sample = (size_t)(x >> chroma->shift_x) * chroma->step;
  const uint32_t u = ((const uint8_t *)chroma->u)[row * chroma->u_stride + sample];
  const uint32_t v = ((const uint8_t *)chroma->v)[row * chroma->v_stride + sample];
  return u | v << 8;
}

/* The strength of a colour. */
static uint32_t
colour_of (uint32_t chroma)
{
  return (uint32_t)(abs (ccl_chroma_u (chroma) - 128) + abs (ccl_chroma_v (chroma) - 128));
}

void
light_find_middle (CclLightCell *cell, const LightHistogram *histogram)
{
  const uint16_t *counts = histogram->counts;
  uint32_t n = 0, below = 0, near = 0;
  int middle = -1;

  for (int i = 0; i <= 2 * CUDACCL_LIGHT_LIMIT; i++)
    n += counts[i];
  cell->measured = n >= CUDACCL_LIGHT_LEAST_SAMPLES;
  if (!cell->measured)
    return;
  while (2 * below < n)
    below += counts[++middle];
  for (int i = middle - CUDACCL_LIGHT_NEAR; i <= middle + CUDACCL_LIGHT_NEAR; i++)
    near += i >= 0 && i <= 2 * CUDACCL_LIGHT_LIMIT ? counts[i] : 0;
  cell->ratio = (int16_t)(middle - CUDACCL_LIGHT_LIMIT);
  cell->uniform = cell->explained = 5 * near >= 3 * n;
}

/* The compiler specialises functions with is_wide for frames whose luma has 16 bits, and for
 * others, whose means are too small to be limited when they are rounded. */

/* The mean of a pixel's heaviest Gaussian as luma of 8 bits. */
static ALWAYS_INLINE uint32_t
mean_of (const GaussianBlock *of_row, uint32_t x, bool is_wide)
{
  const uint32_t mean = of_row[x / BLOCK_PIXELS].means[x % BLOCK_PIXELS];
  return is_wide ? ccl_mixture_luma_8 (mean) : (mean + 128) >> 8;
}

/* The luma of a frame. */
typedef struct Luma {
  const uint8_t *data; /* of 16 bits, the upper byte */
  size_t stride, step; /* bytes from row to row and from pixel to pixel */
} Luma;

static Luma
luma_of (const CclFrame *frame, CclPixelFormat format)
{
  return (Luma){(const uint8_t *)frame->data + ccl_pixel_luma_byte (format), frame->stride,
      ccl_pixel_bytes (format)};
}

/* The luma of a pixel in 8 bits. */
static ALWAYS_INLINE uint32_t
luma_at (const Luma *luma, uint32_t x, uint32_t y, bool is_wide)
{
  const uint8_t *byte = luma->data + y * luma->stride + x * luma->step;
  return is_wide ? ccl_mixture_luma_8 ((uint32_t)byte[0] << 8 | byte[-1]) : byte[0];
}

/* Adds row y of samples, `distance` pixels apart, of a cell that begins at column left. */
static ALWAYS_INLINE void
add_samples (CclLightCell *cell, LightHistogram *histogram, const Luma *luma,
    const GaussianBlock *blocks, uint32_t left, uint32_t y, uint32_t width, uint32_t distance,
    bool is_wide)
{
  for (uint32_t i = 0, x = left; i < CUDACCL_LIGHT_SAMPLES && x < width; i++, x += distance) {
    const uint32_t value = luma_at (luma, x, y, is_wide);
    const uint32_t mean = mean_of (blocks, x, is_wide);
    const bool in_frame = ccl_light_compares (value), in_model = ccl_light_compares (mean);
    cell->in_frame += in_frame;
    cell->in_model += in_model;
    cell->dark += value < CUDACCL_LIGHT_LEAST_LUMA;
    cell->bright += value > CUDACCL_LIGHT_MOST_LUMA;
    if (in_frame && in_model)
      histogram->counts[light_log_ratio (value, mean) + CUDACCL_LIGHT_LIMIT]++;
  }
}

/* Adds the colours of a sample. */
static void
add_colours (
    CclLightCell *cell, const CclChroma *frame, const ChromaBlock *of_row, uint32_t x, uint32_t y)
{
  cell->frame_chroma += colour_of (chroma_at (frame, x, y));
  cell->model_chroma += colour_of (of_row[x / BLOCK_PIXELS].chroma[x % BLOCK_PIXELS]);
}

/* Starts to load the means that a row of samples needs. */
static void
prefetch_row (
    const GaussianBlock *blocks, const Luma *luma, uint32_t y, uint32_t width, uint32_t distance)
{
  const uint32_t step = distance > BLOCK_PIXELS ? distance : BLOCK_PIXELS;
  for (uint32_t x = 0; x < width; x += step) {
    __builtin_prefetch (blocks[x / BLOCK_PIXELS].means);
    __builtin_prefetch (luma->data + y * luma->stride + x * luma->step);
  }
}

/* Whether a measured cell that is not uniform is explained by noise. Few cells need this second
 * look at the samples. */
static ALWAYS_INLINE bool
is_noise (const CclLightCell *cell, const Model *model, const Luma *luma, uint32_t width,
    uint32_t height, uint32_t left, uint32_t top, uint32_t distance, bool is_wide)
{
  const uint32_t factor = powers[cell->ratio + CUDACCL_LIGHT_LIMIT];
  uint32_t n = 0, near = 0;

  for (uint32_t j = 0, y = top; j < CUDACCL_LIGHT_SAMPLES && y < height; j++, y += distance) {
    const GaussianBlock *blocks = model->gaussians + y * model->blocks_per_row;
    for (uint32_t i = 0, x = left; i < CUDACCL_LIGHT_SAMPLES && x < width; i++, x += distance) {
      const uint32_t value = luma_at (luma, x, y, is_wide);
      const uint32_t mean = mean_of (blocks, x, is_wide);
      if (!ccl_light_compares (value) || !ccl_light_compares (mean))
        continue;
      n++;
      near += ccl_light_is_near (light_log_ratio (value, mean), cell->ratio) ||
              ccl_light_is_noise (value, ccl_light_expected (mean, factor),
                  blocks[x / BLOCK_PIXELS].variances[x % BLOCK_PIXELS]);
    }
  }
  return 5 * near >= 3 * n;
}

static ALWAYS_INLINE void
measure_row (Light *light, const Model *model, const CclFrame *frame, const CclForegroundPlan *plan,
    uint32_t row, bool is_wide)
{
  const CclLightGrid *grid = &light->grid;
  const uint32_t width = plan->width, height = plan->height;
  const Luma luma = luma_of (frame, plan->format);
  const uint32_t distance = (1u << grid->shift) / CUDACCL_LIGHT_SAMPLES, top = row << grid->shift;
  CclLightCell *cells = &light->cells[(size_t)row * grid->columns];
  LightHistogram histograms[CUDACCL_LIGHT_MAX_COLUMNS] = {0};

  memset (cells, 0, grid->columns * sizeof *cells);
  for (uint32_t j = 0, y = top; j < CUDACCL_LIGHT_SAMPLES && y < height; j++, y += distance) {
    const GaussianBlock *blocks = model->gaussians + y * model->blocks_per_row;
    if (y + distance < height)
      prefetch_row (
          blocks + distance * model->blocks_per_row, &luma, y + distance, width, distance);
    for (uint32_t column = 0; column < grid->columns; column++) {
      const uint32_t left = column << grid->shift, x = left + j * distance;
      add_samples (
          &cells[column], &histograms[column], &luma, blocks, left, y, width, distance, is_wide);
      if (model->chroma && x < width)
        add_colours (
            &cells[column], &frame->chroma, model->chroma + y * model->blocks_per_row, x, y);
    }
  }
  for (uint32_t column = 0; column < grid->columns; column++) {
    CclLightCell *cell = &cells[column];
    light_find_middle (cell, &histograms[column]);
    if (cell->measured && !cell->uniform)
      cell->explained = is_noise (
          cell, model, &luma, width, height, column << grid->shift, top, distance, is_wide);
  }
}

void
light_measure_row (Light *light, const Model *model, const CclFrame *frame,
    const CclForegroundPlan *plan, uint32_t row)
{
  if (plan->format == CUDACCL_PIXEL_FORMAT_16)
    measure_row (light, model, frame, plan, row, true);
  else
    measure_row (light, model, frame, plan, row, false);
}

static void
set_four (uint16_t *factors, uint16_t factor)
{
  for (uint32_t i = 0; i < 4; i++)
    factors[i] = factor;
}

bool
light_row_factors (const Light *light, uint32_t y, uint32_t width, uint16_t *factors)
{
  const CclLightGrid *grid = &light->grid;
  uint16_t of_row[CUDACCL_LIGHT_MAX_COLUMNS];
  uint32_t above, below, weight;
  bool all_one = true;

  ccl_light_place (y, grid->shift, grid->rows, &above, &below, &weight);
  for (uint32_t i = 0; i < grid->columns; i++) {
    of_row[i] = (uint16_t)ccl_light_between (light->factors[(size_t)above * grid->columns + i],
        light->factors[(size_t)below * grid->columns + i], weight, grid->shift);
    all_one = all_one && of_row[i] == CUDACCL_LIGHT_ONE;
  }
  if (all_one)
    return false;
  /* Between two cells, the interpolated factor grows by the same amount from one group of pixels to
   * the next. The first group's middle is pixel 2. */
  const int64_t side = (int64_t)1 << grid->shift;
  uint32_t x = 0;
  for (; x < width && x + 2 <= side / 2; x += 4)
    set_four (factors + x, of_row[0]);
  for (uint32_t i = 0; x < width; i++) {
    const int64_t left = of_row[i], right = of_row[i + 1 < grid->columns ? i + 1 : i];
    const int64_t first = x + 2 - side / 2 - i * side;
    int64_t sum = left * side + (right - left) * first;
    for (int64_t place = first; x < width && place < side; place += 4, x += 4) {
      set_four (factors + x, (uint16_t)(sum >> grid->shift));
      sum += 4 * (right - left);
    }
  }
  return true;
}
