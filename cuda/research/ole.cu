/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OLE, Optimised Label Equivalence.
 *
 * Kalentev, Rai, Kemnitz, Schneider: Connected component labeling on a 2D grid using CUDA,
 * Journal of Parallel and Distributed Computing 71(4), 2011; as in the review by Bolelli et al.,
 * IEEE TPDS 2024, section III-A-4 and algorithm 3. One thread for each pixel; equivalences are
 * kept in the label buffer itself, and none of the writes is atomic.
 *
 * 1. initialise: every foreground pixel gets a label of its own.
 * 2. scan: the smallest label around a pixel goes to the root of its own label.
 * 3. analyse: every pixel is linked to its root. 2 and 3 are repeated until nothing changes.
 *
 * A write of step 2 may undo a better one of another thread. The next round makes up for that:
 * each round gives every root that touches a smaller label a smaller parent.
 */
#include "pixels.cuh"

extern "C" __global__ void
ccl_ole_initialise (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  if (pixel.exists)
    parents_of_pixels (p)[pixel.number] = is_foreground (p, pixel) ? pixel.number : 0;
}

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

extern "C" __global__ void
ccl_ole_analyse (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  uint32_t *parents = parents_of_pixels (p);
  if (pixel.exists && parents[pixel.number])
    compress (parents, pixel.number);
}
