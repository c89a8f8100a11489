/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BE, Block Equivalence.
 *
 * Zavalishin, Safonov, Bekhtin, Kurilin: Block Equivalence Algorithm for Labeling 2D and 3D
 * Images on GPU, Electronic Imaging 2016(2); as in the review by Bolelli et al., IEEE TPDS 2024,
 * section III-A-9 and algorithm 5. 8-connectivity. One thread for each block of 2×2 pixels. Two
 * arrays beside the label buffer have an element for each block: its label (a block number from 1,
 * or 0 for a block of background) and a byte with one bit for each of the eight surrounding blocks,
 * set when the two are connected.
 *
 * 1. initialise: finds the connected neighbours; a block with foreground is labelled with its
 *    number.
 * 2. scan: writes the smallest label of the connected neighbours to the root of the block's label.
 * 3. analyse: links every block to its root. 2 and 3 are repeated until no label changes.
 * 4. label: writes each block's label to its foreground pixels.
 */
#include "blocks.cuh"
#include "cuda/kernel-lib/union-find.cuh"

/* The arrays of blocks. */
struct Blocks {
  uint32_t stride;    /* elements from row to row */
  uint32_t *labels;   /* numbered from 1 */
  uint8_t *connected; /* from 0 */
};

static __device__ __forceinline__ Blocks
blocks_of (const CclLabellingParameters &p)
{
  Blocks blocks;
  blocks.stride = p.label_stride / 2;
  const size_t n_blocks = (size_t)blocks.stride * ((p.height + 1) / 2);
  blocks.labels = (uint32_t *)p.scratch - 1;
  blocks.connected = (uint8_t *)((uint32_t *)p.scratch + n_blocks);
  return blocks;
}

static __device__ __forceinline__ uint32_t
number_of (const Blocks &blocks, const Block &block)
{
  return block.y / 2 * blocks.stride + block.x / 2 + 1;
}

/* Whether a pixel of the 4×4 square around a block (blocks.cuh) must be read and is foreground. */
static __device__ __forceinline__ bool
touches (const CclLabellingParameters &p, const Block &block, uint32_t around, uint32_t pixel)
{
  const uint32_t x = block.x + pixel % 4 - 1, y = block.y + pixel / 4 - 1;
  return (around >> pixel & 1) && x < p.width && y < p.height &&
         is_foreground (p, frame_row (p, y)[x]);
}

extern "C" __global__ void
ccl_be_initialise (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (!block.exists)
    return;
  const Blocks blocks = blocks_of (p);
  const uint32_t number = number_of (blocks, block);
  const uint8_t *upper = frame_row (p, block.y) + block.x, *lower = upper + p.frame_stride;

  uint32_t around = 0;
  if (is_foreground (p, upper[0]))
    around |= 0x777;
  if (block.has_right && is_foreground (p, upper[1]))
    around |= 0x777 << 1;
  if (block.has_below && is_foreground (p, lower[0]))
    around |= 0x777 << 4;
  if (block.has_right && block.has_below && is_foreground (p, lower[1]))
    around |= 0x777 << 5;

  uint32_t connected = 0;
  connected |= touches (p, block, around, 0) << 0;
  connected |= (touches (p, block, around, 1) || touches (p, block, around, 2)) << 1;
  connected |= touches (p, block, around, 3) << 2;
  connected |= (touches (p, block, around, 4) || touches (p, block, around, 8)) << 3;
  connected |= (touches (p, block, around, 7) || touches (p, block, around, 11)) << 4;
  connected |= touches (p, block, around, 12) << 5;
  connected |= (touches (p, block, around, 13) || touches (p, block, around, 14)) << 6;
  connected |= touches (p, block, around, 15) << 7;
  blocks.labels[number] = around ? number : 0;
  blocks.connected[number - 1] = connected;
}

extern "C" __global__ void
ccl_be_scan (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (!block.exists)
    return;
  const Blocks blocks = blocks_of (p);
  const uint32_t number = number_of (blocks, block);
  const uint32_t label = blocks.labels[number], connected = blocks.connected[number - 1];
  const uint32_t above = number - blocks.stride, below = number + blocks.stride;
  uint32_t least = label;
  if (connected & 1 << 0)
    least = min (least, blocks.labels[above - 1]);
  if (connected & 1 << 1)
    least = min (least, blocks.labels[above]);
  if (connected & 1 << 2)
    least = min (least, blocks.labels[above + 1]);
  if (connected & 1 << 3)
    least = min (least, blocks.labels[number - 1]);
  if (connected & 1 << 4)
    least = min (least, blocks.labels[number + 1]);
  if (connected & 1 << 5)
    least = min (least, blocks.labels[below - 1]);
  if (connected & 1 << 6)
    least = min (least, blocks.labels[below]);
  if (connected & 1 << 7)
    least = min (least, blocks.labels[below + 1]);
  if (least < label) {
    if (blocks.labels[label] > least)
      blocks.labels[label] = least;
    *p.changed = 1;
  }
}

extern "C" __global__ void
ccl_be_analyse (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (!block.exists)
    return;
  const Blocks blocks = blocks_of (p);
  const uint32_t number = number_of (blocks, block);
  if (blocks.labels[number])
    compress (blocks.labels, number);
}

extern "C" __global__ void
ccl_be_label (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (!block.exists)
    return;
  const Blocks blocks = blocks_of (p);
  const uint32_t root = blocks.labels[number_of (blocks, block)] - 1;
  const uint32_t label =
      2 * (root / blocks.stride) * p.label_stride + 2 * (root % blocks.stride) + 1;
  label_pixels (p, block, label);
}
