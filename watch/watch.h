/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The supervisor: all cameras and all outputs. Functions may be called in any thread unless they
 * say otherwise. */
#pragma once

#include "camera.h"
#include "changes.h"
#include "config.h"

typedef struct _Watch Watch;

/* Whether watch_new() would accept the outputs. */
gboolean watch_check_outputs (const WatchConfig *config, GError **error);

/* Takes the configuration and opens the outputs. No camera runs before watch_start(). The changes
 * stay the caller's; they are those that were put over the configuration. */
Watch *watch_new (WatchConfig *config, WatchChanges *changes, GError **error);

/* Which element labels, and on which GPU; before watch_start(). `labeller` is a static string. */
void watch_set_labeller (Watch *watch, const gchar *labeller, gint gpu);
/* What the main thread calls when all cameras have ended; before watch_start(). */
void watch_set_all_ended (Watch *watch, void (*all_ended) (gpointer data), gpointer data);

/* Must be called before watch_start(); the observer stays the caller's and must outlive the watch.
 */
void watch_add_observer (Watch *watch, const WatchObserver *observer);
/* Calls a function with each observer (const WatchObserver). */
void watch_foreach_observer (Watch *watch, GFunc function, gpointer data);
void watch_start (Watch *watch);

/* Takes another configuration, with the changes over it. Cameras and outputs that are the same go
 * on; files are opened again. FALSE, and nothing changes, if an output is wrong. Main thread only.
 */
gboolean watch_reload (Watch *watch, WatchConfig *config, GError **error);

/* To be called now and then: starts cameras again whose threads are stuck or could not be made.
 * Main thread only. */
void watch_start_again (Watch *watch);

/* An output is broken for ever: nobody reads the standard output. Main thread only. */
gboolean watch_has_closed_output (Watch *watch);
/* A file could not be read to its end. */
gboolean watch_has_failed (Watch *watch);

/* Outputs take no more lines, and finish when they have delivered those that wait. Main thread. */
void watch_end_outputs (Watch *watch);
gboolean watch_outputs_are_finished (Watch *watch);

/* Stops all cameras, then waits until the outputs have delivered their lines, together at most
 * `seconds`. Observers are not called afterwards. FALSE if a thread did not end in time and may
 * still use the watch. */
gboolean watch_stop (Watch *watch, gdouble seconds);
/* After watch_stop() has returned TRUE. */
void watch_free (Watch *watch);

/* The configuration of watch_new() or of the last SIGHUP; main thread only. */
const WatchConfig *watch_get_config (Watch *watch);

/* Cameras in the order in which they were added; free with g_ptr_array_unref(). */
GPtrArray *watch_get_cameras (Watch *watch);
/* A reference, or NULL. */
WatchCamera *watch_find_camera (Watch *watch, const gchar *name);

/* Adds a camera, or gives an existing one this configuration, which it takes. The change is noted
 * first; FALSE, and nothing changes, if that fails. Main thread only. */
gboolean watch_change_camera (Watch *watch, WatchCameraConfig *config, GError **error);
/* The same for removing the camera of this name. */
gboolean watch_discard_camera (Watch *watch, const gchar *name, GError **error);

/* Lines of one camera, in all outputs together. */
typedef struct {
  guint n_queued; /* lines that wait to be sent */
  guint64 n_dropped;
} WatchLineCounts;

void watch_count_lines (Watch *watch, const gchar *camera, WatchLineCounts *counts);

/* Counters of one output. */
typedef struct {
  gchar *name;
  gchar *uri; /* without credentials */
  gboolean connected;
  guint64 n_delivered; /* lines written, or acknowledged by the broker */
  guint64 n_dropped;
  guint n_queued; /* lines that wait or are not acknowledged yet */
  guint capacity;
} WatchOutputStatus;

/* WatchOutputStatus of each output; free with g_ptr_array_unref(). */
GPtrArray *watch_get_outputs (Watch *watch);

/* FALSE if the watch is stopping or an output is broken for ever. */
gboolean watch_is_healthy (Watch *watch);
