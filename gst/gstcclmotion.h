/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When foreground comes and goes. */
#ifndef __GST_CCL_MOTION_H__
#define __GST_CCL_MOTION_H__

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  gboolean moving;   /* begun and not ended */
  GstClockTime last; /* PTS of the latest frame with foreground while moving */
} GstCclMotion;

/* Takes a frame into account, n components at a time in ns that does not run backwards, or
 * GST_CLOCK_TIME_NONE, which is taken for the time of the frame before. Motion ends when
 * quiet_time has passed without a component.
 *
 * Returns the name of what has happened, "motion-begin" or "motion-end", or NULL. */
const gchar *gst_ccl_motion_frame (
    GstCclMotion *motion, GstClockTime time, guint n_components, GstClockTime quiet_time);

/* The stream ends: "motion-end" if there was motion, or NULL. */
const gchar *gst_ccl_motion_end (GstCclMotion *motion);

G_END_DECLS

#endif /* __GST_CCL_MOTION_H__ */
