/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runs of a frame's rows, for both forms of ACCL. */
#pragma once

#include "cuda/kernel-lib/pixels.cuh"

/* A run of foreground pixels in a row. */
struct Run {
  uint32_t first, last; /* columns */
};

/* The runs of a row: their number, then the runs. */
struct Runs {
  uint32_t *n;
  Run *list;
};

/* The most runs of a row. */
static __device__ __forceinline__ uint32_t
most_runs (const CclLabellingParameters &p)
{
  return p.label_stride / 2;
}

static __device__ __forceinline__ Runs
runs_of_row (const CclLabellingParameters &p, uint32_t y)
{
  Run *row = (Run *)p.scratch + (size_t)y * (most_runs (p) + 1);
  Runs runs = {&row->first, row + 1};
  return runs;
}

/* The number of a run's first pixel, which is the run's first label. */
static __device__ __forceinline__ uint32_t
number_of_run (const CclLabellingParameters &p, uint32_t first, uint32_t y)
{
  return pixel_at (p, first, y).number;
}

static __device__ __forceinline__ bool
runs_touch (const Run &a, const Run &b)
{
  return a.first <= b.last && b.first <= a.last;
}

/* Lists the runs of a row, and calls set_label (index, number) for each of them. */
template <typename SetLabel>
static __device__ __forceinline__ void
list_runs (const CclLabellingParameters &p, uint32_t y, SetLabel set_label)
{
  const uint8_t *values = frame_row (p, y);
  const Runs runs = runs_of_row (p, y);
  uint32_t n_runs = 0;
  bool is_inside = false;
  for (uint32_t x = 0; x <= p.width; x++) {
    const bool foreground = x < p.width && is_foreground (p, values[x]);
    if (foreground && !is_inside) {
      runs.list[n_runs].first = x;
      set_label (n_runs, number_of_run (p, x, y));
    }
    if (!foreground && is_inside)
      runs.list[n_runs++].last = x - 1;
    is_inside = foreground;
  }
  *runs.n = n_runs;
}

/* A block writes the labels of a row: a thread writes a run, whose label is label_of (index), and
 * the background before it; the last thread writes the remainder of the row. */
template <typename LabelOf>
static __device__ __forceinline__ void
write_labels (const CclLabellingParameters &p, uint32_t y, LabelOf label_of)
{
  uint32_t *row = p.labels + y * p.label_stride;
  const Runs runs = runs_of_row (p, y);
  const uint32_t n_runs = *runs.n;
  for (uint32_t i = threadIdx.x; i <= n_runs; i += blockDim.x) {
    uint32_t x = i == 0 ? 0 : runs.list[i - 1].last + 1;
    const uint32_t first = i < n_runs ? runs.list[i].first : p.width;
    while (x < first)
      row[x++] = 0;
    if (i == n_runs)
      break;
    const uint32_t label = label_of (i);
    while (x <= runs.list[i].last)
      row[x++] = label;
  }
}
