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
#include "bit-windows.cuh"
#include "colour.cuh"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "light.cuh"
#include "mask-words.cuh"

typedef CclCodebookParameters Parameters;

static_assert (CUDACCL_CODEBOOK_LANES == 32, "a pixel for each thread of a warp");
static_assert (CUDACCL_CODEBOOK_WORDS <= 1 << CUDACCL_CODEBOOK_PLACE_BITS, "places fit");
static_assert (CUDACCL_CODEBOOK_DISTANCES == 64, "two distances for each thread of a warp");

/* ---- light ---- */

/* Adds a sample of the frame and one of the model to their boxes, of which a block has a cell's:
 * the model's sums are in the upper halves. */
static __device__ __forceinline__ void
add_to_boxes (uint32_t luma, uint32_t mean, uint32_t boxes[CUDACCL_CODEBOOK_CELL_BOXES])
{
  constexpr uint32_t BOX = CUDACCL_CAMERA_BOX, BOXES = CUDACCL_LIGHT_SAMPLES / BOX;
  static_assert (BOX == 4 && CUDACCL_LIGHT_SAMPLES == 16, "a warp has two rows of four boxes");
  const uint32_t lane = lane_of_warp ();
  uint32_t sum = luma | mean << 16;
  sum += __shfl_xor_sync (FULL_WARP, sum, 1);
  sum += __shfl_xor_sync (FULL_WARP, sum, 2);
  sum += __shfl_xor_sync (FULL_WARP, sum, 16);
  if (lane < 16 && lane % BOX == 0)
    atomicAdd (&boxes[threadIdx.x / (16 * BOX) * BOXES + lane / BOX], sum);
}

/* Writes the boxes of a block's cell. */
static __device__ __forceinline__ void
write_boxes (const Parameters &p, const uint32_t boxes[CUDACCL_CODEBOOK_CELL_BOXES])
{
  constexpr uint32_t N = CUDACCL_CODEBOOK_CELL_BOXES, BOX = CUDACCL_CAMERA_BOX;
  const uint32_t thread = threadIdx.x;
  if (thread >= 2 * N)
    return;
  const uint32_t sum = boxes[thread % N] >> (thread < N ? 0 : 16) & 0xffff;
  p.boxes[blockIdx.x * 2 * N + thread] = (uint8_t)((sum + BOX * BOX / 2) / (BOX * BOX));
}

/* A block measures a cell, each thread a sample. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_LIGHT_THREADS)
    ccl_codebook_measure (const __grid_constant__ Parameters p)
{
  __shared__ uint32_t counts[CUDACCL_LIGHT_RATIOS], middle, boxes[CUDACCL_CODEBOOK_CELL_BOXES];
  const CclLightGrid &grid = p.base.grid;
  const uint32_t thread = threadIdx.x;
  const uint32_t column = blockIdx.x % grid.columns, row = blockIdx.x / grid.columns;
  const uint32_t sample_x = column * CUDACCL_LIGHT_SAMPLES + thread % CUDACCL_LIGHT_SAMPLES;
  const uint32_t sample_y = row * CUDACCL_LIGHT_SAMPLES + thread / CUDACCL_LIGHT_SAMPLES;
  const uint32_t x = sample_x << p.sample_shift, y = sample_y << p.sample_shift;
  const bool inside = x < p.base.width && y < p.base.height;

  for (uint32_t i = thread; i < CUDACCL_LIGHT_RATIOS; i += CUDACCL_LIGHT_THREADS)
    counts[i] = 0;
  if (thread < CUDACCL_CODEBOOK_CELL_BOXES)
    boxes[thread] = 0;
  wait_for_previous_kernel ();
  const uint32_t luma = inside ? luma_at (p.base, x, y, p.is_wide) : 0;
  const uint32_t mean =
      inside ? p.samples[(size_t)sample_y * grid.columns * CUDACCL_LIGHT_SAMPLES + sample_x] : 0;
  const bool compares = ccl_light_compares (luma) && ccl_light_compares (mean);
  const int ratio = max (-CUDACCL_LIGHT_LIMIT, min (CUDACCL_LIGHT_LIMIT, logs[luma] - logs[mean]));
  __syncthreads ();
  if (compares)
    atomicAdd (&counts[ratio + CUDACCL_LIGHT_LIMIT], 1);
  add_to_boxes (luma, mean, boxes);
  const uint32_t n = (uint32_t)__syncthreads_count (compares);
  write_boxes (p, boxes);
  CclLightCell cell = {};
  cell.measured = n >= CUDACCL_LIGHT_LEAST_SAMPLES;
  if (cell.measured) { /* for all threads or for none */
    if (thread < 32) {
      const uint32_t found = middle_of (counts);
      if (thread == 0)
        middle = found;
    }
    __syncthreads ();
    cell.ratio = (int16_t)((int)middle - CUDACCL_LIGHT_LIMIT);
    const bool is_near = compares && ccl_light_is_near (ratio, cell.ratio);
    const uint32_t difference =
        ccl_codebook_difference (luma, ccl_light_expected (mean, powers[middle]));
    const bool is_explained =
        is_near || (compares && difference <= p.history->median_distances[mean >> 4]);
    cell.uniform = 5 * (uint32_t)__syncthreads_count (is_near) >= 3 * n;
    cell.explained = 5 * (uint32_t)__syncthreads_count (is_explained) >= 3 * n;
  }
  let_next_kernel_start ();
  if (thread == 0) {
    p.base.cells[blockIdx.x] = cell;
    if (cell.explained)
      atomicAdd (&p.base.light->counts[cell.ratio + CUDACCL_LIGHT_LIMIT], 1);
  }
}

/* A warp smooths the light of a cell. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_LIGHT_THREADS) ccl_codebook_smooth (const __grid_constant__ Parameters p)
{
  const CclLightGrid &grid = p.base.grid;
  const uint32_t cell = blockIdx.x * (CUDACCL_LIGHT_THREADS / 32) + threadIdx.x / 32;
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (cell >= grid.columns * grid.rows)
    return;
  const int light = light_of_cell (grid, p.base.cells, p.base.light->counts, cell);
  if (lane_of_warp () == 0)
    p.base.factors[cell] = (uint16_t)factor_of_light (light);
}

/* The factors of the four cells around a pixel. */
struct Factors {
  uint32_t between, spread; /* interpolated; the difference between the least and the greatest */
};

static __device__ __forceinline__ Factors
factors_at (const CclForegroundParameters &p, uint32_t x, uint32_t y)
{
  const CclLightGrid &grid = p.grid;
  uint32_t above, below, left, right, weight_y, weight_x;
  ccl_light_place (y, grid.shift, grid.rows, &above, &below, &weight_y);
  ccl_light_place (x, grid.shift, grid.columns, &left, &right, &weight_x);
  const uint16_t *upper = p.factors + above * grid.columns;
  const uint16_t *lower = p.factors + below * grid.columns;
  const uint32_t a = upper[left], b = upper[right], c = lower[left], d = lower[right];
  Factors factors;
  factors.between = ccl_light_between (ccl_light_between (a, c, weight_y, grid.shift),
      ccl_light_between (b, d, weight_y, grid.shift), weight_x, grid.shift);
  factors.spread = max (max (a, b), max (c, d)) - min (min (a, b), min (c, d));
  return factors;
}

/* ---- update ---- */

/* What the threads of a block share. */
struct Shared {
  CclCodebookFrame frame;
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
  const CclCodebookHistory *history = p.history;
  if (threadIdx.x == 0) {
    const CclSceneChange change = p.judges_scene ? history->scene.change : CUDACCL_SCENE_UNCHANGED;
    shared->frame.time = (uint16_t)history->time;
    shared->frame.rebases = history->rebases != 0;
    shared->frame.scene_changes = change != CUDACCL_SCENE_UNCHANGED;
    shared->frame.object_gain = (uint8_t)p.object_gain;
    shared->lost = shared->settled = 0;
    if (blockIdx.x == 0)
      *p.base.scene_change = change;
  }
  if (threadIdx.x < CUDACCL_CODEBOOK_SUMS)
    shared->sums[threadIdx.x] = 0;
  if (threadIdx.x < CUDACCL_CODEBOOK_LEVELS) {
    const uint32_t distance = history->median_distances[threadIdx.x];
    shared->frame.tolerances[threadIdx.x] = ccl_codebook_tolerance (threadIdx.x, distance);
    shared->frame.weak_tolerances[threadIdx.x] =
        ccl_codebook_weak_tolerance (threadIdx.x, distance);
  }
  for (uint32_t i = threadIdx.x; i < sizeof shared->noise / sizeof *shared->noise;
       i += CUDACCL_CODEBOOK_THREADS)
    shared->noise[i] = 0;
  __syncthreads ();
}

/* A pixel of this luma in the light of the model. */
static __device__ __forceinline__ CclCodebookValue
value_at (const Parameters &p, uint32_t luma, uint32_t x, uint32_t y)
{
  const uint32_t chroma = p.base.u ? chroma_at (p.base, x, y) : CUDACCL_NO_CHROMA;
  CclCodebookValue value = {(uint8_t)luma, (uint8_t)chroma, (uint8_t)(chroma >> 8), 0};
  if (p.base.light) {
    const Factors factors = factors_at (p.base, x, y);
    value.luma = (uint8_t)ccl_light_correct_luma (value.luma, factors.between, UINT8_MAX);
    value.u = (uint8_t)ccl_light_correct_chroma (value.u, factors.between);
    value.v = (uint8_t)ccl_light_correct_chroma (value.v, factors.between);
    value.slack = (uint8_t)ccl_codebook_slack (luma, factors.spread);
  }
  return value;
}

#include "sampled-places.cuh"

static __device__ __forceinline__ uint32_t
bit_of (const uint32_t *words, uint32_t word)
{
  return words[word] >> lane_of_warp () & 1;
}

static __device__ __forceinline__ CclCodebookState
state_at (const Parameters &p, uint32_t word)
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
load_words (const Parameters &p, const CclCodebookBlock *block, bool rebases,
    CclCodeword words[CUDACCL_CODEBOOK_WORDS])
{
  const uint32_t lane = lane_of_warp (), grey = 128 * CUDACCL_CODEBOOK_STEPS;
#pragma unroll
  for (uint32_t k = 0; k < WORDS; k++) {
    if (__any_sync (FULL_WARP, words[k].weight > 0)) {
      words[k].luma = block->luma[k][lane];
      words[k].u = p.base.u ? block->u[k][lane] : (uint16_t)grey;
      words[k].v = p.base.u ? block->v[k][lane] : (uint16_t)grey;
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
store_words (const Parameters &p, CclCodebookBlock *block, const CclCodebookFrame &frame,
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
    if (frame.rebases && words[k].weight > 0)
      block->birth[k][lane] = words[k].birth;
  }
  const bool is_new = own.birth == frame.time;
  block->luma[place][lane] = own.luma;
  if (p.base.u) {
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
  CclCodeword words[CUDACCL_CODEBOOK_WORDS];
#pragma unroll
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    words[k] = {0, 0, 0, k < WORDS ? weights[k] : (uint16_t)0, 0, 0};
  load_words<WORDS> (p, block, frame.rebases, words);
  const CclCodebookState state = state_at (p, word);
  const CclCodebookResult result = ccl_codebook_update (words, value, state, &frame);
  const bool is_visit = result.is_strong && state.was_background;
  store_words (p, block, frame, result.place, is_visit, words, weights);
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
  const CclLightGrid &grid = p.base.grid;
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

/* Updates the pixels of a warp, writes their classes and counts them. */
static __device__ __forceinline__ void
update_word (
    const Parameters &p, uint32_t word, Shared *shared, uint32_t sums[CUDACCL_CODEBOOK_SUMS])
{
  const uint32_t lane = lane_of_warp ();
  const uint32_t x = word % p.base.row_words * 32 + lane, y = word / p.base.row_words;
  const bool inside = x < p.base.width;
  const uint32_t luma = inside ? luma_at (p.base, x, y, p.is_wide) : 0;
  const CclCodebookValue value = inside ? value_at (p, luma, x, y) : CclCodebookValue ();
  CclCodebookResult result = update_pixels (p, shared->frame, word, value);
  if (!inside)
    result = {};
  if (inside)
    add_to_sums (sums, luma, result);
  count_noise (result, inside && ccl_codebook_counts_as_noise (&result), &shared->noise[0]);
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
      p.place[i][word] = places[i];
    p.strong[word] = strong;
    p.foreground[word] = foreground;
    p.shadow[word] = shadow;
    p.recurrent[word] = recurrent;
    p.settled[word] = settled;
  }
  count_in_cells (p, x, y, strong, settled);
  const uint32_t between = (1u << p.sample_shift) - 1; /* samples */
  if (inside && ((x | y) & between) == 0)
    p.samples[(size_t)(y >> p.sample_shift) * p.base.grid.columns * CUDACCL_LIGHT_SAMPLES +
              (x >> p.sample_shift)] = result.background;
}

/* Adds what a block has counted. Returns whether it is the last one. */
static __device__ __forceinline__ bool
end_block (const Parameters &p, Shared *shared, const uint32_t sums[CUDACCL_CODEBOOK_SUMS])
{
  CclCodebookCounts *counts = p.counts;
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

/* ccl_codebook_median_distance() of a level by a warp, from the counts of two distances for each
 * thread. */
static __device__ __forceinline__ uint32_t
median_distance (uint32_t first, uint32_t second)
{
  const uint32_t lane = lane_of_warp ();
  const uint32_t up_to = sum_up_to_lane (first + second);
  const uint32_t n = __shfl_sync (FULL_WARP, up_to, 31);
  const uint32_t lanes = __ballot_sync (FULL_WARP, 2 * up_to >= n);
  const uint32_t median = 2 * lane + (2 * (up_to - second) < n);
  const uint32_t found = __shfl_sync (FULL_WARP, median, __ffs ((int)lanes) - 1);
  return n < CUDACCL_CODEBOOK_LEAST_SAMPLES ? 0 : found;
}

/* Sets the median distances from the noise of the frame, whose counts are cleared. All are loaded
 * before the first is used: nothing else hides how long that takes. */
static __device__ __forceinline__ void
take_median_distances (const Parameters &p)
{
  constexpr uint32_t N = CUDACCL_CODEBOOK_LEVELS / CUDACCL_CODEBOOK_WARPS; /* for a warp */
  static_assert (CUDACCL_CODEBOOK_LEVELS % CUDACCL_CODEBOOK_WARPS == 0, "levels fit");
  const uint32_t lane = lane_of_warp (), first_level = threadIdx.x / 32 * N;
  uint32_t (*levels)[CUDACCL_CODEBOOK_DISTANCES] = &p.counts->noise[first_level];
  uint32_t counts[N][2];
#pragma unroll
  for (uint32_t i = 0; i < N; i++) {
    counts[i][0] = __ldcg (&levels[i][2 * lane]);
    counts[i][1] = __ldcg (&levels[i][2 * lane + 1]);
  }
#pragma unroll
  for (uint32_t i = 0; i < N; i++) {
    levels[i][2 * lane] = levels[i][2 * lane + 1] = 0;
    const uint32_t distance = median_distance (counts[i][0], counts[i][1]);
    if (lane == 0)
      p.history->median_distances[first_level + i] = distance;
  }
}

/* Counts the cells that show another scene, and clears their counts. */
static __device__ __forceinline__ void
judge_cells (const Parameters &p, Shared *shared)
{
  const CclLightGrid &grid = p.base.grid;
  uint32_t lost = 0, settled = 0;
  for (uint32_t i = threadIdx.x; i < grid.columns * grid.rows; i += CUDACCL_CODEBOOK_THREADS) {
    const uint32_t x = i % grid.columns << grid.shift, y = i / grid.columns << grid.shift;
    const uint32_t n =
        min (1u << grid.shift, p.base.width - x) * min (1u << grid.shift, p.base.height - y);
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

/* Judges the scene, and sets the time of the next frame. One thread. scene: as the frame before
 * left it. */
static __device__ __forceinline__ void
judge_scene (const Parameters &p, const Shared &shared, CclCodebookScene scene)
{
  CclCodebookHistory *history = p.history;
  CclCodebookSums sums = {};
  bool rebases;
  sums.cells = p.base.grid.columns * p.base.grid.rows;
  sums.lost = shared.lost;
  sums.settled = shared.settled;
  sums.pixels = p.base.width * p.base.height;
  sums.dark = (uint32_t)shared.totals[CUDACCL_CODEBOOK_DARK];
  sums.bright = (uint32_t)shared.totals[CUDACCL_CODEBOOK_BRIGHT];
  sums.model_dark = (uint32_t)shared.totals[CUDACCL_CODEBOOK_MODEL_DARK];
  sums.model_bright = (uint32_t)shared.totals[CUDACCL_CODEBOOK_MODEL_BRIGHT];
  sums.chroma = shared.totals[CUDACCL_CODEBOOK_CHROMA_SUM];
  sums.model_chroma = shared.totals[CUDACCL_CODEBOOK_MODEL_CHROMA_SUM];
  p.counts->n_blocks = 0;
  if (p.judges_scene)
    ccl_codebook_judge_scene (&scene, &sums);
  else
    scene = {};
  history->scene = scene;
  history->time = ccl_codebook_next_time (shared.frame.time, &rebases);
  history->rebases = rebases;
}

static __device__ __forceinline__ void
prepare_next_frame (const Parameters &p, Shared *shared)
{
  CclCodebookScene scene = {};
  if (threadIdx.x == 0)
    scene = p.history->scene;
  if (threadIdx.x < CUDACCL_CODEBOOK_SUMS) {
    shared->totals[threadIdx.x] = __ldcg (&p.counts->sums[threadIdx.x]);
    p.counts->sums[threadIdx.x] = 0;
  }
  take_median_distances (p);
  judge_cells (p, shared);
  if (p.base.light) {
    for (uint32_t i = threadIdx.x; i < CUDACCL_LIGHT_RATIOS; i += CUDACCL_CODEBOOK_THREADS)
      p.base.light->counts[i] = 0;
  }
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
  const uint32_t n_words = p.base.row_words * p.base.height;
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
find_objects (const Parameters &p, uint32_t column, uint32_t y)
{
  const size_t word = (size_t)y * p.base.row_words + column;
  const uint32_t end = p.base.width - 32 * column;
  const Counts strong = count_window<2> (p.base, p.strong, column, y);
  const Counts foreground = count_window<2> (p.base, p.foreground, column, y);
  const Counts shadows = count_window<2> (p.base, p.shadow, column, y);
  const Counts recurrent = count_window<2> (p.base, p.recurrent, column, y);
  const bool is_empty = p.history->scene.is_lost || p.hides_objects;

  uint32_t some = majority<2> (sum_of_counts (foreground, shadows)) &
                  at_least (strong, CUDACCL_CODEBOOK_LEAST_STRONG);
  if (end < 32)
    some &= bits_below (end);
  const uint32_t prevails = p.keeps_shadows ? ~0u : foreground_prevails (foreground, shadows);
  const uint32_t object = is_empty ? 0 : some & prevails;
  const uint32_t dynamic = p.recurrent[word] | majority<2> (recurrent);
  p.object[word] = object;
  p.dynamic[word] = dynamic;
  const uint32_t inside = end < 32 ? bits_below (end) : ~0u;
  const uint32_t candidates =
      is_empty ? 0 : find_candidates (p, column, y, object, dynamic & inside);
  p.sampled.candidates[word] = candidates;
  p.sampled.shadows[word] = is_empty ? 0 : some & ~prevails & ~candidates;
  if (candidates == 0)
    return 0;
  const uint32_t changed = candidates & ((p.strong[word] & ~p.settled[word]) | ~object);
  return (uint32_t)__popc (candidates) | (uint32_t)__popc (changed) << 16;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_FOREGROUND_THREADS)
    ccl_codebook_objects (const __grid_constant__ Parameters p)
{
  const uint32_t column = blockIdx.x * 32 + lane_of_warp (), y = row_of_warp ();
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (y >= p.base.height)
    return;
  const uint32_t counts = column < p.base.row_words ? find_objects (p, column, y) : 0;
  const uint32_t of_warp = reduce_add (FULL_WARP, counts);
  if (lane_of_warp () == 0)
    p.objects[(size_t)y * gridDim.x + blockIdx.x] = of_warp;
}
