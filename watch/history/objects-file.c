/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "objects.h"

#define MAX_NUMBER 1e15 /* of an object; others are damaged */

static JsonArray *
get_array (JsonObject *object, const gchar *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

static void
read_places (WatchObject *object, JsonArray *places)
{
  for (guint i = 0; places && i < json_array_get_length (places); i++) {
    JsonNode *node = json_array_get_element (places, i);

    if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
      g_hash_table_add (object->places, g_strdup (json_node_get_string (node)));
  }
}

static gfloat
get_coordinate (JsonArray *point, guint i)
{
  JsonNode *node = json_array_get_element (point, i);

  return JSON_NODE_HOLDS_VALUE (node) ? CLAMP (json_node_get_double (node), -1e3, 1e3) : 0;
}

static void
read_path (WatchObject *object, JsonArray *path)
{
  for (guint i = 0; path && i < MIN (json_array_get_length (path), WATCH_OBJECT_POINTS); i++) {
    JsonNode *node = json_array_get_element (path, i);
    JsonArray *point = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

    if (!point || json_array_get_length (point) != 2)
      continue;
    object->path[object->n_points][0] = get_coordinate (point, 0);
    object->path[object->n_points++][1] = get_coordinate (point, 1);
  }
}

static gpointer
read_line (JsonObject *members, const gchar *line)
{
  WatchObject *object;

  if (!watch_line_get_time (members, "begin") || !watch_line_get_time (members, "end"))
    return NULL;
  object = watch_object_new (watch_line_get_text (members, "source"));
  object->number = (guint64)CLAMP (watch_line_get_number (members, "number"), 0, MAX_NUMBER);
  object->id = (guint64)CLAMP (watch_line_get_number (members, "id"), 0, MAX_NUMBER);
  object->begin = watch_line_get_time (members, "begin");
  object->end = watch_line_get_time (members, "end");
  object->motion = watch_line_get_time (members, "motion");
  object->best = watch_line_get_time (members, "best");
  if (json_object_has_member (members, "speed"))
    object->speed = watch_line_get_number (members, "speed");
  read_places (object, get_array (members, "regions"));
  read_path (object, get_array (members, "path"));
  return object;
}

static gint64
take (gpointer objects, GPtrArray *read)
{
  const gint64 last = watch_objects_add_past (objects, read);

  watch_objects_forget_old (objects);
  return last;
}

static GString *
format (gpointer data, gint64 *last, guint *n_lines)
{
  const WatchObjectQuery query = {.after = MAX (*last, 0), .limit = WATCH_OBJECTS};
  g_autoptr (GPtrArray) objects = watch_objects_find (data, &query);
  GString *text = g_string_new (NULL);

  *n_lines = objects->len;
  for (guint i = objects->len; i-- > 0;) {
    g_autofree gchar *json = watch_object_to_json (objects->pdata[i]);

    g_string_append_printf (text, "{%s}\n", json);
    *last = ((WatchObject *)objects->pdata[i])->number;
  }
  return text;
}

static guint
count (gpointer objects)
{
  watch_objects_forget_old (objects);
  return watch_objects_count (objects);
}

WatchLineFile *
watch_objects_file_new (Watch *watch, WatchObjects *objects)
{
  static const WatchLineFileFunctions functions = {"source", read_line, take, format, count};

  return watch_line_file_new (watch, "objects.ndjson", "objects", &functions, objects);
}
