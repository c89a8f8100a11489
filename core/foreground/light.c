/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "light.h"

#include <stdlib.h>

static const uint16_t powers[] = {CUDACCL_LIGHT_POWERS};

/* The lower median of the explained cells of the frame; 0 without any. */
static int
median_of_frame (const CclLightCell *cells, uint32_t n_cells)
{
  uint32_t counts[2 * CUDACCL_LIGHT_LIMIT + 1] = {0}, n = 0;
  for (uint32_t i = 0; i < n_cells; i++) {
    if (cells[i].explained) {
      counts[cells[i].ratio + CUDACCL_LIGHT_LIMIT]++;
      n++;
    }
  }
  if (n == 0)
    return 0;
  int middle = 0;
  for (uint32_t below = counts[0]; 2 * below < n; below += counts[middle])
    middle++;
  return middle - CUDACCL_LIGHT_LIMIT;
}

/* The lower median of n ≥ 1 ratios, which often is that of the cell before: those of neighbouring
 * cells differ little. */
static int
lower_median (const int16_t *ratios, int n, int before)
{
  int n_up_to_before = 0, n_below_before = 0;
  for (int i = 0; i < n; i++) {
    n_up_to_before += ratios[i] <= before;
    n_below_before += ratios[i] < before;
  }
  if (2 * n_up_to_before >= n && 2 * n_below_before < n)
    return before;
  int least = ratios[0], most = ratios[0];
  for (int i = 1; i < n; i++) {
    least = ratios[i] < least ? ratios[i] : least;
    most = ratios[i] > most ? ratios[i] : most;
  }
  while (least < most) {
    const int middle = least + (most - least) / 2;
    int n_up_to = 0;
    for (int i = 0; i < n; i++)
      n_up_to += ratios[i] <= middle;
    if (2 * n_up_to >= n)
      most = middle;
    else
      least = middle + 1;
  }
  return least;
}

static int64_t
lesser_of (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* Keeps those of n ratios that are near to one. Returns their number. */
static int
keep_near (int16_t *ratios, int n, int own)
{
  int n_kept = 0;
  for (int i = 0; i < n; i++)
    if (ccl_light_is_near (ratios[i], own))
      ratios[n_kept++] = ratios[i];
  return n_kept;
}

static int
count_near (const int16_t *ratios, int n, int own)
{
  int n_near = 0;
  for (int i = 0; i < n; i++)
    n_near += ccl_light_is_near (ratios[i], own);
  return n_near;
}

/* The lower median of the uniform cells around a cell, or the frame's median where fewer than a
 * third of them are uniform. In light with edges, that of the uniform cells around that are like
 * this one, if there are enough. before: that of the cell before. */
static int
median_around (const CclLightGrid *grid, const CclLightCell *cells, int64_t column, int64_t row,
    bool has_edges, int of_frame, int before)
{
  enum { WINDOW = CUDACCL_LIGHT_WINDOW, SIDE = 2 * WINDOW + 1 };
  const int64_t left = column < WINDOW ? 0 : column - WINDOW, top = row < WINDOW ? 0 : row - WINDOW;
  const int64_t right = lesser_of (column + WINDOW + 1, grid->columns);
  const int64_t bottom = lesser_of (row + WINDOW + 1, grid->rows);
  int16_t ratios[SIDE * SIDE];
  int n = 0;

  for (int64_t y = top; y < bottom; y++) {
    for (int64_t x = left; x < right; x++) {
      const CclLightCell *cell = &cells[y * grid->columns + x];
      ratios[n] = cell->ratio;
      n += cell->uniform;
    }
  }
  const CclLightCell *own = &cells[row * grid->columns + column];
  if (has_edges && own->uniform && count_near (ratios, n, own->ratio) >= CUDACCL_LIGHT_LEAST_ALIKE)
    return lower_median (ratios, keep_near (ratios, n, own->ratio), before);
  return n > 0 && 3 * n >= (right - left) * (bottom - top) ? lower_median (ratios, n, before)
                                                           : of_frame;
}

static void
add_cell (CclLightSums *sums, const CclLightCell *cell, int light)
{
  sums->cells++;
  sums->measured += cell->measured;
  sums->bad +=
      cell->measured && (!cell->explained || abs (cell->ratio - light) > CUDACCL_LIGHT_NEAR);
  sums->in_frame += cell->in_frame >= CUDACCL_LIGHT_LEAST_SAMPLES;
  sums->in_model += cell->in_model >= CUDACCL_LIGHT_LEAST_SAMPLES;
  sums->dark += cell->dark;
  sums->bright += cell->bright;
  sums->frame_chroma += cell->frame_chroma;
  sums->model_chroma += cell->model_chroma;
}

static bool
find_edges (const CclLightCell *cells, uint32_t n_cells, int of_frame)
{
  CclLightShares shares = {0};
  for (uint32_t i = 0; i < n_cells; i++) {
    shares.measured += cells[i].measured;
    shares.uniform += cells[i].uniform;
    shares.explained += cells[i].explained;
    shares.varied += cells[i].explained && !ccl_light_is_near (cells[i].ratio, of_frame);
  }
  return ccl_light_has_edges (&shares);
}

CclSceneChange
ccl_light_smooth (
    const CclLightGrid *grid, const CclLightCell *cells, bool *has_edges, uint16_t *factors)
{
  const int of_frame = median_of_frame (cells, grid->columns * grid->rows);
  const bool edges = has_edges && find_edges (cells, grid->columns * grid->rows, of_frame);
  CclLightSums sums = {0};
  int light = of_frame;

  if (has_edges)
    *has_edges = edges;
  for (uint32_t row = 0; row < grid->rows; row++) {
    for (uint32_t column = 0; column < grid->columns; column++) {
      const size_t i = (size_t)row * grid->columns + column;
      light = median_around (grid, cells, column, row, edges, of_frame, light);
      add_cell (&sums, &cells[i], light);
      factors[i] = powers[CUDACCL_LIGHT_LIMIT - ccl_light_removed (light)];
    }
  }
  return ccl_light_scene_change (&sums);
}
