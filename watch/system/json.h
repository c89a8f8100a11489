/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON objects that are made member by member. */
#pragma once

#include <json-glib/json-glib.h>

/* A builder whose object is open. */
JsonBuilder *watch_json_begin (void);

/* Ends the object, takes the builder, and returns the text; free with g_free(). */
gchar *watch_json_end (JsonBuilder *builder);

/* Appends a number to a text that is made without a builder; `format` is such as "%.1f". */
void watch_json_append_number (GString *text, const gchar *format, gdouble number);

/* Add a member to the object that is open. A text of NULL is null; an object or an array is
 * left open. */
void watch_json_add_text (JsonBuilder *builder, const gchar *name, const gchar *text);
void watch_json_add_int (JsonBuilder *builder, const gchar *name, gint64 number);
void watch_json_add_double (JsonBuilder *builder, const gchar *name, gdouble number);
void watch_json_add_boolean (JsonBuilder *builder, const gchar *name, gboolean is_true);
void watch_json_begin_object (JsonBuilder *builder, const gchar *name);
void watch_json_begin_array (JsonBuilder *builder, const gchar *name);
