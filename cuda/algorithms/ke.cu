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
 * Step 3 knows foreground by its label, so that the frame is read in step 1 only. For
 * 4-connectivity it leaves out the union with the left pixel where the upper left one is
 * foreground, too: the two are joined through that one already (Playne and Hawick: A New
 * Algorithm for Parallel Connected-Component Labelling on GPUs, IEEE TPDS 29(6), 2018). For
 * 8-connectivity a foreground pixel above is a neighbour of all the others, so only without it
 * is there anything left to unite.
 */
#include "foreground.cuh"
#include "geometry.cuh"
#include "union-find.cuh"

extern "C" __global__ void
ccl_ke_initialise (const CclLabellingParameters p)
{
  const uint32_t x = thread_column (), y = thread_row ();
  if (x >= p.width || y >= p.height)
    return;
  const uint8_t *pixel = frame_row (p, y) + x;
  const uint32_t index = y * p.label_stride + x;

  uint32_t label = 0;
  if (is_foreground (p, pixel[0])) {
    const uint8_t *above = pixel - p.frame_stride;
    const bool corners = p.connectivity == 8;
    label = index + 1;
    if (corners && y > 0 && x > 0 && is_foreground (p, above[-1]))
      label -= p.label_stride + 1;
    else if (y > 0 && is_foreground (p, above[0]))
      label -= p.label_stride;
    else if (corners && y > 0 && x + 1 < p.width && is_foreground (p, above[1]))
      label -= p.label_stride - 1;
    else if (x > 0 && is_foreground (p, pixel[-1]))
      label -= 1;
  }
  p.labels[index] = label;
}

extern "C" __global__ void
ccl_ke_compress (const CclLabellingParameters p)
{
  const uint32_t x = thread_column (), y = thread_row ();
  if (x >= p.width || y >= p.height)
    return;
  const uint32_t label = y * p.label_stride + x + 1;
  uint32_t *parents = p.labels - 1;
  if (parents[label])
    compress (parents, label);
}

extern "C" __global__ void
ccl_ke_reduce (const CclLabellingParameters p)
{
  const uint32_t x = thread_column (), y = thread_row ();
  if (x >= p.width || y >= p.height)
    return;
  const uint32_t label = y * p.label_stride + x + 1;
  uint32_t *parents = p.labels - 1;
  if (!parents[label])
    return;

  const bool has_left = x > 0 && parents[label - 1];
  const bool has_above = y > 0 && parents[label - p.label_stride];
  const bool has_upper_left = x > 0 && y > 0 && parents[label - p.label_stride - 1];
  if (p.connectivity == 4) {
    /* linked to the pixel above */
    if (has_above && has_left && !has_upper_left)
      unite (parents, label, label - 1);
    return;
  }
  if (has_above) {
    /* linked to the upper left pixel or to the one above */
    return;
  }
  const bool has_upper_right = y > 0 && x + 1 < p.width && parents[label - p.label_stride + 1];
  if (has_upper_left) {
    /* linked to the upper left pixel, which the left one is a neighbour of */
    if (has_upper_right)
      unite (parents, label, label - p.label_stride + 1);
  } else if (has_upper_right && has_left) {
    /* linked to the upper right pixel */
    unite (parents, label, label - 1);
  }
}
