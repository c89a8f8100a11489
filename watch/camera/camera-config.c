/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A camera that plays gets another configuration, or attaches the foreground mask for a time. */
#include "camera-state.h"

#define MASK_SECONDS 5

/* In the camera's thread. */
static gboolean
apply (gpointer data)
{
  WatchCamera *camera = data;
  const WatchCameraConfig *config = camera_config (camera);

  if (camera->analysis.elements && camera->analysis.config != config)
    watch_pipeline_change_analysis (camera, config);
  return G_SOURCE_REMOVE;
}

void
watch_camera_change (WatchCamera *camera, WatchCameraConfig *config)
{
  g_mutex_lock (&camera->lock);
  g_ptr_array_add (camera->locked.configs, config);
  g_atomic_pointer_set (&camera->config, config);
  g_mutex_unlock (&camera->lock);
  g_source_unref (watch_camera_call_later (camera, 0, apply));
}

/* In the camera's thread: attaches the mask until the time has come. */
static gboolean
follow_mask (gpointer data)
{
  WatchCamera *camera = data;
  const gint64 left =
      g_atomic_int_get (&camera->atomic.mask_until) - g_get_monotonic_time () / G_USEC_PER_SEC;
  const gboolean is_wanted = left > 0;

  if (!is_wanted)
    g_atomic_int_set (&camera->atomic.is_mask_followed, FALSE);
  if (camera->analysis.elements)
    watch_pipeline_attach_mask (camera, is_wanted);
  if (is_wanted)
    g_source_unref (watch_camera_call_later (camera, 1000 * MIN (left, MASK_SECONDS), follow_mask));
  return G_SOURCE_REMOVE;
}

void
watch_camera_attach_mask (WatchCamera *camera)
{
  const gint64 now = g_get_monotonic_time () / G_USEC_PER_SEC;

  g_atomic_int_set (&camera->atomic.mask_until, (gint)(now + MASK_SECONDS));
  if (g_atomic_int_compare_and_exchange (&camera->atomic.is_mask_followed, FALSE, TRUE))
    g_source_unref (watch_camera_call_later (camera, 0, follow_mask));
}

gboolean
watch_camera_can_change (WatchCamera *camera)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&camera->lock);

  return camera->is_live && camera->locked.status.state != WATCH_STATE_ENDED;
}
