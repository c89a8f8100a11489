/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of strips-columns.cu, compiled by the host's C and by nvcc. */
#pragma once

#include "strips-parameters.h"
#include "core/base/divide-up.h"
#include "cuda/measure/neighbour-counts.h"

enum {
  CUDACCL_STRIPS_COLUMNS_THREADS =
      CUDACCL_STRIPS_TILE_THREADS,   /* of a block that merges or measures */
  CUDACCL_STRIPS_COLUMNS_BLOCKS = 4, /* for each multiprocessor: limits the registers of a thread */
};

/* The 32-bit words in which a tile component is measured, in coordinates of its tile: sums of
 * squares and products, then the neighbours if they are measured, then the values. A sum that may
 * need more than 32 bits has two words. Maxima come last; the least value
 * is the maximum of the complement. */
enum {
  CUDACCL_STRIPS_MOMENT_WORDS = 3,
  CUDACCL_STRIPS_VALUE_WORDS = 9,
  CUDACCL_STRIPS_WORD_ALIGNMENT = 4, /* of the words of a tile component */
};

/* What is measured besides moments, by flags of CclColumn. */
#define CUDACCL_STRIPS_HAS_NEIGHBOURS(columns)                                                     \
  (((columns) & (CUDACCL_COLUMN_PERIMETER | CUDACCL_COLUMN_TOPOLOGY)) != 0)
#define CUDACCL_STRIPS_HAS_VALUES(columns) (((columns)&CUDACCL_COLUMN_INTENSITY) != 0)

/* Words of a tile component, with those that align the next one. */
#define CUDACCL_STRIPS_COLUMN_WORDS(has_neighbours, has_values)                                    \
  (CUDACCL_DIVIDE_UP (CUDACCL_STRIPS_MOMENT_WORDS +                                                \
                          ((has_neighbours) ? CUDACCL_NEIGHBOUR_COUNTS : 0) +                      \
                          ((has_values) ? CUDACCL_STRIPS_VALUE_WORDS : 0),                         \
       CUDACCL_STRIPS_WORD_ALIGNMENT) *                                                            \
      CUDACCL_STRIPS_WORD_ALIGNMENT)

/* Expands EACH (column, type, field, combine) for the fields of CclFeatures that are reduced: all
 * but the sums of coordinates, which are reduced for the table, and the greatest value, which
 * follows from its place. */
#define CCL_OPEN_FEATURES(EACH) CUDACCL_MEASURES (CCL_OPEN_ROW, CUDACCL_NO_REAL, EACH)
#define CCL_OPEN_ROW(EACH, column, field, former, combine, frame, large)                           \
  CCL_OPEN_##column (CCL_OPEN_##frame##_##combine, EACH, column, field, combine)
#define CCL_OPEN_SUMS(ROW, ...)
#define CCL_OPEN_MOMENTS(ROW, ...) ROW (__VA_ARGS__)
#define CCL_OPEN_PERIMETER CCL_OPEN_MOMENTS
#define CCL_OPEN_TOPOLOGY CCL_OPEN_MOMENTS
#define CCL_OPEN_INTENSITY CCL_OPEN_MOMENTS
#define CCL_OPEN_U64_SUM(EACH, column, field, combine) EACH (column, uint64_t, field, combine)
#define CCL_OPEN_U64_MAX CCL_OPEN_U64_SUM
#define CCL_OPEN_U32_SUM(EACH, column, field, combine) EACH (column, uint32_t, field, combine)
#define CCL_OPEN_U32_MIN CCL_OPEN_U32_SUM
#define CCL_OPEN_U32_MAX(...)
#define CCL_OPEN_NONE_SUM(...)
#define CCL_OPEN_MEMBER(column, type, field, combine) type field;

/* What is measured of an open tile component, in coordinates of the frame. A whole number of
 * sectors of the L2 cache, which are loaded 16 bytes at a time. */
typedef struct CclOpenFeatures {
  CCL_OPEN_FEATURES (CCL_OPEN_MEMBER)
} __attribute__ ((aligned (16))) CclOpenFeatures;

/* Kernels of strips.cu take the first member alone. */
typedef struct CclStripsColumnsParameters {
  CclStripsParameters strips;
  uint32_t columns;      /* flags of CclColumn; 0: nothing is measured */
  uint32_t value_bytes;  /* 1 or 2 */
  const uint8_t *values; /* the second plane */
  uint64_t value_stride; /* bytes */
  uint32_t *tile_words;  /* [tile][tile component][CUDACCL_STRIPS_COLUMN_WORDS] */
  CclOpenFeatures *open; /* [tile][open tile component]; after the reduce phase, a root has its
                          * component's */
  CclFeatures *features; /* [max_components] at the table's location */
  uint32_t first_unit,
      n_units; /* those of the 8-byte units of a row of features that are written */
} CclStripsColumnsParameters;
