/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a shaking camera brings to pixels (sway.h): codebook.cu includes it. A warp has 32 pixels of
 * a row. */
#pragma once

#include "core/foreground/sway.h"

static __device__ __forceinline__ size_t
place_of_pixel (const CclExtent &extent, uint32_t x, uint32_t y)
{
  return (size_t)y * extent.row_words * 32 + x;
}

/* Finds the least and the greatest background around a pixel. */
static __device__ __forceinline__ void
find_range (const CclCodebookSwayParameters &p, uint32_t x, uint32_t y)
{
  const uint32_t distance = p.sway.distance;
  const uint32_t left = x > distance ? x - distance : 0;
  const uint32_t right = min (x + distance, p.extent.width - 1);
  const uint32_t top = y > distance ? y - distance : 0;
  const uint32_t bottom = min (y + distance, p.extent.height - 1);
  uint32_t low = UINT8_MAX, high = 0;
  for (uint32_t j = top; j <= bottom; j++) {
    for (uint32_t i = left; i <= right; i++) {
      const uint32_t luma = p.background[place_of_pixel (p.extent, i, j)];
      low = min (low, luma);
      high = max (high, luma);
    }
  }
  p.sway.low[place_of_pixel (p.extent, x, y)] = (uint8_t)low;
  p.sway.high[place_of_pixel (p.extent, x, y)] = (uint8_t)high;
}

/* Queued only if the camera shakes. A warp has a word of pixels. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_CODEBOOK_THREADS)
    ccl_codebook_spread (const __grid_constant__ CclCodebookSwayParameters p)
{
  const uint32_t word = blockIdx.x * CUDACCL_CODEBOOK_WARPS + threadIdx.x / 32;
  const uint32_t x = word % p.extent.row_words * 32 + lane_of_warp ();
  const uint32_t y = word / p.extent.row_words;
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (x < p.extent.width && y < p.extent.height)
    find_range (p, x, y);
}

/* Makes a pixel background that the range explains. */
static __device__ __forceinline__ void
clear_sway (const CclCodebookSway &sway, size_t place, uint32_t luma, CclCodebookResult *result)
{
  if (ccl_sway_explains (luma, sway.low[place], sway.high[place])) {
    result->pixel_class = CUDACCL_PIXEL_BACKGROUND;
    result->is_strong = result->is_settled = false;
  }
}

/* Whether the ranges of the pixels of a place explain its luma. Outside the frame, its last row and
 * column are repeated. */
static __device__ __forceinline__ bool
is_sway_of_place (const Parameters &p, uint32_t column, uint32_t row, uint32_t luma)
{
  const CclExtent &extent = p.pixels.extent;
  uint32_t low = UINT8_MAX, high = 0;
  for (uint32_t k = 0; k < 4; k++) {
    const uint32_t x = min (2 * column + k % 2, extent.width - 1);
    const size_t place = place_of_pixel (extent, x, min (2 * row + k / 2, extent.height - 1));
    low = min (low, (uint32_t)p.sway.low[place]);
    high = max (high, (uint32_t)p.sway.high[place]);
  }
  return ccl_sway_explains (luma, low, high);
}
