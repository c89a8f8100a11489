/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ACCL, Accelerated Connected Component Labeling.
 *
 * Nina Paravecino, Kaeli: Accelerated Connected Component Labeling Using CUDA Framework, ICCVG
 * 2014; as in the review by Bolelli et al., IEEE TPDS 2024, section III-B-4. 4-connectivity,
 * run-based. One matrix holds the first and the last pixel of each run, another the labels of the
 * runs.
 *
 * 1. find_runs: one thread for each row lists its runs; a run's first pixel is its label.
 * 2. merge: one thread goes through the pairs of runs of neighbouring rows that touch. For each
 *    merge it launches a kernel, relabel, whose threads replace the label of the lower run by that
 *    of the upper one wherever it occurs in the matrix of labels.
 * 3. label: a thread block for each row writes the labels of its runs, and 0 between them.
 *
 * Differences from the paper:
 *
 * - There the merging thread waits for each relabelling with cudaDeviceSynchronize(), which device
 *   code can no longer call: compute capability 9.0 lacks it, and so does CUDA 13 for all GPUs.
 *   Here the merging kernel ends after each merge, and has launched its successor to start when
 *   the relabelling has ended (tail launch). So a merge takes two launches in place of one.
 * - Runs that have the same label already are not merged again.
 * - After MOST_MERGES merges the host starts the next ones, so that a caller can give up.
 * - Frames are read through the cache for all data, which has taken the place of texture memory.
 */
#include "accl-runs.cuh"
#include "device-launch.cuh"

#define MOST_MERGES 1024u

/* The threads of the relabelling kernel: a warp goes through the labels of a row. */
#define RELABEL_ROWS 8u
#define MOST_RELABEL_BLOCKS 65535u

/* Where merging continues: at two runs of neighbouring rows. */
struct Position {
  uint32_t row; /* the upper row */
  uint32_t upper, lower;
};

/* The parameters of a merging kernel that another one has launched. */
struct Merging {
  CclLabellingParameters p;
  uint32_t n_left; /* merges until the host continues */
};

struct Relabelling {
  CclLabellingParameters p;
  uint32_t before, after;
};

static __device__ __forceinline__ uint32_t *
labels_of_row (const CclLabellingParameters &p, uint32_t y)
{
  uint32_t *const labels = (uint32_t *)runs_of_row (p, p.height).n;
  return labels + (size_t)y * most_runs (p);
}

static __device__ __forceinline__ Position *
position_of_frame (const CclLabellingParameters &p)
{
  return (Position *)labels_of_row (p, p.height);
}

extern "C" __global__ void
ccl_accl_find_runs (const CclLabellingParameters p)
{
  const uint32_t y = thread_row ();
  if (y >= p.height)
    return;
  uint32_t *const labels = labels_of_row (p, y);
  list_runs (p, y, [&] (uint32_t i, uint32_t number) { labels[i] = number; });
  if (y == 0)
    *position_of_frame (p) = {0, 0, 0};
}

extern "C" __global__ void
ccl_accl_relabel (const Relabelling r)
{
  for (uint32_t y = thread_row (); y < r.p.height; y += gridDim.y * blockDim.y) {
    uint32_t *const labels = labels_of_row (r.p, y);
    const uint32_t n_runs = *runs_of_row (r.p, y).n;
    for (uint32_t i = threadIdx.x; i < n_runs; i += blockDim.x) {
      if (labels[i] == r.before)
        labels[i] = r.after;
    }
  }
}

/* Goes on to the next two runs that touch and differ in their labels; false if there are none. */
static __device__ __forceinline__ bool
find_merge (const CclLabellingParameters &p, Position &at)
{
  for (; at.row + 1 < p.height; at = {at.row + 1, 0, 0}) {
    const Runs upper = runs_of_row (p, at.row), lower = runs_of_row (p, at.row + 1);
    const uint32_t *const upper_labels = labels_of_row (p, at.row);
    const uint32_t *const lower_labels = labels_of_row (p, at.row + 1);
    const uint32_t n_upper = *upper.n, n_lower = *lower.n;
    while (at.upper < n_upper && at.lower < n_lower) {
      const Run a = upper.list[at.upper], b = lower.list[at.lower];
      if (runs_touch (a, b) && upper_labels[at.upper] != lower_labels[at.lower])
        return true;
      if (b.last < a.last)
        at.lower++;
      else
        at.upper++;
    }
  }
  return false;
}

extern "C" __global__ void ccl_accl_merge_next (const Merging m);

static __device__ __forceinline__ void
merge (const CclLabellingParameters &p, uint32_t n_left)
{
  Position at = *position_of_frame (p);
  if (!find_merge (p, at))
    return;
  *position_of_frame (p) = at;
  if (n_left == 0) {
    *p.changed = 1;
    return;
  }
  const uint32_t n_blocks = min ((p.height - 1) / RELABEL_ROWS + 1, MOST_RELABEL_BLOCKS);
  const Relabelling relabelling = {
      p, labels_of_row (p, at.row + 1)[at.lower], labels_of_row (p, at.row)[at.upper]};
  const Merging next = {p, n_left - 1};
  launch_from_device<ccl_accl_relabel> (
      LAUNCH_NOW, dim3 (1, n_blocks), dim3 (32, RELABEL_ROWS), relabelling);
  launch_from_device<ccl_accl_merge_next> (LAUNCH_AT_TAIL, 1, 1, next);
}

/* One thread, launched by the host. */
extern "C" __global__ void
ccl_accl_merge (const CclLabellingParameters p)
{
  merge (p, MOST_MERGES);
}

/* One thread, launched by the device. */
extern "C" __global__ void
ccl_accl_merge_next (const Merging m)
{
  merge (m.p, m.n_left);
}

extern "C" __global__ void
ccl_accl_label (const CclLabellingParameters p)
{
  const uint32_t y = block_row ();
  if (y >= p.height)
    return;
  const uint32_t *const labels = labels_of_row (p, y);
  write_labels (p, y, [&] (uint32_t i) { return labels[i]; });
}
