/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccljsonmember.h"

#include <math.h>

gboolean
gst_ccl_json_member_fail (GError **error, const gchar *key, const gchar *expected)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "\"%s\" is not %s", key, expected);
  return FALSE;
}

static gboolean
is_value (JsonNode *node, GType type)
{
  return node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == type;
}

gboolean
gst_ccl_json_member_uint (
    JsonObject *object, const gchar *key, guint64 max, guint64 *value, GError **error)
{
  JsonNode *node = json_object_get_member (object, key);
  gint64 number;

  if (!is_value (node, G_TYPE_INT64))
    return gst_ccl_json_member_fail (error, key, "a whole number");
  number = json_node_get_int (node);
  if (number < 0 || (guint64)number > max)
    return gst_ccl_json_member_fail (error, key, "in its range");
  *value = (guint64)number;
  return TRUE;
}

gboolean
gst_ccl_json_member_uint32 (JsonObject *object, const gchar *key, guint32 *value, GError **error)
{
  guint64 number;

  if (!gst_ccl_json_member_uint (object, key, G_MAXUINT32, &number, error))
    return FALSE;
  *value = (guint32)number;
  return TRUE;
}

gboolean
gst_ccl_json_member_time (JsonObject *object, const gchar *key, GstClockTime *value, GError **error)
{
  if (json_object_has_member (object, key) && json_object_get_null_member (object, key)) {
    *value = GST_CLOCK_TIME_NONE;
    return TRUE;
  }
  return gst_ccl_json_member_uint (object, key, G_MAXINT64, value, error);
}

gboolean
gst_ccl_json_node_number (JsonNode *node, gdouble *value)
{
  if (node && JSON_NODE_HOLDS_NULL (node))
    *value = NAN;
  else if (is_value (node, G_TYPE_INT64) || is_value (node, G_TYPE_DOUBLE))
    *value = json_node_get_double (node);
  else
    return FALSE;
  return TRUE;
}

gboolean
gst_ccl_json_member_double (JsonObject *object, const gchar *key, gdouble *value, GError **error)
{
  return gst_ccl_json_node_number (json_object_get_member (object, key), value) ||
         gst_ccl_json_member_fail (error, key, "a number");
}

gboolean
gst_ccl_json_member_text (JsonObject *object, const gchar *key, const gchar **value, GError **error)
{
  JsonNode *node = json_object_get_member (object, key);

  if (!is_value (node, G_TYPE_STRING))
    return gst_ccl_json_member_fail (error, key, "a text");
  *value = json_node_get_string (node);
  return TRUE;
}

gboolean
gst_ccl_json_member_list (JsonObject *object, const gchar *key, JsonArray **value, GError **error)
{
  JsonNode *node = json_object_get_member (object, key);

  *value = NULL;
  if (!node)
    return TRUE;
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return gst_ccl_json_member_fail (error, key, "a list");
  *value = json_node_get_array (node);
  return TRUE;
}

gboolean
gst_ccl_json_element_object (
    JsonArray *list, guint index, const gchar *key, JsonObject **value, GError **error)
{
  JsonNode *node = json_array_get_element (list, index);

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return gst_ccl_json_member_fail (error, key, "a list of objects");
  *value = json_node_get_object (node);
  return TRUE;
}
