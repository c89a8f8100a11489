/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The merge phase: union-find over open pieces, across the edges of tiles. */
#ifndef CCL_STRIPS_MERGE_CUH
#define CCL_STRIPS_MERGE_CUH

#include "bits.cuh"
#include "dependent-launch.cuh"
#include "parents.cuh"

/* The root of a piece, both given by their first pixels, and the entry of the root. On the way up,
 * pieces are linked to their grandparents, which halves the way of the next search. */
static __device__ __forceinline__ uint32_t
find_root (uint32_t *parent, uint32_t piece, uint32_t *entry)
{
  uint32_t above = load_parent (parent, piece);
  if (above & CCL_STRIPS_ROOT) {
    *entry = above;
    return piece;
  }
  uint32_t next = load_parent (parent, above);
  while (!(next & CCL_STRIPS_ROOT)) {
    store_parent (parent, piece, next);
    piece = above;
    above = next;
    next = load_parent (parent, above);
  }
  *entry = next;
  return above;
}

/* Joins the sets of two pieces: the root with the later first pixel is linked to the other. */
static __device__ __forceinline__ void
unite_pieces (uint32_t *parent, uint32_t a, uint32_t b)
{
  uint32_t a_entry, b_entry;
  a = find_root (parent, a, &a_entry);
  b = find_root (parent, b, &b_entry);
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
      /* Pointer jumping: where the pieces of a component form a long line, all threads that
       * joined them shorten it together. */
      for (uint32_t next = load_parent (parent, b); !(next & CCL_STRIPS_ROOT);
           next = load_parent (parent, next))
        store_parent (parent, a, next);
      return;
    }
    a = find_root (parent, found, &a_entry); /* another thread has linked a */
  }
}

/* Joins the two pieces of every lane (b NOTHING: none). Of lanes with the same two pieces, one
 * joins them. */
static __device__ __forceinline__ void
unite_pieces_by_warp (const Parameters &p, uint32_t a, uint32_t b)
{
  const uint32_t lanes = __ballot_sync (FULL_WARP, b != NOTHING);
  if (b == NOTHING)
    return;
  const uint32_t same = __match_any_sync (lanes, (unsigned long long)a << 32 | b);
  if (lane_of_warp () == __ffs (same) - 1)
    unite_pieces (p.parent, a, b);
}

/* The piece of a pixel of an edge; NOTHING if the tile has no open pieces. The two loads are
 * independent, so that their latencies overlap. */
static __device__ __forceinline__ uint32_t
edge_pixel (const Parameters &p, uint32_t tile, uint32_t edge, uint32_t number)
{
  const uint32_t pixel = p.edge[(tile * CCL_STRIPS_EDGES + edge) * TILE_EDGE + number];
  return p.open_count[tile] ? pixel : NOTHING;
}

/* A thread joins a pixel of the upper or left edge of a tile to its neighbours across the edge. */
template <int ROWS>
static __device__ __forceinline__ void
merge_tiles (const Parameters &p)
{
  enum { TILE_ROWS = STRIPS * ROWS };
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint32_t thread = blockIdx.x * CCL_STRIPS_MERGE_THREADS + threadIdx.x;
  const uint32_t number = thread % TILE_EDGE, edge = thread / TILE_EDGE;
  const uint32_t n_tiles = p.tile_columns * p.tile_rows, tile = edge % n_tiles;
  const uint32_t tile_column = tile % p.tile_columns, tile_row = tile / p.tile_columns;

  uint32_t own = NOTHING, across = NOTHING, before = NOTHING, after = NOTHING;
  if (edge < n_tiles) {
    if (tile_row > 0) {
      const uint32_t above = tile - p.tile_columns;
      own = edge_pixel (p, tile, CCL_STRIPS_TOP, number);
      across = edge_pixel (p, above, CCL_STRIPS_BOTTOM, number);
      if (ROWS == 2) {
        if (number > 0)
          before = edge_pixel (p, above, CCL_STRIPS_BOTTOM, number - 1);
        else if (tile_column > 0)
          before = edge_pixel (p, above - 1, CCL_STRIPS_BOTTOM, TILE_WIDTH - 1);
        if (number < TILE_WIDTH - 1)
          after = edge_pixel (p, above, CCL_STRIPS_BOTTOM, number + 1);
        else if (tile_column + 1 < p.tile_columns)
          after = edge_pixel (p, above + 1, CCL_STRIPS_BOTTOM, 0);
      }
    }
  } else if (edge < 2 * n_tiles && tile_column > 0 && number < TILE_ROWS) {
    /* Diagonal neighbours in another row of tiles are joined from the upper edges. */
    own = edge_pixel (p, tile, CCL_STRIPS_LEFT, number);
    across = edge_pixel (p, tile - 1, CCL_STRIPS_RIGHT, number);
    if (ROWS == 2) {
      if (number > 0)
        before = edge_pixel (p, tile - 1, CCL_STRIPS_RIGHT, number - 1);
      if (number < TILE_ROWS - 1)
        after = edge_pixel (p, tile - 1, CCL_STRIPS_RIGHT, number + 1);
    }
  }
  /* The pixel straight across touches the other two, so it stands for them. */
  if (across == NOTHING)
    across = before;
  else
    after = NOTHING;
  unite_pieces_by_warp (p, own, own == NOTHING ? NOTHING : across);
  unite_pieces_by_warp (p, own, own == NOTHING ? NOTHING : after);
}

#endif /* CCL_STRIPS_MERGE_CUH */
