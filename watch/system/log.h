/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages to the standard error, one line each, with the priority that systemd's journal reads.
 * Credentials in URIs are removed from every message. Any thread. */
#pragma once

#include <glib.h>

/* Those of syslog. */
typedef enum { WATCH_LOG_ERROR = 3, WATCH_LOG_WARNING = 4, WATCH_LOG_INFO = 6 } WatchLogPriority;

void watch_log (WatchLogPriority priority, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

#define watch_log_error(...) watch_log (WATCH_LOG_ERROR, __VA_ARGS__)
#define watch_log_warning(...) watch_log (WATCH_LOG_WARNING, __VA_ARGS__)
#define watch_log_info(...) watch_log (WATCH_LOG_INFO, __VA_ARGS__)

/* From now on, messages are written by a thread, so that no other one waits for a reader that does
 * not read, or for a disk that hangs. At most 1000 wait; how many others are missing is written in
 * their place. Main thread only. */
void watch_log_start (void);
/* Ends the thread when it has written the messages that wait. FALSE if it has not by the monotonic
 * time.
 * Main thread only. */
gboolean watch_log_stop (gint64 until);

#define WATCH_LOG_LIMIT_SECONDS 60

/* Of messages that may repeat, for instance because a disk is full; all zero at first. */
typedef struct {
  gint64 next_time; /* monotonic */
  guint n_left_out;
} WatchLogLimit;

/* A warning that is written at most once in WATCH_LOG_LIMIT_SECONDS: others are counted, and the
 * next one names their number. */
void watch_log_warning_limited (WatchLogLimit *limit, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* The reason of the messages is gone: the next one is written at once. */
void watch_log_reset_limit (WatchLogLimit *limit);

/* A copy of the text in which the user and password of each URI are replaced: "rtsp://u:p@host/x"
 * becomes "rtsp://host/x"; values of query keys such as "password" become "***". */
gchar *watch_redact (const gchar *text);

/* Whether watch_redact() removes something: the text has a password. */
gboolean watch_has_secret (const gchar *text);
