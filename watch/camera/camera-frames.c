/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Called by streaming threads for the data and frames of a camera. */
#include <gst/ccl/ccl.h>
#include <gst/video/video.h>
#include <string.h>

#include "camera-state.h"

#define LEAST_KEYS 3    /* key frames with the picture of the one before */
#define CHECKSUM_ROWS 4 /* one of so many is read */
#define CHECKSUM_INTERVAL G_TIME_SPAN_SECOND
#define START_TIME (3 * G_TIME_SPAN_SECOND) /* of a connection, while decoders are made */

void
watch_camera_data (WatchCamera *camera)
{
  g_mutex_lock (&camera->lock);
  camera->locked.n_data++;
  camera->locked.data_time = g_get_monotonic_time ();
  g_mutex_unlock (&camera->lock);
}

void
watch_camera_encoded (
    WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTimeDiff running_time)
{
  CALL_OBSERVERS (camera, encoded, buffer, caps, running_time);
}

void
watch_camera_analysed (
    WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTimeDiff running_time)
{
  /* With `rotate`, boxes are those of the turned pictures, and a browser would draw them over the
   * video as it was before. */
  const gboolean has_stream =
      camera->is_live && !camera_config (camera)->rotate &&
      gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-h264");

  g_mutex_lock (&camera->lock);
  camera->locked.status.has_stream = has_stream;
  g_mutex_unlock (&camera->lock);
  if (has_stream)
    CALL_OBSERVERS (camera, analysed, buffer, caps, running_time);
}

void
watch_camera_frame_skipped (WatchCamera *camera)
{
  g_mutex_lock (&camera->lock);
  camera->locked.status.n_skipped++;
  g_mutex_unlock (&camera->lock);
}

void
watch_camera_frame_late (WatchCamera *camera)
{
  g_mutex_lock (&camera->lock);
  camera->locked.status.n_skipped++;
  camera->locked.status.n_late++;
  if (camera->locked.play_time > 0 &&
      g_get_monotonic_time () - camera->locked.play_time > START_TIME)
    watch_rate_add (&camera->locked.late);
  g_mutex_unlock (&camera->lock);
}

/* Of some rows of the first plane: what moves or is noise is not lower than the rows between. */
static guint64
checksum_of_frame (GstBuffer *buffer, GstCaps *caps)
{
  guint64 sum = G_GUINT64_CONSTANT (14695981039346656037);
  GstVideoFrame frame;
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps) ||
      !gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ))
    return 0;
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (&frame); y += CHECKSUM_ROWS) {
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

void
watch_camera_note_key_frame (WatchCamera *camera, GstBuffer *buffer)
{
  const gboolean is_key_frame = !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&camera->lock);

  camera->locked.has_other_frames |= !is_key_frame;
  if (is_key_frame)
    camera->locked.key_time = GST_BUFFER_PTS (buffer);
}

static gboolean
is_picture_of_key_frame (WatchCamera *camera, GstBuffer *buffer)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&camera->lock);

  return camera->locked.has_other_frames && GST_BUFFER_PTS_IS_VALID (buffer) &&
         GST_BUFFER_PTS (buffer) == camera->locked.key_time;
}

/* An encoder refines a still from frame to frame and begins anew with each key frame, whose
 * pictures are identical. Those of a scene never are, because of the sensor's noise. */
static gboolean
repeats_key_frames (WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, gint64 now)
{
  guint64 checksum;

  if (is_picture_of_key_frame (camera, buffer)) {
    checksum = checksum_of_frame (buffer, caps);
    camera->delivery.n_same_keys =
        checksum == camera->delivery.key_checksum ? camera->delivery.n_same_keys + 1 : 0;
    if (camera->delivery.n_same_keys == 0)
      camera->delivery.key_changed_time = now;
    camera->delivery.key_checksum = checksum;
  }
  return camera->delivery.key_checksum != 0 && camera->delivery.n_same_keys >= LEAST_KEYS &&
         now - camera->delivery.key_changed_time >
             camera_config (camera)->frozen * G_TIME_SPAN_SECOND;
}

/* Whether the frames have been identical for too long. One frame per second is compared. */
static gboolean
is_frozen (WatchCamera *camera, GstBuffer *buffer, GstCaps *caps)
{
  gint64 now = g_get_monotonic_time ();
  guint64 checksum;

  if (camera_config (camera)->frozen <= 0)
    return FALSE;
  if (repeats_key_frames (camera, buffer, caps, now))
    return TRUE;
  if (camera->delivery.checksum_time == 0 ||
      now >= camera->delivery.checksum_time + CHECKSUM_INTERVAL) {
    checksum = checksum_of_frame (buffer, caps);
    if (checksum != camera->delivery.checksum || camera->delivery.checksum_time == 0)
      camera->delivery.changed_time = now;
    camera->delivery.checksum = checksum;
    camera->delivery.checksum_time = now;
  }
  return now - camera->delivery.changed_time > camera_config (camera)->frozen * G_TIME_SPAN_SECOND;
}

static void
update_state (WatchCamera *camera, gboolean resized, gboolean frozen)
{
  gboolean is_overloaded;

  if (resized) {
    g_autofree gchar *detail = NULL;

    g_mutex_lock (&camera->lock);
    detail = g_strdup_printf ("%d×%d", camera->locked.status.width, camera->locked.status.height);
    g_mutex_unlock (&camera->lock);
    watch_camera_set_state (camera, WATCH_STATE_RESIZED, detail);
  }
  g_mutex_lock (&camera->lock);
  is_overloaded = watch_camera_is_overloaded (camera);
  g_mutex_unlock (&camera->lock);
  if (frozen) {
    g_autofree gchar *detail = g_strdup_printf (
        "the frames of the last %g seconds show one picture", camera_config (camera)->frozen);

    watch_camera_set_state (camera, WATCH_STATE_FROZEN, detail);
  } else if (is_overloaded) {
    watch_camera_set_state (camera, WATCH_STATE_OVERLOADED,
        "the machine is too slow: more than a tenth of the frames is skipped");
  } else {
    watch_camera_set_state (camera, WATCH_STATE_PLAYING, NULL);
  }
}

void
watch_camera_frame (
    WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTime running_time)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  g_autoptr (GstSample) sample = gst_sample_new (buffer, caps, NULL, NULL);
  gboolean resized;

  camera->delivery.arrival = gst_ccl_utc_get_arrival (buffer);
  camera->delivery.utc.time = gst_ccl_utc_of_buffer (buffer, &camera->delivery.utc.from_sender);
  camera->delivery.running_time = running_time;
  resized =
      watch_camera_store_frame (camera, sample, meta ? gst_ccl_meta_get_n_components (meta) : 0);
  update_state (camera, resized, is_frozen (camera, buffer, caps));
  watch_camera_note_regions (camera, buffer);
  watch_camera_take_motion (camera, sample, watch_camera_emit_scene_change (camera, sample));
  CALL_OBSERVERS (camera, frame, buffer, caps, running_time);
}

void
watch_camera_picture (WatchCamera *camera, const GstStructure *message)
{
  const GValue *image = gst_structure_get_value (message, "image");
  GstSample *sample = image ? gst_value_get_sample (image) : NULL;
  guint64 id, running_time;
  gint64 utc;

  if (!sample || !gst_structure_get_uint64 (message, "id", &id) ||
      !gst_structure_get_uint64 (message, "running-time", &running_time))
    return;
  g_mutex_lock (&camera->lock);
  utc = camera->locked.utc_offset + (gint64)(running_time / GST_USECOND);
  g_mutex_unlock (&camera->lock);
  CALL_OBSERVERS (camera, picture, id, utc, gst_sample_get_buffer (sample));
}
