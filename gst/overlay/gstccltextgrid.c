/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccltextgrid.h"
#include "core/base/divide-up.h"

#include <string.h>

#define MAX_DISTANCE 6 /* from the anchor, in sizes of the text */

void
gst_ccl_text_grid_init (GstCclTextGrid *grid, gint width, gint height, gint cell)
{
  *grid = (GstCclTextGrid){width, height, cell, divide_up (width, cell), divide_up (height, cell)};
  grid->taken = g_malloc0 ((gsize)grid->columns * (gsize)grid->rows);
}

void
gst_ccl_text_grid_clear (GstCclTextGrid *grid)
{
  g_clear_pointer (&grid->taken, g_free);
}

void
gst_ccl_text_grid_reset (GstCclTextGrid *grid)
{
  memset (grid->taken, 0, (gsize)grid->columns * (gsize)grid->rows);
}

/* Takes the cells of a rectangle if all are free. */
static gboolean
take_cells (GstCclTextGrid *grid, gint x, gint y, gint width, gint height)
{
  const gint left = x / grid->cell, right = MIN ((x + width - 1) / grid->cell, grid->columns - 1);
  const gint top = y / grid->cell, bottom = MIN ((y + height - 1) / grid->cell, grid->rows - 1);

  for (gint row = top; row <= bottom; row++)
    if (memchr (grid->taken + row * grid->columns + left, 1, (gsize)(right - left + 1)))
      return FALSE;
  for (gint row = top; row <= bottom; row++)
    memset (grid->taken + row * grid->columns + left, 1, (gsize)(right - left + 1));
  return TRUE;
}

gboolean
gst_ccl_text_grid_take (GstCclTextGrid *grid, const GstVideoRectangle *anchor, gint width,
    gint height, gint *x, gint *y)
{
  const gint max_x = MAX (grid->width - width, 0), max_y = MAX (grid->height - height, 0);
  const gint right = anchor->x + anchor->w - width, bottom = anchor->y + anchor->h;
  const gint preferred[][2] = {
      {anchor->x, anchor->y >= height ? anchor->y - height : anchor->y},
      {right, anchor->y - height},
      {anchor->x, bottom},
      {right, bottom},
      {anchor->x, anchor->y},
      {anchor->x, bottom - height},
  };
  const gint first_x = CLAMP (preferred[0][0], 0, max_x);
  const gint first_y = CLAMP (preferred[0][1], 0, max_y);

  for (guint i = 0; i < G_N_ELEMENTS (preferred); i++) {
    *x = CLAMP (preferred[i][0], 0, max_x);
    *y = CLAMP (preferred[i][1], 0, max_y);
    if (take_cells (grid, *x, *y, width, height))
      return TRUE;
  }
  /* Around the first place, in rings: the sides first. */
  for (gint ring = 1; ring <= MAX_DISTANCE; ring++) {
    for (gint k = 0; k <= 2 * ring; k++) {
      const gint dy = k % 2 ? (k + 1) / 2 : -k / 2; /* 0, 1, -1, 2, … */
      const gint step = ABS (dy) == ring ? 1 : 2 * ring;

      for (gint dx = -ring; dx <= ring; dx += step) {
        *x = CLAMP (first_x + dx * width, 0, max_x);
        *y = CLAMP (first_y + dy * height, 0, max_y);
        if (take_cells (grid, *x, *y, width, height))
          return TRUE;
      }
    }
  }
  return FALSE;
}
