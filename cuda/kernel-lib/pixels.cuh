/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pixels and their neighbours, for algorithms with one thread per pixel. They number pixels from
 * 1, as raw labels do: 0 is background in the label buffer after the first kernel, and the frame
 * is read only once.
 */
#ifndef CUDACCL_CUDA_PIXELS_CUH
#define CUDACCL_CUDA_PIXELS_CUH

#include "foreground.cuh"
#include "geometry.cuh"
#include "union-find.cuh"

struct Pixel {
  uint32_t x, y;
  uint32_t number; /* label buffer index plus one */
  bool exists;     /* is inside the frame */
};

static __device__ __forceinline__ Pixel
pixel_at (const CclLabellingParameters &p, uint32_t x, uint32_t y)
{
  Pixel pixel;
  pixel.x = x;
  pixel.y = y;
  pixel.number = y * p.label_stride + x + 1;
  pixel.exists = x < p.width && y < p.height;
  return pixel;
}

/* The pixel of a thread. */
static __device__ __forceinline__ Pixel
own_pixel (const CclLabellingParameters &p)
{
  return pixel_at (p, thread_column (), thread_row ());
}

/* The label buffer as parents of pixels numbered from 1. */
static __device__ __forceinline__ uint32_t *
parents_of_pixels (const CclLabellingParameters &p)
{
  return p.labels - 1;
}

static __device__ __forceinline__ bool
is_foreground (const CclLabellingParameters &p, const Pixel &pixel)
{
  return is_foreground (p, frame_row (p, pixel.y)[pixel.x]);
}

/* Whether a label that is not 0 is at the pixel's neighbour, which may be outside the frame; dx
 * and dy are -1, 0 or 1. */
static __device__ __forceinline__ bool
has_neighbour (
    const CclLabellingParameters &p, const uint32_t *parents, const Pixel &pixel, int dx, int dy)
{
  if ((dx < 0 && pixel.x == 0) || (dx > 0 && pixel.x + 1 >= p.width) || (dy < 0 && pixel.y == 0) ||
      (dy > 0 && pixel.y + 1 >= p.height))
    return false;
  return parents[pixel.number + dy * p.label_stride + dx] != 0;
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

#endif /* CUDACCL_CUDA_PIXELS_CUH */
