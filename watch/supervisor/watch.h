/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The supervisor: all cameras and all outputs. Functions may be called in any thread unless they
 * say otherwise. */
#pragma once

#include "watch/camera/camera.h"
#include "watch/config/changes.h"
#include "watch/config/config.h"
#include "watch/system/folder.h"
#include "watch/output/output.h"

typedef struct _Watch Watch;

/* Whether watch_new() would accept the outputs. */
gboolean watch_check_outputs (const WatchConfig *config, GError **error);

/* Takes the configuration and the changes that were put over it, and opens the outputs. No camera
 * runs before watch_start(). */
Watch *watch_new (WatchConfig *config, WatchChanges *changes, GError **error);

/* Which element labels, and on which GPU; before watch_start(). `labeller` is a static string. */
void watch_set_labeller (Watch *watch, const gchar *labeller, gint gpu);
/* What the main thread calls when all cameras have ended; before watch_start(). */
void watch_set_all_ended (Watch *watch, void (*all_ended) (gpointer data), gpointer data);

/* Called before watch_start(); the observer stays the caller's and must outlive the watch. */
void watch_add_observer (Watch *watch, const WatchObserver *observer);
/* Calls a function with each observer (const WatchObserver). */
void watch_foreach_observer (Watch *watch, GFunc function, gpointer data);
/* Whether something of an observer waits to be written. */
gboolean watch_has_busy_observer (Watch *watch);
void watch_start (Watch *watch);

/* Takes another configuration, and the changes that were put over it. Cameras and outputs that are
 * the same go on; files are opened again. FALSE, and nothing changes, if an output is wrong. Main
 * thread only. */
gboolean watch_reload (Watch *watch, WatchConfig *config, WatchChanges *changes, GError **error);

/* The changes by watch_changes_to_text(); free with g_free(). Main thread only. */
gchar *watch_get_changes (Watch *watch);
/* The camera of this name without changes; NULL if there is none. Main thread only. */
WatchCameraConfig *watch_get_configured (Watch *watch, const gchar *name);

/* To be called now and then: starts cameras again whose threads are stuck or could not be made.
 * Main thread only. */
void watch_start_again (Watch *watch);

/* Whether an output takes pictures. Any thread. */
gboolean watch_wants_pictures (Watch *watch);
/* The last picture of a camera, a JPEG, for the outputs that take pictures. Any thread. */
void watch_push_picture (Watch *watch, const gchar *camera, GBytes *jpeg);

/* Logs what changed about the outputs: lines were dropped, or a destination takes none any more. To
 * be called every second. Main thread only. */
void watch_report_outputs (Watch *watch);

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

/* The folder of pictures and clips of that configuration; a reference, or NULL if it names none. */
WatchFolder *watch_get_folder (Watch *watch);

/* Cameras in the order in which they were added; free with g_ptr_array_unref(). */
GPtrArray *watch_get_cameras (Watch *watch);
/* A reference, or NULL. */
WatchCamera *watch_find_camera (Watch *watch, const gchar *name);

/* Notes that a camera is added, changed or removed (`config` is NULL); watch_note_write() writes
 * the note to the state file. NULL and an error if there would be too many cameras. Main thread
 * only. */
WatchNote *watch_note_change (
    Watch *watch, const gchar *name, WatchCameraConfig *config, GError **error);
/* Notes that a camera, or a region or line of it (`region` is not NULL), is armed or disarmed by a
 * command of watch_arming_command(). NULL and an error if one is wrong. Main thread only. */
WatchNote *watch_note_arming (
    Watch *watch, const gchar *name, const gchar *region, const gchar *command, GError **error);
/* Adds the camera, gives an existing one its configuration, or removes it. FALSE, and nothing
 * changes, if the note could not be written. Main thread only. */
gboolean watch_make_change (Watch *watch, WatchNote *note, GError **error);

void watch_count_lines (Watch *watch, const gchar *camera, WatchLineCounts *counts);

/* WatchOutputStatus of each output; free with g_ptr_array_unref(). */
GPtrArray *watch_get_outputs (Watch *watch);

/* FALSE if the watch is stopping, or an output is broken for ever. A camera, a disk or a receiver
 * that does not answer says nothing about the program: to start it again would not help. */
gboolean watch_is_healthy (Watch *watch);
