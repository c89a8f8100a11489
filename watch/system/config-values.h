/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of keys and of other texts, and the error that a wrong one is. */
#pragma once

#include <gio/gio.h>

#define WATCH_CONFIG_ERROR (watch_config_error_quark ())
GQuark watch_config_error_quark (void);

/* Sets the error and returns FALSE. */
gboolean watch_fail (GError **error, const gchar *format, ...) G_GNUC_PRINTF (2, 3);
/* Says where an error that is set was found, such as "timeout", and returns FALSE. */
gboolean watch_fail_at (GError **error, const gchar *place);

gboolean watch_parse_boolean (const gchar *text, gboolean *value, GError **error);
gboolean watch_parse_number (const gchar *text, gdouble least, gdouble *value, GError **error);
/* Sizes such as "100M" or "2GiB" by the rule of parse-size.h, durations such as "7d". */
gboolean watch_parse_size (const gchar *text, guint64 *bytes, GError **error);
gboolean watch_parse_duration (const gchar *text, gdouble *seconds, GError **error);

/* Microseconds since 1970 of a time such as 2026-11-27T08:00:00Z. */
gboolean watch_parse_time (const gchar *text, gint64 *utc);

/* Tables of keys and their values, text → text; free with g_hash_table_unref(). */
GHashTable *watch_table_new (void);
/* Copies all pairs of another table to a table. */
void watch_table_add (GHashTable *table, GHashTable *other);
gboolean watch_table_equal (GHashTable *a, GHashTable *b);

/* Whether it can be the name of a camera or an output. */
gboolean watch_check_name (const gchar *name, GError **error);
