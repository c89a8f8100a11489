/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps what passed regions and lines in FOLDER/traffic.ndjson, so that it survives a restart: a
 * JSON object for each row, again when it has changed; the last one holds (line-file.h). */
#pragma once

#include "traffic.h"

typedef struct _WatchTrafficFile WatchTrafficFile;

/* Reads the rows of the cameras that there are, in a thread of its own. Main thread only. */
WatchTrafficFile *watch_traffic_file_new (Watch *watch, WatchTraffic *traffic);

/* The file is written anew, because a camera was removed. Any thread. */
void watch_traffic_file_rewrite (WatchTrafficFile *file);

/* Starts to write the last lines, and returns: several files are written at the same time. */
void watch_traffic_file_stop (WatchTrafficFile *self);

/* Writes the last rows and frees the object. FALSE, and nothing is freed, if the disk does not
 * answer until the monotonic time: the thread still uses the traffic and the watch. */
gboolean watch_traffic_file_free (WatchTrafficFile *file, gint64 until);
