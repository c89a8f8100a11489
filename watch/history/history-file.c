/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "history.h"

#include <string.h>

#define MAX_NUMBER 1e15 /* of an event; others are damaged */

static gpointer
read_line (JsonObject *object, const gchar *line)
{
  const gchar *kind = watch_line_get_text (object, "event");
  const gchar *rest = strchr (line, ','); /* behind the number */
  const gint64 utc = watch_line_get_time (object, "utc");
  g_autofree gchar *text = rest ? g_strconcat ("{", rest + 1, NULL) : NULL;
  WatchPastEvent *event;

  if (!kind || utc == 0 || !g_str_has_prefix (line, "{\"number\":") || !rest)
    return NULL;
  event = watch_past_event_new (utc, watch_line_get_text (object, "source"), kind, text);
  event->number = (guint64)CLAMP (watch_line_get_number (object, "number"), 0, MAX_NUMBER);
  return event;
}

static gint64
take (gpointer history, GPtrArray *events)
{
  return watch_history_add_past (history, events);
}

/* The oldest event first. */
static GString *
format (gpointer history, gint64 *last, guint *n_lines)
{
  g_autoptr (GPtrArray) events =
      watch_history_get_events (history, NULL, NULL, MAX (*last, 0), G_MAXUINT);
  GString *text = g_string_new (NULL);

  *n_lines = events->len;
  for (guint i = events->len; i-- > 0;) {
    const WatchPastEvent *event = events->pdata[i];

    g_string_append_printf (
        text, "{\"number\":%" G_GUINT64_FORMAT ",%s\n", event->number, event->line + 1);
    *last = event->number;
  }
  return text;
}

static guint
count (gpointer history)
{
  return watch_history_count_events (history);
}

WatchLineFile *
watch_history_file_new (Watch *watch, WatchHistory *history)
{
  static const WatchLineFileFunctions functions = {"source", read_line, take, format, count};

  return watch_line_file_new (watch, "events.ndjson", "events", &functions, history);
}
