/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "settings.h"

#include <string.h>

#include "watch/system/web-guard.h"

/* The property that a key names, if it is one of the element. */
static const gchar *
property_of_key (const gchar *key, const gchar *element)
{
  const gsize length = strlen (element);

  return strncmp (key, element, length) == 0 && key[length] == '.' ? key + length + 1 : NULL;
}

static void
set_default (GstElement *target, const gchar *property)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (target), property);
  GValue value = G_VALUE_INIT;

  if (!pspec)
    return;
  g_value_init (&value, pspec->value_type);
  g_param_value_set_default (pspec, &value);
  g_object_set_property (G_OBJECT (target), property, &value);
  g_value_unset (&value);
}

void
watch_settings_default (GstElement *element, const gchar *property, const gchar *value)
{
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), property))
    gst_util_set_object_arg (G_OBJECT (element), property, value);
}

/* Keys were checked when the configuration was read, so properties that the element does not have
 * are those of another labeller. */
void
watch_settings_change (const WatchCameraConfig *before, const WatchCameraConfig *after,
    const gchar *element, GstElement *target)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, before ? before->properties : after->properties);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (property_of_key (key, element) && !g_hash_table_contains (after->properties, key))
      set_default (target, property_of_key (key, element));
  g_hash_table_iter_init (&iter, after->properties);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    const gchar *property = property_of_key (key, element);

    if (property &&
        (!before || g_strcmp0 (g_hash_table_lookup (before->properties, key), value) != 0))
      watch_settings_default (target, property, value);
  }
}

GstClockTimeDiff
watch_running_time_on_pad (GstPad *pad, GstClockTime time)
{
  g_autoptr (GstEvent) event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  guint64 distance;
  gint sign = 0;

  if (event) {
    gst_event_parse_segment (event, &segment);
    if (segment->format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID (time))
      sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, time, &distance);
  }
  return sign == 0 ? GST_CLOCK_STIME_NONE : sign * (GstClockTimeDiff)distance;
}

void
watch_settings_apply_to_source (const WatchCameraConfig *config, GstElement *source)
{
  /* Of rtspsrc. TCP, because with UDP lost packets look like garbage; the sender's clock. */
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (source), "add-reference-timestamp-meta")) {
    watch_settings_default (source, "protocols", "tcp");
    watch_settings_default (source, "latency", "200");
    watch_settings_default (source, "add-reference-timestamp-meta", "true");
  }
  /* Of v4l2src. Since GStreamer 1.24 it offers DMABuf memory first, and uridecodebin3 takes that
   * without a question to the elements behind it, which need ordinary memory. */
  watch_settings_default (source, "io-mode", "mmap");
  watch_settings_change (NULL, config, "source", source);
}

/* An RTSP server that sends by UDP names the address that reports on its stream are sent to. */
void
watch_settings_check_receiver (const gchar *uri, GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  g_autofree gchar *host = NULL;

  if (!factory || strcmp (GST_OBJECT_NAME (factory), "udpsink") != 0)
    return;
  g_object_get (element, "host", &host, NULL);
  if (host && !watch_guard_may_send (uri, host))
    g_signal_emit_by_name (element, "clear"); /* it has no receiver then */
}
