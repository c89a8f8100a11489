/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <string.h>

#include "key-file.h"

#define DEFAULT_HTTP_TIMEOUT 60.0

/* Outputs. */

void
watch_output_config_free (WatchOutputConfig *config)
{
  g_free (config->name);
  g_free (config->uri);
  g_hash_table_unref (config->options);
  g_free (config);
}

WatchOutputConfig *
watch_output_config_new (const gchar *name, const gchar *uri)
{
  WatchOutputConfig *config = g_new0 (WatchOutputConfig, 1);

  config->name = g_strdup (name);
  config->uri = g_strdup (uri);
  config->options = watch_table_new ();
  return config;
}

/* The file. */

WatchConfig *
watch_config_new (void)
{
  WatchConfig *config = g_new0 (WatchConfig, 1);

  config->cameras = g_ptr_array_new_with_free_func ((GDestroyNotify)watch_camera_config_unref);
  config->outputs = g_ptr_array_new_with_free_func ((GDestroyNotify)watch_output_config_free);
  config->device = g_strdup ("auto");
  config->http_timeout = DEFAULT_HTTP_TIMEOUT;
  config->web_rules = watch_web_rules_new ();
  return config;
}

void
watch_config_free (WatchConfig *config)
{
  g_ptr_array_unref (config->cameras);
  g_ptr_array_unref (config->outputs);
  g_free (config->device);
  g_free (config->http);
  g_free (config->http_token);
  g_free (config->read_token);
  watch_web_rules_unref (config->web_rules);
  g_clear_pointer (&config->hosts, g_ptr_array_unref);
  g_free (config->folder);
  g_free (config->state);
  g_free (config);
}

static gboolean
replace_string (gchar **string, const gchar *text)
{
  g_free (*string);
  *string = g_strdup (text);
  return TRUE;
}

/* Adds the parts of "A;B". */
static gboolean
add_parts (GPtrArray *parts, const gchar *text)
{
  g_auto (GStrv) list = g_strsplit (text, ";", 0);

  for (gchar **part = list; *part; part++) {
    if (*g_strstrip (*part))
      g_ptr_array_add (parts, g_strdup (*part));
  }
  return TRUE;
}

GHashTable *
watch_config_get_camera_names (const WatchConfig *config)
{
  GHashTable *names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < config->cameras->len; i++) {
    const WatchCameraConfig *camera = config->cameras->pdata[i];

    g_hash_table_add (names, g_strdup (camera->name));
  }
  return names;
}

gboolean
watch_config_set (WatchConfig *config, const gchar *key, const gchar *value, GError **error)
{
  if (strcmp (key, "device") == 0) {
    guint64 number;

    if (strcmp (value, "auto") != 0 && strcmp (value, "cpu") != 0 && strcmp (value, "gpu") != 0 &&
        !g_ascii_string_to_unsigned (value, 10, 0, 1023, &number, NULL))
      return watch_fail (error, "\"%s\" is none of auto, cpu, gpu and the number of a GPU", value);
    return replace_string (&config->device, value);
  }
  if (strcmp (key, "http") == 0)
    return replace_string (&config->http, value);
  if (strcmp (key, "token") == 0)
    return replace_string (&config->http_token, value);
  if (strcmp (key, "read-token") == 0)
    return replace_string (&config->read_token, value);
  if (strcmp (key, "http-timeout") == 0)
    return watch_parse_number (value, 1, &config->http_timeout, error);
  if (strcmp (key, "web-schemes") == 0)
    return add_parts (config->web_rules->schemes, value);
  if (strcmp (key, "web-folders") == 0)
    return add_parts (config->web_rules->folders, value);
  if (strcmp (key, "web-local") == 0)
    return watch_parse_boolean (value, &config->web_rules->allows_local, error);
  if (strcmp (key, "folder") == 0)
    return replace_string (&config->folder, value);
  if (strcmp (key, "state") == 0)
    return replace_string (&config->state, value);
  if (strcmp (key, "keep-days") == 0)
    return watch_parse_number (value, 0, &config->keep_days, error);
  if (strcmp (key, "keep-bytes") == 0)
    return watch_parse_size (value, &config->keep_bytes, error);
  return watch_fail (error, "there is no such key");
}

static gboolean
read_global_group (WatchConfig *config, GHashTable *keys, GError **error)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, keys);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (!watch_config_set (config, key, value, error)) {
      g_prefix_error (error, "[ccl-watch] %s: ", (const gchar *)key);
      return FALSE;
    }
  return TRUE;
}

static gboolean
read_output_group (WatchConfig *config, const gchar *name, GHashTable *keys, GError **error)
{
  const gchar *uri = g_hash_table_lookup (keys, "uri");
  WatchOutputConfig *output;

  if (!watch_check_name (name, error))
    return FALSE;
  if (!uri)
    return watch_fail (error, "output %s: the key \"uri\" is missing", name);
  output = watch_output_config_new (name, uri);
  g_hash_table_remove (keys, "uri");
  g_hash_table_unref (output->options);
  output->options = g_hash_table_ref (keys);
  g_ptr_array_add (config->outputs, output);
  return TRUE;
}

static gboolean
read_group (
    WatchConfig *config, GKeyFile *file, const gchar *group, GHashTable *defaults, GError **error)
{
  gboolean is_camera = g_str_has_prefix (group, "camera ");
  g_autoptr (GHashTable) keys =
      watch_key_file_get_keys (file, group, is_camera ? defaults : NULL, error);

  if (!keys)
    return FALSE;
  if (is_camera) {
    WatchCameraConfig *camera = watch_camera_config_new (group + strlen ("camera "), keys, error);

    if (camera)
      g_ptr_array_add (config->cameras, camera);
    return camera != NULL;
  }
  if (g_str_has_prefix (group, "output "))
    return read_output_group (config, group + strlen ("output "), keys, error);
  if (strcmp (group, "ccl-watch") == 0)
    return read_global_group (config, keys, error);
  return strcmp (group, "cameras") == 0 || /* the defaults, which every camera used */
         watch_fail (error, "there is no group \"%s\"", group);
}

static gboolean
read_groups (WatchConfig *config, GKeyFile *file, GError **error)
{
  g_auto (GStrv) groups = g_key_file_get_groups (file, NULL);
  g_autoptr (GHashTable) defaults = watch_key_file_get_keys (file, "cameras", NULL, error);
  gboolean is_valid = defaults != NULL;

  for (gchar **group = groups; is_valid && *group; group++)
    is_valid = read_group (config, file, *group, defaults, error);
  return is_valid;
}

WatchConfig *
watch_config_load (const gchar *path, GError **error)
{
  g_autoptr (GKeyFile) file = watch_key_file_load (path, error);
  WatchConfig *config;

  if (!file)
    return NULL;
  config = watch_config_new ();
  if (!read_groups (config, file, error)) {
    g_prefix_error (error, "%s: ", path);
    g_clear_pointer (&config, watch_config_free);
  }
  return config;
}
