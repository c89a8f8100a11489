/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Motion lasts from min_frames frames with components that move to a quiet time without any. */
#pragma once

#include <gst/gst.h>

typedef struct {
  gboolean moving;   /* there is motion */
  guint n_frames;    /* with components that move, while there is no motion */
  GstClockTime last; /* PTS of the latest of them; the start of the quiet time */
} GstCclMotion;

/* Updates the motion with a frame of n_components at a time in ns. moves: they move, or change. A
 * time of GST_CLOCK_TIME_NONE stands for that of the frame before; a time that runs backwards, or
 * forwards in a stream that is reversed, restarts the quiet time. Motion begins with the last one
 * of min_frames frames with components that move; frames between them, of less than a second, may
 * have components that do not. It ends after quiet_time in ns without components that move.
 *
 * Returns the name of the message about the change, "motion-begin" or "motion-end", or NULL. */
const gchar *gst_ccl_motion_frame (GstCclMotion *motion, GstClockTime time, guint n_components,
    gboolean moves, guint min_frames, GstClockTime quiet_time, gboolean is_reversed);

/* Ends the motion at the end of the stream. Returns "motion-end" if there was motion, or NULL. */
const gchar *gst_ccl_motion_end (GstCclMotion *motion);
