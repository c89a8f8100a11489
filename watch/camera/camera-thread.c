/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a camera: its thread. */
#include "camera.h"

#include "backlog.h"
#include "camera-state.h"
#include "watch/output/scene-change.h"
#include "watch/system/process-limits.h"
#include "watch/camera/stream/sockets.h"
#include "watch/system/log.h"

#define ALIVE_INTERVAL 200 /* ms */
#define PATIENCE 3         /* times the limit until a stuck thread is replaced */

GSource *
watch_camera_call_later (WatchCamera *camera, guint delay, GSourceFunc function)
{
  GSource *source = g_timeout_source_new (delay);

  g_source_set_callback (source, function, camera, NULL);
  g_source_attach (source, camera->context);
  return source;
}

void
watch_camera_remove_source (GSource **source)
{
  if (*source) {
    g_source_destroy (*source);
    g_clear_pointer (source, g_source_unref);
  }
}

gboolean
watch_camera_reserve_room (WatchCamera *camera, GError **error)
{
  gboolean has_room = g_atomic_int_get (&camera->atomic.has_room) || watch_limits_reserve (error);

  g_atomic_int_set (&camera->atomic.has_room, has_room);
  return has_room;
}

void
watch_camera_release_room (WatchCamera *camera)
{
  if (g_atomic_int_compare_and_exchange (&camera->atomic.has_room, TRUE, FALSE))
    watch_limits_release ();
}

void
watch_camera_report_limit (WatchCamera *camera, GError *error)
{
  if (error)
    watch_camera_set_state (camera, WATCH_STATE_LOST, error->message);
  g_clear_error (&error);
}

void
watch_camera_end (WatchCamera *camera, WatchState state, const gchar *detail)
{
  watch_camera_set_state (camera, state, detail);
  camera->hub->ended (camera->hub->data, camera, state != WATCH_STATE_ENDED);
}

void
watch_camera_note_alive (WatchCamera *camera)
{
  g_atomic_int_set (&camera->atomic.is_stuck, FALSE);
  watch_heartbeat_beat (camera->heartbeat);
}

static gboolean
on_alive (gpointer data)
{
  WatchCamera *camera = data;
  gboolean was_stuck;

  watch_camera_note_alive (camera);
  watch_camera_follow_arming (camera);
  g_mutex_lock (&camera->lock);
  was_stuck = camera->locked.status.state == WATCH_STATE_STUCK;
  g_mutex_unlock (&camera->lock);
  if (was_stuck)
    watch_camera_set_state (camera, WATCH_STATE_CONNECTING, NULL);
  return G_SOURCE_CONTINUE;
}

static gpointer
run (gpointer data)
{
  WatchCamera *camera = data;
  GSource *alive = watch_camera_call_later (camera, ALIVE_INTERVAL, on_alive);
  g_autoptr (GError) error = NULL;

  g_atomic_pointer_set (&camera->atomic.thread, g_thread_self ());
  watch_camera_note_alive (camera);
  g_main_context_push_thread_default (camera->context);
  camera->analysis.elements = watch_pipeline_new_analysis (camera, &error);
  if (camera->analysis.elements) {
    watch_camera_set_state (camera, WATCH_STATE_CONNECTING, NULL);
    watch_connection_open (camera);
  } else {
    watch_camera_release_room (camera);
    watch_camera_end (camera, WATCH_STATE_LOST, error->message);
  }
  while (!watch_camera_is_stopping (camera))
    g_main_context_iteration (camera->context, TRUE);
  watch_camera_remove_source (&alive);
  watch_connection_close (camera);
  if (camera->analysis.elements) {
    gst_element_set_state (camera->analysis.elements, GST_STATE_NULL);
    g_clear_pointer (&camera->analysis.elements, gst_object_unref);
  }
  watch_camera_set_frame (camera, NULL);
  g_main_context_pop_thread_default (camera->context);
  watch_heartbeat_rest (camera->heartbeat);
  g_mutex_lock (&camera->lock);
  camera->locked.is_stopped = TRUE;
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
  g_autofree gchar *thread_name = g_strdup_printf ("camera %s", config->name);

  camera->heartbeat = watch_heartbeat_new (thread_name);
  camera->name = g_strdup (config->name);
  camera->locked.configs =
      g_ptr_array_new_with_free_func ((GDestroyNotify)watch_camera_config_unref);
  g_ptr_array_add (camera->locked.configs, watch_camera_config_ref (config));
  camera->config = config;
  camera->hub = hub;
  camera->is_file = g_str_has_prefix (config->uri, "file://");
  camera->is_live = !camera->is_file || config->pace;
  camera->connection.pipe = -1;
  camera->context = g_main_context_new ();
  g_mutex_init (&camera->lock);
  g_cond_init (&camera->stopped);
  camera->locked.is_stopped = TRUE;
  camera->locked.status.uri = watch_redact (config->uri);
  camera->locked.status.labeller = hub->labeller;
  camera->locked.status.gpu = -1;
  camera->locked.backlog.share = -1;
  camera->locked.labelled_arrival = g_get_monotonic_time ();
  camera->locked.status.state = WATCH_STATE_CONNECTING;
  camera->locked.status.scene = watch_scene_after (NULL);
  camera->locked.status.since = g_get_real_time ();
  watch_camera_set_arming (camera, NULL);
  return camera;
}

/* TRUE if no thread ran before. */
static gboolean
set_running (WatchCamera *camera, gboolean is_running)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&camera->lock);
  gboolean is_changed = camera->locked.is_stopped == is_running;

  camera->locked.is_stopped = !is_running;
  return is_changed;
}

void
watch_camera_start (WatchCamera *camera)
{
  GThread *thread;
  GError *error = NULL;

  if (watch_camera_is_stopping (camera) || !set_running (camera, TRUE))
    return;
  if (watch_camera_reserve_room (camera, &error)) {
    thread = g_thread_try_new (camera->name, run, watch_camera_ref (camera), &error);
    if (thread) {
      g_thread_unref (thread);
      return;
    }
    watch_camera_unref (camera);
  }
  watch_camera_release_room (camera);
  set_running (camera, FALSE);
  /* No thread runs, and the main thread must not wait for an output. */
  g_atomic_int_or (&camera->atomic.cancelled, WATCH_PIPELINE_STOPS);
  watch_camera_report_limit (camera, error);
  g_atomic_int_and (&camera->atomic.cancelled, ~WATCH_PIPELINE_STOPS);
}

void
watch_camera_stop (WatchCamera *camera)
{
  g_atomic_int_or (&camera->atomic.cancelled, WATCH_CAMERA_STOPS);
  g_main_context_wakeup (camera->context);
}

gboolean
watch_camera_is_stopping (WatchCamera *camera)
{
  return (g_atomic_int_get (&camera->atomic.cancelled) & WATCH_CAMERA_STOPS) != 0;
}

void
watch_camera_set_removed (WatchCamera *camera)
{
  g_atomic_int_set (&camera->atomic.is_removed, TRUE);
}

gboolean
watch_camera_is_removed (WatchCamera *camera)
{
  return g_atomic_int_get (&camera->atomic.is_removed);
}

gboolean
watch_camera_check_thread (WatchCamera *camera)
{
  const gdouble limit = camera_config (camera)->stuck,
                age = watch_heartbeat_get_age (camera->heartbeat);
  g_autofree gchar *detail = NULL;

  if (age <= limit)
    return FALSE;
  watch_sockets_shut_down (camera);
  detail = g_strdup_printf ("its thread has not answered for %g seconds", limit);
  g_atomic_int_set (&camera->atomic.is_stuck, TRUE);
  watch_camera_set_state (camera, WATCH_STATE_STUCK, detail);
  return age > PATIENCE * limit;
}

void
watch_camera_abandon (WatchCamera *camera)
{
  watch_heartbeat_rest (camera->heartbeat);
  watch_backlog_end (camera);
}

gboolean
watch_camera_wait (WatchCamera *camera, gint64 until)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&camera->lock);

  while (!camera->locked.is_stopped && g_cond_wait_until (&camera->stopped, &camera->lock, until)) {
  }
  return camera->locked.is_stopped;
}

WatchCamera *
watch_camera_ref (WatchCamera *camera)
{
  return g_atomic_rc_box_acquire (camera);
}

static void
clear_camera (WatchCamera *camera)
{
  if (camera->locked.frame)
    gst_sample_unref (camera->locked.frame);
  watch_status_clear (&camera->locked.status);
  watch_camera_clear_arming (camera);
  g_ptr_array_unref (camera->locked.configs);
  g_main_context_unref (camera->context);
  g_mutex_clear (&camera->lock);
  g_cond_clear (&camera->stopped);
  watch_heartbeat_free (camera->heartbeat);
  g_clear_pointer (&camera->delivery.scene_change, gst_structure_free);
  g_free (camera->name);
}

void
watch_camera_unref (WatchCamera *camera)
{
  g_atomic_rc_box_release_full (camera, (GDestroyNotify)clear_camera);
}
