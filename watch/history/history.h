/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The recent past of each camera, in memory: latest events and number of components
 * over time. Functions may be called in any thread. */
#pragma once

#include "line-file.h"

typedef struct _WatchHistory WatchHistory;

/* Adds an observer to the watch; must be called before watch_start() and freed after
 * watch_stop(). */
WatchHistory *watch_history_new (Watch *watch);
void watch_history_free (WatchHistory *history);

/* A camera was removed, watch_camera_is_removed(): its events and counts go, and later ones do not
 * come in. */
void watch_history_forget (WatchHistory *history, const gchar *camera);

/* Reference-counted. */
typedef struct {
  guint64 number; /* grows with each event, also over restarts */
  gint64 utc;     /* microseconds since 1970 */
  gchar *camera;
  gchar *kind;
  gchar *line; /* a JSON object */
} WatchPastEvent;

WatchPastEvent *watch_past_event_new (
    gint64 utc, const gchar *camera, const gchar *kind, const gchar *line);

/* The latest events, the newest first; free with g_ptr_array_unref().
 * @camera: NULL = all
 * @kinds: NULL-terminated, NULL = all
 * @after: only events with a greater number
 * @limit: at most this many
 * At least 50 events of each kind are kept per camera. */
GPtrArray *watch_history_get_events (WatchHistory *history, const gchar *camera,
    const gchar *const *kinds, guint64 after, guint limit);

/* How many events are kept. */
guint watch_history_count_events (WatchHistory *history);

/* Adds events from before the program started (WatchPastEvent), the oldest first, as far as there
 * is room; takes the array and the events. Returns a number that no event of the past exceeds. */
guint64 watch_history_add_past (WatchHistory *history, GPtrArray *events);

#define WATCH_HISTORY_SECONDS 86400
#define WATCH_HISTORY_NO_FRAME G_MAXUINT16

/* UTC in microseconds: counts of earlier times are not known. */
gint64 watch_history_get_start (WatchHistory *history);

/* The greatest number of components of a frame in each of the last @n_points intervals of @step
 * seconds, the oldest first. The last one ends now. WATCH_HISTORY_NO_FRAME stands for an interval
 * without a frame. */
void watch_history_get_counts (
    WatchHistory *history, const gchar *camera, guint step, guint n_points, guint16 *counts);

/* Keeps the latest events in FOLDER/events.ndjson, so that they survive a restart: a JSON object
 * per line, as in the answer of the API. First reads those of the cameras that there are. Main
 * thread only. */
WatchLineFile *watch_history_file_new (Watch *watch, WatchHistory *history);
