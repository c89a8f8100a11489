/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccltextreader.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

gboolean
gst_ccl_text_reader_fail (const GstCclTextReader *reader, const gchar *at, const gchar *format, ...)
{
  const gchar *start = reader->text;
  guint line = 1;
  g_autofree gchar *reason = NULL;
  va_list arguments;

  for (const gchar *c = reader->text; c < at; c++) {
    if (*c == '\n') {
      line++;
      start = c + 1;
    }
  }
  va_start (arguments, format);
  reason = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (reader->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s, line %u, column %ld: %s",
      reader->property, line, g_utf8_strlen (start, at - start) + 1, reason);
  return FALSE;
}

gboolean
gst_ccl_text_ends_item (gchar c)
{
  return c == '\0' || c == ';' || c == '\n';
}

gboolean
gst_ccl_text_ends_word (gchar c)
{
  return gst_ccl_text_ends_item (c) || g_ascii_isspace (c);
}

gint
gst_ccl_text_word_length (const gchar *word)
{
  gint length = 0;

  while (!gst_ccl_text_ends_word (word[length]))
    length++;
  return length;
}

void
gst_ccl_text_reader_skip_spaces (GstCclTextReader *reader)
{
  while (g_ascii_isspace (*reader->at) && *reader->at != '\n')
    reader->at++;
}

gboolean
gst_ccl_text_reader_find_item (GstCclTextReader *reader)
{
  while (*reader->at && gst_ccl_text_ends_word (*reader->at))
    reader->at++;
  return *reader->at != '\0';
}

gboolean
gst_ccl_text_reader_read_name (GstCclTextReader *reader, gchar **name)
{
  const gchar *start = reader->at, *end;

  if (*start == '"' || *start == '\'') {
    end = strchr (start + 1, *start);
    if (!end)
      return gst_ccl_text_reader_fail (reader, start, "the quoted name has no end");
    reader->at = end + 1;
    start++;
  } else {
    end = start + gst_ccl_text_word_length (start);
    reader->at = end;
  }
  if (end == start)
    return gst_ccl_text_reader_fail (reader, start, "expected a name");
  *name = g_strndup (start, (gsize)(end - start));
  gst_ccl_text_reader_skip_spaces (reader);
  return TRUE;
}

/* Reads a number and whether it is in percent. */
static gboolean
read_coordinate (GstCclTextReader *reader, gdouble *value, gboolean *percent)
{
  gchar *end;

  *value = g_ascii_strtod (reader->at, &end);
  if (end == reader->at || !isfinite (*value))
    return gst_ccl_text_reader_fail (reader, reader->at, "expected a number, found \"%.*s\"",
        gst_ccl_text_word_length (reader->at), reader->at);
  *percent = *end == '%';
  if (*percent) {
    *value /= 100;
    end++;
  }
  reader->at = end;
  return TRUE;
}

gboolean
gst_ccl_text_reader_read_point (GstCclTextReader *reader, CclPoint *point, gboolean *relative)
{
  const gchar *start = reader->at;
  gboolean percent_y = FALSE;

  if (!read_coordinate (reader, &point->x, relative))
    return FALSE;
  if (*reader->at != ',')
    return gst_ccl_text_reader_fail (reader, reader->at, "expected a comma between x and y");
  reader->at++;
  if (!read_coordinate (reader, &point->y, &percent_y))
    return FALSE;
  if (!gst_ccl_text_ends_word (*reader->at))
    return gst_ccl_text_reader_fail (reader, reader->at, "expected a space after the point");
  if (percent_y != *relative)
    return gst_ccl_text_reader_fail (reader, start, "pixels and %% are mixed");
  return TRUE;
}

gboolean
gst_ccl_text_reader_add_point (GstCclTextReader *reader, GArray *points, gboolean *relative)
{
  const gchar *start = reader->at;
  gboolean is_relative = FALSE;
  CclPoint point;

  if (!gst_ccl_text_reader_read_point (reader, &point, &is_relative))
    return FALSE;
  if (points->len == 0)
    *relative = is_relative;
  if (is_relative != *relative)
    return gst_ccl_text_reader_fail (reader, start, "pixels and %% are mixed");
  g_array_append_val (points, point);
  return TRUE;
}
