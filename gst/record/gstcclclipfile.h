/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of cclrecord: one a clip, created and written by the thread of the clip's pipeline. */
#pragma once

#include <gst/gst.h>

#include "recording/clip.h"

typedef struct _GstCclClipFiles GstCclClipFiles;

extern const ClipFileFunctions gst_ccl_clip_file_functions;

/* Files of an element, which outlives them. */
GstCclClipFiles *gst_ccl_clip_files_new (GstElement *element);

/* No file may be open. */
void gst_ccl_clip_files_free (GstCclClipFiles *self);

/* A file of a clip. Does not wait for the disk: the file is created when its first bytes are
 * written. Its number is the lowest free one from the last file's number on. running_time: of
 * the event, for the message at its end. */
gpointer gst_ccl_clip_files_new_file (
    GstCclClipFiles *self, const gchar *location, GstClockTimeDiff running_time);

/* Whether an error was posted since the last reset: the stream ends behind its message. */
gboolean gst_ccl_clip_files_have_failed (GstCclClipFiles *self);
void gst_ccl_clip_files_reset (GstCclClipFiles *self);

/* Waits until no file is open, or until the wait is cancelled. */
void gst_ccl_clip_files_wait (GstCclClipFiles *self);
void gst_ccl_clip_files_cancel_wait (GstCclClipFiles *self, gboolean is_cancelled);
