/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The merge phase: union-find over open tile components, across the edges of tiles. */
#pragma once

#include "bits.cuh"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "cuda/kernel-lib/parents.cuh"

/* The root of a tile component, both given by their first pixels. Takes the entry of the tile
 * component and gives that of the root. Path halving: tile components on the way are
 * linked to their grandparents. */
static __device__ __forceinline__ uint32_t
find_root (uint32_t *parent, uint32_t component, uint32_t *entry)
{
  uint32_t above = *entry;
  if (above & CUDACCL_STRIPS_ROOT)
    return component;
  uint32_t next = load_parent (parent, above);
#pragma unroll 1
  while (!(next & CUDACCL_STRIPS_ROOT)) {
    store_parent (parent, component, next);
    component = above;
    above = next;
    next = load_parent (parent, above);
  }
  *entry = next;
  return above;
}

/* A tile component that is joined to another is no longer counted as a component. */
static __device__ __forceinline__ void
clear_first_bit (const Parameters &p, uint32_t pixel)
{
  const uint32_t group = pixel / GROUP_WIDTH;
  atomicAnd (&p.first_bits[pixel / 32], ~(1u << pixel % 32));
  atomicSub (&p.chunk_count[group >> p.chunk_shift], 1u);
  if (p.labels)
    atomicSub ((uint32_t *)p.group_count + group / 4, 1u << group % 4 * 8);
}

/* What follows after a root has been linked to a tile component with this entry. Pointer jumping:
 * where the tile components of a component form a long line, all threads that joined them shorten
 * it together. */
static __device__ __forceinline__ void
finish_link (const Parameters &p, uint32_t root, uint32_t entry)
{
  if (!p.filtered)
    clear_first_bit (p, root);
#pragma unroll 1
  for (; !(entry & CUDACCL_STRIPS_ROOT); entry = load_parent (p.parent, entry))
    store_parent (p.parent, root, entry);
}

/* Joins the sets of two tile components: the root with the later first pixel is linked to the
 * other. */
static __device__ __forceinline__ void
unite_components (const Parameters &p, uint32_t a, uint32_t b)
{
  uint32_t *const parent = p.parent;
  /* Most tile components are still roots, so the later of the two is linked before anything is
   * known of it. If it has a parent already, it keeps the earlier one of the two parents, which are
   * joined. */
  const uint32_t later = max (a, b);
  b = min (a, b);
  a = atomicMin (&parent[later], b);
  uint32_t b_entry = load_parent (parent, b);
  if (a & CUDACCL_STRIPS_ROOT) {
    finish_link (p, later, b_entry);
    return;
  }
  uint32_t a_entry = load_parent (parent, a);
  b = find_root (parent, b, &b_entry);
  a = find_root (parent, a, &a_entry);
#pragma unroll 1
  while (a != b) {
    if (a < b) {
      uint32_t swapped = a;
      a = b;
      b = swapped;
      swapped = a_entry;
      a_entry = b_entry;
      b_entry = swapped;
    }
    const uint32_t found = atomicCAS (&parent[a], a_entry, b);
    if (found == a_entry) {
      finish_link (p, a, load_parent (parent, b));
      return;
    }
    a_entry = found; /* another thread has linked a */
    a = find_root (parent, a, &a_entry);
  }
}

/* Entries of a block's cache of pairs of tile components that are joined already. */
enum { PAIRS = 128 };

/* Joins the two tile components of every lane (b NOTHING: none). Tile components often touch in
 * several places: one lane of the warp joins them, and one warp of the block, unless another pair
 * has taken their place in `pairs` in between. */
static __device__ __forceinline__ void
unite_components_of_lanes (
    const Parameters &p, unsigned long long pairs[PAIRS], uint32_t a, uint32_t b)
{
  const uint32_t lanes = __ballot_sync (FULL_WARP, b != NOTHING);
  if (b == NOTHING)
    return;
  const unsigned long long pair = (unsigned long long)a << 32 | b;
  const uint32_t same = __match_any_sync (lanes, pair);
  if (lane_of_warp () == __ffs (same) - 1 && atomicExch (&pairs[(a ^ b * 5) % PAIRS], pair) != pair)
    unite_components (p, a, b);
}

/* The pixels that a thread compares, as indices of p.edge; NOTHING: none. */
struct Contact {
  uint32_t own;                   /* on the upper or left edge of a tile */
  uint32_t across, before, after; /* its neighbours across the edge: straight, and diagonal */
};

static __device__ __forceinline__ uint32_t
edge_index (uint32_t tile, uint32_t edge, uint32_t number)
{
  return (tile * CUDACCL_STRIPS_EDGES + edge) * TILE_EDGE + number;
}

/* The pixels that this thread compares. DIAGONAL: diagonal neighbours, too. */
template <int TILE_ROWS, bool DIAGONAL>
static __device__ __forceinline__ Contact
contact_of_thread (const Parameters &p)
{
  const uint32_t tile = blockIdx.x;
  const bool is_upper = threadIdx.x < TILE_WIDTH;
  const uint32_t number = is_upper ? threadIdx.x : threadIdx.x - TILE_WIDTH;
  const uint32_t tile_row = quotient (tile, p.tile_columns, p.tile_columns_inverse),
                 tile_column = tile - tile_row * p.tile_columns;

  Contact contact = {NOTHING, NOTHING, NOTHING, NOTHING};
  if (is_upper && tile_row > 0) {
    const uint32_t above = tile - p.tile_columns;
    contact.own = edge_index (tile, CUDACCL_STRIPS_TOP, number);
    contact.across = edge_index (above, CUDACCL_STRIPS_BOTTOM, number);
    if (DIAGONAL) {
      if (number > 0)
        contact.before = edge_index (above, CUDACCL_STRIPS_BOTTOM, number - 1);
      else if (tile_column > 0)
        contact.before = edge_index (above - 1, CUDACCL_STRIPS_BOTTOM, TILE_WIDTH - 1);
      if (number < TILE_WIDTH - 1)
        contact.after = edge_index (above, CUDACCL_STRIPS_BOTTOM, number + 1);
      else if (tile_column + 1 < p.tile_columns)
        contact.after = edge_index (above + 1, CUDACCL_STRIPS_BOTTOM, 0);
    }
  } else if (!is_upper && tile_column > 0 && number < TILE_ROWS) {
    /* Diagonal neighbours in another row of tiles are joined from the upper edges. */
    contact.own = edge_index (tile, CUDACCL_STRIPS_LEFT, number);
    contact.across = edge_index (tile - 1, CUDACCL_STRIPS_RIGHT, number);
    if (DIAGONAL) {
      if (number > 0)
        contact.before = edge_index (tile - 1, CUDACCL_STRIPS_RIGHT, number - 1);
      if (number < TILE_ROWS - 1)
        contact.after = edge_index (tile - 1, CUDACCL_STRIPS_RIGHT, number + 1);
    }
  }
  return contact;
}

/* Joins the tile component of a pixel with those of its neighbours across the edge. */
static __device__ __forceinline__ void
unite_contact (const Parameters &p, unsigned long long pairs[PAIRS], uint32_t own, uint32_t across,
    uint32_t before, uint32_t after)
{
  /* The pixel straight across touches the other two, so it stands for them. Few lanes are left with
   * two pixels. */
  if (across != NOTHING)
    after = NOTHING;
  else if (before != NOTHING)
    across = before;
  else {
    across = after;
    after = NOTHING;
  }
  const auto is_joint = [own] (uint32_t other) { return own != NOTHING && own != other; };
  unite_components_of_lanes (p, pairs, own, is_joint (across) ? across : NOTHING);
  unite_components_of_lanes (p, pairs, own, is_joint (after) ? after : NOTHING);
}

/* The tile component of a pixel of an edge; NOTHING if the tile has no open tile components. The
 * two loads are independent, so that their latencies overlap. */
static __device__ __forceinline__ uint32_t
edge_pixel (const Parameters &p, uint32_t index)
{
  if (index == NOTHING)
    return NOTHING;
  const uint32_t pixel = p.edge[index];
  return p.open_count[index / (CUDACCL_STRIPS_EDGES * TILE_EDGE)] ? pixel : NOTHING;
}

/* The same where whole tiles may be full, whose edges are not written. */
template <int ROWS>
static __device__ __forceinline__ uint32_t
edge_pixel_of_any_tile (const Parameters &p, uint32_t index)
{
  if (index == NOTHING)
    return NOTHING;
  const uint32_t tile = index / (CUDACCL_STRIPS_EDGES * TILE_EDGE);
  const uint32_t count = p.open_count[tile];
  if (!(count & CUDACCL_STRIPS_FULL))
    return count ? p.edge[index] : NOTHING;
  const uint32_t tile_row = quotient (tile, p.tile_columns, p.tile_columns_inverse);
  return tile_row * (STRIPS * ROWS) * (p.tile_columns * GROUP_WIDTH) +
         (tile - tile_row * p.tile_columns) * TILE_WIDTH;
}

/* A block merges the upper and the left edge of a tile. A thread joins a pixel to its neighbours
 * across the edge. */
template <int ROWS, bool has_full_tiles = false>
static __device__ __forceinline__ void
merge_tiles (const Parameters &p)
{
  __shared__ unsigned long long pairs[PAIRS];
  let_next_kernel_start ();
  if (threadIdx.x < PAIRS)
    pairs[threadIdx.x] = 0; /* no pair: its tile components differ */
  __syncthreads ();
  const Contact contact = contact_of_thread<STRIPS * ROWS, ROWS == 2> (p);
  load_parameters (p.width | low_word (p.parent));
  wait_for_previous_kernel ();
  const auto pixel_of = has_full_tiles ? edge_pixel_of_any_tile<ROWS> : edge_pixel;
  const uint32_t own = pixel_of (p, contact.own);
  if (has_full_tiles && !__syncthreads_or (own != NOTHING))
    return;
  unite_contact (p, pairs, own, pixel_of (p, contact.across), pixel_of (p, contact.before),
      pixel_of (p, contact.after));
}
