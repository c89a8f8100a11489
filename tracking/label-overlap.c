/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Both passes go over the spans of a row by runs, sequences of pixels with the same component or
 * label. Only the first pixel of a run is looked up.
 */
#include "label-overlap.h"

#include <string.h>

#define BLOCK 16 /* pixels that are compared at once */
#define NONE UINT32_MAX

static inline const uint32_t *
row_of (const CclLabels *labels, uint32_t y)
{
  return (const uint32_t *)((const char *)labels->data + y * labels->stride);
}

/* The component with that label, or NONE. Usually labels are 1, 2, 3, … */
static uint32_t
find_component (const CclLabelOverlap *o, uint32_t label)
{
  if (label == 0)
    return NONE;
  if (label <= o->n_components && o->label[label - 1] == label)
    return label - 1;
  uint32_t low = 0, high = o->n_components;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (o->label[middle] < label)
      low = middle + 1;
    else
      high = middle;
  }
  return low < o->n_components && o->label[low] == label ? low : NONE;
}

/* The end of the run that begins at x, for each width of pixels. The loops over a block have no
 * branches, so that compilers vectorise them. */
static inline uint32_t
end_of_run_16 (const uint16_t *pixels, uint32_t x, uint32_t width)
{
  const uint16_t first = pixels[x];
  for (; x + BLOCK <= width; x += BLOCK) {
    const uint16_t *block = pixels + x;
    uint16_t differs = 0;
    for (size_t i = 0; i < BLOCK; i++)
      differs |= block[i] ^ first;
    if (differs)
      break;
  }
  while (x < width && pixels[x] == first)
    x++;
  return x;
}

static inline uint32_t
end_of_run_32 (const uint32_t *pixels, uint32_t x, uint32_t width)
{
  const uint32_t first = pixels[x];
  for (; x + BLOCK <= width; x += BLOCK) {
    const uint32_t *block = pixels + x;
    uint32_t differs = 0;
    for (size_t i = 0; i < BLOCK; i++)
      differs |= block[i] ^ first;
    if (differs)
      break;
  }
  while (x < width && pixels[x] == first)
    x++;
  return x;
}

/* Adds the pixels from begin to end in row y of the frame before, all of one group. */
static void
count_run (CclLabelOverlap *o, const CclLabels *labels, uint32_t group, uint32_t begin,
    uint32_t end, uint32_t y)
{
  const int64_t row = (int64_t)y + o->shift[group].y;
  int64_t x = (int64_t)begin + o->shift[group].x, last = (int64_t)end + o->shift[group].x;
  if (row < 0 || row >= o->height)
    return;
  x = x > 0 ? x : 0;
  last = last < o->width ? last : o->width;
  const uint32_t *label = row_of (labels, (uint32_t)row);
  uint32_t *shared = o->shared + (size_t)group * o->n_components;
  while (x < last) {
    const int64_t first = x;
    x = end_of_run_32 (label, (uint32_t)x, (uint32_t)last);
    const uint32_t component = find_component (o, label[first]);
    if (component != NONE)
      shared[component] += (uint32_t)(x - first) * o->weight;
  }
}

/* The next pixels from *end on, from *begin to before *end, whose spans are set. */
static bool
find_spans (const uint64_t *spans, uint32_t width, uint32_t *begin, uint32_t *end)
{
  const uint32_t n = (width + CUDACCL_SPAN - 1) / CUDACCL_SPAN;
  uint32_t i = (*end + CUDACCL_SPAN - 1) / CUDACCL_SPAN;
  while (i < n && !(spans[i / 64] >> i % 64 & 1)) {
    const uint64_t rest = spans[i / 64] >> i % 64;
    i = rest ? i + (uint32_t)__builtin_ctzll (rest) : (i / 64 + 1) * 64;
  }
  *begin = i * CUDACCL_SPAN;
  while (i < n && spans[i / 64] >> i % 64 & 1)
    i++;
  *end = i < n ? i * CUDACCL_SPAN : width;
  return *begin < width;
}

static inline uint64_t *
spans_of_row (const CclLabelOverlap *o, uint64_t *spans, uint32_t y)
{
  return spans + (size_t)(y / o->step) * ccl_label_overlap_words (o->width);
}

void
ccl_label_overlap_cover (
    CclLabelOverlap *o, uint32_t left, uint32_t top, uint32_t right, uint32_t bottom)
{
  if (left >= right)
    return;
  const uint32_t first = left / CUDACCL_SPAN, last = (right - 1) / CUDACCL_SPAN;
  for (uint32_t y = (top + o->step - 1) / o->step * o->step; y < bottom; y += o->step) {
    uint64_t *spans = spans_of_row (o, o->covered, y);
    for (uint32_t i = first; i <= last; i++)
      spans[i / 64] |= (uint64_t)1 << i % 64;
  }
}

static void
count_pixels (CclLabelOverlap *o, const CclLabels *labels, uint32_t y, uint32_t begin, uint32_t end)
{
  const uint16_t *component = o->component + (size_t)(y / o->step) * o->width;
  for (uint32_t x = begin; x < end;) {
    const uint32_t first = x;
    x = end_of_run_16 (component, x, end);
    const uint16_t group = component[first] ? o->group[component[first] - 1] : CUDACCL_NO_GROUP;
    if (group != CUDACCL_NO_GROUP)
      count_run (o, labels, group, first, x, y);
  }
}

void
ccl_label_overlap_count (CclLabelOverlap *o, const CclLabels *labels)
{
  memset (o->shared, 0, (size_t)o->n_groups * o->n_components * sizeof *o->shared);
  if (o->n_groups == 0 || o->n_components == 0)
    return;
  for (uint32_t y = 0; y < o->height; y += o->step)
    for (uint32_t begin, end = 0;
         find_spans (spans_of_row (o, o->stored, y), o->width, &begin, &end);)
      count_pixels (o, labels, y, begin, end);
}

/* Stores the components of pixels that have none yet. */
static void
store_pixels (
    const CclLabelOverlap *o, const CclLabels *labels, uint32_t y, uint32_t begin, uint32_t end)
{
  const uint32_t *label = row_of (labels, y);
  uint16_t *component = o->component + (size_t)(y / o->step) * o->width;
  for (uint32_t x = begin; x < end;) {
    const uint32_t first = x, found = find_component (o, label[x]);
    x = end_of_run_32 (label, x, end);
    if (found == NONE)
      continue;
    for (uint32_t i = first; i < x; i++)
      component[i] = (uint16_t)(found + 1);
  }
}

/* Removes the frame before from the spans of a row. */
static void
clear_row (const CclLabelOverlap *o, uint32_t y)
{
  uint16_t *component = o->component + (size_t)(y / o->step) * o->width;
  uint64_t *spans = spans_of_row (o, o->stored, y);
  for (uint32_t begin, end = 0; find_spans (spans, o->width, &begin, &end);)
    memset (component + begin, 0, (end - begin) * sizeof *component);
  memset (spans, 0, ccl_label_overlap_words (o->width) * sizeof *spans);
}

void
ccl_label_overlap_store (CclLabelOverlap *o, const CclLabels *labels)
{
  uint64_t *const stored = o->stored;
  for (uint32_t y = 0; y < o->height; y += o->step) {
    clear_row (o, y);
    for (uint32_t begin, end = 0;
         find_spans (spans_of_row (o, o->covered, y), o->width, &begin, &end);)
      store_pixels (o, labels, y, begin, end);
  }
  o->stored = o->covered;
  o->covered = stored;
}
