/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A camera that is added or changed by the API: the request is read, then the camera is checked,
 * which waits for the files that it names. */
#pragma once

#include "watch/supervisor/watch.h"

typedef struct _WatchApiChange WatchApiChange;

/* Reads the keys of a JSON object; with `merge`, keys that are not in the object stay as they are
 * and the camera must exist. NULL and an error if it is none. Main thread only. */
WatchApiChange *watch_api_change_new (Watch *watch, const gchar *name, const gchar *json,
    gsize length, gboolean merge, GError **error);

/* Checks the camera (WatchApiChange). Any thread. */
void watch_api_change_check (gpointer change);

/* The configuration, which stays the change's; NULL and an error if the check found a mistake. */
WatchCameraConfig *watch_api_change_get (WatchApiChange *change, GError **error);

/* Reads {"arming":COMMAND} for a camera, or with "region":NAME for a region of it; otherwise
 * `region` becomes NULL. Free both texts with g_free(). */
gboolean watch_api_read_arming (
    const gchar *json, gsize length, gchar **region, gchar **command, GError **error);

/* Any thread. */
void watch_api_change_free (gpointer change);
