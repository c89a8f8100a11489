/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "changes.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "key-file.h"
#include "watch/system/log.h"

#define GROUP "camera "
#define ARMING_GROUP "arming "
#define ARMING_CAMERA "camera"  /* the key of how the camera is armed */
#define ARMING_REGION "region:" /* and of a region, with its escaped name */
#define REMOVED "removed"       /* the only key of a camera that was removed */
#define MODE 0600               /* the file holds passwords */

struct _WatchChanges {
  gchar *path;            /* NULL: in memory alone */
  GKeyFile *file;         /* a group per camera, as in the configuration file */
  GHashTable *configured; /* name → WatchCameraConfig: the configuration without the changes */
};

static gboolean
check_groups (GKeyFile *file, const gchar *path, GError **error)
{
  g_auto (GStrv) groups = g_key_file_get_groups (file, NULL);

  for (gchar **group = groups; *group; group++)
    if (!g_str_has_prefix (*group, GROUP) && !g_str_has_prefix (*group, ARMING_GROUP)) {
      g_set_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE, "%s: there is no group \"%s\"",
          path, *group);
      return FALSE;
    }
  return TRUE;
}

static GKeyFile *
read_state (const gchar *path, GError **error)
{
  GKeyFile *file;
  struct stat status;

  if (stat (path, &status) != 0 && errno == ENOENT)
    return g_key_file_new ();
  if (!S_ISREG (status.st_mode)) { /* to open a pipe waits for a writer */
    watch_fail (error, "%s is no regular file", path);
    return NULL;
  }
  file = watch_key_file_load (path, error);
  if (file && !check_groups (file, path, error))
    g_clear_pointer (&file, g_key_file_unref);
  return file;
}

gboolean
watch_changes_set_aside (const gchar *path, const GError *damage)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree gchar *time = g_date_time_format (now, "%Y%m%dT%H%M%SZ");
  g_autofree gchar *other = g_strdup_printf ("%s.damaged-%s", path, time);

  if (damage->domain != G_KEY_FILE_ERROR || g_rename (path, other) != 0)
    return FALSE;
  watch_log_error ("%s; the file is now %s, and the configured cameras run without its changes",
      damage->message, other);
  return TRUE;
}

WatchChanges *
watch_changes_new (const gchar *path, const gchar *present, GError **error)
{
  GKeyFile *file = path ? read_state (path, error) : g_key_file_new ();
  WatchChanges *changes;

  if (!file)
    return NULL;
  if (!path && present)
    g_key_file_load_from_data (file, present, -1, G_KEY_FILE_KEEP_COMMENTS, NULL);
  changes = g_new (WatchChanges, 1);
  changes->path = g_strdup (path);
  changes->file = file;
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

gchar *
watch_changes_to_text (WatchChanges *changes)
{
  return g_key_file_to_data (changes->file, NULL, NULL);
}

WatchCameraConfig *
watch_changes_get_configured (WatchChanges *changes, const gchar *name)
{
  return g_hash_table_lookup (changes->configured, name);
}

/* Applies one group of the state file to the cameras. The page may have written that file, so its
 * keys obey the rules for the page. */
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
    camera = watch_web_rules_new_camera (
        config->web_rules, name, keys, watch_changes_get_configured (changes, name), &error);
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
    if (g_str_has_prefix (*group, GROUP))
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

/* A note with a copy of the present changes. */
static WatchNote *
new_note (WatchChanges *changes, const gchar *name)
{
  g_autofree gchar *present = watch_changes_to_text (changes);
  WatchNote *note = g_new0 (WatchNote, 1);

  note->path = g_strdup (changes->path);
  note->name = g_strdup (name);
  note->file = g_key_file_new ();
  g_key_file_load_from_data (note->file, present, -1, G_KEY_FILE_KEEP_COMMENTS, NULL);
  return note;
}

WatchNote *
watch_changes_note (WatchChanges *changes, const gchar *name, WatchCameraConfig *camera)
{
  g_autofree gchar *group = g_strconcat (GROUP, name, NULL);
  g_autofree gchar *arming_group = g_strconcat (ARMING_GROUP, name, NULL);
  WatchNote *note = new_note (changes, name);

  note->camera = camera ? watch_camera_config_ref (camera) : NULL;
  if (!camera)
    g_key_file_remove_group (note->file, arming_group, NULL);
  g_key_file_remove_group (note->file, group, NULL);
  if (!is_as_configured (changes, name, camera))
    set_group (note->file, group, camera);
  return note;
}

/* The name of a region may have characters that a key cannot have. */
static gchar *
key_of_region (const gchar *region)
{
  g_autofree gchar *escaped = region ? g_uri_escape_string (region, NULL, TRUE) : NULL;

  return region ? g_strconcat (ARMING_REGION, escaped, NULL) : g_strdup (ARMING_CAMERA);
}

/* NULL: the key is that of the camera, or damaged. */
static gchar *
region_of_key (const gchar *key)
{
  return g_str_has_prefix (key, ARMING_REGION)
             ? g_uri_unescape_string (key + strlen (ARMING_REGION), NULL)
             : NULL;
}

GHashTable *
watch_changes_get_arming (WatchChanges *changes, const gchar *name)
{
  g_autofree gchar *group = g_strconcat (ARMING_GROUP, name, NULL);
  g_auto (GStrv) keys = g_key_file_get_keys (changes->file, group, NULL, NULL);
  GHashTable *table;

  if (!keys || !*keys)
    return NULL;
  table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (gchar **key = keys; *key; key++) {
    g_autofree gchar *text = g_key_file_get_string (changes->file, group, *key, NULL);
    gchar *region = region_of_key (*key);
    const WatchArming arming = watch_arming_from_text (text ? text : "");

    g_hash_table_insert (
        table, region ? region : g_strdup (""), g_memdup2 (&arming, sizeof arming));
  }
  return table;
}

WatchNote *
watch_changes_note_arming (WatchChanges *changes, const gchar *name, const gchar *region,
    const gchar *command, GError **error)
{
  g_autofree gchar *group = g_strconcat (ARMING_GROUP, name, NULL), *key = key_of_region (region);
  g_autofree gchar *before = g_key_file_get_string (changes->file, group, key, NULL);
  g_autofree gchar *after = NULL;
  WatchArming arming = watch_arming_from_text (before ? before : "");
  WatchNote *note;

  if (!watch_arming_command (&arming, command, g_get_real_time (), error))
    return NULL;
  note = new_note (changes, name);
  note->is_arming = TRUE;
  after = watch_arming_to_text (&arming);
  if (arming.mode == WATCH_ARMING_SCHEDULE && arming.paused_until == 0)
    g_key_file_remove_key (note->file, group, key, NULL);
  else
    g_key_file_set_string (note->file, group, key, after);
  return note;
}

void
watch_note_write (gpointer data)
{
  WatchNote *note = data;
  g_autofree gchar *text = NULL;

  if (!note->path)
    return;
  text = watch_key_file_to_text (note->file);
  g_file_set_contents_full (note->path, text, -1,
      G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, MODE, &note->error);
}

gboolean
watch_changes_take (WatchChanges *changes, WatchNote *note, GError **error)
{
  if (note->error) {
    g_propagate_error (error, g_steal_pointer (&note->error));
    return FALSE;
  }
  g_key_file_unref (changes->file);
  changes->file = g_key_file_ref (note->file);
  return TRUE;
}

void
watch_note_free (gpointer data)
{
  WatchNote *note = data;

  g_clear_pointer (&note->camera, watch_camera_config_unref);
  g_clear_error (&note->error);
  g_key_file_unref (note->file);
  g_free (note->path);
  g_free (note->name);
  g_free (note);
}
