/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "places.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The folder, or the nearest one above it that exists, can be written. */
static gboolean
check_folder (const gchar *path, gboolean may_be_made, GError **error)
{
  g_autofree gchar *place = g_canonicalize_filename (path, NULL);

  while (may_be_made && access (place, F_OK) != 0 && errno == ENOENT && strcmp (place, "/") != 0) {
    gchar *parent = g_path_get_dirname (place);

    g_free (place);
    place = parent;
  }
  if (access (place, F_OK) == 0 && !g_file_test (place, G_FILE_TEST_IS_DIR))
    return watch_fail (error, "%s: %s is no folder", path, place);
  return access (place, W_OK | X_OK) == 0 ||
         watch_fail (error, "%s: %s: %s", path, place, g_strerror (errno));
}

/* `made`: a folder that the program makes, or NULL. */
static gboolean
check_file (const gchar *path, const gchar *made, GError **error)
{
  g_autofree gchar *parent = g_path_get_dirname (path);

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    return watch_fail (error, "%s is a folder", path);
  if (access (path, F_OK) == 0)
    return access (path, W_OK) == 0 || watch_fail (error, "%s: %s", path, g_strerror (errno));
  return check_folder (parent, g_strcmp0 (parent, made) == 0, error);
}

static gboolean
check_output (const gchar *uri, GError **error)
{
  g_autofree gchar *path = g_str_has_prefix (uri, "file://") ? g_filename_from_uri (uri, NULL, NULL)
                           : strstr (uri, "://") || strcmp (uri, "-") == 0 ? NULL
                                                                           : g_strdup (uri);

  return !path || check_file (path, NULL, error);
}

gboolean
watch_places_check (const WatchConfig *config, GError **error)
{
  if (config->folder && !check_folder (config->folder, TRUE, error))
    return watch_fail_at (error, "folder");
  if (config->state && !check_file (config->state, config->folder, error))
    return watch_fail_at (error, "state");
  for (guint i = 0; i < config->outputs->len; i++) {
    const WatchOutputConfig *output = config->outputs->pdata[i];

    if (!check_output (output->uri, error)) {
      g_prefix_error (error, "output %s: ", output->name);
      return FALSE;
    }
  }
  return TRUE;
}
