/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames as JPEG pictures. */
#pragma once

#include <gst/gst.h>

/* A frame as JPEG with square pixels, with or without a box around each component. Blocks; any
 * thread.
 * @width: the picture is made smaller if it is wider, in pixels; 0 = as it is
 * Returns NULL and sets the error on failure. */
GBytes *jpeg_encode (GstSample *frame, gboolean boxes, gint width, GError **error);
