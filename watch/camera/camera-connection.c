/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The connections of a camera: one after the other, in the camera's thread. */
#include <fcntl.h>
#include <glib-unix.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backlog.h"
#include "camera-state.h"
#include "watch/camera/stream/damage.h"
#include "watch/camera/stream/decoder.h"
#include "watch/camera/stream/record.h"
#include "watch/camera/stream/sockets.h"
#include "watch/output/scene-change.h"
#include "watch/system/log.h"
#include "watch/camera/stream/reach.h"

#define CHECK_INTERVAL 200                /* ms */
#define ROOM_INTERVAL 1000                /* ms */
#define FILE_ATTEMPTS 3                   /* after the first */
#define PATIENCE 3                        /* times the timeout where the machine is too slow */
#define LASTING (10 * G_TIME_SPAN_SECOND) /* a connection that ends later was a success */

static void
close_pipe (WatchCamera *camera)
{
  if (camera->connection.pipe >= 0)
    close (camera->connection.pipe);
  camera->connection.pipe = -1;
}

/* A change of the scene ends with the connection: the next one begins with a model of its own. */
static void
end_scene (WatchCamera *camera)
{
  g_autoptr (GstStructure) change =
      gst_structure_new ("scene-change", "kind", G_TYPE_STRING, "settled", NULL);
  gboolean is_usual;

  g_mutex_lock (&camera->lock);
  is_usual = g_str_equal (camera->locked.status.scene, WATCH_SCENE_USUAL);
  g_mutex_unlock (&camera->lock);
  if (is_usual)
    return;
  watch_camera_scene_change (camera, change);
  watch_camera_emit_scene_change (camera, NULL);
}

static void
stop_pipeline (WatchCamera *camera)
{
  watch_camera_release_room (camera);
  watch_camera_remove_source (&camera->connection.timer);
  watch_camera_remove_source (&camera->connection.pipe_source);
  if (!camera->connection.pipeline) {
    close_pipe (camera);
    return;
  }
  g_clear_pointer (&camera->connection.record, watch_record_free);
  watch_pipeline_free (camera, g_steal_pointer (&camera->connection.pipeline));
  close_pipe (camera);
  watch_backlog_end (camera);
  g_mutex_lock (&camera->lock);
  camera->locked.status.n_waiting = 0;
  camera->locked.status.has_stream = FALSE;
  g_mutex_unlock (&camera->lock);
  /* A motion ends with the connection, because its end will not be seen. */
  watch_camera_end_motion (camera);
  end_scene (camera);
  CALL_OBSERVERS (camera, stopped);
}

/* Milliseconds until the next attempt: doubled each time, with jitter so that many cameras of one
 * switch do not come back in step. */
static guint
retry_delay (WatchCamera *camera)
{
  gdouble least = camera_config (camera)->retry_min,
          most = MAX (camera_config (camera)->retry_max, least);
  gdouble delay = least * (1u << MIN (camera->connection.n_attempts, 20));

  camera->connection.n_attempts++;
  return CLAMP (delay * g_random_double_range (0.75, 1.25), least, most) * 1000;
}

static void
reconnect (WatchCamera *camera, guint delay)
{
  watch_camera_remove_source (&camera->connection.retry);
  camera->connection.retry = watch_camera_call_later (camera, delay, watch_connection_open);
}

/* A file that fails is not opened again, with two exceptions. Sometimes uridecodebin3 of
 * GStreamer 1.22 reads a file and delivers no frame, so a file without a first frame gets more
 * attempts. And a file that is to be played again and again, and was, does not end. */
static gboolean
may_try_again (WatchCamera *camera, gboolean timed_out)
{
  gboolean has_played, has_ever_played;

  g_mutex_lock (&camera->lock);
  has_played = camera->locked.play_time > 0;
  has_ever_played = camera->locked.status.n_frames > 0;
  g_mutex_unlock (&camera->lock);
  return !camera->is_file || (camera_config (camera)->loop && has_ever_played) ||
         (timed_out && !has_played && camera->connection.n_attempts < FILE_ATTEMPTS);
}

static void
on_reason (gboolean is_reached, gchar *reason, gpointer data)
{
  WatchCamera *camera = data;
  const gboolean is_silent = is_reached && camera->connection.lost_state == WATCH_STATE_SILENT;

  g_clear_object (&camera->connection.asking);
  if (!watch_camera_is_stopping (camera)) {
    watch_camera_set_state (camera,
        is_silent || !reason ? camera->connection.lost_state : WATCH_STATE_LOST,
        reason ? reason : camera->connection.lost_detail);
    reconnect (camera, retry_delay (camera));
  }
  g_clear_pointer (&camera->connection.lost_detail, g_free);
  g_free (reason);
}

/* The connection failed or ended. `is_unclear`: the detail does not say why there were no data. */
static void
lose_camera (WatchCamera *camera, WatchState state, gboolean timed_out, gboolean is_unclear,
    const gchar *detail)
{
  gint64 play_time;

  stop_pipeline (camera);
  if (watch_camera_is_stopping (camera)) /* another may have its name by now */
    return;
  if (!may_try_again (camera, timed_out)) {
    watch_camera_end (camera, state, detail);
    return;
  }
  g_mutex_lock (&camera->lock);
  play_time = camera->locked.play_time;
  camera->locked.status.n_reconnects++;
  g_mutex_unlock (&camera->lock);
  if (play_time > 0 && g_get_monotonic_time () - play_time > LASTING)
    camera->connection.n_attempts = 0;
  if (is_unclear && watch_reach_can_ask (camera_config (camera)->uri)) {
    camera->connection.lost_state = state;
    camera->connection.lost_detail = g_strdup (detail);
    camera->connection.asking = g_cancellable_new ();
    watch_reach_ask (camera_config (camera)->uri, camera->connection.asking, on_reason, camera);
  } else {
    watch_camera_set_state (camera, state, detail);
    reconnect (camera, retry_delay (camera));
  }
}

/* Demuxers end a file without an error where they find no further frame in damaged data. Durations
 * of streams without an index are estimates. */
static void
warn_of_early_end (WatchCamera *camera)
{
  gint64 position, duration;

  if (gst_element_query_position (camera->connection.pipeline, GST_FORMAT_TIME, &position) &&
      gst_element_query_duration (camera->connection.pipeline, GST_FORMAT_TIME, &duration) &&
      position + GST_SECOND < duration / 10 * 9)
    watch_log_warning ("camera %s: the file ended at %.1f s of %.1f s; it is damaged or cut short",
        camera->name, (gdouble)position / GST_SECOND, (gdouble)duration / GST_SECOND);
}

static void
handle_end (WatchCamera *camera)
{
  if (!camera->is_file) {
    lose_camera (camera, WATCH_STATE_LOST, FALSE, FALSE, "the stream ended");
    return;
  }
  warn_of_early_end (camera);
  stop_pipeline (camera);
  if (watch_camera_is_stopping (camera))
    return;
  if (camera_config (camera)->loop)
    reconnect (camera, 1);
  else
    watch_camera_end (camera, WATCH_STATE_ENDED, NULL);
}

/* Data since the last frame. */
static gboolean
has_data (WatchCamera *camera)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&camera->lock);

  return camera->locked.n_data > 0;
}

/* The connection gave nothing at all. */
static gboolean
gave_nothing (WatchCamera *camera)
{
  return !has_data (camera) && watch_camera_is_first_frame (camera);
}

/* What cannot be decoded is garbage; everything else is a lost connection. A source that cannot
 * connect may also report that the stream failed, before any data. */
static WatchState
state_of_error (WatchCamera *camera, const GError *error)
{
  if (g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED) && !has_data (camera))
    return WATCH_STATE_LOST;
  return error->domain == GST_STREAM_ERROR ? WATCH_STATE_GARBAGE : WATCH_STATE_LOST;
}

static void
handle_error (WatchCamera *camera, const GError *error)
{
  const gboolean is_remote = watch_reach_can_ask (camera_config (camera)->uri);
  const WatchState state = state_of_error (camera, error);
  const gchar *reason = watch_sockets_check (camera);

  if (reason)
    lose_camera (camera, WATCH_STATE_GARBAGE, FALSE, FALSE, reason);
  else if (is_remote &&
           g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_AUTHORIZED))
    lose_camera (camera, state, FALSE, FALSE, "the user name or the password is missing or wrong");
  else if (is_remote && g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND))
    lose_camera (camera, state, FALSE, FALSE, "the camera has no stream of this address");
  else
    lose_camera (camera, state, FALSE, gave_nothing (camera), error->message);
}

/* Warnings of our elements are about settings that have no effect. */
static void
log_warning (WatchCamera *camera, GstMessage *message)
{
  g_autoptr (GError) error = NULL;

  if (!gst_object_has_as_ancestor (
          GST_MESSAGE_SRC (message), GST_OBJECT (camera->analysis.elements)))
    return;
  gst_message_parse_warning (message, &error, NULL);
  watch_log_warning ("camera %s: %s", camera->name, error->message);
}

static gboolean
on_bus (GstBus *bus, GstMessage *message, gpointer data)
{
  WatchCamera *camera = data;
  g_autoptr (GError) error = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
  case GST_MESSAGE_ERROR:
    gst_message_parse_error (message, &error, NULL);
    watch_decoder_note_failure (camera, GST_MESSAGE_SRC (message));
    handle_error (camera, error);
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

/* Whether no frame came for so long that the camera should be connected again. What the state is
 * then, and a sentence about the seconds. If packets arrive and the pipeline does not take them,
 * the machine is too slow, and gets more time. */
static gboolean
has_timed_out (WatchCamera *camera, WatchState *state, const gchar **format)
{
  const gint64 now = g_get_monotonic_time ();
  const gint64 timeout = (gint64)(camera_config (camera)->timeout * G_TIME_SPAN_SECOND);
  gboolean is_slow, has_waited, is_garbage;

  g_mutex_lock (&camera->lock);
  if (g_atomic_int_get (&camera->atomic.pushing))
    camera->locked.active_time = now; /* it waits for an output */
  is_slow = camera->locked.backlog.arrival - camera->locked.data_time > G_TIME_SPAN_SECOND;
  has_waited = now - camera->locked.active_time > (is_slow ? PATIENCE : 1) * timeout;
  is_garbage = camera->locked.n_data > 0 &&
               camera->locked.data_time - camera->locked.active_time > timeout / 4;
  g_mutex_unlock (&camera->lock);

  *state = WATCH_STATE_SILENT;
  *format = "no frame for %g seconds";
  if (!camera->connection.pipeline) {
    *format = "nobody has written to the pipe for %g seconds";
  } else if (is_slow) {
    *state = WATCH_STATE_OVERLOADED;
    *format = "the machine is too slow: data of %g seconds were not decoded";
  } else if (is_garbage) {
    *state = WATCH_STATE_GARBAGE;
    *format = "data of %g seconds could not be decoded";
  }
  return has_waited;
}

static gboolean
check_camera (gpointer data)
{
  WatchCamera *camera = data;
  const gchar *format, *reason;
  WatchState state;
  g_autofree gchar *detail = NULL;

  reason = camera->connection.pipeline ? watch_sockets_check (camera) : NULL;
  if (reason) {
    lose_camera (camera, WATCH_STATE_GARBAGE, FALSE, FALSE, reason);
    return G_SOURCE_REMOVE;
  }
  if (!has_timed_out (camera, &state, &format))
    return G_SOURCE_CONTINUE;
  detail = g_strdup_printf (format, camera_config (camera)->timeout);
  lose_camera (camera, state, TRUE, gave_nothing (camera), detail);
  return G_SOURCE_REMOVE;
}

static void
start_pipeline (WatchCamera *camera, const gchar *uri)
{
  g_autoptr (GstBus) bus = NULL;

  watch_sockets_begin (camera);
  camera->connection.pipeline = watch_pipeline_new (camera, uri);
  bus = gst_element_get_bus (camera->connection.pipeline);
  gst_bus_add_watch (bus, on_bus, camera);
  /* A failure arrives as a message. */
  gst_element_set_state (camera->connection.pipeline, GST_STATE_PLAYING);
  if (camera_config (camera)->record_uri && camera_config (camera)->clips)
    camera->connection.record = watch_record_new (camera);
}

static gboolean
on_pipe (gint pipe, GIOCondition condition, gpointer data)
{
  WatchCamera *camera = data;
  g_autofree gchar *uri = g_strdup_printf ("fd://%d", pipe);

  watch_camera_remove_source (&camera->connection.pipe_source);
  start_pipeline (camera, uri);
  return G_SOURCE_REMOVE;
}

/* GStreamer's source of files waits in the system until a named pipe has a writer and data, and
 * cannot be stopped meanwhile. So a pipe is opened without waiting, and its pipeline starts with
 * the first data, from a source that can be stopped. FALSE if the camera is no pipe. */
static gboolean
open_pipe (WatchCamera *camera)
{
  g_autofree gchar *path =
      camera->is_file ? g_filename_from_uri (camera_config (camera)->uri, NULL, NULL) : NULL;
  struct stat status;

  if (path && stat (path, &status) == 0 && S_ISFIFO (status.st_mode))
    camera->connection.pipe = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (camera->connection.pipe < 0)
    return FALSE;
  camera->connection.pipe_source = g_unix_fd_source_new (camera->connection.pipe, G_IO_IN);
  g_source_set_callback (camera->connection.pipe_source, G_SOURCE_FUNC (on_pipe), camera, NULL);
  g_source_attach (camera->connection.pipe_source, camera->context);
  return TRUE;
}

gboolean
watch_connection_open (gpointer data)
{
  WatchCamera *camera = data;
  GError *error = NULL;

  watch_camera_remove_source (&camera->connection.retry);
  if (!watch_camera_reserve_room (camera, &error)) {
    watch_camera_report_limit (camera, error);
    reconnect (camera, ROOM_INTERVAL);
    return G_SOURCE_REMOVE;
  }
  g_mutex_lock (&camera->lock);
  camera->locked.active_time = g_get_monotonic_time ();
  camera->locked.play_time = 0;
  camera->locked.n_data = 0;
  camera->locked.key_time = GST_CLOCK_TIME_NONE;
  camera->locked.has_other_frames = FALSE;
  camera->locked.late = (WatchRate){0};
  g_mutex_unlock (&camera->lock);
  watch_damage_begin (camera);
  camera->decoding.next_time = 0;
  g_atomic_int_set (&camera->atomic.is_decimated, FALSE);
  watch_camera_begin_motion (camera);
  g_clear_pointer (&camera->delivery.scene_change, gst_structure_free);
  camera->delivery.checksum_time = 0;
  camera->delivery.key_checksum = 0;
  camera->connection.timer = watch_camera_call_later (camera, CHECK_INTERVAL, check_camera);
  if (!open_pipe (camera))
    start_pipeline (camera, camera_config (camera)->uri);
  return G_SOURCE_REMOVE;
}

void
watch_connection_close (WatchCamera *camera)
{
  watch_camera_remove_source (&camera->connection.retry);
  if (camera->connection.asking)
    g_cancellable_cancel (camera->connection.asking);
  while (camera->connection.asking)
    g_main_context_iteration (camera->context, TRUE);
  stop_pipeline (camera);
}
