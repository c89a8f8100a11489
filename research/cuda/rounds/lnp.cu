/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LNP, Local Neighbour Propagation.
 *
 * Hawick, Leist, Playne: Parallel graph component labelling with GPUs and CUDA, Parallel
 * Computing 36(12), 2010; as in the review by Bolelli et al., IEEE TPDS 2024, section III-A-2 and
 * algorithm 2. One thread for each pixel, tiles of 16×16 pixels:
 *
 * 1. initialise: every foreground pixel gets a unique label.
 * 2. propagate: a pixel takes the smallest label of its neighbours, including those in other tiles.
 *    The tile then repeats this in shared memory until none of its labels changes. The kernel is
 *    repeated until no label of the frame changes.
 */
#include "research/cuda/pixels.cuh"

#define TILE 16

PIXEL_KERNEL (ccl_lnp_initialise, make_root)

extern "C" __global__ void
__launch_bounds__ (TILE *TILE) ccl_lnp_propagate (const CclLabellingParameters p)
{
  /* The tile with a margin of background. */
  __shared__ uint32_t tile[TILE + 2][TILE + 2];
  const Pixel pixel = own_pixel (p);
  const uint32_t column = threadIdx.x + 1, row = threadIdx.y + 1;
  uint32_t *labels = parents_of_pixels (p);

  const uint32_t old = pixel.exists ? labels[pixel.number] : 0;
  uint32_t label = old;
  if (label) {
    label = min_around (p, labels, pixel, label);
    if (label < old)
      *p.changed = 1;
  }
  for (uint32_t i = threadIdx.y * TILE + threadIdx.x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE)
    tile[i / (TILE + 2)][i % (TILE + 2)] = 0;

  bool sank;
  do {
    __syncthreads ();
    tile[row][column] = label;
    __syncthreads ();
    sank = false;
    for (int dy = -1; label && dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        const uint32_t other = tile[row + dy][column + dx];
        if ((p.connectivity == 8 || dx == 0 || dy == 0) && other && other < label) {
          label = other;
          sank = true;
        }
      }
    }
  } while (__syncthreads_or (sank));
  if (pixel.exists && label != old)
    labels[pixel.number] = label;
}
