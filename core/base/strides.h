/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of what programs say of rows and slices in memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether rows do not overlap. slice_stride: of slices of `height` rows, which do not overlap
 * either; SIZE_MAX where there is only one. No product may wrap around. */
static inline bool
strides_fit (size_t row_bytes, uint32_t height, size_t row_stride, size_t slice_stride)
{
  size_t slice;
  return row_stride >= row_bytes && !__builtin_mul_overflow (row_stride, height - 1, &slice) &&
         !__builtin_add_overflow (slice, row_bytes, &slice) && slice_stride >= slice;
}

/* The same of elements of so many bytes, which lie at multiples of their size. has_slices: false:
 * the slice stride is not read. */
static inline bool
elements_fit (const void *data, size_t element, uint32_t width, uint32_t height, bool has_slices,
    size_t row_stride, size_t slice_stride)
{
  const size_t address = (uintptr_t)data | row_stride | (has_slices ? slice_stride : 0);
  return data && address % element == 0 &&
         strides_fit (element * width, height, row_stride, has_slices ? slice_stride : SIZE_MAX);
}
