/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches: writes a value to the pixels of selected components of each mask. So holes are filled,
 * which are components of the background, and small components removed.
 *
 * As in strips.cu, tiles are labelled in shared memory and their components joined across edges.
 * What a selection does not need is left out: first pixels, rows of a table, all sums but the
 * area, and the area, too, if it does not matter.
 *
 *   word            32 pixels of a row
 *   part            consecutive foreground pixels of a word
 *   tile            4 words × 64 rows, labelled by one block of threads, one thread per word
 *   run             consecutive foreground pixels of a row of a tile
 *   tile component  the part of a component in one tile. Outer: it touches the border of the mask
 *                   and the selection is of components inside. Open: not outer, and it touches
 *                   another tile; those of a tile have numbers from 1 on. Closed: all others, which
 *                   are components
 *
 * Phases:
 *
 *   tile    pixels to bits; runs joined; closed components written; open ones kept
 *   merge   joins tile components across the edges of tiles. All outer ones are one, with index 0,
 *           the smallest, so that it is the root of what it is joined with
 *   reduce  if areas matter, adds those of open tile components to their roots'
 *   write   writes the open tile components whose roots are selected
 */
#include "masks.cuh"
#include "replace-tile.cuh"
#include "cuda/label/strips/merge.cuh"

/* The tile component of a pixel of an edge by its index in parent; NOTHING if there is none. */
static __device__ __forceinline__ uint32_t
index_at_edge (const CclBatchParameters &batch, uint32_t pixel)
{
  if (pixel == NOTHING)
    return NOTHING;
  const uint32_t tile = pixel / (CUDACCL_STRIPS_EDGES * TILE_EDGE);
  const uint32_t number = batch.replacement.edge[pixel];
  if (!batch.strips.open_count[tile] || number == CUDACCL_REPLACE_NO_COMPONENT)
    return NOTHING;
  return open_index (tile, number);
}

/* As merge_tiles() of strips. */
template <bool DIAGONAL>
static __device__ __forceinline__ void
merge_tiles_of_mask (const CclBatchParameters &of_batch)
{
  __shared__ unsigned long long pairs[PAIRS];
  let_next_kernel_start ();
  if (is_behind_last_mask (of_batch))
    return;
  if (threadIdx.x < PAIRS)
    pairs[threadIdx.x] = 0;
  __syncthreads ();
  const CclBatchParameters batch = parameters_of_mask (of_batch);
  const Contact contact = contact_of_thread<CUDACCL_REPLACE_ROWS, DIAGONAL> (batch.strips);
  wait_for_previous_kernel ();
  const uint32_t own = index_at_edge (batch, contact.own);
  if (!__syncthreads_or (own != NOTHING))
    return;
  unite_contact (batch.strips, pairs, own, index_at_edge (batch, contact.across),
      index_at_edge (batch, contact.before), index_at_edge (batch, contact.after));
}

/* The root of an open tile component. */
static __device__ __forceinline__ uint32_t
root_of (const Parameters &p, uint32_t index)
{
  uint32_t entry = load_parent (p.parent, index);
#pragma unroll 1
  for (; !(entry & CUDACCL_STRIPS_ROOT); entry = load_parent (p.parent, index))
    index = entry;
  return index;
}

/* Adds the areas of a tile's open tile components to those of their roots. */
static __device__ __forceinline__ void
reduce_areas_of_tile (const CclBatchParameters &batch, uint32_t tile)
{
  const uint32_t n_open = batch.strips.open_count[tile] & ~CUDACCL_REPLACE_FLAGS;
#pragma unroll 1
  for (uint32_t i = 1 + threadIdx.x; i <= n_open; i += CUDACCL_REPLACE_REDUCE_THREADS) {
    const uint32_t index = open_index (tile, i), root = root_of (batch.strips, index);
    if (root != index)
      atomicAdd (&batch.replacement.area[root], batch.replacement.area[index]);
  }
}

/* Whether the component of an open tile component is selected. */
static __device__ __forceinline__ bool
is_open_selected (const CclBatchParameters &batch, uint32_t index)
{
  const uint32_t root = root_of (batch.strips, index);
  return root > 0 && (!batch.selection.by_area ||
                         has_area (batch.selection, __ldcg (&batch.replacement.area[root])));
}

/* The pixels of a word's runs whose open tile components are selected. */
static __device__ __forceinline__ uint32_t
selected_pixels (
    const CclBatchReplacement &r, uint32_t tile, uint32_t word, uint32_t bits, const bool *selected)
{
  const uint16_t *run_open = r.run_open + tile * CUDACCL_REPLACE_RUNS;
  uint32_t chosen = 0;
  if (bits)
    run_open += r.base[tile * CUDACCL_REPLACE_TILE_THREADS + word];
#pragma unroll 1
  for (uint32_t rest = bits; rest; run_open++) {
    const uint32_t part = lowest_run (rest);
    rest ^= part;
    if (selected[*run_open])
      chosen |= part;
  }
  return chosen;
}

/* Writes the value to the selected open tile components of a tile. Most tiles have none, and it
 * takes a chain of loads to see that: blocks are small, so that many of them are resident. */
static __device__ __forceinline__ void
write_tile (const CclBatchParameters &batch, uint32_t tile, bool *selected)
{
  const Parameters &p = batch.strips;
  const uint32_t count = p.open_count[tile], n_open = count & ~CUDACCL_REPLACE_FLAGS;
  bool is_any = false;
  if (threadIdx.x == 0)
    selected[0] = false;
#pragma unroll 1
  for (uint32_t i = 1 + threadIdx.x; i <= n_open; i += CUDACCL_REPLACE_WRITE_THREADS)
    is_any |= selected[i] = is_open_selected (batch, open_index (tile, i));
  if (!__syncthreads_or (is_any))
    return;
#pragma unroll 1
  for (uint32_t word = threadIdx.x; word < CUDACCL_REPLACE_TILE_THREADS;
       word += CUDACCL_REPLACE_WRITE_THREADS) {
    const ReplacePlace place = place_of_word (p, tile, word);
    const uint32_t inside = pixels_inside (p, place);
    const uint32_t bits = batch.replacement.words[tile * CUDACCL_REPLACE_TILE_THREADS + word];
    write_word_value (p, place, batch.selection.value,
        count & CUDACCL_REPLACE_FULL
            ? inside
            : selected_pixels (batch.replacement, tile, word, bits & inside, selected));
  }
}

#define KERNELS(connectivity, is_8_connected)                                                      \
  extern "C" __global__ void __launch_bounds__ (CUDACCL_REPLACE_TILE_THREADS, REPLACE_TILE_BLOCKS) \
      ccl_replace_tile_##connectivity (const __grid_constant__ CclBatchParameters batch)           \
  {                                                                                                \
    let_next_kernel_start ();                                                                      \
    if (!is_behind_last_mask (batch))                                                              \
      label_tile_of_mask<is_8_connected> (parameters_of_mask (batch));                             \
  }                                                                                                \
  extern "C" __global__ void __launch_bounds__ (CUDACCL_REPLACE_MERGE_THREADS)                     \
      ccl_replace_merge_##connectivity (const __grid_constant__ CclBatchParameters batch)          \
  {                                                                                                \
    merge_tiles_of_mask<is_8_connected> (batch);                                                   \
  }
KERNELS (4, false)
KERNELS (8, true)

extern "C" __global__ void
__launch_bounds__ (CUDACCL_REPLACE_REDUCE_THREADS)
    ccl_replace_reduce (const __grid_constant__ CclBatchParameters batch)
{
  let_next_kernel_start ();
  if (is_behind_last_mask (batch))
    return;
  wait_for_previous_kernel ();
  reduce_areas_of_tile (parameters_of_mask (batch), blockIdx.x);
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_REPLACE_WRITE_THREADS)
    ccl_replace_write (const __grid_constant__ CclBatchParameters batch)
{
  __shared__ bool selected[CUDACCL_REPLACE_OPEN + 1];
  let_next_kernel_start ();
  if (is_behind_last_mask (batch))
    return;
  wait_for_previous_kernel ();
  write_tile (parameters_of_mask (batch), blockIdx.x, selected);
}
