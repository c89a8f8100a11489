/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames as JPEG pictures. */
#pragma once

#include <gst/gst.h>

/* What is drawn over the frame. */
typedef enum {
  JPEG_PLAIN = 0,
  JPEG_BOXES = 1,      /* a box around each component */
  JPEG_FOREGROUND = 2, /* the foreground mask, where it is attached */
} JpegLook;

/* A frame as JPEG with square pixels. Blocks; any thread.
 * @width: the picture is made smaller if it is wider, in pixels; 0 = as it is
 * Returns NULL and sets the error on failure. */
GBytes *jpeg_encode (GstSample *frame, JpegLook look, gint width, GError **error);
