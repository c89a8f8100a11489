/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * C_SAUF, scan array-based union-find.
 *
 * Allegretti, Bolelli, Cancilla, Pollastri, Canalini, Grana: How does Connected Components Labeling
 * with Decision Trees perform on GPUs?, CAIP 2019; as in the review by Bolelli et al., IEEE TPDS
 * 2024, section III-B-7. 8-connectivity. One thread for each pixel:
 *
 * 1. initialise: each foreground pixel is the root of its own tree.
 * 2. merge: evaluates the decision tree, whose leaf gives the necessary unions.
 * 3. compress.
 */
#include "research/cuda/pixels.cuh"

/* Macros used by the decision tree (decision-trees/generate.c): conditions, by column and row
 * relative to the pixel, and actions, by distance back in the label buffer. After step 1 a pixel is
 * foreground when its label is not 0. */
#define PIXEL_p -1, -1
#define PIXEL_q 0, -1
#define PIXEL_r 1, -1
#define PIXEL_s -1, 0
#define PIXEL_x 0, 0
#define DISTANCE_P (p.label_stride + 1)
#define DISTANCE_Q p.label_stride
#define DISTANCE_R (p.label_stride - 1)
#define DISTANCE_S 1
#define IS(neighbour) has_neighbour (p, parents, pixel, PIXEL_##neighbour)
#define UNITE(neighbour) unite (parents, pixel.number, pixel.number - DISTANCE_##neighbour)

/* Unites a pixel with the connected pixels that precede it. */
static __device__ __forceinline__ void
merge (const CclLabellingParameters &p, const Pixel &pixel)
{
  uint32_t *parents = parents_of_pixels (p);
#include "sauf-tree.inc"
}

PIXEL_KERNEL (ccl_c_sauf_initialise, make_root)

PIXEL_KERNEL (ccl_c_sauf_merge, merge)

PIXEL_KERNEL (ccl_c_sauf_compress, compress_pixel)
