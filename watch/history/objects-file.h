/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the objects that cameras saw in FOLDER/objects.ndjson, so that they survive a restart: a
 * JSON object per line, as in the answer of the API (line-file.h). */
#pragma once

#include "objects.h"

typedef struct _WatchObjectsFile WatchObjectsFile;

WatchObjectsFile *watch_objects_file_new (Watch *watch, WatchObjects *objects);
/* Objects of a camera were forgotten. */
void watch_objects_file_rewrite (WatchObjectsFile *self);
/* Starts to write the last lines, and returns: several files are written at the same time. */
void watch_objects_file_stop (WatchObjectsFile *self);

/* Writes the last objects and frees the file. FALSE, and nothing is freed, if the disk does not
 * answer until the monotonic time. */
gboolean watch_objects_file_free (WatchObjectsFile *self, gint64 until);
