/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory between two pages that cannot be touched, so that an access outside crashes the test. */
#ifndef CCL_TEST_GUARDED_MEMORY_H
#define CCL_TEST_GUARDED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as {0}; may be used again and again for other sizes. */
typedef struct GuardedMemory {
  uint8_t *data; /* the memory asked for last */
  size_t size;   /* its bytes */

  uint8_t *pages; /* between the guard pages */
  size_t pages_size;
} GuardedMemory;

/* Makes `size` bytes of writable memory, which begin right behind a guard page or (at_end) end
 * right before one. What it held before is gone. */
void guarded_memory_resize (GuardedMemory *memory, size_t size, bool at_end);

/* Whether writing to it crashes too; until the next resize. */
void guarded_memory_set_read_only (GuardedMemory *memory);

void guarded_memory_clear (GuardedMemory *memory);

#endif /* CCL_TEST_GUARDED_MEMORY_H */
