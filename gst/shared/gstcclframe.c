/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclframe.h"

gboolean
gst_ccl_is_empty_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

GstClockTime
gst_ccl_running_time (const GstSegment *segment, GstClockTime timestamp)
{
  if (segment->format != GST_FORMAT_TIME)
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time (segment, GST_FORMAT_TIME, timestamp);
}

GstClockTime
gst_ccl_stream_time (const GstSegment *segment, GstClockTime timestamp)
{
  if (segment->format != GST_FORMAT_TIME)
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_stream_time (segment, GST_FORMAT_TIME, timestamp);
}

void
gst_ccl_sync_values (GstBaseTransform *trans, GstBuffer *frame)
{
  const GstClockTime time = gst_ccl_stream_time (&trans->segment, GST_BUFFER_PTS (frame));

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (trans), time);
}

GstStructure *
gst_ccl_moment_structure (const gchar *name, GstClockTime timestamp, const GstSegment *segment)
{
  return gst_structure_new (name, "timestamp", GST_TYPE_CLOCK_TIME, timestamp, "stream-time",
      GST_TYPE_CLOCK_TIME, gst_ccl_stream_time (segment, timestamp), "running-time",
      GST_TYPE_CLOCK_TIME, gst_ccl_running_time (segment, timestamp), NULL);
}
