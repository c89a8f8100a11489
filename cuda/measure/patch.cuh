/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Patches of 4×4 pixels: their labels and values, and sums over those of their pixels that are bits
 * of a word, in raster order from the lowest bit. */
#pragma once

#include "measure-parameters.h"

#include <stdint.h>

enum { PATCH = 4, PATCH_PIXELS = PATCH * PATCH };

/* The labels or values of a patch in raster order. */
struct Patch {
  uint32_t pixels[PATCH_PIXELS];
};

/* The labels of the patch at (x, y) of the frame, 0 outside of it. */
static __device__ __forceinline__ Patch
load_labels (const CclMeasureParameters &p, uint32_t x, uint32_t y)
{
  const bool is_aligned = (uintptr_t)p.labels % sizeof (uint4) == 0 && p.label_stride % PATCH == 0;
  Patch patch = {};
#pragma unroll
  for (uint32_t row = 0; row < PATCH; row++) {
    const uint32_t *const labels = p.labels + (y + row) * p.label_stride + x;
    uint32_t *const loaded = &patch.pixels[row * PATCH];
    if (y + row >= p.height)
      break;
    if (is_aligned && x + PATCH <= p.width) {
      const uint4 four = *(const uint4 *)labels;
      loaded[0] = four.x;
      loaded[1] = four.y;
      loaded[2] = four.z;
      loaded[3] = four.w;
    } else {
#pragma unroll
      for (uint32_t i = 0; i < PATCH; i++)
        loaded[i] = x + i < p.width ? labels[i] : 0;
    }
  }
  return patch;
}

/* The values of the patch at (x, y) of the frame, undefined outside of it. */
static __device__ __forceinline__ Patch
load_values (const CclMeasureParameters &p, uint32_t x, uint32_t y)
{
  Patch patch = {};
#pragma unroll
  for (uint32_t row = 0; row < PATCH; row++) {
    const uint8_t *const values = p.values + (y + row) * p.value_stride + x * p.value_bytes;
    uint32_t *const loaded = &patch.pixels[row * PATCH];
    if (y + row >= p.height)
      break;
    if (p.value_bytes == 1 && x + PATCH <= p.width && (uintptr_t)values % PATCH == 0) {
      const uint32_t four = *(const uint32_t *)values;
#pragma unroll
      for (uint32_t i = 0; i < PATCH; i++)
        loaded[i] = four >> 8 * i & 0xff;
    } else {
#pragma unroll
      for (uint32_t i = 0; i < PATCH; i++)
        if (x + i < p.width)
          loaded[i] = p.value_bytes == 2 ? ((const uint16_t *)values)[i] : values[i];
    }
  }
  return patch;
}

/* The pixels that have a label. */
static __device__ __forceinline__ uint32_t
pixels_of (const Patch &labels)
{
  uint32_t pixels = 0;
#pragma unroll
  for (uint32_t i = 0; i < PATCH_PIXELS; i++)
    pixels |= (uint32_t)(labels.pixels[i] != 0) << i;
  return pixels;
}

/* The pixels that have this label. */
static __device__ __forceinline__ uint32_t
pixels_with (const Patch &labels, uint32_t label)
{
  uint32_t pixels = 0;
#pragma unroll
  for (uint32_t i = 0; i < PATCH_PIXELS; i++)
    pixels |= (uint32_t)(labels.pixels[i] == label) << i;
  return pixels;
}

/* The label of the first of some pixels. */
static __device__ __forceinline__ uint32_t
label_of_first (const Patch &labels, uint32_t pixels)
{
  uint32_t label = 0;
#pragma unroll
  for (uint32_t i = PATCH_PIXELS; i-- > 0;)
    label = pixels >> i & 1 ? labels.pixels[i] : label;
  return label;
}

/* The number of pixels, and the sums of their coordinates in the patch, of squares and products. */
struct PatchSums {
  uint32_t n, x, y, xx, yy, xy;
};

/* A coordinate is b0 + 2 b1 of its bits; the masks have the pixels in which bits are set. */
static __device__ __forceinline__ PatchSums
sums_of_patch (uint32_t pixels)
{
  const uint32_t x0 = __popc (pixels & 0xaaaa), x1 = __popc (pixels & 0xcccc);
  const uint32_t y0 = __popc (pixels & 0xf0f0), y1 = __popc (pixels & 0xff00);
  const uint32_t x01 = __popc (pixels & 0x8888), y01 = __popc (pixels & 0xf000);
  const uint32_t x0y0 = __popc (pixels & 0xa0a0), x0y1 = __popc (pixels & 0xaa00);
  const uint32_t x1y0 = __popc (pixels & 0xc0c0), x1y1 = __popc (pixels & 0xcc00);
  return PatchSums{
      .n = (uint32_t)__popc (pixels),
      .x = x0 + 2 * x1,
      .y = y0 + 2 * y1,
      .xx = x0 + 4 * x1 + 4 * x01,
      .yy = y0 + 4 * y1 + 4 * y01,
      .xy = x0y0 + 2 * x0y1 + 2 * x1y0 + 4 * x1y1,
  };
}
