/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The open files and threads that the process may still have. GLib and GStreamer end the process
 * where a file or a thread that they need cannot be made, so nothing that takes several of them
 * begins unless there are enough. All functions may be called in any thread. */
#pragma once

#include <glib.h>

/* How many files are open: as many as the limit allows if not even these can be counted. */
guint watch_limits_count_files (void);

/* Raises the limit of open files as far as the process may. */
void watch_limits_raise (void);

/* Whether the limit of open files suffices for so many cameras, one of them connected. */
gboolean watch_limits_check_cameras (guint n_cameras, GError **error);

/* Keeps open files for clients of the web server; returns how many may be connected at a time. */
guint watch_limits_reserve_clients (void);
/* How many are connected. */
void watch_limits_set_clients (guint n);

/* Whether a connection, or as much as a connection takes, is possible now. */
gboolean watch_limits_check (GError **error);
/* The same, and keeps what a connection takes for the caller until watch_limits_release(). FALSE
 * without an error if it is impossible only because of what others keep and have not used. */
gboolean watch_limits_reserve (GError **error);
void watch_limits_release (void);
