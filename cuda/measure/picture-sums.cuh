/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a part of a component is added to the sums of its picture in device memory, which are all
 * zeros before: minima are kept as maxima of the complement. The names are those of the rules in
 * CUDACCL_MEASURES(). */
#pragma once

#include "core/label/component-part.h"
#include "neighbour-counts.h"

#include <stddef.h>

static __device__ __forceinline__ void
add_SUM (uint32_t *to, uint32_t value)
{
  if (value)
    atomicAdd (to, value);
}

static __device__ __forceinline__ void
add_SUM (uint64_t *to, uint64_t value)
{
  if (value)
    atomicAdd ((unsigned long long *)to, (unsigned long long)value);
}

static __device__ __forceinline__ void
add_SUM (int64_t *to, int64_t value)
{
  add_SUM ((uint64_t *)to, (uint64_t)value);
}

/* The lower half carries to the upper one, whatever the order in which others add. */
static __device__ __forceinline__ void
add_SUM (CclWide *to, CclWide value)
{
  unsigned long long *const halves = (unsigned long long *)to;
  const unsigned long long low = (unsigned long long)value;
  unsigned long long high = (unsigned long long)(value >> 64);
  if (low)
    high += atomicAdd (&halves[0], low) + low < low;
  if (high)
    atomicAdd (&halves[1], high);
}

/* Without reading before, which would wait for other blocks that add to the same component. */
static __device__ __forceinline__ void
add_MAX (uint32_t *to, uint32_t value)
{
  atomicMax (to, value);
}

static __device__ __forceinline__ void
add_MAX (uint64_t *to, uint64_t value)
{
  atomicMax ((unsigned long long *)to, (unsigned long long)value);
}

template <typename Number>
static __device__ __forceinline__ void
add_MIN (Number *to, Number value)
{
  add_MAX (to, (Number)~value);
}

/* Sets those fields from the words of a part, by their numbers. */
static __device__ __forceinline__ void
set_neighbour_counts (CclFeatures &f, const uint32_t *words)
{
#define SET(column, type, field, combine)                                                          \
  CCL_NEIGHBOURS_##column (f.field = words[CCL_COUNT_##field];)
  CUDACCL_FEATURES (SET)
#undef SET
}

/* Adds those columns. */
static __device__ __forceinline__ void
add_features (CclFeatures *to, const CclFeatures &f, uint32_t columns)
{
#define ADD(column, type, field, combine)                                                          \
  if (columns & CUDACCL_COLUMN_##column)                                                           \
    add_##combine (&to->field, f.field);
  CUDACCL_FEATURES (ADD)
#undef ADD
}

static __device__ __forceinline__ void
add_part (CclPart *to, const CclPart &part)
{
#define ADD(type, field, combine) add_##combine (&to->field, part.field);
  CCL_PART_FIELDS (ADD)
#undef ADD
}

/* Adds those columns and the first pixel. */
static __device__ __forceinline__ void
add_measures (CclMeasures *to, const CclMeasures &m, uint32_t columns)
{
  columns |= CUDACCL_COLUMN_SUMS;
#define ADD(column, type, field, combine)                                                          \
  if (columns & CUDACCL_COLUMN_##column)                                                           \
    add_##combine (&to->field, m.field);
  CCL_MEASURE_FIELDS (ADD)
#undef ADD
}

/* The words of a struct that are minima, a bit each. */
#define MINIMA_SUM(Struct, field) 0
#define MINIMA_MAX(Struct, field) 0
#define MINIMA_MIN(Struct, field)                                                                  \
  (((1ull << sizeof (Struct::field) / 4) - 1) << offsetof (Struct, field) / 4)
#define OF_FEATURES(column, type, field, combine) | MINIMA_##combine (CclFeatures, field)
#define OF_PART(type, field, combine) | MINIMA_##combine (CclPart, field)
#define OF_MEASURES(column, type, field, combine) | MINIMA_##combine (CclMeasures, field)
static constexpr uint64_t minima_of_features = 0 CUDACCL_FEATURES (OF_FEATURES);
static constexpr uint64_t minima_of_part = 0 CCL_PART_FIELDS (OF_PART);
static constexpr uint64_t minima_of_measures = 0 CCL_MEASURE_FIELDS (OF_MEASURES);
#undef OF_FEATURES
#undef OF_PART
#undef OF_MEASURES
#undef MINIMA_SUM
#undef MINIMA_MAX
#undef MINIMA_MIN
static_assert (sizeof (CclMeasures) <= 4 * 64, "a bit for each word");

/* Writes a word of the result, number i of structs that have so many words and those minima, and
 * clears that of the sums. */
static __device__ __forceinline__ void
finish_word (uint32_t *result, uint32_t *sums, uint64_t i, uint32_t n_words, uint64_t minima)
{
  const uint32_t word = sums[i];
  result[i] = minima >> i % n_words & 1 ? ~word : word;
  sums[i] = 0;
}
