/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A layout (layout.h) in a mapping of the process: address space for the worst frame, filled with
 * zeros. The kernel provides a page when it is first written; most frames write a small part.
 */
#pragma once

#include "core/base/layout.h"

#include <stdbool.h>
#include <sys/mman.h>

enum { CACHE_LINE = 64 };

typedef struct Mapping {
  uint8_t *memory;
  size_t size;
  bool is_used; /* arrays have been laid out in it */
} Mapping;

static inline void
mapping_unmap (Mapping *mapping)
{
  if (mapping->memory)
    munmap (mapping->memory, mapping->size);
  *mapping = (Mapping){0};
}

/* A mapping from this size on is given back for one that needs less than an eighth of it. */
#define LARGE_MAPPING ((size_t)64 << 20)

/* Lays out arrays by a function that is called twice. The mapping is replaced where it is too small
 * or far too large, and then the arrays of the former layout are gone. Returns false if there is no
 * memory; the mapping is then as before, but the arrays are to be laid out anew. */
static inline bool
mapping_lay_out (
    Mapping *mapping, void (*lay_out_everything) (Layout *layout, void *data), void *data)
{
  Layout counted = {.alignment = CACHE_LINE};

  lay_out_everything (&counted, data);
  const bool is_wasteful = mapping->size >= LARGE_MAPPING && counted.size < mapping->size / 8;
  if (counted.size > mapping->size || is_wasteful) {
    if (counted.size > PTRDIFF_MAX)
      return false;
    /* Room to spare, when sizes change. */
    const bool is_growing = mapping->size > 0 && !is_wasteful;
    const size_t size =
        is_growing && counted.size < 2 * mapping->size ? 2 * mapping->size : counted.size;
    void *memory = mmap (
        NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return false;
    mapping_unmap (mapping);
    *mapping = (Mapping){.memory = memory, .size = size};
  }
  Layout layout = {.memory = mapping->memory, .alignment = CACHE_LINE, .is_used = mapping->is_used};
  lay_out_everything (&layout, data);
  mapping->is_used = true;
  return true;
}
