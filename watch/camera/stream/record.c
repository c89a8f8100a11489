/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pipeline is
 *
 *     urisourcebin ! parsebin ! fakesink
 *
 * with further sinks for streams that are not recorded, such as sound. */
#include "record.h"

#include "watch/camera/camera-state.h"
#include "watch/system/log.h"
#include "watch/system/process-limits.h"
#include "settings.h"

struct _WatchRecord {
  WatchCamera *camera;
  GstElement *pipeline; /* NULL between connections */
  GSource *timer;       /* the next check, or the next attempt */
  guint n_attempts;     /* without a frame */
  gchar *trouble;       /* the last failure, until frames arrive */
  gint n_frames;        /* atomic: since the last check */
  gint has_video;       /* atomic: a stream is being recorded */
};

static gboolean connect_stream (gpointer data);

static void
call_later (WatchRecord *self, gdouble seconds, GSourceFunc function)
{
  watch_camera_remove_source (&self->timer);
  self->timer = g_timeout_source_new (seconds * 1000);
  g_source_set_callback (self->timer, function, self, NULL);
  g_source_attach (self->timer, self->camera->context);
}

static void
stop (WatchRecord *self)
{
  g_autoptr (GstBus) bus = NULL;

  watch_camera_remove_source (&self->timer);
  if (!self->pipeline)
    return;
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  bus = gst_element_get_bus (self->pipeline);
  gst_bus_remove_watch (bus);
  gst_clear_object (&self->pipeline);
}

/* Each failure is reported once: the same one follows from each attempt. */
static void
lose (WatchRecord *self, const gchar *reason)
{
  const WatchCameraConfig *config = camera_config (self->camera);
  const gdouble most = MAX (config->retry_max, config->retry_min);

  stop (self);
  if (g_strcmp0 (self->trouble, reason) != 0)
    watch_log_warning (
        "camera %s: record-uri: %s; no clips until it works again", self->camera->name, reason);
  g_free (self->trouble);
  self->trouble = g_strdup (reason);
  call_later (
      self, MIN (config->retry_min * (1u << MIN (self->n_attempts, 20)), most), connect_stream);
  self->n_attempts++;
}

static gboolean
on_bus (GstBus *bus, GstMessage *message, gpointer data)
{
  g_autoptr (GError) error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS) {
    lose (data, "the stream ended");
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    lose (data, error->message);
  } else {
    return G_SOURCE_CONTINUE;
  }
  return G_SOURCE_REMOVE;
}

static gboolean
check (gpointer data)
{
  WatchRecord *self = data;
  g_autofree gchar *reason = NULL;

  if (g_atomic_int_get (&self->n_frames) == 0) {
    reason = g_strdup_printf ("no frame for %g seconds", camera_config (self->camera)->timeout);
    lose (self, reason);
    return G_SOURCE_REMOVE;
  }
  if (self->trouble)
    watch_log_info ("camera %s: record-uri: works again", self->camera->name);
  g_clear_pointer (&self->trouble, g_free);
  self->n_attempts = 0;
  g_atomic_int_set (&self->n_frames, 0);
  return G_SOURCE_CONTINUE;
}

/* An encoded frame. Both pipelines have the same clock, so running times differ by the times at
 * which they started. */
static GstPadProbeReturn
on_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  WatchRecord *self = data;
  WatchCamera *camera = self->camera;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstClockTimeDiff time = watch_running_time_on_pad (pad, GST_BUFFER_DTS_OR_PTS (buffer));
  g_autoptr (GstElement) sink = gst_pad_get_parent_element (pad);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);

  g_atomic_int_inc (&self->n_frames);
  /* Before the analysis plays, it has no running time to convert to, and reports no motion, so no
   * clip needs the frame. */
  if (sink && caps && GST_STATE (camera->analysis.sink) == GST_STATE_PLAYING) {
    if (GST_CLOCK_STIME_IS_VALID (time))
      time += GST_CLOCK_DIFF (
          gst_element_get_base_time (camera->analysis.sink), gst_element_get_base_time (sink));
    watch_camera_encoded (camera, buffer, caps, time);
  }
  return GST_PAD_PROBE_OK;
}

static gboolean
is_video (GstPad *pad)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  const gchar *name;

  if (!caps)
    caps = gst_pad_query_caps (pad, NULL);
  name = gst_caps_is_any (caps) || gst_caps_is_empty (caps)
             ? ""
             : gst_structure_get_name (gst_caps_get_structure (caps, 0));
  return g_str_has_prefix (name, "video/") || g_str_has_prefix (name, "image/");
}

/* Of the streams, the first video is recorded. */
static void
on_stream (GstElement *parser, GstPad *pad, gpointer data)
{
  WatchRecord *self = data;
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);
  g_autoptr (GstPad) end = gst_element_get_static_pad (sink, "sink");

  g_object_set (sink, "sync", FALSE, "async", FALSE, "enable-last-sample", FALSE, NULL);
  if (is_video (pad) && g_atomic_int_compare_and_exchange (&self->has_video, FALSE, TRUE))
    gst_pad_add_probe (end, GST_PAD_PROBE_TYPE_BUFFER, on_frame, self, NULL);
  gst_bin_add (GST_BIN (self->pipeline), sink);
  gst_element_sync_state_with_parent (sink);
  gst_pad_link (pad, end);
}

static void
on_source_pad (GstElement *source, GstPad *pad, gpointer data)
{
  WatchRecord *self = data;
  GstElement *parser = gst_element_factory_make ("parsebin", NULL);
  g_autoptr (GstPad) begin = gst_element_get_static_pad (parser, "sink");

  g_signal_connect (parser, "pad-added", G_CALLBACK (on_stream), self);
  gst_bin_add (GST_BIN (self->pipeline), parser);
  gst_element_sync_state_with_parent (parser);
  gst_pad_link (pad, begin);
}

static void
on_source_setup (GstElement *bin, GstElement *source, gpointer data)
{
  watch_settings_apply_to_source (camera_config (((WatchRecord *)data)->camera), source);
}

static void
on_deep_element_added (GstBin *pipeline, GstBin *parent, GstElement *element, gpointer data)
{
  watch_settings_check_receiver (
      camera_config (((WatchRecord *)data)->camera)->record_uri, element);
}

static gboolean
connect_stream (gpointer data)
{
  WatchRecord *self = data;
  const WatchCameraConfig *config = camera_config (self->camera);
  g_autoptr (GstClock) clock = gst_system_clock_obtain ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GstBus) bus = NULL;
  GstElement *source;

  if (!watch_limits_check (&error)) {
    lose (self, error->message);
    return G_SOURCE_REMOVE;
  }
  source = gst_element_factory_make ("urisourcebin", NULL);
  self->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  gst_pipeline_use_clock (GST_PIPELINE (self->pipeline), clock);
  g_object_set (source, "uri", config->record_uri, NULL);
  g_signal_connect (source, "source-setup", G_CALLBACK (on_source_setup), self);
  g_signal_connect (source, "pad-added", G_CALLBACK (on_source_pad), self);
  g_signal_connect (self->pipeline, "deep-element-added", G_CALLBACK (on_deep_element_added), self);
  gst_bin_add (GST_BIN (self->pipeline), source);
  bus = gst_element_get_bus (self->pipeline);
  gst_bus_add_watch (bus, on_bus, self);
  g_atomic_int_set (&self->n_frames, 0);
  g_atomic_int_set (&self->has_video, FALSE);
  call_later (self, config->timeout, check);
  gst_element_set_state (self->pipeline, GST_STATE_PLAYING);
  return G_SOURCE_REMOVE;
}

WatchRecord *
watch_record_new (WatchCamera *camera)
{
  WatchRecord *self = g_new0 (WatchRecord, 1);

  self->camera = camera;
  connect_stream (self);
  return self;
}

void
watch_record_free (WatchRecord *self)
{
  stop (self);
  g_free (self->trouble);
  g_free (self);
}
