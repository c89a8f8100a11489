/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BUF, Block-based Union-Find.
 *
 * Allegretti, Bolelli, Grana: Optimized Block-Based Algorithms to Label Connected Components on
 * GPUs, IEEE TPDS 31(2), 2020, section 5.1 and algorithm 2. 8-connectivity. One thread for each
 * block of 2×2 pixels; the label of a block, the index of its parent, is stored at its upper left
 * pixel.
 *
 * 1. initialise: each block is the root of its own tree.
 * 2. merge: unites a block with the connected blocks that precede it.
 * 3. compress, inline or at the end only.
 * 4. label: writes the block's label to its foreground pixels and 0 to the others. This reads the
 *    frame a second time.
 */
#include "blocks.cuh"
#include "cuda/kernel-lib/union-find.cuh"

BLOCK_KERNEL (ccl_buf_initialise, make_root)

extern "C" __global__ void
ccl_buf_merge (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (!block.exists)
    return;
  const uint32_t information = read_block (p, block);
  if (information & BLOCK_P)
    unite (p.labels, block.label, block.label - 2 * p.label_stride - 2);
  if (information & BLOCK_Q)
    unite (p.labels, block.label, block.label - 2 * p.label_stride);
  if (information & BLOCK_R)
    unite (p.labels, block.label, block.label - 2 * p.label_stride + 2);
  if (information & BLOCK_S)
    unite (p.labels, block.label, block.label - 2);
}

BLOCK_KERNEL (ccl_buf_compress, compress_block_inline)

BLOCK_KERNEL (ccl_buf_compress_at_end, compress_block)

BLOCK_KERNEL (ccl_buf_label, label_block)
