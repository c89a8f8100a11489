/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclmotion.h"

/* Motion begins, unless components stand still for so long between those that move. */
#define MOST_PAUSE GST_SECOND

/* A frame while there is no motion. Returns whether it begins. */
static gboolean
begins (
    GstCclMotion *motion, GstClockTime time, guint n_components, gboolean moves, guint min_frames)
{
  const gboolean pauses = motion->n_frames > 0 && GST_CLOCK_TIME_IS_VALID (time) &&
                          GST_CLOCK_TIME_IS_VALID (motion->last) &&
                          (time < motion->last || time - motion->last > MOST_PAUSE);

  if (n_components == 0 || (pauses && !moves))
    motion->n_frames = 0;
  if (n_components == 0 || !moves)
    return FALSE;
  motion->n_frames++;
  motion->last = time;
  motion->moving = motion->n_frames >= min_frames;
  if (motion->moving)
    motion->n_frames = 0;
  return motion->moving;
}

const gchar *
gst_ccl_motion_frame (GstCclMotion *motion, GstClockTime time, guint n_components, gboolean moves,
    guint min_frames, GstClockTime quiet_time, gboolean is_reversed)
{
  if (!motion->moving)
    return begins (motion, time, n_components, moves, min_frames) ? "motion-begin" : NULL;
  if (n_components > 0 && moves) {
    if (GST_CLOCK_TIME_IS_VALID (time))
      motion->last = time;
    return NULL;
  }
  if (!GST_CLOCK_TIME_IS_VALID (motion->last))
    motion->last = time;
  if (GST_CLOCK_TIME_IS_VALID (time) && (is_reversed ? time > motion->last : time < motion->last))
    motion->last = time;
  if (quiet_time == 0 || (GST_CLOCK_TIME_IS_VALID (time) &&
                             MAX (time, motion->last) - MIN (time, motion->last) >= quiet_time))
    return gst_ccl_motion_end (motion);
  return NULL;
}

const gchar *
gst_ccl_motion_end (GstCclMotion *motion)
{
  gboolean ended = motion->moving;

  motion->moving = FALSE;
  return ended ? "motion-end" : NULL;
}
