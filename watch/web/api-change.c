/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "api-change.h"

#include <json-glib/json-glib.h>

#include "api.h"
#include "watch/system/secrets.h"

struct _WatchApiChange {
  gchar *name;
  GHashTable *settings;          /* keys of the camera */
  WatchWebRules *rules;          /* what it may name */
  WatchCameraConfig *configured; /* the camera in the configuration, or NULL */
  WatchCameraConfig *config;     /* NULL before the check, or if there is an error */
  GError *error;
};

/* The text of a string, a number or a boolean; NULL for anything else. */
static gchar *
value_to_text (JsonNode *node)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  if (type == G_TYPE_STRING)
    return g_strdup (json_node_get_string (node));
  if (type == G_TYPE_BOOLEAN)
    return g_strdup (json_node_get_boolean (node) ? "true" : "false");
  if (type == G_TYPE_INT64)
    return g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (node));
  if (type == G_TYPE_DOUBLE)
    return g_strdup (g_ascii_dtostr (number, sizeof number, json_node_get_double (node)));
  return NULL;
}

/* Puts the members of a JSON object into the settings; null removes a key. */
static gboolean
read_settings (GHashTable *settings, const gchar *json, gsize length, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonNode *root, *node;
  JsonObjectIter iter;
  const gchar *key;

  /* C's texts end at this character, so what follows it would be lost. */
  if (g_strstr_len (json, length, "\\u0000"))
    return watch_fail (error, "a text has the character \\u0000");
  if (!json_parser_load_from_data (parser, json, length, NULL) ||
      !(root = json_parser_get_root (parser)) || !JSON_NODE_HOLDS_OBJECT (root))
    return watch_fail (error, "the body is not a JSON object");
  json_object_iter_init (&iter, json_node_get_object (root));
  while (json_object_iter_next (&iter, &key, &node)) {
    gchar *text = value_to_text (node);

    if (JSON_NODE_HOLDS_NULL (node))
      g_hash_table_remove (settings, key);
    else if (text)
      g_hash_table_insert (settings, g_strdup (key), text);
    else
      return watch_fail (
          error, "\"%s\" is neither a string nor a number, true, false or null", key);
  }
  return TRUE;
}

/* A password goes to no other address than the one that it was given for. */
static gboolean
keeps_passwords (GHashTable *before, GHashTable *after, GError **error)
{
  const gchar *uri = g_hash_table_lookup (before, "uri");
  const gchar *record_uri = g_hash_table_lookup (after, "record-uri");
  GHashTableIter iter;
  gpointer key, value;

  if (!uri ||
      (g_strcmp0 (uri, g_hash_table_lookup (after, "uri")) == 0 &&
          (!record_uri || g_strcmp0 (record_uri, g_hash_table_lookup (before, "record-uri")) == 0)))
    return TRUE;
  g_hash_table_iter_init (&iter, after);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (watch_is_secret_key (key, uri) && g_strcmp0 (g_hash_table_lookup (before, key), value) == 0)
      return watch_fail (error, "with another uri, %s must be given again", (gchar *)key);
  return TRUE;
}

gboolean
watch_api_read_arming (
    const gchar *json, gsize length, gchar **region, gchar **command, GError **error)
{
  g_autoptr (GHashTable) members = watch_table_new ();

  if (!read_settings (members, json, length, error))
    return FALSE;
  *region = g_strdup (g_hash_table_lookup (members, "region"));
  *command = g_strdup (g_hash_table_lookup (members, "arming"));
  if (!*command)
    return watch_fail (error, "the member \"arming\" is missing");
  if (g_hash_table_size (members) > (*region ? 2 : 1))
    return watch_fail (error, "there are other members than \"arming\" and \"region\"");
  return TRUE;
}

WatchApiChange *
watch_api_change_new (Watch *watch, const gchar *name, const gchar *json, gsize length,
    gboolean merge, GError **error)
{
  g_autoptr (GHashTable) before = watch_api_settings (watch, name);
  g_autoptr (GHashTable) settings = merge ? watch_api_settings (watch, name) : watch_table_new ();
  WatchCameraConfig *configured = watch_get_configured (watch, name);
  WatchApiChange *change;

  if (!read_settings (settings, json, length, error) ||
      (merge && !keeps_passwords (before, settings, error)))
    return NULL;
  change = g_new0 (WatchApiChange, 1);
  change->name = g_strdup (name);
  change->settings = g_steal_pointer (&settings);
  change->rules = watch_web_rules_ref (watch_get_config (watch)->web_rules);
  change->configured = configured ? watch_camera_config_ref (configured) : NULL;
  return change;
}

void
watch_api_change_check (gpointer data)
{
  WatchApiChange *change = data;

  change->config = watch_web_rules_new_camera (
      change->rules, change->name, change->settings, change->configured, &change->error);
}

WatchCameraConfig *
watch_api_change_get (WatchApiChange *change, GError **error)
{
  if (!change->config)
    g_propagate_error (error, g_steal_pointer (&change->error));
  return change->config;
}

void
watch_api_change_free (gpointer data)
{
  WatchApiChange *change = data;

  g_free (change->name);
  g_hash_table_unref (change->settings);
  watch_web_rules_unref (change->rules);
  g_clear_pointer (&change->configured, watch_camera_config_unref);
  g_clear_pointer (&change->config, watch_camera_config_unref);
  g_clear_error (&change->error);
  g_free (change);
}
