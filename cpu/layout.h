/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Buffers in one mapping. They are laid out twice: once to learn how much memory they need, once
 * in that memory. It is address space for the worst frame; pages, which hold zeros, come when they
 * are first written, which for usual frames is a small part.
 */
#ifndef CCL_CPU_LAYOUT_H
#define CCL_CPU_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

typedef struct Layout {
  uint8_t *memory; /* NULL the first time */
  size_t size;
} Layout;

/* Room for n elements of a size, at a cache line; NULL the first time. */
static inline void *
lay_out (Layout *layout, size_t n, size_t size)
{
  void *here = layout->memory ? layout->memory + layout->size : NULL;
  layout->size += (n * size + 63) / 64 * 64;
  return here;
}

/* Maps memory for what the function lays out, which is called twice. Returns the layout, whose
 * memory is NULL if there is none. Free with layout_unmap(). */
static inline Layout
layout_map (void (*lay_out_everything) (Layout *layout, void *data), void *data)
{
  Layout layout = {0}, mapped = {0};

  lay_out_everything (&layout, data);
  mapped.memory = mmap (NULL, layout.size, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped.memory == MAP_FAILED)
    return (Layout){0};
  lay_out_everything (&mapped, data);
  return mapped;
}

static inline void
layout_unmap (Layout *layout)
{
  if (layout->memory)
    munmap (layout->memory, layout->size);
  *layout = (Layout){0};
}

#endif /* CCL_CPU_LAYOUT_H */
