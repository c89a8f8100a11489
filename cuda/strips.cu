/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Strips: label map and component table; this project's own algorithm.
 *
 * It uses a property of 8-connectivity that is stronger than that of 2×2 blocks (Allegretti,
 * Bolelli, Grana, TPDS 2020, section 4.3): in a strip of two rows, two foreground pixels in the
 * same or in adjacent columns always touch. So the runs of the bitwise OR of the two rows are
 * connected. There are far fewer of them than of blocks or of ordinary runs, and a few bit
 * operations find them. For 4-connectivity a strip is a single row.
 *
 *   strip   two rows (8-connectivity) or one (4-connectivity)
 *   word    16 columns of a strip; a column is occupied if any of its pixels is foreground
 *   run     consecutive occupied columns of a strip, inside one tile
 *   part    the part of a run in one word
 *   tile    8 words × 32 strips, labelled by one block of threads, one thread per word
 *   piece   the part of a component in one tile; open if it touches an edge of two tiles
 *   quad    128 columns of a row, one bit each
 *
 * Phases in stream order. The first two are kernels. The others are blocks of one kernel, of which
 * those that rank wait where they need folded features; with an area filter, fold and filter are
 * kernels of their own:
 *
 *   tile     pixels to bits; runs joined in shared memory; features of each piece. The bit of its
 *            first pixel is set if the piece counts as a component: a closed piece does
 *            unless the area filter removes it, an open piece if there is no filter
 *   merge    joins open pieces across the edges of tiles. The piece with the earlier first
 *            pixel is the parent, so the root is the piece with the component's first pixel. The
 *            bits of the other pieces are cleared
 *   fold     adds the features of open pieces to those of their root
 *   filter   with an area filter, sets the bits of roots by their folded areas
 *   rank     counts the bits before each bit: that count plus one is the component's label;
 *            writes the table
 *   deliver  counts the bits before each bit, too, and writes the label map, if there is one
 *
 * Latency decides, not throughput: a phase takes a few thousand cycles, most of them for chains of
 * dependent instructions and loads. So kernels compute indices and load their parameters before
 * they wait for the previous kernel, and loops with few iterations are not unrolled, because the
 * code is longer then and has to be loaded.
 *
 * The result does not depend on the order in which threads run: components are identified by their
 * first pixel, and all sums are integers.
 */
#include "strips/deliver.cuh"
#include "strips/fold.cuh"
#include "strips/label-tile.cuh"
#include "strips/merge.cuh"
#include "strips/rank.cuh"

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_TILE_THREADS) ccl_strips_tile_4 (const CclStripsParameters parameters)
{
  label_tile<uint8_t, 1> (parameters);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_TILE_THREADS) ccl_strips_tile_8 (const CclStripsParameters parameters)
{
  label_tile<uint8_t, 2> (parameters);
}

/* The same for pixels of two bytes. */
extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_TILE_THREADS)
    ccl_strips_tile_words_4 (const CclStripsParameters parameters)
{
  label_tile<uint16_t, 1> (parameters);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_TILE_THREADS)
    ccl_strips_tile_words_8 (const CclStripsParameters parameters)
{
  label_tile<uint16_t, 2> (parameters);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_MERGE_THREADS)
    ccl_strips_merge_4 (const CclStripsParameters parameters)
{
  merge_tiles<1> (parameters);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_MERGE_THREADS)
    ccl_strips_merge_8 (const CclStripsParameters parameters)
{
  merge_tiles<2> (parameters);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_RANK_THREADS) ccl_strips_fold (const CclStripsParameters parameters)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  fold_pieces (parameters);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_RANK_THREADS) ccl_strips_filter (const CclStripsParameters parameters)
{
  filter_roots (parameters);
}

/* The first blocks fold, the others rank. */
template <int ROWS>
static __device__ __forceinline__ void
rank (const Parameters &p)
{
  __shared__ Rows rows;
  let_next_kernel_start ();
  if (blockIdx.x < p.n_fold_blocks)
    fold_for_rank (p);
  else
    rank_chunk<ROWS> (p, rows, blockIdx.x - p.n_fold_blocks);
}

/* The same with the label map, which needs no row of the table. Its blocks come first, because they
 * write most. */
template <int ROWS>
static __device__ __forceinline__ void
rank_and_deliver (const Parameters &p)
{
  __shared__ union {
    Rows rows;
    DeliveredTile<ROWS> tile;
  } block;
  let_next_kernel_start ();
  uint32_t number = blockIdx.x;
  if (number < p.n_fold_blocks) {
    fold_for_rank (p);
    return;
  }
  number -= p.n_fold_blocks;
  const uint32_t n_tiles = p.tile_columns * p.tile_rows;
  if (number < n_tiles)
    deliver_tile<ROWS> (p, block.tile, number);
  else
    rank_chunk<ROWS> (p, block.rows, number - n_tiles);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_RANK_THREADS) ccl_strips_rank_4 (const CclStripsParameters parameters)
{
  rank<1> (parameters);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_RANK_THREADS) ccl_strips_rank_8 (const CclStripsParameters parameters)
{
  rank<2> (parameters);
}

/* One thread tells the host that table and count are written. A kernel of its own does that sooner
 * than the blocks of the rank kernel can, each of which would have to wait for the bus. */
extern "C" __global__ void __launch_bounds__ (1)
    ccl_strips_finish (const CclStripsParameters parameters)
{
  wait_for_previous_kernel ();
  __threadfence_system ();
  *(volatile uint32_t *)parameters.finished = 1;
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_RANK_THREADS)
    ccl_strips_deliver_4 (const CclStripsParameters parameters)
{
  rank_and_deliver<1> (parameters);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_RANK_THREADS)
    ccl_strips_deliver_8 (const CclStripsParameters parameters)
{
  rank_and_deliver<2> (parameters);
}
