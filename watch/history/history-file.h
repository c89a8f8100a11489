/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the latest events in FOLDER/events.ndjson, so that they survive a restart: a JSON object
 * per line, as in the answer of the API (line-file.h). */
#pragma once

#include "history.h"

typedef struct _WatchHistoryFile WatchHistoryFile;

/* Starts the thread, which reads the events of the cameras that there are into the history. The
 * folder is that of the watch, which may change; without one, nothing is kept. Main thread only. */
WatchHistoryFile *watch_history_file_new (Watch *watch, WatchHistory *history);

/* The file is written anew, for instance because a camera was removed. Any thread. */
void watch_history_file_rewrite (WatchHistoryFile *file);

/* Starts to write the last lines, and returns: several files are written at the same time. */
void watch_history_file_stop (WatchHistoryFile *self);

/* Writes the last events and frees the object. FALSE, and nothing is freed, if the disk does not
 * answer until the monotonic time: the thread still uses the history and the watch. */
gboolean watch_history_file_free (WatchHistoryFile *file, gint64 until);
