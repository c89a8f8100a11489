/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "objects-file.h"

#include "line-file.h"

#define MAX_NUMBER 1e15 /* of an object; others are damaged */

struct _WatchObjectsFile {
  Watch *watch;
  WatchObjects *objects;
  WatchLineFile *file;

  /* Of the file's thread. */
  GHashTable *cameras; /* names of those that there were at the start */
  JsonParser *parser;  /* NULL after reading */
  GPtrArray *read;     /* WatchObject, of the lines that were read */
  guint64 written, waiting;
};

/* 0: it is damaged or missing. */
static gint64
get_time (JsonObject *object, const gchar *name)
{
  const gchar *text = watch_line_get_text (object, name);
  g_autoptr (GDateTime) time = text ? g_date_time_new_from_iso8601 (text, NULL) : NULL;

  return time ? g_date_time_to_unix (time) * G_USEC_PER_SEC + g_date_time_get_microsecond (time)
              : 0;
}

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

/* NULL if the line is damaged. */
static WatchObject *
parse_line (JsonParser *parser, const gchar *line)
{
  WatchObject *object;
  const gchar *camera;
  JsonObject *members;

  if (!json_parser_load_from_data (parser, line, -1, NULL) ||
      !JSON_NODE_HOLDS_OBJECT (json_parser_get_root (parser)))
    return NULL;
  members = json_node_get_object (json_parser_get_root (parser));
  camera = watch_line_get_text (members, "source");
  if (!camera || !get_time (members, "begin") || !get_time (members, "end"))
    return NULL;
  object = watch_object_new (camera);
  object->number = (guint64)CLAMP (watch_line_get_number (members, "number"), 0, MAX_NUMBER);
  object->id = (guint64)CLAMP (watch_line_get_number (members, "id"), 0, MAX_NUMBER);
  object->begin = get_time (members, "begin");
  object->end = get_time (members, "end");
  object->motion = get_time (members, "motion");
  object->best = get_time (members, "best");
  if (json_object_has_member (members, "speed"))
    object->speed = watch_line_get_number (members, "speed");
  read_places (object, get_array (members, "regions"));
  read_path (object, get_array (members, "path"));
  return object;
}

static void
read_line (gpointer data, const gchar *line)
{
  WatchObjectsFile *self = data;
  g_autoptr (WatchObject) object = parse_line (self->parser, line);

  if (object && g_hash_table_contains (self->cameras, object->camera))
    g_ptr_array_add (self->read, g_steal_pointer (&object));
}

/* As the folder keeps files. */
static void
forget_old (WatchObjectsFile *self)
{
  g_autoptr (WatchFolder) folder = watch_get_folder (self->watch);
  const gdouble days = folder ? watch_folder_get_keep_days (folder) : 0;

  if (days > 0)
    watch_objects_forget_old (
        self->objects, g_get_real_time () - (gint64)(MIN (days, 1e6) * 86400 * G_USEC_PER_SEC));
}

static void
has_read (gpointer data)
{
  WatchObjectsFile *self = data;

  self->written = watch_objects_add_past (self->objects, g_steal_pointer (&self->read));
  forget_old (self);
  g_clear_object (&self->parser);
}

static GString *
format (gpointer data, gboolean all, guint *n_lines)
{
  WatchObjectsFile *self = data;
  const WatchObjectQuery query = {.after = all ? 0 : self->written, .limit = WATCH_OBJECTS};
  g_autoptr (GPtrArray) objects = watch_objects_find (self->objects, &query);
  GString *text = g_string_new (NULL);

  *n_lines = objects->len;
  self->waiting = self->written;
  for (guint i = objects->len; i-- > 0;) {
    g_autofree gchar *json = watch_object_to_json (objects->pdata[i]);

    g_string_append_printf (text, "{%s}\n", json);
    self->waiting = ((WatchObject *)objects->pdata[i])->number;
  }
  return text;
}

static void
written (gpointer data)
{
  WatchObjectsFile *self = data;

  self->written = self->waiting;
}

static guint
count (gpointer data)
{
  WatchObjectsFile *self = data;

  forget_old (self);
  return watch_objects_count (self->objects);
}

WatchObjectsFile *
watch_objects_file_new (Watch *watch, WatchObjects *objects)
{
  WatchObjectsFile *self = g_new0 (WatchObjectsFile, 1);
  const WatchLineFileFunctions functions = {read_line, has_read, format, written, count, self};

  self->watch = watch;
  self->objects = objects;
  self->cameras = watch_config_get_camera_names (watch_get_config (watch));
  self->parser = json_parser_new ();
  self->read = g_ptr_array_new ();
  self->file = watch_line_file_new (watch, "objects.ndjson", "objects", &functions);
  return self;
}

void
watch_objects_file_rewrite (WatchObjectsFile *self)
{
  watch_line_file_rewrite (self->file);
}

void
watch_objects_file_stop (WatchObjectsFile *self)
{
  watch_line_file_stop (self->file);
}

gboolean
watch_objects_file_free (WatchObjectsFile *self, gint64 until)
{
  if (!watch_line_file_free (self->file, until))
    return FALSE;
  g_hash_table_unref (self->cameras);
  g_free (self);
  return TRUE;
}
