/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches: the kernels of strips.cu on many masks at once. The second dimension of a grid is the
 * mask, which is a frame of its own with its own scratch memory, so that its components are joined,
 * numbered and measured without regard to the others.
 *
 *   count        the components of each mask: their rows follow those of the masks before
 *   write areas  the area of each pixel's component
 */
#include "masks.cuh"

/* Many tiles are labelled one after the other, so it pays that as many as possible are resident. */
#define CUDACCL_STRIPS_ROUND_COMPONENTS 384
#if defined(__CUDA_ARCH__) &&                                                                      \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
#define TILE_BLOCKS 8 /* of each multiprocessor: 2048 threads, of 32 registers */
#else
#define TILE_BLOCKS 4
#endif

#include "cuda/label/strips/write-labels.cuh"
#include "cuda/label/strips/reduce.cuh"
#include "cuda/label/strips/label-tile.cuh"
#include "cuda/label/strips/merge.cuh"
#include "cuda/label/strips/number.cuh"
#include "cuda/label/strips/whole-component.cuh"

/* The parameters of a mask. */
static __device__ __forceinline__ Parameters
parameters_of (const CclBatchParameters &batch, uint32_t mask)
{
  Parameters p = batch.strips;
  const uint64_t bytes = mask * batch.scratch_stride;
  move (p.bits, bytes);
  move (p.parent, bytes);
  move (p.word_base, bytes);
  move (p.edge, bytes);
  move (p.run_component, bytes);
  move (p.component, bytes);
  move (p.component_first, bytes);
  move (p.component_count, bytes);
  move (p.open_count, bytes);
  move (p.open_first, bytes);
  move (p.sums.sum_x, bytes);
  move (p.sums.sum_y, bytes);
  move (p.sums.area, bytes);
  move (p.sums.left, bytes);
  move (p.sums.right, bytes);
  move (p.sums.bottom, bytes);
  move (p.first_bits, bytes);
  move (p.group_count, bytes);
  p.chunk_count += mask * batch.counts_stride;
  p.next_chunk_count += mask * batch.counts_stride;
  p.frame += mask * batch.mask_stride;
  p.n_components += mask;
  if (p.labels)
    p.labels += mask * batch.labels_slice;
  return p;
}

/* The same for a block that writes rows: they follow those of the masks before. All threads of the
 * block take part. */
static __device__ __forceinline__ Parameters
parameters_with_rows (const CclBatchParameters &batch, uint32_t mask)
{
  enum { THREADS = CUDACCL_STRIPS_NUMBER_THREADS };
  Parameters p = parameters_of (batch, mask);
  wait_for_previous_kernel ();
  uint32_t count = 0, before;
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < mask; i += THREADS)
    count += batch.mask_count[i];
  sum_before_thread_of_few<THREADS / 32> (count, &before);
  const uint32_t n = min (before, p.max_components);
  p.rows += n;
  p.max_components -= n;
  return p;
}

template <int ROWS>
static __device__ __forceinline__ void
label_tile_of_batch (const CclBatchParameters &batch)
{
  if (!is_behind_last_mask (batch))
    label_tile<uint8_t, ROWS, true> (parameters_of (batch, mask_of_block ()));
}

template <int ROWS>
static __device__ __forceinline__ void
merge_tiles_of_batch (const CclBatchParameters &batch)
{
  if (!is_behind_last_mask (batch))
    merge_tiles<ROWS, true> (parameters_of (batch, mask_of_block ()));
}

/* As reduce_components(), without loads of open tile components that are not there. */
static __device__ __forceinline__ void
reduce_components_of_batch (const Parameters &p)
{
  const uint32_t tile =
      blockIdx.x * CUDACCL_STRIPS_REDUCE_TILES + threadIdx.x / CUDACCL_STRIPS_REDUCE_THREADS;
  const uint32_t start = tile * CUDACCL_STRIPS_TILE_OPEN;
  const uint32_t n_open =
      tile < p.tile_columns * p.tile_rows ? p.open_count[tile] & ~CUDACCL_STRIPS_FULL : 0;
#pragma unroll 1
  for (uint32_t i = threadIdx.x % CUDACCL_STRIPS_REDUCE_THREADS; __any_sync (FULL_WARP, i < n_open);
       i += CUDACCL_STRIPS_REDUCE_THREADS) {
    uint32_t root = NOTHING;
    ComponentSums sums = {};
    if (i < n_open) {
      const uint32_t first = p.open_first[start + i];
      const uint32_t entry = load_parent (p.parent, first);
      if (!(entry & CUDACCL_STRIPS_ROOT)) {
        root = link_to_root (p.parent, first, entry);
        sums = load_sums (p.sums, start + i);
      }
    }
    __syncwarp ();
    add_to_roots_by_warp (p.sums, root, sums);
  }
}

/* As reduce_before_numbering(). */
static __device__ __forceinline__ void
reduce_batch_before_numbering (const Parameters &p)
{
  wait_for_previous_kernel ();
  reduce_components_of_batch (p);
  __threadfence ();
  __syncthreads ();
  if (threadIdx.x == 0)
    atomicAdd (&p.chunk_count[p.n_chunks], 1u);
}

/* As number_and_write_labels() of strips.cu, with the label map if there is one. */
template <int ROWS>
static __device__ __forceinline__ void
number_of_batch (const CclBatchParameters &batch)
{
  __shared__ union {
    Rows rows;
    LabelledTile<ROWS> tile;
  } block;
  let_next_kernel_start ();
  if (is_behind_last_mask (batch))
    return;
  const uint32_t mask = mask_of_block (), n_reduce = batch.strips.n_reduce_blocks;
  const uint32_t n_tiles =
      batch.strips.labels ? batch.strips.tile_columns * batch.strips.tile_rows : 0;
  if (blockIdx.x < n_reduce)
    reduce_batch_before_numbering (parameters_of (batch, mask));
  else if (blockIdx.x < n_reduce + n_tiles)
    write_tile_labels<ROWS> (parameters_of (batch, mask), block.tile, blockIdx.x - n_reduce);
  else
    number_chunk<ROWS> (
        parameters_with_rows (batch, mask), block.rows, blockIdx.x - n_reduce - n_tiles);
}

/* Writes the area map of a tile. */
template <int ROWS>
static __device__ __forceinline__ void
write_tile_areas (const CclBatchParameters &batch)
{
  __shared__ LabelledTile<ROWS> tile;
  enum { THREADS = CUDACCL_STRIPS_NUMBER_THREADS, TILE_ROWS = STRIPS * ROWS };
  const uint32_t mask = mask_of_block (), number = blockIdx.x;
  let_next_kernel_start ();
  if (is_behind_last_mask (batch))
    return;
  Parameters p = parameters_of (batch, mask);
  p.labels = batch.areas + mask * batch.areas_slice;
  p.labels_stride = batch.areas_stride;
  p.labels_vectorised = batch.areas_vectorised;
  const uint32_t tile_row = quotient (number, p.tile_columns, p.tile_columns_inverse);
  const uint32_t tile_column = number - tile_row * p.tile_columns;
  wait_for_previous_kernel ();

  const uint32_t n_tile_components = p.component_count[number];
  if (n_tile_components == 0) {
    clear_labels_of_tile (p, tile_column * TILE_WIDTH, tile_row * TILE_ROWS, TILE_ROWS);
    return;
  }
  ((uint4 *)tile.run_component)[threadIdx.x] =
      ((const uint4 *)(p.run_component + number * TILE_RUNS))[threadIdx.x];
  load_tile<ROWS> (p, tile, tile_column, tile_row);
  for (uint32_t i = threadIdx.x; i < n_tile_components; i += THREADS)
    tile.component_label[i] = load_whole_component<ROWS> (p, number, i).area;
  __syncthreads ();
  write_pixels<ROWS> (p, tile, tile_column, tile_row);
}

/* A kernel for 4-connected and one for 8-connected components, whose strips have one and two rows.
 */
#define KERNELS(name, function, ...)                                                               \
  extern "C" __global__ void __launch_bounds__ (__VA_ARGS__)                                       \
      ccl_batch_##name##_4 (const __grid_constant__ CclBatchParameters batch)                      \
  {                                                                                                \
    function<1> (batch);                                                                           \
  }                                                                                                \
  extern "C" __global__ void __launch_bounds__ (__VA_ARGS__)                                       \
      ccl_batch_##name##_8 (const __grid_constant__ CclBatchParameters batch)                      \
  {                                                                                                \
    function<2> (batch);                                                                           \
  }

KERNELS (tile, label_tile_of_batch, CUDACCL_STRIPS_TILE_THREADS, TILE_BLOCKS)
KERNELS (merge, merge_tiles_of_batch, CUDACCL_STRIPS_MERGE_THREADS)

extern "C" __global__ void
__launch_bounds__ (CUDACCL_STRIPS_NUMBER_THREADS)
    ccl_batch_count (const __grid_constant__ CclBatchParameters batch)
{
  enum { THREADS = CUDACCL_STRIPS_NUMBER_THREADS };
  let_next_kernel_start ();
  if (is_behind_last_mask (batch))
    return;
  const uint32_t mask = mask_of_block ();
  const uint32_t *const counts = batch.strips.chunk_count + mask * batch.counts_stride;
  wait_for_previous_kernel ();
  uint32_t count = 0, total;
  for (uint32_t i = threadIdx.x; i < batch.strips.n_chunks; i += THREADS)
    count += counts[i];
  sum_before_thread_of_few<THREADS / 32> (count, &total);
  if (threadIdx.x == 0)
    batch.mask_count[mask] = total;
}

KERNELS (number, number_of_batch, CUDACCL_STRIPS_NUMBER_THREADS)

KERNELS (write_areas, write_tile_areas, CUDACCL_STRIPS_NUMBER_THREADS)

/* Sets the completion flag, as ccl_strips_finish() does. */
extern "C" __global__ void __launch_bounds__ (1)
    ccl_batch_finish (const __grid_constant__ CclBatchParameters batch)
{
  wait_for_previous_kernel ();
  __threadfence_system ();
  *(volatile uint32_t *)batch.strips.finished = 1;
}
