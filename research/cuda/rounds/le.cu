/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LE, Label Equivalence.
 *
 * Hawick, Leist, Playne: Parallel graph component labelling with GPUs and CUDA, Parallel
 * Computing 36(12), 2010; as in the review by Bolelli et al., IEEE TPDS 2024, section III-A-4. One
 * thread for each pixel. An array of equivalences, as large as the label buffer, maps each label to
 * the smallest label known to be of the same component.
 *
 * 1. initialise: every foreground pixel gets a unique label, equivalent to itself.
 * 2. scan: records that a pixel's label is equivalent to the smallest label among its neighbours.
 * 3. analyse: follows chains of equivalences to their end.
 * 4. label: replaces each label by its equivalent. 2 to 4 are repeated until no label changes.
 */
#include "research/cuda/pixels.cuh"

static __device__ __forceinline__ uint32_t *
equivalences (const CclLabellingParameters &p)
{
  return (uint32_t *)p.scratch - 1;
}

extern "C" __global__ void
ccl_le_initialise (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  if (!pixel.exists)
    return;
  const uint32_t label = is_foreground (p, pixel) ? pixel.number : 0;
  parents_of_pixels (p)[pixel.number] = label;
  equivalences (p)[pixel.number] = label;
}

extern "C" __global__ void
ccl_le_scan (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  const uint32_t *labels = parents_of_pixels (p);
  if (!pixel.exists || !labels[pixel.number])
    return;
  const uint32_t label = labels[pixel.number];
  const uint32_t least = min_around (p, labels, pixel, label);
  if (least < label) {
    atomicMin (&equivalences (p)[label], least);
    *p.changed = 1;
  }
}

extern "C" __global__ void
ccl_le_analyse (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  if (pixel.exists && equivalences (p)[pixel.number])
    compress (equivalences (p), pixel.number);
}

extern "C" __global__ void
ccl_le_label (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  uint32_t *labels = parents_of_pixels (p);
  if (pixel.exists && labels[pixel.number])
    labels[pixel.number] = equivalences (p)[labels[pixel.number]];
}
