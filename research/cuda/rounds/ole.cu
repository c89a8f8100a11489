/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OLE, Optimised Label Equivalence.
 *
 * Kalentev, Rai, Kemnitz, Schneider: Connected component labeling on a 2D grid using CUDA,
 * Journal of Parallel and Distributed Computing 71(4), 2011; as in the review by Bolelli et al.,
 * IEEE TPDS 2024, section III-A-4 and algorithm 3. One thread for each pixel. The label buffer
 * holds the equivalences, and no write is atomic.
 *
 * 1. initialise: every foreground pixel gets a unique label.
 * 2. scan: writes the smallest label of a pixel's neighbours to the root of the pixel's label.
 * 3. analyse: links every pixel to its root. 2 and 3 are repeated until no label changes.
 *
 * In step 2 a thread may overwrite a smaller label written by another thread. Later rounds correct
 * this, because each round gives a smaller parent to every root that touches a smaller label.
 */
#include "research/cuda/pixels.cuh"

PIXEL_KERNEL (ccl_ole_initialise, make_root)

extern "C" __global__ void
ccl_ole_scan (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  uint32_t *parents = parents_of_pixels (p);
  if (!pixel.exists || !parents[pixel.number])
    return;
  const uint32_t label = parents[pixel.number];
  const uint32_t least = min_around (p, parents, pixel, label);
  if (least < label) {
    if (parents[label] > least)
      parents[label] = least;
    *p.changed = 1;
  }
}

PIXEL_KERNEL (ccl_ole_analyse, compress_pixel)
