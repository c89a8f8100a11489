/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frame interval of a stream whose caps have no frame rate. */
#ifndef __GST_CCL_INTERVAL_H__
#define __GST_CCL_INTERVAL_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_CCL_INTERVALS 31

/* The latest intervals between frames. Zero is an estimate without a frame. */
typedef struct {
  GstClockTime intervals[GST_CCL_INTERVALS]; /* a ring */
  guint n, next;
} GstCclInterval;

/* Adds the time from one frame to the next, greater than 0. */
void gst_ccl_interval_add (GstCclInterval *interval, GstClockTime time);

/* The median of the latest intervals: neither dropped frames nor jitter matter as long as most
 * frames arrive. 0 before the first one. */
GstClockTime gst_ccl_interval_estimate (const GstCclInterval *interval);

G_END_DECLS

#endif /* __GST_CCL_INTERVAL_H__ */
