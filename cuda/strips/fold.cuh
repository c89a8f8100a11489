/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fold phase: the features of open pieces are added to those of their roots. The filter phase:
 * marks the first pixels of components with open pieces by area. */
#ifndef CCL_STRIPS_FOLD_CUH
#define CCL_STRIPS_FOLD_CUH

#include "dependent-launch.cuh"
#include "features.cuh"
#include "parents.cuh"

static __device__ __forceinline__ void
set_first_bit (const Parameters &p, uint32_t pixel)
{
  atomicOr (&p.first_bits[pixel / 32], 1u << (pixel % 32));
  atomicAdd (&p.chunk_count[pixel / QUAD_WIDTH >> p.chunk_shift], 1u);
}

/* The number and the first pixel of the open piece of this thread; false if it has none. Each tile
 * has as many threads as it can have open pieces. */
static __device__ __forceinline__ bool
own_open_piece (const Parameters &p, uint32_t &open, uint32_t &first)
{
  open = blockIdx.x * CCL_STRIPS_FOLD_THREADS + threadIdx.x;
  const uint32_t tile = open / CCL_STRIPS_TILE_OPEN;
  if (tile >= p.tile_columns * p.tile_rows)
    return false;
  first = p.open_first[open]; /* before the count is known, so that the latencies overlap */
  return open % CCL_STRIPS_TILE_OPEN < p.open_count[tile];
}

static __device__ __forceinline__ void
add_to_root (const CclStripsFeatures &f, uint32_t root, const PieceFeatures &features)
{
  atomicAdd (&f.sum_x[root], features.sum_x);
  atomicAdd (&f.sum_y[root], features.sum_y);
  atomicAdd (&f.area[root], features.area);
  atomicMin (&f.left[root], features.left);
  atomicMax (&f.right[root], features.right);
  atomicMax (&f.bottom[root], features.bottom);
}

/* The root of a piece by pointer jumping: the entry of the piece follows the search, which halves
 * the way of later searches through it, and holds the root in the end. */
static __device__ __forceinline__ uint32_t
link_to_root (uint32_t *parent, uint32_t first, uint32_t entry)
{
  uint32_t root = entry;
  entry = load_parent (parent, root);
#pragma unroll 1
  while (!(entry & CCL_STRIPS_ROOT)) {
    store_parent (parent, first, entry);
    root = entry;
    entry = load_parent (parent, root);
  }
  return entry & ~CCL_STRIPS_ROOT;
}

/* Adds the features of every lane to a root (NOTHING: none). Pieces of one large component tend to
 * lie side by side, so the warp sums the features of two components before the rest is added lane
 * by lane. */
static __device__ __forceinline__ void
add_to_roots_by_warp (const CclStripsFeatures &f, uint32_t root, PieceFeatures features)
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
      features.sum_x = reduce_add_long (sharing, features.sum_x);
      features.sum_y = reduce_add_long (sharing, features.sum_y);
      features.area = reduce_add (sharing, features.area);
      features.left = reduce_min (sharing, features.left);
      features.right = reduce_max (sharing, features.right);
      features.bottom = reduce_max (sharing, features.bottom);
      if (lane_of_warp () == first_lane)
        add_to_root (f, root, features);
      root = NOTHING;
    }
    __syncwarp ();
  }
  if (root != NOTHING)
    add_to_root (f, root, features);
}

static __device__ __forceinline__ void
fold_pieces (const Parameters &p)
{
  uint32_t open, first, root = NOTHING;
  PieceFeatures features;
  if (own_open_piece (p, open, first)) {
    const uint32_t entry = load_parent (p.parent, first);
    features = load_features (p.features, open);
    if (!(entry & CCL_STRIPS_ROOT))
      root = link_to_root (p.parent, first, entry);
  }
  __syncwarp ();
  add_to_roots_by_warp (p.features, root, features);
}

static __device__ __forceinline__ void
filter_roots (const Parameters &p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  uint32_t open, first;
  if (!own_open_piece (p, open, first) || !(p.parent[first] & CCL_STRIPS_ROOT))
    return;
  const uint32_t area = p.features.area[open];
  if (area >= p.min_area && area <= p.max_area)
    set_first_bit (p, first);
}

#endif /* CCL_STRIPS_FOLD_CUH */
