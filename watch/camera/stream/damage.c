/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "damage.h"

#include "watch/camera/camera-state.h"

/* A stream without key frames, or with very few, is decoded after this time as it comes. */
#define MAX_WAIT (30 * G_TIME_SPAN_SECOND)

void
watch_damage_begin (WatchCamera *camera)
{
  camera->decoding.damage = (WatchDamage){0};
}

static void
await_key_frame (WatchDamage *damage, gint64 now)
{
  if (!damage->awaits_key_frame)
    damage->wait_time = now;
  damage->awaits_key_frame = TRUE;
}

gboolean
watch_damage_take (WatchCamera *camera, GstElement *decoder, GstBuffer *encoded)
{
  WatchDamage *damage = &camera->decoding.damage;
  const gboolean is_key_frame = !GST_BUFFER_FLAG_IS_SET (encoded, GST_BUFFER_FLAG_DELTA_UNIT);
  const gint64 now = g_get_monotonic_time ();

  if (damage->decoder != decoder || GST_BUFFER_IS_DISCONT (encoded))
    await_key_frame (damage, now);
  damage->decoder = decoder;
  if (damage->awaits_key_frame && (is_key_frame || now - damage->wait_time > MAX_WAIT))
    damage->awaits_key_frame = FALSE;
  if (!damage->awaits_key_frame)
    return TRUE;
  watch_camera_frame_skipped (camera);
  g_mutex_lock (&camera->lock);
  camera->locked.active_time = now; /* it is not silent */
  g_mutex_unlock (&camera->lock);
  return FALSE;
}

gboolean
watch_damage_has_picture (GstBuffer *decoded)
{
  return GST_BUFFER_FLAG_IS_SET (decoded, GST_BUFFER_FLAG_CORRUPTED);
}
