/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The unions of a block by a decision tree for blocks (decision-trees/generate.c): its conditions,
 * which read pixels that may be outside the frame, and its actions. The file that includes this one
 * defines DECISIONS, the name of the tree's file.
 */
#pragma once

#include "blocks.cuh"
#include "cuda/kernel-lib/union-find.cuh"

/* Columns and rows from the block's upper left pixel, o:
 *
 *   a b c d e f
 *   g h i j k l
 *   m n o p
 *   q r s t     */
#define PIXEL_b -1, -2
#define PIXEL_c 0, -2
#define PIXEL_d 1, -2
#define PIXEL_e 2, -2
#define PIXEL_g -2, -1
#define PIXEL_h -1, -1
#define PIXEL_i 0, -1
#define PIXEL_j 1, -1
#define PIXEL_k 2, -1
#define PIXEL_m -2, 0
#define PIXEL_n -1, 0
#define PIXEL_o 0, 0
#define PIXEL_p 1, 0
#define PIXEL_r -1, 1
#define PIXEL_s 0, 1

/* The distance in the label buffer to the blocks before this one. */
#define DISTANCE_P (2 * p.label_stride + 2)
#define DISTANCE_Q (2 * p.label_stride)
#define DISTANCE_R (2 * p.label_stride - 2)
#define DISTANCE_S 2

#define IS(pixel) is_foreground_at (p, block, PIXEL_##pixel)
#define UNITE(neighbour) unite (p.labels, block.label, block.label - DISTANCE_##neighbour)

static __device__ __forceinline__ bool
is_foreground_at (const CclLabellingParameters &p, const Block &block, int dx, int dy)
{
  /* Coordinates left of or above the frame wrap around to large numbers. */
  const uint32_t x = block.x + dx, y = block.y + dy;
  return x < p.width && y < p.height && is_foreground (p, frame_row (p, y)[x]);
}

/* Unites a block with the connected blocks that precede it. */
static __device__ __forceinline__ void
merge (const CclLabellingParameters &p, const Block &block)
{
#include DECISIONS
}
