/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages to the standard error, one line each, with the priority that systemd's journal reads.
 * Credentials in URIs are removed from every message. Thread-safe. */
#pragma once

#include <glib.h>

void watch_log_error (const gchar *format, ...) G_GNUC_PRINTF (1, 2);
void watch_log_warning (const gchar *format, ...) G_GNUC_PRINTF (1, 2);
void watch_log_info (const gchar *format, ...) G_GNUC_PRINTF (1, 2);

/* A copy of the text in which the user and password of each URI are replaced: "rtsp://u:p@host/x"
 * becomes "rtsp://host/x"; values of query keys such as "password" become "***". */
gchar *watch_redact (const gchar *text);

/* Whether watch_redact() removes something: the text has a password. */
gboolean watch_has_secret (const gchar *text);
