/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ACCL, Accelerated Connected Component Labeling.
 *
 * Nina Paravecino, Kaeli: Accelerated Connected Component Labeling Using CUDA Framework, ICCVG
 * 2014; as in the review by Bolelli et al., IEEE TPDS 2024, section III-B-4. 4-connectivity,
 * run-based. A matrix beside the label buffer holds the first and the last pixel of each run.
 *
 * 1. find_runs: one thread for each row lists its runs; a run's first pixel is its label.
 * 2. merge_rows: one thread for each row unites its runs with those of the row above.
 * 3. label: a thread block for each row writes the labels of its runs, and 0 between them.
 *
 * For each merge of step 2, the paper launches a kernel from the device that replaces a label in
 * all runs. Two concurrent merges of this kind may undo each other. This implementation uses
 * union-find instead, and launches no other kernel.
 */
#include "pixels.cuh"

/* A run of pixels in a row. */
struct Run {
  uint32_t first, last; /* columns */
};

/* The runs of a row: their number, then the runs. */
struct Runs {
  uint32_t *n;
  Run *list;
};

static __device__ __forceinline__ Runs
runs_of_row (const CclLabellingParameters &p, uint32_t y)
{
  Run *row = (Run *)p.scratch + (size_t)y * (p.label_stride / 2 + 1);
  Runs runs = {&row->first, row + 1};
  return runs;
}

static __device__ __forceinline__ uint32_t
number_of_pixel (const CclLabellingParameters &p, uint32_t x, uint32_t y)
{
  return pixel_at (p, x, y).number;
}

extern "C" __global__ void
ccl_accl_find_runs (const CclLabellingParameters p)
{
  const uint32_t y = thread_row ();
  if (y >= p.height)
    return;
  const uint8_t *values = frame_row (p, y);
  const Runs runs = runs_of_row (p, y);
  uint32_t n_runs = 0;
  bool is_inside = false;
  for (uint32_t x = 0; x <= p.width; x++) {
    const bool foreground = x < p.width && is_foreground (p, values[x]);
    if (foreground && !is_inside) {
      const uint32_t number = number_of_pixel (p, x, y);
      runs.list[n_runs].first = x;
      parents_of_pixels (p)[number] = number;
    }
    if (!foreground && is_inside)
      runs.list[n_runs++].last = x - 1;
    is_inside = foreground;
  }
  *runs.n = n_runs;
}

extern "C" __global__ void
ccl_accl_merge_rows (const CclLabellingParameters p)
{
  const uint32_t y = thread_row () + 1;
  if (y >= p.height)
    return;
  const Runs runs = runs_of_row (p, y), above = runs_of_row (p, y - 1);
  const uint32_t n_runs = *runs.n, n_above = *above.n;
  uint32_t i = 0, j = 0;
  while (i < n_runs && j < n_above) {
    const Run run = runs.list[i], run_above = above.list[j];
    if (run.first <= run_above.last && run_above.first <= run.last)
      unite (parents_of_pixels (p), number_of_pixel (p, run.first, y),
          number_of_pixel (p, run_above.first, y - 1));
    if (run.last < run_above.last)
      i++;
    else
      j++;
  }
}

/* A thread writes a run and the background before it; the last thread writes the remainder of the
 * row. */
extern "C" __global__ void
ccl_accl_label (const CclLabellingParameters p)
{
  const uint32_t y = block_row ();
  if (y >= p.height)
    return;
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
    const uint32_t root = find_root (parents_of_pixels (p), number_of_pixel (p, first, y));
    while (x <= runs.list[i].last)
      row[x++] = root;
  }
}
