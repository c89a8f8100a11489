/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * C_BBDT, block-based labelling with a decision tree.
 *
 * Allegretti, Bolelli, Cancilla, Pollastri, Canalini, Grana: How does Connected Components Labeling
 * with Decision Trees perform on GPUs?, CAIP 2019; as in the review by Bolelli et al., IEEE TPDS
 * 2024, section III-B-7. 8-connectivity. One thread for each block of 2×2 pixels; the label of a
 * block, the index of its parent, is stored at its upper left pixel.
 *
 * 1. initialise: each block is the root of its own tree.
 * 2. merge: evaluates the decision tree, whose leaf gives the necessary unions.
 * 3. compress.
 * 4. label: writes the block's label to its foreground pixels and 0 to the others.
 */
#include "block-tree.cuh"

/* Unites a block with the connected blocks that precede it. */
static __device__ __forceinline__ void
merge (const CclLabellingParameters &p, const Block &block)
{
#include "bbdt-tree.inc"
}

extern "C" __global__ void
ccl_c_bbdt_initialise (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (block.exists)
    p.labels[block.label] = block.label;
}

extern "C" __global__ void
ccl_c_bbdt_merge (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (block.exists)
    merge (p, block);
}

extern "C" __global__ void
ccl_c_bbdt_compress (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (block.exists)
    compress (p.labels, block.label);
}

extern "C" __global__ void
ccl_c_bbdt_label (const CclLabellingParameters p)
{
  const Block block = own_block (p);
  if (block.exists)
    label_pixels (p, block, p.labels[block.label] + 1);
}
