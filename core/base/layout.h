/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays that share one allocation. A function lays them out twice: first without memory,
 * which gives its size, then in it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct Layout {
  uint8_t *memory;  /* NULL: only the size is computed */
  size_t size;      /* bytes so far; SIZE_MAX: more than a size_t can count */
  size_t alignment; /* of each array: a power of two */
  bool is_used;     /* the memory may have other content than zeros */
} Layout;

/* Makes room for n elements of a size. Returns NULL without memory. */
static inline void *
lay_out (Layout *layout, uint64_t n, size_t size)
{
  void *here = layout->memory ? layout->memory + layout->size : NULL;
  size_t bytes;

  if (__builtin_mul_overflow (n, size, &bytes) ||
      __builtin_add_overflow (bytes, layout->alignment - 1, &bytes) ||
      __builtin_add_overflow (layout->size, bytes & ~(layout->alignment - 1), &layout->size))
    layout->size = SIZE_MAX;
  return here;
}

/* The same for elements that are zero before they are first written. The memory must have been
 * filled with zeros before it was laid out first. */
static inline void *
lay_out_zeros (Layout *layout, uint64_t n, size_t size)
{
  void *here = lay_out (layout, n, size);
  if (here && layout->is_used)
    memset (here, 0, n * size);
  return here;
}
