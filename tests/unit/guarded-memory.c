/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/guarded-memory.h"

#include <glib.h>
#include <sys/mman.h>
#include <unistd.h>

void
guarded_memory_resize (GuardedMemory *memory, size_t size, bool at_end)
{
  size_t page = (size_t)sysconf (_SC_PAGESIZE);

  /* mprotect takes time for each resident page, so large memory is not reused. */
  if (size > memory->pages_size || size + (1 << 16) < memory->pages_size / 2) {
    size_t pages_size = (size + page - 1) / page * page;
    guarded_memory_clear (memory);
    uint8_t *map = mmap (
        NULL, pages_size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
      g_error ("no memory for %zu guarded bytes", size);
    /* Frames of gigabytes take half of their test's time for page faults otherwise. */
    if (pages_size > 1 << 26)
      madvise (map, pages_size + 2 * page, MADV_HUGEPAGE);
    memory->pages = map + page;
    memory->pages_size = pages_size;
  }
  if (mprotect (memory->pages, memory->pages_size, PROT_READ | PROT_WRITE) != 0)
    g_error ("cannot make guarded memory writable");
  memory->size = size;
  memory->data = at_end ? memory->pages + memory->pages_size - size : memory->pages;
}

void
guarded_memory_set_read_only (GuardedMemory *memory)
{
  if (mprotect (memory->pages, memory->pages_size, PROT_READ) != 0)
    g_error ("cannot make guarded memory read only");
}

void
guarded_memory_clear (GuardedMemory *memory)
{
  size_t page = (size_t)sysconf (_SC_PAGESIZE);
  if (memory->pages)
    munmap (memory->pages - page, memory->pages_size + 2 * page);
  *memory = (GuardedMemory){0};
}
