/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pixels and their neighbours (kernel-lib/pixels.cuh): steps that several algorithms take, least
 * labels, and unions across the borders of tiles. */
#pragma once

#include "cuda/kernel-lib/pixels.cuh"

/* A kernel whose threads take step (p, pixel), one for each pixel of the frame. */
#define PIXEL_KERNEL(name, step)                                                                   \
  extern "C" __global__ void name (const CclLabellingParameters p)                                 \
  {                                                                                                \
    const Pixel pixel = own_pixel (p);                                                             \
    if (pixel.exists)                                                                              \
      step (p, pixel);                                                                             \
  }

/* Makes a foreground pixel a tree of its own. */
static __device__ __forceinline__ void
make_root (const CclLabellingParameters &p, const Pixel &pixel)
{
  parents_of_pixels (p)[pixel.number] = is_foreground (p, pixel) ? pixel.number : 0;
}

/* Links a foreground pixel to its root. */
static __device__ __forceinline__ void
compress_pixel (const CclLabellingParameters &p, const Pixel &pixel)
{
  uint32_t *parents = parents_of_pixels (p);
  if (parents[pixel.number])
    compress (parents, pixel.number);
}

/* The smaller of a label and that of a neighbour, if there is one. */
static __device__ __forceinline__ uint32_t
min_with_neighbour (const CclLabellingParameters &p, const uint32_t *parents, const Pixel &pixel,
    int dx, int dy, uint32_t label)
{
  if ((dx < 0 && pixel.x == 0) || (dx > 0 && pixel.x + 1 >= p.width) || (dy < 0 && pixel.y == 0) ||
      (dy > 0 && pixel.y + 1 >= p.height))
    return label;
  const uint32_t other = parents[pixel.number + dy * p.label_stride + dx];
  return other && other < label ? other : label;
}

/* The smallest label among a foreground pixel, whose label is given, and its neighbours. */
static __device__ __forceinline__ uint32_t
min_around (
    const CclLabellingParameters &p, const uint32_t *parents, const Pixel &pixel, uint32_t label)
{
  uint32_t least = label;
  least = min_with_neighbour (p, parents, pixel, 0, -1, least);
  least = min_with_neighbour (p, parents, pixel, -1, 0, least);
  least = min_with_neighbour (p, parents, pixel, 1, 0, least);
  least = min_with_neighbour (p, parents, pixel, 0, 1, least);
  if (p.connectivity == 8) {
    least = min_with_neighbour (p, parents, pixel, -1, -1, least);
    least = min_with_neighbour (p, parents, pixel, 1, -1, least);
    least = min_with_neighbour (p, parents, pixel, -1, 1, least);
    least = min_with_neighbour (p, parents, pixel, 1, 1, least);
  }
  return least;
}

/* Union of a foreground pixel with its neighbours in the row above, across the border of two
 * tiles. If the pixel above is foreground, it is connected to the other two, which then need no
 * union. */
static __device__ __forceinline__ void
unite_with_row_above (const CclLabellingParameters &p, uint32_t *parents, const Pixel &pixel)
{
  const uint32_t above = pixel.number - p.label_stride;
  if (has_neighbour (p, parents, pixel, 0, -1)) {
    unite (parents, pixel.number, above);
  } else if (p.connectivity == 8) {
    if (has_neighbour (p, parents, pixel, -1, -1))
      unite (parents, pixel.number, above - 1);
    if (has_neighbour (p, parents, pixel, 1, -1))
      unite (parents, pixel.number, above + 1);
  }
}

/* The same for the column to the left. */
static __device__ __forceinline__ void
unite_with_column_left (const CclLabellingParameters &p, uint32_t *parents, const Pixel &pixel)
{
  const uint32_t left = pixel.number - 1;
  if (has_neighbour (p, parents, pixel, -1, 0)) {
    unite (parents, pixel.number, left);
  } else if (p.connectivity == 8) {
    if (has_neighbour (p, parents, pixel, -1, -1))
      unite (parents, pixel.number, left - p.label_stride);
    if (has_neighbour (p, parents, pixel, -1, 1))
      unite (parents, pixel.number, left + p.label_stride);
  }
}
