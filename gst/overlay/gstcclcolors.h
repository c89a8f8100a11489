/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distinct colours for numbers. */
#pragma once

#include <glib.h>

/* Red, green and blue from 0 to 1. Consecutive numbers get hues far apart. */
void gst_ccl_color_of_number (guint64 number, gdouble rgb[3]);

/* The opaque colour of a track, 0xAARRGGBB: light, so that it is seen on a dark backdrop. */
guint gst_ccl_color_of_id (guint64 id);
