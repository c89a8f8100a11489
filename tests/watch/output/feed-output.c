/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Feeds an output of ccl-watch without cameras, so that tests can send many lines in a short time.
 *
 * usage: feed-output URI [KEY=VALUE…]
 *
 * Reads commands, one a line, and answers each with the status of the output, a JSON object:
 *   push CAMERA N BYTES    gives it N lines of BYTES each, and waits for room in the queue
 *   flood CAMERA N BYTES   the same, but drops the oldest lines when the queue is full
 *   event CAMERA KIND      gives it the line of an event
 *   status CAMERA          only answers
 * At the end of the input it waits until all lines are delivered, at most ten seconds, and answers
 * once more. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "watch/output/output.h"

#define END_TIMEOUT (10 * G_TIME_SPAN_SECOND)

static gint is_ending;

static gpointer
report (gpointer output)
{
  while (!g_atomic_int_get (&is_ending)) {
    watch_output_report (output);
    g_usleep (G_USEC_PER_SEC / 5);
  }
  return NULL;
}

static void
answer (WatchOutput *output, const gchar *camera)
{
  WatchLineCounts counts = {0};
  WatchOutputStatus status;

  watch_output_get_status (output, &status);
  watch_output_add_counts (output, camera, &counts);
  printf ("{\"connected\":%s,\"stuck\":%s,\"delivered\":%" G_GUINT64_FORMAT
          ",\"dropped\":%" G_GUINT64_FORMAT ",\"queued\":%u,\"age\":%g,"
          "\"camera_queued\":%u,\"camera_dropped\":%" G_GUINT64_FORMAT "}\n",
      status.connected ? "true" : "false", status.stuck ? "true" : "false", status.n_delivered,
      status.n_dropped, status.n_queued, status.age, counts.n_queued, counts.n_dropped);
  fflush (stdout);
  g_free (status.name);
  g_free (status.uri);
}

/* A line that begins as those of ccl-watch do, with a number. */
static void
push (WatchOutput *output, const gchar *camera, guint number, gsize length, gboolean waits)
{
  static gint never;
  GString *text = g_string_new (NULL);
  WatchLine *line;

  g_string_printf (text, "{\"source\":\"%s\",\"n\":%u,\"pad\":\"", camera, number);
  while (text->len + 3 < length)
    g_string_append_c (text, 'x');
  g_string_append (text, "\"}\n");
  line = watch_line_new (text->str, text->len, camera);
  watch_output_push (output, line, waits ? &never : NULL);
  watch_line_unref (line);
  g_string_free (text, TRUE);
}

static void
push_event (WatchOutput *output, const gchar *camera, const gchar *kind)
{
  gchar *text = g_strdup_printf ("{\"source\":\"%s\",\"event\":\"%s\"}\n", camera, kind);
  WatchLine *line = watch_line_new (text, strlen (text), camera);

  watch_output_push (output, line, NULL);
  watch_line_unref (line);
  g_free (text);
}

static void
run_command (WatchOutput *output, const gchar *text)
{
  static guint number;
  gchar command[16] = "", camera[64] = "", kind[64] = "";
  unsigned n = 0, length = 0;

  if (sscanf (text, "event %63s %63s", camera, kind) == 2)
    push_event (output, camera, kind);
  sscanf (text, "%15s %63s %u %u", command, camera, &n, &length);
  for (guint i = 0; i < n; i++)
    push (output, camera, number++, length, strcmp (command, "push") == 0);
  answer (output, camera);
}

gint
main (gint argc, gchar **argv)
{
  WatchOutputConfig *config = watch_output_config_new ("fed", argv[1]);
  GError *error = NULL;
  WatchOutput *output;
  gboolean is_finished;
  GThread *reporter;
  gchar text[256];

  signal (SIGPIPE, SIG_IGN);
  signal (SIGXFSZ, SIG_IGN);
  for (gint i = 2; i < argc; i++) {
    const gchar *equals = strchr (argv[i], '=');

    g_hash_table_insert (
        config->options, g_strndup (argv[i], equals - argv[i]), g_strdup (equals + 1));
  }
  output = watch_output_new (config, &error);
  if (!output) {
    fprintf (stderr, "feed-output: %s\n", error->message);
    g_error_free (error);
    watch_output_config_free (config);
    return 2;
  }
  reporter = g_thread_new ("report", report, output);
  while (fgets (text, sizeof text, stdin))
    run_command (output, text);
  watch_output_end (output);
  is_finished = watch_output_wait (output, g_get_monotonic_time () + END_TIMEOUT);
  answer (output, "a");
  g_atomic_int_set (&is_ending, TRUE);
  g_thread_join (reporter);
  /* A thread that is stuck may still use the output. */
  if (!is_finished)
    _exit (0);
  watch_output_unref (output);
  watch_output_config_free (config);
  return 0;
}
