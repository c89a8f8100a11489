/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LBUF, Line-Based Union-Find.
 *
 * Yonehara, Aizawa: A line-based connected component labeling algorithm using GPUs, CANDAR 2015;
 * as in the review by Bolelli et al., IEEE TPDS 2024, section III-B-2. One thread for each pixel:
 *
 * 1. merge_lines: links each pixel to its left neighbour within a segment of a row, in shared
 *    memory.
 * 2. merge: unites pixels across the borders of segments, and with the row above.
 * 3. compress, inline.
 *
 * The paper does not define the segments of a row that is longer than a thread block; here a
 * segment is 256 pixels.
 */
#include "cuda/kernel-lib/pixels.cuh"

#define LINE 256

extern "C" __global__ void
__launch_bounds__ (LINE) ccl_lbuf_merge_lines (const CclLabellingParameters p)
{
  __shared__ uint32_t parents[LINE + 1]; /* pixels of the line, numbered from 1 */
  const Pixel pixel = own_pixel (p);
  const uint32_t number = threadIdx.x + 1;
  const bool foreground = pixel.exists && is_foreground (p, pixel);

  parents[number] = foreground ? number : 0;
  __syncthreads ();
  const bool has_left = foreground && number > 1 && parents[number - 1];
  __syncthreads ();
  if (has_left)
    parents[number] = number - 1;
  __syncthreads ();
  if (foreground)
    compress_inline (parents, number);
  if (pixel.exists)
    parents_of_pixels (p)[pixel.number] =
        foreground ? pixel.number - number + find_root (parents, number) : 0;
}

extern "C" __global__ void
ccl_lbuf_merge (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  uint32_t *parents = parents_of_pixels (p);
  if (!pixel.exists || !parents[pixel.number])
    return;
  if (pixel.x % LINE == 0 && has_neighbour (p, parents, pixel, -1, 0))
    unite (parents, pixel.number, pixel.number - 1);
  if (has_neighbour (p, parents, pixel, 0, -1))
    unite (parents, pixel.number, pixel.number - p.label_stride);
  if (p.connectivity == 8) {
    if (has_neighbour (p, parents, pixel, -1, -1))
      unite (parents, pixel.number, pixel.number - p.label_stride - 1);
    if (has_neighbour (p, parents, pixel, 1, -1))
      unite (parents, pixel.number, pixel.number - p.label_stride + 1);
  }
}

extern "C" __global__ void
ccl_lbuf_compress (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  uint32_t *parents = parents_of_pixels (p);
  if (pixel.exists && parents[pixel.number])
    compress_inline (parents, pixel.number);
}
