/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a motion begins and ends, which raises and ends an alert. Times are those of the frames. */
#pragma once

#include <gst/gst.h>

typedef struct {
  GstClockTime quiet;    /* without anything that moves until a motion ends */
  GstClockTime least;    /* for which something must move until a motion begins */
  GstClockTime cooldown; /* after a motion, in which none begins */
  GstClockTime settle;   /* after a disturbance, in which none begins */
} WatchMotionRules;

/* GST_CLOCK_TIME_NONE: not yet. */
typedef struct {
  gboolean is_on;
  GstClockTime time;      /* of the last frame */
  GstClockTime first;     /* of the present movement */
  GstClockTime last;      /* frame in which something moved */
  GstClockTime ended;     /* the motion before */
  GstClockTime disturbed; /* the last frame with a disturbance */
} WatchMotion;

typedef enum { WATCH_MOTION_GOES_ON, WATCH_MOTION_BEGINS, WATCH_MOTION_ENDS } WatchMotionStep;

/* Before the first frame of a connection. */
void watch_motion_reset (WatchMotion *motion);
/* In this frame or in the next one, the picture changes as a whole: a connection begins, a lamp is
 * switched, the camera is moved. */
void watch_motion_disturb (WatchMotion *motion, GstClockTime time);
/* The next frame, in which something moves or nothing does. Nothing counts while the camera is not
 * armed. */
WatchMotionStep watch_motion_take (WatchMotion *motion, const WatchMotionRules *rules,
    GstClockTime time, gboolean moves, gboolean is_armed);
/* The frames end. TRUE if that ends a motion. */
gboolean watch_motion_stop (WatchMotion *motion);
