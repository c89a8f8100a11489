/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One clip: a pipeline that puts encoded frames into fragmented MP4, and the file that it gives the
 * bytes to. A fragment is made every second, so what was written can be played whatever happens
 * later. No function waits for the pipeline. */
#pragma once

#include <gst/gst.h>

typedef struct _Clip Clip;

/* Functions of a file, which are called in the thread of the clip's pipeline, one at a time. */
typedef struct {
  /* Takes the buffer, whose bytes belong to this position. FALSE if the file has failed. */
  gboolean (*write) (gpointer file, goffset position, GstBuffer *buffer);
  /* What was written so far can be played. */
  void (*mark) (gpointer file);
  /* The pipeline failed, before it ends. */
  void (*fail) (gpointer file, const gchar *reason);
  /* The last call. */
  void (*end) (gpointer file, gboolean is_complete);
} ClipFileFunctions;

/* Whether a stream of these caps can be put into MP4. */
gboolean clip_takes (GstCaps *caps);

/* Begins a clip; NULL with the error set, and the file as it was, if GStreamer lacks an element.
 * @functions: of the file; they outlive it
 * @caps: of the frames; clip_takes() them
 * @has_dts: whether the frames have decoding times
 * @start: running time of the first frame
 * @title: for players, and for clip_part_new() the time of the first frame in ISO 8601; or NULL */
Clip *clip_new (const ClipFileFunctions *functions, gpointer file, GstCaps *caps, gboolean has_dts,
    GstClockTimeDiff start, const gchar *title, GError **error);

/* Adds the next frame. Of the frames' times, those since the first one remain. */
void clip_add (Clip *clip, GstBuffer *buffer, GstClockTimeDiff running_time);

GstClockTimeDiff clip_get_start (Clip *clip);

/* Bytes that wait for the pipeline. */
guint64 clip_get_waiting (Clip *clip);

/* Whether nothing more of the clip will be written; its file was told so. */
gboolean clip_has_failed (Clip *clip);

/* Whether a fragment is complete, so that the file is of use without the frames to come. */
gboolean clip_can_be_played (Clip *clip);

/* The clip has all frames; the pointer must not be used any more. The file ends later, in another
 * thread. */
void clip_end (Clip *clip);
