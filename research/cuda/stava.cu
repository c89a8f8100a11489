/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * STAVA, by Stava and Benes.
 *
 * Stava, Benes: Connected Component Labeling in CUDA, GPU Computing Gems 2011; as in the review
 * by Bolelli et al., IEEE TPDS 2024, section III-A-5 and algorithm 4. 8-connectivity.
 *
 * 1. label_tiles: labels tiles of 16×16 pixels by label equivalence in shared memory, one thread
 *    for each pixel.
 * 2. merge_tiles: merges 4×4 tiles into one, with a thread block of 4×4×16 threads. 16 threads scan
 *    the right and the lower border of each tile; repeated inside the kernel until no label
 *    changes.
 * 3. compress_borders: links the pixels at the borders of the merged tiles to their roots. 2 and 3
 *    are repeated with ever larger tiles until one covers the frame.
 * 4. compress: all pixels.
 */
#include "research/cuda/pixels.cuh"

#define TILE 16
#define GROUP 4 /* tiles in each direction that are merged */

extern "C" __global__ void
__launch_bounds__ (TILE *TILE) ccl_stava_label_tiles (const CclLabellingParameters p)
{
  /* Equivalences of the tile's pixels: indices from 1, and 0 for background. A margin of background
   * makes bounds checks for neighbours unnecessary. */
  __shared__ uint32_t equivalences[TILE + 2][TILE + 2];
  const Pixel pixel = own_pixel (p);
  uint32_t *flat = &equivalences[0][0];
  const uint32_t width = TILE + 2;
  const uint32_t own = (threadIdx.y + 1) * width + threadIdx.x + 1;
  uint32_t label = pixel.exists && is_foreground (p, pixel) ? own : 0;

  for (uint32_t i = threadIdx.y * TILE + threadIdx.x; i < width * width; i += TILE * TILE)
    flat[i] = 0;
  for (;;) {
    __syncthreads ();
    flat[own] = label;
    __syncthreads ();
    uint32_t least = label;
    for (int dy = -1; label && dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        const uint32_t other = flat[own + dy * width + dx];
        if (other)
          least = min (least, other);
      }
    }
    __syncthreads ();
    if (least < label)
      atomicMin (&flat[label], least);
    if (!__syncthreads_or (least < label))
      break;
    if (label)
      label = find_root (flat, label);
  }
  if (!pixel.exists)
    return;
  uint32_t root = 0;
  if (label)
    root = pixel_at (
        p, pixel.x - threadIdx.x + label % width - 1, pixel.y - threadIdx.y + label / width - 1)
               .number;
  parents_of_pixels (p)[pixel.number] = root;
}

/* The side of the tiles that a round merges. */
static __device__ __forceinline__ uint64_t
tile_size (uint32_t round)
{
  return (uint64_t)TILE << 2 * round;
}

/* Links the roots of two pixels if both are foreground. Another thread may overwrite the link; the
 * next pass detects this. Returns whether the roots differed. */
static __device__ __forceinline__ bool
link_roots (uint32_t *parents, uint32_t a, uint32_t b)
{
  if (!parents[a] || !parents[b])
    return false;
  a = find_root (parents, a);
  b = find_root (parents, b);
  if (a != b)
    atomicMin (&parents[max (a, b)], min (a, b));
  return a != b;
}

extern "C" __global__ void
__launch_bounds__ (GROUP *GROUP *TILE) ccl_stava_merge_tiles (const CclLabellingParameters p)
{
  const uint64_t size = tile_size (p.round), group_size = GROUP * size;
  const uint64_t group_x = (uint64_t)blockIdx.x * GROUP * TILE;
  const uint64_t group_y = (uint64_t)block_row () * GROUP * TILE;
  if (group_x == 0 && group_y == 0 && threadIdx.x + threadIdx.y + threadIdx.z == 0 &&
      group_size < max (p.width, p.height))
    *p.changed = 1;
  if (group_x % group_size || group_y % group_size)
    return; /* the grid has a thread block for each group of the first round */

  uint32_t *parents = parents_of_pixels (p);
  const uint64_t start_x = group_x + threadIdx.x * size, start_y = group_y + threadIdx.y * size;
  const uint64_t end_x = min (start_x + size, (uint64_t)p.width);
  const uint64_t end_y = min (start_y + size, (uint64_t)p.height);
  const bool has_tile_right = threadIdx.x + 1 < GROUP && start_x + size < p.width;
  const bool has_tile_below = threadIdx.y + 1 < GROUP && start_y + size < p.height;
  const uint64_t group_end_x = min (group_x + group_size, (uint64_t)p.width);
  const uint64_t group_end_y = min (group_y + group_size, (uint64_t)p.height);

  bool changed;
  do {
    changed = false;
    for (uint64_t y = start_y + threadIdx.z; has_tile_right && y < end_y; y += TILE) {
      const uint32_t number = pixel_at (p, start_x + size - 1, y).number;
      const uint32_t right = number + 1;
      changed |= link_roots (parents, number, right);
      if (y > group_y)
        changed |= link_roots (parents, number, right - p.label_stride);
      if (y + 1 < group_end_y)
        changed |= link_roots (parents, number, right + p.label_stride);
    }
    for (uint64_t x = start_x + threadIdx.z; has_tile_below && x < end_x; x += TILE) {
      const uint32_t number = pixel_at (p, x, start_y + size - 1).number;
      const uint32_t below = number + p.label_stride;
      changed |= link_roots (parents, number, below);
      if (x > group_x)
        changed |= link_roots (parents, number, below - 1);
      if (x + 1 < group_end_x)
        changed |= link_roots (parents, number, below + 1);
    }
  } while (__syncthreads_or (changed));
}

extern "C" __global__ void
__launch_bounds__ (GROUP *GROUP *TILE) ccl_stava_compress_borders (const CclLabellingParameters p)
{
  const uint64_t size = GROUP * tile_size (p.round);
  const uint64_t start_x = (uint64_t)blockIdx.x * GROUP * TILE;
  const uint64_t start_y = (uint64_t)block_row () * GROUP * TILE;
  if (start_x % size || start_y % size)
    return;
  uint32_t *parents = parents_of_pixels (p);
  const uint64_t end_x = min (start_x + size, (uint64_t)p.width);
  const uint64_t end_y = min (start_y + size, (uint64_t)p.height);
  const uint32_t thread = (threadIdx.z * GROUP + threadIdx.y) * GROUP + threadIdx.x;
  for (uint64_t x = start_x + thread; x < end_x; x += GROUP * GROUP * TILE) {
    const uint32_t upper = pixel_at (p, x, start_y).number,
                   lower = pixel_at (p, x, end_y - 1).number;
    if (parents[upper])
      compress (parents, upper);
    if (parents[lower])
      compress (parents, lower);
  }
  for (uint64_t y = start_y + thread; y < end_y; y += GROUP * GROUP * TILE) {
    const uint32_t left = pixel_at (p, start_x, y).number,
                   right = pixel_at (p, end_x - 1, y).number;
    if (parents[left])
      compress (parents, left);
    if (parents[right])
      compress (parents, right);
  }
}

PIXEL_KERNEL (ccl_stava_compress, compress_pixel)
