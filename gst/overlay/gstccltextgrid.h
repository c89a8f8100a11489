/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places for texts in a frame, so that no text covers another one. */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

/* A grid of cells of a few pixels, which are free or taken. */
typedef struct {
  gint width, height; /* of the frame, pixels */
  gint cell;          /* width and height of a cell, pixels */
  gint columns, rows;
  guint8 *taken;
} GstCclTextGrid;

void gst_ccl_text_grid_init (GstCclTextGrid *grid, gint width, gint height, gint cell);

void gst_ccl_text_grid_clear (GstCclTextGrid *grid);

/* Makes all cells free. */
void gst_ccl_text_grid_reset (GstCclTextGrid *grid);

/* Finds a place for a text of this size in pixels: just above the anchor, a box that it describes,
 * else just below, inside, or as near as there is room. Takes the place, which is inside of the
 * frame if the text is smaller. FALSE if there is no room near the anchor. */
gboolean gst_ccl_text_grid_take (GstCclTextGrid *grid, const GstVideoRectangle *anchor, gint width,
    gint height, gint *x, gint *y);
