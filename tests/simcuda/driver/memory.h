/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Device and pinned memory.
 *
 * Every allocation is a mapping of its own between two guard pages. It ends as close to the upper
 * one as the alignment allows. It is filled with a pattern, so that reads of uninitialised memory
 * change the result.
 */
#pragma once

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
  size_t slack;           /* bytes between the end and the guard page, filled with the pattern */
  bool is_hidden = false; /* see hide_memory_of_others() */
};

/* The caller of each function holds the driver's lock. */
Allocation *allocate (size_t size, MemoryKind kind, Context *context);
Allocation *register_host (void *address, size_t size, Context *context);

/* Frees the allocation; prints a message if the slack was overwritten. */
void release (Allocation *allocation);

/* The allocation that holds the address, or NULL. */
Allocation *find_allocation (const void *address);

/* Whether size bytes from the address lie in one allocation of device memory (or pinned). */
bool lies_in_device_memory (const void *address, size_t size);
bool lies_in_pinned_memory (const void *address, size_t size);

/* While a kernel runs, device memory of contexts other than its own cannot be accessed, as on a
 * real device; an access ends the process with SIGSEGV. */
void hide_memory_of_others (const Context *context);
void show_hidden_memory ();

/* Frees all remaining allocations of a context. */
void release_all (Context *context);

size_t bytes_allocated (const Context *context, MemoryKind kind);
size_t count_allocations (MemoryKind kind);

} /* namespace simcuda */
