/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time from frame to frame, in frames of the stream's rate. */
#pragma once

#include <gst/gst.h>

#define GST_CCL_INTERVALS 31

typedef struct {
  gdouble frame_rate;   /* of the caps, or estimated */
  gboolean is_constant; /* the caps have a frame rate */
  GstClockTime last;    /* running time of the latest frame; GST_CLOCK_TIME_NONE: none */
  GstClockTime intervals[GST_CCL_INTERVALS]; /* unless it is constant: the latest ones, a ring */
  guint n, next;
} GstCclFrameClock;

/* Without caps the frame rate is CUDACCL_TRACKER_FRAME_RATE. */
void gst_ccl_frame_clock_init (GstCclFrameClock *clock);

/* Takes the frame rate of the caps. Where they have none, it is estimated: it belongs to the median
 * of the latest intervals, so that neither dropped frames nor jitter matter as long as most frames
 * arrive. */
void gst_ccl_frame_clock_set_caps (GstCclFrameClock *clock, const GstCaps *caps);

/* Discards the time of the latest frame. */
void gst_ccl_frame_clock_reset (GstCclFrameClock *clock);

/* Takes the time stamp of the next frame. Returns the time of the content since the frame before,
 * in frames: more than 1 after dropped frames and gaps, 1 where a time is not known or runs
 * backwards. It is running time × the rate of playback, so that it does not depend on that rate. A
 * constant frame rate gives a whole number, because time stamps jitter. *elapsed is the same in
 * nanoseconds. */
gdouble gst_ccl_frame_clock_advance (GstCclFrameClock *clock, const GstSegment *segment,
    GstClockTime timestamp, GstClockTime *elapsed);
