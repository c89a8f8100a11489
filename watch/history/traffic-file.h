/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps what passed regions and lines in FOLDER/traffic.ndjson, so that it survives a restart: a
 * JSON object for each row, again when it has changed; the last one holds. */
#pragma once

#include "traffic.h"
#include "line-file.h"

/* First reads the rows of the cameras that there are. Main thread only. */
WatchLineFile *watch_traffic_file_new (Watch *watch, WatchTraffic *traffic);
