/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the objects that cameras saw in FOLDER/objects.ndjson, so that they survive a restart: a
 * JSON object per line, as in the answer of the API. */
#pragma once

#include "objects.h"
#include "line-file.h"

/* First reads the objects of the cameras that there are. Main thread only. */
WatchLineFile *watch_objects_file_new (Watch *watch, WatchObjects *objects);
