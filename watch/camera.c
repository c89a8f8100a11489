/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a camera: its thread and its connections. */
#include "camera.h"

#include "camera-private.h"
#include "process-limits.h"
#include "log.h"

#define CHECK_INTERVAL 200                /* ms */
#define ALIVE_INTERVAL 5000               /* ms */
#define ROOM_INTERVAL 1000                /* ms */
#define FILE_ATTEMPTS 3                   /* after the first */
#define LASTING (10 * G_TIME_SPAN_SECOND) /* a connection that ends later was a success */

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

static gboolean
reserve_room (WatchCamera *camera, GError **error)
{
  gboolean has_room = g_atomic_int_get (&camera->has_room) || watch_limits_reserve (error);

  g_atomic_int_set (&camera->has_room, has_room);
  return has_room;
}

void
watch_camera_release_room (WatchCamera *camera)
{
  if (g_atomic_int_compare_and_exchange (&camera->has_room, TRUE, FALSE))
    watch_limits_release ();
}

/* The camera must wait until a connection is possible; takes the error, which may be NULL. */
static void
report_limit (WatchCamera *camera, GError *error)
{
  if (error)
    watch_camera_set_state (camera, WATCH_STATE_LOST, error->message);
  g_clear_error (&error);
}

static void
stop_pipeline (WatchCamera *camera)
{
  gboolean moving;

  watch_camera_release_room (camera);
  remove_source (&camera->timer);
  if (!camera->pipeline)
    return;
  watch_pipeline_free (camera, g_steal_pointer (&camera->pipeline));
  g_mutex_lock (&camera->lock);
  camera->status.n_waiting = 0;
  moving = camera->status.motion;
  g_mutex_unlock (&camera->lock);
  /* A motion ends with the connection, because its end will not be seen. */
  if (moving) {
    watch_camera_motion (camera, "motion-end", 0);
    watch_camera_emit_motion (camera, NULL);
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
  watch_camera_set_state (camera, state, detail);
  camera->hub->ended (camera->hub->data, camera, state != WATCH_STATE_ENDED);
}

static void
reconnect (WatchCamera *camera, guint delay)
{
  remove_source (&camera->retry);
  camera->retry = call_later (camera, delay, connect_camera);
}

/* A file that fails is not opened again, with two exceptions. Sometimes uridecodebin3 of
 * GStreamer 1.22 reads a file and delivers no frame, so a file without a first frame gets more
 * attempts. And a file that is to be played again and again, and was, does not end. */
static gboolean
may_try_again (WatchCamera *camera, gboolean timed_out)
{
  gboolean has_played, has_ever_played;

  g_mutex_lock (&camera->lock);
  has_played = camera->play_time > 0;
  has_ever_played = camera->status.n_frames > 0;
  g_mutex_unlock (&camera->lock);
  return !camera->is_file || (camera->config->loop && has_ever_played) ||
         (timed_out && !has_played && camera->n_attempts < FILE_ATTEMPTS);
}

/* The connection failed or ended. */
static void
lose_camera (WatchCamera *camera, WatchState state, gboolean timed_out, const gchar *detail)
{
  gint64 play_time;

  stop_pipeline (camera);
  if (!may_try_again (camera, timed_out)) {
    end_camera (camera, state, detail);
    return;
  }
  g_mutex_lock (&camera->lock);
  play_time = camera->play_time;
  camera->status.n_reconnects++;
  g_mutex_unlock (&camera->lock);
  if (play_time > 0 && g_get_monotonic_time () - play_time > LASTING)
    camera->n_attempts = 0;
  watch_camera_set_state (camera, state, detail);
  reconnect (camera, retry_delay (camera));
}

static void
handle_end (WatchCamera *camera)
{
  if (!camera->is_file) {
    lose_camera (camera, WATCH_STATE_LOST, FALSE, "the stream ended");
    return;
  }
  stop_pipeline (camera);
  if (camera->config->loop)
    reconnect (camera, 1);
  else
    end_camera (camera, WATCH_STATE_ENDED, NULL);
}

/* What cannot be decoded is garbage; everything else is a lost connection. A source that cannot
 * connect may also report that the stream failed, before any data. */
static WatchState
state_of_error (WatchCamera *camera, const GError *error)
{
  gboolean has_data;

  g_mutex_lock (&camera->lock);
  has_data = camera->n_data > 0;
  g_mutex_unlock (&camera->lock);
  if (g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED) && !has_data)
    return WATCH_STATE_LOST;
  return error->domain == GST_STREAM_ERROR ? WATCH_STATE_GARBAGE : WATCH_STATE_LOST;
}

/* Warnings of our elements are about settings that have no effect. */
static void
log_warning (WatchCamera *camera, GstMessage *message)
{
  GError *error = NULL;

  if (!gst_object_has_as_ancestor (GST_MESSAGE_SRC (message), GST_OBJECT (camera->analysis)))
    return;
  gst_message_parse_warning (message, &error, NULL);
  watch_log_warning ("camera %s: %s", camera->name, error->message);
  g_error_free (error);
}

static gboolean
on_bus (GstBus *bus, GstMessage *message, gpointer data)
{
  WatchCamera *camera = data;
  GError *error = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
  case GST_MESSAGE_ERROR:
    gst_message_parse_error (message, &error, NULL);
    lose_camera (camera, state_of_error (camera, error), FALSE, error->message);
    g_error_free (error);
    return G_SOURCE_REMOVE;
  case GST_MESSAGE_EOS:
    handle_end (camera);
    return G_SOURCE_REMOVE;
  case GST_MESSAGE_WARNING:
    log_warning (camera, message);
    return G_SOURCE_CONTINUE;
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
  lose_camera (camera, has_data ? WATCH_STATE_GARBAGE : WATCH_STATE_SILENT, TRUE, detail);
  g_free (detail);
  return G_SOURCE_REMOVE;
}

static gboolean
connect_camera (gpointer data)
{
  WatchCamera *camera = data;
  GError *error = NULL;
  GstBus *bus;

  remove_source (&camera->retry);
  if (!reserve_room (camera, &error)) {
    report_limit (camera, error);
    reconnect (camera, ROOM_INTERVAL);
    return G_SOURCE_REMOVE;
  }
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
    watch_camera_set_state (camera, WATCH_STATE_CONNECTING, NULL);
    connect_camera (camera);
  } else {
    watch_camera_release_room (camera);
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
  watch_camera_set_frame (camera, NULL);
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
  camera->is_stopped = TRUE;
  camera->status.uri = watch_redact (config->uri);
  camera->status.labeller = hub->labeller;
  camera->status.gpu = -1;
  camera->status.state = WATCH_STATE_CONNECTING;
  camera->status.since = g_get_real_time ();
  return camera;
}

/* TRUE if no thread ran before. */
static gboolean
set_running (WatchCamera *camera, gboolean is_running)
{
  gboolean is_changed;

  g_mutex_lock (&camera->lock);
  is_changed = camera->is_stopped == is_running;
  camera->is_stopped = !is_running;
  camera->alive_time = g_get_monotonic_time ();
  g_mutex_unlock (&camera->lock);
  return is_changed;
}

void
watch_camera_start (WatchCamera *camera)
{
  GThread *thread;
  GError *error = NULL;

  if (g_atomic_int_get (&camera->stopping) || !set_running (camera, TRUE))
    return;
  if (reserve_room (camera, &error)) {
    thread = g_thread_try_new (camera->name, run, watch_camera_ref (camera), &error);
    if (thread) {
      g_thread_unref (thread);
      return;
    }
    watch_camera_unref (camera);
  }
  watch_camera_release_room (camera);
  set_running (camera, FALSE);
  report_limit (camera, error);
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
