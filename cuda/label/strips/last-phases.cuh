/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The last kernel of a frame: the phases reduce, number and labels. */
#pragma once

#include "number.cuh"
#include "reduce.cuh"
#include "write-labels.cuh"

/* The first blocks reduce, the others number. */
template <int ROWS, typename Columns = NoColumns>
static __device__ __forceinline__ void
number_components (const Parameters &p, const Columns &columns = {})
{
  __shared__ Rows rows;
  let_next_kernel_start ();
  if (blockIdx.x < p.n_reduce_blocks)
    reduce_before_numbering (p, columns.reduced ());
  else
    number_chunk<ROWS> (p, rows, blockIdx.x - p.n_reduce_blocks, columns);
}

/* The same with the label map, which needs no row of the table. Its blocks come first, because they
 * write most. */
template <int ROWS, typename Columns = NoColumns>
static __device__ __forceinline__ void
number_and_write_labels (const Parameters &p, const Columns &columns = {})
{
  __shared__ union {
    Rows rows;
    LabelledTile<ROWS> tile;
  } block;
  let_next_kernel_start ();
  uint32_t number = blockIdx.x;
  if (number < p.n_reduce_blocks) {
    reduce_before_numbering (p, columns.reduced ());
    return;
  }
  number -= p.n_reduce_blocks;
  const uint32_t n_tiles = p.tile_columns * p.tile_rows;
  if (number < n_tiles)
    write_tile_labels<ROWS> (p, block.tile, number);
  else
    number_chunk<ROWS> (p, block.rows, number - n_tiles, columns);
}
