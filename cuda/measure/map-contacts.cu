/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which labels of a map touch, and along how many sides.
 *
 * 1. find: a thread has a pixel, and counts the pairs that it forms with the pixels before it in a
 *    hash table.
 * 2. list: copies the pairs out of the table, in any order.
 */
#include "cuda/kernel-lib/word-map.cuh"
#include "map-contacts-parameters.h"

typedef CclMapContactsParameters Parameters;

/* Counts a side, or a corner. */
static __device__ __forceinline__ void
add_pair (const Parameters &p, uint32_t a, uint32_t b, bool is_side)
{
  typedef unsigned long long Long;
  const uint64_t pair = (uint64_t)min (a, b) << 32 | max (a, b);
  uint32_t place = (uint32_t)(pair * 0x9e3779b97f4a7c15 >> 32);

  for (uint32_t i = 0; i <= p.mask; i++, place++) {
    CclContactEntry *entry = &p.entries[place & p.mask];
    uint64_t there = *(volatile uint64_t *)&entry->pair;
    if (there == 0) {
      if (*(volatile uint32_t *)p.n > p.capacity)
        return;
      there = atomicCAS ((Long *)&entry->pair, 0ull, (Long)pair);
      if (there == 0)
        atomicAdd (p.n, 1u);
    }
    if (there == 0 || there == pair) {
      if (is_side)
        atomicAdd ((Long *)&entry->n_sides, 1ull);
      return;
    }
  }
  atomicMax (p.n, p.capacity + 1); /* the table is full; a sum over many threads would overflow */
}

static __device__ __forceinline__ uint32_t
label_at (const Parameters &p, uint32_t x, uint32_t y, uint32_t z)
{
  return x < p.width && y < p.height && z < p.depth ? row_of (p.labels, y, z)[x] : 0;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_CONTACTS_THREADS)
    ccl_map_contacts_find (const __grid_constant__ Parameters p)
{
  const uint64_t n = (uint64_t)p.width * p.height * p.depth;

  for (uint64_t pixel = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; pixel < n;
       pixel += (uint64_t)gridDim.x * blockDim.x) {
    const Place at = place_of (p, pixel);
    const uint32_t label = label_at (p, at.x, at.y, at.z);
    for (uint32_t i = 0; label && i < p.n_steps; i++) {
      const CclContactStep &step = p.steps[i];
      const uint32_t other =
          label_at (p, at.x + (uint32_t)step.x, at.y + (uint32_t)step.y, at.z + (uint32_t)step.z);
      if (other && other != label)
        add_pair (p, label, other, i < p.n_sides);
    }
  }
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_CONTACTS_THREADS)
    ccl_map_contacts_list (const __grid_constant__ Parameters p)
{
  if (*p.n > p.capacity)
    return;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i <= p.mask;
       i += (uint64_t)gridDim.x * blockDim.x) {
    const CclContactEntry entry = p.entries[i];
    if (entry.pair)
      p.contacts[atomicAdd (p.n_listed, 1u)] = {
          entry.pair >> 32, entry.pair & UINT32_MAX, entry.n_sides};
  }
}
