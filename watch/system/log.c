/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "heartbeat.h"

#define MAX_LINES 1000 /* that wait for a reader */

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
                    "((?:pass(?:word|wd|phrase)?|pwd?|token|secret|signature|key)=)[^&\\s\"']+",
                    G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, NULL));
  return (GRegex *)regex;
}

gchar *
watch_redact (const gchar *text)
{
  g_autoptr (GString) clean = g_string_new (NULL);
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
  return result;
}

gboolean
watch_has_secret (const gchar *text)
{
  g_autofree gchar *clean = watch_redact (text);

  return strcmp (clean, text) != 0;
}

/* The lines that wait for the thread. */
static struct {
  GMutex lock; /* never held while a line is written */
  GCond changed;
  GThread *thread; /* NULL: lines are written by those who make them */
  gboolean is_stopping, is_stopped;
  GQueue lines;
  guint n_lost;
  WatchHeartbeat *heartbeat;
} waiting;

/* One call, so that lines of several threads do not mix. Nothing can be done about a failure. */
static void
write_text (const gchar *text)
{
  if (write (STDERR_FILENO, text, strlen (text)) < 0) {
  }
}

static gint has_started; /* atomic: the program runs, and does not only check its arguments */

/* The journal reads a priority before each line, and adds the time. */
static gchar *
make_line (WatchLogPriority priority, const gchar *text)
{
  g_autofree gchar *time = NULL;
  g_autoptr (GDateTime) now = NULL;

  if (g_getenv ("JOURNAL_STREAM"))
    return g_strdup_printf ("<%d>%s\n", priority, text);
  if (!g_atomic_int_get (&has_started))
    return g_strdup_printf ("ccl-watch: %s\n", text);
  now = g_date_time_new_now_utc ();
  time = g_date_time_format (now, "%Y-%m-%dT%H:%M:%SZ");
  return g_strdup_printf ("%s ccl-watch: %s\n", time, text);
}

/* Tells how many lines are missing, if there are any. Called with the lock held. */
static void
push_lost_line (void)
{
  g_autofree gchar *text = NULL;

  if (waiting.n_lost == 0 || waiting.lines.length >= MAX_LINES)
    return;
  text = g_strdup_printf ("%u messages are missing here, because nobody read them", waiting.n_lost);
  g_queue_push_tail (&waiting.lines, make_line (WATCH_LOG_WARNING, text));
  waiting.n_lost = 0;
}

static gpointer
run (gpointer data)
{
  g_mutex_lock (&waiting.lock);
  while (!waiting.is_stopping || waiting.lines.length > 0) {
    gchar *line = g_queue_pop_head (&waiting.lines);

    push_lost_line ();
    if (line) {
      g_mutex_unlock (&waiting.lock);
      watch_heartbeat_beat (waiting.heartbeat);
      write_text (line);
      watch_heartbeat_rest (waiting.heartbeat);
      g_free (line);
      g_mutex_lock (&waiting.lock);
    } else {
      g_cond_wait (&waiting.changed, &waiting.lock);
    }
  }
  waiting.is_stopped = TRUE;
  g_cond_broadcast (&waiting.changed);
  g_mutex_unlock (&waiting.lock);
  return NULL;
}

void
watch_log_start (void)
{
  g_atomic_int_set (&has_started, TRUE);
  g_mutex_lock (&waiting.lock);
  waiting.heartbeat = watch_heartbeat_new ("log");
  waiting.thread = g_thread_new ("log", run, NULL);
  g_mutex_unlock (&waiting.lock);
}

gboolean
watch_log_stop (gint64 until)
{
  GThread *thread = NULL;

  g_mutex_lock (&waiting.lock);
  waiting.is_stopping = TRUE;
  g_cond_broadcast (&waiting.changed);
  while (!waiting.is_stopped && g_cond_wait_until (&waiting.changed, &waiting.lock, until)) {
  }
  if (waiting.is_stopped)
    thread = g_steal_pointer (&waiting.thread);
  g_mutex_unlock (&waiting.lock);
  if (!thread)
    return FALSE;
  g_thread_join (thread);
  g_clear_pointer (&waiting.heartbeat, watch_heartbeat_free);
  return TRUE;
}

/* Takes the line. */
static void
push_line (gchar *line)
{
  gboolean has_thread;

  g_mutex_lock (&waiting.lock);
  has_thread = waiting.thread && !waiting.is_stopped;
  if (has_thread && waiting.lines.length < MAX_LINES)
    g_queue_push_tail (&waiting.lines, g_steal_pointer (&line));
  else if (has_thread)
    waiting.n_lost++;
  g_cond_broadcast (&waiting.changed);
  g_mutex_unlock (&waiting.lock);
  if (!has_thread)
    write_text (line);
  g_free (line);
}

void
watch_log (WatchLogPriority priority, const gchar *format, ...)
{
  va_list arguments;
  g_autofree gchar *text = NULL, *clean = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  clean = watch_redact (text);
  g_strdelimit (clean, "\n\r", ' ');
  push_line (make_line (priority, clean));
}

static GMutex limit_lock; /* of all limits */

/* The text of a warning; NULL if the limit leaves it out. */
static gchar *
take_message (WatchLogLimit *limit, const gchar *format, va_list arguments)
{
  gint64 now = g_get_monotonic_time ();
  gchar *text = NULL;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&limit_lock);

  if (now < limit->next_time) {
    limit->n_left_out++;
  } else {
    text = g_strdup_vprintf (format, arguments);
    if (limit->n_left_out > 0) {
      gchar *longer = g_strdup_printf (
          "%s (and %u times since the last such message)", text, limit->n_left_out);

      g_free (text);
      text = longer;
    }
    limit->next_time = now + WATCH_LOG_LIMIT_SECONDS * G_TIME_SPAN_SECOND;
    limit->n_left_out = 0;
  }
  return text;
}

void
watch_log_reset_limit (WatchLogLimit *limit)
{
  g_mutex_lock (&limit_lock);
  *limit = (WatchLogLimit){0};
  g_mutex_unlock (&limit_lock);
}

void
watch_log_warning_limited (WatchLogLimit *limit, const gchar *format, ...)
{
  va_list arguments;
  g_autofree gchar *text = NULL;

  va_start (arguments, format);
  text = take_message (limit, format, arguments);
  va_end (arguments);
  if (text)
    watch_log_warning ("%s", text);
}
