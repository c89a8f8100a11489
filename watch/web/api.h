/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The answers of the JSON API, which docs/watch-page.md describes. Main thread only. Texts are
 * freed with g_free() and hold no credentials. */
#pragma once

#include "watch/history/history.h"
#include "watch/history/objects.h"

/* {"cameras":[CAMERA,…]} */
gchar *watch_api_cameras (Watch *watch);

/* CAMERA with its settings, or NULL if there is none of this name. */
gchar *watch_api_camera (Watch *watch, const gchar *name);

/* {"objects":[…]}, the newest first: what watch_objects_find() finds */
gchar *watch_api_objects (Watch *watch, WatchObjects *objects, const WatchObjectQuery *query);

/* {"live":[…]}: keys of cameras that may change while they play */
gchar *watch_api_live_settings (void);

/* {"outputs":[…]} */
gchar *watch_api_outputs (Watch *watch);

/* {"events":[…]}, the newest first. Arguments as for watch_history_get_events(). */
gchar *watch_api_events (Watch *watch, WatchHistory *history, const gchar *camera,
    const gchar *const *kinds, guint64 after, guint limit);

/* {"step":SECONDS,"end":UTC,"counts":[N|null,…]}, for the last `seconds`. */
gchar *watch_api_counts (WatchHistory *history, const gchar *camera, guint seconds, guint n_points);

/* The keys of a camera as in the configuration file, text → text, with credentials; none if it does
 * not exist. */
GHashTable *watch_api_settings (Watch *watch, const gchar *name);

/* The version of a camera's keys, which changes with each change of a key; NULL if there is no such
 * camera. */
gchar *watch_api_version (Watch *watch, const gchar *name);
