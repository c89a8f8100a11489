/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of a line of JSON. Each function appends one; commas between parts are the caller's. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <gst/video/video.h>

/* A text in quotes, with the characters escaped that JSON does not allow there. */
void gst_ccl_json_append_string (GString *line, const gchar *text);

/* A number with a few digits behind the point. */
void gst_ccl_json_append_rounded (GString *line, gdouble value, guint n_digits);

/* A time in nanoseconds, or null if it is GST_CLOCK_TIME_NONE. */
void gst_ccl_json_append_time (GString *line, GstClockTime time);

/* The members of a frame's object from `width` to `components`. */
void gst_ccl_json_append_meta (GString *line, GstBuffer *frame, const GstCclMeta *meta);

/* The same members of a frame of that size that was not labelled. */
void gst_ccl_json_append_unlabelled (GString *line, const GstVideoInfo *info);
