/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of ccl-watch, and the configuration that it and the configuration file give. */
#pragma once

#include "changes.h"
#include "config.h"

/* What the program is asked for. */
typedef enum {
  WATCH_REQUEST_RUN,
  WATCH_REQUEST_CHECK,   /* of the configuration */
  WATCH_REQUEST_VERSION, /* to print it */
} WatchRequest;

/* Parses the command line, once, and hides its passwords from other processes. Initialises
 * GStreamer. Returns FALSE after a message of one line. */
gboolean watch_command_line_parse (gint argc, gchar **argv, WatchRequest *request);

/* Reads the configuration, and the changes that lie over it. Any thread may call, one at a time.
 *
 * present: the changes of now, NULL at the start.
 * changes: filled on success; free it with watch_changes_free().
 *
 * Returns the configuration, or NULL with the error. */
WatchConfig *watch_command_line_load (const gchar *present, WatchChanges **changes, GError **error);
