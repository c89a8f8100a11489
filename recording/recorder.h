/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clips of events from a stream of encoded frames: the recent frames are kept, and when an event
 * begins, a clip begins with the last key frame that is at least `pre` before it. It ends when it
 * is told to. Thread-safe; no function waits for a file. */
#pragma once

#include "clip.h"

typedef struct _Recorder Recorder;

/* What the owner does for a recorder, which calls it with its lock held. */
typedef struct {
  const ClipFileFunctions *file;
  /* A new file of an event of this running time. NULL after a report: it is tried again later. */
  gpointer (*open) (gpointer data, GstClockTimeDiff running_time);
  /* The title of a clip whose first frame is of this running time. May be NULL: there is none. */
  gchar *(*title) (gpointer data, GstClockTimeDiff running_time);
  /* Reports why a clip is missing or short. */
  void (*report) (gpointer data, const gchar *text);
} RecorderFunctions;

/* @longest: time after which a clip is followed by the next one */
Recorder *recorder_new (const RecorderFunctions *functions, gpointer data, GstClockTime longest);

/* Holds for the clip that is being made, too. */
void recorder_set_longest (Recorder *self, GstClockTime longest);

/* Ends its clip. Functions of the clip's file are called later. */
void recorder_free (Recorder *self);

/* Takes the next frame.
 * @running_time: of its decoding, or GST_CLOCK_STIME_NONE: that of the frame before
 * @pre: time before an event that its clip should have */
void recorder_add (Recorder *self, GstBuffer *frame, GstCaps *caps, GstClockTimeDiff running_time,
    GstClockTime pre);

/* An event begins, at a running time that may be some seconds ago. A clip that is being made goes
 * on. */
void recorder_begin (Recorder *self, GstClockTime running_time, GstClockTime pre);

/* The clip ends with the last frame before this time. */
void recorder_end (Recorder *self, GstClockTime running_time);

/* Whether frames belong to a clip, or to one that could not begin yet. */
gboolean recorder_is_recording (Recorder *self);

/* Bytes that wait for the clip's pipeline, because its file is slow. */
guint64 recorder_get_waiting (Recorder *self);

/* Ends the clip and forgets the frames: there is no place for clips, or the stream's time begins
 * anew. An event that has not ended goes on in the next clip. */
void recorder_reset (Recorder *self);

/* Ends the clip with the frames that it has; no clip is wanted any more. */
void recorder_finish (Recorder *self);
