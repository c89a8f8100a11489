/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which words of a part of a component depend on neighbours of pixels, from CUDACCL_MEASURES(), for
 * the host's C and for nvcc. Each is a field of the component, so a word is a row of the table.
 *
 * Other words of parts are not: in a tile, sums have 32 bits and count from its corner. So some
 * fields take two words, and each has a formula of its own that moves it to the picture. Sums of
 * values are listed in value-sums.cuh, sums of coordinates by each kernel.
 */
#pragma once

#include <cudaccl/columns.h>

/* Expands to its arguments if the column depends on neighbours. */
#define CCL_NEIGHBOURS_SUMS(...)
#define CCL_NEIGHBOURS_MOMENTS(...)
#define CCL_NEIGHBOURS_PERIMETER(...) __VA_ARGS__
#define CCL_NEIGHBOURS_TOPOLOGY(...) __VA_ARGS__
#define CCL_NEIGHBOURS_INTENSITY(...)

/* Of components of frames. */
enum {
#define CCL_COUNT(column, type, field, combine) CCL_NEIGHBOURS_##column (CCL_COUNT_##field, )
  CUDACCL_FEATURES (CCL_COUNT)
#undef CCL_COUNT
      CUDACCL_NEIGHBOUR_COUNTS
};
