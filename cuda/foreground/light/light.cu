/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The light of a frame (light.h): measured in each cell, smoothed over the cells around it, and
 * judged. The background model, which follows on the stream, reads the result.
 */
#include "cuda/foreground/colour.cuh"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "light.cuh"

typedef CclLightParameters Parameters;

/* The strength of a colour. */
static __device__ __forceinline__ uint32_t
colour_of (uint32_t chroma)
{
  return (uint32_t)(abs (ccl_chroma_u (chroma) - 128) + abs (ccl_chroma_v (chroma) - 128));
}

/* A block measures a cell, each thread a sample. WIDE: the frame's luma has 16 bits. */
template <bool WIDE>
static __device__ __forceinline__ void
measure (const Parameters &p)
{
  __shared__ uint32_t counts[CUDACCL_LIGHT_RATIOS], frame_chroma, model_chroma, middle;
  const uint32_t thread = threadIdx.x, distance = (1u << p.grid.shift) / CUDACCL_LIGHT_SAMPLES;
  const uint32_t column = blockIdx.x % p.grid.columns, row = blockIdx.x / p.grid.columns;
  const uint32_t x = (column << p.grid.shift) + thread % CUDACCL_LIGHT_SAMPLES * distance;
  const uint32_t y = (row << p.grid.shift) + thread / CUDACCL_LIGHT_SAMPLES * distance;
  const bool inside = x < p.extent.width && y < p.extent.height;
  const size_t pixel = (size_t)y * p.row_groups * CUDACCL_FOREGROUND_PIXELS + x;

  for (uint32_t i = thread; i < CUDACCL_LIGHT_RATIOS; i += CUDACCL_LIGHT_THREADS)
    counts[i] = 0;
  if (thread == 0)
    frame_chroma = model_chroma = 0;
  const uint32_t luma = inside ? luma_at (p.frame, x, y, WIDE) : 0;
  const uint32_t shape = inside ? p.shapes[pixel] : 0;
  const uint32_t mean = inside ? ccl_mixture_luma_8 (shape & 0xffff) : 0;
  const bool in_frame = inside && ccl_light_compares (luma);
  const bool in_model = inside && ccl_light_compares (mean);
  const bool compares = in_frame && in_model;
  const int ratio = max (-CUDACCL_LIGHT_LIMIT, min (CUDACCL_LIGHT_LIMIT, logs[luma] - logs[mean]));
  __syncthreads ();
  if (compares)
    atomicAdd (&counts[ratio + CUDACCL_LIGHT_LIMIT], 1);
  if (p.frame.u && inside && thread % CUDACCL_LIGHT_SAMPLES == thread / CUDACCL_LIGHT_SAMPLES) {
    atomicAdd (&frame_chroma, colour_of (chroma_at (p.frame, x, y)));
    atomicAdd (&model_chroma, colour_of (p.chroma[pixel]));
  }
  CclLightCell cell = {};
  cell.in_frame = (uint16_t)__syncthreads_count (in_frame);
  cell.in_model = (uint16_t)__syncthreads_count (in_model);
  cell.dark = (uint16_t)__syncthreads_count (inside && luma < CUDACCL_LIGHT_LEAST_LUMA);
  cell.bright = (uint16_t)__syncthreads_count (inside && luma > CUDACCL_LIGHT_MOST_LUMA);
  const uint32_t n = (uint32_t)__syncthreads_count (compares);
  cell.frame_chroma = frame_chroma;
  cell.model_chroma = model_chroma;
  cell.measured = n >= CUDACCL_LIGHT_LEAST_SAMPLES;
  if (cell.measured) { /* for all threads or for none */
    if (thread < 32) {
      const uint32_t found = middle_of (counts);
      if (thread == 0)
        middle = found;
    }
    __syncthreads ();
    cell.ratio = (int16_t)((int)middle - CUDACCL_LIGHT_LIMIT);
    const bool near = compares && ccl_light_is_near (ratio, cell.ratio);
    cell.uniform = cell.explained = 5 * (uint32_t)__syncthreads_count (near) >= 3 * n;
    if (!cell.uniform) { /* for all threads or for none */
      const uint32_t expected = ccl_light_expected (mean, powers[middle]);
      const bool explained = near || (compares && ccl_light_is_noise (luma, expected, shape >> 16));
      cell.explained = 5 * (uint32_t)__syncthreads_count (explained) >= 3 * n;
    }
  }
  let_next_kernel_start ();
  if (thread == 0) {
    p.cells[blockIdx.x] = cell;
    if (cell.explained)
      atomicAdd (&p.light->counts[cell.ratio + CUDACCL_LIGHT_LIMIT], 1);
  }
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_LIGHT_THREADS) ccl_light_measure (const __grid_constant__ Parameters p)
{
  measure<false> (p);
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_LIGHT_THREADS)
    ccl_light_measure_words (const __grid_constant__ Parameters p)
{
  measure<true> (p);
}

static __device__ __forceinline__ void
add_cell (CclLightSums *sums, const CclLightCell &cell, int light)
{
  const bool bad =
      cell.measured && (!cell.explained || abs (cell.ratio - light) > CUDACCL_LIGHT_NEAR);
  atomicAdd (&sums->cells, 1);
  atomicAdd (&sums->measured, cell.measured);
  atomicAdd (&sums->bad, bad);
  atomicAdd (&sums->in_frame, cell.in_frame >= CUDACCL_LIGHT_LEAST_SAMPLES);
  atomicAdd (&sums->in_model, cell.in_model >= CUDACCL_LIGHT_LEAST_SAMPLES);
  atomicAdd ((unsigned long long *)&sums->dark, cell.dark);
  atomicAdd ((unsigned long long *)&sums->bright, cell.bright);
  atomicAdd ((unsigned long long *)&sums->frame_chroma, cell.frame_chroma);
  atomicAdd ((unsigned long long *)&sums->model_chroma, cell.model_chroma);
}

/* The last block judges the frame, and clears the counts and sums, which must be zero for the next
 * frame. */
static __device__ __forceinline__ void
judge (const Parameters &p)
{
  CclFrameLight *light = p.light;
  if (threadIdx.x == 0) {
    CclLightSums sums;
    sums.cells = __ldcg (&light->sums.cells);
    sums.measured = __ldcg (&light->sums.measured);
    sums.bad = __ldcg (&light->sums.bad);
    sums.in_frame = __ldcg (&light->sums.in_frame);
    sums.in_model = __ldcg (&light->sums.in_model);
    sums.dark = __ldcg ((unsigned long long *)&light->sums.dark);
    sums.bright = __ldcg ((unsigned long long *)&light->sums.bright);
    sums.frame_chroma = __ldcg ((unsigned long long *)&light->sums.frame_chroma);
    sums.model_chroma = __ldcg ((unsigned long long *)&light->sums.model_chroma);
    const CclSceneChange change = ccl_light_scene_change (&sums);
    light->begins = change != CUDACCL_SCENE_UNCHANGED && p.may_begin;
    light->is_empty = change != CUDACCL_SCENE_UNCHANGED;
    light->is_corrected = __ldcg (&light->n_factors) > 0;
    *p.scene_change = light->begins ? change : CUDACCL_SCENE_UNCHANGED;
    light->sums = {};
    light->n_factors = light->n_blocks = 0;
  }
  for (uint32_t i = threadIdx.x; i < CUDACCL_LIGHT_RATIOS; i += CUDACCL_LIGHT_THREADS)
    light->counts[i] = 0;
}

/* A warp smooths the light of a cell. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_LIGHT_THREADS) ccl_light_smooth (const __grid_constant__ Parameters p)
{
  __shared__ CclLightSums sums;
  __shared__ uint32_t n_factors;
  __shared__ bool is_last;
  const uint32_t n_cells = p.grid.columns * p.grid.rows;
  const uint32_t cell = blockIdx.x * (CUDACCL_LIGHT_THREADS / 32) + threadIdx.x / 32;

  if (threadIdx.x == 0) {
    sums = {};
    n_factors = 0;
  }
  __syncthreads ();
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (cell < n_cells) {
    const int light = light_of_cell (p.grid, p.cells, p.light->counts, cell, [] { return false; });
    if (lane_of_warp () == 0) {
      const uint32_t factor = factor_of_light (light);
      p.factors[cell] = (uint16_t)factor;
      add_cell (&sums, p.cells[cell], light);
      atomicAdd (&n_factors, factor != CUDACCL_LIGHT_ONE);
    }
  }
  __syncthreads ();
  if (threadIdx.x == 0) {
    CclLightSums *all = &p.light->sums;
    atomicAdd (&all->cells, sums.cells);
    atomicAdd (&all->measured, sums.measured);
    atomicAdd (&all->bad, sums.bad);
    atomicAdd (&all->in_frame, sums.in_frame);
    atomicAdd (&all->in_model, sums.in_model);
    atomicAdd ((unsigned long long *)&all->dark, sums.dark);
    atomicAdd ((unsigned long long *)&all->bright, sums.bright);
    atomicAdd ((unsigned long long *)&all->frame_chroma, sums.frame_chroma);
    atomicAdd ((unsigned long long *)&all->model_chroma, sums.model_chroma);
    atomicAdd (&p.light->n_factors, n_factors);
    __threadfence ();
    is_last = atomicAdd (&p.light->n_blocks, 1) == gridDim.x - 1;
  }
  __syncthreads ();
  if (!is_last)
    return;
  __threadfence ();
  judge (p);
}
