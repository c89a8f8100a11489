/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Buffers in one mapping. They are laid out twice: once to compute the size of the mapping, once in
 * it. The mapping is address space for the worst frame, filled with zeros. The kernel provides a
 * page when it is first written; most frames write a small part.
 */
#ifndef CCL_CPU_LAYOUT_H
#define CCL_CPU_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

typedef struct Layout {
  uint8_t *memory; /* NULL when the size is computed */
  size_t size;
} Layout;

/* Memory for n elements of a size, aligned to a cache line; NULL when the size is computed. */
static inline void *
lay_out (Layout *layout, size_t n, size_t size)
{
  void *here = layout->memory ? layout->memory + layout->size : NULL;
  layout->size += (n * size + 63) / 64 * 64;
  return here;
}

/* Maps memory for the buffers that the function lays out; it is called twice. Returns the layout;
 * its memory is NULL if the mapping fails. Free with layout_unmap(). */
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
