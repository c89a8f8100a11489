/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A camera gets another configuration while it plays. */
#include "camera-state.h"

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

gboolean
watch_camera_can_change (WatchCamera *camera)
{
  gboolean can;

  g_mutex_lock (&camera->lock);
  can = camera->is_live && camera->locked.status.state != WATCH_STATE_ENDED;
  g_mutex_unlock (&camera->lock);
  return can;
}
