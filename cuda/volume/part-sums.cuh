/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sums over the components in a block's tiles: in registers, then in shared memory, then in
 * device memory. */
#pragma once

#include "cuda/kernel-lib/component-table.cuh"
#include "words.cuh"

/* The number, from 0, of the component of an element whose path is compressed; UINT32_MAX if it
 * was filtered out. */
static __device__ __forceinline__ uint32_t
component_number (const Parameters &p, uint32_t element)
{
  uint32_t parent = p.parents[element];
  if (!(parent & CUDACCL_VOLUME_ROOT)) {
    element = parent;
    parent = p.parents[element];
  }
  if (parent == CUDACCL_VOLUME_REMOVED)
    return UINT32_MAX;
  const uint32_t chunk = element >> (p.element_shift + CUDACCL_VOLUME_CHUNK_SHIFT);
  return p.chunk_offsets[chunk] + (parent & ~CUDACCL_VOLUME_ROOT);
}

/* Sums over a part of a component; coordinates count from the corner of the block's tiles, which
 * keeps the sums in 32 bits. */
struct PartSums {
  uint32_t n_voxels;
  uint32_t sum_x, sum_y, sum_z;
  uint32_t min_x, min_y, min_z;
  uint32_t max_x, max_y, max_z;
};

static __device__ __forceinline__ PartSums
no_sums ()
{
  return {0, 0, 0, 0, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 0, 0};
}

static __device__ __forceinline__ void
add_run (PartSums &to, uint32_t start, uint32_t end, uint32_t y, uint32_t z)
{
  const uint32_t n = end - start;
  to.n_voxels += n;
  to.sum_x += n * (start + end - 1) / 2;
  to.sum_y += n * y;
  to.sum_z += n * z;
  to.min_x = min (to.min_x, start);
  to.min_y = min (to.min_y, y);
  to.min_z = min (to.min_z, z);
  to.max_x = max (to.max_x, end - 1);
  to.max_y = max (to.max_y, y);
  to.max_z = max (to.max_z, z);
}

/* The sums of all lanes together. All threads of a warp take part. */
static __device__ __forceinline__ PartSums
reduce_in_warp (PartSums f)
{
  for (uint32_t distance = 16; distance; distance /= 2) {
    f.n_voxels += __shfl_xor_sync (FULL_WARP, f.n_voxels, distance);
    f.sum_x += __shfl_xor_sync (FULL_WARP, f.sum_x, distance);
    f.sum_y += __shfl_xor_sync (FULL_WARP, f.sum_y, distance);
    f.sum_z += __shfl_xor_sync (FULL_WARP, f.sum_z, distance);
    f.min_x = min (f.min_x, __shfl_xor_sync (FULL_WARP, f.min_x, distance));
    f.min_y = min (f.min_y, __shfl_xor_sync (FULL_WARP, f.min_y, distance));
    f.min_z = min (f.min_z, __shfl_xor_sync (FULL_WARP, f.min_z, distance));
    f.max_x = max (f.max_x, __shfl_xor_sync (FULL_WARP, f.max_x, distance));
    f.max_y = max (f.max_y, __shfl_xor_sync (FULL_WARP, f.max_y, distance));
    f.max_z = max (f.max_z, __shfl_xor_sync (FULL_WARP, f.max_z, distance));
  }
  return f;
}

/* Adds to a component in device memory. */
static __device__ __forceinline__ void
add_to_component (const Parameters &p, const Corner &corner, uint32_t component, const PartSums &f)
{
  CclVolumeAccumulator *to = &p.accumulators[component];
  const uint64_t n = f.n_voxels;
  const uint32_t x = corner.column * 32, y = corner.y, z = corner.z;
  atomicAdd (&to->n_voxels, f.n_voxels);
  atomicAdd ((unsigned long long *)&to->sum_x, (unsigned long long)(n * x + f.sum_x));
  atomicAdd ((unsigned long long *)&to->sum_y, (unsigned long long)(n * y + f.sum_y));
  atomicAdd ((unsigned long long *)&to->sum_z, (unsigned long long)(n * z + f.sum_z));
  atomicMin (&to->min_x, x + f.min_x);
  atomicMin (&to->min_y, y + f.min_y);
  atomicMin (&to->min_z, z + f.min_z);
  atomicMin (&to->max_x_complement, ~(x + f.max_x));
  atomicMin (&to->max_y_complement, ~(y + f.max_y));
  atomicMin (&to->max_z_complement, ~(z + f.max_z));
}

/* Sums over the components in a block's tiles, in shared memory. */
struct BlockSums {
  uint32_t owners[N_SLOTS];
  PartSums sums[N_SLOTS];
};

/* Adds to a component in shared memory, or in device memory if it has no slot. */
static __device__ __forceinline__ void
add_to_block (const Parameters &p, BlockSums &block, const Corner &corner, uint32_t component,
    const PartSums &f)
{
  const uint32_t slot = find_slot (block.owners, component);
  if (slot == N_SLOTS) {
    add_to_component (p, corner, component, f);
    return;
  }
  PartSums *to = &block.sums[slot];
  atomicAdd (&to->n_voxels, f.n_voxels);
  atomicAdd (&to->sum_x, f.sum_x);
  atomicAdd (&to->sum_y, f.sum_y);
  atomicAdd (&to->sum_z, f.sum_z);
  atomicMin (&to->min_x, f.min_x);
  atomicMin (&to->min_y, f.min_y);
  atomicMin (&to->min_z, f.min_z);
  atomicMax (&to->max_x, f.max_x);
  atomicMax (&to->max_y, f.max_y);
  atomicMax (&to->max_z, f.max_z);
}

/* The sums over one component that a thread has summed and not yet added to shared memory. */
struct Pending {
  uint32_t component;
  PartSums sums;
};

/* Adds the runs of the thread's word. As long as they belong to one component, they are added up
 * in registers. */
static __device__ __forceinline__ void
add_word (const Parameters &p, BlockSums &block, const Corner &corner, const Place &place,
    Pending &pending)
{
  const uint32_t bits = p.words[place.word];
  const uint32_t x = (place.column - corner.column) * 32;
  uint32_t element = place.word << p.element_shift;
  for (uint32_t starts = starts_of (bits); starts; starts &= starts - 1, element++) {
    const uint32_t start = __ffs (starts) - 1;
    const uint32_t component = component_number (p, element);
    if (component >= p.n_rows)
      continue;
    if (component != pending.component) {
      if (pending.component != NO_COMPONENT)
        add_to_block (p, block, corner, pending.component, pending.sums);
      pending.component = component;
      pending.sums = no_sums ();
    }
    add_run (pending.sums, x + start, x + end_of_run (bits, start), place.y - corner.y,
        place.z - corner.z);
  }
}
