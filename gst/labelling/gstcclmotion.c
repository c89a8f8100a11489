/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclmotion.h"

const gchar *
gst_ccl_motion_frame (GstCclMotion *motion, GstClockTime time, guint n_components, guint min_frames,
    GstClockTime quiet_time, gboolean is_reversed)
{
  gboolean began;

  motion->n_frames = n_components > 0 && !motion->moving ? motion->n_frames + 1 : 0;
  began = motion->n_frames > 0 && motion->n_frames >= min_frames;
  if (motion->n_frames > 0 && !began)
    return NULL;
  if (n_components > 0) {
    if (GST_CLOCK_TIME_IS_VALID (time) || began)
      motion->last = time;
    motion->moving = TRUE;
    return began ? "motion-begin" : NULL;
  }
  if (!motion->moving)
    return NULL;
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
