/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "api.h"
#include "core/base/divide-up.h"

#include <gst/ccl/ccl.h>
#include <string.h>

#include "watch/config/live-keys.h"
#include "watch/media/pictures.h"
#include "watch/system/json.h"
#include "watch/system/log.h"
#include "watch/system/secrets.h"

/* With milliseconds. */
static gchar *
format_time (gint64 utc)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (utc / G_USEC_PER_SEC);
  g_autofree gchar *seconds = g_date_time_format (time, "%Y-%m-%dT%H:%M:%S");

  return g_strdup_printf ("%s.%03dZ", seconds, (gint)(utc % G_USEC_PER_SEC / 1000));
}

static void
add_time (JsonBuilder *builder, const gchar *name, gint64 utc)
{
  g_autofree gchar *text = format_time (utc);

  watch_json_add_text (builder, name, text);
}

/* Adds the members of a camera to the object that is open. */
static void
add_camera (JsonBuilder *builder, WatchCamera *camera)
{
  g_autoptr (GArray) arming = watch_camera_get_arming (camera);
  WatchStatus status;

  watch_camera_get_status (camera, &status);
  watch_json_add_text (builder, "name", watch_camera_get_name (camera));
  watch_json_add_text (builder, "uri", status.uri);
  watch_json_add_text (builder, "state", watch_state_name (status.state));
  add_time (builder, "since", status.since);
  watch_json_add_text (builder, "detail", status.detail);
  watch_json_add_text (builder, "labeller", status.labeller);
  watch_json_add_text (builder, "decoder", status.decoder);
  if (status.gpu >= 0)
    watch_json_add_int (builder, "gpu", status.gpu);
  watch_json_add_int (builder, "width", status.width);
  watch_json_add_int (builder, "height", status.height);
  watch_json_add_double (builder, "fps", status.fps);
  watch_json_add_double (builder, "latency", status.latency);
  watch_json_add_double (builder, "age", status.age);
  watch_json_add_double (builder, "backlog", status.backlog);
  watch_json_add_int (builder, "frames", status.n_frames);
  watch_json_add_int (builder, "skipped", status.n_skipped);
  watch_json_add_int (builder, "late", status.n_late);
  watch_json_add_int (builder, "reconnects", status.n_reconnects);
  watch_json_add_int (builder, "components", status.n_components);
  watch_json_add_boolean (builder, "motion", status.motion);
  watch_json_add_text (builder, "scene", status.scene);
  watch_json_add_boolean (builder, "stream", status.has_stream);
  watch_camera_add_arming (builder, arming, format_time);
  watch_status_clear (&status);
}

gchar *
watch_api_cameras (Watch *watch)
{
  g_autoptr (GPtrArray) cameras = watch_get_cameras (watch);
  JsonBuilder *builder = watch_json_begin ();

  watch_json_begin_array (builder, "cameras");
  for (guint i = 0; i < cameras->len; i++) {
    json_builder_begin_object (builder);
    add_camera (builder, cameras->pdata[i]);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  return watch_json_end (builder);
}

GHashTable *
watch_api_settings (Watch *watch, const gchar *name)
{
  GHashTable *settings = watch_table_new ();
  g_autoptr (WatchCamera) camera = watch_find_camera (watch, name);
  g_autoptr (WatchCameraConfig) config = camera ? watch_camera_get_config (camera) : NULL;

  if (config)
    watch_table_add (settings, config->keys);
  return settings;
}

gchar *
watch_api_version (Watch *watch, const gchar *name)
{
  g_autoptr (WatchCamera) camera = watch_find_camera (watch, name);
  g_autoptr (WatchCameraConfig) config = camera ? watch_camera_get_config (camera) : NULL;

  return config ? g_strdup (config->version) : NULL;
}

static void
add_settings (JsonBuilder *builder, Watch *watch, const gchar *name)
{
  g_autoptr (GHashTable) settings = watch_api_settings (watch, name);
  g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (settings), (GCompareFunc)strcmp);
  const gchar *uri = g_hash_table_lookup (settings, "uri");

  watch_json_begin_object (builder, "settings");
  for (GList *key = keys; key; key = key->next) {
    g_autofree gchar *value = watch_is_secret_key (key->data, uri)
                                  ? g_strdup ("***")
                                  : watch_redact (g_hash_table_lookup (settings, key->data));

    watch_json_add_text (builder, key->data, value);
  }
  json_builder_end_object (builder);
}

gchar *
watch_api_camera (Watch *watch, const gchar *name)
{
  g_autoptr (WatchCamera) camera = watch_find_camera (watch, name);
  g_autofree gchar *version = watch_api_version (watch, name);
  JsonBuilder *builder;

  if (!camera)
    return NULL;
  builder = watch_json_begin ();
  add_camera (builder, camera);
  add_settings (builder, watch, name);
  watch_json_add_text (builder, "version", version);
  return watch_json_end (builder);
}

gchar *
watch_api_live_settings (void)
{
  JsonBuilder *builder = watch_json_begin ();
  g_auto (GStrv) keys = watch_live_keys_list ();

  watch_json_begin_array (builder, "live");
  for (gchar **key = keys; *key; key++)
    json_builder_add_string_value (builder, *key);
  json_builder_end_array (builder);
  return watch_json_end (builder);
}

gchar *
watch_api_outputs (Watch *watch)
{
  g_autoptr (GPtrArray) outputs = watch_get_outputs (watch);
  JsonBuilder *builder = watch_json_begin ();

  watch_json_begin_array (builder, "outputs");
  for (guint i = 0; i < outputs->len; i++) {
    const WatchOutputStatus *output = outputs->pdata[i];

    json_builder_begin_object (builder);
    watch_json_add_text (builder, "name", output->name);
    watch_json_add_text (builder, "uri", output->uri);
    watch_json_add_boolean (builder, "connected", output->connected);
    watch_json_add_int (builder, "delivered", output->n_delivered);
    watch_json_add_int (builder, "dropped", output->n_dropped);
    watch_json_add_int (builder, "queued", output->n_queued);
    watch_json_add_int (builder, "capacity", output->capacity);
    watch_json_add_double (builder, "age", output->age);
    watch_json_add_boolean (builder, "stuck", output->stuck);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  return watch_json_end (builder);
}

/* Adds the file of a motion if it exists: the picture or the clip. */
static void
append_file (GString *text, Watch *watch, const gchar *camera, gint64 utc, const gchar *key,
    const gchar *extension)
{
  g_autoptr (WatchFolder) folder = watch_get_folder (watch);
  g_autofree gchar *name = watch_folder_name (camera, utc, extension);

  if (folder && watch_folder_has (folder, name))
    g_string_append_printf (text, "\"%s\":\"/media/%s\",", key, name);
  if (folder && strcmp (key, "clip") == 0 && watch_folder_is_kept (folder, name))
    g_string_append (text, "\"kept\":true,");
}

gchar *
watch_api_events (Watch *watch, WatchHistory *history, const gchar *camera,
    const gchar *const *kinds, guint64 after, guint limit)
{
  g_autoptr (GPtrArray) events = watch_history_get_events (history, camera, kinds, after, limit);
  GString *text = g_string_new ("{\"events\":[");

  for (guint i = 0; i < events->len; i++) {
    const WatchPastEvent *event = events->pdata[i];

    g_string_append_printf (
        text, "%s{\"number\":%" G_GUINT64_FORMAT ",", i > 0 ? "," : "", event->number);
    if (g_str_equal (event->kind, "motion-begin")) {
      append_file (text, watch, event->camera, event->utc, "picture", "jpg");
      append_file (text, watch, event->camera, event->utc, "clip", "mp4");
    }
    g_string_append (text, event->line + 1); /* the rest of the object behind its brace */
  }
  g_string_append (text, "]}");
  return g_string_free (text, FALSE);
}

/* Seconds of a clip that are played before an object began, and after it ended. A clip begins up to
 * the distance of two key frames earlier than is known. */
#define LEAD (2 * G_USEC_PER_SEC)
#define TAIL (15 * G_USEC_PER_SEC)

/* Before and after an object in a clip of its own. */
#define MARGIN G_USEC_PER_SEC

/* The name of the clip that has the object. A motion has several clips where it is long, and where
 * the disk was full. */
static gchar *
find_clip (WatchFolder *folder, const WatchObject *object)
{
  return watch_folder_find_clip (
      folder, object->camera, object->motion, MAX (object->begin, object->motion));
}

/* Adds the part of the clip that has the object, as a clip of its own. */
static void
append_object_clip (GString *text, const gchar *name, const WatchObject *object)
{
  g_autofree gchar *from = gst_ccl_utc_format (object->begin - MARGIN);
  g_autofree gchar *to = gst_ccl_utc_format (object->end + MARGIN);

  g_string_append_printf (text, "\"object_clip\":\"/media/%s?from=%s&to=%s\",", name, from, to);
}

/* Adds that clip, and which part of it shows the object. */
static void
append_clip (GString *text, Watch *watch, const WatchObject *object)
{
  g_autoptr (WatchFolder) folder = watch_get_folder (watch);
  g_autofree gchar *name = folder ? find_clip (folder, object) : NULL;
  gint64 start;

  if (!name)
    return;
  start = watch_folder_time_of_name (name);
  g_string_append_printf (text, "\"clip\":\"/media/%s\",\"clip_from\":%d,\"clip_to\":%d,", name,
      (gint)(MAX (object->begin - LEAD - start, 0) / G_USEC_PER_SEC),
      (gint)(MAX (object->end + TAIL - start, 0) / G_USEC_PER_SEC));
  append_object_clip (text, name, object);
  if (watch_folder_is_kept (folder, name))
    g_string_append (text, "\"kept\":true,");
}

gchar *
watch_api_objects (Watch *watch, WatchObjects *objects, const WatchObjectQuery *query)
{
  g_autoptr (GPtrArray) found = watch_objects_find (objects, query);
  GString *text = g_string_new ("{\"objects\":[");

  for (guint i = 0; i < found->len; i++) {
    const WatchObject *object = found->pdata[i];
    g_autofree gchar *json = watch_object_to_json (object);

    g_string_append (text, i > 0 ? ",{" : "{");
    if (object->motion) {
      append_file (text, watch, object->camera, object->motion, "picture", "jpg");
      append_clip (text, watch, object);
    }
    if (object->best) {
      g_autofree gchar *extension = watch_picture_extension (object->id);

      append_file (text, watch, object->camera, object->best, "best_picture", extension);
    }
    g_string_append (text, json);
    g_string_append_c (text, '}');
  }
  g_string_append (text, "]}");
  return g_string_free (text, FALSE);
}

gchar *
watch_api_counts (WatchHistory *history, const gchar *camera, guint seconds, guint n_points)
{
  guint step = MAX (divide_up (seconds, n_points), 1);
  g_autofree guint16 *counts = g_new (guint16, n_points);
  JsonBuilder *builder = watch_json_begin ();

  watch_history_get_counts (history, camera, step, n_points, counts);
  watch_json_add_int (builder, "step", step);
  add_time (builder, "end", g_get_real_time ());
  add_time (builder, "since", watch_history_get_start (history));
  watch_json_begin_array (builder, "counts");
  for (guint i = 0; i < n_points; i++)
    if (counts[i] == WATCH_HISTORY_NO_FRAME)
      json_builder_add_null_value (builder);
    else
      json_builder_add_int_value (builder, counts[i]);
  json_builder_end_array (builder);
  return watch_json_end (builder);
}
