/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/foreground/light.h on the CPU: measuring light in a frame, and the factors of its rows. */
#pragma once

#include "core/foreground/light.h"
#include "cpu/pixels/pixels.h"

typedef struct Light {
  CclLightGrid grid;
  CclLightCell *cells; /* row by row */
  uint16_t *factors;   /* of the cells */
} Light;

/* The number of samples of a cell with each log ratio. */
typedef struct LightHistogram {
  uint16_t counts[2 * CUDACCL_LIGHT_LIMIT + 1];
} LightHistogram;

/* Sets the fields of a cell that follow from its histogram. */
void light_find_middle (CclLightCell *cell, const LightHistogram *histogram);

extern const int16_t light_logs[256]; /* CUDACCL_LIGHT_LOGS */

/* The log ratio of a luma to a mean, both of 8 bits. */
static inline int
light_log_ratio (uint32_t luma, uint32_t mean)
{
  return ccl_light_limited (light_logs[luma] - light_logs[mean]);
}

/* Measures the cells of a row of the grid, in frames of the plan. */
void light_measure_row (Light *light, const Model *model, const CclFrame *frame,
    const CclForegroundPlan *plan, uint32_t row);

/* Writes the factors of the pixels of row y, four pixels at a time: factors has space for three
 * more. Returns false, with nothing written, if all are one. */
bool light_row_factors (const Light *light, uint32_t y, uint32_t width, uint16_t *factors);
