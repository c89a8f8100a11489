/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which encoded frames a camera with `max-fps` needs. Frames that no other frame refers to, or all
 * but the key frames, are dropped before the decoder where enough others remain. */
#pragma once

#include "watch/camera/camera-state.h"

/* Whether the frame of that time is one more than max_fps per second; with a max_fps of 0 and
 * without a time never. *next is 0 at first, then the time before which frames are too many. */
gboolean watch_is_above_rate (GstClockTime *next, gdouble max_fps, GstClockTime time);

/* Drops encoded frames that enter the decoder, if the camera has max-fps. */
void watch_decimation_add (WatchCamera *camera, GstElement *decoder);
