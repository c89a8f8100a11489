/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a camera: connections, states, counters, lines. */
#include "camera.h"

#include <gst/ccl/ccl.h>
#include <gst/video/video.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "camera-private.h"
#include "log.h"

#define CHECK_INTERVAL 200                /* ms */
#define ALIVE_INTERVAL 5000               /* ms */
#define LASTING (10 * G_TIME_SPAN_SECOND) /* a connection that ends later was a success */
#define CHECKSUM_INTERVAL G_TIME_SPAN_SECOND

const gdouble watch_latencies[WATCH_N_LATENCIES] = {
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0};

const gchar *
watch_state_name (WatchState state)
{
  static const gchar *const names[] = {
      "connecting", "playing", "lost", "silent", "frozen", "garbage", "resized", "ended"};

  return names[state];
}

/* Calls a function of all observers. watch_stop() removes them when it has waited long enough for a
 * camera, whose thread may go on. */
#define CALL_OBSERVERS(camera, function, ...)                                                      \
  do {                                                                                             \
    WatchHub *hub = (camera)->hub;                                                                 \
                                                                                                   \
    g_rw_lock_reader_lock (&hub->observers_lock);                                                  \
    for (guint i = 0; i < hub->observers->len; i++) {                                              \
      const WatchObserver *observer = g_ptr_array_index (hub->observers, i);                       \
                                                                                                   \
      if (observer->function)                                                                      \
        observer->function (observer->data, camera, ##__VA_ARGS__);                                \
    }                                                                                              \
    g_rw_lock_reader_unlock (&hub->observers_lock);                                                \
  } while (0)

/* Lines and events. */

static void
add_text (JsonBuilder *builder, const gchar *key, const gchar *text)
{
  json_builder_set_member_name (builder, key);
  json_builder_add_string_value (builder, text);
}

/* A line with the members that all lines begin with. */
static JsonBuilder *
begin_line (WatchCamera *camera, GstCclUtc utc, const gchar *kind)
{
  JsonBuilder *builder = json_builder_new ();
  gchar *time = gst_ccl_utc_format (utc.time);

  json_builder_begin_object (builder);
  add_text (builder, "source", camera->name);
  add_text (builder, "utc", time);
  add_text (builder, "utc_from", utc.from_sender ? "sender" : "arrival");
  add_text (builder, "event", kind);
  g_free (time);
  return builder;
}

static void
push_line (WatchCamera *camera, const gchar *text, gsize length)
{
  g_atomic_int_inc (&camera->pushing);
  camera->hub->line (
      camera->hub->data, camera, text, length, camera->is_live ? NULL : &camera->cancelled);
  g_atomic_int_add (&camera->pushing, -1);
}

static void
notify_event (WatchCamera *camera, const WatchEvent *event)
{
  CALL_OBSERVERS (camera, event, event);
}

/* Takes the builder. */
static void
emit_event (WatchCamera *camera, JsonBuilder *builder, WatchEvent *event)
{
  JsonNode *root;
  gchar *text, *line;

  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  text = json_to_string (root, FALSE);
  line = g_strconcat (text, "\n", NULL);
  push_line (camera, line, strlen (line));
  event->camera = camera->name;
  event->line = text;
  notify_event (camera, event);
  g_free (line);
  g_free (text);
  json_node_unref (root);
  g_object_unref (builder);
}

/* Status. */

static void
set_state (WatchCamera *camera, WatchState state, const gchar *detail)
{
  WatchEvent event = {.kind = "state", .running_time = GST_CLOCK_TIME_NONE};
  GstCclUtc now = {g_get_real_time (), FALSE};
  gchar *clean = detail ? watch_redact (detail) : NULL;
  JsonBuilder *builder;
  gint width, height;

  g_mutex_lock (&camera->lock);
  if (camera->status.state == state && g_strcmp0 (camera->status.detail, clean) == 0) {
    g_mutex_unlock (&camera->lock);
    g_free (clean);
    return;
  }
  camera->status.state = state;
  camera->status.since = event.utc = now.time;
  g_free (camera->status.detail);
  camera->status.detail = g_strdup (clean);
  width = camera->status.width;
  height = camera->status.height;
  g_mutex_unlock (&camera->lock);

  if (state == WATCH_STATE_PLAYING || state == WATCH_STATE_ENDED || state == WATCH_STATE_CONNECTING)
    watch_log_info ("camera %s: %s", camera->name, watch_state_name (state));
  else
    watch_log_warning ("camera %s: %s%s%s", camera->name, watch_state_name (state),
        clean ? ": " : "", clean ? clean : "");
  builder = begin_line (camera, now, "state");
  add_text (builder, "state", watch_state_name (state));
  if (clean)
    add_text (builder, "detail", clean);
  if (width > 0 && (state == WATCH_STATE_PLAYING || state == WATCH_STATE_RESIZED)) {
    json_builder_set_member_name (builder, "width");
    json_builder_add_int_value (builder, width);
    json_builder_set_member_name (builder, "height");
    json_builder_add_int_value (builder, height);
  }
  emit_event (camera, builder, &event);
  g_free (clean);
}

/* With the lock: moves the counts to the present second. */
static void
advance_fps (WatchCamera *camera)
{
  gint64 second = g_get_monotonic_time () / G_TIME_SPAN_SECOND;
  gint64 passed = MIN (second - camera->fps_second, WATCH_FPS_SECONDS + 1);

  for (gint64 i = 1; i <= passed; i++)
    camera->fps_counts[(camera->fps_second + i) % (WATCH_FPS_SECONDS + 1)] = 0;
  camera->fps_second = second;
}

/* With the lock: the mean of the last whole seconds. */
static gdouble
frames_per_second (WatchCamera *camera)
{
  guint64 sum = 0;

  advance_fps (camera);
  for (gint64 i = 1; i <= WATCH_FPS_SECONDS; i++)
    sum += camera->fps_counts[(camera->fps_second + WATCH_FPS_SECONDS + 1 - i) %
                              (WATCH_FPS_SECONDS + 1)];
  return (gdouble)sum / WATCH_FPS_SECONDS;
}

void
watch_camera_get_status (WatchCamera *camera, WatchStatus *status)
{
  g_mutex_lock (&camera->lock);
  camera->status.fps = frames_per_second (camera);
  *status = camera->status;
  status->detail = g_strdup (camera->status.detail);
  status->uri = g_strdup (camera->status.uri);
  g_mutex_unlock (&camera->lock);
}

void
watch_status_clear (WatchStatus *status)
{
  g_clear_pointer (&status->detail, g_free);
  g_clear_pointer (&status->uri, g_free);
}

const gchar *
watch_camera_get_name (WatchCamera *camera)
{
  return camera->name;
}

WatchCameraConfig *
watch_camera_get_config (WatchCamera *camera)
{
  return watch_camera_config_ref (camera->config);
}

GstSample *
watch_camera_get_frame (WatchCamera *camera)
{
  GstSample *frame;

  g_mutex_lock (&camera->lock);
  frame = camera->frame ? gst_sample_ref (camera->frame) : NULL;
  g_mutex_unlock (&camera->lock);
  return frame;
}

/* Streaming threads. */

void
watch_camera_data (WatchCamera *camera)
{
  g_mutex_lock (&camera->lock);
  camera->n_data++;
  g_mutex_unlock (&camera->lock);
}

void
watch_camera_encoded (
    WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTime running_time)
{
  watch_camera_data (camera);
  CALL_OBSERVERS (camera, encoded, buffer, caps, running_time);
}

void
watch_camera_frame_skipped (WatchCamera *camera)
{
  g_mutex_lock (&camera->lock);
  camera->status.n_skipped++;
  g_mutex_unlock (&camera->lock);
}

void
watch_camera_motion (WatchCamera *camera, const gchar *kind, guint count)
{
  camera->motion = kind;
  camera->motion_count = count;
}

/* Emits the motion that the labeller reported for the frame. */
static void
emit_motion (WatchCamera *camera, GstSample *frame)
{
  WatchEvent event = {
      .kind = camera->motion,
      .utc = camera->utc.time,
      .running_time = camera->running_time,
      .frame = frame,
  };
  JsonBuilder *builder = begin_line (camera, camera->utc, camera->motion);

  g_mutex_lock (&camera->lock);
  camera->status.motion = strcmp (camera->motion, "motion-begin") == 0;
  g_mutex_unlock (&camera->lock);
  camera->motion = NULL;
  json_builder_set_member_name (builder, "running_time");
  if (GST_CLOCK_TIME_IS_VALID (event.running_time))
    json_builder_add_int_value (builder, event.running_time);
  else
    json_builder_add_null_value (builder);
  json_builder_set_member_name (builder, "count");
  json_builder_add_int_value (builder, camera->motion_count);
  emit_event (camera, builder, &event);
}

void
watch_camera_flush_motion (WatchCamera *camera)
{
  if (camera->motion)
    emit_motion (camera, NULL);
}

/* Of the first plane. */
static guint64
checksum_of_frame (GstBuffer *buffer, GstCaps *caps)
{
  guint64 sum = G_GUINT64_CONSTANT (14695981039346656037);
  GstVideoFrame frame;
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps) ||
      !gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ))
    return 0;
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (&frame); y++) {
    const guint8 *row = (guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
                        y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);

    for (gint x = 0; x + 8 <= GST_VIDEO_FRAME_WIDTH (&frame); x += 8) {
      guint64 word;

      memcpy (&word, row + x, 8);
      sum = (sum ^ word) * G_GUINT64_CONSTANT (1099511628211);
    }
  }
  gst_video_frame_unmap (&frame);
  return sum;
}

/* Whether the frames have been identical for too long. One frame per second is compared. */
static gboolean
is_frozen (WatchCamera *camera, GstBuffer *buffer, GstCaps *caps)
{
  gint64 now = g_get_monotonic_time ();
  guint64 checksum;

  if (camera->config->frozen <= 0)
    return FALSE;
  if (camera->checksum_time == 0 || now >= camera->checksum_time + CHECKSUM_INTERVAL) {
    checksum = checksum_of_frame (buffer, caps);
    if (checksum != camera->checksum || camera->checksum_time == 0)
      camera->changed_time = now;
    camera->checksum = checksum;
    camera->checksum_time = now;
  }
  return now - camera->changed_time > camera->config->frozen * G_TIME_SPAN_SECOND;
}

/* Stores the frame and counts it. TRUE if its size is another than before. */
static gboolean
store_frame (WatchCamera *camera, GstSample *sample, guint n_components)
{
  GstStructure *structure = gst_caps_get_structure (gst_sample_get_caps (sample), 0);
  gint64 now = g_get_monotonic_time ();
  gint width = 0, height = 0;
  gboolean resized;

  gst_structure_get_int (structure, "width", &width);
  gst_structure_get_int (structure, "height", &height);
  g_mutex_lock (&camera->lock);
  resized = camera->status.width > 0 &&
            (camera->status.width != width || camera->status.height != height);
  camera->status.width = width;
  camera->status.height = height;
  camera->status.n_components = n_components;
  camera->status.n_frames++;
  advance_fps (camera);
  camera->fps_counts[camera->fps_second % (WATCH_FPS_SECONDS + 1)]++;
  camera->active_time = now;
  if (camera->play_time == 0)
    camera->play_time = now;
  camera->n_data = 0;
  gst_sample_ref (sample);
  if (camera->frame)
    gst_sample_unref (camera->frame);
  camera->frame = sample;
  g_mutex_unlock (&camera->lock);
  return resized;
}

static void
update_state (WatchCamera *camera, gboolean resized, gboolean frozen)
{
  gchar *detail = NULL;

  if (resized) {
    g_mutex_lock (&camera->lock);
    detail = g_strdup_printf ("%d×%d", camera->status.width, camera->status.height);
    g_mutex_unlock (&camera->lock);
    set_state (camera, WATCH_STATE_RESIZED, detail);
    g_free (detail);
  }
  if (frozen) {
    detail =
        g_strdup_printf ("all frames of the last %g seconds are identical", camera->config->frozen);
    set_state (camera, WATCH_STATE_FROZEN, detail);
    g_free (detail);
  } else {
    set_state (camera, WATCH_STATE_PLAYING, NULL);
  }
}

void
watch_camera_frame (
    WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTime running_time)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  GstSample *sample = gst_sample_new (buffer, caps, NULL, NULL);
  gboolean resized;

  camera->arrival = gst_ccl_utc_get_arrival (buffer);
  camera->utc = gst_ccl_utc_of_frame (buffer);
  camera->running_time = running_time;
  resized = store_frame (camera, sample, meta ? gst_ccl_meta_get_n_components (meta) : 0);
  update_state (camera, resized, is_frozen (camera, buffer, caps));
  if (camera->motion)
    emit_motion (camera, sample);
  CALL_OBSERVERS (camera, frame, buffer, caps);
  gst_sample_unref (sample);
}

static void
count_latency (WatchCamera *camera)
{
  gdouble latency;
  guint bucket = 0;

  if (!GST_CLOCK_TIME_IS_VALID (camera->arrival))
    return;
  latency = (g_get_monotonic_time () - (gint64)(camera->arrival / GST_USECOND)) / 1e6;
  while (bucket < WATCH_N_LATENCIES && latency > watch_latencies[bucket])
    bucket++;
  g_mutex_lock (&camera->lock);
  camera->status.latency = latency;
  camera->status.latency_sum += latency;
  camera->status.latency_counts[bucket]++;
  g_mutex_unlock (&camera->lock);
}

/* The event's name in a line of ccljson. Free with g_free(). */
static gchar *
kind_of_line (const gchar *text)
{
  const gchar *name = strstr (text, "\"event\":\"");
  const gchar *end;

  if (!name)
    return g_strdup ("");
  name += strlen ("\"event\":\"");
  end = strchr (name, '"');
  return g_strndup (name, end ? end - name : 0);
}

void
watch_camera_line (WatchCamera *camera, const gchar *text, gsize length, gboolean is_frame,
    GstClockTime running_time)
{
  if (!is_frame) {
    gchar *line = g_strndup (text, length > 0 ? length - 1 : 0); /* without the newline */
    gchar *kind = kind_of_line (line);
    WatchEvent event = {
        .kind = kind,
        .camera = camera->name,
        .utc = camera->utc.time,
        .running_time = running_time,
        .line = line,
    };

    push_line (camera, text, length);
    notify_event (camera, &event);
    g_free (kind);
    g_free (line);
    return;
  }
  if (camera->config->results != WATCH_RESULTS_EVENTS)
    push_line (camera, text, length);
  count_latency (camera);
}

/* The camera's thread. */

static gboolean connect_camera (gpointer data);

/* Runs a function in the camera's thread after a time in ms. */
static GSource *
call_later (WatchCamera *camera, guint delay, GSourceFunc function)
{
  GSource *source = g_timeout_source_new (delay);

  g_source_set_callback (source, function, camera, NULL);
  g_source_attach (source, camera->context);
  return source;
}

static void
remove_source (GSource **source)
{
  if (*source) {
    g_source_destroy (*source);
    g_clear_pointer (source, g_source_unref);
  }
}

static void
stop_pipeline (WatchCamera *camera)
{
  gboolean moving;

  remove_source (&camera->timer);
  if (!camera->pipeline)
    return;
  watch_pipeline_free (camera, g_steal_pointer (&camera->pipeline));
  g_mutex_lock (&camera->lock);
  moving = camera->status.motion;
  g_mutex_unlock (&camera->lock);
  /* A motion ends with the connection, because its end will not be seen. */
  if (moving) {
    watch_camera_motion (camera, "motion-end", 0);
    watch_camera_flush_motion (camera);
  }
  CALL_OBSERVERS (camera, stopped);
}

/* Milliseconds until the next attempt: doubled each time, with jitter so that many cameras of one
 * switch do not come back in step. */
static guint
retry_delay (WatchCamera *camera)
{
  gdouble least = camera->config->retry_min, most = MAX (camera->config->retry_max, least);
  gdouble delay = least * (1u << MIN (camera->n_attempts, 20));

  camera->n_attempts++;
  return CLAMP (delay * g_random_double_range (0.75, 1.25), least, most) * 1000;
}

static void
end_camera (WatchCamera *camera, WatchState state, const gchar *detail)
{
  set_state (camera, state, detail);
  camera->hub->ended (camera->hub->data, camera, state != WATCH_STATE_ENDED);
}

static void
reconnect (WatchCamera *camera, guint delay)
{
  remove_source (&camera->retry);
  camera->retry = call_later (camera, delay, connect_camera);
}

/* The connection failed or ended. */
static void
lose_camera (WatchCamera *camera, WatchState state, const gchar *detail)
{
  gint64 play_time;

  stop_pipeline (camera);
  if (camera->is_file) {
    end_camera (camera, state, detail);
    return;
  }
  g_mutex_lock (&camera->lock);
  play_time = camera->play_time;
  camera->status.n_reconnects++;
  g_mutex_unlock (&camera->lock);
  if (play_time > 0 && g_get_monotonic_time () - play_time > LASTING)
    camera->n_attempts = 0;
  set_state (camera, state, detail);
  reconnect (camera, retry_delay (camera));
}

static void
handle_end (WatchCamera *camera)
{
  if (!camera->is_file) {
    lose_camera (camera, WATCH_STATE_LOST, "the stream ended");
    return;
  }
  stop_pipeline (camera);
  if (camera->config->loop)
    reconnect (camera, 1);
  else
    end_camera (camera, WATCH_STATE_ENDED, NULL);
}

/* What cannot be decoded is garbage; everything else is a lost connection. */
static WatchState
state_of_error (const GError *error)
{
  return error->domain == GST_STREAM_ERROR ? WATCH_STATE_GARBAGE : WATCH_STATE_LOST;
}

static gboolean
on_bus (GstBus *bus, GstMessage *message, gpointer data)
{
  WatchCamera *camera = data;
  GError *error = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
  case GST_MESSAGE_ERROR:
    gst_message_parse_error (message, &error, NULL);
    lose_camera (camera, state_of_error (error), error->message);
    g_error_free (error);
    return G_SOURCE_REMOVE;
  case GST_MESSAGE_EOS:
    handle_end (camera);
    return G_SOURCE_REMOVE;
  default:
    return G_SOURCE_CONTINUE;
  }
}

static void
note_alive (WatchCamera *camera)
{
  g_mutex_lock (&camera->lock);
  camera->alive_time = g_get_monotonic_time ();
  g_mutex_unlock (&camera->lock);
}

static gboolean
on_alive (gpointer data)
{
  note_alive (data);
  return G_SOURCE_CONTINUE;
}

static gboolean
check_camera (gpointer data)
{
  WatchCamera *camera = data;
  gint64 now = g_get_monotonic_time ();
  gboolean timed_out, has_data;
  gchar *detail;

  g_mutex_lock (&camera->lock);
  if (g_atomic_int_get (&camera->pushing))
    camera->active_time = now; /* it waits for an output */
  timed_out = now - camera->active_time > camera->config->timeout * G_TIME_SPAN_SECOND;
  has_data = camera->n_data > 0;
  g_mutex_unlock (&camera->lock);
  if (!timed_out)
    return G_SOURCE_CONTINUE;
  detail = g_strdup_printf (
      has_data ? "data of %g seconds could not be decoded" : "no frame for %g seconds",
      camera->config->timeout);
  lose_camera (camera, has_data ? WATCH_STATE_GARBAGE : WATCH_STATE_SILENT, detail);
  g_free (detail);
  return G_SOURCE_REMOVE;
}

static gboolean
connect_camera (gpointer data)
{
  WatchCamera *camera = data;
  GstBus *bus;

  remove_source (&camera->retry);
  g_mutex_lock (&camera->lock);
  camera->active_time = g_get_monotonic_time ();
  camera->play_time = 0;
  camera->n_data = 0;
  g_mutex_unlock (&camera->lock);
  camera->next_time = 0;
  camera->motion = NULL;
  camera->checksum_time = 0;

  camera->pipeline = watch_pipeline_new (camera);
  bus = gst_element_get_bus (camera->pipeline);
  gst_bus_add_watch (bus, on_bus, camera);
  gst_object_unref (bus);
  camera->timer = call_later (camera, CHECK_INTERVAL, check_camera);
  /* A failure arrives as a message. */
  gst_element_set_state (camera->pipeline, GST_STATE_PLAYING);
  return G_SOURCE_REMOVE;
}

static gpointer
run (gpointer data)
{
  WatchCamera *camera = data;
  GSource *alive = call_later (camera, ALIVE_INTERVAL, on_alive);
  GError *error = NULL;

  g_main_context_push_thread_default (camera->context);
  camera->analysis = watch_pipeline_new_analysis (camera, &error);
  if (camera->analysis) {
    set_state (camera, WATCH_STATE_CONNECTING, NULL);
    connect_camera (camera);
  } else {
    end_camera (camera, WATCH_STATE_LOST, error->message);
    g_error_free (error);
  }
  while (!g_atomic_int_get (&camera->stopping))
    g_main_context_iteration (camera->context, TRUE);
  remove_source (&alive);
  remove_source (&camera->retry);
  stop_pipeline (camera);
  if (camera->analysis) {
    gst_element_set_state (camera->analysis, GST_STATE_NULL);
    g_clear_pointer (&camera->analysis, gst_object_unref);
  }
  g_main_context_pop_thread_default (camera->context);
  g_mutex_lock (&camera->lock);
  camera->is_stopped = TRUE;
  g_cond_broadcast (&camera->stopped);
  g_mutex_unlock (&camera->lock);
  watch_camera_unref (camera);
  return NULL;
}

/* The interface. */

WatchCamera *
watch_camera_new (WatchCameraConfig *config, WatchHub *hub)
{
  WatchCamera *camera = g_atomic_rc_box_new0 (WatchCamera);

  camera->name = g_strdup (config->name);
  camera->config = watch_camera_config_ref (config);
  camera->hub = hub;
  camera->is_file = g_str_has_prefix (config->uri, "file://");
  camera->is_live = !camera->is_file || config->pace;
  camera->context = g_main_context_new ();
  g_mutex_init (&camera->lock);
  g_cond_init (&camera->stopped);
  camera->fps_second = g_get_monotonic_time () / G_TIME_SPAN_SECOND;
  camera->alive_time = g_get_monotonic_time ();
  camera->status.uri = watch_redact (config->uri);
  camera->status.labeller = hub->labeller;
  camera->status.state = WATCH_STATE_CONNECTING;
  camera->status.since = g_get_real_time ();
  return camera;
}

void
watch_camera_start (WatchCamera *camera)
{
  g_thread_unref (g_thread_new (camera->name, run, watch_camera_ref (camera)));
}

void
watch_camera_stop (WatchCamera *camera)
{
  g_atomic_int_set (&camera->stopping, TRUE);
  g_atomic_int_set (&camera->cancelled, TRUE);
  g_main_context_wakeup (camera->context);
}

gint64
watch_camera_get_silence (WatchCamera *camera)
{
  gint64 silence;

  g_mutex_lock (&camera->lock);
  silence = camera->is_stopped ? 0 : g_get_monotonic_time () - camera->alive_time;
  g_mutex_unlock (&camera->lock);
  return silence;
}

gboolean
watch_camera_wait (WatchCamera *camera, gint64 until)
{
  gboolean is_stopped;

  g_mutex_lock (&camera->lock);
  while (!camera->is_stopped && g_cond_wait_until (&camera->stopped, &camera->lock, until)) {
  }
  is_stopped = camera->is_stopped;
  g_mutex_unlock (&camera->lock);
  return is_stopped;
}

WatchCamera *
watch_camera_ref (WatchCamera *camera)
{
  return g_atomic_rc_box_acquire (camera);
}

static void
clear_camera (WatchCamera *camera)
{
  if (camera->frame)
    gst_sample_unref (camera->frame);
  watch_status_clear (&camera->status);
  watch_camera_config_unref (camera->config);
  g_main_context_unref (camera->context);
  g_mutex_clear (&camera->lock);
  g_cond_clear (&camera->stopped);
  g_free (camera->name);
}

void
watch_camera_unref (WatchCamera *camera)
{
  g_atomic_rc_box_release_full (camera, (GDestroyNotify)clear_camera);
}
