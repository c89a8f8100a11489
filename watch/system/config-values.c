/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config-values.h"

#include <string.h>

#include "parse-size.h"

G_DEFINE_QUARK (watch - config - error, watch_config_error)

gboolean
watch_fail (GError **error, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  if (error)
    *error = g_error_new_valist (WATCH_CONFIG_ERROR, 0, format, arguments);
  va_end (arguments);
  return FALSE;
}

gboolean
watch_fail_at (GError **error, const gchar *place)
{
  g_prefix_error (error, "%s: ", place);
  return FALSE;
}

gboolean
watch_parse_boolean (const gchar *text, gboolean *value, GError **error)
{
  *value =
      g_strcmp0 (text, "true") == 0 || g_strcmp0 (text, "yes") == 0 || g_strcmp0 (text, "1") == 0;
  if (*value || g_strcmp0 (text, "false") == 0 || g_strcmp0 (text, "no") == 0 ||
      g_strcmp0 (text, "0") == 0)
    return TRUE;
  return watch_fail (error, "\"%s\" is neither true nor false", text);
}

gboolean
watch_parse_number (const gchar *text, gdouble least, gdouble *value, GError **error)
{
  gchar *end;

  *value = g_ascii_strtod (text, &end);
  if (end == text || *end || !(*value >= least) || *value > 1e15)
    return watch_fail (error, "\"%s\" is not a number of at least %g", text, least);
  return TRUE;
}

gboolean
watch_parse_size (const gchar *text, guint64 *bytes, GError **error)
{
  if (!parse_size (text, bytes))
    return watch_fail (
        error, "\"%s\" is not a number of bytes, with or without one of %s", text, SIZE_UNITS);
  return TRUE;
}

gboolean
watch_parse_duration (const gchar *text, gdouble *seconds, GError **error)
{
  static const gchar letters[] = "smhd";
  static const gdouble factors[] = {1, 60, 3600, 86400};
  gchar *end;
  const gchar *letter;

  *seconds = g_ascii_strtod (text, &end);
  letter = *end ? strchr (letters, *end) : NULL;
  if (end == text || !(*seconds >= 0) || *seconds > 1e15 || (*end && (!letter || end[1])))
    return watch_fail (
        error, "\"%s\" is not a number, which may be followed by one of %s", text, letters);
  if (letter)
    *seconds *= factors[letter - letters];
  return TRUE;
}

gboolean
watch_parse_time (const gchar *text, gint64 *utc)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_iso8601 (text, NULL);

  if (time)
    *utc = g_date_time_to_unix (time) * G_USEC_PER_SEC + g_date_time_get_microsecond (time);
  return time != NULL;
}

GHashTable *
watch_table_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

void
watch_table_add (GHashTable *table, GHashTable *other)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, other);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_hash_table_insert (table, g_strdup (key), g_strdup (value));
}

gboolean
watch_table_equal (GHashTable *a, GHashTable *b)
{
  GHashTableIter iter;
  gpointer key, value;

  if (g_hash_table_size (a) != g_hash_table_size (b))
    return FALSE;
  g_hash_table_iter_init (&iter, a);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (g_strcmp0 (g_hash_table_lookup (b, key), value) != 0)
      return FALSE;
  return TRUE;
}

gboolean
watch_check_name (const gchar *name, GError **error)
{
  static const gchar others[] = "._-";

  if (!*name || strlen (name) > 64 || name[0] == '.')
    return watch_fail (
        error, "\"%s\" is no name: it has 1 to 64 characters and does not begin with a dot", name);
  for (const gchar *c = name; *c; c++)
    if (!g_ascii_isalnum (*c) && !strchr (others, *c))
      return watch_fail (
          error, "\"%s\" is no name: it may have letters, digits, '.', '_' and '-'", name);
  return TRUE;
}
