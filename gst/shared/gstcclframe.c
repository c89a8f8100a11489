/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclframe.h"

gboolean
gst_ccl_is_empty_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

gboolean
gst_ccl_is_cropped (GstBuffer *frame, const GstVideoInfo *info)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (frame);

  return crop &&
         (crop->x != 0 || crop->y != 0 || crop->width != (guint)GST_VIDEO_INFO_WIDTH (info) ||
             crop->height != (guint)GST_VIDEO_INFO_HEIGHT (info));
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

gdouble
gst_ccl_speed (const GstSegment *segment)
{
  return segment->format == GST_FORMAT_TIME ? ABS (segment->rate * segment->applied_rate) : 1;
}

gboolean
gst_ccl_is_reversed (const GstSegment *segment)
{
  return segment->format == GST_FORMAT_TIME && segment->rate * segment->applied_rate < 0;
}

void
gst_ccl_sync_values (GstBaseTransform *trans, GstBuffer *frame)
{
  const GstClockTime time = gst_ccl_stream_time (&trans->segment, GST_BUFFER_PTS (frame));

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (trans), time);
}

static void
set_time (GstStructure *structure, const gchar *name, GstClockTime time)
{
  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_structure_set (structure, name, GST_TYPE_CLOCK_TIME, time, NULL);
}

GstStructure *
gst_ccl_moment_structure (const gchar *name, GstClockTime timestamp, const GstSegment *segment)
{
  GstStructure *structure = gst_structure_new_empty (name);

  set_time (structure, "timestamp", timestamp);
  set_time (structure, "stream-time", gst_ccl_stream_time (segment, timestamp));
  set_time (structure, "running-time", gst_ccl_running_time (segment, timestamp));
  return structure;
}
