/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * NP, Neighbour Propagation.
 *
 * Hawick, Leist, Playne: Parallel graph component labelling with GPUs and CUDA, Parallel
 * Computing 36(12), 2010; as in the review by Bolelli et al., IEEE TPDS 2024, section III-A-1 and
 * algorithm 2. One thread for each pixel:
 *
 * 1. initialise: every foreground pixel gets a unique label.
 * 2. propagate: a pixel takes the smallest label of its neighbours; repeated until no label
 * changes.
 */
#include "research/cuda/pixels.cuh"

PIXEL_KERNEL (ccl_np_initialise, make_root)

extern "C" __global__ void
ccl_np_propagate (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  uint32_t *labels = parents_of_pixels (p);
  if (!pixel.exists || !labels[pixel.number])
    return;
  const uint32_t label = labels[pixel.number];
  const uint32_t least = min_around (p, labels, pixel, label);
  if (least < label) {
    labels[pixel.number] = least;
    *p.changed = 1;
  }
}
