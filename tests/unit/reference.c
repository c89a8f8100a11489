/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reference.h"

#include <glib.h>

static bool
is_foreground (uint8_t value, const CclLabellerOptions *options)
{
  bool above = value > options->threshold;
  return options->invert ? !above : above;
}

/* Marks every pixel of the component that holds `first` and returns them, in no order. */
static GArray *
flood (const bool *foreground, bool *visited, uint32_t width, uint32_t height,
    CclConnectivity connectivity, uint32_t first)
{
  GArray *pixels = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  /* The array is also the queue of the search: the neighbours of pixels before `next` are done. */
  visited[first] = true;
  g_array_append_val (pixels, first);
  for (guint next = 0; next < pixels->len; next++) {
    uint32_t pixel = g_array_index (pixels, uint32_t, next);
    int64_t x = pixel % width;
    int64_t y = pixel / width;

    for (int dy = -1; dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        if (connectivity == CUDACCL_CONNECTIVITY_4 && dx != 0 && dy != 0)
          continue;
        if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height)
          continue;
        uint32_t neighbour = (y + dy) * width + (x + dx);
        if (foreground[neighbour] && !visited[neighbour]) {
          visited[neighbour] = true;
          g_array_append_val (pixels, neighbour);
        }
      }
    }
  }
  return pixels;
}

static CclComponent
measure (const GArray *pixels, uint32_t width)
{
  CclComponent component = {0};
  uint32_t left = UINT32_MAX, top = UINT32_MAX, right = 0, bottom = 0;
  uint64_t sum_x = 0, sum_y = 0;

  for (guint i = 0; i < pixels->len; i++) {
    uint32_t pixel = g_array_index (pixels, uint32_t, i);
    uint32_t x = pixel % width;
    uint32_t y = pixel / width;
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

Reference *
reference_new (const uint8_t *data, uint32_t width, uint32_t height, size_t stride,
    CclConnectivity connectivity, const CclLabellerOptions *options)
{
  size_t n_pixels = (size_t)width * height;
  bool *foreground = g_new (bool, n_pixels);
  bool *visited = g_new0 (bool, n_pixels);
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (CclComponent));
  Reference *reference = g_new0 (Reference, 1);

  reference->labels = g_new0 (uint32_t, n_pixels);
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++)
      foreground[(size_t)y * width + x] = is_foreground (data[y * stride + x], options);

  for (uint32_t first = 0; first < n_pixels; first++) {
    if (!foreground[first] || visited[first])
      continue;
    GArray *pixels = flood (foreground, visited, width, height, connectivity, first);
    CclComponent component = measure (pixels, width);
    if (component.area >= options->min_area &&
        (options->max_area == 0 || component.area <= options->max_area)) {
      component.label = rows->len + 1;
      g_array_append_val (rows, component);
      for (guint i = 0; i < pixels->len; i++)
        reference->labels[g_array_index (pixels, uint32_t, i)] = component.label;
    }
    g_array_unref (pixels);
  }

  reference->n_components = rows->len;
  reference->rows = (CclComponent *)g_array_free (rows, FALSE);
  g_free (visited);
  g_free (foreground);
  return reference;
}

void
reference_free (Reference *reference)
{
  g_free (reference->labels);
  g_free (reference->rows);
  g_free (reference);
}
