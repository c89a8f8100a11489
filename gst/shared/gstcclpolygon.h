/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Polygons in frames. */
#pragma once

#include <gst/gst.h>

#include <cudaccl/regions.h>

/* Whether all points are on one straight line. n ≥ 1. */
gboolean gst_ccl_polygon_is_flat (const CclPoint *points, guint n);

/* Sets the pixels to 0 whose centres are inside of the polygon, by the even-odd rule. Points are in
 * pixels, and may lie outside of the frame.
 * pixels: height rows of width bytes. scratch: as many bytes, which are 0, and are 0 again. */
void gst_ccl_polygon_clear_pixels (
    const CclPoint *points, guint n, guint width, guint height, guint8 *pixels, guint8 *scratch);
