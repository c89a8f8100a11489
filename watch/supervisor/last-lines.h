/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The last lines of each camera that tell how it is: its state, motion, scene and arming. What an
 * output keeps of cameras is made of lines, so one that is made later gets these first. Not
 * thread-safe. */
#pragma once

#include "watch/output/output.h"

/* Camera's name → its lines; free with g_hash_table_unref(). */
GHashTable *watch_last_lines_new (void);

/* Keeps the line if it tells how its camera is, and forgets a camera that was removed. */
void watch_last_lines_take (GHashTable *cameras, WatchLine *line);

/* Gives an output all lines that are kept, as past ones. */
void watch_last_lines_push (GHashTable *cameras, WatchOutput *output);
