/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contours (contour-links.h) on the GPU.
 *
 * 1. pack: a block per row finds where its runs begin and end: where pixels, or labels, change.
 * 2. list: ends are numbered in raster order; the column and row of each.
 * 3. link: each end finds its place among the ends of the other row, and with it the next one.
 * 4. join: in each round, stretches of contours become several times as long, until all have the
 *    contour's first end in raster order. It knows each end's distance to it.
 * 5. count, number: starts and points are counted by blocks, and numbered.
 * 6. write: each end writes its points, starts the rows of their contours.
 * 7. deliver: rows and points cross the bus, in whole lines: those that an end writes lie far from
 *    those of the ends beside it.
 * 8. finish: sets the completion flag.
 *
 * Kernels but the first become resident while the one before still runs (dependent-launch.cuh).
 */
#include "contours-parameters.h"
#include "core/base/divide-up.h"
#include "core/contours/contour-links.h"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "cuda/kernel-lib/threshold.cuh"
#include "cuda/kernel-lib/warp.cuh"

typedef CclContoursParameters Parameters;

static __device__ __forceinline__ bool
is_foreground (const Parameters &p, uint32_t x, uint32_t y)
{
  const uint8_t *const row = p.pixels + y * p.stride;
  const uint32_t value = p.pixel_bytes == 1   ? row[x]
                         : p.pixel_bytes == 2 ? ((const uint16_t *)row)[x]
                                              : ((const uint32_t *)row)[x];
  return ((value & p.word_mask) > p.threshold) != (p.invert != 0);
}

/* Packs a row whose pixels are bytes, four of them for each thread, 32 to a word. */
static __device__ __forceinline__ void
pack_bytes (const Parameters &p, uint32_t y, uint32_t *bits)
{
  const uint32_t complement = (255 - p.threshold) * 0x01010101u, invert = p.invert ? 15 : 0;
  const uint8_t *const row = p.pixels + y * p.stride;
  for (uint32_t first = 0; first < p.words_per_row * 32; first += CUDACCL_CONTOURS_THREADS * 4) {
    const uint32_t x = first + threadIdx.x * 4;
    uint32_t four = 0;
    if (x + 4 <= p.width)
      four = above_among_bytes (*(const uint32_t *)(row + x), complement) >> 28 ^ invert;
    else
      for (uint32_t i = 0; x + i < p.width; i++)
        four |= (uint32_t)is_foreground (p, x + i, y) << i;
    uint32_t word = four << threadIdx.x % 8 * 4;
    for (uint32_t distance = 1; distance < 8; distance *= 2)
      word |= __shfl_xor_sync (FULL_WARP, word, distance);
    if (threadIdx.x % 8 == 0 && x / 32 < p.words_per_row)
      bits[x / 32] = word;
  }
}

/* The same for other pixels, with a thread for each. */
static __device__ __forceinline__ void
pack_pixels (const Parameters &p, uint32_t y, uint32_t *bits)
{
  for (uint32_t word = threadIdx.x / 32; word < p.words_per_row;
       word += CUDACCL_CONTOURS_THREADS / 32) {
    const uint32_t x = word * 32 + lane_of_warp ();
    const uint32_t here = __ballot_sync (FULL_WARP, x < p.width && is_foreground (p, x, y));
    if (lane_of_warp () == 0)
      bits[word] = here;
  }
}

/* The label of a pixel; of a frame 1 or 0. */
static __device__ __forceinline__ uint32_t
label_at (const Parameters &p, uint32_t x, uint32_t y)
{
  return p.is_map ? ((const uint32_t *)(p.pixels + y * p.stride))[x] : is_foreground (p, x, y);
}

/* Finds where the runs of a row of labels begin and end, or of a frame that is too wide for the
 * shared memory. counts: the ends of each word, of the first CUDACCL_CONTOURS_WORDS. */
static __device__ __forceinline__ void
find_runs (const Parameters &p, uint32_t y, uint32_t *counts)
{
  enum { N_WARPS = CUDACCL_CONTOURS_THREADS / 32, WORDS_AT_ONCE = 4 };
  const uint64_t row = (uint64_t)y * p.words_per_row;
  for (uint32_t first = threadIdx.x / 32; first < p.words_per_row;
       first += N_WARPS * WORDS_AT_ONCE) {
    uint32_t here[WORDS_AT_ONCE], before[WORDS_AT_ONCE]; /* loads that do not wait for each other */
#pragma unroll
    for (uint32_t i = 0; i < WORDS_AT_ONCE; i++) {
      const uint32_t x = (first + i * N_WARPS) * 32 + lane_of_warp ();
      here[i] = x < p.width ? label_at (p, x, y) : 0;
      before[i] = x > 0 && x <= p.width ? label_at (p, x - 1, y) : 0;
    }
#pragma unroll
    for (uint32_t i = 0; i < WORDS_AT_ONCE; i++) {
      const uint32_t word = first + i * N_WARPS;
      const bool changes = here[i] != before[i];
      const uint32_t starts = __ballot_sync (FULL_WARP, changes && here[i] != 0);
      const uint32_t stops = __ballot_sync (FULL_WARP, changes && before[i] != 0);
      if (lane_of_warp () == 0 && word < p.words_per_row) {
        p.starts[row + word] = starts;
        p.stops[row + word] = stops;
        if (word < CUDACCL_CONTOURS_WORDS)
          counts[word] = __popc (starts) + __popc (stops);
      }
    }
  }
}

/* The same for a word of the packed pixels of a row of a frame. Returns the number of ends. */
static __device__ __forceinline__ uint32_t
find_runs_of_bits (const Parameters &p, uint32_t y, const uint32_t *bits, uint32_t word)
{
  const uint64_t i = (uint64_t)y * p.words_per_row + word;
  const uint32_t before = bits[word] << 1 | (word > 0 ? bits[word - 1] >> 31 : 0);
  p.starts[i] = bits[word] & ~before;
  p.stops[i] = ~bits[word] & before;
  return __popc (bits[word] ^ before);
}

/* The ends of a word of a row after find_runs(). */
static __device__ __forceinline__ uint32_t
count_ends_of_word (const Parameters &p, uint32_t y, const uint32_t *counts, uint32_t word)
{
  const uint64_t i = (uint64_t)y * p.words_per_row + word;
  return word < CUDACCL_CONTOURS_WORDS ? counts[word] : __popc (p.starts[i]) + __popc (p.stops[i]);
}

/* A block for each row: packs it, finds its runs, and numbers their ends. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_CONTOURS_THREADS)
    ccl_contours_pack (const __grid_constant__ Parameters p)
{
  let_next_kernel_start ();
  if (p.is_map && blockIdx.x == 0 && threadIdx.x == 0)
    *p.map = {p.pixels, p.stride};
  __shared__ uint32_t sums[CUDACCL_CONTOURS_THREADS / 32], bits[CUDACCL_CONTOURS_WORDS];

  for (uint32_t y = blockIdx.x; y < p.height; y += gridDim.x) {
    const uint64_t row = (uint64_t)y * p.words_per_row;
    const bool is_packed = !p.is_map && p.words_per_row <= CUDACCL_CONTOURS_WORDS;
    if (!is_packed)
      find_runs (p, y, bits);
    else if (p.is_aligned)
      pack_bytes (p, y, bits);
    else
      pack_pixels (p, y, bits);
    __syncthreads ();
    uint32_t n = 0;
    for (uint32_t first = 0; first < p.words_per_row; first += CUDACCL_CONTOURS_THREADS) {
      const uint32_t word = first + threadIdx.x;
      uint32_t own = 0, total;
      if (word < p.words_per_row)
        own = is_packed ? find_runs_of_bits (p, y, bits, word)
                        : count_ends_of_word (p, y, bits, word);
      const uint32_t before = sum_before_thread (own, sums, CUDACCL_CONTOURS_THREADS / 32, &total);
      if (word < p.words_per_row)
        p.word_first[row + word] = n + before;
      n += total;
      __syncthreads ();
    }
    if (threadIdx.x == 0)
      p.row_count[y] = n;
  }
}

/* The ends in rows before one. All threads of the block take part. */
static __device__ __forceinline__ uint32_t
count_before_row (const Parameters &p, uint32_t row)
{
  __shared__ uint32_t sums[CUDACCL_CONTOURS_THREADS / 32];
  uint32_t count = 0, total;
  for (uint32_t y = threadIdx.x; y < row; y += CUDACCL_CONTOURS_THREADS)
    count += p.row_count[y];
  sum_before_thread (count, sums, CUDACCL_CONTOURS_THREADS / 32, &total);
  return total;
}

/* Lists the left or the right ends at the bits of a word, the first of which is `end`. */
static __device__ __forceinline__ void
list_ends (const Parameters &p, const CclContourMap &map, uint32_t bits, uint32_t word, uint32_t y,
    uint32_t end)
{
  for (; bits && end < p.capacity; bits &= bits - 1, end += 2) {
    const uint32_t x = word * 32 + __ffs (bits) - 1;
    p.column[end] = x;
    p.row[end] = y;
    if (p.is_map && !(end & 1))
      p.run_label[end / 2] = ((const uint32_t *)(map.labels + y * map.stride))[x];
  }
}

/* The ends of the frame; none, if there is no memory for them. */
static __device__ __forceinline__ uint32_t
count_ends (const Parameters &p)
{
  const uint32_t n = p.row_first[p.height];
  return n <= p.capacity ? n : 0;
}

/* The same after the rounds; none, if they were too few. */
static __device__ __forceinline__ uint32_t
count_joined_ends (const Parameters &p)
{
  const uint32_t n = count_ends (p);
  return p.is_changing[p.n_rounds - 1] ? 0 : n;
}

/* Each block lists the ends of consecutive rows. Clears what the rounds set. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_CONTOURS_THREADS)
    ccl_contours_list (const __grid_constant__ Parameters p)
{
  const uint32_t n_rows = CUDACCL_DIVIDE_UP (p.height, gridDim.x);
  const uint32_t first_row = blockIdx.x * n_rows, end_row = min (first_row + n_rows, p.height);
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  if (blockIdx.x == 0 && threadIdx.x < p.n_rounds)
    p.is_changing[threadIdx.x] = 0;
  if (first_row >= p.height)
    return;
  CclContourMap map = {};
  if (p.is_map)
    map = *p.map; /* once: the compiler cannot know that no store changes it */
  uint32_t n = count_before_row (p, first_row);
  for (uint32_t y = first_row; y < end_row; y++) {
    const uint64_t row = (uint64_t)y * p.words_per_row;
    if (threadIdx.x == 0)
      p.row_first[y] = n;
    /* A thread for the left ends of a word, and one for the right ones. */
    for (uint32_t i = threadIdx.x; i < 2 * p.words_per_row; i += CUDACCL_CONTOURS_THREADS) {
      const uint32_t word = i / 2, is_right = i & 1;
      /* Of the ends before, the last one may be the left end of a run that is not over. */
      const uint32_t before = n + p.word_first[row + word];
      const uint32_t bits = (is_right ? p.stops : p.starts)[row + word];
      list_ends (
          p, map, bits, word, y, is_right ? before / 2 * 2 + 1 : CUDACCL_DIVIDE_UP (before, 2) * 2);
    }
    n += p.row_count[y];
  }
  if (end_row == p.height && threadIdx.x == 0)
    p.row_first[p.height] = n;
}

/* The runs of a row; none outside the frame. */
static __device__ __forceinline__ CclContourRuns
runs_of (const Parameters &p, uint32_t y)
{
  CclContourRuns runs = {p.column, p.is_map ? p.run_label : NULL, 0, 0};
  if (y < p.height) {
    runs.first = p.row_first[y] / 2;
    runs.behind = p.row_first[y + 1] / 2;
  }
  return runs;
}

/* The first run of a row that does not begin before column x. */
static __device__ __forceinline__ uint32_t
find_run (const Parameters &p, const CclContourRuns &runs, uint32_t x, uint32_t y)
{
  if (y >= p.height)
    return 0;
  const uint64_t word = (uint64_t)y * p.words_per_row + x / 32;
  return runs.first + CUDACCL_DIVIDE_UP (p.word_first[word], 2) +
         __popc (p.starts[word] & bits_below (x % 32));
}

static __device__ __forceinline__ CclContourStep
step_of (const Parameters &p, uint32_t end, uint32_t next)
{
  const int32_t x = (int32_t)p.column[end], y = (int32_t)p.row[end];
  const int32_t next_x = (int32_t)p.column[next];
  return p.is_cracks ? ccl_contour_corners (x, y, end & 1, next_x, next & 1)
                     : ccl_contour_pixels (x, y, end & 1, next_x, next & 1);
}

/* The end that follows an end: its partner on the line that it arrives at. */
static __device__ __forceinline__ uint32_t
find_next (const Parameters &p, uint32_t end)
{
  const uint32_t y = p.row[end], other_y = end & 1 ? y - 1 : y + 1;
  const CclContourRuns own = runs_of (p, y), other = runs_of (p, other_y);
  const uint32_t near = find_run (p, other, p.column[end], other_y);
  return (end & 1 ? ccl_contour_right_partner (&own, &other, end, near, p.is_8_connected)
                  : ccl_contour_left_partner (&own, &other, end, near, p.is_8_connected))
      .end;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_CONTOURS_THREADS)
    ccl_contours_link (const __grid_constant__ Parameters p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint32_t n_ends = count_ends (p);
  const uint32_t n_threads = gridDim.x * CUDACCL_CONTOURS_THREADS;
  /* The first half of a block has left ends, the other one right ends: they take different ways. */
  const uint32_t half = CUDACCL_CONTOURS_THREADS / 2;
  const uint32_t end_in_block = threadIdx.x % half * 2 + threadIdx.x / half;
  for (uint32_t end = blockIdx.x * CUDACCL_CONTOURS_THREADS + end_in_block; end < n_ends;
       end += n_threads) {
    const uint32_t next = find_next (p, end);
    const CclContourStep step = step_of (p, end, next);
    uint32_t n = step.has_own + step.n;
    /* A single pixel, whose ends follow each other, has a point nevertheless. */
    if (n == 0 && !p.is_cracks && !(end & 1) && find_next (p, next) == end)
      n = 1;
    p.next[end] = next;
    p.n_own[end] = n;
    p.stretches[0][end] = {next, n, end, 0};
  }
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_CONTOURS_THREADS)
    ccl_contours_join (const __grid_constant__ Parameters p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  if (p.round > 0 && !p.is_changing[p.round - 1])
    return;
  const uint32_t n_ends = count_ends (p);
  const uint32_t n_threads = gridDim.x * CUDACCL_CONTOURS_THREADS;
  const CclContourStretch *const from = p.stretches[p.round % 2];
  bool is_changing = false;
  for (uint32_t end = blockIdx.x * CUDACCL_CONTOURS_THREADS + threadIdx.x; end < n_ends;
       end += n_threads) {
    CclContourStretch joined = from[end];
    const uint32_t first = joined.first;
    for (uint32_t i = 1; i < CUDACCL_CONTOURS_JUMPS; i++) {
      const CclContourStretch behind = from[joined.next];
      if (behind.first < joined.first) {
        joined.first = behind.first;
        joined.distance = joined.n_points + behind.distance;
      }
      joined.n_points += behind.n_points;
      joined.next = behind.next;
    }
    is_changing |= joined.first != first;
    p.stretches[(p.round + 1) % 2][end] = joined;
  }
  if (is_changing)
    p.is_changing[p.round] = 1;
}

/* The stretch of an end after all rounds. Rounds write to both arrays in turn, and the last one
 * changed no first end: both arrays have the result. */
static __device__ __forceinline__ CclContourStretch
last_stretch (const Parameters &p, uint32_t end)
{
  return p.stretches[0][end];
}

/* The points of the contour that starts at an end. */
static __device__ __forceinline__ uint32_t
points_of_contour (const Parameters &p, uint32_t start)
{
  return p.n_own[start] + last_stretch (p, p.next[start]).distance;
}

static __device__ __forceinline__ CclContourCounts
counts_of_end (const Parameters &p, uint32_t end, uint32_t n_ends)
{
  CclContourCounts counts = {0, 0};
  if (end < n_ends && last_stretch (p, end).first == end)
    counts = {1, points_of_contour (p, end)};
  return counts;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_CONTOURS_THREADS)
    ccl_contours_count (const __grid_constant__ Parameters p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  __shared__ uint32_t sums[2][CUDACCL_CONTOURS_THREADS / 32];
  const uint32_t n_ends = count_joined_ends (p);
  for (uint32_t block = blockIdx.x; block * CUDACCL_CONTOURS_THREADS < n_ends; block += gridDim.x) {
    const CclContourCounts own =
        counts_of_end (p, block * CUDACCL_CONTOURS_THREADS + threadIdx.x, n_ends);
    CclContourCounts total;
    sum_before_thread (own.n_contours, sums[0], CUDACCL_CONTOURS_THREADS / 32, &total.n_contours);
    sum_before_thread (own.n_points, sums[1], CUDACCL_CONTOURS_THREADS / 32, &total.n_points);
    if (threadIdx.x == 0)
      p.block_counts[block] = total;
    __syncthreads ();
  }
}

/* Adds up the counts of n blocks. All threads of the block take part. */
static __device__ __forceinline__ CclContourCounts
sum_blocks (const Parameters &p, uint32_t n, uint32_t (*sums)[CUDACCL_CONTOURS_THREADS / 32])
{
  CclContourCounts own = {0, 0}, total;
  for (uint32_t i = threadIdx.x; i < n; i += CUDACCL_CONTOURS_THREADS) {
    own.n_contours += p.block_counts[i].n_contours;
    own.n_points += p.block_counts[i].n_points;
  }
  sum_before_thread (own.n_contours, sums[0], CUDACCL_CONTOURS_THREADS / 32, &total.n_contours);
  sum_before_thread (own.n_points, sums[1], CUDACCL_CONTOURS_THREADS / 32, &total.n_points);
  __syncthreads ();
  return total;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_CONTOURS_THREADS)
    ccl_contours_number (const __grid_constant__ Parameters p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  __shared__ uint32_t sums[2][CUDACCL_CONTOURS_THREADS / 32];
  const uint32_t n_ends = count_joined_ends (p);
  const uint32_t n_blocks = CUDACCL_DIVIDE_UP (n_ends, CUDACCL_CONTOURS_THREADS);
  if (blockIdx.x == 0) {
    const CclContourCounts all = sum_blocks (p, n_blocks, sums);
    if (threadIdx.x == 0)
      *p.total = all;
  }
  for (uint32_t block = blockIdx.x; block < n_blocks; block += gridDim.x) {
    const CclContourCounts before = sum_blocks (p, block, sums);
    const uint32_t end = block * CUDACCL_CONTOURS_THREADS + threadIdx.x;
    const CclContourCounts own = counts_of_end (p, end, n_ends);
    uint32_t total;
    const uint32_t number = before.n_contours + sum_before_thread (own.n_contours, sums[0],
                                                    CUDACCL_CONTOURS_THREADS / 32, &total);
    const uint32_t point = before.n_points + sum_before_thread (own.n_points, sums[1],
                                                 CUDACCL_CONTOURS_THREADS / 32, &total);
    if (own.n_contours) {
      p.contour[end] = number;
      /* stretches[1] is free from here on: it keeps the number of the contour's first point, from
       * which the other ends of the contour find theirs. */
      p.stretches[1][end].next = point;
      p.stretches[1][end].n_points = own.n_points;
    }
    __syncthreads ();
  }
}

/* Writes the row of the contour that starts at an end. */
static __device__ __forceinline__ void
write_row (const Parameters &p, uint32_t start)
{
  const CclContourStretch place = p.stretches[1][start];
  CclContour contour;
  contour.component = p.is_map ? p.run_label[start / 2] : 0;
  contour.parent = start > p.row_first[p.row[start]] ? p.contour[last_stretch (p, start - 1).first]
                                                     : CUDACCL_NO_CONTOUR;
  contour.first_point = place.next;
  contour.n_points = place.n_points;
  contour.is_hole = start & 1;
  p.rows[p.contour[start]] = contour;
}

/* Writes the corners of an end. That at which an outer contour starts is its last one. */
static __device__ __forceinline__ void
write_corners (
    const Parameters &p, const CclContourStep &step, uint32_t first, uint32_t n, uint32_t place)
{
  p.points[first + place] = step.own;
  p.points[first + (place + 1 == n ? 0 : place + 1)] = step.first;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_CONTOURS_THREADS)
    ccl_contours_write (const __grid_constant__ Parameters p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint32_t n_ends = count_joined_ends (p);
  const uint32_t n_threads = gridDim.x * CUDACCL_CONTOURS_THREADS;
  for (uint32_t end = blockIdx.x * CUDACCL_CONTOURS_THREADS + threadIdx.x; end < n_ends;
       end += n_threads) {
    const CclContourStretch stretch = last_stretch (p, end);
    const uint32_t start = stretch.first, first = p.stretches[1][start].next;
    const uint32_t n = p.stretches[1][start].n_points;
    const uint32_t place = end == start ? 0 : n - stretch.distance;
    if (end == start)
      write_row (p, start);
    if (p.n_own[end] == 0)
      continue;
    const CclContourStep step = step_of (p, end, p.next[end]);
    if (p.is_cracks) {
      if (start & 1) {
        p.points[first + place] = step.own;
        p.points[first + place + 1] = step.first;
      } else
        write_corners (p, step, first, n, place + 1);
      continue;
    }
    CclContourPoint *point = p.points + first + place;
    if (step.has_own || step.n == 0)
      *point++ = step.own;
    for (uint32_t i = 0; i < step.n; i++)
      point[i] = {step.first.x + (int32_t)i * step.step, step.first.y};
  }
}

/* Copies words; all threads of the grid take part. */
static __device__ __forceinline__ void
copy_words (void *to, const void *from, uint64_t n)
{
  const uint64_t n_threads = (uint64_t)gridDim.x * CUDACCL_CONTOURS_THREADS;
  for (uint64_t i = (uint64_t)blockIdx.x * CUDACCL_CONTOURS_THREADS + threadIdx.x; i < n;
       i += n_threads)
    ((uint32_t *)to)[i] = ((const uint32_t *)from)[i];
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_CONTOURS_THREADS)
    ccl_contours_deliver (const __grid_constant__ Parameters p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const CclContourCounts total = *p.total;
  copy_words (p.host_rows, p.rows, (uint64_t)total.n_contours * (sizeof *p.rows / 4));
  copy_words (p.host_points, p.points, (uint64_t)total.n_points * (sizeof *p.points / 4));
}

extern "C" __global__ void __launch_bounds__ (1)
    ccl_contours_finish (const __grid_constant__ Parameters p)
{
  wait_for_previous_kernel ();
  const CclContourCounts total = *p.total;
  const uint32_t n_ends = p.row_first[p.height]; /* loaded beside the total */
  const uint32_t is_changing = p.is_changing[p.n_rounds - 1];
  p.head->total = total;
  p.head->is_unfinished = is_changing;
  p.head->n_ends = n_ends;
  __threadfence_system ();
  *(volatile uint32_t *)&p.head->finished = 1;
}
