/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the components of a frame whose runs have final labels: the frame's part of
 * measure-runs.h. */
#include "core/label/component-features.h"
#include "core/base/divide-up.h"
#include "runs-labeller.h"

#include <string.h>

/* The words of a row of the frame, in the memory of its band. */
static const uint64_t *
find_row (const CpuLabeller *self, uint32_t y)
{
  const Band *band = self->bands;
  while (y >= band->end_row)
    band++;
  return band->pixels + (size_t)(y - band->first_row) * self->job.words_per_row;
}

void
runs_lay_out_measurer (CpuLabeller *self, Layout *layout, uint32_t n_rows)
{
  const size_t height = self->base.plan.height;
  const size_t n_words = round_up (self->job.n_words, GROUP);
  RunMeasurer *measurer = &self->measurer;

  const uint64_t *zeros = lay_out_zeros (layout, n_words + 2, sizeof *zeros);
  measurer->columns = self->base.plan.columns;
  measurer->width = self->base.plan.width;
  measurer->features = lay_out (layout, n_rows, sizeof *measurer->features);
  measurer->counts = lay_out (layout, n_rows, sizeof *measurer->counts);
  for (uint32_t i = 0; i < 4; i++) {
    uint64_t *border = lay_out_zeros (layout, n_words + 2, sizeof *border);
    measurer->borders[i] = border ? border + 1 : NULL;
  }
  measurer->planes = lay_out (layout, n_words * N_PLANES, sizeof *measurer->planes);
  /* A strip has two rows, also at the end of a frame of an odd height. */
  const size_t n_measured = height + 1 + 2 * MEASURED_AROUND;
  measurer->rows = lay_out (layout, n_measured, sizeof *measurer->rows);
  for (size_t i = 0; i < n_measured && measurer->rows; i++) {
    const bool is_inside = i >= MEASURED_AROUND && i < height + MEASURED_AROUND;
    measurer->rows[i] = is_inside ? find_row (self, (uint32_t)i - MEASURED_AROUND) : zeros + 1;
  }
}

/* Squares of 2×2 pixels with 1 and with 2 pixels side by side follow from those with more, from the
 * pairs and from the area: each pixel is in four squares, each pair in two. */
static void
complete_counts (CclFeatures *features, const uint32_t counts[N_COUNTS], uint32_t area)
{
  const uint32_t n_4 = counts[COUNT_SQUARES], n_3 = counts[COUNT_THREES];
  const uint32_t n_pairs = counts[COUNT_PAIRS] + 4 * counts[COUNT_FOUR_PAIRS];

  features->n_straight = counts[COUNT_STRAIGHT];
  features->n_diagonal = counts[COUNT_DIAGONAL];
  features->n_mixed = counts[COUNT_MIXED];
  features->n_quads_3 = n_3;
  features->n_quads_diagonal = counts[COUNT_DIAGONALS];
  features->n_quads_2 = 2 * n_pairs - 2 * n_3 - 4 * n_4;
  features->n_quads_1 =
      4 * area - 2 * (features->n_quads_2 + features->n_quads_diagonal) - 3 * n_3 - 4 * n_4;
}

void
runs_measure (CpuLabeller *self, const CclIntensity *intensity)
{
  RunMeasurer *measurer = &self->measurer;

  measurer->n = self->n_rows;
  measurer->intensity = intensity;
  for (uint32_t i = 0; i < self->n_rows; i++) {
    measurer->features[i] = ccl_features_of_nothing ();
    memset (measurer->counts[i], 0, sizeof measurer->counts[i]);
  }
  for (uint32_t i = 0; i < self->n_bands; i++)
    self->runs->measure_band (&self->job, &self->bands[i], &self->shares[0].scratch, measurer);
  for (uint32_t i = 0; i < self->n_rows; i++) {
    const RowSums *sums = &self->job.forest.sums[self->roots[i]];
    measurer->features[i].sum_x = sums->sum_x;
    measurer->features[i].sum_y = sums->sum_y;
    complete_counts (&measurer->features[i], measurer->counts[i], sums->area);
  }
}
