/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time of day of a frame. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  gint64 time;          /* microseconds since 1970, UTC */
  gboolean from_sender; /* by the sender's clock; otherwise the time of arrival */
} GstCclUtc;

/* The time of the frame by its sender's clock, where a reference time stamp of the kind
 * timestamp/x-ntp or timestamp/x-unix has it; otherwise the time at which
 * gst_ccl_utc_mark_arrival() saw the frame; otherwise now. */
GstCclUtc gst_ccl_utc_of_frame (GstBuffer *frame);

/* Notes in the buffer, which must be writable, that it arrives now. Decoders copy the note. */
void gst_ccl_utc_mark_arrival (GstBuffer *buffer);

/* The monotonic time of arrival in nanoseconds; GST_CLOCK_TIME_NONE if it was not noted. */
GstClockTime gst_ccl_utc_get_arrival (GstBuffer *buffer);

/* ISO 8601 with microseconds and the suffix Z, as in 2026-01-31T23:59:59.000000Z. Free with
 * g_free(). */
gchar *gst_ccl_utc_format (gint64 time);

G_END_DECLS
