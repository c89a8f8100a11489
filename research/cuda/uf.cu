/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UF, Union-Find.
 *
 * Oliveira, Lotufo: A study on connected components labeling algorithms using GPUs, SIBGRAPI
 * 2010; as in the review by Bolelli et al., IEEE TPDS 2024, section III-B-1 and algorithm 6, and
 * for 8-connectivity as in IPAS 2018. One thread for each pixel, tiles of 16×16 pixels:
 *
 * 1. merge_locally: labels a tile in shared memory, by union with each preceding neighbour.
 * 2. merge_rows, merge_columns: union across the borders of tiles.
 * 3. compress.
 *
 * According to the papers step 2 processes border pixels only, but they do not say how. Here one
 * kernel has a thread for each pixel of the tiles' first rows, and another one for their first
 * columns.
 */
#include "pixels.cuh"

#define TILE 16

extern "C" __global__ void
__launch_bounds__ (TILE *TILE) ccl_uf_merge_locally (const CclLabellingParameters p)
{
  __shared__ uint32_t parents[TILE * TILE + 1]; /* pixels of the tile, numbered from 1 */
  const Pixel pixel = own_pixel (p);
  const uint32_t column = threadIdx.x, row = threadIdx.y;
  const uint32_t number = row * TILE + column + 1;
  const bool foreground = pixel.exists && is_foreground (p, pixel);

  parents[number] = foreground ? number : 0;
  __syncthreads ();
  if (foreground) {
    if (column > 0 && parents[number - 1])
      unite (parents, number, number - 1);
    if (row > 0 && parents[number - TILE])
      unite (parents, number, number - TILE);
    if (p.connectivity == 8 && row > 0) {
      if (column > 0 && parents[number - TILE - 1])
        unite (parents, number, number - TILE - 1);
      if (column < TILE - 1 && parents[number - TILE + 1])
        unite (parents, number, number - TILE + 1);
    }
  }
  __syncthreads ();
  if (!pixel.exists)
    return;
  uint32_t parent = 0;
  if (foreground) {
    const uint32_t root = find_root (parents, number) - 1;
    parent = pixel_at (p, pixel.x - column + root % TILE, pixel.y - row + root / TILE).number;
  }
  parents_of_pixels (p)[pixel.number] = parent;
}

extern "C" __global__ void
ccl_uf_merge_rows (const CclLabellingParameters p)
{
  const Pixel pixel = pixel_at (p, thread_column (), (thread_row () + 1) * TILE);
  uint32_t *parents = parents_of_pixels (p);
  if (pixel.exists && parents[pixel.number])
    unite_with_row_above (p, parents, pixel);
}

extern "C" __global__ void
ccl_uf_merge_columns (const CclLabellingParameters p)
{
  const Pixel pixel = pixel_at (p, (thread_column () + 1) * TILE, thread_row ());
  uint32_t *parents = parents_of_pixels (p);
  if (pixel.exists && parents[pixel.number])
    unite_with_column_left (p, parents, pixel);
}

PIXEL_KERNEL (ccl_uf_compress, compress_pixel)
