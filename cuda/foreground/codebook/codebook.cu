/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The codebooks of a frame (codebook.h), bit by bit.
 *
 * A warp updates 32 neighbouring pixels of a row, whose codebooks are a block of memory, a thread
 * each. Words are read where they exist, and members of words are written where they change. What
 * is found goes to words of bits, one for the 32 pixels.
 *
 * Counts are integers, which atomics add up in any order. Two blocks of the last kernel read them:
 * they judge the scene and set the tolerances of the next frame, so that no frame waits for the
 * host.
 *
 * Latency decides: a kernel has a few warps for each multiprocessor, so its time is that of the
 * longest chain of instructions, which also have to be loaded. So work is divided among warps, and
 * what is read is loaded before the first of it is used.
 */
#include "codebook-parameters.h"
#include "cuda/foreground/bit-windows.cuh"
#include "cuda/foreground/colour.cuh"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "cuda/foreground/light/light.cuh"
#include "cuda/foreground/mask-words.cuh"

typedef CclCodebookPixels Pixels;
typedef CclCodebookLightParameters LightParameters;
typedef CclCodebookParameters Parameters;

static_assert (CUDACCL_CODEBOOK_LANES == 32, "a pixel for each thread of a warp");
static_assert (CUDACCL_CODEBOOK_WORDS <= 1 << CUDACCL_CODEBOOK_PLACE_BITS, "places fit");
static_assert (CUDACCL_CODEBOOK_DISTANCES == 64, "two distances for each thread of a warp");

/* ---- light ---- */

constexpr int NO_RATIO = INT16_MAX;
constexpr uint32_t ROW_SAMPLES = CUDACCL_LIGHT_MAX_COLUMNS * CUDACCL_LIGHT_SAMPLES;
constexpr uint32_t OF_LANE = ROW_SAMPLES / 32; /* samples of a row for each lane of a warp */
constexpr uint32_t CELL_OF_LANE = CUDACCL_LIGHT_SAMPLES * CUDACCL_LIGHT_SAMPLES / 32;

/* The number of a warp's ratios that fulfil a condition. Four sums, so that no addition waits for
 * all before. */
template <uint32_t N, typename Condition>
static __device__ __forceinline__ uint32_t
count_ratios (const int (&ratios)[N], Condition condition)
{
  uint32_t sums[4] = {};
#pragma unroll
  for (uint32_t i = 0; i < N; i++)
    sums[i % 4] += condition (ratios[i]);
  return reduce_add (FULL_WARP, sums[0] + sums[1] + (sums[2] + sums[3]));
}

template <uint32_t N>
static __device__ __forceinline__ uint32_t
count_up_to (const int (&ratios)[N], int ratio)
{
  return count_ratios (ratios, [ratio] (int other) { return other <= ratio; });
}

template <uint32_t N>
static __device__ __forceinline__ uint32_t
count_near (const int (&ratios)[N], int ratio)
{
  return count_ratios (ratios, [ratio] (int other) { return ccl_light_is_near (other, ratio); });
}

/* The lower median of the n ratios of a warp. */
template <uint32_t N>
static __device__ __forceinline__ int
median_of (const int (&ratios)[N], uint32_t n)
{
  int least = -CUDACCL_LIGHT_LIMIT, most = CUDACCL_LIGHT_LIMIT;
  while (least < most) { /* the same in all lanes */
    const int middle = (least + most) >> 1;
    if (2 * count_up_to (ratios, middle) >= n)
      most = middle;
    else
      least = middle + 1;
  }
  return least;
}

/* The luma of the background, before the update of the frame and after it. */
static __device__ __forceinline__ uint8_t &
background_at (const Pixels &p, uint32_t x, uint32_t y)
{
  return p.background[(size_t)y * 32 * p.extent.row_words + x];
}

/* Samples in a row or in a column of the frame, from one on. */
struct SampleLine {
  const uint8_t *luma, *model; /* of the first */
  uint64_t luma_step, model_step;
  uint32_t n; /* in the frame */
};

/* x, y: of the first; dx, dy: from one to the next, one of them 0. */
static __device__ __forceinline__ SampleLine
line_of_samples (const Pixels &p, uint32_t x, uint32_t y, uint32_t dx, uint32_t dy)
{
  const CclFrameParameters &frame = p.frame;
  const uint32_t shift = p.sample_shift, row = 32 * p.extent.row_words;
  const uint32_t first_x = x << shift, first_y = y << shift;
  const uint32_t step_x = dx << shift, step_y = dy << shift;
  const bool inside = first_x < p.extent.width && first_y < p.extent.height;
  SampleLine line;
  line.luma = frame.data + first_y * frame.stride + first_x * frame.pixel_bytes +
              (p.is_wide ? 0 : frame.luma_byte);
  line.model = p.background + (size_t)first_y * row + first_x;
  line.luma_step = step_y * frame.stride + step_x * frame.pixel_bytes;
  line.model_step = (uint64_t)step_y * row + step_x;
  line.n = !inside  ? 0
           : dx > 0 ? CUDACCL_DIVIDE_UP (p.extent.width - first_x, step_x)
                    : CUDACCL_DIVIDE_UP (p.extent.height - first_y, step_y);
  return line;
}

/* Loads samples: the luma of the frame, and in the upper half that of the background; 0 outside. */
template <uint32_t N>
static __device__ __forceinline__ void
load_samples (const SampleLine &line, bool is_wide, uint32_t (&samples)[N])
{
  if (is_wide) {
#pragma unroll
    for (uint32_t i = 0; i < N; i++)
      samples[i] = i < line.n ? ccl_mixture_luma_8 (
                                    __ldg ((const uint16_t *)(line.luma + i * line.luma_step)))
                              : 0;
  } else {
#pragma unroll
    for (uint32_t i = 0; i < N; i++)
      samples[i] = i < line.n ? __ldg (line.luma + i * line.luma_step) : 0;
  }
#pragma unroll
  for (uint32_t i = 0; i < N; i++)
    samples[i] |= i < line.n ? (uint32_t)line.model[i * line.model_step] << 16 : 0;
}

/* The log ratio of a sample, or NO_RATIO. */
static __device__ __forceinline__ int
ratio_of_sample (const SharedLogs &shared_logs, uint32_t sample)
{
  const uint32_t luma = sample & 0xffff, model = sample >> 16;
  return ccl_light_compares (luma) && ccl_light_compares (model)
             ? ccl_light_limited (shared_logs[luma] - shared_logs[model])
             : NO_RATIO;
}

/* The log ratios less a light. */
static __device__ __forceinline__ int
ratio_in_light (int ratio, int light)
{
  return ratio == NO_RATIO ? NO_RATIO : ccl_light_limited (ratio - light);
}

/* Measures the light of a row of samples by a warp. */
static __device__ __forceinline__ int
measure_row (
    const Pixels &p, const SharedLogs &shared_logs, uint32_t sample_y, int (&ratios)[OF_LANE])
{
  uint32_t samples[OF_LANE];
  load_samples (line_of_samples (p, lane_of_warp (), sample_y, 32, 0), p.is_wide, samples);
#pragma unroll
  for (uint32_t i = 0; i < OF_LANE; i++)
    ratios[i] = ratio_of_sample (shared_logs, samples[i]);
  const uint32_t n = count_up_to (ratios, CUDACCL_LIGHT_LIMIT);
  return n >= CUDACCL_LIGHT_LEAST_SAMPLES ? median_of (ratios, n) : 0;
}

/* The samples of a cell that a lane has, from its first row on, each second row. */
typedef uint32_t CellSamples[CELL_OF_LANE];

/* Whether a sample differs from the model, in this light, by no more than noise. */
static __device__ __forceinline__ bool
is_noise (const Pixels &p, uint32_t sample, int light)
{
  const uint32_t luma = sample & 0xffff, mean = sample >> 16;
  const uint32_t expected = ccl_light_expected (mean, powers[light + CUDACCL_LIGHT_LIMIT]);
  return ccl_codebook_difference (luma, expected) <= p.history->levels[mean >> 4].median;
}

/* Measures a cell by a warp. lights: of its rows, where they have light of their own; else 0. */
static __device__ __forceinline__ CclLightCell
measure_cell (const Pixels &p, const SharedLogs &shared_logs, const CellSamples &samples,
    const int lights[CUDACCL_LIGHT_SAMPLES])
{
  const uint32_t first = lane_of_warp () / CUDACCL_LIGHT_SAMPLES;
  int ratios[CELL_OF_LANE];
  CclLightCell cell = {};
#pragma unroll
  for (uint32_t i = 0; i < CELL_OF_LANE; i++)
    ratios[i] = ratio_in_light (ratio_of_sample (shared_logs, samples[i]), lights[first + 2 * i]);
  const uint32_t n = count_up_to (ratios, CUDACCL_LIGHT_LIMIT);
  cell.measured = n >= CUDACCL_LIGHT_LEAST_SAMPLES;
  if (!cell.measured) /* for all lanes or for none */
    return cell;
  cell.ratio = (int16_t)median_of (ratios, n);
  cell.uniform = cell.explained = 5 * count_near (ratios, cell.ratio) >= 3 * n;
  if (cell.uniform) /* the same */
    return cell;
  uint32_t n_explained = 0;
#pragma unroll
  for (uint32_t i = 0; i < CELL_OF_LANE; i++) {
    const int light = ccl_light_limited (cell.ratio + lights[first + 2 * i]);
    n_explained += ratios[i] != NO_RATIO &&
                   (ccl_light_is_near (ratios[i], cell.ratio) || is_noise (p, samples[i], light));
  }
  cell.explained = 5 * reduce_add (FULL_WARP, n_explained) >= 3 * n;
  return cell;
}

/* Writes the boxes of a cell of the frame, then those of the model, by a warp. */
static __device__ __forceinline__ void
write_boxes (const LightParameters &p, const CellSamples &samples, uint32_t cell)
{
  constexpr uint32_t N = CUDACCL_CODEBOOK_CELL_BOXES, BOX = CUDACCL_CAMERA_BOX;
  constexpr uint32_t BOXES = CUDACCL_LIGHT_SAMPLES / BOX; /* in a row */
  static_assert (2 * N == 32 && BOX == 4, "a lane has a box; two rows of samples are two of each");
  const uint32_t lane = lane_of_warp (), box = lane % N;
  uint32_t own = 0;
#pragma unroll
  for (uint32_t row = 0; row < BOXES; row++) {
    uint32_t sums = samples[2 * row] + samples[2 * row + 1]; /* frame and model are halves */
    sums += __shfl_xor_sync (FULL_WARP, sums, 16);
    sums += __shfl_xor_sync (FULL_WARP, sums, 1);
    sums += __shfl_xor_sync (FULL_WARP, sums, 2);
    const uint32_t of_box = __shfl_sync (FULL_WARP, sums, box % BOXES * BOX);
    own = row == box / BOXES ? of_box : own;
  }
  const uint32_t sum = lane < N ? own & 0xffff : own >> 16;
  p.boxes[cell * 2 * N + lane] = (uint8_t)((sum + BOX * BOX / 2) / (BOX * BOX));
}

/* Measures a row of samples by a warp, and writes its light. */
static __device__ __forceinline__ void
write_row (const LightParameters &p, const SharedLogs &shared_logs, uint32_t sample_y)
{
  int ratios[OF_LANE];
  const int light = measure_row (p.pixels, shared_logs, sample_y, ratios);
  const int removed = p.pixels.history->has_rows ? light : 0;
#pragma unroll
  for (uint32_t i = 0; i < OF_LANE; i++)
    p.ratios[(size_t)sample_y * ROW_SAMPLES + lane_of_warp () + 32 * i] =
        (int16_t)ratio_in_light (ratios[i], removed);
  if (lane_of_warp () == 0)
    p.pixels.rows[sample_y] = (int16_t)light;
}

/* Counts a cell and writes it. One thread. */
static __device__ __forceinline__ void
finish_cell (const LightParameters &p, uint32_t i, const CclLightCell &cell)
{
  const Pixels &pixels = p.pixels;
  p.cells[i] = cell;
  if (cell.explained)
    atomicAdd (&pixels.light->counts[cell.ratio + CUDACCL_LIGHT_LIMIT], 1);
  if (cell.measured)
    atomicAdd (&pixels.counts->light.measured, 1);
  if (cell.uniform)
    atomicAdd (&pixels.counts->light.uniform, 1);
}

/* Measures cells of a row, one for each warp of a block, and the rows of samples if they have light
 * of their own. lights: shared. */
static __device__ __forceinline__ void
write_cells (const LightParameters &p, const SharedLogs &shared_logs,
    int lights[CUDACCL_LIGHT_SAMPLES], uint32_t row, uint32_t column)
{
  const uint32_t lane = lane_of_warp (), first = row * CUDACCL_LIGHT_SAMPLES;
  const uint32_t x = column * CUDACCL_LIGHT_SAMPLES + lane % CUDACCL_LIGHT_SAMPLES;
  CellSamples samples;
  load_samples (line_of_samples (p.pixels, x, first + lane / CUDACCL_LIGHT_SAMPLES, 0, 2),
      p.pixels.is_wide, samples);
  const bool has_rows = p.pixels.history->has_rows != 0;
#pragma unroll 1
  for (uint32_t j = threadIdx.x / 32; j < CUDACCL_LIGHT_SAMPLES; j += CUDACCL_CODEBOOK_WARPS) {
    int light = 0, ratios[OF_LANE];
    if (has_rows)
      light = measure_row (p.pixels, shared_logs, first + j, ratios);
    if (lane == 0)
      lights[j] = light;
  }
  __syncthreads ();
  if (column >= p.pixels.grid.columns)
    return;
  const uint32_t i = row * p.pixels.grid.columns + column;
  const CclLightCell cell = measure_cell (p.pixels, shared_logs, samples, lights);
  if (p.boxes)
    write_boxes (p, samples, i);
  if (lane == 0)
    finish_cell (p, i, cell);
}

/* For each row of cells, some blocks measure the rows of samples, a warp each, and the others the
 * cells. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_CODEBOOK_THREADS)
    ccl_codebook_measure (const __grid_constant__ LightParameters p)
{
  __shared__ SharedLogs shared_logs;
  __shared__ int lights[CUDACCL_LIGHT_SAMPLES]; /* of rows */
  constexpr uint32_t WARPS = CUDACCL_CODEBOOK_WARPS, OF_ROWS = CUDACCL_LIGHT_SAMPLES / WARPS;
  const uint32_t n_parts = OF_ROWS + CUDACCL_DIVIDE_UP (p.pixels.grid.columns, WARPS);
  const uint32_t row = blockIdx.x / n_parts, part = blockIdx.x % n_parts, warp = threadIdx.x / 32;
  share_logs (shared_logs);
  __syncthreads ();
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (part < OF_ROWS)
    write_row (p, shared_logs, row * CUDACCL_LIGHT_SAMPLES + part * WARPS + warp);
  else
    write_cells (p, shared_logs, lights, row, (part - OF_ROWS) * WARPS + warp);
}

/* Whether the light has edges, by a warp. */
static __device__ __forceinline__ bool
has_edges (const Pixels &p)
{
  const uint32_t *counts = p.light->counts;
  uint32_t explained = 0, varied = 0;
  for (uint32_t i = lane_of_warp (); i < CUDACCL_LIGHT_RATIOS; i += 32)
    explained += counts[i];
  explained = reduce_add (FULL_WARP, explained);
  const int middle = explained ? (int)middle_of (counts) : CUDACCL_LIGHT_LIMIT;
  for (uint32_t i = lane_of_warp (); i < CUDACCL_LIGHT_RATIOS; i += 32)
    varied += ccl_light_is_near ((int)i, middle) ? 0 : counts[i];
  const CclLightShares shares = {
      p.counts->light.measured, p.counts->light.uniform, explained, reduce_add (FULL_WARP, varied)};
  return ccl_light_has_edges (&shares);
}

/* The means of the light of rows of cells that ccl_light_smooth_row() needs of a row of samples. */
struct RowMeans {
  uint32_t first; /* row of cells */
  int16_t means[2 * CUDACCL_LIGHT_WINDOW + 2];
};

/* By a warp. row: of samples. */
static __device__ __forceinline__ void
find_means (const Pixels &p, uint32_t row, RowMeans *shared)
{
  constexpr uint32_t N = CUDACCL_DIVIDE_UP (2 * CUDACCL_LIGHT_WINDOW + 2, 2);
  constexpr uint32_t ROWS = CUDACCL_LIGHT_SAMPLES;
  const uint32_t lane = lane_of_warp ();
  uint32_t above, below, weight;
  ccl_light_place (row << p.sample_shift, p.grid.shift, p.grid.rows, &above, &below, &weight);
  const uint32_t first = above > CUDACCL_LIGHT_WINDOW ? above - CUDACCL_LIGHT_WINDOW : 0;
  shared->first = first;
#pragma unroll
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t sample_y = first * ROWS + 32 * i + lane;
    const bool counts = (uint64_t)sample_y << p.sample_shift < p.extent.height;
    const uint32_t half = lane < ROWS ? 0xffffu : 0xffff0000u;
    const int n = __popc (__ballot_sync (FULL_WARP, counts) & half);
    int sum = counts ? p.rows[sample_y] : 0;
#pragma unroll
    for (int distance = ROWS / 2; distance > 0; distance /= 2)
      sum += __shfl_xor_sync (FULL_WARP, sum, distance);
    if (lane % ROWS == 0 && n > 0)
      shared->means[2 * i + lane / ROWS] = (int16_t)ccl_light_mean (sum, n);
  }
  __syncwarp ();
}

/* The samples that are near the light of their row, by a warp. */
static __device__ __forceinline__ void
count_row (const LightParameters &p, uint32_t row, RowMeans *shared)
{
  const Pixels &pixels = p.pixels;
  const uint32_t y = row << pixels.sample_shift;
  int ratios[OF_LANE];
  if (y >= pixels.extent.height)
    return;
#pragma unroll
  for (uint32_t i = 0; i < OF_LANE; i++)
    ratios[i] = p.ratios[(size_t)row * ROW_SAMPLES + lane_of_warp () + 32 * i];
  const int light = pixels.rows[row], removed = pixels.history->has_rows ? light : 0;
  find_means (pixels, row, shared);
  /* Where the mean of the first row of cells would be: before the array, where no index may lead.
   */
  const int16_t *means =
      (const int16_t *)((uintptr_t)shared->means - shared->first * sizeof *shared->means);
  const int smooth = ccl_light_smooth_row (&pixels.grid, means, y);
  const uint32_t compared = count_up_to (ratios, CUDACCL_LIGHT_LIMIT);
  const uint32_t near_rows = count_near (ratios, light - removed);
  const uint32_t near_smooth = count_near (ratios, smooth - removed);
  if (lane_of_warp () == 0) {
    atomicAdd (&pixels.counts->light.rows.compared, compared);
    atomicAdd (&pixels.counts->light.rows.near_rows, near_rows);
    atomicAdd (&pixels.counts->light.rows.near_smooth, near_smooth);
  }
}

/* Smooths the light of a cell by a warp, and writes its factor. */
static __device__ __forceinline__ void
smooth_cell (const LightParameters &p, uint32_t cell)
{
  const Pixels &pixels = p.pixels;
  const auto edges = [&] { return has_edges (pixels); };
  const int light = light_of_cell (pixels.grid, p.cells, pixels.light->counts, cell, edges);
  if (lane_of_warp () == 0) {
    const uint32_t factor = factor_of_light (light);
    pixels.factors[cell] = (uint16_t)factor;
    atomicMax (&pixels.counts->light.most, factor);
    atomicMax (&pixels.counts->light.least, UINT16_MAX - factor);
  }
}

/* A warp smooths the light of a cell, or counts a row of samples, or finds whether there are edges.
 */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_CODEBOOK_THREADS)
    ccl_codebook_smooth (const __grid_constant__ LightParameters p)
{
  __shared__ RowMeans means[CUDACCL_CODEBOOK_WARPS];
  const CclLightGrid &grid = p.pixels.grid;
  const uint32_t n_cells = grid.columns * grid.rows, n_rows = grid.rows * CUDACCL_LIGHT_SAMPLES;
  const uint32_t warp = blockIdx.x * CUDACCL_CODEBOOK_WARPS + threadIdx.x / 32;
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (warp == 0) {
    const bool frame_has_edges = has_edges (p.pixels);
    if (lane_of_warp () == 0)
      p.pixels.counts->light.has_edges = frame_has_edges;
  } else if (warp <= n_cells) {
    smooth_cell (p, warp - 1);
  } else if (warp <= n_cells + n_rows) {
    count_row (p, warp - 1 - n_cells, &means[threadIdx.x / 32]);
  }
}

/* The factor of row y of the frame, between two rows of samples that have light of their own. */
static __device__ __forceinline__ uint32_t
factor_of_row (const Pixels &p, uint32_t y)
{
  const uint32_t shift = p.sample_shift, first = y >> shift;
  const uint32_t last = (p.extent.height - 1) >> shift;
  return ccl_light_between (factor_of_light (p.rows[first]),
      factor_of_light (p.rows[min (first + 1, last)]), y & ((1u << shift) - 1), shift);
}

/* The factors of the four cells around a pixel. */
struct Factors {
  uint32_t between; /* interpolated */
  uint32_t least, most;
  uint32_t spread; /* the difference between these, without the light of rows */
};

static __device__ __forceinline__ Factors
factors_at (const Pixels &p, uint32_t x, uint32_t y, bool has_rows)
{
  const CclLightGrid &grid = p.grid;
  uint32_t above, below, left, right, weight_y, weight_x;
  ccl_light_place (y, grid.shift, grid.rows, &above, &below, &weight_y);
  ccl_light_place (x, grid.shift, grid.columns, &left, &right, &weight_x);
  const uint16_t *upper = p.factors + above * grid.columns;
  const uint16_t *lower = p.factors + below * grid.columns;
  const uint32_t a = upper[left], b = upper[right], c = lower[left], d = lower[right];
  Factors factors;
  uint32_t at_left = ccl_light_between (a, c, weight_y, grid.shift);
  uint32_t at_right = ccl_light_between (b, d, weight_y, grid.shift);
  factors.least = min (min (a, b), min (c, d));
  factors.most = max (max (a, b), max (c, d));
  factors.spread = factors.most - factors.least;
  if (has_rows) {
    const uint32_t of_row = factor_of_row (p, y);
    at_left = ccl_light_product (at_left, of_row);
    at_right = ccl_light_product (at_right, of_row);
    factors.least = ccl_light_product (factors.least, of_row);
    factors.most = ccl_light_product (factors.most, of_row);
  }
  factors.between = ccl_light_between (at_left, at_right, weight_x, grid.shift);
  return factors;
}

/* ---- update ---- */

/* What the threads of a block share. */
struct Shared {
  CclCodebookFrame frame;
  uint8_t place_tolerances[CUDACCL_CODEBOOK_LEVELS]; /* of calm places of the second model */
  uint8_t faint_tolerance;                           /* ccl_faint_tolerance() */
  bool has_rows;                                     /* rows have light of their own */
  uint32_t noise[CUDACCL_CODEBOOK_LEVELS * CUDACCL_CODEBOOK_DISTANCES];
  uint32_t sums[CUDACCL_CODEBOOK_SUMS];
};

/* CclCodebookTolerances.levels of a level. darker: what is known of the level below. */
static __device__ __forceinline__ uint32_t
tolerances_of_level (
    uint32_t level, CclCodebookLevel known, CclCodebookLevel darker, uint32_t sensitivity)
{
  const uint32_t usual = ccl_codebook_tolerance (level, known, sensitivity);
  const uint32_t of_darker =
      ccl_codebook_tolerance (level > 0 ? level - 1 : 0, darker, sensitivity);
  return usual | (uint32_t)ccl_codebook_weak_tolerance (level, known, sensitivity) << 8 |
         (uint32_t)ccl_codebook_explained (level, known, true, sensitivity) << 16 |
         (uint32_t)ccl_sampled_tolerance (usual, of_darker, sensitivity) << 24;
}

/* Sets what a frame has of a level. */
static __device__ __forceinline__ void
set_level (const Pixels &p, Shared *shared, uint32_t level)
{
  const CclCodebookHistory *history = p.history;
  const uint32_t darker = level > 0 ? level - 1 : 0;
  uint32_t tolerances = history->tolerances.levels[level];
  const bool is_white = history->is_white != 0;
  if (history->tolerances.sensitivity != p.sensitivity)
    tolerances =
        tolerances_of_level (level, history->levels[level], history->levels[darker], p.sensitivity);
  shared->frame.tolerances[level] = (uint8_t)tolerances;
  shared->frame.weak_tolerances[level] = (uint8_t)(tolerances >> 8);
  shared->frame.noise_tolerances[level] = is_white ? (uint8_t)(tolerances >> 16) : 0;
  shared->place_tolerances[level] = (uint8_t)(tolerances >> 24);
}

/* Sets what a frame has but for its levels. One thread. */
static __device__ __forceinline__ void
set_frame (const Parameters &p, Shared *shared)
{
  const CclCodebookHistory *history = p.pixels.history;
  const CclSceneChange change =
      p.evidence.judges_scene ? history->scene.change : CUDACCL_SCENE_UNCHANGED;
  const bool is_dark = history->is_dark != 0, has_rows = history->has_rows != 0;
  const bool is_sought = !is_dark && !has_rows && p.sway.distance == 0;
  const uint32_t sensitivity = p.pixels.sensitivity;
  uint32_t faint = is_sought ? history->tolerances.faint : (uint32_t)CUDACCL_FAINT_NONE;
  if (history->tolerances.sensitivity != sensitivity)
    faint = ccl_faint_tolerance (history->all_levels, is_sought, sensitivity);
  shared->frame.time = p.time;
  shared->has_rows = has_rows;
  shared->frame.scene_changes = change != CUDACCL_SCENE_UNCHANGED;
  shared->frame.is_dark = is_dark;
  shared->faint_tolerance = (uint8_t)faint;
  if (blockIdx.x == 0)
    p.pixels.counts->elapsed = p.time.elapsed;
}

static __device__ __forceinline__ void
begin_block (const Parameters &p, Shared *shared)
{
  if (threadIdx.x == 0)
    set_frame (p, shared);
  if (threadIdx.x < CUDACCL_CODEBOOK_SUMS)
    shared->sums[threadIdx.x] = 0;
  /* Another warp than that of set_frame(). */
  if (threadIdx.x - 32 < CUDACCL_CODEBOOK_LEVELS)
    set_level (p.pixels, shared, threadIdx.x - 32);
  for (uint32_t i = threadIdx.x; i < sizeof shared->noise / sizeof *shared->noise;
       i += CUDACCL_CODEBOOK_THREADS)
    shared->noise[i] = 0;
  __syncthreads ();
}

/* The factor of a pixel where the light has edges. */
static __device__ __forceinline__ uint32_t
factor_at_edges (
    const Pixels &p, const Factors &factors, uint32_t luma, uint32_t x, uint32_t y, bool has_rows)
{
  const CclCodebookLightCounts &light = p.counts->light;
  const bool is_at_border = ccl_light_is_at_border (&p.grid, x, y, p.extent.width, p.extent.height);
  uint32_t least = UINT16_MAX - light.least, most = light.most, factor = factors.between;
  if (factors.least < factors.most)
    factor = ccl_light_choose (luma, background_at (p, x, y), factor, factors.least, factors.most);
  if (!is_at_border)
    return factor;
  if (has_rows) {
    const uint32_t of_row = factor_of_row (p, y);
    least = ccl_light_product (least, of_row);
    most = ccl_light_product (most, of_row);
  }
  return least < most ? ccl_light_choose (luma, background_at (p, x, y), factor, least, most)
                      : factor;
}

/* A pixel of this luma in the light of the model. */
static __device__ __forceinline__ CclCodebookValue
value_at (const Pixels &p, uint32_t luma, uint32_t x, uint32_t y, bool has_rows)
{
  const uint32_t chroma = p.frame.u ? chroma_at (p.frame, x, y) : CUDACCL_NO_CHROMA;
  CclCodebookValue value = {(uint8_t)luma, (uint8_t)chroma, (uint8_t)(chroma >> 8), 0};
  if (p.light) {
    const Factors factors = factors_at (p, x, y, has_rows);
    const bool has_edges = p.counts->light.has_edges != 0;
    const uint32_t factor =
        has_edges ? factor_at_edges (p, factors, luma, x, y, has_rows) : factors.between;
    const uint32_t slack = ccl_codebook_slack (luma, factors.spread);
    value.luma = (uint8_t)ccl_light_correct_luma (value.luma, factor, UINT8_MAX);
    value.u = (uint8_t)ccl_light_correct_chroma (value.u, factor);
    value.v = (uint8_t)ccl_light_correct_chroma (value.v, factor);
    value.slack = (uint8_t)(has_edges ? ccl_codebook_edge_slack (slack, factor) : slack);
  }
  return value;
}

/* A value in one register. */
struct PackedValue {
  uint32_t luma : 8, u : 8, v : 8, slack : 8;
};

static __device__ __forceinline__ PackedValue
packed (const CclCodebookValue &value)
{
  return {value.luma, value.u, value.v, value.slack};
}

static __device__ __forceinline__ CclCodebookValue
unpacked (const PackedValue &value)
{
  return {(uint8_t)value.luma, (uint8_t)value.u, (uint8_t)value.v, (uint8_t)value.slack};
}

#include "sway.cuh"
#include "sampled-places.cuh"

/* ---- words ---- */

static __device__ __forceinline__ uint32_t
bit_of (const uint32_t *words, uint32_t word)
{
  return words[word] >> lane_of_warp () & 1;
}

/* What is known of a pixel before the light of the frame is, in few registers. */
struct Pixel {
  uint32_t luma : 8;
  uint32_t place : CUDACCL_CODEBOOK_PLACE_BITS; /* CclCodebookState */
  uint32_t was_background : 1, in_object : 1, is_dynamic : 1;
  uint32_t weights[CUDACCL_CODEBOOK_WORDS / 2]; /* two in each */
  uint32_t first[2];                            /* word: luma and u; v and visits */
};

static __device__ __forceinline__ void
load_state (const CclCodebookBits &p, uint32_t word, Pixel *pixel)
{
  uint32_t place = 0;
#pragma unroll
  for (uint32_t i = 0; i < CUDACCL_CODEBOOK_PLACE_BITS; i++)
    place |= bit_of (p.place[i], word) << i;
  pixel->place = place;
  pixel->was_background = !bit_of (p.strong, word);
  pixel->in_object = bit_of (p.object, word);
  pixel->is_dynamic = bit_of (p.dynamic, word);
}

static __device__ __forceinline__ CclCodebookState
state_of (const Pixel &pixel)
{
  return {(uint8_t)pixel.place, (bool)pixel.was_background, (bool)pixel.in_object,
      (bool)pixel.is_dynamic};
}

/* A mean of a word of a lane; without chroma, u and v are those of grey. */
static __device__ __forceinline__ uint16_t
load_chroma_mean (bool has_chroma, const uint16_t means[CUDACCL_CODEBOOK_LANES])
{
  return has_chroma ? means[lane_of_warp ()] : (uint16_t)(128 * CUDACCL_CODEBOOK_STEPS);
}

/* Loads what is read of all pixels of a warp, so that none of it waits for another. Pixels outside
 * the frame have memory, too, and nothing reads what is found of them. */
static __device__ __forceinline__ Pixel
load_pixel (const Parameters &p, uint32_t word, uint32_t x, uint32_t y)
{
  const CclCodebookBlock *block = p.blocks + word;
  const bool has_chroma = p.pixels.frame.u != NULL;
  const uint32_t lane = lane_of_warp ();
  Pixel pixel;
  pixel.luma = x < p.pixels.extent.width ? luma_at (p.pixels.frame, x, y, p.pixels.is_wide) : 0;
#pragma unroll
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k += 2)
    pixel.weights[k / 2] = block->weight[k][lane] | (uint32_t)block->weight[k + 1][lane] << 16;
  pixel.first[0] = block->luma[0][lane] | (uint32_t)load_chroma_mean (has_chroma, block->u[0])
                                              << 16;
  pixel.first[1] = load_chroma_mean (has_chroma, block->v[0]) | (uint32_t)block->visits[0][lane]
                                                                    << 16;
  load_state (p.bits, word, &pixel);
  return pixel;
}

/* Loads what the update reads of codebooks of at most WORDS words, whose weights are set. Words
 * that no pixel of the warp has are left out. A birth counts only where the word has, or may have
 * after this frame, the visits of a recurrent one. */
template <uint32_t WORDS>
static __device__ __forceinline__ void
load_words (bool has_chroma, const CclCodebookBlock *block, const Pixel &pixel, bool rebases,
    CclCodeword words[CUDACCL_CODEBOOK_WORDS])
{
  const uint32_t lane = lane_of_warp ();
  words[0].luma = (uint16_t)pixel.first[0];
  words[0].u = (uint16_t)(pixel.first[0] >> 16);
  words[0].v = (uint16_t)pixel.first[1];
  words[0].visits = (uint8_t)(pixel.first[1] >> 16);
#pragma unroll
  for (uint32_t k = 1; k < WORDS; k++) {
    if (__any_sync (FULL_WARP, words[k].weight > 0)) {
      words[k].luma = block->luma[k][lane];
      words[k].u = load_chroma_mean (has_chroma, block->u[k]);
      words[k].v = load_chroma_mean (has_chroma, block->v[k]);
      words[k].visits = block->visits[k][lane];
    }
  }
#pragma unroll
  for (uint32_t k = 0; k < WORDS; k++) {
    if (rebases || words[k].visits + 1 >= CUDACCL_CODEBOOK_RECURRENT_VISITS)
      words[k].birth = block->birth[k][lane];
  }
}

/* Stores what an update has changed: the word that matches or is new, and weights. weights: those
 * before. */
static __device__ __forceinline__ void
store_words (bool has_chroma, CclCodebookBlock *block, const CclCodebookFrame &frame,
    uint32_t place, bool is_visit, const CclCodeword words[CUDACCL_CODEBOOK_WORDS],
    const uint16_t weights[CUDACCL_CODEBOOK_WORDS])
{
  const uint32_t lane = lane_of_warp ();
  CclCodeword own = words[0];
#pragma unroll
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++) {
    own = k == place ? words[k] : own;
    if (words[k].weight != weights[k])
      block->weight[k][lane] = words[k].weight;
    if (frame.time.rebases && words[k].weight > 0)
      block->birth[k][lane] = words[k].birth;
  }
  const bool is_new = own.birth == frame.time.now; /* or of this step: what is stored is the same */
  block->luma[place][lane] = own.luma;
  if (has_chroma) {
    block->u[place][lane] = own.u;
    block->v[place][lane] = own.v;
  }
  if (is_new)
    block->birth[place][lane] = own.birth;
  if (is_new || is_visit)
    block->visits[place][lane] = own.visits;
}

/* Updates the pixel of a thread, which has this value and at most WORDS words. The compiler drops
 * what the others would take, but for the one that may be new. */
template <uint32_t WORDS>
static __device__ __forceinline__ CclCodebookResult
update_words (const Parameters &p, const CclCodebookFrame &frame, uint32_t word,
    CclCodebookValue value, const Pixel &pixel, const uint16_t weights[CUDACCL_CODEBOOK_WORDS])
{
  CclCodebookBlock *block = p.blocks + word;
  const bool has_chroma = p.pixels.frame.u != NULL;
  CclCodeword words[CUDACCL_CODEBOOK_WORDS];
#pragma unroll
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    words[k] = {0, 0, 0, k < WORDS ? weights[k] : (uint16_t)0, 0, 0};
  load_words<WORDS> (has_chroma, block, pixel, frame.time.rebases, words);
  const CclCodebookResult result = ccl_codebook_update (words, value, state_of (pixel), &frame);
  const bool is_visit = result.is_strong && pixel.was_background;
  store_words (has_chroma, block, frame, result.place, is_visit, words, weights);
  return result;
}

/* Counts the distance of a warp's pixels, each of which counts or not. Lanes of equal distance add
 * together. */
static __device__ __forceinline__ void
count_noise (const CclCodebookResult &result, bool counts, uint32_t *noise)
{
  const uint32_t lanes = __ballot_sync (FULL_WARP, counts);
  if (!counts)
    return;
  const uint32_t distance = min ((uint32_t)result.distance, CUDACCL_CODEBOOK_DISTANCES - 1u);
  const uint32_t bin = result.level * CUDACCL_CODEBOOK_DISTANCES + distance;
  const uint32_t same = __match_any_sync (lanes, bin);
  if (lanes_below (same) == 0)
    atomicAdd (&noise[bin], (uint32_t)__popc (same));
}

/* Counts the pixels of a warp in their cells, one or two. */
static __device__ __forceinline__ void
count_in_cells (const Parameters &p, uint32_t x, uint32_t y, uint32_t strong, uint32_t settled)
{
  const CclLightGrid &grid = p.pixels.grid;
  const uint32_t lane = lane_of_warp ();
  if (grid.shift < 5) {
    const uint32_t half = lane < 16 ? 0xffffu : 0xffff0000u;
    strong &= half;
    settled &= half;
  }
  const bool is_first = lane == 0 || (grid.shift < 5 && lane == 16);
  if (is_first && strong) {
    CclCodebookCell *cell = &p.evidence.cells[(y >> grid.shift) * grid.columns + (x >> grid.shift)];
    atomicAdd (&cell->lost, (uint32_t)__popc (strong));
    if (settled)
      atomicAdd (&cell->settled, (uint32_t)__popc (settled));
  }
}

/* Adds the evidence of pixels for a sudden change of the scene to the sums of their threads. */
static __device__ __forceinline__ void
add_to_sums (uint32_t sums[CUDACCL_CODEBOOK_SUMS], uint32_t luma, const CclCodebookResult &result)
{
  sums[CUDACCL_CODEBOOK_DARK] += luma < CUDACCL_LIGHT_LEAST_LUMA;
  sums[CUDACCL_CODEBOOK_BRIGHT] += luma > CUDACCL_LIGHT_MOST_LUMA;
  sums[CUDACCL_CODEBOOK_MODEL_DARK] += result.model_luma < CUDACCL_LIGHT_LEAST_LUMA;
  sums[CUDACCL_CODEBOOK_MODEL_BRIGHT] += result.model_luma > CUDACCL_LIGHT_MOST_LUMA;
  sums[CUDACCL_CODEBOOK_CHROMA_SUM] += result.chroma;
  sums[CUDACCL_CODEBOOK_MODEL_CHROMA_SUM] += result.model_chroma;
}

/* Updates the pixels of a warp, most of which have one word, or few. */
static __device__ __forceinline__ CclCodebookResult
update_pixels (const Parameters &p, const CclCodebookFrame &frame, uint32_t word,
    CclCodebookValue value, const Pixel &pixel)
{
  uint16_t weights[CUDACCL_CODEBOOK_WORDS];
  uint32_t beyond_one = 0, beyond_few = 0; /* weights of further words */
#pragma unroll
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++) {
    weights[k] = (uint16_t)(pixel.weights[k / 2] >> 16 * (k % 2));
    beyond_one |= k >= 1 ? weights[k] : 0;
    beyond_few |= k >= CUDACCL_CODEBOOK_FEW_WORDS ? weights[k] : 0;
  }
  if (!__any_sync (FULL_WARP, beyond_one))
    return update_words<1> (p, frame, word, value, pixel, weights);
  return __any_sync (FULL_WARP, beyond_few)
             ? update_words<CUDACCL_CODEBOOK_WORDS> (p, frame, word, value, pixel, weights)
             : update_words<CUDACCL_CODEBOOK_FEW_WORDS> (p, frame, word, value, pixel, weights);
}

/* What the texture of a warp's pixels says, of a row of pixels from x on; background: their luma in
 * the model. */
static __device__ __forceinline__ void
compare_texture (const Parameters &p, bool is_dark, uint32_t word, uint32_t x, uint32_t luma,
    uint32_t background)
{
  const uint32_t own = luma << 8 | background;
  const uint32_t other = __shfl_down_sync (FULL_WARP, own, CUDACCL_TEXTURE_DISTANCE);
  const uint32_t lane = lane_of_warp ();
  const bool inside = x + CUDACCL_TEXTURE_DISTANCE < p.pixels.extent.width;
  const CclTexture texture =
      inside && (CUDACCL_TEXTURE_FIRST >> lane & 1)
          ? ccl_texture_compare (luma, other >> 8, background, other & UINT8_MAX, is_dark)
          : CCL_TEXTURE_UNKNOWN;
  const CclOutline outline =
      inside && (CUDACCL_OUTLINE_FIRST >> lane & 1)
          ? ccl_outline_compare (luma, other >> 8, background, other & UINT8_MAX)
          : CCL_OUTLINE_UNKNOWN;
  const uint32_t ended = __ballot_sync (FULL_WARP, outline == CCL_OUTLINE_UNCOVERED);
  const uint32_t begun = __ballot_sync (FULL_WARP, outline == CCL_OUTLINE_COVERED);
  const uint32_t agrees = __ballot_sync (FULL_WARP, texture == CCL_TEXTURE_AGREES);
  const uint32_t differs = __ballot_sync (FULL_WARP, texture == CCL_TEXTURE_DIFFERS);
  if (lane_of_warp () == 0) {
    p.bits.agrees[word] = agrees;
    p.bits.differs[word] = differs;
    p.bits.ended[word] = ended;
    p.bits.begun[word] = begun;
  }
}

/* Adds the pairs of a warp's pixels that tell white noise to the sums of its first thread.
 * brighter, strong, inside: bits of the pixels. */
static __device__ __forceinline__ void
count_pairs (
    uint32_t brighter, uint32_t strong, uint32_t inside, uint32_t sums[CUDACCL_CODEBOOK_SUMS])
{
  const uint32_t counted = inside & ~strong;
  const uint32_t pairs = counted & counted >> 1 & 0x55555555u;
  if (lane_of_warp () == 0) {
    sums[CUDACCL_CODEBOOK_PAIRS] += (uint32_t)__popc (pairs);
    sums[CUDACCL_CODEBOOK_ALIKE] += (uint32_t)__popc (pairs & ~(brighter ^ brighter >> 1));
  }
}

/* Updates the pixels of a warp, writes their classes and counts them. */
static __device__ __forceinline__ void
update_word (const Parameters &p, uint32_t word, uint32_t x, uint32_t y, const Pixel &pixel,
    CclCodebookValue value, Shared *shared, uint32_t sums[CUDACCL_CODEBOOK_SUMS])
{
  const uint32_t lane = lane_of_warp (), luma = pixel.luma;
  const bool inside = x < p.pixels.extent.width;
  CclCodebookResult result = update_pixels (p, shared->frame, word, value, pixel);
  if (!inside)
    result = {};
  if (inside)
    add_to_sums (sums, luma, result);
  count_noise (result, inside && ccl_codebook_counts_as_noise (&result), &shared->noise[0]);
  if (p.sway.distance > 0 && inside)
    clear_sway (p.sway, place_of_pixel (p.pixels.extent, x, y), value.luma, &result);
  const uint32_t places[] = {__ballot_sync (FULL_WARP, result.place & 1),
      __ballot_sync (FULL_WARP, result.place & 2), __ballot_sync (FULL_WARP, result.place & 4)};
  const uint32_t strong = __ballot_sync (FULL_WARP, result.is_strong);
  const uint32_t settled = __ballot_sync (FULL_WARP, result.is_settled);
  const uint32_t foreground =
      __ballot_sync (FULL_WARP, result.pixel_class == CUDACCL_PIXEL_FOREGROUND);
  const uint32_t shadow = __ballot_sync (FULL_WARP, result.pixel_class == CUDACCL_PIXEL_SHADOW);
  const uint32_t recurrent = __ballot_sync (FULL_WARP, result.is_recurrent);
  if (lane == 0) {
    for (uint32_t i = 0; i < CUDACCL_CODEBOOK_PLACE_BITS; i++)
      p.bits.place[i][word] = places[i];
    p.bits.strong[word] = strong;
    p.bits.foreground[word] = foreground;
    p.bits.shadow[word] = shadow;
    p.bits.recurrent[word] = recurrent;
    p.bits.settled[word] = settled;
  }
  if (y % CUDACCL_CODEBOOK_WHITE_ROWS == 0)
    count_pairs (__ballot_sync (FULL_WARP, value.luma > result.background), strong,
        __ballot_sync (FULL_WARP, inside), sums);
  compare_texture (p, shared->frame.is_dark, word, x, luma, result.background);
  count_in_cells (p, x, y, strong, settled);
  if (inside)
    background_at (p.pixels, x, y) = result.background;
}

/* Adds what a block has counted. */
static __device__ __forceinline__ void
end_block (const Parameters &p, Shared *shared, const uint32_t sums[CUDACCL_CODEBOOK_SUMS])
{
  CclCodebookCounts *counts = p.pixels.counts;
#pragma unroll
  for (uint32_t i = 0; i < CUDACCL_CODEBOOK_SUMS; i++) {
    const uint32_t of_warp = reduce_add (FULL_WARP, sums[i]);
    if (lane_of_warp () == 0)
      atomicAdd (&shared->sums[i], of_warp);
  }
  __syncthreads ();
  for (uint32_t i = threadIdx.x; i < sizeof shared->noise / sizeof *shared->noise;
       i += CUDACCL_CODEBOOK_THREADS) {
    if (shared->noise[i])
      atomicAdd (&counts->noise[0][0] + i, shared->noise[i]);
  }
  if (threadIdx.x < CUDACCL_CODEBOOK_SUMS)
    atomicAdd (&counts->sums[threadIdx.x], shared->sums[threadIdx.x]);
}

/* Two rows of 32 pixels, the values of which two warps share: each updates a row, and half of their
 * places of the second model. */
typedef PackedValue SharedValues[2][32];

/* The part of a warp's row that is loaded before the light of the frame is known. */
struct Row {
  Pixel pixel;
  Place place;
};

/* The row of a warp: pairs of rows are numbered by column and row of words. */
struct RowPlace {
  uint32_t column, y;
  bool inside;
};

static __device__ __forceinline__ RowPlace
place_of_row (const CclExtent &extent, uint32_t pair)
{
  const uint32_t n_pairs = extent.row_words * CUDACCL_DIVIDE_UP (extent.height, 2);
  RowPlace place;
  place.column = pair % extent.row_words;
  place.y = pair / extent.row_words * 2 + threadIdx.x / 32 % 2;
  place.inside = pair < n_pairs;
  return place;
}

static __device__ __forceinline__ Row
load_row (const Parameters &p, const RowPlace &at)
{
  const CclExtent &extent = p.pixels.extent;
  const uint32_t word = at.y * extent.row_words + at.column;
  Row row = {};
  if (at.inside) {
    row.place = load_place (p.sampled, at.column, at.y / 2);
    if (at.y < extent.height)
      row.pixel = load_pixel (p, word, 32 * at.column + lane_of_warp (), at.y);
  }
  return row;
}

/* Updates a row and its places. All threads of the block. */
static __device__ __forceinline__ void
update_row (const Parameters &p, const Row &row, const RowPlace &at, Shared *shared,
    SharedValues &values, uint32_t sums[CUDACCL_CODEBOOK_SUMS])
{
  const CclExtent &extent = p.pixels.extent;
  const uint32_t x = 32 * at.column + lane_of_warp ();
  const bool has_pixels = at.inside && at.y < extent.height;
  CclCodebookValue value = {};
  if (has_pixels && x < extent.width)
    value = value_at (p.pixels, row.pixel.luma, x, at.y, shared->has_rows);
  values[at.y % 2][lane_of_warp ()] = packed (value);
  __syncthreads ();
  if (at.inside)
    update_place (p, *shared, row.place, values, at.column, at.y / 2);
  if (has_pixels)
    update_word (p, at.y * extent.row_words + at.column, x, at.y, row.pixel, value, shared, sums);
  __syncthreads ();
}

/* Where the light is measured, the kernels that do so have waited for all of the frame before; so
 * what is independent of the light is loaded before they end. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_CODEBOOK_THREADS, CUDACCL_CODEBOOK_BLOCKS)
    ccl_codebook_update_words (const __grid_constant__ Parameters p)
{
  __shared__ Shared shared;
  __shared__ SharedValues values[CUDACCL_CODEBOOK_ROW_PAIRS];
  const CclExtent &extent = p.pixels.extent;
  const uint32_t n_pairs = extent.row_words * CUDACCL_DIVIDE_UP (extent.height, 2);
  const uint32_t own = threadIdx.x / 64, step = gridDim.x * CUDACCL_CODEBOOK_ROW_PAIRS;
  uint32_t sums[CUDACCL_CODEBOOK_SUMS] = {};
  uint32_t first = blockIdx.x * CUDACCL_CODEBOOK_ROW_PAIRS;
  RowPlace at = place_of_row (extent, first + own);
  if (!p.pixels.light)
    wait_for_previous_kernel ();
  Row row = load_row (p, at);
  begin_block (p, &shared);
  begin_cells (p.sampled);
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  while (true) {
    update_row (p, row, at, &shared, values[own], sums);
    first += step;
    if (first >= n_pairs)
      break;
    at = place_of_row (extent, first + own);
    row = load_row (p, at);
  }
  end_block (p, &shared, sums);
}

/* ---- what follows for the next frame ---- */

/* ccl_codebook_quantile() of a level by a warp, from the counts of two distances for each thread.
 * up_to: their sums up to each thread; n: of all. */
static __device__ __forceinline__ uint32_t
quantile (uint32_t up_to, uint32_t second, uint32_t n, uint32_t share)
{
  const uint32_t lane = lane_of_warp ();
  const uint64_t wanted = (uint64_t)share * n;
  const uint32_t lanes = __ballot_sync (FULL_WARP, (uint64_t)16 * up_to >= wanted);
  const uint32_t own = 2 * lane + ((uint64_t)16 * (up_to - second) < wanted);
  const uint32_t found = __shfl_sync (FULL_WARP, own, __ffs ((int)lanes) - 1);
  return n < CUDACCL_CODEBOOK_LEAST_SAMPLES ? 0 : found;
}

/* What the threads of the block share that prepares what is known of the noise. */
struct SharedNoise {
  uint32_t dark, counted;                     /* ccl_codebook_is_dark() */
  uint32_t noise[CUDACCL_CODEBOOK_DISTANCES]; /* counts of all levels */
  CclCodebookLevel levels[CUDACCL_CODEBOOK_LEVELS];
};

/* The next level from the counts of two distances for each thread of a warp, n in all. */
static __device__ __forceinline__ CclCodebookLevel
next_level (const CclCodebookLevel &known, uint32_t level, uint32_t first, uint32_t second,
    bool is_dark, uint32_t elapsed, uint32_t *n)
{
  const uint32_t up_to = sum_up_to_lane (first + second);
  *n = __shfl_sync (FULL_WARP, up_to, 31);
  const uint32_t median = quantile (up_to, second, *n, 8), tail = quantile (up_to, second, *n, 15);
  return ccl_codebook_next_level (known, level, median, tail, is_dark, elapsed);
}

/* The same of all levels together. */
static __device__ __forceinline__ CclCodebookLevel
next_of_all_levels (
    const CclCodebookLevel &known, uint32_t first, uint32_t second, uint32_t elapsed)
{
  const uint32_t up_to = sum_up_to_lane (first + second), n = __shfl_sync (FULL_WARP, up_to, 31);
  return ccl_faint_next (known, quantile (up_to, second, n, 12), elapsed);
}

/* Sets the tolerances of the next frame. One warp. */
static __device__ __forceinline__ void
set_tolerances (CclCodebookTolerances *tolerances,
    const CclCodebookLevel levels[CUDACCL_CODEBOOK_LEVELS], const CclCodebookLevel &all,
    uint32_t sensitivity)
{
  const uint32_t level = lane_of_warp ();
  if (level == 0) {
    tolerances->faint = ccl_faint_tolerance (all, true, sensitivity);
    tolerances->sensitivity = sensitivity;
  }
  if (level < CUDACCL_CODEBOOK_LEVELS)
    tolerances->levels[level] =
        tolerances_of_level (level, levels[level], levels[level > 0 ? level - 1 : 0], sensitivity);
}

/* Sets what is known of the noise from that of the frame, whose counts are cleared. One block, a
 * warp for each level. All is loaded before the first is used. */
static __device__ __forceinline__ void
prepare_noise (const CclConfirmParameters &p, SharedNoise *shared)
{
  static_assert (CUDACCL_CODEBOOK_LEVELS <= CUDACCL_CONFIRM_WARPS, "a warp for each level");
  const uint32_t lane = lane_of_warp (), level = threadIdx.x / 32;
  const bool has_level = level < CUDACCL_CODEBOOK_LEVELS;
  CclCodebookHistory *history = p.history;
  uint32_t *counts = p.evidence.counts->noise[has_level ? level : 0] + 2 * lane;
  const uint32_t first = __ldcg (&counts[0]), second = __ldcg (&counts[1]);
  const CclCodebookLevel known = history->levels[has_level ? level : 0], all = history->all_levels;
  const bool is_dark = history->is_dark != 0;
  const uint32_t elapsed = p.evidence.counts->elapsed;
  if (threadIdx.x < CUDACCL_CODEBOOK_DISTANCES)
    shared->noise[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    shared->dark = shared->counted = 0;
  __syncthreads (); /* the counts have been loaded, too */
  if (has_level) {
    uint32_t n;
    const CclCodebookLevel next = next_level (known, level, first, second, is_dark, elapsed, &n);
    atomicAdd (&shared->noise[2 * lane], first);
    atomicAdd (&shared->noise[2 * lane + 1], second);
    counts[0] = counts[1] = 0;
    if (lane == 0) {
      history->levels[level] = shared->levels[level] = next;
      atomicAdd (&shared->counted, n);
      if (level < CUDACCL_CODEBOOK_DARK_LEVELS)
        atomicAdd (&shared->dark, n);
    }
  }
  __syncthreads ();
  if (level > 0)
    return;
  const CclCodebookLevel next_of_all =
      next_of_all_levels (all, shared->noise[2 * lane], shared->noise[2 * lane + 1], elapsed);
  if (lane == 0) {
    history->all_levels = next_of_all;
    history->is_dark = ccl_codebook_is_dark (shared->dark, shared->counted);
  }
  set_tolerances (&history->tolerances, shared->levels, next_of_all, p.sensitivity);
}

/* Counts the cells that show another scene, from `first` on, a warp's each in `step`. */
static __device__ __forceinline__ CclCodebookCell
count_cells (const CclCodebookEvidence &p, uint32_t first, uint32_t step)
{
  const CclLightGrid &grid = p.grid;
  CclCodebookCell n = {};
  for (uint32_t i = first; i < grid.columns * grid.rows; i += step) {
    const uint32_t x = i % grid.columns << grid.shift, y = i / grid.columns << grid.shift;
    const uint32_t pixels =
        min (1u << grid.shift, p.extent.width - x) * min (1u << grid.shift, p.extent.height - y);
    n.lost += ccl_codebook_fills_cell (__ldcg (&p.cells[i].lost), pixels);
    n.settled += ccl_codebook_fills_cell (__ldcg (&p.cells[i].settled), pixels);
  }
  return {reduce_add (FULL_WARP, n.lost), reduce_add (FULL_WARP, n.settled)};
}

/* What is summed over the frame, but for the cells that are counted. */
static __device__ __forceinline__ CclCodebookSums
sums_of_frame (
    const CclCodebookEvidence &p, const unsigned long long counted[CUDACCL_CODEBOOK_SUMS])
{
  CclCodebookSums sums = {};
  sums.cells = p.grid.columns * p.grid.rows;
  sums.pixels = p.extent.width * p.extent.height;
  sums.dark = (uint32_t)counted[CUDACCL_CODEBOOK_DARK];
  sums.bright = (uint32_t)counted[CUDACCL_CODEBOOK_BRIGHT];
  sums.model_dark = (uint32_t)counted[CUDACCL_CODEBOOK_MODEL_DARK];
  sums.model_bright = (uint32_t)counted[CUDACCL_CODEBOOK_MODEL_BRIGHT];
  sums.chroma = counted[CUDACCL_CODEBOOK_CHROMA_SUM];
  sums.model_chroma = counted[CUDACCL_CODEBOOK_MODEL_CHROMA_SUM];
  return sums;
}

/* Whether ccl_codebook_judge_scene() finds that the scene is lost. Cells are counted only if the
 * sums show a sudden change. All lanes of a warp. */
static __device__ __forceinline__ bool
is_scene_lost (const CclCodebookEvidence &p)
{
  unsigned long long counted[CUDACCL_CODEBOOK_SUMS] = {};
#pragma unroll
  for (uint32_t i = 0; i < CUDACCL_CODEBOOK_PAIRS; i++)
    counted[i] = __ldcg (&p.counts->sums[i]);
  CclCodebookSums sums = sums_of_frame (p, counted);
  if (!p.judges_scene || ccl_codebook_sudden_change (&sums) == CUDACCL_SCENE_UNCHANGED)
    return false;
  sums.lost = count_cells (p, lane_of_warp (), 32).lost;
  CclCodebookScene scene = {};
  ccl_codebook_judge_scene (&scene, &sums, 0);
  return scene.is_lost;
}

/* What the threads of the block share that judges the scene. */
struct SharedScene {
  unsigned long long sums[CUDACCL_CODEBOOK_SUMS];
  uint32_t lost, settled; /* cells */
};

/* Judges the scene, and tells the host whether it changed in this frame. One thread. */
static __device__ __forceinline__ void
judge_scene (const CclConfirmParameters &p, const SharedScene &shared, CclCodebookScene scene,
    uint32_t elapsed)
{
  CclCodebookSums sums = sums_of_frame (p.evidence, shared.sums);
  sums.lost = shared.lost;
  sums.settled = shared.settled;
  p.history->is_white = ccl_codebook_is_white (
      (uint32_t)shared.sums[CUDACCL_CODEBOOK_PAIRS], (uint32_t)shared.sums[CUDACCL_CODEBOOK_ALIKE]);
  *p.scene_change = p.evidence.judges_scene ? scene.change : CUDACCL_SCENE_UNCHANGED;
  if (p.evidence.judges_scene)
    ccl_codebook_judge_scene (&scene, &sums, elapsed);
  else
    scene = {};
  p.history->scene = scene;
}

/* Decides whether the rows of the next frame have light of their own, and clears what was counted
 * for it. One thread. */
static __device__ __forceinline__ void
judge_rows (const CclConfirmParameters &p)
{
  CclCodebookLightCounts *light = &p.evidence.counts->light;
  CclLightRowSums sums;
  sums.compared = __ldcg (&light->rows.compared);
  sums.near_rows = __ldcg (&light->rows.near_rows);
  sums.near_smooth = __ldcg (&light->rows.near_smooth);
  p.history->has_rows = p.light && ccl_light_has_rows (&sums, p.history->has_rows != 0);
  *light = {};
}

/* Judges scene and light for the next frame, and clears their counts. One block. */
static __device__ __forceinline__ void
prepare_scene (const CclConfirmParameters &p, SharedScene *shared)
{
  const CclLightGrid &grid = p.evidence.grid;
  const CclCodebookScene scene = p.history->scene;
  const uint32_t elapsed = p.evidence.counts->elapsed;
  if (threadIdx.x < CUDACCL_CODEBOOK_SUMS) {
    shared->sums[threadIdx.x] = __ldcg (&p.evidence.counts->sums[threadIdx.x]);
    p.evidence.counts->sums[threadIdx.x] = 0;
  }
  if (threadIdx.x == 0)
    shared->lost = shared->settled = 0;
  const CclCodebookCell cells = count_cells (p.evidence, threadIdx.x, CUDACCL_CONFIRM_THREADS);
  __syncthreads ();
  if (lane_of_warp () == 0) {
    atomicAdd (&shared->lost, cells.lost);
    atomicAdd (&shared->settled, cells.settled);
  }
  for (uint32_t i = threadIdx.x; i < grid.columns * grid.rows; i += CUDACCL_CONFIRM_THREADS)
    p.evidence.cells[i] = {};
  if (p.light) {
    for (uint32_t i = threadIdx.x; i < CUDACCL_LIGHT_RATIOS; i += CUDACCL_CONFIRM_THREADS)
      p.light->counts[i] = 0;
  }
  __syncthreads ();
  if (threadIdx.x == 0)
    judge_scene (p, *shared, scene, elapsed);
  else if (threadIdx.x == 32)
    judge_rows (p);
}

/* ---- objects ---- */

/* What is counted in the windows around pixels, and around places, by a warp each. */
enum Window { FOREGROUND, SHADOW, STRONG, RECURRENT, DIFFERENT, UNLIKE };

/* What another warp judges. */
enum { SCENE = UNLIKE + 1 };

static_assert (SCENE + 1 == CUDACCL_CODEBOOK_OBJECT_WARPS, "a warp for each");

/* What the warps of a row find of 32 words, a lane's each. */
struct Windows {
  uint32_t shadows[5][32];                           /* Counts */
  uint32_t strong[32];                               /* there are enough around these pixels */
  uint32_t recurrent[32], different[32], unlike[32]; /* most are, around these pixels */
  uint32_t candidates[32], faint[32];
  bool is_lost; /* the scene */
  bool is_even; /* the light */
};

/* The window of a warp around the pixels of a lane. */
static __device__ __forceinline__ Counts
count_in_window (const CclCandidateParameters &p, uint32_t window, uint32_t column, uint32_t y)
{
  const CclExtent places = {p.places.grid.columns, p.places.grid.rows, p.places.row_words};
  const uint32_t *bits = window == STRONG       ? p.bits.strong
                         : window == FOREGROUND ? p.bits.foreground
                         : window == SHADOW     ? p.bits.shadow
                         : window == RECURRENT  ? p.bits.recurrent
                         : window == DIFFERENT  ? p.places.different
                                                : p.places.unlike;
  const uint32_t shift = window >= DIFFERENT; /* a place is 2×2 pixels */
  return count_window<2> (shift ? places : p.extent, bits, column >> shift, y >> shift);
}

/* What the first warp needs to know of the windows of the others. */
static __device__ __forceinline__ void
share_window (Windows *windows, uint32_t window, const Counts &counts, uint32_t column)
{
  const uint32_t lane = lane_of_warp ();
  if (window == SHADOW) {
#pragma unroll
    for (int i = 0; i < 5; i++)
      windows->shadows[i][lane] = counts.bits[i];
  } else if (window == STRONG) {
    windows->strong[lane] = at_least (counts, CUDACCL_CODEBOOK_LEAST_STRONG);
  } else if (window == RECURRENT) {
    windows->recurrent[lane] = majority<2> (counts);
  } else if (window >= DIFFERENT) {
    (window == DIFFERENT ? windows->different : windows->unlike)[lane] =
        pixels_of_places (majority<2> (counts), column);
  }
}

/* What is judged of the whole frame. A warp. */
static __device__ __forceinline__ void
judge_frame (const CclCandidateParameters &p, Windows *windows)
{
  const CclCodebookLightCounts &light = p.evidence.counts->light;
  windows->is_even = ccl_faint_is_even (UINT16_MAX - __ldcg (&light.least), __ldcg (&light.most));
  windows->is_lost = is_scene_lost (p.evidence);
}

/* Objects, shadows and dynamic pixels, from the windows around them, and the candidates of both
 * models, and faint pixels. A thread has 32 pixels. Returns the number of its candidates and faint
 * pixels, and in the upper half of those that have changed: they are not what they were in the
 * frame before, or the codebook does not know them for objects. */
static __device__ __forceinline__ uint32_t
find_objects (const CclCandidateParameters &p, Windows *windows, const Counts &foreground,
    const Found &found, uint32_t column, uint32_t y)
{
  const uint32_t lane = lane_of_warp ();
  const size_t word = (size_t)y * p.extent.row_words + column;
  const uint32_t end = p.extent.width - 32 * column;
  Counts shadows;
#pragma unroll
  for (int i = 0; i < 5; i++)
    shadows.bits[i] = windows->shadows[i][lane];
  const uint32_t dynamic = found.recurrent | windows->recurrent[lane];
  const bool is_empty = p.hides_objects || windows->is_lost;
  const uint32_t inside = is_empty ? 0 : end < 32 ? bits_below (end) : ~0u;
  const uint32_t some =
      inside & majority<2> (sum_of_counts (foreground, shadows)) & windows->strong[lane];
  const uint32_t prevails = p.keeps_shadows ? ~0u : foreground_prevails (foreground, shadows);
  const uint32_t object = some & prevails;
  const uint32_t candidates =
      object | (dynamic & inside & windows->different[lane] & ~found.restless);
  const uint32_t faint = windows->is_even ? inside & windows->unlike[lane] : 0;
  windows->candidates[lane] = candidates;
  windows->faint[lane] = faint;
  p.bits.object[word] = object;
  p.bits.dynamic[word] = dynamic;
  p.candidates.objects[word] = candidates;
  p.candidates.shadows[word] = some & ~prevails & ~candidates;
  p.candidates.faint[word] = faint;
  const uint32_t all = candidates | faint, changed = all & (found.unsettled | ~object);
  return (uint32_t)__popc (all) | (uint32_t)__popc (changed) << 16;
}

/* Counts what the first warp of a row has found in cells, which the others share. */
static __device__ __forceinline__ void
count_words (const CclCandidateParameters &p, const Windows &windows, const Found &found,
    uint32_t warp, uint32_t column, uint32_t y)
{
  const uint32_t lane = lane_of_warp ();
  const uint32_t candidates = windows.candidates[lane], faint = windows.faint[lane];
  if (candidates | faint)
    count_candidates (p, column, y, found, windows.different[lane], candidates, faint, warp - 1,
        CUDACCL_CODEBOOK_OBJECT_WARPS - 1);
}

/* A block has 32 words of some rows: each warp of a row counts in one of the windows around their
 * pixels, the first one finds the objects, and the others count them in cells. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_CODEBOOK_OBJECT_THREADS)
    ccl_codebook_objects (const __grid_constant__ CclCandidateParameters p)
{
  __shared__ Windows windows_of_rows[CUDACCL_CODEBOOK_OBJECT_ROWS];
  const uint32_t row = threadIdx.x / 32 / CUDACCL_CODEBOOK_OBJECT_WARPS;
  const uint32_t warp = threadIdx.x / 32 % CUDACCL_CODEBOOK_OBJECT_WARPS;
  const uint32_t column = blockIdx.x * 32 + lane_of_warp ();
  const uint32_t block = blockIdx.z * gridDim.y + blockIdx.y;
  const uint32_t y = block * CUDACCL_CODEBOOK_OBJECT_ROWS + row;
  const bool has_row = y < p.extent.height, inside = has_row && column < p.extent.row_words;
  Windows &windows = windows_of_rows[row];
  Found found = {};
  Counts counts = {};
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (inside)
    found = load_found (p, column, y);
  if (warp == SCENE) {
    judge_frame (p, &windows);
  } else if (inside) {
    counts = count_in_window (p, warp, column, y);
    share_window (&windows, warp, counts, column);
  }
  __syncthreads ();
  if (warp == 0 && has_row) {
    const uint32_t found_here = inside ? find_objects (p, &windows, counts, found, column, y) : 0;
    const uint32_t of_warp = reduce_add (FULL_WARP, found_here);
    if (lane_of_warp () == 0)
      p.candidates.counts[(size_t)y * gridDim.x + blockIdx.x] = of_warp;
  }
  __syncthreads ();
  if (warp > 0 && inside)
    count_words (p, windows, found, warp, column, y);
}

#include "kept-cells.cuh"
