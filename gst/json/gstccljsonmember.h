/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members of JSON objects, whose types and ranges are checked. Each function returns FALSE with the
 * error set if the member is not what it must be. */
#pragma once

#include <gst/gst.h>
#include <json-glib/json-glib.h>

/* Sets the error; for callers with other conditions. Returns FALSE. */
gboolean gst_ccl_json_member_fail (GError **error, const gchar *key, const gchar *expected);

/* A whole number from 0 to max. */
gboolean gst_ccl_json_member_uint (
    JsonObject *object, const gchar *key, guint64 max, guint64 *value, GError **error);
gboolean gst_ccl_json_member_uint32 (
    JsonObject *object, const gchar *key, guint32 *value, GError **error);

/* A time in nanoseconds, or null: GST_CLOCK_TIME_NONE. */
gboolean gst_ccl_json_member_time (
    JsonObject *object, const gchar *key, GstClockTime *value, GError **error);

/* A number; null: NaN. */
gboolean gst_ccl_json_member_double (
    JsonObject *object, const gchar *key, gdouble *value, GError **error);

/* A text, valid as long as the object. */
gboolean gst_ccl_json_member_text (
    JsonObject *object, const gchar *key, const gchar **value, GError **error);

/* A list; NULL if there is no such member. Valid as long as the object. */
gboolean gst_ccl_json_member_list (
    JsonObject *object, const gchar *key, JsonArray **value, GError **error);

/* The object at a place of a list. */
gboolean gst_ccl_json_element_object (
    JsonArray *list, guint index, const gchar *key, JsonObject **value, GError **error);

/* Whether a node is a number, and which; null: NaN. */
gboolean gst_ccl_json_node_number (JsonNode *node, gdouble *value);
