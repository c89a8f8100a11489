/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "key-file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "watch/system/config-values.h"
#include "watch/system/log.h"
#include "watch/system/secrets.h"

/* Lines around what the program writes. Without the last one, a file that was cut off would look
 * like a whole one, because most parts of such a file are valid. */
#define FIRST_LINE "# Written by ccl-watch, which misses the last line if the file is not whole"
#define LAST_LINE "# end of the file"

/* The mode is that of the file that was read, not of one that replaces it. */
static gboolean
read_file (const gchar *path, gchar **text, gboolean *others_may_read, GError **error)
{
  gint fd = g_open (path, O_RDONLY | O_CLOEXEC);
  FILE *stream = fd >= 0 ? fdopen (fd, "r") : NULL;
  g_autoptr (GString) read = g_string_new (NULL);
  struct stat status;
  gchar buffer[4096];
  gsize n;

  if (!stream || fstat (fd, &status) != 0) {
    watch_fail (error, "%s", g_strerror (errno));
    if (stream)
      fclose (stream);
    return FALSE;
  }
  while ((n = fread (buffer, 1, sizeof buffer, stream)) > 0)
    g_string_append_len (read, buffer, n);
  fclose (stream);
  *others_may_read = (status.st_mode & S_IROTH) != 0;
  if (strlen (read->str) < read->len) { /* what a machine that lost its power may leave */
    g_set_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE, "it has bytes of value 0");
    return FALSE;
  }
  *text = g_string_free (g_steal_pointer (&read), FALSE);
  return TRUE;
}

/* Whether a key is secret for one of the cameras: for all of them if it is a default. */
static gboolean
is_secret_for_cameras (GKeyFile *file, const gchar *group, const gchar *key)
{
  const gboolean is_default = strcmp (group, "cameras") == 0;
  g_auto (GStrv) groups = g_key_file_get_groups (file, NULL);
  gboolean is_secret = watch_is_secret_key (key, NULL);

  for (gchar **other = groups; *other && !is_secret; other++)
    if (is_default ? g_str_has_prefix (*other, "camera ") : strcmp (*other, group) == 0) {
      g_autofree gchar *uri = g_key_file_get_string (file, *other, "uri", NULL);

      is_secret = watch_is_secret_key (key, uri);
    }
  return is_secret;
}

gboolean
watch_token_read (const gchar *path, gchar **token, GError **error)
{
  gboolean others_may_read, is_valid;
  g_autofree gchar *text = NULL;

  is_valid = read_file (path, &text, &others_may_read, error);
  if (is_valid && others_may_read)
    is_valid = watch_fail (error, "other users may read it (chmod o= %s)", path);
  else if (is_valid && !*g_strstrip (text))
    is_valid = watch_fail (error, "it is empty");
  if (is_valid)
    *token = g_steal_pointer (&text);
  else
    g_prefix_error (error, "%s: ", path);
  return is_valid;
}

static gboolean
group_has_secret (GKeyFile *file, const gchar *group)
{
  g_auto (GStrv) keys = g_key_file_get_keys (file, group, NULL, NULL);
  gboolean has = FALSE;

  for (gchar **key = keys; key && *key && !has; key++) {
    g_autofree gchar *value = g_key_file_get_value (file, group, *key, NULL);
    g_autofree gchar *line = g_strdup_printf ("%s=%s", *key, value ? value : "");

    has = watch_has_secret (line) || (value && *value && is_secret_for_cameras (file, group, *key));
  }
  return has;
}

static gboolean
file_has_secret (GKeyFile *file)
{
  g_auto (GStrv) groups = g_key_file_get_groups (file, NULL);
  gboolean has = FALSE;

  for (gchar **group = groups; *group && !has; group++)
    has = group_has_secret (file, *group);
  return has;
}

gchar *
watch_key_file_to_text (GKeyFile *file)
{
  g_autofree gchar *text = g_key_file_to_data (file, NULL, NULL);

  return *text ? g_strconcat (FIRST_LINE "\n", text, LAST_LINE "\n", NULL)
               : g_steal_pointer (&text);
}

/* Takes the lines around the groups away. FALSE if there is the first one, or a part of it, and not
 * the last one. */
static gboolean
unwrap (gchar *text, GError **error)
{
  const gsize first = strlen (FIRST_LINE), length = strlen (g_strchomp (text));

  if (length == 0 || strncmp (text, FIRST_LINE, MIN (length, first)) != 0)
    return TRUE;
  if (length <= first || !g_str_has_suffix (text, "\n" LAST_LINE)) {
    g_set_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE,
        "its end is missing: the last line is not \"%s\"", LAST_LINE);
    return FALSE;
  }
  text[length - strlen (LAST_LINE)] = '\0';
  memmove (text, text + first, strlen (text + first) + 1);
  return TRUE;
}

GKeyFile *
watch_key_file_load (const gchar *path, GError **error)
{
  GKeyFile *file = g_key_file_new ();
  gboolean others_may_read, is_valid;
  g_autofree gchar *text = NULL;

  is_valid = read_file (path, &text, &others_may_read, error) && unwrap (text, error) &&
             g_key_file_load_from_data (file, text, -1, G_KEY_FILE_KEEP_COMMENTS, error);
  if (is_valid && others_may_read && file_has_secret (file))
    is_valid =
        watch_fail (error, "it holds a password and other users may read it (chmod o= %s)", path);
  if (!is_valid) {
    g_prefix_error (error, "%s: ", path);
    g_clear_pointer (&file, g_key_file_unref);
  }
  return file;
}

GHashTable *
watch_key_file_get_keys (GKeyFile *file, const gchar *group, GHashTable *defaults, GError **error)
{
  GHashTable *keys = watch_table_new ();
  g_auto (GStrv) names = g_key_file_get_keys (file, group, NULL, NULL);

  if (defaults)
    watch_table_add (keys, defaults);
  for (gchar **name = names; name && *name; name++) {
    gchar *text = g_key_file_get_string (file, group, *name, error);

    if (!text) {
      g_clear_pointer (&keys, g_hash_table_unref);
      break;
    }
    g_hash_table_insert (keys, g_strdup (*name), g_strchomp (text));
  }
  return keys;
}
