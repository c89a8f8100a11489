/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks of 2×2 pixels (kernel-lib/blocks.cuh), for algorithms with a thread for each. */
#pragma once

#include "cuda/kernel-lib/blocks.cuh"
#include "cuda/kernel-lib/foreground.cuh"
#include "cuda/kernel-lib/geometry.cuh"
#include "cuda/kernel-lib/union-find.cuh"

/* The block of a thread. */
struct Block {
  uint32_t x, y;  /* its upper left pixel */
  uint32_t label; /* that pixel's index in the label buffer, where the block's label lies */
  bool exists;    /* is inside the frame */
  bool has_right, has_below; /* the block has pixels in that direction */
};

static __device__ __forceinline__ Block
own_block (const CclLabellingParameters &p)
{
  Block block;
  block.x = 2 * thread_column ();
  block.y = 2 * thread_row ();
  block.label = block.y * p.label_stride + block.x;
  block.exists = block.x < p.width && block.y < p.height;
  block.has_right = block.x + 1 < p.width;
  block.has_below = block.y + 1 < p.height;
  return block;
}

/* Reads a block of the frame and the pixels around it that matter, and returns the information
 * byte. */
static __device__ __forceinline__ uint32_t
read_block (const CclLabellingParameters &p, const Block &block)
{
  const uint8_t *pixel = frame_row (p, block.y) + block.x;
  uint32_t pixels = is_foreground (p, pixel[0]);
  if (block.has_right)
    pixels |= is_foreground (p, pixel[1]) << 1;
  if (block.has_below) {
    pixels |= is_foreground (p, pixel[p.frame_stride]) << 2;
    if (block.has_right)
      pixels |= is_foreground (p, pixel[p.frame_stride + 1]) << 3;
  }

  /* The 3×3 square around each foreground pixel; the last pixel touches none of P, Q, R, S. */
  uint32_t around = 0;
  if (pixels & 1)
    around |= 0x777;
  if (pixels & 2)
    around |= 0x777 << 1;
  if (pixels & 4)
    around |= 0x777 << 4;
  if (block.x == 0)
    around &= 0xeeee;
  if (block.x + 2 >= p.width)
    around &= 0x7777;
  if (!block.has_right)
    around &= 0x3333;
  if (block.y == 0)
    around &= 0xfff0;
  if (!block.has_below)
    around &= 0x00ff;

  const uint8_t *above = pixel - p.frame_stride;
  uint32_t information = pixels;
  if ((around & 0x001) && is_foreground (p, above[-1]))
    information |= BLOCK_P;
  if (((around & 0x002) && is_foreground (p, above[0])) ||
      ((around & 0x004) && is_foreground (p, above[1])))
    information |= BLOCK_Q;
  if ((around & 0x008) && is_foreground (p, above[2]))
    information |= BLOCK_R;
  if (((around & 0x010) && is_foreground (p, pixel[-1])) ||
      ((around & 0x100) && is_foreground (p, pixel[(ptrdiff_t)p.frame_stride - 1])))
    information |= BLOCK_S;
  return information;
}

/* Writes the label to the block's foreground pixels and 0 to the others; reads the frame again. */
static __device__ __forceinline__ void
label_pixels (const CclLabellingParameters &p, const Block &block, uint32_t label)
{
  for (uint32_t y = block.y; y < min (block.y + 2, p.height); y++) {
    for (uint32_t x = block.x; x < min (block.x + 2, p.width); x++)
      p.labels[y * p.label_stride + x] = is_foreground (p, frame_row (p, y)[x]) ? label : 0;
  }
}

/* A kernel whose threads take step (p, block), one for each block of the frame. */
#define BLOCK_KERNEL(name, step)                                                                   \
  extern "C" __global__ void name (const CclLabellingParameters p)                                 \
  {                                                                                                \
    const Block block = own_block (p);                                                             \
    if (block.exists)                                                                              \
      step (p, block);                                                                             \
  }

/* Steps of algorithms that keep the index of a block's parent as its label. */

/* Makes a block a tree of its own. */
static __device__ __forceinline__ void
make_root (const CclLabellingParameters &p, const Block &block)
{
  p.labels[block.label] = block.label;
}

/* Links a block to its root. */
static __device__ __forceinline__ void
compress_block (const CclLabellingParameters &p, const Block &block)
{
  compress (p.labels, block.label);
}

/* The same, one ancestor after the other (compress_inline()). */
static __device__ __forceinline__ void
compress_block_inline (const CclLabellingParameters &p, const Block &block)
{
  compress_inline (p.labels, block.label);
}

/* Writes the raw label of a block's root to its foreground pixels. */
static __device__ __forceinline__ void
label_block (const CclLabellingParameters &p, const Block &block)
{
  label_pixels (p, block, p.labels[block.label] + 1);
}
