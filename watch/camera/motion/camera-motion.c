/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What moves in the frames of a camera, and the motions that follow. */
#include "watch/camera/camera-state.h"

#define CAMERA_SETTLE 2.0 /* seconds, unless the configuration says otherwise */

static GstClockTime
time_of_seconds (gdouble seconds)
{
  return (GstClockTime)(seconds * GST_SECOND);
}

/* The labeller reports an end of motion after its own quiet time, so only motion of tracks needs
 * one here. */
static WatchMotionRules
get_rules (WatchCamera *camera)
{
  const WatchCameraConfig *config = camera_config (camera);
  const gdouble settle = config->settle_time >= 0 ? config->settle_time
                         : camera->is_file        ? 0
                                                  : CAMERA_SETTLE;

  return (WatchMotionRules){
      .quiet = config->has_track_motion
                   ? g_atomic_int_get (&camera->atomic.quiet_time) * GST_MSECOND
                   : 0,
      .least = time_of_seconds (config->least_motion),
      .cooldown = time_of_seconds (config->cooldown),
      .settle = time_of_seconds (settle),
  };
}

void
watch_camera_note_foreground (WatchCamera *camera, GstBuffer *buffer)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  gdouble pixels, sum = 0;

  camera->delivery.foreground_share = 0;
  if (!meta)
    return;
  pixels = (gdouble)gst_ccl_meta_get_frame_width (meta) * gst_ccl_meta_get_frame_height (meta);
  for (guint row = 0; row < gst_ccl_meta_get_n_rows (meta); row++)
    sum += gst_ccl_meta_get_component (meta, row)->area;
  camera->delivery.foreground_share = pixels > 0 ? sum / pixels : 0;
}

/* Whether the track of a row is in a region that is not armed. state: of the frame, or NULL. */
static gboolean
is_in_disarmed_region (const GstCclRegionState *state, guint row, const WatchArmed *armed)
{
  if (!state)
    return FALSE;
  for (guint i = 0; i < gst_ccl_region_state_get_n_regions (state); i++)
    if (gst_ccl_region_state_is_inside (state, i, row) &&
        !watch_armed_has_region (armed, gst_ccl_region_state_get_region (state, i)->name))
      return TRUE;
  return FALSE;
}

static gboolean
has_moving_track (const GstCclMeta *meta, const WatchArmed *armed)
{
  g_autoptr (GstCclRegionState) state =
      armed->disarmed ? gst_ccl_meta_get_region_state (meta) : NULL;

  for (guint row = 0; row < gst_ccl_meta_get_n_rows (meta); row++) {
    const GstCclTrackInfo *track = gst_ccl_meta_get_track (meta, row);

    if (track && track->state == GST_CCL_TRACK_STATE_CONFIRMED &&
        !is_in_disarmed_region (state, row, armed))
      return TRUE;
  }
  return FALSE;
}

void
watch_camera_begin_motion (WatchCamera *camera)
{
  watch_motion_reset (&camera->delivery.motion);
  camera->delivery.has_moving_components = FALSE;
  camera->delivery.has_frames = FALSE;
}

void
watch_camera_take_motion (WatchCamera *camera, GstSample *frame, gboolean is_disturbed)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (gst_sample_get_buffer (frame));
  const WatchMotionRules rules = get_rules (camera);
  const GstClockTime time = camera->delivery.running_time;
  WatchMotion *motion = &camera->delivery.motion;
  g_autoptr (WatchArmed) armed = watch_camera_get_armed (camera);
  WatchMotionStep step;
  gboolean moves;

  if (is_disturbed || !camera->delivery.has_frames ||
      camera->delivery.foreground_share > camera_config (camera)->most_motion)
    watch_motion_disturb (motion, time);
  camera->delivery.has_frames = TRUE;
  moves = camera_config (camera)->has_track_motion ? meta && has_moving_track (meta, armed)
                                                   : camera->delivery.has_moving_components;
  step = watch_motion_take (motion, &rules, time, moves, armed->camera);
  if (step != WATCH_MOTION_GOES_ON)
    watch_camera_emit_motion (camera, step == WATCH_MOTION_BEGINS,
        meta ? gst_ccl_meta_get_n_components (meta) : 0, frame);
}

void
watch_camera_end_motion (WatchCamera *camera)
{
  if (watch_motion_stop (&camera->delivery.motion))
    watch_camera_emit_motion (camera, FALSE, 0, NULL);
}
