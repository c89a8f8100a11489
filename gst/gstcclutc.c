/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclutc.h"

/* Seconds from 1900, where NTP's time begins, to 1970. */
#define NTP_TO_UNIX G_GUINT64_CONSTANT (2208988800)

static GstCaps *
ntp_caps (void)
{
  static GstStaticCaps caps = GST_STATIC_CAPS ("timestamp/x-ntp");
  return gst_static_caps_get (&caps);
}

static GstCaps *
unix_caps (void)
{
  static GstStaticCaps caps = GST_STATIC_CAPS ("timestamp/x-unix");
  return gst_static_caps_get (&caps);
}

/* The value is monotonic, so that a step of the clock between arrival and result does no harm. */
static GstCaps *
arrival_caps (void)
{
  static GstStaticCaps caps = GST_STATIC_CAPS ("timestamp/x-ccl-arrival");
  return gst_static_caps_get (&caps);
}

/* Takes the caps. */
static GstClockTime
reference_timestamp (GstBuffer *buffer, GstCaps *caps)
{
  GstReferenceTimestampMeta *meta = gst_buffer_get_reference_timestamp_meta (buffer, caps);

  gst_caps_unref (caps);
  return meta ? meta->timestamp : GST_CLOCK_TIME_NONE;
}

void
gst_ccl_utc_mark_arrival (GstBuffer *buffer)
{
  GstCaps *caps = arrival_caps ();

  gst_buffer_add_reference_timestamp_meta (
      buffer, caps, g_get_monotonic_time () * GST_USECOND, GST_CLOCK_TIME_NONE);
  gst_caps_unref (caps);
}

GstClockTime
gst_ccl_utc_get_arrival (GstBuffer *buffer)
{
  return reference_timestamp (buffer, arrival_caps ());
}

GstCclUtc
gst_ccl_utc_of_frame (GstBuffer *frame)
{
  GstClockTime time = reference_timestamp (frame, ntp_caps ());

  /* A sender without a clock sends zeros or a time before 1970. */
  if (GST_CLOCK_TIME_IS_VALID (time) && time >= NTP_TO_UNIX * GST_SECOND)
    return (GstCclUtc){(time - NTP_TO_UNIX * GST_SECOND) / GST_USECOND, TRUE};
  time = reference_timestamp (frame, unix_caps ());
  if (GST_CLOCK_TIME_IS_VALID (time))
    return (GstCclUtc){time / GST_USECOND, TRUE};
  time = gst_ccl_utc_get_arrival (frame);
  if (GST_CLOCK_TIME_IS_VALID (time))
    return (GstCclUtc){
        g_get_real_time () - (g_get_monotonic_time () - (gint64)(time / GST_USECOND)), FALSE};
  return (GstCclUtc){g_get_real_time (), FALSE};
}

gchar *
gst_ccl_utc_format (gint64 time)
{
  GDateTime *seconds = g_date_time_new_from_unix_utc (time / G_USEC_PER_SEC);
  gchar *date = seconds ? g_date_time_format (seconds, "%Y-%m-%dT%H:%M:%S") : NULL;
  gchar *text = date ? g_strdup_printf ("%s.%06dZ", date, (gint)(time % G_USEC_PER_SEC)) : NULL;

  g_free (date);
  g_clear_pointer (&seconds, g_date_time_unref);
  return text;
}
