/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the latest events in FOLDER/events.ndjson, so that they survive a restart: a JSON object
 * per line, as in the answer of the API. */
#pragma once

#include "history.h"
#include "line-file.h"

/* First reads the events of the cameras that there are. Main thread only. */
WatchLineFile *watch_history_file_new (Watch *watch, WatchHistory *history);
