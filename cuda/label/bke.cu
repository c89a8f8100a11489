/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BKE, Block-based Komura Equivalence.
 *
 * Allegretti, Bolelli, Grana: Optimized Block-Based Algorithms to Label Connected Components on
 * GPUs, IEEE TPDS 31(2), 2020: section 5.2 and table 1 (the information byte). 8-connectivity.
 * Blocks of 2×2 pixels; P, Q, R and S are the blocks to the upper left, above, to the upper right
 * and to the left of a block X.
 *
 * 1. initialise: a block is linked to a block that it is connected to; the connected blocks that
 *    are left for step 3 go into the information byte. A thread for four blocks side by side.
 * 2. compress: the trees are flattened. A thread for each block.
 * 3. reduce: union with the connected blocks that are left. A thread for each block.
 * 4. label: the label of a block's root goes to its foreground pixels, 0 to the others. A thread
 *    for two blocks side by side.
 *
 * Differences from the paper:
 *
 * - The parents of blocks lie side by side in scratch memory, and so do the information bytes. In
 *   the paper they lie in the label buffer, which is four times as large. As labels do not
 *   overwrite parents here, step 4 finds the roots itself, in place of a second step 2. A block
 *   without foreground has no parent.
 * - The four blocks of a thread that follow each other from S to X have one parent: the first block
 *   in the row above that one of them is connected to.
 * - Connections that follow from others are left out. Q and R, say, are connected to each other if
 *   the two pixels that touch are foreground; a union with both would be one too many.
 */
#include "core/base/divide-up.h"
#include "cuda/kernel-lib/blocks.cuh"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "cuda/kernel-lib/foreground.cuh"
#include "cuda/kernel-lib/geometry.cuh"
#include "cuda/kernel-lib/union-find.cuh"
#include "cuda/kernel-lib/warp.cuh"

/* The blocks of a thread in step 1, and its pixels in a row. */
#define BLOCKS 4u
#define PIXELS (2u * BLOCKS)

/* In words with a bit for each pixel of a row, the left pixels of the blocks. */
#define LEFT 0x55u

static __device__ __forceinline__ uint32_t
block_stride (const CclLabellingParameters &p)
{
  return p.label_stride / 2;
}

static __device__ __forceinline__ uint32_t *
parents_of_blocks (const CclLabellingParameters &p)
{
  return (uint32_t *)p.scratch;
}

static __device__ __forceinline__ uint8_t *
information_of_blocks (const CclLabellingParameters &p)
{
  return (uint8_t *)(parents_of_blocks (p) +
                     (size_t)block_stride (p) * CUDACCL_DIVIDE_UP (p.height, 2));
}

/* The foreground among a thread's pixels of a row, which may be outside the frame. */
template <typename Luma>
static __device__ __forceinline__ uint32_t
read_pixels (const CclLabellingParameters &p, uint32_t x, uint32_t y)
{
  if (x >= p.width || y >= p.height)
    return 0;
  const Luma *pixels = pixels_of_row<Luma> (p, y) + x;
  if (p.width - x >= PIXELS && (uintptr_t)pixels % (PIXELS * (uint32_t)sizeof (Luma)) == 0)
    return foreground_of_eight (p, pixels);
  uint32_t bits = 0;
  for (uint32_t i = 0; i < min (p.width - x, PIXELS); i++)
    bits |= is_foreground_at (p, pixels + i) << i;
  return bits;
}

/* A pixel, which may be outside the frame. Columns left of the frame are large numbers. */
template <typename Luma>
static __device__ __forceinline__ uint32_t
read_pixel (const CclLabellingParameters &p, uint32_t x, uint32_t y)
{
  return x < p.width && y < p.height && is_foreground_at (p, pixels_of_row<Luma> (p, y) + x);
}

/* The pixels of a thread's blocks and those around them. */
struct Rows {
  uint32_t above, upper, lower;                      /* bit 0 is the leftmost pixel */
  uint32_t before_above, before_upper, before_lower; /* the pixel left of them, 0 or 1 */
  uint32_t after_above;                              /* the pixel right of those above, 0 or 1 */
};

/* Neighbouring threads of a warp have neighbouring blocks. */
template <typename Luma>
static __device__ __forceinline__ Rows
read_rows (const CclLabellingParameters &p, uint32_t x, uint32_t y)
{
  const uint32_t lane = lane_of_warp ();
  Rows rows;
  rows.above = read_pixels<Luma> (p, x, y - 1);
  rows.upper = read_pixels<Luma> (p, x, y);
  rows.lower = read_pixels<Luma> (p, x, y + 1);
  uint32_t outside = 0;
  if (lane == 0)
    outside = read_pixel<Luma> (p, x - 1, y - 1) << 7 | read_pixel<Luma> (p, x - 1, y) << 15 |
              read_pixel<Luma> (p, x - 1, y + 1) << 23;
  if (lane == 31)
    outside = read_pixel<Luma> (p, x + PIXELS, y - 1);
  const uint32_t all = rows.above | rows.upper << 8 | rows.lower << 16;
  uint32_t before = __shfl_up_sync (FULL_WARP, all, 1);
  uint32_t after = __shfl_down_sync (FULL_WARP, all, 1);
  if (lane == 0)
    before = outside;
  if (lane == 31)
    after = outside;
  rows.before_above = before >> 7 & 1;
  rows.before_upper = before >> 15 & 1;
  rows.before_lower = before >> 23 & 1;
  rows.after_above = after & 1;
  return rows;
}

/* Which of a thread's blocks have to be united with P, Q, R, S, and which follow S in the same
 * thread: bits at the blocks' left pixels. */
struct Connections {
  uint32_t p, q, r, s, inside;
};

static __device__ __forceinline__ Connections
find_connections (const Rows &rows)
{
  /* The pixels around a block as in blocks.cuh: 0 to 4 and 8. */
  const uint32_t pixel_0 = rows.above << 1 | rows.before_above, pixel_1 = rows.above,
                 pixel_2 = rows.above >> 1, pixel_3 = rows.above >> 2 | rows.after_above << 6,
                 pixel_4 = rows.upper << 1 | rows.before_upper,
                 pixel_8 = rows.lower << 1 | rows.before_lower;
  const uint32_t a = rows.upper, b = rows.upper >> 1, c = rows.lower;
  const uint32_t touches_p = a & pixel_0, touches_q = (a | b) & (pixel_1 | pixel_2),
                 touches_r = b & pixel_3, touches_s = (a | c) & (pixel_4 | pixel_8);
  Connections to;
  to.inside = touches_s & LEFT & ~1u;
  to.q = touches_q & ~(to.inside & pixel_4 & pixel_1) & LEFT;
  to.p = touches_p & ~(to.inside & pixel_4) & ~(touches_q & pixel_1) & LEFT;
  to.r = touches_r & ~(touches_q & pixel_2) & LEFT;
  to.s = touches_s & ~(touches_q & pixel_1 & pixel_4) & ~(touches_p & pixel_4) & 1;
  return to;
}

/* Links the blocks of a run, which follow each other from S to X, and returns their parent. The
 * connection that becomes the link is removed. */
static __device__ __forceinline__ uint32_t
link_run (Connections &to, uint32_t run, uint32_t first_block, uint32_t stride)
{
  const uint32_t ups = (to.p | to.q | to.r) & run, first = ups & -ups;
  if (ups) {
    const uint32_t above = first_block + __ffs (first) / 2 - stride;
    if (to.q & first) {
      to.q ^= first;
      return above;
    }
    if (to.p & first) {
      to.p ^= first;
      return above - 1;
    }
    to.r ^= first;
    return above + 1;
  }
  if (to.s & run) {
    to.s = 0;
    return first_block - 1;
  }
  return first_block + __ffs (run) / 2;
}

/* A bit at the left pixel of each block becomes bit 0 of a byte for each block. */
static __device__ __forceinline__ uint32_t
spread (uint32_t bits)
{
  return (bits & LEFT) * 0x00041041u & 0x01010101u;
}

/* The information bytes of a thread's blocks. */
static __device__ __forceinline__ uint32_t
pack_information (const Rows &rows, const Connections &to)
{
  return spread (rows.upper) | spread (rows.upper >> 1) << 1 | spread (rows.lower) << 2 |
         spread (rows.lower >> 1) << 3 | spread (to.p) << 4 | spread (to.q) << 5 |
         spread (to.r) << 6 | spread (to.s) << 7;
}

/* Rows of thread blocks are whole warps. */
template <typename Luma>
static __device__ __forceinline__ void
initialise (const CclLabellingParameters p)
{
  wait_for_previous_kernel ();
  const uint32_t x = PIXELS * thread_column (), y = 2 * thread_row ();
  const Rows rows = read_rows<Luma> (p, x, y);
  if (x >= p.width || y >= p.height)
    return;
  const uint32_t stride = block_stride (p), first_block = y / 2 * stride + x / 2;
  uint32_t *const parents = parents_of_blocks (p) + first_block;
  uint8_t *const information = information_of_blocks (p) + first_block;
  const bool is_aligned = stride % BLOCKS == 0;
  const uint32_t n_blocks = min (stride - x / 2, BLOCKS);

  uint32_t bytes = 0;
  if (rows.upper | rows.lower) {
    Connections to = find_connections (rows);
    const uint32_t both = rows.upper | rows.lower;
    uint32_t parent[BLOCKS] = {};
    for (uint32_t starts = (both | both >> 1) & LEFT & ~to.inside; starts; starts &= starts - 1) {
      /* The bits from a start up to the next block that does not follow S. */
      const uint32_t start = starts & -starts, follows = to.inside | ~LEFT;
      const uint32_t run = (start | (follows & ~(follows + 2 * start))) & LEFT;
      const uint32_t parent_of_run = link_run (to, run, first_block, stride);
#pragma unroll
      for (uint32_t i = 0; i < BLOCKS; i++) {
        if (run >> 2 * i & 1)
          parent[i] = parent_of_run;
      }
    }
    bytes = pack_information (rows, to);
    if (is_aligned)
      *(uint4 *)parents = make_uint4 (parent[0], parent[1], parent[2], parent[3]);
    else {
#pragma unroll
      for (uint32_t i = 0; i < BLOCKS; i++) {
        if (i < n_blocks)
          parents[i] = parent[i];
      }
    }
  }
  if (is_aligned)
    *(uint32_t *)information = bytes;
  else {
    for (uint32_t i = 0; i < n_blocks; i++)
      information[i] = bytes >> 8 * i;
  }
}

extern "C" __global__ void
ccl_bke_initialise (const CclLabellingParameters p)
{
  initialise<uint8_t> (p);
}

extern "C" __global__ void
ccl_bke_initialise_words (const CclLabellingParameters p)
{
  initialise<uint16_t> (p);
}

/* The index of the thread's block; false if it has none or one without foreground. */
static __device__ __forceinline__ bool
own_block_index (const CclLabellingParameters &p, uint32_t &index, uint32_t &information)
{
  const uint32_t x = thread_column (), y = thread_row ();
  if (2 * x >= p.width || 2 * y >= p.height)
    return false;
  index = y * block_stride (p) + x;
  information = information_of_blocks (p)[index];
  return information & BLOCK_PIXELS;
}

extern "C" __global__ void
ccl_bke_compress (const CclLabellingParameters p)
{
  wait_for_previous_kernel ();
  uint32_t index, information;
  if (own_block_index (p, index, information))
    compress_inline (parents_of_blocks (p), index);
}

/* The variant without inline compression, for research/. */
extern "C" __global__ void
ccl_bke_compress_at_end (const CclLabellingParameters p)
{
  wait_for_previous_kernel ();
  uint32_t index, information;
  if (own_block_index (p, index, information))
    compress (parents_of_blocks (p), index);
}

extern "C" __global__ void
ccl_bke_reduce (const CclLabellingParameters p)
{
  wait_for_previous_kernel ();
  uint32_t index, information;
  if (!own_block_index (p, index, information))
    return;
  uint32_t *const parents = parents_of_blocks (p);
  const uint32_t above = index - block_stride (p);
  if (information & BLOCK_P)
    unite (parents, index, above - 1);
  if (information & BLOCK_Q)
    unite (parents, index, above);
  if (information & BLOCK_R)
    unite (parents, index, above + 1);
  if (information & BLOCK_S)
    unite (parents, index, index - 1);
}

/* The raw label of a block: the index of its root's upper left pixel, plus one. */
static __device__ __forceinline__ uint32_t
label_of_block (const CclLabellingParameters &p, uint32_t block)
{
  const uint32_t root = find_root (parents_of_blocks (p), block);
  return root / block_stride (p) * p.label_stride + 2 * root + 1;
}

/* Writes two pixels of each of two blocks in a row. */
static __device__ __forceinline__ void
write_pixels (const CclLabellingParameters &p, uint32_t x, uint32_t y, uint32_t left,
    uint32_t right, uint32_t bits)
{
  uint32_t *const labels = &p.labels[y * p.label_stride + x];
  const uint4 quad = make_uint4 (
      bits & 1 ? left : 0, bits & 2 ? left : 0, bits & 0x100 ? right : 0, bits & 0x200 ? right : 0);
  if (p.label_stride % 4 == 0)
    *(uint4 *)labels = quad;
  else {
    *(uint2 *)labels = make_uint2 (quad.x, quad.y);
    if (x + 2 < p.label_stride)
      *(uint2 *)(labels + 2) = make_uint2 (quad.z, quad.w);
  }
}

extern "C" __global__ void
ccl_bke_label (const CclLabellingParameters p)
{
  wait_for_previous_kernel ();
  const uint32_t x = 4 * thread_column (), y = 2 * thread_row ();
  if (x >= p.width || y >= p.height)
    return;
  const uint32_t block = y / 2 * block_stride (p) + x / 2;
  const uint8_t *const bytes = information_of_blocks (p) + block;
  const uint32_t information = p.label_stride % 4 == 0
                                   ? *(const uint16_t *)bytes
                                   : bytes[0] | (x + 2 < p.label_stride ? bytes[1] << 8 : 0);
  uint32_t left = 0, right = 0;
  if (information & BLOCK_PIXELS)
    left = label_of_block (p, block);
  if (information >> 8 & BLOCK_PIXELS)
    right = label_of_block (p, block + 1);
  write_pixels (p, x, y, left, right, information);
  if (y + 1 < p.height)
    write_pixels (p, x, y + 1, left, right, information >> 2);
}
