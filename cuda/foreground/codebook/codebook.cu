/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The codebooks of a frame (codebook.h), bit by bit.
 *
 * A warp updates 32 neighbouring pixels of a row, whose codebooks are a block of memory, a thread
 * each. Words are read where they exist, and members of words are written where they change. What
 * is found goes to words of bits, one for the 32 pixels.
 *
 * Counts are integers, which atomics add up in any order. The last block of the update reads them:
 * it judges the scene and sets the tolerances of the next frame, so that no frame waits for the
 * host.
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

static_assert (CUDACCL_CODEBOOK_LIGHT_THREADS == 32 * CUDACCL_LIGHT_SAMPLES, "a warp for each row");

/* The samples of a row of cells. */
struct Samples {
  int16_t ratios[CUDACCL_LIGHT_SAMPLES][ROW_SAMPLES]; /* or NO_RATIO */
  uint8_t luma[CUDACCL_LIGHT_SAMPLES][ROW_SAMPLES], model[CUDACCL_LIGHT_SAMPLES][ROW_SAMPLES];
  int lights[CUDACCL_LIGHT_SAMPLES]; /* of rows; 0 where they have none of their own */
};

/* The number of a warp's ratios up to one. */
template <uint32_t N>
static __device__ __forceinline__ uint32_t
count_up_to (const int (&ratios)[N], int ratio)
{
  uint32_t n = 0;
#pragma unroll
  for (uint32_t i = 0; i < N; i++)
    n += ratios[i] <= ratio;
  return reduce_add (FULL_WARP, n);
}

template <uint32_t N>
static __device__ __forceinline__ uint32_t
count_near (const int (&ratios)[N], int ratio)
{
  uint32_t n = 0;
#pragma unroll
  for (uint32_t i = 0; i < N; i++)
    n += ccl_light_is_near (ratios[i], ratio);
  return reduce_add (FULL_WARP, n);
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

/* Loads row j of the samples of a row of cells, by a warp, and measures its light. */
static __device__ __forceinline__ int
measure_samples (const Pixels &p, const SharedLogs &shared_logs, uint32_t row, uint32_t j,
    Samples *samples, int (&ratios)[OF_LANE])
{
  const uint32_t sample_y = row * CUDACCL_LIGHT_SAMPLES + j, y = sample_y << p.sample_shift;
  uint32_t luma[OF_LANE], model[OF_LANE];
#pragma unroll
  for (uint32_t i = 0; i < OF_LANE; i++) {
    const uint32_t sample_x = lane_of_warp () + 32 * i, x = sample_x << p.sample_shift;
    const bool inside = x < p.extent.width && y < p.extent.height;
    luma[i] = inside ? luma_at (p.frame, x, y, p.is_wide) : 0;
    model[i] = inside ? background_at (p, x, y) : 0;
  }
#pragma unroll
  for (uint32_t i = 0; i < OF_LANE; i++) {
    const bool compares = ccl_light_compares (luma[i]) && ccl_light_compares (model[i]);
    ratios[i] =
        compares ? ccl_light_limited (shared_logs[luma[i]] - shared_logs[model[i]]) : NO_RATIO;
    samples->luma[j][lane_of_warp () + 32 * i] = (uint8_t)luma[i];
    samples->model[j][lane_of_warp () + 32 * i] = (uint8_t)model[i];
  }
  const uint32_t n = count_up_to (ratios, CUDACCL_LIGHT_LIMIT);
  return n >= CUDACCL_LIGHT_LEAST_SAMPLES ? median_of (ratios, n) : 0;
}

/* The mean of the lights of a row of cells, by a warp. light: of the lane's row of samples. */
static __device__ __forceinline__ int
mean_of_rows (const Pixels &p, uint32_t row, int light)
{
  const uint32_t j = lane_of_warp ();
  const uint32_t y = (row * CUDACCL_LIGHT_SAMPLES + j) << p.sample_shift;
  const bool counts = j < CUDACCL_LIGHT_SAMPLES && y < p.extent.height;
  const uint32_t n = (uint32_t)__popc (__ballot_sync (FULL_WARP, counts));
  const uint32_t sum = reduce_add (FULL_WARP, counts ? (uint32_t)(light + CUDACCL_LIGHT_LIMIT) : 0);
  return ccl_light_mean ((int)sum - (int)n * CUDACCL_LIGHT_LIMIT, (int)n);
}

/* Measures a cell of the samples of its row by a warp. */
static __device__ __forceinline__ CclLightCell
measure_cell (const Pixels &p, const Samples &samples, uint32_t column)
{
  const uint32_t lane = lane_of_warp ();
  const uint32_t x = column * CUDACCL_LIGHT_SAMPLES + lane % CUDACCL_LIGHT_SAMPLES;
  const uint32_t first = lane / CUDACCL_LIGHT_SAMPLES;
  int ratios[CELL_OF_LANE];
  CclLightCell cell = {};
#pragma unroll
  for (uint32_t i = 0; i < CELL_OF_LANE; i++)
    ratios[i] = samples.ratios[first + 2 * i][x];
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
    const uint32_t j = first + 2 * i, mean = samples.model[j][x];
    const int light = ccl_light_limited (cell.ratio + samples.lights[j]);
    const uint32_t expected = ccl_light_expected (mean, powers[light + CUDACCL_LIGHT_LIMIT]);
    const bool is_noise = ccl_codebook_difference (samples.luma[j][x], expected) <=
                          p.history->levels[mean >> 4].median;
    n_explained += ratios[i] != NO_RATIO && (ccl_light_is_near (ratios[i], cell.ratio) || is_noise);
  }
  cell.explained = 5 * reduce_add (FULL_WARP, n_explained) >= 3 * n;
  return cell;
}

/* Writes the boxes of a cell of the frame, then those of the model, by a warp. */
static __device__ __forceinline__ void
write_boxes (const LightParameters &p, const Samples &samples, uint32_t cell)
{
  constexpr uint32_t N = CUDACCL_CODEBOOK_CELL_BOXES, BOX = CUDACCL_CAMERA_BOX;
  constexpr uint32_t BOXES = CUDACCL_LIGHT_SAMPLES / BOX; /* in a row */
  static_assert (2 * N == 32, "a lane has a box");
  const uint32_t lane = lane_of_warp (), box = lane % N;
  const auto &plane = lane < N ? samples.luma : samples.model;
  const uint32_t x = cell % p.pixels.grid.columns * CUDACCL_LIGHT_SAMPLES + box % BOXES * BOX;
  const uint32_t y = box / BOXES * BOX;
  uint32_t sum = 0;
#pragma unroll
  for (uint32_t i = 0; i < BOX * BOX; i++)
    sum += plane[y + i / BOX][x + i % BOX];
  p.boxes[cell * 2 * N + lane] = (uint8_t)((sum + BOX * BOX / 2) / (BOX * BOX));
}

/* A block measures a row of cells: a warp measures a row of samples, then some of the cells. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_CODEBOOK_LIGHT_THREADS)
    ccl_codebook_measure (const __grid_constant__ LightParameters p)
{
  __shared__ Samples samples;
  __shared__ int lights[CUDACCL_LIGHT_SAMPLES];
  __shared__ SharedLogs shared_logs;
  const Pixels &pixels = p.pixels;
  const uint32_t lane = lane_of_warp (), warp = threadIdx.x / 32, row = blockIdx.x;
  int ratios[OF_LANE];

  share_logs (shared_logs);
  __syncthreads ();
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  const int light = measure_samples (pixels, shared_logs, row, warp, &samples, ratios);
  const int own = pixels.history->has_rows ? light : 0;
  const size_t first = ((size_t)row * CUDACCL_LIGHT_SAMPLES + warp) * ROW_SAMPLES;
#pragma unroll
  for (uint32_t i = 0; i < OF_LANE; i++) {
    const int16_t ratio =
        (int16_t)(ratios[i] == NO_RATIO ? NO_RATIO : ccl_light_limited (ratios[i] - own));
    samples.ratios[warp][lane + 32 * i] = p.ratios[first + lane + 32 * i] = ratio;
  }
  if (lane == 0) {
    samples.lights[warp] = own;
    lights[warp] = light;
    pixels.rows[row * CUDACCL_LIGHT_SAMPLES + warp] = (int16_t)light;
  }
  __syncthreads ();
  if (warp == 0) {
    const int mean = mean_of_rows (pixels, row, lights[lane % CUDACCL_LIGHT_SAMPLES]);
    if (lane == 0)
      p.means[row] = (int16_t)mean;
  }
  for (uint32_t column = warp; column < pixels.grid.columns; column += CUDACCL_LIGHT_SAMPLES) {
    const CclLightCell cell = measure_cell (pixels, samples, column);
    if (p.boxes)
      write_boxes (p, samples, row * pixels.grid.columns + column);
    if (lane == 0) {
      p.cells[row * pixels.grid.columns + column] = cell;
      if (cell.explained)
        atomicAdd (&pixels.light->counts[cell.ratio + CUDACCL_LIGHT_LIMIT], 1);
      if (cell.measured)
        atomicAdd (&pixels.counts->light.measured, 1);
      if (cell.uniform)
        atomicAdd (&pixels.counts->light.uniform, 1);
    }
  }
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

/* The samples that are near the light of their row, by a warp. */
static __device__ __forceinline__ void
count_row (const LightParameters &p, uint32_t row)
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
  const int smooth = ccl_light_smooth_row (&pixels.grid, p.means, y);
  const uint32_t compared = count_up_to (ratios, CUDACCL_LIGHT_LIMIT);
  const uint32_t near_rows = count_near (ratios, light - removed);
  const uint32_t near_smooth = count_near (ratios, smooth - removed);
  if (lane_of_warp () == 0) {
    atomicAdd (&pixels.counts->light.rows.compared, compared);
    atomicAdd (&pixels.counts->light.rows.near_rows, near_rows);
    atomicAdd (&pixels.counts->light.rows.near_smooth, near_smooth);
  }
}

/* A warp smooths the light of a cell, or counts a row of samples. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_LIGHT_THREADS)
    ccl_codebook_smooth (const __grid_constant__ LightParameters p)
{
  const Pixels &pixels = p.pixels;
  const CclLightGrid &grid = pixels.grid;
  const uint32_t n_cells = grid.columns * grid.rows;
  const uint32_t warp = blockIdx.x * (CUDACCL_LIGHT_THREADS / 32) + threadIdx.x / 32;
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (warp < n_cells) {
    const auto edges = [&] { return has_edges (pixels); };
    const int light = light_of_cell (grid, p.cells, pixels.light->counts, warp, edges);
    if (warp == 0) {
      const bool frame_has_edges = has_edges (pixels);
      if (lane_of_warp () == 0)
        pixels.counts->light.has_edges = frame_has_edges;
    }
    if (lane_of_warp () == 0) {
      const uint32_t factor = factor_of_light (light);
      pixels.factors[warp] = (uint16_t)factor;
      atomicMax (&pixels.counts->light.most, factor);
      atomicMax (&pixels.counts->light.least, UINT16_MAX - factor);
    }
  } else if (warp < n_cells + grid.rows * CUDACCL_LIGHT_SAMPLES) {
    count_row (p, warp - n_cells);
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
  bool has_rows; /* rows have light of their own */
  uint32_t noise[CUDACCL_CODEBOOK_LEVELS * CUDACCL_CODEBOOK_DISTANCES];
  uint32_t sums[CUDACCL_CODEBOOK_SUMS];

  /* Of the frame, when the scene is judged. */
  unsigned long long totals[CUDACCL_CODEBOOK_SUMS];
  uint32_t lost, settled; /* cells */
  bool is_last;
};

static __device__ __forceinline__ void
begin_block (const Parameters &p, Shared *shared)
{
  const CclCodebookHistory *history = p.pixels.history;
  if (threadIdx.x == 0) {
    const CclSceneChange change = p.judges_scene ? history->scene.change : CUDACCL_SCENE_UNCHANGED;
    shared->frame.time = p.time;
    shared->has_rows = history->has_rows != 0;
    shared->frame.scene_changes = change != CUDACCL_SCENE_UNCHANGED;
    shared->lost = shared->settled = 0;
  }
  if (threadIdx.x < CUDACCL_CODEBOOK_SUMS)
    shared->sums[threadIdx.x] = 0;
  if (threadIdx.x < CUDACCL_CODEBOOK_LEVELS) {
    const CclCodebookLevel known = history->levels[threadIdx.x];
    shared->frame.tolerances[threadIdx.x] =
        ccl_codebook_tolerance (threadIdx.x, known, p.pixels.sensitivity);
    shared->frame.weak_tolerances[threadIdx.x] =
        ccl_codebook_weak_tolerance (threadIdx.x, known, p.pixels.sensitivity);
    shared->frame.noise_tolerances[threadIdx.x] =
        ccl_codebook_explained (threadIdx.x, known, history->is_white != 0, p.pixels.sensitivity);
  }
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

static __device__ __forceinline__ uint32_t
tolerance_of_level (const Pixels &p, uint32_t level)
{
  return ccl_codebook_tolerance (level, p.history->levels[level], p.sensitivity);
}

#include "sway.cuh"
#include "sampled-places.cuh"

static __device__ __forceinline__ uint32_t
bit_of (const uint32_t *words, uint32_t word)
{
  return words[word] >> lane_of_warp () & 1;
}

static __device__ __forceinline__ CclCodebookState
state_at (const CclCodebookBits &p, uint32_t word)
{
  CclCodebookState state = {};
#pragma unroll
  for (uint32_t i = 0; i < CUDACCL_CODEBOOK_PLACE_BITS; i++)
    state.place |= (uint8_t)(bit_of (p.place[i], word) << i);
  state.was_background = !bit_of (p.strong, word);
  state.in_object = bit_of (p.object, word);
  state.is_dynamic = bit_of (p.dynamic, word);
  return state;
}

/* Loads what the update reads of codebooks of at most WORDS words, whose weights are set. Words
 * that no pixel of the warp has are left out. Without chroma, u and v are those of grey. A birth
 * counts only where the word has, or may have after this frame, the visits of a recurrent one. */
template <uint32_t WORDS>
static __device__ __forceinline__ void
load_words (bool has_chroma, const CclCodebookBlock *block, bool rebases,
    CclCodeword words[CUDACCL_CODEBOOK_WORDS])
{
  const uint32_t lane = lane_of_warp (), grey = 128 * CUDACCL_CODEBOOK_STEPS;
#pragma unroll
  for (uint32_t k = 0; k < WORDS; k++) {
    if (__any_sync (FULL_WARP, words[k].weight > 0)) {
      words[k].luma = block->luma[k][lane];
      words[k].u = has_chroma ? block->u[k][lane] : (uint16_t)grey;
      words[k].v = has_chroma ? block->v[k][lane] : (uint16_t)grey;
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
    CclCodebookValue value, const uint16_t weights[CUDACCL_CODEBOOK_WORDS])
{
  CclCodebookBlock *block = p.blocks + word;
  const bool has_chroma = p.pixels.frame.u != NULL;
  CclCodeword words[CUDACCL_CODEBOOK_WORDS];
#pragma unroll
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    words[k] = {0, 0, 0, k < WORDS ? weights[k] : (uint16_t)0, 0, 0};
  load_words<WORDS> (has_chroma, block, frame.time.rebases, words);
  const CclCodebookState state = state_at (p.bits, word);
  const CclCodebookResult result = ccl_codebook_update (words, value, state, &frame);
  const bool is_visit = result.is_strong && state.was_background;
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
    CclCodebookCell *cell = &p.cells[(y >> grid.shift) * grid.columns + (x >> grid.shift)];
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

/* Updates the pixels of a warp, most of which have one word, or few. Those outside the frame have
 * memory, too, and nothing reads it. */
static __device__ __forceinline__ CclCodebookResult
update_pixels (
    const Parameters &p, const CclCodebookFrame &frame, uint32_t word, CclCodebookValue value)
{
  const CclCodebookBlock *block = p.blocks + word;
  uint16_t weights[CUDACCL_CODEBOOK_WORDS];
  uint32_t beyond_one = 0, beyond_few = 0; /* weights of further words */
#pragma unroll
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++) {
    weights[k] = block->weight[k][lane_of_warp ()];
    beyond_one |= k >= 1 ? weights[k] : 0;
    beyond_few |= k >= CUDACCL_CODEBOOK_FEW_WORDS ? weights[k] : 0;
  }
  if (!__any_sync (FULL_WARP, beyond_one))
    return update_words<1> (p, frame, word, value, weights);
  return __any_sync (FULL_WARP, beyond_few)
             ? update_words<CUDACCL_CODEBOOK_WORDS> (p, frame, word, value, weights)
             : update_words<CUDACCL_CODEBOOK_FEW_WORDS> (p, frame, word, value, weights);
}

/* What the texture of a warp's pixels says, of a row of pixels from x on; background: their luma in
 * the model. */
static __device__ __forceinline__ void
compare_texture (const Parameters &p, uint32_t word, uint32_t x, uint32_t luma, uint32_t background)
{
  const uint32_t own = luma << 8 | background;
  const uint32_t other = __shfl_down_sync (FULL_WARP, own, CUDACCL_TEXTURE_DISTANCE);
  const uint32_t lane = lane_of_warp ();
  const bool inside = x + CUDACCL_TEXTURE_DISTANCE < p.pixels.extent.width;
  const CclTexture texture =
      inside && (CUDACCL_TEXTURE_FIRST >> lane & 1)
          ? ccl_texture_compare (luma, other >> 8, background, other & UINT8_MAX)
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
update_word (
    const Parameters &p, uint32_t word, Shared *shared, uint32_t sums[CUDACCL_CODEBOOK_SUMS])
{
  const uint32_t lane = lane_of_warp ();
  const uint32_t x = word % p.pixels.extent.row_words * 32 + lane,
                 y = word / p.pixels.extent.row_words;
  const bool inside = x < p.pixels.extent.width;
  const uint32_t luma = inside ? luma_at (p.pixels.frame, x, y, p.pixels.is_wide) : 0;
  const CclCodebookValue value =
      inside ? value_at (p.pixels, luma, x, y, shared->has_rows) : CclCodebookValue ();
  CclCodebookResult result = update_pixels (p, shared->frame, word, value);
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
  compare_texture (p, word, x, luma, result.background);
  count_in_cells (p, x, y, strong, settled);
  if (inside)
    background_at (p.pixels, x, y) = result.background;
}

/* Adds what a block has counted. Returns whether it is the last one. */
static __device__ __forceinline__ bool
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
  __threadfence ();
  __syncthreads ();
  if (threadIdx.x == 0)
    shared->is_last = atomicAdd (&counts->n_blocks, 1) == gridDim.x - 1;
  __syncthreads ();
  if (shared->is_last)
    __threadfence ();
  return shared->is_last;
}

/* ---- what follows for the next frame ---- */

/* ccl_codebook_quantile() of a level by a warp, from the counts of two distances for each thread.
 */
static __device__ __forceinline__ uint32_t
quantile (uint32_t first, uint32_t second, uint32_t share)
{
  const uint32_t lane = lane_of_warp ();
  const uint32_t up_to = sum_up_to_lane (first + second);
  const uint32_t n = __shfl_sync (FULL_WARP, up_to, 31);
  const uint64_t wanted = (uint64_t)share * n;
  const uint32_t lanes = __ballot_sync (FULL_WARP, (uint64_t)16 * up_to >= wanted);
  const uint32_t own = 2 * lane + ((uint64_t)16 * (up_to - second) < wanted);
  const uint32_t found = __shfl_sync (FULL_WARP, own, __ffs ((int)lanes) - 1);
  return n < CUDACCL_CODEBOOK_LEAST_SAMPLES ? 0 : found;
}

/* Sets what is known of the noise from that of the frame, whose counts are cleared. All are loaded
 * before the first is used: nothing else hides how long that takes. */
static __device__ __forceinline__ void
take_noise (const Parameters &p)
{
  constexpr uint32_t N = CUDACCL_CODEBOOK_LEVELS / CUDACCL_CODEBOOK_WARPS; /* for a warp */
  static_assert (CUDACCL_CODEBOOK_LEVELS % CUDACCL_CODEBOOK_WARPS == 0, "levels fit");
  const uint32_t lane = lane_of_warp (), first_level = threadIdx.x / 32 * N;
  uint32_t (*levels)[CUDACCL_CODEBOOK_DISTANCES] = &p.pixels.counts->noise[first_level];
  uint32_t counts[N][2];
#pragma unroll
  for (uint32_t i = 0; i < N; i++) {
    counts[i][0] = __ldcg (&levels[i][2 * lane]);
    counts[i][1] = __ldcg (&levels[i][2 * lane + 1]);
  }
#pragma unroll
  for (uint32_t i = 0; i < N; i++) {
    levels[i][2 * lane] = levels[i][2 * lane + 1] = 0;
    const uint32_t median = quantile (counts[i][0], counts[i][1], 8);
    const uint32_t tail = quantile (counts[i][0], counts[i][1], 15);
    CclCodebookLevel *known = &p.pixels.history->levels[first_level + i];
    if (lane == 0)
      *known = ccl_codebook_next_level (*known, first_level + i, median, tail, p.time.elapsed);
  }
}

/* Counts the cells that show another scene, and clears their counts. */
static __device__ __forceinline__ void
judge_cells (const Parameters &p, Shared *shared)
{
  const CclLightGrid &grid = p.pixels.grid;
  uint32_t lost = 0, settled = 0;
  for (uint32_t i = threadIdx.x; i < grid.columns * grid.rows; i += CUDACCL_CODEBOOK_THREADS) {
    const uint32_t x = i % grid.columns << grid.shift, y = i / grid.columns << grid.shift;
    const uint32_t n = min (1u << grid.shift, p.pixels.extent.width - x) *
                       min (1u << grid.shift, p.pixels.extent.height - y);
    lost += ccl_codebook_fills_cell (__ldcg (&p.cells[i].lost), n);
    settled += ccl_codebook_fills_cell (__ldcg (&p.cells[i].settled), n);
    p.cells[i] = {};
  }
  lost = reduce_add (FULL_WARP, lost);
  settled = reduce_add (FULL_WARP, settled);
  if (lane_of_warp () == 0) {
    atomicAdd (&shared->lost, lost);
    atomicAdd (&shared->settled, settled);
  }
}

/* Judges the scene. One thread. scene: as the frame before
 * left it. */
static __device__ __forceinline__ void
judge_scene (const Parameters &p, const Shared &shared, CclCodebookScene scene)
{
  CclCodebookHistory *history = p.pixels.history;
  CclCodebookSums sums = {};
  sums.cells = p.pixels.grid.columns * p.pixels.grid.rows;
  sums.lost = shared.lost;
  sums.settled = shared.settled;
  sums.pixels = p.pixels.extent.width * p.pixels.extent.height;
  sums.dark = (uint32_t)shared.totals[CUDACCL_CODEBOOK_DARK];
  sums.bright = (uint32_t)shared.totals[CUDACCL_CODEBOOK_BRIGHT];
  sums.model_dark = (uint32_t)shared.totals[CUDACCL_CODEBOOK_MODEL_DARK];
  sums.model_bright = (uint32_t)shared.totals[CUDACCL_CODEBOOK_MODEL_BRIGHT];
  sums.chroma = shared.totals[CUDACCL_CODEBOOK_CHROMA_SUM];
  sums.model_chroma = shared.totals[CUDACCL_CODEBOOK_MODEL_CHROMA_SUM];
  p.pixels.counts->n_blocks = 0;
  history->is_white = ccl_codebook_is_white ((uint32_t)shared.totals[CUDACCL_CODEBOOK_PAIRS],
      (uint32_t)shared.totals[CUDACCL_CODEBOOK_ALIKE]);
  history->change = p.judges_scene ? scene.change : CUDACCL_SCENE_UNCHANGED;
  if (p.judges_scene)
    ccl_codebook_judge_scene (&scene, &sums, p.time.elapsed);
  else
    scene = {};
  history->scene = scene;
}

/* Decides whether the rows of the next frame have light of their own, and clears what was counted
 * for it. One thread. before: whether those of this frame have. */
static __device__ __forceinline__ void
judge_rows (const Parameters &p, bool before)
{
  CclCodebookLightCounts *light = &p.pixels.counts->light;
  CclLightRowSums sums;
  sums.compared = __ldcg (&light->rows.compared);
  sums.near_rows = __ldcg (&light->rows.near_rows);
  sums.near_smooth = __ldcg (&light->rows.near_smooth);
  p.pixels.history->has_rows = p.pixels.light && ccl_light_has_rows (&sums, before);
  *light = {};
}

static __device__ __forceinline__ void
prepare_next_frame (const Parameters &p, Shared *shared)
{
  CclCodebookScene scene = {};
  if (threadIdx.x == 0)
    scene = p.pixels.history->scene;
  if (threadIdx.x < CUDACCL_CODEBOOK_SUMS) {
    shared->totals[threadIdx.x] = __ldcg (&p.pixels.counts->sums[threadIdx.x]);
    p.pixels.counts->sums[threadIdx.x] = 0;
  }
  take_noise (p);
  judge_cells (p, shared);
  if (p.pixels.light) {
    for (uint32_t i = threadIdx.x; i < CUDACCL_LIGHT_RATIOS; i += CUDACCL_CODEBOOK_THREADS)
      p.pixels.light->counts[i] = 0;
  }
  if (threadIdx.x == 0)
    judge_rows (p, shared->has_rows);
  __syncthreads ();
  if (threadIdx.x == 0)
    judge_scene (p, *shared, scene);
}

/* The grid is small enough for the device to hold all blocks at once; a warp updates a word after
 * the other. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_CODEBOOK_THREADS, CUDACCL_CODEBOOK_BLOCKS)
    ccl_codebook_update_words (const __grid_constant__ Parameters p)
{
  __shared__ Shared shared;
  const uint32_t n_words = p.pixels.extent.row_words * p.pixels.extent.height;
  const uint32_t n_warps = gridDim.x * CUDACCL_CODEBOOK_WARPS;
  uint32_t sums[CUDACCL_CODEBOOK_SUMS] = {};
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  begin_block (p, &shared);
  for (uint32_t word = blockIdx.x * CUDACCL_CODEBOOK_WARPS + threadIdx.x / 32; word < n_words;
       word += n_warps)
    update_word (p, word, &shared, sums);
  if (end_block (p, &shared, sums))
    prepare_next_frame (p, &shared);
}

/* ---- objects ---- */

/* Objects, shadows and dynamic pixels, from the windows around them, and the candidates of both
 * models. A thread has 32 pixels. Returns the number of its candidates, and in the upper half of
 * those that have changed: they are not what they were in the frame before, or the codebook does
 * not know them for objects. */
static __device__ __forceinline__ uint32_t
find_objects (const CclCandidateParameters &p, uint32_t column, uint32_t y)
{
  const size_t word = (size_t)y * p.extent.row_words + column;
  const uint32_t end = p.extent.width - 32 * column;
  const Counts strong = count_window<2> (p.extent, p.bits.strong, column, y);
  const Counts foreground = count_window<2> (p.extent, p.bits.foreground, column, y);
  const Counts shadows = count_window<2> (p.extent, p.bits.shadow, column, y);
  const Counts recurrent = count_window<2> (p.extent, p.bits.recurrent, column, y);
  const bool is_empty = p.history->scene.is_lost || p.hides_objects;

  uint32_t some = majority<2> (sum_of_counts (foreground, shadows)) &
                  at_least (strong, CUDACCL_CODEBOOK_LEAST_STRONG);
  if (end < 32)
    some &= bits_below (end);
  const uint32_t prevails = p.keeps_shadows ? ~0u : foreground_prevails (foreground, shadows);
  const uint32_t object = is_empty ? 0 : some & prevails;
  const uint32_t dynamic = p.bits.recurrent[word] | majority<2> (recurrent);
  p.bits.object[word] = object;
  p.bits.dynamic[word] = dynamic;
  const uint32_t inside = end < 32 ? bits_below (end) : ~0u;
  const uint32_t candidates =
      is_empty ? 0 : find_candidates (p, column, y, object, dynamic & inside);
  p.candidates.objects[word] = candidates;
  p.candidates.shadows[word] = is_empty ? 0 : some & ~prevails & ~candidates;
  if (candidates == 0)
    return 0;
  const uint32_t changed = candidates & ((p.bits.strong[word] & ~p.bits.settled[word]) | ~object);
  return (uint32_t)__popc (candidates) | (uint32_t)__popc (changed) << 16;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_FOREGROUND_THREADS)
    ccl_codebook_objects (const __grid_constant__ CclCandidateParameters p)
{
  const uint32_t column = blockIdx.x * 32 + lane_of_warp (), y = row_of_warp ();
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (y >= p.extent.height)
    return;
  const uint32_t counts = column < p.extent.row_words ? find_objects (p, column, y) : 0;
  const uint32_t of_warp = reduce_add (FULL_WARP, counts);
  if (lane_of_warp () == 0)
    p.candidates.counts[(size_t)y * gridDim.x + blockIdx.x] = of_warp;
}
