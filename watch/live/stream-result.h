/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The result of a frame for viewers of a camera's stream, who draw it over the video. */
#pragma once

#include <gst/gst.h>

/* A JSON object: {"time":SECONDS,"width":W,"height":H,"boxes":[[ID,X,Y,WIDTH,HEIGHT,SPEED],…]} in
 * pixels of a frame of W×H. The ID is 0 without a track; the speed in km/h is left out where it is
 * not known; of many components, the first 500 have a box. NULL if the frame has no components'
 * metadata; free with g_free().
 * @time: the frame's presentation time in the stream, nanoseconds */
gchar *watch_stream_result (GstBuffer *frame, GstClockTimeDiff time);
