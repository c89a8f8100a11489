/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory between two inaccessible guard pages: an access outside crashes the test. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Initialise with {0}; can be resized any number of times. */
typedef struct GuardedMemory {
  uint8_t *data; /* the memory of the last resize */
  size_t size;   /* its bytes */

  uint8_t *pages; /* between the guard pages */
  size_t pages_size;
} GuardedMemory;

/* Provides `size` bytes of writable memory, which begin right after a guard page or (at_end) end
 * right before one. Previous contents are lost. */
void guarded_memory_resize (GuardedMemory *memory, size_t size, bool at_end);

/* Makes the memory read only until the next resize. */
void guarded_memory_set_read_only (GuardedMemory *memory);

void guarded_memory_clear (GuardedMemory *memory);
