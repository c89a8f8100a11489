/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ccloverlay draws of the regions and lines that a ccltrack upstream announced. */
#pragma once

#include <gst/gst.h>

typedef struct {
  gdouble x, y; /* fractions of the frame's width and height */
} GstCclRegionPoint;

typedef struct {
  gboolean is_line;
  gchar *text; /* the name, and the number of tracks inside or of crossings forward/backward */
  guint n_points;
  GstCclRegionPoint *points;
} GstCclRegionView;

/* Reads the structure of a `ccl-regions` event: an array of GstCclRegionView, to be freed with
 * g_array_unref(). Regions that are not well formed are left out. */
GArray *gst_ccl_region_views_new (const GstStructure *structure);
