/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What several elements ask about a frame: its times, and whether it has pixels. */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>

/* Whether a buffer stands for a gap in the stream. Elements that make buffers of gap events, as
 * GstAggregator does, give them no memory. */
gboolean gst_ccl_is_empty_gap (GstBuffer *buffer);

/* Whether a GstVideoCropMeta names another area of the frame than its caps do. No element here
 * offers to read that metadata; one that works on pixels would take those of the wrong area. */
gboolean gst_ccl_is_cropped (GstBuffer *frame, const GstVideoInfo *info);

/* The running time and the stream time of a time stamp; GST_CLOCK_TIME_NONE if there is no time
 * stamp, if it is outside of the segment, or if the segment is not one of time. */
GstClockTime gst_ccl_running_time (const GstSegment *segment, GstClockTime timestamp);
GstClockTime gst_ccl_stream_time (const GstSegment *segment, GstClockTime timestamp);

/* The time of the content that passes in a second of running time; 1 for segments that are not of
 * time. And whether the content runs backwards. */
gdouble gst_ccl_speed (const GstSegment *segment);
gboolean gst_ccl_is_reversed (const GstSegment *segment);

/* Sets controlled properties to their values at the time of the frame. The method before_transform
 * of elements with such properties. */
void gst_ccl_sync_values (GstBaseTransform *trans, GstBuffer *frame);

/* A new structure of that name with the three times of a moment in the segment: timestamp (a PTS),
 * stream-time and running-time. A time that is not known has no field. */
GstStructure *gst_ccl_moment_structure (
    const gchar *name, GstClockTime timestamp, const GstSegment *segment);
