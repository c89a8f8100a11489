/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Otsu's threshold of a frame (core/foreground/otsu.h).
 *
 * A block counts its pixels in shared memory. Each value has several counts there, in columns, so
 * that few threads of a warp add to the same one. The last block to add its counts to those of the
 * frame determines the threshold.
 *
 * Pixels of 16 bits are read twice, as a block has no room for the counts of all values. The first
 * kernel counts the pixels of each bin, the 256 values of one upper byte, and adds up their lower
 * bytes. That gives the exact separation of the last value of each bin, and a bound for the other
 * values. Few bins have a bound that reaches the best of these separations: the second kernel
 * counts the single values in windows of CUDACCL_HISTOGRAM_WINDOW_BINS bins that contain them.
 *
 * The bound. With n and s for the pixels up to a value and the sum of them, and N and S for all
 * pixels, the separation is (n S − s N)² / (n (N − n)). It is a convex function of (n, s) where
 * n S ≥ s N, as a square divided by a concave function is. The values of a bin lead from its start
 * (n0, s0) to its end (n1, s1) through a triangle. The third corner is where they would lead if
 * each pixel of the bin had either its least or its greatest value. So no separation is greater
 * than that of the best corner. As a value lies at least one pixel from the start, it has at least
 * the share 1 / (n1 − n0) of the other two corners.
 */
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "cuda/foreground/mask.cuh"
#include "core/foreground/otsu.h"
#include "otsu-parameters.h"

typedef CclOtsuParameters Parameters;

enum {
  THREADS = CUDACCL_HISTOGRAM_THREADS,
  WARPS = CUDACCL_HISTOGRAM_WARPS,
  BINS = CUDACCL_HISTOGRAM_BINS,
  WINDOW_BINS = CUDACCL_HISTOGRAM_WINDOW_BINS,
  WINDOW_VALUES = WINDOW_BINS * 256,
  COLUMNS = CUDACCL_HISTOGRAM_COLUMNS,
  WINDOW_COLUMNS = 32 / WINDOW_BINS,
  BATCH = 8,       /* groups that a thread loads at a time */
  PIXEL = 1 << 20, /* one pixel in a count that has a sum of lower bytes below it */
};

/* ---- pixels ---- */

/* The place of a thread's next group. A warp takes every n-th part of the frame's rows; parts have
 * 32 groups. */
struct Walk {
  uint32_t x, y;
  uint32_t row_end, step_x, step_y;
};

static __device__ __forceinline__ Walk
start_of_thread (const Parameters &p)
{
  const uint32_t row_parts = (p.extent.width + 32 * PIXELS - 1) / (32 * PIXELS);
  const uint32_t first = blockIdx.x * WARPS + threadIdx.x / 32, step = gridDim.x * WARPS;
  Walk walk;
  walk.x = (first % row_parts * 32 + lane_of_warp ()) * PIXELS;
  walk.y = first / row_parts;
  walk.row_end = row_parts * 32 * PIXELS;
  walk.step_x = step % row_parts * 32 * PIXELS;
  walk.step_y = step / row_parts;
  return walk;
}

/* A thread's pixels of some parts, which are loaded together before they are counted. */
template <PixelKind KIND> struct Batch {
  GroupValues<KIND> values[BATCH];
  uint32_t counted[BATCH]; /* bits of the pixels that count */

  __device__ __forceinline__ void
  load (const Parameters &p, Walk &walk)
  {
#pragma unroll
    for (uint32_t i = 0; i < BATCH; i++) {
      counted[i] = 0;
      if (walk.y < p.extent.height) {
        const uint32_t count = walk.x < p.extent.width ? min (p.extent.width - walk.x, PIXELS) : 0;
        const Group group = {walk.x, walk.y, count};
        values[i] = GroupValues<KIND> (p.frame, group);
        counted[i] = roi_mask_of (p.extent, p.roi_mask, group) & bits_below (count);
      }
      walk.x += walk.step_x;
      walk.y += walk.step_y;
      if (walk.x >= walk.row_end) {
        walk.x -= walk.row_end;
        walk.y++;
      }
    }
  }

  /* Calls add(value) for each pixel that counts. */
  template <typename Add>
  __device__ __forceinline__ void
  count (Add add) const
  {
#pragma unroll
    for (uint32_t i = 0; i < BATCH; i++) {
#pragma unroll
      for (uint32_t pixel = 0; pixel < PIXELS; pixel++) {
        if (counted[i] >> pixel & 1)
          add (values[i][pixel]);
      }
    }
  }
};

/* ---- all threads of a block ---- */

static __device__ __forceinline__ void
clear (uint32_t *counts, uint32_t n)
{
  for (uint32_t i = threadIdx.x; i < n / 4; i += THREADS)
    ((uint4 *)counts)[i] = make_uint4 (0, 0, 0, 0);
}

/* The place of column i of a value. Each lane begins with another column, so that a warp reads from
 * all banks of the memory. */
template <uint32_t N_COLUMNS>
static __device__ __forceinline__ uint32_t
place_of (uint32_t value, uint32_t i)
{
  return value * N_COLUMNS + (lane_of_warp () * N_COLUMNS / 32 + i) % N_COLUMNS;
}

/* Whether all other blocks have come here before. What they wrote is visible then. */
static __device__ __forceinline__ bool
is_last_block (uint32_t *n_blocks)
{
  __shared__ bool is_last;
  __threadfence ();
  __syncthreads ();
  if (threadIdx.x == 0) {
    is_last = atomicAdd (n_blocks, 1) == gridDim.x - 1;
    if (is_last)
      *n_blocks = 0;
  }
  __syncthreads ();
  __threadfence ();
  return is_last;
}

/* How many pixels, and the sum of their values. */
struct Sums {
  uint32_t n;
  uint64_t sum;
};

static __device__ __forceinline__ Sums
operator+ (const Sums &a, const Sums &b)
{
  return {a.n + b.n, a.sum + b.sum};
}

/* The sums of all threads before this one, and of all. Ends with a barrier. */
static __device__ __forceinline__ Sums
sums_before_thread (const Sums &own, Sums *all)
{
  __shared__ Sums of_warps[WARPS];
  Sums through = own;
#pragma unroll
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const Sums other = {__shfl_up_sync (FULL_WARP, through.n, distance),
        __shfl_up_sync (FULL_WARP, through.sum, distance)};
    if (lane_of_warp () >= distance)
      through = through + other;
  }
  if (lane_of_warp () == 31)
    of_warps[threadIdx.x / 32] = through;
  __syncthreads ();
  Sums before = {through.n - own.n, through.sum - own.sum};
  *all = {0, 0};
#pragma unroll
  for (uint32_t warp = 0; warp < WARPS; warp++) {
    if (warp < threadIdx.x / 32)
      before = before + of_warps[warp];
    *all = *all + of_warps[warp];
  }
  __syncthreads ();
  return before;
}

static __device__ __forceinline__ double
separation (const Sums &below, const Sums &all)
{
  return ccl_otsu_separation (below.n, below.sum, all.n, all.sum);
}

/* A threshold and its separation. */
struct Candidate {
  double separation;
  uint32_t threshold;
};

/* The greater separation, and of equal ones the lower threshold. */
static __device__ __forceinline__ Candidate
better (const Candidate &a, const Candidate &b)
{
  const bool is_first =
      a.separation > b.separation || (a.separation == b.separation && a.threshold < b.threshold);
  return is_first ? a : b;
}

static __device__ __forceinline__ Candidate
best_of_warp (Candidate best)
{
#pragma unroll
  for (uint32_t distance = 1; distance < 32; distance *= 2)
    best = better (best, {__shfl_xor_sync (FULL_WARP, best.separation, distance),
                             __shfl_xor_sync (FULL_WARP, best.threshold, distance)});
  return best;
}

/* The best of the candidates of all threads. */
static __device__ __forceinline__ Candidate
best_of_block (const Candidate &own)
{
  __shared__ Candidate of_warps[WARPS];
  const Candidate best = best_of_warp (own);
  if (lane_of_warp () == 0)
    of_warps[threadIdx.x / 32] = best;
  __syncthreads ();
  return best_of_warp (of_warps[lane_of_warp () % WARPS]);
}

/* ---- pixels of 8 bits ---- */

template <PixelKind KIND>
static __device__ __forceinline__ void
histogram (const Parameters &p)
{
  __shared__ __align__ (16) uint32_t counts[256 * COLUMNS];
  const uint32_t thread = threadIdx.x, column = lane_of_warp () % COLUMNS;
  CclHistogram *const frame = p.histogram;
  Walk walk = start_of_thread (p);
  Batch<KIND> batch;

  wait_for_previous_kernel ();
  let_next_kernel_start ();
  batch.load (p, walk);
  clear (counts, 256 * COLUMNS);
  __syncthreads ();
  for (;;) {
    batch.count ([&] (uint32_t value) { atomicAdd (&counts[value * COLUMNS + column], 1); });
    if (walk.y >= p.extent.height)
      break;
    batch.load (p, walk);
  }
  __syncthreads ();
  if (thread < 256) {
    uint32_t count = 0;
#pragma unroll
    for (uint32_t i = 0; i < COLUMNS; i++)
      count += counts[place_of<COLUMNS> (thread, i)];
    if (count)
      atomicAdd (&frame->counts[thread], count);
  }
  if (!is_last_block (&frame->n_blocks))
    return;

  Sums own = {0, 0}, all;
  if (thread < 256) {
    own.n = __ldcg (&frame->counts[thread]);
    own.sum = (uint64_t)own.n * thread;
    frame->counts[thread] = 0;
  }
  const Sums below = sums_before_thread (own, &all) + own;
  const Candidate best = best_of_block ({separation (below, all), thread});
  if (thread == 0)
    frame->threshold = best.separation > 0 ? best.threshold : CUDACCL_OTSU_NO_THRESHOLD;
}

extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_histogram (const __grid_constant__ Parameters p)
{
  histogram<BYTES> (p);
}

extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_histogram_packed (const __grid_constant__ Parameters p)
{
  histogram<PACKED> (p);
}

/* ---- pixels of 16 bits ---- */

/* The greatest separation that a value of a bin may have, up to rounding. */
static __device__ __forceinline__ double
bound_of_bin (uint32_t bin, const Sums &before, const Sums &own, const Sums &all)
{
  const double least = 256.0 * bin, n = (double)own.n;
  const double n_greatest = ((double)own.sum - n * least) / 255;
  const double n_below = (double)before.n + (n - n_greatest);
  const double sum_below = (double)before.sum + (n - n_greatest) * least;
  const double n_above = (double)all.n - n_below;
  double corner = 0;
  if (n_below > 0 && n_above > 0) {
    const double distance = ((double)all.sum - sum_below) / n_above - sum_below / n_below;
    corner = n_below * n_above * distance * distance;
  }
  const double start = separation (before, all);
  const double others = fmax (corner, separation (before + own, all));
  return start > others ? start - (start - others) / n : others;
}

/* Lists windows of the bins that are marked, 32 to a word. One thread. */
static __device__ __forceinline__ void
list_windows (CclWideHistogram *wide, const uint32_t marks[BINS / 32])
{
  uint32_t n = 0, next = 0;
  for (uint32_t word = 0; word < BINS / 32; word++) {
    for (uint32_t rest = marks[word]; rest; rest &= rest - 1) {
      const uint32_t bin = word * 32 + (uint32_t)__ffs ((int)rest) - 1;
      if (bin >= next) {
        wide->windows[n++] = bin;
        next = bin + WINDOW_BINS;
      }
    }
  }
  wide->windows[n] = BINS;
}

/* Finds the windows in which the threshold may be. All threads of the last block. */
static __device__ __forceinline__ void
find_windows (const Parameters &p)
{
  __shared__ uint32_t marks[WARPS];
  CclWideHistogram *const wide = p.wide_histogram;
  const uint32_t thread = threadIdx.x;
  Sums own = {0, 0}, all;
  if (thread < BINS) {
    own.n = __ldcg (&p.histogram->counts[thread]);
    own.sum = (uint64_t)own.n * (thread * 256) + __ldcg (&wide->low_sums[thread]);
    p.histogram->counts[thread] = 0;
    wide->low_sums[thread] = 0;
  }
  const Sums before = sums_before_thread (own, &all);
  const double least = best_of_block ({separation (before + own, all), thread}).separation;
  /* Rounding changes a separation by less than a ten-billionth: the means by 2⁻⁵³, and their
   * distance is at least 1. */
  bool is_marked = false;
  if (own.n > 0) {
    const double bound = bound_of_bin (thread, before, own, all);
    is_marked = bound > 0 && bound * (1 + 1e-9) >= least;
  }
  const uint32_t of_warp = __ballot_sync (FULL_WARP, is_marked);
  if (lane_of_warp () == 0)
    marks[thread / 32] = of_warp;
  if (thread < BINS) {
    wide->n_before[thread] = before.n;
    wide->sum_before[thread] = before.sum;
  }
  __syncthreads ();
  if (thread == 0) {
    wide->n = all.n;
    wide->sum = all.sum;
    list_windows (wide, marks);
  }
}

extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_histogram_words (const __grid_constant__ Parameters p)
{
  __shared__ __align__ (16) uint32_t counts[BINS * COLUMNS];
  const uint32_t thread = threadIdx.x, column = lane_of_warp () % COLUMNS;
  Walk walk = start_of_thread (p);
  Batch<WORDS> batch;

  wait_for_previous_kernel ();
  let_next_kernel_start ();
  batch.load (p, walk);
  clear (counts, BINS * COLUMNS);
  __syncthreads ();
  for (;;) {
    batch.count ([&] (uint32_t value) {
      atomicAdd (&counts[(value >> 8) * COLUMNS + column], PIXEL | (value & 0xff));
    });
    if (walk.y >= p.extent.height)
      break;
    batch.load (p, walk);
  }
  __syncthreads ();
  if (thread < BINS) {
    uint32_t n = 0, sum = 0;
#pragma unroll
    for (uint32_t i = 0; i < COLUMNS; i++) {
      const uint32_t count = counts[place_of<COLUMNS> (thread, i)];
      n += count / PIXEL;
      sum += count % PIXEL;
    }
    if (n) {
      atomicAdd (&p.histogram->counts[thread], n);
      atomicAdd ((unsigned long long *)&p.wide_histogram->low_sums[thread], sum);
    }
  }
  if (is_last_block (&p.histogram->n_blocks))
    find_windows (p);
}

/* The best threshold among the values of a window. The counts are cleared for the next frame. */
static __device__ __forceinline__ Candidate
search_window (CclWideHistogram *wide, uint32_t first_bin)
{
  const uint32_t OWN = WINDOW_VALUES / THREADS;
  const uint32_t first = first_bin * 256 + threadIdx.x * OWN;
  const Sums all = {wide->n, wide->sum};
  Sums values[OWN], own = {0, 0}, of_window;
#pragma unroll
  for (uint32_t i = 0; i < OWN; i++) {
    const uint32_t count = __ldcg (&wide->counts[first + i]);
    values[i] = {count, (uint64_t)count * (first + i)};
    own = own + values[i];
    wide->counts[first + i] = 0;
  }
  const Sums start = {wide->n_before[first_bin], wide->sum_before[first_bin]};
  Sums below = start + sums_before_thread (own, &of_window);
  Candidate best = {0, 0};
#pragma unroll
  for (uint32_t i = 0; i < OWN; i++) {
    below = below + values[i];
    best = better (best, {separation (below, all), first + i});
  }
  return best;
}

extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_histogram_windows (const __grid_constant__ Parameters p)
{
  __shared__ __align__ (16) uint32_t counts[WINDOW_VALUES * WINDOW_COLUMNS];
  CclWideHistogram *const wide = p.wide_histogram;
  const uint32_t thread = threadIdx.x, column = lane_of_warp () % WINDOW_COLUMNS;
  const Walk start = start_of_thread (p);

  clear (counts, WINDOW_VALUES * WINDOW_COLUMNS);
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  for (uint32_t window = 0; wide->windows[window] < BINS; window++) {
    const uint32_t first = wide->windows[window] * 256;
    __syncthreads ();
    for (Walk walk = start; walk.y < p.extent.height;) {
      Batch<WORDS> batch;
      batch.load (p, walk);
      batch.count ([&] (uint32_t value) {
        if (value - first < WINDOW_VALUES)
          atomicAdd (&counts[(value - first) * WINDOW_COLUMNS + column], 1);
      });
    }
    __syncthreads ();
    for (uint32_t value = thread; value < WINDOW_VALUES; value += THREADS) {
      uint32_t count = 0;
#pragma unroll
      for (uint32_t i = 0; i < WINDOW_COLUMNS; i++) {
        const uint32_t place = place_of<WINDOW_COLUMNS> (value, i);
        count += counts[place];
        counts[place] = 0;
      }
      if (count)
        atomicAdd (&wide->counts[first + value], count);
    }
  }
  if (!is_last_block (&p.histogram->n_blocks))
    return;

  Candidate best = {0, 0};
  for (uint32_t window = 0; wide->windows[window] < BINS; window++)
    best = better (best, search_window (wide, wide->windows[window]));
  best = best_of_block (best);
  if (thread == 0)
    p.histogram->threshold =
        best.separation > 0 ? best.threshold : CUDACCL_HISTOGRAM_WIDE_VALUES - 1;
}
