/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The supervisor: all cameras and all outputs. Functions may be called in any thread unless they
 * say otherwise. */
#pragma once

#include "camera.h"
#include "config.h"

typedef struct _Watch Watch;

/* Takes the configuration and opens the outputs. No camera runs before watch_start(). */
Watch *watch_new (WatchConfig *config, GError **error);

/* Must be called before watch_start(); the observer stays the caller's and must outlive the watch.
 */
void watch_add_observer (Watch *watch, const WatchObserver *observer);
void watch_start (Watch *watch);

/* Stops all cameras, then waits until the outputs have delivered their lines, together at most
 * `seconds`. Observers are not called afterwards. */
void watch_stop (Watch *watch, gdouble seconds);
void watch_free (Watch *watch);

/* As it was at watch_new() or after the last SIGHUP; main thread only. */
const WatchConfig *watch_get_config (Watch *watch);

/* Cameras in the order in which they were added; free with g_ptr_array_unref(). */
GPtrArray *watch_get_cameras (Watch *watch);
/* A reference, or NULL. */
WatchCamera *watch_find_camera (Watch *watch, const gchar *name);

/* Adds a camera, or gives an existing one this configuration; takes the configuration. */
void watch_set_camera (Watch *watch, WatchCameraConfig *config);
/* FALSE if there is none of this name. */
gboolean watch_remove_camera (Watch *watch, const gchar *name);

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

/* The program is alive: no thread that the watchdog supervises is stuck. */
gboolean watch_is_healthy (Watch *watch);

/* Called when the configuration was changed by watch_set_camera() or watch_remove_camera(): the
 * present cameras as a GKeyFile text, which holds credentials. Free with g_free(). */
gchar *watch_dump_cameras (Watch *watch);
