/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BKE, Block-based Komura Equivalence.
 *
 * Allegretti, Bolelli, Grana: Optimized Block-Based Algorithms to Label Connected Components on
 * GPUs, IEEE TPDS 31(2), 2020: section 5.2, figure 8 (where things lie in the label buffer) and
 * table 1 (the information byte). 8-connectivity. One thread for each block of 2×2 pixels:
 *
 * 1. initialise: a block is linked to the first block among P, Q, R, S that it is connected to;
 *    which of the others are left for step 3 goes into the information byte.
 * 2. compress: the trees are flattened.
 * 3. reduce: union with the connected blocks that are left.
 * 4. compress again.
 * 5. label: the block's label goes to its foreground pixels, 0 to the others.
 *
 * Until step 5 the label of a block, here the index of its parent, lies at its upper left pixel
 * and the information byte, here in a word of its own, at its upper right pixel. A frame of odd
 * width has blocks without that pixel: there the lower left one takes the information, and in
 * the last block of a frame that has both sides odd, which is a single pixel, the lower right
 * pixel of its neighbour P. A frame of one row or column and odd size needs a word beside the
 * label buffer.
 *
 * Left open by the paper: in step 5 nothing keeps P from overwriting its lower right pixel with
 * its label before the last block has read its information there. Here P's thread labels the
 * last block, too.
 */
#include "blocks.cuh"
#include "union-find.cuh"

/* The word with the information of a block that has no upper right pixel. */
static __device__ __forceinline__ uint32_t *
odd_information (const CclLabellingParameters &p, const Block &block)
{
  if (block.has_below)
    return &p.labels[block.label + p.label_stride];
  if (block.x == 0 || block.y == 0)
    return (uint32_t *)p.scratch;
  return &p.labels[block.label - p.label_stride - 1];
}

extern "C" __global__ void
ccl_bke_initialise (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (!block.exists)
    return;
  uint32_t information = read_block (p, block);

  /* The first of P, Q, R, S is linked and needs no union later. */
  uint32_t parent = block.label;
  if (information & BLOCK_P) {
    parent -= 2 * p.label_stride + 2;
    information &= ~BLOCK_P;
  } else if (information & BLOCK_Q) {
    parent -= 2 * p.label_stride;
    information &= ~BLOCK_Q;
  } else if (information & BLOCK_R) {
    parent -= 2 * p.label_stride - 2;
    information &= ~BLOCK_R;
  } else if (information & BLOCK_S) {
    parent -= 2;
    information &= ~BLOCK_S;
  }

  if (block.has_right) {
    *(uint2 *)&p.labels[block.label] = make_uint2 (parent, information);
  } else {
    p.labels[block.label] = parent;
    *odd_information (p, block) = information;
  }
}

extern "C" __global__ void
ccl_bke_compress (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (block.exists)
    compress_inline (p.labels, block.label);
}

/* The variant without inline compression, for research/. */
extern "C" __global__ void
ccl_bke_compress_at_end (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (block.exists)
    compress (p.labels, block.label);
}

extern "C" __global__ void
ccl_bke_reduce (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (!block.exists)
    return;
  const uint32_t information =
      block.has_right ? p.labels[block.label + 1] : *odd_information (p, block);
  if (information & BLOCK_Q)
    unite (p.labels, block.label, block.label - 2 * p.label_stride);
  if (information & BLOCK_R)
    unite (p.labels, block.label, block.label - 2 * p.label_stride + 2);
  if (information & BLOCK_S)
    unite (p.labels, block.label, block.label - 2);
}

/* The label of one pixel of a block with that information. */
static __device__ __forceinline__ uint32_t
pixel_label (uint32_t label, uint32_t information, uint32_t pixel)
{
  return information >> pixel & 1 ? label : 0;
}

extern "C" __global__ void
ccl_bke_label (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (!block.exists)
    return;
  uint32_t *upper = &p.labels[block.label];
  uint32_t *lower = upper + p.label_stride;

  if (!block.has_right) {
    if (!block.has_below && block.x > 0 && block.y > 0)
      return; /* a single pixel, left to P */
    const uint32_t label = upper[0] + 1, information = *odd_information (p, block);
    upper[0] = pixel_label (label, information, 0);
    if (block.has_below)
      lower[0] = pixel_label (label, information, 2);
    return;
  }

  const uint2 both = *(const uint2 *)upper;
  const uint32_t label = both.x + 1, information = both.y;
  if (block.x + 3 == p.width && block.y + 3 == p.height)
    lower[p.label_stride + 2] = pixel_label (lower[p.label_stride + 2] + 1, lower[1], 0);
  *(uint2 *)upper =
      make_uint2 (pixel_label (label, information, 0), pixel_label (label, information, 1));
  if (block.has_below)
    *(uint2 *)lower =
        make_uint2 (pixel_label (label, information, 2), pixel_label (label, information, 3));
}
