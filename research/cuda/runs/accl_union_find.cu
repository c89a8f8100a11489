/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ACCL with union-find: the runs of ACCL (accl.cu), without kernels that are launched from the
 * device. 4-connectivity, run-based.
 *
 * 1. find_runs: one thread for each row lists its runs; a run's first pixel is its label.
 * 2. merge_rows: one thread for each row unites its runs with those of the row above.
 * 3. label: a thread block for each row writes the labels of its runs, and 0 between them.
 */
#include "accl-runs.cuh"

extern "C" __global__ void
ccl_accl_union_find_find_runs (const CclLabellingParameters p)
{
  const uint32_t y = thread_row ();
  if (y < p.height)
    list_runs (p, y, [&] (uint32_t, uint32_t number) { parents_of_pixels (p)[number] = number; });
}

extern "C" __global__ void
ccl_accl_union_find_merge_rows (const CclLabellingParameters p)
{
  const uint32_t y = thread_row () + 1;
  if (y >= p.height)
    return;
  const Runs runs = runs_of_row (p, y), above = runs_of_row (p, y - 1);
  const uint32_t n_runs = *runs.n, n_above = *above.n;
  uint32_t i = 0, j = 0;
  while (i < n_runs && j < n_above) {
    const Run run = runs.list[i], run_above = above.list[j];
    if (runs_touch (run, run_above))
      unite (parents_of_pixels (p), number_of_run (p, run.first, y),
          number_of_run (p, run_above.first, y - 1));
    if (run.last < run_above.last)
      i++;
    else
      j++;
  }
}

extern "C" __global__ void
ccl_accl_union_find_label (const CclLabellingParameters p)
{
  const uint32_t y = block_row ();
  if (y >= p.height)
    return;
  const Runs runs = runs_of_row (p, y);
  write_labels (p, y, [&] (uint32_t i) {
    return find_root (parents_of_pixels (p), number_of_run (p, runs.list[i].first, y));
  });
}
