/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where the credentials of a URI end: at the last '@' before its path. NULL if it has none.
 * `authority` is what follows "://". */
static const gchar *
end_of_credentials (const gchar *authority)
{
  gsize length = strcspn (authority, "/?# \t\n\"'<>");
  gsize token = strcspn (authority, " \t\n\"'<>");
  const gchar *colon = memchr (authority, ':', length);
  const gchar *at = memrchr (authority, '@', length);

  /* A password with a slash: the text behind the colon is no port. */
  if (!at && colon && authority[0] != '[' &&
      colon + 1 + strspn (colon + 1, "0123456789") < authority + length)
    at = memrchr (authority, '@', token);
  return at;
}

static GRegex *
secret_keys (void)
{
  static gsize regex = 0;

  if (g_once_init_enter (&regex))
    g_once_init_leave (
        &regex, (gsize)g_regex_new (
                    "((?:pass(?:word|wd)?|pwd|token|secret|signature|api[-_]?key)=)[^&\\s\"']+",
                    G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, NULL));
  return (GRegex *)regex;
}

gchar *
watch_redact (const gchar *text)
{
  GString *clean = g_string_new (NULL);
  gchar *result;

  while (*text) {
    const gchar *authority = strstr (text, "://");
    const gchar *at;

    if (!authority)
      break;
    authority += 3;
    g_string_append_len (clean, text, authority - text);
    at = end_of_credentials (authority);
    text = at ? at + 1 : authority;
  }
  g_string_append (clean, text);
  result = g_regex_replace (secret_keys (), clean->str, -1, 0, "\\1***", 0, NULL);
  if (!result) /* not UTF-8 */
    result = g_strdup ("(text that is not UTF-8)");
  g_string_free (clean, TRUE);
  return result;
}

gboolean
watch_has_secret (const gchar *text)
{
  gchar *clean = watch_redact (text);
  gboolean has = strcmp (clean, text) != 0;

  g_free (clean);
  return has;
}

/* The journal reads a priority before each line. */
static void
write_line (gint priority, const gchar *format, va_list arguments)
{
  gchar *text = g_strdup_vprintf (format, arguments);
  gchar *clean = watch_redact (text);
  gchar *line;

  g_strdelimit (clean, "\n\r", ' ');
  if (g_getenv ("JOURNAL_STREAM"))
    line = g_strdup_printf ("<%d>%s\n", priority, clean);
  else
    line = g_strdup_printf ("ccl-watch: %s\n", clean);
  /* One call, so that lines of several threads do not mix. Nothing can be done about a failure. */
  if (write (STDERR_FILENO, line, strlen (line)) < 0) {
  }
  g_free (line);
  g_free (clean);
  g_free (text);
}

void
watch_log_error (const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  write_line (3, format, arguments);
  va_end (arguments);
}

void
watch_log_warning (const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  write_line (4, format, arguments);
  va_end (arguments);
}

void
watch_log_info (const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  write_line (6, format, arguments);
  va_end (arguments);
}
