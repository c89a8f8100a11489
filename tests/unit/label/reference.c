/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/label/reference.h"

#include <glib.h>

static bool
is_foreground (uint8_t value, const CclLabellerOptions *options)
{
  bool above = value > options->threshold;
  return options->invert ? !above : above;
}

/* The mask with a border of one background pixel on each side, so that each pixel has eight
 * neighbours. Pixels are numbered by rows, border included. */
typedef struct Bordered {
  uint8_t *waiting; /* 1: foreground of no component so far */
  size_t row_size;
} Bordered;

/* Takes every pixel of the component that holds `first` into an array, in no order. */
static void
flood (const Bordered *mask, CclConnectivity connectivity, uint32_t first, GArray *pixels)
{
  const int64_t row = (int64_t)mask->row_size;
  const int64_t neighbours[8] = {-row, -1, 1, row, -row - 1, -row + 1, row - 1, row + 1};
  const guint n_neighbours = connectivity == CUDACCL_CONNECTIVITY_4 ? 4 : 8;

  /* The array is also the queue of the search: the neighbours of pixels before `next` are done. */
  g_array_set_size (pixels, 0);
  mask->waiting[first] = 0;
  g_array_append_val (pixels, first);
  for (guint next = 0; next < pixels->len; next++) {
    const uint32_t pixel = g_array_index (pixels, uint32_t, next);
    for (guint i = 0; i < n_neighbours; i++) {
      const uint32_t neighbour = (uint32_t)(pixel + neighbours[i]);
      if (mask->waiting[neighbour]) {
        mask->waiting[neighbour] = 0;
        g_array_append_val (pixels, neighbour);
      }
    }
  }
}

static CclComponent
measure (const GArray *pixels, uint32_t row_size)
{
  CclComponent component = {0};
  uint32_t left = UINT32_MAX, top = UINT32_MAX, right = 0, bottom = 0;
  uint64_t sum_x = 0, sum_y = 0;

  for (guint i = 0; i < pixels->len; i++) {
    uint32_t pixel = g_array_index (pixels, uint32_t, i);
    uint32_t x = pixel % row_size - 1;
    uint32_t y = pixel / row_size - 1;
    left = MIN (left, x);
    right = MAX (right, x);
    top = MIN (top, y);
    bottom = MAX (bottom, y);
    sum_x += x;
    sum_y += y;
  }
  component.area = pixels->len;
  component.x = left;
  component.y = top;
  component.width = right - left + 1;
  component.height = bottom - top + 1;
  component.centroid_x = (double)sum_x / (double)pixels->len;
  component.centroid_y = (double)sum_y / (double)pixels->len;
  return component;
}

static void
set_label (const Reference *reference, const GArray *pixels, uint32_t row_size, uint32_t label)
{
  for (guint i = 0; i < pixels->len; i++) {
    const uint32_t pixel = g_array_index (pixels, uint32_t, i);
    const size_t x = pixel % row_size - 1, y = pixel / row_size - 1;
    reference->labels[y * (row_size - 2) + x] = label;
  }
}

Reference *
reference_new (const uint8_t *data, uint32_t width, uint32_t height, size_t stride,
    CclConnectivity connectivity, const CclLabellerOptions *options)
{
  const uint32_t row_size = width + 2;
  Bordered mask = {g_new0 (uint8_t, row_size * ((size_t)height + 2)), row_size};
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (CclComponent));
  GArray *pixels = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  Reference *reference = g_new0 (Reference, 1);

  reference->labels = g_new0 (uint32_t, (size_t)width * height);
  for (size_t y = 0; y < height; y++)
    for (size_t x = 0; x < width; x++)
      mask.waiting[(y + 1) * row_size + x + 1] = is_foreground (data[y * stride + x], options);

  for (uint32_t first = row_size; first < row_size * (height + 1); first++) {
    if (!mask.waiting[first])
      continue;
    flood (&mask, connectivity, first, pixels);
    CclComponent component = measure (pixels, row_size);
    if (component.area >= options->min_area &&
        (options->max_area == 0 || component.area <= options->max_area)) {
      component.label = rows->len + 1;
      g_array_append_val (rows, component);
      set_label (reference, pixels, row_size, component.label);
    }
  }

  reference->n_components = rows->len;
  reference->rows = (CclComponent *)g_array_free (rows, FALSE);
  g_array_unref (pixels);
  g_free (mask.waiting);
  return reference;
}

void
reference_free (Reference *reference)
{
  g_free (reference->labels);
  g_free (reference->rows);
  g_free (reference);
}
