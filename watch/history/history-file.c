/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "history-file.h"

#include <string.h>

#include "line-file.h"

#define MAX_NUMBER 1e15 /* of an event; others are damaged */

struct _WatchHistoryFile {
  WatchHistory *history;
  WatchLineFile *file;

  /* Of the file's thread. */
  GHashTable *cameras;      /* names of those that there were at the start */
  JsonParser *parser;       /* NULL after reading */
  GPtrArray *events;        /* WatchPastEvent, of the lines that were read */
  guint64 written, waiting; /* number of the last event in the file, and in the last text */
};

/* The event of a line; NULL if the line is damaged. */
static WatchPastEvent *
parse_line (JsonParser *parser, const gchar *line)
{
  JsonObject *object;
  const gchar *camera, *kind, *utc, *rest;
  g_autoptr (GDateTime) time = NULL;
  WatchPastEvent *event;

  if (!json_parser_load_from_data (parser, line, -1, NULL) ||
      !JSON_NODE_HOLDS_OBJECT (json_parser_get_root (parser)))
    return NULL;
  object = json_node_get_object (json_parser_get_root (parser));
  camera = watch_line_get_text (object, "source");
  kind = watch_line_get_text (object, "event");
  utc = watch_line_get_text (object, "utc");
  rest = strchr (line, ','); /* behind the number */
  time = utc ? g_date_time_new_from_iso8601 (utc, NULL) : NULL;
  if (!camera || !kind || !time || !g_str_has_prefix (line, "{\"number\":") || !rest)
    return NULL;
  event = g_new0 (WatchPastEvent, 1);
  event->number = (guint64)CLAMP (watch_line_get_number (object, "number"), 0, MAX_NUMBER);
  event->utc = g_date_time_to_unix (time) * G_USEC_PER_SEC + g_date_time_get_microsecond (time);
  event->camera = g_strdup (camera);
  event->kind = g_strdup (kind);
  event->line = g_strconcat ("{", rest + 1, NULL);
  return event;
}

static void
read_line (gpointer data, const gchar *line)
{
  WatchHistoryFile *self = data;
  WatchPastEvent *event = parse_line (self->parser, line);

  if (event && g_hash_table_contains (self->cameras, event->camera))
    g_ptr_array_add (self->events, g_steal_pointer (&event));
  g_clear_pointer (&event, watch_past_event_free);
}

static void
has_read (gpointer data)
{
  WatchHistoryFile *self = data;

  self->written = watch_history_add_past (self->history, g_steal_pointer (&self->events));
  g_clear_object (&self->parser);
}

/* The oldest event first. */
static GString *
format (gpointer data, gboolean all, guint *n_lines)
{
  WatchHistoryFile *self = data;
  g_autoptr (GPtrArray) events =
      watch_history_get_events (self->history, NULL, NULL, all ? 0 : self->written, G_MAXUINT);
  GString *text = g_string_new (NULL);

  *n_lines = events->len;
  self->waiting = self->written;
  for (guint i = events->len; i-- > 0;) {
    const WatchPastEvent *event = events->pdata[i];

    g_string_append_printf (
        text, "{\"number\":%" G_GUINT64_FORMAT ",%s\n", event->number, event->line + 1);
    self->waiting = event->number;
  }
  return text;
}

static void
written (gpointer data)
{
  WatchHistoryFile *self = data;

  self->written = self->waiting;
}

static guint
count (gpointer data)
{
  return watch_history_count_events (((WatchHistoryFile *)data)->history);
}

WatchHistoryFile *
watch_history_file_new (Watch *watch, WatchHistory *history)
{
  WatchHistoryFile *self = g_new0 (WatchHistoryFile, 1);
  const WatchLineFileFunctions functions = {read_line, has_read, format, written, count, self};

  self->history = history;
  self->cameras = watch_config_get_camera_names (watch_get_config (watch));
  self->parser = json_parser_new ();
  self->events = g_ptr_array_new ();
  self->file = watch_line_file_new (watch, "events.ndjson", "events", &functions);
  return self;
}

void
watch_history_file_rewrite (WatchHistoryFile *self)
{
  watch_line_file_rewrite (self->file);
}

void
watch_history_file_stop (WatchHistoryFile *self)
{
  watch_line_file_stop (self->file);
}

gboolean
watch_history_file_free (WatchHistoryFile *self, gint64 until)
{
  if (!watch_line_file_free (self->file, until))
    return FALSE;
  g_hash_table_unref (self->cameras);
  g_free (self);
  return TRUE;
}
