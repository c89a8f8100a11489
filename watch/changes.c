/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "changes.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

#define GROUP "camera "
#define REMOVED "removed" /* the only key of a camera that was removed */
#define MODE 0600         /* the file holds passwords */

struct _WatchChanges {
  gchar *path;            /* NULL: in memory alone */
  GKeyFile *file;         /* a group per camera, as in the configuration file */
  GHashTable *configured; /* name → WatchCameraConfig: the configuration without the changes */
};

WatchChanges *
watch_changes_new (const gchar *path)
{
  WatchChanges *changes = g_new (WatchChanges, 1);

  changes->path = g_strdup (path);
  changes->file = g_key_file_new ();
  changes->configured = g_hash_table_new_full (
      g_str_hash, g_str_equal, g_free, (GDestroyNotify)watch_camera_config_unref);
  return changes;
}

void
watch_changes_free (WatchChanges *changes)
{
  g_hash_table_unref (changes->configured);
  g_key_file_unref (changes->file);
  g_free (changes->path);
  g_free (changes);
}

static gboolean
check_groups (GKeyFile *file, const gchar *path, GError **error)
{
  g_auto (GStrv) groups = g_key_file_get_groups (file, NULL);

  for (gchar **group = groups; *group; group++)
    if (!g_str_has_prefix (*group, GROUP))
      return watch_fail (error, "%s: there is no group \"%s\"", path, *group);
  return TRUE;
}

gboolean
watch_changes_read (WatchChanges *changes, GError **error)
{
  GKeyFile *file;

  if (!changes->path)
    return TRUE;
  if (g_access (changes->path, F_OK) != 0 && errno == ENOENT)
    file = g_key_file_new ();
  else
    file = watch_key_file_load (changes->path, error);
  if (!file)
    return FALSE;
  if (!check_groups (file, changes->path, error)) {
    g_key_file_unref (file);
    return FALSE;
  }
  g_key_file_unref (changes->file);
  changes->file = file;
  return TRUE;
}

/* Puts one group of the state file over the cameras. */
static void
apply_group (WatchChanges *changes, const gchar *group, WatchConfig *config)
{
  const gchar *name = group + strlen (GROUP);
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) keys = watch_key_file_get_keys (changes->file, group, NULL, &error);
  WatchCameraConfig *camera = NULL;
  guint i = 0;

  while (i < config->cameras->len &&
         strcmp (((WatchCameraConfig *)g_ptr_array_index (config->cameras, i))->name, name) != 0)
    i++;
  if (keys && !g_hash_table_contains (keys, REMOVED))
    camera = watch_camera_config_new (name, keys, &error);
  if (error) {
    watch_log_error ("%s: %s", changes->path, error->message);
    return;
  }
  if (i < config->cameras->len)
    g_ptr_array_remove_index (config->cameras, i);
  if (camera)
    g_ptr_array_insert (config->cameras, i, camera);
}

void
watch_changes_apply (WatchChanges *changes, WatchConfig *config)
{
  g_auto (GStrv) groups = g_key_file_get_groups (changes->file, NULL);

  g_hash_table_remove_all (changes->configured);
  for (guint i = 0; i < config->cameras->len; i++) {
    WatchCameraConfig *camera = g_ptr_array_index (config->cameras, i);

    g_hash_table_insert (
        changes->configured, g_strdup (camera->name), watch_camera_config_ref (camera));
  }
  for (gchar **group = groups; *group; group++)
    apply_group (changes, *group, config);
}

/* Whether the configuration without changes has the camera as it is; NULL: whether it has none. */
static gboolean
is_as_configured (WatchChanges *changes, const gchar *name, const WatchCameraConfig *camera)
{
  const WatchCameraConfig *configured = g_hash_table_lookup (changes->configured, name);

  if (!camera || !configured)
    return camera == configured;
  return watch_camera_config_equal (camera, configured);
}

static void
set_group (GKeyFile *file, const gchar *group, const WatchCameraConfig *camera)
{
  GHashTableIter iter;
  gpointer key, value;

  if (!camera) {
    g_key_file_set_boolean (file, group, REMOVED, TRUE);
    return;
  }
  g_hash_table_iter_init (&iter, camera->keys);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_key_file_set_string (file, group, key, value);
}

gboolean
watch_changes_set (
    WatchChanges *changes, const gchar *name, const WatchCameraConfig *camera, GError **error)
{
  g_autoptr (GKeyFile) next = g_key_file_new ();
  g_autofree gchar *group = g_strconcat (GROUP, name, NULL);
  g_autofree gchar *text = g_key_file_to_data (changes->file, NULL, NULL);
  gsize length;

  g_key_file_load_from_data (next, text, -1, G_KEY_FILE_KEEP_COMMENTS, NULL);
  g_key_file_remove_group (next, group, NULL);
  if (!is_as_configured (changes, name, camera))
    set_group (next, group, camera);
  g_free (text);
  text = g_key_file_to_data (next, &length, NULL);
  if (changes->path &&
      !g_file_set_contents_full (changes->path, text, length,
          G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, MODE, error))
    return FALSE;
  g_key_file_unref (changes->file);
  changes->file = g_steal_pointer (&next);
  return TRUE;
}
