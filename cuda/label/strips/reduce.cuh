/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reduce phase: the sums of open tile components are added to those of their roots. The
 * filter phase: marks the first pixels of components with open tile components by area. */
#pragma once

#include "cuda/kernel-lib/dependent-launch.cuh"
#include "component-sums.cuh"
#include "cuda/kernel-lib/parents.cuh"

static __device__ __forceinline__ void
set_first_bit (const Parameters &p, uint32_t pixel)
{
  const uint32_t group = pixel / GROUP_WIDTH;
  atomicOr (&p.first_bits[pixel / 32], 1u << (pixel % 32));
  atomicAdd (&p.chunk_count[group >> p.chunk_shift], 1u);
  if (p.labels)
    atomicAdd ((uint32_t *)p.group_count + group / 4, 1u << group % 4 * 8);
}

static __device__ __forceinline__ void
add_to_root (const CclStripsSums &f, uint32_t root, const ComponentSums &sums)
{
  atomicAdd (&f.sum_x[root], sums.sum_x);
  atomicAdd (&f.sum_y[root], sums.sum_y);
  atomicAdd (&f.area[root], sums.area);
  atomicMin (&f.left[root], sums.left);
  atomicMax (&f.right[root], sums.right);
  atomicMax (&f.bottom[root], sums.bottom);
}

/* The root of a tile component by pointer jumping: the entry of the tile component is linked to
 * each ancestor that the search reaches, the root in the end. So later searches through it are
 * shorter. */
static __device__ __forceinline__ uint32_t
link_to_root (uint32_t *parent, uint32_t first, uint32_t entry)
{
  uint32_t root = entry;
  entry = load_parent (parent, root);
#pragma unroll 1
  while (!(entry & CUDACCL_STRIPS_ROOT)) {
    store_parent (parent, first, entry);
    root = entry;
    entry = load_parent (parent, root);
  }
  return entry & ~CUDACCL_STRIPS_ROOT;
}

/* Adds the sums of every lane to a root (NOTHING: none). Parts of one large component tend to
 * lie side by side, so the warp adds up the sums of two components before the rest is added lane
 * by lane. */
static __device__ __forceinline__ void
add_to_roots_by_warp (const CclStripsSums &f, uint32_t root, ComponentSums sums)
{
#pragma unroll 1
  for (int i = 0; i < 2; i++) {
    const uint32_t waiting = __ballot_sync (FULL_WARP, root != NOTHING);
    if (!waiting)
      return;
    const uint32_t first_lane = __ffs (waiting) - 1;
    const uint32_t shared_root = __shfl_sync (FULL_WARP, root, first_lane);
    const uint32_t sharing = __ballot_sync (FULL_WARP, root == shared_root);
    if (root == shared_root) {
      sums.sum_x = reduce_add_long (sharing, sums.sum_x);
      sums.sum_y = reduce_add_long (sharing, sums.sum_y);
      sums.area = reduce_add (sharing, sums.area);
      sums.left = reduce_min (sharing, sums.left);
      sums.right = reduce_max (sharing, sums.right);
      sums.bottom = reduce_max (sharing, sums.bottom);
      if (lane_of_warp () == first_lane)
        add_to_root (f, root, sums);
      root = NOTHING;
    }
    __syncwarp ();
  }
  if (root != NOTHING)
    add_to_root (f, root, sums);
}

/* An open tile component, and the end of those of its tile, by number. */
struct OpenComponent {
  uint32_t open, end;
  uint32_t first; /* pixel */
  ComponentSums sums;
};

static __device__ __forceinline__ void
load_open_component (const Parameters &p, OpenComponent &component)
{
  component.first = p.open_first[component.open];
  component.sums = load_sums (p.sums, component.open);
}

/* The first open tile component of this thread; there is none if it lies behind the end. Each tile
 * has CUDACCL_STRIPS_REDUCE_THREADS threads. */
static __device__ __forceinline__ OpenComponent
first_open_component (const Parameters &p)
{
  OpenComponent component = {};
  const uint32_t tile =
      blockIdx.x * CUDACCL_STRIPS_REDUCE_TILES + threadIdx.x / CUDACCL_STRIPS_REDUCE_THREADS;
  if (tile >= p.tile_columns * p.tile_rows)
    return component;
  const uint32_t start = tile * CUDACCL_STRIPS_TILE_OPEN;
  component.open = start + threadIdx.x % CUDACCL_STRIPS_REDUCE_THREADS;
  /* The tile component is loaded before the count is known, so that the latencies overlap. */
  component.end = start + p.open_count[tile];
  load_open_component (p, component);
  return component;
}

/* Goes on to the next open tile component of this thread. */
static __device__ __forceinline__ void
next_open_component (const Parameters &p, OpenComponent &component)
{
  component.open += CUDACCL_STRIPS_REDUCE_THREADS;
  if (component.open < component.end)
    load_open_component (p, component);
}

/* What is reduced besides the sums: nothing. */
struct NoReducedColumns {
  __device__ __forceinline__ void
  add (uint32_t, uint32_t) const
  {
  }
};

template <typename Columns = NoReducedColumns>
static __device__ __forceinline__ void
reduce_components (const Parameters &p, const Columns &columns = {})
{
#pragma unroll 1
  for (OpenComponent component = first_open_component (p);
       __any_sync (FULL_WARP, component.open < component.end); next_open_component (p, component)) {
    uint32_t root = NOTHING;
    if (component.open < component.end) {
      const uint32_t entry = load_parent (p.parent, component.first);
      if (!(entry & CUDACCL_STRIPS_ROOT))
        root = link_to_root (p.parent, component.first, entry);
    }
    __syncwarp ();
    add_to_roots_by_warp (p.sums, root, component.sums);
    columns.add (root, component.open);
  }
}

static __device__ __forceinline__ void
filter_roots (const Parameters &p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
#pragma unroll 1
  for (OpenComponent component = first_open_component (p); component.open < component.end;
       next_open_component (p, component)) {
    const bool is_root = p.parent[component.first] & CUDACCL_STRIPS_ROOT;
    if (is_root && component.sums.area >= p.min_area && component.sums.area <= p.max_area)
      set_first_bit (p, component.first);
  }
}
