/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * KE, Komura Equivalence.
 *
 * Komura: GPU-based cluster-labeling algorithm without the use of conventional iteration,
 * Computer Physics Communications 194, 2015, as described in TPDS 2020, section 4.2; for
 * 8-connectivity as Allegretti, Bolelli, Cancilla, Grana: Optimizing GPU-Based Connected
 * Components Labeling Algorithms, IPAS 2018. One thread for each pixel:
 *
 * 1. initialise: a pixel is linked to the first foreground pixel among the neighbours before it
 *    in raster order.
 * 2. compress: the trees are flattened.
 * 3. reduce: union with the other foreground neighbours before it.
 * 4. compress again.
 *
 * Step 3 recognises foreground by its label, so that the frame is read in step 1 only. For
 * 4-connectivity it leaves out the union with the left pixel where the upper left one is
 * foreground, too: the two are joined through that one already (Playne and Hawick: A New
 * Algorithm for Parallel Connected-Component Labelling on GPUs, IEEE TPDS 29(6), 2018). For
 * 8-connectivity a foreground pixel above is a neighbour of all the others, so only without it
 * is there anything left to unite.
 */
#include "cuda/kernel-lib/pixels.cuh"

template <typename Luma>
static __device__ __forceinline__ void
initialise (const CclLabellingParameters &p)
{
  const Pixel pixel = own_pixel (p);
  if (!pixel.exists)
    return;
  const Luma *value = pixels_of_row<Luma> (p, pixel.y) + pixel.x;
  uint32_t parent = 0;
  if (is_foreground_at (p, value)) {
    const Luma *above = (const Luma *)((const uint8_t *)value - p.frame_stride);
    const bool corners = p.connectivity == 8, has_above = pixel.y > 0, has_left = pixel.x > 0;
    parent = pixel.number;
    if (corners && has_above && has_left && is_foreground_at (p, above - 1))
      parent -= p.label_stride + 1;
    else if (has_above && is_foreground_at (p, above))
      parent -= p.label_stride;
    else if (corners && has_above && pixel.x + 1 < p.width && is_foreground_at (p, above + 1))
      parent -= p.label_stride - 1;
    else if (has_left && is_foreground_at (p, value - 1))
      parent -= 1;
  }
  parents_of_pixels (p)[pixel.number] = parent;
}

extern "C" __global__ void
ccl_ke_initialise (const CclLabellingParameters p)
{
  initialise<uint8_t> (p);
}

extern "C" __global__ void
ccl_ke_initialise_words (const CclLabellingParameters p)
{
  initialise<uint16_t> (p);
}

extern "C" __global__ void
ccl_ke_compress (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  uint32_t *parents = parents_of_pixels (p);
  if (pixel.exists && parents[pixel.number])
    compress (parents, pixel.number);
}

extern "C" __global__ void
ccl_ke_reduce (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  uint32_t *parents = parents_of_pixels (p);
  if (!pixel.exists || !parents[pixel.number])
    return;

  const uint32_t left = pixel.number - 1, upper_right = pixel.number - p.label_stride + 1;
  const bool has_above = has_neighbour (p, parents, pixel, 0, -1);
  const bool has_left = has_neighbour (p, parents, pixel, -1, 0);
  const bool has_upper_left = has_neighbour (p, parents, pixel, -1, -1);
  if (p.connectivity == 4) {
    if (has_above && has_left && !has_upper_left)
      unite (parents, pixel.number, left);
  } else if (!has_above && has_neighbour (p, parents, pixel, 1, -1)) {
    /* Linked to the upper left pixel, of which the left one is a neighbour, or else to the upper
     * right one. */
    if (has_upper_left)
      unite (parents, pixel.number, upper_right);
    else if (has_left)
      unite (parents, pixel.number, left);
  }
}
