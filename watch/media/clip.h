/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One clip: a pipeline that puts encoded frames into fragmented MP4, and the file that a
 * WatchWriter writes. The pipeline never touches the disk, so it ends even if the disk hangs. No
 * function waits for either. */
#pragma once

#include "writer.h"

typedef struct _WatchClip WatchClip;

/* Whether a stream of these caps can be put into MP4. */
gboolean watch_clip_takes (GstCaps *caps);

/* Begins a clip. NULL after a message in the log.
 * @utc: the time that names the file
 * @caps: of the frames; watch_clip_takes() them
 * @has_dts: whether the frames have decoding times
 * @start: running time of the first frame */
WatchClip *watch_clip_new (WatchWriter *writer, const gchar *camera, gint64 utc, GstCaps *caps,
    gboolean has_dts, GstClockTimeDiff start);

/* Adds the next frame. Of the frames' times, those since the first one remain. */
void watch_clip_add (WatchClip *clip, GstBuffer *buffer, GstClockTimeDiff running_time);

GstClockTimeDiff watch_clip_get_start (WatchClip *clip);

/* Whether nothing more of the clip will be written, which was logged. */
gboolean watch_clip_has_failed (WatchClip *clip);

/* The clip has all frames; the pointer must not be used any more. */
void watch_clip_end (WatchClip *clip);
