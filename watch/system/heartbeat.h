/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Heartbeats of threads. A thread that may be held up by a disk, a network or a driver beats
 * every few seconds; the age of its last beat shows other threads whether it is stuck.
 * All functions may be called in any thread. */
#pragma once

#include <glib.h>

typedef struct _WatchHeartbeat WatchHeartbeat;

/* At rest. `name` tells users which thread it is, for instance "camera door". */
WatchHeartbeat *watch_heartbeat_new (const gchar *name);
void watch_heartbeat_free (WatchHeartbeat *heartbeat);

/* The thread goes on. A thread that works calls it every few seconds. */
void watch_heartbeat_beat (WatchHeartbeat *heartbeat);
/* Until the next beat, the thread waits for work or for another thread, and is not stuck however
 * long that takes. */
void watch_heartbeat_rest (WatchHeartbeat *heartbeat);

/* Seconds since the last beat; 0 at rest. */
gdouble watch_heartbeat_get_age (WatchHeartbeat *heartbeat);

/* The ages of all heartbeats: name → gdouble, the greatest where several have one name. Free with
 * g_hash_table_unref(). */
GHashTable *watch_heartbeat_get_ages (void);
