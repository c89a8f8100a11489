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
#define DECISIONS "bbdt-tree.inc"
#include "block-tree.cuh"

BLOCK_KERNEL (ccl_c_bbdt_initialise, make_root)

BLOCK_KERNEL (ccl_c_bbdt_merge, merge)

BLOCK_KERNEL (ccl_c_bbdt_compress, compress_block)

BLOCK_KERNEL (ccl_c_bbdt_label, label_block)
