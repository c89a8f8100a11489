/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame-light.h"

#include <stdlib.h>

static const int16_t logs[256] = {CCL_LIGHT_LOGS};

/* The chroma of a frame at a pixel, as the model has it. */
static uint32_t
chroma_at (const CclChroma *chroma, uint32_t x, uint32_t y)
{
  const size_t row = y >> chroma->shift_y, sample = (size_t)(x >> chroma->shift_x) * chroma->step;
  const uint32_t u = ((const uint8_t *)chroma->u)[row * chroma->u_stride + sample];
  const uint32_t v = ((const uint8_t *)chroma->v)[row * chroma->v_stride + sample];
  return u | v << 8;
}

/* How much colour chroma has. */
static uint32_t
colour_of (uint32_t chroma)
{
  return (uint32_t)(abs (ccl_chroma_u (chroma) - 128) + abs (ccl_chroma_v (chroma) - 128));
}

/* Sets the fields that follow from the number of samples with each log ratio. */
static void
find_middle (CclLightCell *cell, const uint16_t counts[2 * CCL_LIGHT_LIMIT + 1])
{
  uint32_t n = 0, below = 0, near = 0;
  int middle = -1;

  for (int i = 0; i <= 2 * CCL_LIGHT_LIMIT; i++)
    n += counts[i];
  cell->measured = n >= CCL_LIGHT_LEAST_SAMPLES;
  if (!cell->measured)
    return;
  while (2 * below < n)
    below += counts[++middle];
  for (int i = middle - CCL_LIGHT_NEAR; i <= middle + CCL_LIGHT_NEAR; i++)
    near += i >= 0 && i <= 2 * CCL_LIGHT_LIMIT ? counts[i] : 0;
  cell->ratio = (int16_t)(middle - CCL_LIGHT_LIMIT);
  cell->uniform = 5 * near >= 3 * n;
}

static void
measure_cell (CclLightCell *cell, const Model *model, const CclFrame *frame, uint32_t width,
    uint32_t height, uint32_t left, uint32_t top, uint32_t distance)
{
  uint16_t counts[2 * CCL_LIGHT_LIMIT + 1] = {0};

  *cell = (CclLightCell){0};
  for (uint32_t j = 0; j < CCL_LIGHT_SAMPLES && top + j * distance < height; j++) {
    const uint32_t y = top + j * distance;
    const uint8_t *luma = (const uint8_t *)frame->data + y * frame->stride;
    const GaussianBlock *blocks = model->gaussians + y * model->blocks_per_row;
    for (uint32_t i = 0; i < CCL_LIGHT_SAMPLES && left + i * distance < width; i++) {
      const uint32_t x = left + i * distance, value = luma[x];
      const uint32_t mean = (blocks[x / BLOCK_PIXELS].means[x % BLOCK_PIXELS] + 128u) >> 8;
      const bool in_frame = ccl_light_compares (value), in_model = ccl_light_compares (mean);
      cell->in_frame += in_frame;
      cell->in_model += in_model;
      cell->dark += value < CCL_LIGHT_LEAST_LUMA;
      cell->bright += value > CCL_LIGHT_MOST_LUMA;
      if (in_frame && in_model) {
        const int ratio = logs[value] - logs[mean];
        counts[ratio < -CCL_LIGHT_LIMIT  ? 0
               : ratio > CCL_LIGHT_LIMIT ? 2 * CCL_LIGHT_LIMIT
                                         : ratio + CCL_LIGHT_LIMIT]++;
      }
    }
    const uint32_t x = left + j * distance;
    if (model->chroma && x < width) {
      const ChromaBlock *of_model = model->chroma + y * model->blocks_per_row + x / BLOCK_PIXELS;
      cell->frame_chroma += colour_of (chroma_at (&frame->chroma, x, y));
      cell->model_chroma += colour_of (of_model->chroma[x % BLOCK_PIXELS]);
    }
  }
  find_middle (cell, counts);
}

void
light_measure_row (Light *light, const Model *model, const CclFrame *frame, uint32_t width,
    uint32_t height, uint32_t row)
{
  const CclLightGrid *grid = &light->grid;
  for (uint32_t column = 0; column < grid->columns; column++)
    measure_cell (&light->cells[(size_t)row * grid->columns + column], model, frame, width, height,
        column << grid->shift, row << grid->shift, (1u << grid->shift) / CCL_LIGHT_SAMPLES);
}

bool
light_row_factors (const Light *light, uint32_t y, uint32_t width, uint16_t *factors)
{
  const CclLightGrid *grid = &light->grid;
  uint16_t of_row[CCL_LIGHT_MAX_COLUMNS];
  uint32_t above, below, weight;
  bool all_one = true;

  ccl_light_place (y, grid->shift, grid->rows, &above, &below, &weight);
  for (uint32_t i = 0; i < grid->columns; i++) {
    of_row[i] = (uint16_t)ccl_light_between (light->factors[(size_t)above * grid->columns + i],
        light->factors[(size_t)below * grid->columns + i], weight, grid->shift);
    all_one = all_one && of_row[i] == CCL_LIGHT_ONE;
  }
  if (all_one)
    return false;
  for (uint32_t x = 0; x < width; x += 4) {
    uint32_t left, right;
    ccl_light_place (x + 2, grid->shift, grid->columns, &left, &right, &weight);
    const uint16_t factor =
        (uint16_t)ccl_light_between (of_row[left], of_row[right], weight, grid->shift);
    for (uint32_t i = 0; i < 4; i++)
      factors[x + i] = factor;
  }
  return true;
}
