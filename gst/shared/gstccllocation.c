/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccllocation.h"
#include "gstccli18n.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAX_DIGITS 20 /* of a number of 64 bits */

/* Reads a %d or %0Nd behind its percent sign; the number of characters, 0 if it is none. */
static gsize
read_directive (const gchar *text, guint *n_digits)
{
  gsize n = 0;

  *n_digits = 0;
  if (text[0] == '0') {
    for (n = 1; g_ascii_isdigit (text[n]) && *n_digits <= MAX_DIGITS; n++)
      *n_digits = *n_digits * 10 + (guint)g_ascii_digit_value (text[n]);
    if (*n_digits < 1 || *n_digits > MAX_DIGITS)
      return 0;
  }
  return text[n] == 'd' ? n + 1 : 0;
}

static void
append_number (GString *name, guint64 number, guint n_digits)
{
  gchar digits[MAX_DIGITS + 1];
  const gint n = g_snprintf (digits, sizeof digits, "%" G_GUINT64_FORMAT, number);

  for (guint i = (guint)n; i < n_digits; i++)
    g_string_append_c (name, '0');
  g_string_append (name, digits);
}

gchar *
gst_ccl_location_format (const gchar *pattern, guint64 number, GError **error)
{
  GString *name = g_string_new (NULL);
  guint n_numbers = 0, n_digits;
  gsize n;

  for (const gchar *p = pattern; *p; p++) {
    if (*p != '%') {
      g_string_append_c (name, *p);
    } else if (p[1] == '%') {
      g_string_append_c (name, '%');
      p++;
    } else if ((n = read_directive (p + 1, &n_digits)) > 0) {
      append_number (name, number, n_digits);
      n_numbers++;
      p += n;
    } else {
      n_numbers = G_MAXUINT;
      break;
    }
  }
  if (n_numbers == 1)
    return g_string_free (name, FALSE);
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
      _ ("%s: a location has the number of the file once, as %%d or %%05d, and %%%% for a percent "
         "sign"),
      pattern);
  g_string_free (name, TRUE);
  return NULL;
}

gboolean
gst_ccl_location_refuse (GstElement *element, const gchar *pattern)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *name = NULL;

  if (GST_STATE (element) < GST_STATE_PAUSED)
    return FALSE;
  name = gst_ccl_location_format (pattern, 0, &error);
  if (error)
    GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
  return error != NULL;
}

gboolean
gst_ccl_location_write (int fd, gconstpointer data, gsize size, goffset position)
{
  gsize n = 0;

  while (n < size) {
    const gssize written = pwrite (fd, (const guint8 *)data + n, size - n, position + (goffset)n);

    if (written > 0)
      n += (gsize)written;
    else if (written == 0 || errno != EINTR)
      return FALSE;
  }
  return TRUE;
}
