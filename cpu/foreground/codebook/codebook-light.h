/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The light of a frame for the codebook model: how it is measured, and what rows need of it. */
#pragma once

#include "cpu/foreground/light/frame-light.h"

/* Two planes of luma of 8 bits: of the frame, and of the heaviest words. */
typedef struct CodebookLuma {
  const uint8_t *frame, *model;
  size_t frame_stride, model_stride;
  uint32_t width, height;
} CodebookLuma;

enum { CODEBOOK_LIGHT_SAMPLES = CUDACCL_LIGHT_MAX_COLUMNS * CUDACCL_LIGHT_SAMPLES };

typedef struct CodebookLight {
  CclLightGrid grid;
  CclLightCell *cells;  /* row by row */
  uint16_t *factors;    /* of the cells */
  uint32_t least, most; /* of the factors, where the light of cells has edges */

  /* Of the rows of samples, CUDACCL_LIGHT_SAMPLES for each row of cells. */
  uint32_t n_rows;       /* inside the frame */
  int16_t *ratios;       /* CODEBOOK_LIGHT_SAMPLES of a row; less the row's light if has_rows */
  int16_t *rows;         /* their light; 0 where it is not measured */
  int16_t *means;        /* of the rows of a row of cells */
  CclLightRowSums *sums; /* of each row of cells */
  bool has_rows;         /* rows have their own light in this frame */
  bool has_edges;        /* and the light of cells has edges */
} CodebookLight;

/* Fills the table that PixelCode.log_ratios() needs. */
void codebook_fill_logs (uint8_t logs[256]);

/* Measures the cells of a row of the grid. Before the first frame, they are zeros. noise: the
 * median distance of background pixels for each level of luma. */
void codebook_measure_row (CodebookLight *light, const PixelCode *code, const uint8_t *logs,
    const CodebookLuma *luma, const uint8_t noise[CUDACCL_CODEBOOK_LEVELS], uint32_t row);

/* Counts the samples near the light of their rows, in a row of the grid. */
void codebook_count_row (CodebookLight *light, const PixelCode *code, uint32_t row);

/* Writes the factors of the pixels of row y, and the differences between the greatest and the least
 * factor of the cells around them. Returns false, with nothing written, if all factors are one and
 * the light has no edges. */
bool codebook_row_factors (
    const CodebookLight *light, uint32_t y, uint32_t width, uint16_t *factors, uint16_t *spreads);

/* Finds the least and the greatest factor of the cells. */
void codebook_find_range (CodebookLight *light);

/* Where the light has edges: replaces the factors of pixels of row y that are in the light of a
 * cell near them, or at the border in that of any cell. luma: of the frame and of the model in that
 * row. */
void codebook_choose_factors (
    const CodebookLight *light, const CodebookLuma *luma, uint32_t y, uint16_t *factors);
