/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pixels and their neighbours, for algorithms with one thread per pixel. They number pixels from
 * 1, as raw labels do: 0 is background in the label buffer after the first kernel, and the frame
 * is read only once.
 */
#pragma once

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
