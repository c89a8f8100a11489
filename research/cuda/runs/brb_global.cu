/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BRB in global memory: the blocks and runs of BRB (brb.cu), without shared memory. The label
 * buffer replaces it, and all block rows are updated in parallel, so frames may have any size.
 * 8-connectivity. One thread for each block; the label of a block is stored at its upper left
 * pixel:
 *
 * 1. extract_runs: the label of every block of a run is the run's first block.
 * 2. update: runs of two block rows that share a foreground pixel are connected; the greater of
 *    their roots is linked to the smaller one.
 * 3. compress: links blocks to their roots. 2 and 3 are repeated until no label changes.
 * 4. label: writes the label of a block to the foreground pixels of its upper row.
 */
#include "cuda/kernel-lib/pixels.cuh"
#include "cuda/kernel-lib/warp.cuh"

/* A block of two columns in the block row that starts with its pixel's row. */
static __device__ __forceinline__ Pixel
own_block_of_columns (const CclLabellingParameters &p)
{
  return pixel_at (p, 2 * thread_column (), thread_row ());
}

/* Whether a column, which may be outside the frame, has foreground in a block row. */
static __device__ __forceinline__ bool
column_has_foreground (const CclLabellingParameters &p, uint32_t x, uint32_t y)
{
  return x < p.width && y < p.height &&
         (is_foreground (p, frame_row (p, y)[x]) ||
             (y + 1 < p.height && is_foreground (p, frame_row (p, y + 1)[x])));
}

/* Thread blocks are rows of whole warps. */
extern "C" __global__ void
ccl_brb_global_extract_runs (const CclLabellingParameters p)
{
  const Pixel block = own_block_of_columns (p);
  const uint32_t lane = lane_of_warp ();
  const bool left = column_has_foreground (p, block.x, block.y);
  const bool right = column_has_foreground (p, block.x + 1, block.y);
  const bool continues = left && block.x > 0 && column_has_foreground (p, block.x - 1, block.y);
  const uint32_t starts = __ballot_sync (FULL_WARP, lane == 0 || !continues);
  if (!block.exists)
    return;
  uint32_t label = 0;
  if (left || right) {
    /* A run in the warp's first block may begin in the preceding block. */
    const uint32_t start = 31 - __clz (starts & (FULL_WARP >> (31 - lane)));
    label = block.number - 2 * (lane - start);
    if (lane == 0 && continues)
      label -= 2;
  }
  parents_of_pixels (p)[block.number] = label;
}

extern "C" __global__ void
ccl_brb_global_update (const CclLabellingParameters p)
{
  const Pixel block = own_block_of_columns (p);
  uint32_t *parents = parents_of_pixels (p);
  if (!block.exists || block.y == 0)
    return;
  const uint8_t *values = frame_row (p, block.y) + block.x;
  if (!is_foreground (p, values[0]) && !(block.x + 1 < p.width && is_foreground (p, values[1])))
    return;
  const uint32_t a = find_root (parents, block.number);
  const uint32_t b = find_root (parents, block.number - p.label_stride);
  if (a != b) {
    atomicMin (&parents[max (a, b)], min (a, b));
    *p.changed = 1;
  }
}

extern "C" __global__ void
ccl_brb_global_compress (const CclLabellingParameters p)
{
  const Pixel block = own_block_of_columns (p);
  uint32_t *parents = parents_of_pixels (p);
  if (block.exists && parents[block.number])
    compress (parents, block.number);
}

extern "C" __global__ void
ccl_brb_global_label (const CclLabellingParameters p)
{
  const Pixel block = own_block_of_columns (p);
  uint32_t *labels = parents_of_pixels (p);
  if (!block.exists)
    return;
  const uint8_t *values = frame_row (p, block.y) + block.x;
  const uint32_t label = labels[block.number];
  labels[block.number] = is_foreground (p, values[0]) ? label : 0;
  if (block.x + 1 < p.width)
    labels[block.number + 1] = is_foreground (p, values[1]) ? label : 0;
}
