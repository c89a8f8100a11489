/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The status of a camera: counts and measurements. */
#include "camera-state.h"

const gdouble watch_latencies[WATCH_N_LATENCIES] = {
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0};

/* Of the last frames, those that were late when the state begins and when it ends. A single pause
 * of the machine is no overload. */
#define OVERLOAD_BEGIN 0.1
#define OVERLOAD_END 0.02
#define OVERLOAD_SECONDS 5

const gchar *
watch_state_name (WatchState state)
{
  static const gchar *const names[WATCH_N_STATES] = {"connecting", "playing", "lost", "silent",
      "frozen", "garbage", "overloaded", "resized", "ended", "stuck"};

  return names[state];
}

gdouble
watch_camera_get_late_share (WatchCamera *camera)
{
  const guint late = watch_rate_count (&camera->locked.late, WATCH_RATE_SECONDS);
  const guint labelled = watch_rate_count (&camera->locked.labelled, WATCH_RATE_SECONDS);

  return late > 0 ? (gdouble)late / (late + labelled) : 0;
}

gboolean
watch_camera_is_overloaded (WatchCamera *camera)
{
  const gdouble share = watch_camera_get_late_share (camera);

  if (camera->locked.status.state == WATCH_STATE_OVERLOADED)
    return share >= OVERLOAD_END;
  return share >= OVERLOAD_BEGIN &&
         watch_rate_count_seconds (&camera->locked.late) >= OVERLOAD_SECONDS;
}

void
watch_camera_get_status (WatchCamera *camera, WatchStatus *status)
{
  g_mutex_lock (&camera->lock);
  camera->locked.status.fps =
      (gdouble)watch_rate_count (&camera->locked.labelled, WATCH_FPS_SECONDS) / WATCH_FPS_SECONDS;
  camera->locked.status.backlog =
      MAX (camera->locked.backlog.arrival - camera->locked.backlog.taken, 0) / 1e6;
  camera->locked.status.age = (g_get_monotonic_time () - camera->locked.labelled_arrival) / 1e6;
  camera->locked.status.is_armed = camera->locked.armed->camera;
  *status = camera->locked.status;
  status->detail = g_strdup (camera->locked.status.detail);
  status->uri = g_strdup (camera->locked.status.uri);
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
  return watch_camera_config_ref ((WatchCameraConfig *)camera_config (camera));
}

void
watch_camera_set_frame (WatchCamera *camera, GstSample *frame)
{
  g_autoptr (GstSample) old = NULL;

  g_mutex_lock (&camera->lock);
  old = camera->locked.frame;
  camera->locked.frame = frame;
  g_mutex_unlock (&camera->lock);
}

void
watch_camera_set_waiting (WatchCamera *camera, guint n_waiting)
{
  g_mutex_lock (&camera->lock);
  camera->locked.status.n_waiting = n_waiting;
  g_mutex_unlock (&camera->lock);
}

GstSample *
watch_camera_get_frame (WatchCamera *camera)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&camera->lock);

  return camera->locked.frame ? gst_sample_ref (camera->locked.frame) : NULL;
}

gboolean
watch_camera_store_frame (WatchCamera *camera, GstSample *sample, guint n_components)
{
  GstStructure *structure = gst_caps_get_structure (gst_sample_get_caps (sample), 0);
  gint64 now = g_get_monotonic_time ();
  gint width = 0, height = 0;
  gboolean resized, is_first;

  gst_structure_get_int (structure, "width", &width);
  gst_structure_get_int (structure, "height", &height);
  g_mutex_lock (&camera->lock);
  resized = camera->locked.status.width > 0 &&
            (camera->locked.status.width != width || camera->locked.status.height != height);
  camera->locked.status.width = width;
  camera->locked.status.height = height;
  camera->locked.status.n_components = n_components;
  camera->locked.status.n_frames++;
  watch_rate_add (&camera->locked.labelled);
  camera->locked.active_time = now;
  camera->locked.utc_offset =
      camera->delivery.utc.time - (gint64)(camera->delivery.running_time / GST_USECOND);
  camera->locked.labelled_arrival = GST_CLOCK_TIME_IS_VALID (camera->delivery.arrival)
                                        ? (gint64)(camera->delivery.arrival / GST_USECOND)
                                        : now;
  is_first = camera->locked.play_time == 0;
  if (is_first)
    camera->locked.play_time = now;
  camera->locked.n_data = 0;
  g_mutex_unlock (&camera->lock);
  watch_camera_set_frame (camera, gst_sample_ref (sample));
  if (is_first)
    watch_camera_release_room (camera);
  return resized;
}

gboolean
watch_camera_is_first_frame (WatchCamera *camera)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&camera->lock);

  return camera->locked.play_time == 0;
}

void
watch_camera_count_latency (WatchCamera *camera)
{
  gdouble latency;
  guint bucket = 0;

  if (!GST_CLOCK_TIME_IS_VALID (camera->delivery.arrival))
    return;
  latency = (g_get_monotonic_time () - (gint64)(camera->delivery.arrival / GST_USECOND)) / 1e6;
  while (bucket < WATCH_N_LATENCIES && latency > watch_latencies[bucket])
    bucket++;
  g_mutex_lock (&camera->lock);
  camera->locked.status.latency = latency;
  camera->locked.status.latency_sum += latency;
  camera->locked.status.latency_counts[bucket]++;
  g_mutex_unlock (&camera->lock);
}
