/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Device and pinned memory.
 *
 * Every allocation is a mapping of its own, between two pages that cannot be touched. It ends
 * as close before the upper one as the alignment allows, and is filled with a pattern, so that
 * reading what nobody wrote shows.
 */
#ifndef SIMCUDA_MEMORY_H
#define SIMCUDA_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace simcuda {

struct Context;

enum class MemoryKind { device, pinned, registered };

struct Allocation {
  char *address;
  size_t size;
  MemoryKind kind;
  Context *context;
  char *mapping; /* NULL for registered host memory */
  size_t mapping_size;
  size_t slack; /* bytes between the end and the guard page, filled with the pattern */
};

/* All take the driver's lock as held. */
Allocation *allocate (size_t size, MemoryKind kind, Context *context);
Allocation *register_host (void *address, size_t size, Context *context);

/* Frees; says so if the slack was written. */
void release (Allocation *allocation);

/* The allocation that holds the address, or NULL. */
Allocation *find_allocation (const void *address);

/* Whether size bytes from the address lie in one allocation of device memory (or pinned). */
bool lies_in_device_memory (const void *address, size_t size);
bool lies_in_pinned_memory (const void *address, size_t size);

/* Frees what is left of a context. */
void release_all (Context *context);

size_t bytes_allocated (const Context *context, MemoryKind kind);
size_t count_allocations (MemoryKind kind);

} /* namespace simcuda */

#endif /* SIMCUDA_MEMORY_H */
