/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pixels of pictures that have maps of words, and their rows. */
#pragma once

#include "word-map.h"

struct Place {
  uint32_t x, y, z;
};

/* Where a pixel is that has this number in raster order. */
template <typename Parameters>
static __device__ __forceinline__ Place
place_of (const Parameters &p, uint64_t pixel)
{
  const uint32_t row = (uint32_t)(pixel / p.width);
  return {(uint32_t)(pixel % p.width), row % p.height, row / p.height};
}

static __device__ __forceinline__ uint32_t *
row_of (const CclWordMap &map, uint32_t y, uint32_t z)
{
  return map.words + z * map.slice + y * map.row;
}
