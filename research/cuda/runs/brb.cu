/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BRB, Block-Run-Based labelling in shared memory.
 *
 * Chen, Zhao, Tao, Sang: Block-run-based connected component labelling algorithm for
 * GPGPU using shared memory, Electronics Letters 47(24), 2011; as in the review by Bolelli et
 * al., IEEE TPDS 2024, section III-A-6. 8-connectivity. A block row is two rows of pixels; its
 * lower row is also the upper row of the next block row. Two neighbouring columns of a block row
 * that both have foreground are connected, so the runs are those of the union of its two rows. A
 * block is two columns of a block row, a node of a tree; its link is the column of its parent.
 *
 * One thread block labels the frame, a block row after the other, one thread for each block. The
 * links of the block row are in shared memory, which limits the width of frames to MOST_BLOCKS
 * blocks. Links leave it for the label buffer, at the upper left pixels of the blocks, only when
 * they are final:
 *
 * 1. scan, from the first block row to the last. The parent of every block of a run is the run's
 *    first block. Two steps are repeated until no link changes: the roots of the previous block
 *    row are linked to roots of this one that share a foreground pixel with them; roots of this
 *    block row that are connected through the previous one are linked to each other.
 * 2. label, from the last block row to the first. A root that is linked to the next block row has
 *    the label of the root there, another one a label of its own. Blocks have their root's label,
 *    and the foreground pixels of their upper row theirs.
 *
 * Difference from the paper: a thread has up to two blocks, so that wider frames fit.
 */
#include "cuda/kernel-lib/pixels.cuh"
#include "cuda/kernel-lib/warp.cuh"

#define THREADS 1024u
#define BLOCKS_OF_THREAD 2u
#define MOST_BLOCKS (THREADS * BLOCKS_OF_THREAD)

#define NO_BLOCK UINT32_MAX

/* In the label buffer: the column of a block's parent plus one, in the same block row or in the
 * next; 0 for a block without foreground. */
#define IN_NEXT_ROW 0x80000000u

static __device__ __forceinline__ uint32_t
blocks_in_row (const CclLabellingParameters &p)
{
  return (p.width + 1) / 2;
}

/* Whether the thread has blocks, or is in a warp with others that have. */
static __device__ __forceinline__ bool
is_needed (const CclLabellingParameters &p)
{
  return threadIdx.x / 32 * 32 < blocks_in_row (p);
}

/* The foreground among a block's two pixels in a row, which may be outside the frame. */
static __device__ __forceinline__ uint32_t
read_pixels (const CclLabellingParameters &p, uint32_t block, uint32_t y)
{
  const uint32_t x = 2 * block;
  if (x >= p.width || y >= p.height)
    return 0;
  const uint8_t *values = frame_row (p, y) + x;
  return is_foreground (p, values[0]) | (x + 1 < p.width && is_foreground (p, values[1])) << 1;
}

/* The same for the two pixels of the block to the left. */
static __device__ __forceinline__ uint32_t
read_pixels_before (const CclLabellingParameters &p, uint32_t block, uint32_t y)
{
  return block > 0 ? read_pixels (p, block - 1, y) : 0;
}

static __device__ __forceinline__ uint32_t *
link_of_block (const CclLabellingParameters &p, uint32_t block, uint32_t y)
{
  return &p.labels[y * p.label_stride + 2 * block];
}

/* The trees of a block row. */
struct Trees {
  uint32_t parent[MOST_BLOCKS];
  uint32_t next[MOST_BLOCKS];        /* of the roots of the previous block row */
  uint32_t starts[MOST_BLOCKS / 32]; /* a bit for each block that does not continue a run */
};

static __device__ __forceinline__ uint32_t
root_of_block (const Trees &trees, uint32_t block)
{
  const volatile uint32_t *const parent = trees.parent;
  while (parent[block] != block)
    block = parent[block];
  return block;
}

/* The first block of a block's run. */
static __device__ __forceinline__ uint32_t
start_of_run (const Trees &trees, uint32_t block)
{
  uint32_t word = block / 32, starts = trees.starts[word] & (FULL_WARP >> (31 - block % 32));
  while (!starts)
    starts = trees.starts[--word];
  return word * 32 + 31 - __clz (starts);
}

/* A thread's blocks. */
struct Blocks {
  uint32_t pixels[BLOCKS_OF_THREAD];        /* of the lower row */
  uint32_t pixels_before[BLOCKS_OF_THREAD]; /* for the first block of a warp */
  uint32_t root[BLOCKS_OF_THREAD];          /* in the block row before, or NO_BLOCK */
};

static __device__ __forceinline__ uint32_t
own_block (uint32_t i)
{
  return i * THREADS + threadIdx.x;
}

/* Makes a tree of each run of the block row, and reads the pixels of its lower row. The bits of
 * has_upper are set for blocks with foreground in the upper row. */
static __device__ __forceinline__ void
extract_runs (
    const CclLabellingParameters &p, Trees &trees, Blocks &own, uint32_t y, uint32_t &has_upper)
{
  const uint32_t lane = lane_of_warp ();
  uint32_t has_any = 0;
  has_upper = 0;
#pragma unroll
  for (uint32_t i = 0; i < BLOCKS_OF_THREAD; i++) {
    const uint32_t block = own_block (i);
    const uint32_t upper = own.pixels[i], upper_before = own.pixels_before[i];
    own.pixels[i] = read_pixels (p, block, y + 1);
    own.pixels_before[i] = lane == 0 ? read_pixels_before (p, block, y + 1) : 0;
    const uint32_t columns = upper | own.pixels[i];
    uint32_t before = __shfl_up_sync (FULL_WARP, columns, 1);
    if (lane == 0)
      before = upper_before | own.pixels_before[i];
    const uint32_t starts = __ballot_sync (FULL_WARP, !(columns & 1 && before & 2));
    if (lane == 0)
      trees.starts[block / 32] = starts;
    has_any |= (columns != 0) << i;
    has_upper |= (upper != 0) << i;
  }
  __syncthreads ();
#pragma unroll
  for (uint32_t i = 0; i < BLOCKS_OF_THREAD; i++) {
    const uint32_t block = own_block (i);
    trees.parent[block] = has_any >> i & 1 ? start_of_run (trees, block) : NO_BLOCK;
    trees.next[block] = NO_BLOCK;
  }
}

/* One iteration; returns whether any link has changed. */
static __device__ __forceinline__ bool
merge_with_previous_row (Trees &trees, const Blocks &own, uint32_t has_upper)
{
  __syncthreads ();
#pragma unroll
  for (uint32_t i = 0; i < BLOCKS_OF_THREAD; i++) {
    if (has_upper >> i & 1)
      atomicMin (&trees.next[own.root[i]], root_of_block (trees, own_block (i)));
  }
  __syncthreads ();
  bool changed = false;
#pragma unroll
  for (uint32_t i = 0; i < BLOCKS_OF_THREAD; i++) {
    if (!(has_upper >> i & 1))
      continue;
    const uint32_t a = root_of_block (trees, own_block (i));
    const uint32_t b = root_of_block (trees, trees.next[own.root[i]]);
    if (a != b) {
      atomicMin (&trees.parent[max (a, b)], min (a, b));
      changed = true;
    }
  }
  return __syncthreads_or (changed);
}

/* Writes the final links of the previous block row, and sets the roots of this one. */
static __device__ __forceinline__ void
end_row (const CclLabellingParameters &p, const Trees &trees, Blocks &own, uint32_t y)
{
#pragma unroll
  for (uint32_t i = 0; i < BLOCKS_OF_THREAD; i++) {
    const uint32_t block = own_block (i), root = own.root[i];
    if (y > 0 && block < blocks_in_row (p)) {
      uint32_t link = root + 1; /* 0 for NO_BLOCK */
      if (root == block && trees.next[root] != NO_BLOCK)
        link = (root_of_block (trees, trees.next[root]) + 1) | IN_NEXT_ROW;
      *link_of_block (p, block, y - 1) = link;
    }
    own.root[i] = trees.parent[block] == NO_BLOCK ? NO_BLOCK : root_of_block (trees, block);
  }
}

/* One thread block. */
extern "C" __global__ void __launch_bounds__ (1024) ccl_brb_scan (const CclLabellingParameters p)
{
  __shared__ Trees trees;
  if (!is_needed (p))
    return;
  Blocks own;
#pragma unroll
  for (uint32_t i = 0; i < BLOCKS_OF_THREAD; i++) {
    own.pixels[i] = read_pixels (p, own_block (i), 0);
    own.pixels_before[i] = read_pixels_before (p, own_block (i), 0);
    own.root[i] = NO_BLOCK;
  }
  for (uint32_t y = 0; y < p.height; y++) {
    uint32_t has_upper;
    extract_runs (p, trees, own, y, has_upper);
    if (y == 0)
      has_upper = 0;
    while (merge_with_previous_row (trees, own, has_upper)) {
    }
    end_row (p, trees, own, y);
  }
#pragma unroll
  for (uint32_t i = 0; i < BLOCKS_OF_THREAD; i++) {
    if (own_block (i) < blocks_in_row (p))
      *link_of_block (p, own_block (i), p.height - 1) = own.root[i] + 1;
  }
}

/* One thread block. */
extern "C" __global__ void __launch_bounds__ (1024) ccl_brb_label (const CclLabellingParameters p)
{
  /* The labels of roots, of a block row and of the next in turns. */
  __shared__ uint32_t labels_of_roots[2][MOST_BLOCKS];
  if (!is_needed (p))
    return;
  for (uint32_t y = p.height; y-- > 0;) {
    uint32_t *const labels = labels_of_roots[y % 2];
    const uint32_t *const labels_in_next_row = labels_of_roots[(y + 1) % 2];
    uint32_t link[BLOCKS_OF_THREAD], pixels[BLOCKS_OF_THREAD];
#pragma unroll
    for (uint32_t i = 0; i < BLOCKS_OF_THREAD; i++) {
      const uint32_t block = own_block (i);
      link[i] = block < blocks_in_row (p) ? *link_of_block (p, block, y) : 0;
      pixels[i] = read_pixels (p, block, y);
      if (link[i] & IN_NEXT_ROW)
        labels[block] = labels_in_next_row[(link[i] & ~IN_NEXT_ROW) - 1];
      else if (link[i] == block + 1)
        labels[block] = pixel_at (p, 2 * block, y).number;
    }
    __syncthreads ();
#pragma unroll
    for (uint32_t i = 0; i < BLOCKS_OF_THREAD; i++) {
      const uint32_t block = own_block (i);
      if (block >= blocks_in_row (p))
        continue;
      const uint32_t root = link[i] & IN_NEXT_ROW ? block : link[i] - 1;
      const uint32_t label = pixels[i] ? labels[root] : 0;
      uint32_t *const row = link_of_block (p, block, y);
      row[0] = pixels[i] & 1 ? label : 0;
      row[1] = pixels[i] & 2 ? label : 0;
    }
  }
}
