/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the kernels that make component tables: sums in shared memory, and rows on their way
 * to the host. */
#pragma once

#include "cuda/driver/tuning.h"

#include <stdint.h>

/* A block keeps the sums of the components in its tile in slots of shared memory, a hash table, so
 * that a component that fills many tiles is added to in device memory once per tile, not once per
 * run. */
#define N_SLOTS 128u
#define N_PROBES 4u
#define NO_COMPONENT UINT32_MAX

/* The slot of a component or root among a power of two of them, or their number when others occupy
 * those it may have. Empty slots have the owner NO_COMPONENT. Roots lie in rows of even length, so
 * their own lower bits would often collide. */
template <uint32_t n_slots = N_SLOTS>
static __device__ __forceinline__ uint32_t
find_slot (uint32_t *owners, uint32_t component)
{
  const uint32_t hash = (uint64_t)(component * 2654435769u) * n_slots >> 32;
  for (uint32_t probe = 0; probe < N_PROBES; probe++) {
    const uint32_t slot = (hash + probe) % n_slots;
    const uint32_t owner = atomicCAS (&owners[slot], NO_COMPONENT, component);
    if (owner == NO_COMPONENT || owner == component)
      return slot;
  }
  return n_slots;
}

/* Copies rows from shared memory to pinned host memory in whole lines of the bus. All threads of a
 * block take part, after a barrier behind the last write to the rows. */
template <typename Row>
static __device__ __forceinline__ void
store_rows (Row *result, const Row *rows, uint32_t n_rows)
{
  const uint32_t n_words = n_rows * (sizeof (Row) / sizeof (uint32_t));
  for (uint32_t i = threadIdx.x; i < n_words; i += CUDACCL_TABLE_THREADS) {
    uint32_t word;
    memcpy (&word, (const uint32_t *)rows + i, sizeof word);
    ((uint32_t *)result)[i] = word;
  }
}
