/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a camera and its regions raise alerts. */
#include <string.h>

#include "watch/camera/camera-state.h"

#define FOLLOW_INTERVAL G_TIME_SPAN_SECOND

WatchArmed *
watch_camera_get_armed (WatchCamera *camera)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&camera->lock);

  return watch_armed_ref (camera->locked.armed);
}

static const WatchSchedule *
schedule_of (const WatchCameraConfig *config, const gchar *region)
{
  return *region ? g_hash_table_lookup (config->region_schedules, region) : config->schedule;
}

/* With the lock: of a region, or with an empty name of the camera. */
static WatchArmingStatus
get_status (WatchCamera *camera, const gchar *region, gint64 now)
{
  const WatchArming *set =
      camera->locked.arming ? g_hash_table_lookup (camera->locked.arming, region) : NULL;
  const WatchArming arming = set ? *set : (WatchArming){0};
  const WatchCameraConfig *config = camera_config (camera);

  return (WatchArmingStatus){
      .region = g_strdup (region),
      .is_on = watch_arming_is_on (&arming, schedule_of (config, region), config->time_zone, now),
      .mode = arming.mode,
      .paused_until = arming.paused_until > now ? arming.paused_until : 0,
  };
}

static void
clear_status (gpointer status)
{
  g_free (((WatchArmingStatus *)status)->region);
}

/* With the lock. */
static GArray *
list_statuses (WatchCamera *camera, gint64 now)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (WatchArmingStatus));
  WatchArmingStatus status = get_status (camera, "", now);

  g_array_set_clear_func (list, clear_status);
  g_array_append_val (list, status);
  for (gchar **region = camera->locked.regions; region && *region; region++) {
    status = get_status (camera, *region, now);
    g_array_append_val (list, status);
  }
  return list;
}

GArray *
watch_camera_get_arming (WatchCamera *camera)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&camera->lock);

  return list_statuses (camera, g_get_real_time ());
}

/* With the lock: notes what is armed now. */
static void
update_armed (WatchCamera *camera)
{
  g_autoptr (GArray) list = list_statuses (camera, g_get_real_time ());
  WatchArmed *armed = g_atomic_rc_box_new0 (WatchArmed);

  armed->camera = g_array_index (list, WatchArmingStatus, 0).is_on;
  for (guint i = 1; i < list->len; i++) {
    const WatchArmingStatus *status = &g_array_index (list, WatchArmingStatus, i);

    if (status->is_on)
      continue;
    if (!armed->disarmed)
      armed->disarmed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_add (armed->disarmed, g_strdup (status->region));
  }
  g_clear_pointer (&camera->locked.armed, watch_armed_unref);
  camera->locked.armed = armed;
}

void
watch_camera_set_arming (WatchCamera *camera, GHashTable *arming)
{
  g_mutex_lock (&camera->lock);
  g_clear_pointer (&camera->locked.arming, g_hash_table_unref);
  g_atomic_pointer_set (&camera->locked.arming, arming);
  update_armed (camera);
  g_mutex_unlock (&camera->lock);
  g_atomic_int_set (&camera->atomic.is_arming_new, TRUE);
}

static gboolean
has_regions (gchar **names, const GstCclRegionState *state)
{
  const guint n = state ? gst_ccl_region_state_get_n_regions (state) : 0;

  for (guint i = 0; i < n; i++)
    if (!names || !names[i] ||
        strcmp (names[i], gst_ccl_region_state_get_region (state, i)->name) != 0)
      return FALSE;
  return !names || !names[n];
}

static void
take_regions (WatchCamera *camera, const GstCclRegionState *state)
{
  const guint n = state ? gst_ccl_region_state_get_n_regions (state) : 0;

  g_mutex_lock (&camera->lock);
  g_strfreev (camera->locked.regions);
  camera->locked.regions = g_new0 (gchar *, n + 1);
  for (guint i = 0; i < n; i++)
    camera->locked.regions[i] = g_strdup (gst_ccl_region_state_get_region (state, i)->name);
  update_armed (camera);
  g_mutex_unlock (&camera->lock);
  g_atomic_int_set (&camera->atomic.is_arming_new, TRUE);
}

void
watch_camera_note_regions (WatchCamera *camera, const GstBuffer *buffer)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta ((GstBuffer *)buffer);
  g_autoptr (GstCclRegionState) state = meta ? gst_ccl_meta_get_region_state (meta) : NULL;

  /* This thread alone writes them. */
  if (!has_regions (camera->locked.regions, state))
    take_regions (camera, state);
}

/* Whether what is armed depends on the time of day. */
static gboolean
may_change (WatchCamera *camera)
{
  const WatchCameraConfig *config = camera_config (camera);

  return config->schedule || g_hash_table_size (config->region_schedules) > 0 ||
         g_atomic_pointer_get (&camera->locked.arming);
}

void
watch_camera_follow_arming (WatchCamera *camera)
{
  const gint64 now = g_get_monotonic_time ();
  const gboolean is_new =
      g_atomic_int_compare_and_exchange (&camera->atomic.is_arming_new, TRUE, FALSE);

  if (!is_new && (!may_change (camera) || now < camera->connection.arming_time + FOLLOW_INTERVAL))
    return;
  camera->connection.arming_time = now;
  g_mutex_lock (&camera->lock);
  update_armed (camera);
  g_mutex_unlock (&camera->lock);
  watch_camera_emit_arming (camera);
}

void
watch_camera_clear_arming (WatchCamera *camera)
{
  g_clear_pointer (&camera->locked.arming, g_hash_table_unref);
  g_clear_pointer (&camera->locked.armed, watch_armed_unref);
  g_clear_pointer (&camera->locked.regions, g_strfreev);
  g_clear_pointer (&camera->connection.reported_arming, g_free);
}
