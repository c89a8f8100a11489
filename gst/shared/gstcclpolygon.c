/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclpolygon.h"

#include <math.h>

gboolean
gst_ccl_polygon_is_flat (const CclPoint *points, guint n)
{
  const CclPoint first = points[0];
  CclPoint other = first;

  for (guint i = 1; i < n; i++) {
    const CclPoint point = points[i];

    if ((other.x - first.x) * (point.y - first.y) != (other.y - first.y) * (point.x - first.x))
      return FALSE;
    if (other.x == first.x && other.y == first.y)
      other = point;
  }
  return TRUE;
}

/* The first of n pixels whose centre is not before the coordinate; n: there is none. */
static guint
first_pixel (gdouble coordinate, guint n)
{
  const gdouble pixel = ceil (coordinate - 0.5);

  return (guint)CLAMP (pixel, 0, n);
}

/* Toggles, in each row whose centre the edge crosses, the first pixel behind the crossing. */
static void
toggle_edge (CclPoint a, CclPoint b, guint width, guint height, guint8 *toggles)
{
  const guint end = first_pixel (MAX (a.y, b.y), height);

  for (guint y = first_pixel (MIN (a.y, b.y), height); y < end; y++) {
    const gdouble x = a.x + (y + 0.5 - a.y) / (b.y - a.y) * (b.x - a.x);
    const guint column = first_pixel (x, width);

    if (column < width)
      toggles[(gsize)y * width + column] ^= 1;
  }
}

void
gst_ccl_polygon_clear_pixels (
    const CclPoint *points, guint n, guint width, guint height, guint8 *pixels, guint8 *scratch)
{
  gdouble top = points[0].y, bottom = top;

  for (guint i = 0; i < n; i++) {
    toggle_edge (points[i], points[(i + 1) % n], width, height, scratch);
    top = MIN (top, points[i].y);
    bottom = MAX (bottom, points[i].y);
  }
  for (gsize y = first_pixel (top, height); y < first_pixel (bottom, height); y++) {
    guint8 is_inside = 0;

    for (gsize i = y * width; i < (y + 1) * width; i++) {
      is_inside ^= scratch[i];
      scratch[i] = 0;
      if (is_inside)
        pixels[i] = 0;
    }
  }
}
