/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "web-rules.h"

#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "watch/system/config-values.h"
#include "watch/system/web-address.h"

#define DEVICE_PATTERN "^/dev/(video[0-9]+|v4l/by-(id|path)/[^/]+)\\z"
#define PLAIN_PATTERN "^[A-Za-z0-9_.,+-]*\\z"

WatchWebRules *
watch_web_rules_new (void)
{
  WatchWebRules *rules = g_atomic_rc_box_new0 (WatchWebRules);

  rules->schemes = g_ptr_array_new_with_free_func (g_free);
  rules->folders = g_ptr_array_new_with_free_func (g_free);
  return rules;
}

WatchWebRules *
watch_web_rules_ref (WatchWebRules *rules)
{
  return g_atomic_rc_box_acquire (rules);
}

static void
clear_rules (WatchWebRules *rules)
{
  g_ptr_array_unref (rules->schemes);
  g_ptr_array_unref (rules->folders);
}

void
watch_web_rules_unref (WatchWebRules *rules)
{
  g_atomic_rc_box_release_full (rules, (GDestroyNotify)clear_rules);
}

/* Whether a path without symbolic links is a folder or below it. */
static gboolean
is_below (const gchar *path, const gchar *folder)
{
  g_autofree gchar *real = realpath (folder, NULL);
  gsize length = real ? strlen (real) : 0;

  if (length == 0 || strncmp (path, real, length) != 0)
    return FALSE;
  return path[length] == '/' || path[length] == '\0' || real[length - 1] == '/';
}

static gboolean
is_below_any (const WatchWebRules *rules, const gchar *path)
{
  for (guint i = 0; path && i < rules->folders->len; i++)
    if (is_below (path, rules->folders->pdata[i]))
      return TRUE;
  return FALSE;
}

/* An error may tell that the folder of the file exists, if that folder is allowed. */
static gboolean
check_file (const WatchWebRules *rules, const gchar *path, GError **error)
{
  g_autofree gchar *real = realpath (path, NULL), *parent = g_path_get_dirname (path);
  g_autofree gchar *real_parent = realpath (parent, NULL);
  struct stat status;

  if (is_below_any (rules, real) && stat (real, &status) == 0 && S_ISREG (status.st_mode))
    return TRUE;
  if (!real && is_below_any (rules, real_parent))
    return watch_fail (error, "%s: there is no such file", path);
  return watch_fail (
      error, "it is no regular file below a folder that the configuration allows (web-folders)");
}

static gboolean
is_listed (const gchar *scheme, const WatchWebRules *rules)
{
  static const gchar *const usual[] = {"rtsp", "rtsps", "rtspt", "http", "https", "v4l2", NULL};

  return g_strv_contains (usual, scheme) ||
         g_ptr_array_find_with_equal_func (rules->schemes, scheme, g_str_equal, NULL);
}

static gboolean
check_uri (const WatchWebRules *rules, const gchar *text, GError **error)
{
  g_autofree gchar *uri = watch_camera_uri (text, error);
  g_autofree gchar *scheme = NULL, *host = NULL, *path = NULL;

  if (!uri)
    return FALSE;
  /* As GStreamer does it: the text before the first colon. */
  scheme = g_ascii_strdown (uri, strcspn (uri, ":"));
  if (g_str_equal (scheme, "file")) {
    path = g_filename_from_uri (uri, NULL, error);
    return path && check_file (rules, path, error);
  }
  if (!is_listed (scheme, rules))
    return watch_fail (
        error, "the configuration does not allow the scheme \"%s\" (web-schemes)", scheme);
  if (g_str_equal (scheme, "v4l2"))
    return g_regex_match_simple (DEVICE_PATTERN, uri + strlen ("v4l2://"), 0, 0) ||
           watch_fail (error, "it is no device such as /dev/video0");
  host = watch_uri_host (uri);
  if (!rules->allows_local && host && watch_host_is_local (host))
    return watch_fail (
        error, "the configuration does not allow loopback and link-local addresses (web-local)");
  return TRUE;
}

/* A text property of our elements that is no path. */
static gboolean
is_text (const gchar *key)
{
  return g_str_equal (key, "ccl.masks") || g_str_equal (key, "ccltrack.regions") ||
         g_str_equal (key, "ccltrack.ground");
}

/* The text that GStreamer makes of a value, which may be quoted. */
static gchar *
unquote (const gchar *value)
{
  GValue text = G_VALUE_INIT;
  gchar *result;

  g_value_init (&text, G_TYPE_STRING);
  result = gst_value_deserialize (&text, value) ? g_value_dup_string (&text) : NULL;
  g_value_unset (&text);
  return result;
}

static GParamSpec *
find_property (GstElement *element, const gchar *name)
{
  return element ? g_object_class_find_property (G_OBJECT_GET_CLASS (element), name) : NULL;
}

/* Files that properties of our elements name. Mistakes are found later. */
static gboolean
check_own_property (
    const WatchWebRules *rules, const gchar *key, const gchar *value, GError **error)
{
  const gchar *name = strchr (key, '.') + 1;
  g_autofree gchar *factory = g_strndup (key, name - 1 - key);
  g_autofree gchar *path = NULL;
  g_autoptr (GstElement) element = gst_element_factory_make (factory, NULL);
  GParamSpec *property = find_property (element, name);
  gboolean is_valid = TRUE;

  if (property && property->value_type == G_TYPE_STRING && !is_text (key)) {
    path = unquote (value);
    is_valid = path && check_file (rules, path, error);
    if (!path)
      watch_fail (error, "the value is no text");
  }
  return is_valid;
}

/* A source may have properties that are addresses and files. */
static gboolean
check_source_property (const gchar *uri, const gchar *name, GError **error)
{
  static const gchar *const texts[] = {"user-id", "user-pw", "user-agent", NULL};
  g_autofree gchar *full = watch_camera_uri (uri, NULL);
  g_autoptr (GstElement) element =
      full ? gst_element_make_from_uri (GST_URI_SRC, full, NULL, NULL) : NULL;
  GParamSpec *property = find_property (element, name);
  GType type = property ? G_TYPE_FUNDAMENTAL (property->value_type) : G_TYPE_INVALID;
  gboolean is_harmless = !property || g_strv_contains (texts, name) || type == G_TYPE_BOOLEAN ||
                         type == G_TYPE_ENUM || type == G_TYPE_FLAGS || type == G_TYPE_INT ||
                         type == G_TYPE_UINT || type == G_TYPE_INT64 || type == G_TYPE_UINT64 ||
                         type == G_TYPE_FLOAT || type == G_TYPE_DOUBLE;

  return is_harmless ||
         watch_fail (error, "only the configuration may set the source's property \"%s\"", name);
}

static gboolean
check_key (const WatchWebRules *rules, GHashTable *keys, const gchar *key, const gchar *value,
    GError **error)
{
  if (g_str_equal (key, "uri") || g_str_equal (key, "record-uri"))
    return check_uri (rules, value, error);
  if (g_str_has_prefix (key, "ccl.") || g_str_has_prefix (key, "ccltrack."))
    return check_own_property (rules, key, value, error);
  if (g_str_has_prefix (key, "source."))
    return check_source_property (
        g_hash_table_lookup (keys, "uri"), key + strlen ("source."), error);
  /* Which element it will be is not known. */
  if (g_str_has_prefix (key, "decoder."))
    return g_regex_match_simple (PLAIN_PATTERN, value, 0, 0) ||
           watch_fail (error, "only the configuration may set it to such a value");
  return TRUE;
}

static gboolean
check_keys (const WatchWebRules *rules, GHashTable *keys, GHashTable *trusted, GError **error)
{
  GHashTableIter iter;
  gpointer key, value;

  if (!g_hash_table_contains (keys, "uri"))
    return watch_fail (error, "the key \"uri\" is missing");
  g_hash_table_iter_init (&iter, keys);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    if (trusted && g_strcmp0 (g_hash_table_lookup (trusted, key), value) == 0)
      continue;
    if (!check_key (rules, keys, key, value, error))
      return watch_fail_at (error, key);
  }
  return TRUE;
}

WatchCameraConfig *
watch_web_rules_new_camera (const WatchWebRules *rules, const gchar *name, GHashTable *keys,
    const WatchCameraConfig *configured, GError **error)
{
  if (check_keys (rules, keys, configured ? configured->keys : NULL, error))
    return watch_camera_config_new (name, keys, error);
  g_prefix_error (error, "camera %s: ", name);
  return NULL;
}
