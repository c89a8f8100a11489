/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The status of a camera: counts and measurements. */
#include "camera-private.h"

const gdouble watch_latencies[WATCH_N_LATENCIES] = {
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0};

const gchar *
watch_state_name (WatchState state)
{
  static const gchar *const names[] = {
      "connecting", "playing", "lost", "silent", "frozen", "garbage", "resized", "ended"};

  return names[state];
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

void
watch_camera_set_frame (WatchCamera *camera, GstSample *frame)
{
  GstSample *old;

  g_mutex_lock (&camera->lock);
  old = camera->frame;
  camera->frame = frame;
  g_mutex_unlock (&camera->lock);
  if (old)
    gst_sample_unref (old);
}

void
watch_camera_set_waiting (WatchCamera *camera, guint n_waiting)
{
  g_mutex_lock (&camera->lock);
  camera->status.n_waiting = n_waiting;
  g_mutex_unlock (&camera->lock);
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
  resized = camera->status.width > 0 &&
            (camera->status.width != width || camera->status.height != height);
  camera->status.width = width;
  camera->status.height = height;
  camera->status.n_components = n_components;
  camera->status.n_frames++;
  advance_fps (camera);
  camera->fps_counts[camera->fps_second % (WATCH_FPS_SECONDS + 1)]++;
  camera->active_time = now;
  is_first = camera->play_time == 0;
  if (is_first)
    camera->play_time = now;
  camera->n_data = 0;
  g_mutex_unlock (&camera->lock);
  watch_camera_set_frame (camera, gst_sample_ref (sample));
  if (is_first)
    watch_camera_release_room (camera);
  return resized;
}

gboolean
watch_camera_is_first_frame (WatchCamera *camera)
{
  gboolean is_first;

  g_mutex_lock (&camera->lock);
  is_first = camera->play_time == 0;
  g_mutex_unlock (&camera->lock);
  return is_first;
}

void
watch_camera_count_latency (WatchCamera *camera)
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
