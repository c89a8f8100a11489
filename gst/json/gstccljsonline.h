/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A line of ccljson, read back. */
#pragma once

#include <gst/gst.h>

/* Either of a frame or of an event of a track. */
typedef struct {
  GstBuffer *frame; /* without memory: its metadata; NULL for an event */
  guint width, height;
  GstStructure *event;            /* as ccltrack sends it; NULL for a frame */
  GstClockTime pts, running_time; /* GST_CLOCK_TIME_NONE: null */
} GstCclJsonLine;

/* Reads a line. Returns FALSE with the error set, and nothing to clear, if it is none that ccljson
 * writes; members that it does not know are allowed. A member of a component that it does not know
 * is a column if it is a number or null. */
gboolean gst_ccl_json_line_read (
    GstCclJsonLine *line, const gchar *text, gsize size, GError **error);

/* Frees what was not taken. */
void gst_ccl_json_line_clear (GstCclJsonLine *line);
