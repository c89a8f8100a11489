/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The folder of pictures and clips: FOLDER/CAMERA/TIME.jpg and FOLDER/CAMERA/TIME.mp4, where TIME
 * is the UTC time of the motion's beginning, so that both of one motion have the same stem.
 * Functions may be called in any thread unless they say otherwise. */
#pragma once

#include "watch.h"

/* "CAMERA/2026-11-22T04-30-00.123Z.jpg" for the extension "jpg"; free with g_free(). */
gchar *watch_folder_name (const gchar *camera, gint64 utc, const gchar *extension);

/* Whether the text has the form that watch_folder_name() gives. No other file is served or
 * deleted, and no such name leads out of the folder. */
gboolean watch_folder_is_name (const gchar *name);

/* The path of a file, whose folders are made where missing; free with g_free(). NULL and a logged
 * warning if they cannot be made. */
gchar *watch_folder_make_path (const gchar *folder, const gchar *name);

/* Deletes files that are older than keep_days, then the oldest ones until all together have at
 * most keep_bytes; 0 = no limit. Files that were written to in the last ten seconds stay. */
void watch_folder_clean (const gchar *folder, gdouble keep_days, guint64 keep_bytes);

/* Cleans the folder of the configuration now and every minute, in a thread of its own. */
typedef struct _WatchRetention WatchRetention;
WatchRetention *watch_retention_new (Watch *watch);
void watch_retention_free (WatchRetention *retention);
