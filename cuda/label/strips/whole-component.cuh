/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a tile component's component is, after the reduce phase. */
#pragma once

#include "component-sums.cuh"
#include "cuda/kernel-lib/parents.cuh"

struct WholeComponent {
  uint32_t area, left, top, right, bottom; /* inclusive */
};

/* The component of number i of the tile components of a tile. */
template <int ROWS>
static __device__ __forceinline__ WholeComponent
load_whole_component (const Parameters &p, uint32_t tile, uint32_t i)
{
  const uint32_t number = tile * TILE_RUNS + i;
  uint32_t pixel = p.component_first[number];
  WholeComponent whole;
  if (pixel & CUDACCL_STRIPS_OPEN) {
    pixel &= ~CUDACCL_STRIPS_OPEN;
    uint32_t entry = load_parent (p.parent, pixel);
#pragma unroll 1
    for (; !(entry & CUDACCL_STRIPS_ROOT); entry = load_parent (p.parent, pixel))
      pixel = entry;
    const uint32_t open = entry & ~CUDACCL_STRIPS_ROOT;
    whole.area = __ldcg (&p.sums.area[open]);
    whole.left = __ldcg (&p.sums.left[open]);
    whole.right = __ldcg (&p.sums.right[open]);
    whole.bottom = __ldcg (&p.sums.bottom[open]);
  } else {
    const uint32_t tile_row = quotient (tile, p.tile_columns, p.tile_columns_inverse);
    const uint32_t tile_x = (tile - tile_row * p.tile_columns) * TILE_WIDTH;
    const uint4 component = p.component[number];
    whole.area = component.x & 0xffff;
    whole.left = tile_x + (component.w & 0xffff);
    whole.right = tile_x + (component.w >> 16);
    whole.bottom = tile_row * STRIPS * ROWS + (component.x >> 16);
  }
  whole.top = pixel / (p.tile_columns * GROUP_WIDTH);
  return whole;
}
