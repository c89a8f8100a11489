/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The encoded frames of the last seconds of a stream, from a key frame on: the beginning of the
 * next clip. Not thread-safe. */
#pragma once

#include <gst/gst.h>

/* Memory that the frames take at most. */
#define RECENT_FRAMES_BYTES (64 * 1000 * 1000)

typedef struct {
  GstBuffer *buffer;
  GstClockTimeDiff running_time; /* negative before the beginning of a file's time */
  gsize n_bytes;
} EncodedFrame;

typedef struct {
  GQueue frames;     /* EncodedFrame; the first one is a key frame. Only to be read */
  GQueue key_frames; /* GList: elements of frames */
  gsize n_bytes;
} RecentFrames;

/* Adds a frame, and forgets those before the last key frame that is at least @kept ns older, or
 * before a later one if they take more than RECENT_FRAMES_BYTES. If a stream takes more from one
 * key frame to the next, all frames are forgotten, and the next ones up to a key frame are not
 * added. FALSE when that happens. */
gboolean recent_frames_add (
    RecentFrames *self, GstBuffer *buffer, GstClockTimeDiff running_time, GstClockTimeDiff kept);

/* The last key frame that is not later than the time, or the first frame; NULL if there is none.
 * An element of self->frames. */
GList *recent_frames_find (RecentFrames *self, GstClockTimeDiff time);

void recent_frames_clear (RecentFrames *self);
