/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row is read by runs, sequences of pixels with the same label, of which only the first one is
 * looked up. Runs of the frame before are kept rather than its pixels: they are read one after the
 * other, and are few. */
#include "label-overlap.h"

#include "core/base/divide-up.h"

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

/* The end of the run that begins at x. The loop over a block has no branches, so that compilers
 * vectorise it. */
static inline uint32_t
end_of_run (const uint32_t *pixels, uint32_t x, uint32_t width)
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
    x = end_of_run (label, (uint32_t)x, (uint32_t)last);
    const uint32_t component = find_component (o, label[first]);
    if (component != NONE)
      shared[component] += (uint32_t)(x - first) * o->weight;
  }
}

/* The next pixels from *end on, from *begin to before *end, whose spans are set. */
static bool
find_spans (const uint64_t *spans, uint32_t width, uint32_t *begin, uint32_t *end)
{
  const uint32_t n = (uint32_t)divide_up (width, CUDACCL_SPAN);
  uint32_t i = (uint32_t)divide_up (*end, CUDACCL_SPAN);
  while (i < n && !(spans[i / 64] >> i % 64 & 1)) {
    const uint64_t rest = spans[i / 64] >> i % 64;
    i = rest ? i + (uint32_t)__builtin_ctzll (rest) : (i / 64 + 1) * 64;
  }
  *begin = i * CUDACCL_SPAN;
  while (i < n && spans[i / 64] >> i % 64 & 1) {
    const uint64_t rest = ~(spans[i / 64] >> i % 64); /* bits shifted in end a run in its word */
    const uint32_t left = 64 - i % 64, run = rest ? (uint32_t)__builtin_ctzll (rest) : 64;
    i += run < left ? run : left;
  }
  *end = i < n ? i * CUDACCL_SPAN : width;
  return *begin < width;
}

static inline uint64_t *
spans_of_row (const CclLabelOverlap *o, uint32_t y)
{
  return o->covered + (size_t)(y / o->step) * ccl_label_overlap_words (o->width);
}

void
ccl_label_overlap_cover (
    CclLabelOverlap *o, uint32_t left, uint32_t top, uint32_t right, uint32_t bottom)
{
  if (left >= right)
    return;
  const uint32_t first = left / CUDACCL_SPAN, last = (right - 1) / CUDACCL_SPAN;
  for (uint32_t y = round_up (top, o->step); y < bottom; y += o->step) {
    uint64_t *spans = spans_of_row (o, y);
    for (uint32_t i = first; i <= last; i++)
      spans[i / 64] |= (uint64_t)1 << i % 64;
  }
}

void
ccl_label_overlap_count (CclLabelOverlap *o, const CclLabels *labels)
{
  memset (o->shared, 0, (size_t)o->n_groups * o->n_components * sizeof *o->shared);
  if (o->n_groups == 0 || o->n_components == 0)
    return;
  for (uint32_t i = 0; i < o->n_runs; i++) {
    const CclLabelRun *run = &o->runs[i];
    const uint16_t group = o->group[run->component];
    if (group != CUDACCL_NO_GROUP)
      count_run (o, labels, group, run->begin, run->end, run->y);
  }
}

static void
store_pixels (CclLabelOverlap *o, const CclLabels *labels, uint32_t y, uint32_t begin, uint32_t end)
{
  const uint32_t *label = row_of (labels, y);
  for (uint32_t x = begin; x < end;) {
    const uint32_t first = x, component = find_component (o, label[x]);
    x = end_of_run (label, x, end);
    if (component != NONE)
      o->runs[o->n_runs++] = (CclLabelRun){y, first, x, component};
  }
}

void
ccl_label_overlap_store (CclLabelOverlap *o, const CclLabels *labels)
{
  o->n_runs = 0;
  for (uint32_t y = 0; y < o->height; y += o->step) {
    uint64_t *spans = spans_of_row (o, y);
    for (uint32_t begin, end = 0; find_spans (spans, o->width, &begin, &end);)
      store_pixels (o, labels, y, begin, end);
    memset (spans, 0, ccl_label_overlap_words (o->width) * sizeof *spans);
  }
}
