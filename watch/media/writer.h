/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes pictures and clips to the folder. The files of a camera are written one after the other
 * by a thread that runs while something waits. So a disk that is slow or hangs stops only that
 * thread. No function waits for the disk, and all may be called in any thread, unless they say
 * otherwise.
 *
 * What waits in memory is bounded: 128 MB and 40 files a camera, 256 MB together. */
#pragma once

#include <gst/gst.h>

#include "watch/supervisor/watch.h"

typedef struct _WatchWriter WatchWriter;
typedef struct _WatchFile WatchFile;

/* Adds an observer, for the metrics; must be called before watch_start(). Main thread only. */
WatchWriter *watch_writer_new (Watch *watch);

/* Waits until all files are written and frees the writer. FALSE, and nothing is freed, if they are
 * not by the monotonic time: threads still use it. Called after watch_stop(). */
gboolean watch_writer_free (WatchWriter *writer, gint64 until);

/* Whether there is a folder to write to. */
gboolean watch_writer_has_folder (WatchWriter *writer);

/* Begins a file in the present folder of the watch, with a name by watch_folder_name(). NULL after
 * a message in the log, if too much of this camera waits already or if there is no folder. */
WatchFile *watch_writer_begin (
    WatchWriter *writer, const gchar *camera, gint64 utc, const gchar *extension);

/* The following functions of one file are not called at the same time. */

/* Writes the buffer, which it takes, to this position. FALSE if the file has failed, which is
 * logged; what follows is not written. */
gboolean watch_file_write (WatchFile *file, goffset position, GstBuffer *buffer);

/* What was written so far can be used if the rest fails. */
void watch_file_mark (WatchFile *file);

/* The file will be incomplete, for this reason, which is logged. */
void watch_file_fail (WatchFile *file, const gchar *reason);

/* The file ends, and the pointer must not be used any more. A file that failed, or ends without
 * being complete, is cut at its last mark; without a mark it is deleted. */
void watch_file_end (WatchFile *file, gboolean is_complete);
