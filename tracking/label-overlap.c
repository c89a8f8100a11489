/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Both passes go over a row by runs, sequences of pixels with the same component or label. Only the
 * first pixel of a run is looked up.
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

static void
count_row (CclLabelOverlap *o, const CclLabels *labels, uint32_t y)
{
  const uint16_t *component = o->component + (size_t)(y / o->step) * o->width;
  for (uint32_t x = 0; x < o->width;) {
    const uint32_t first = x;
    x = end_of_run_16 (component, x, o->width);
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
    count_row (o, labels, y);
}

static void
store_row (const CclLabelOverlap *o, const CclLabels *labels, uint32_t y)
{
  const uint32_t *label = row_of (labels, y);
  uint16_t *component = o->component + (size_t)(y / o->step) * o->width;
  for (uint32_t x = 0; x < o->width;) {
    const uint32_t first = x, found = find_component (o, label[x]);
    const uint16_t stored = found == NONE ? 0 : (uint16_t)(found + 1);
    x = end_of_run_32 (label, x, o->width);
    uint16_t *run = component + first;
    for (size_t i = 0, n = x - first; i < n; i++)
      run[i] = stored;
  }
}

void
ccl_label_overlap_store (CclLabelOverlap *o, const CclLabels *labels)
{
  for (uint32_t y = 0; y < o->height; y += o->step)
    store_row (o, labels, y);
}
