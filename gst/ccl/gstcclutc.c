/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:gstcclutc
 * @title: Time of day
 * @short_description: when a frame was recorded, or arrived
 *
 * Time stamps of buffers count from the start of a pipeline. These functions give the time of day
 * of a frame, for instance to store it with the components. All of them may be called from any
 * thread that holds a reference to the buffer.
 */
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

/* Holds a monotonic time: the clock may be set between arrival and result. */
static GstCaps *
arrival_caps (void)
{
  static GstStaticCaps caps = GST_STATIC_CAPS ("timestamp/x-ccl-arrival");
  return gst_static_caps_get (&caps);
}

/* Holds a time of day, for arrivals that somebody else noted. */
static GstCaps *
past_arrival_caps (void)
{
  static GstStaticCaps caps = GST_STATIC_CAPS ("timestamp/x-ccl-past-arrival");
  return gst_static_caps_get (&caps);
}

/* The time that the buffer has in these caps, which are unreferenced. */
static GstClockTime
reference_timestamp (GstBuffer *buffer, GstCaps *caps)
{
  GstReferenceTimestampMeta *meta = gst_buffer_get_reference_timestamp_meta (buffer, caps);

  gst_caps_unref (caps);
  return meta ? meta->timestamp : GST_CLOCK_TIME_NONE;
}

/**
 * gst_ccl_utc_mark_arrival:
 * @buffer: a writable #GstBuffer
 *
 * Notes in the buffer that it arrives now, for gst_ccl_utc_of_buffer() and
 * gst_ccl_utc_get_arrival(). An application does so where data of a live source come in, for
 * instance in a pad probe before the decoder, which copies the note. `ccljson` with `utc=true`
 * writes that time.
 *
 * Since: 0.3
 */
void
gst_ccl_utc_mark_arrival (GstBuffer *buffer)
{
  g_autoptr (GstCaps) caps = NULL;

  g_return_if_fail (GST_IS_BUFFER (buffer) && gst_buffer_is_writable (buffer));

  caps = arrival_caps ();
  gst_buffer_add_reference_timestamp_meta (
      buffer, caps, g_get_monotonic_time () * GST_USECOND, GST_CLOCK_TIME_NONE);
}

/**
 * gst_ccl_utc_mark:
 * @buffer: a writable #GstBuffer
 * @utc: microseconds since 1970, UTC, not negative
 * @from_sender: whether it is the time of the sender's clock; otherwise that of the arrival
 *
 * Notes the time of day of a frame that is known from elsewhere, such as a recording, for
 * gst_ccl_utc_of_buffer().
 *
 * Since: 0.4
 */
void
gst_ccl_utc_mark (GstBuffer *buffer, gint64 utc, gboolean from_sender)
{
  g_autoptr (GstCaps) caps = NULL;

  g_return_if_fail (GST_IS_BUFFER (buffer) && gst_buffer_is_writable (buffer));
  g_return_if_fail (utc >= 0 && utc <= G_MAXINT64 / (gint64)GST_USECOND);

  caps = from_sender ? unix_caps () : past_arrival_caps ();
  gst_buffer_add_reference_timestamp_meta (
      buffer, caps, (GstClockTime)utc * GST_USECOND, GST_CLOCK_TIME_NONE);
}

/**
 * gst_ccl_utc_get_arrival:
 * @buffer: a #GstBuffer
 *
 * When the buffer arrived.
 *
 * Returns: the monotonic time in nanoseconds, 1000 times that of g_get_monotonic_time();
 *   %GST_CLOCK_TIME_NONE if gst_ccl_utc_mark_arrival() did not note it
 *
 * Since: 0.3
 */
GstClockTime
gst_ccl_utc_get_arrival (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), GST_CLOCK_TIME_NONE);

  return reference_timestamp (buffer, arrival_caps ());
}

/* The time by the sender's clock; -1 if the buffer does not have it. */
static gint64
utc_of_sender (GstBuffer *buffer)
{
  GstClockTime time = reference_timestamp (buffer, ntp_caps ());

  /* A sender without a clock sends zeros or a time before 1970. */
  if (GST_CLOCK_TIME_IS_VALID (time) && time >= NTP_TO_UNIX * GST_SECOND)
    return (gint64)((time - NTP_TO_UNIX * GST_SECOND) / GST_USECOND);
  time = reference_timestamp (buffer, unix_caps ());
  return GST_CLOCK_TIME_IS_VALID (time) ? (gint64)(time / GST_USECOND) : -1;
}

/**
 * gst_ccl_utc_of_buffer:
 * @buffer: a #GstBuffer
 * @from_sender: (out) (optional): whether it is the time of the sender's clock
 *
 * The time of day of a frame: by the clock of its sender, where a #GstReferenceTimestampMeta with
 * the caps `timestamp/x-ntp` or `timestamp/x-unix` has it, as
 * `rtspsrc add-reference-timestamp-meta=true` attaches it; otherwise the time at which the frame
 * arrived, where gst_ccl_utc_mark_arrival() or gst_ccl_utc_mark() noted it; otherwise the present
 * time.
 *
 * Returns: microseconds since 1970, UTC
 *
 * Since: 0.3
 */
gint64
gst_ccl_utc_of_buffer (GstBuffer *buffer, gboolean *from_sender)
{
  GstClockTime arrival;
  gint64 utc;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), 0);

  utc = utc_of_sender (buffer);
  if (from_sender)
    *from_sender = utc >= 0;
  if (utc >= 0)
    return utc;
  arrival = reference_timestamp (buffer, past_arrival_caps ());
  if (GST_CLOCK_TIME_IS_VALID (arrival))
    return (gint64)(arrival / GST_USECOND);
  arrival = gst_ccl_utc_get_arrival (buffer);
  if (!GST_CLOCK_TIME_IS_VALID (arrival))
    return g_get_real_time ();
  return g_get_real_time () - (g_get_monotonic_time () - (gint64)(arrival / GST_USECOND));
}

/**
 * gst_ccl_utc_format:
 * @utc: microseconds since 1970, UTC
 *
 * Formats a time of day.
 *
 * Returns: (transfer full) (nullable): ISO 8601 with microseconds and the suffix Z, as in
 *   2026-01-31T23:59:59.000000Z; %NULL for a time outside of the years 1 to 9999
 *
 * Since: 0.3
 */
gchar *
gst_ccl_utc_format (gint64 utc)
{
  const gint rest = (gint)(utc % G_USEC_PER_SEC), is_before = rest < 0; /* rounds to 0, not down */
  g_autoptr (GDateTime) seconds = g_date_time_new_from_unix_utc (utc / G_USEC_PER_SEC - is_before);
  g_autofree gchar *date = seconds ? g_date_time_format (seconds, "%Y-%m-%dT%H:%M:%S") : NULL;

  return date ? g_strdup_printf ("%s.%06dZ", date, rest + is_before * (gint)G_USEC_PER_SEC) : NULL;
}
