/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "history-file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

#define FILE_NAME "events.ndjson"
#define WRITE_SECONDS 5
#define MAX_SIZE (64 * 1024 * 1024)
#define MODE 0640
/* The file is written anew when it has twice as many lines as events are kept, and so many more. */
#define SPARE_LINES 1000

struct _WatchHistoryFile {
  Watch *watch;
  WatchHistory *history;
  GMutex lock; /* never held while the disk works */
  GCond changed;
  GThread *thread;
  gboolean is_stopping, is_stopped, must_rewrite; /* guarded by the lock */

  /* Of the thread. */
  GHashTable *cameras; /* names of those that there were at the start */
  gchar *path;         /* NULL without a folder */
  guint64 written;     /* number of the last event in the file */
  guint n_lines;
  gboolean is_new; /* the path is another one than before */
  WatchLogLimit fail_limit;
};

/* Reading. */

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
  camera = json_object_get_string_member_with_default (object, "source", NULL);
  kind = json_object_get_string_member_with_default (object, "event", NULL);
  utc = json_object_get_string_member_with_default (object, "utc", NULL);
  rest = strchr (line, ','); /* behind the number */
  time = utc ? g_date_time_new_from_iso8601 (utc, NULL) : NULL;
  if (!camera || !kind || !time || !g_str_has_prefix (line, "{\"number\":") || !rest)
    return NULL;
  event = g_new0 (WatchPastEvent, 1);
  event->number = json_object_get_int_member_with_default (object, "number", 0);
  event->utc = g_date_time_to_unix (time) * G_USEC_PER_SEC + g_date_time_get_microsecond (time);
  event->camera = g_strdup (camera);
  event->kind = g_strdup (kind);
  event->line = g_strconcat ("{", rest + 1, NULL);
  return event;
}

/* The whole file; NULL if there is none, or it is no regular one. */
static gchar *
read_text (const gchar *path)
{
  gint fd = g_open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat status;
  gchar *text = NULL;
  gsize n = 0;
  gssize more = 1;

  if (fd >= 0 && fstat (fd, &status) == 0 && S_ISREG (status.st_mode) &&
      status.st_size <= MAX_SIZE) {
    text = g_malloc (status.st_size + 1);
    while (n < (gsize)status.st_size && more > 0) {
      more = read (fd, text + n, status.st_size - n);
      n += MAX (more, 0);
    }
    text[n] = '\0';
  }
  if (fd >= 0)
    close (fd);
  return text;
}

static void
read_events (WatchHistoryFile *file)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autofree gchar *text = file->path ? read_text (file->path) : NULL;
  g_auto (GStrv) lines = text ? g_strsplit (text, "\n", 0) : NULL;
  GPtrArray *events = g_ptr_array_new ();

  for (gchar **line = lines; line && *line; line++) {
    WatchPastEvent *event = **line ? parse_line (parser, *line) : NULL;

    file->n_lines += **line != '\0';
    if (event && g_hash_table_contains (file->cameras, event->camera))
      g_ptr_array_add (events, g_steal_pointer (&event));
    g_clear_pointer (&event, watch_past_event_free);
  }
  file->written = watch_history_add_past (file->history, events);
}

/* Writing. */

static void
report (WatchHistoryFile *file, const gchar *reason)
{
  watch_log_warning_limited (&file->fail_limit, "%s: %s", file->path, reason);
}

/* The events behind a number as lines, the oldest first. */
static GString *
format_events (WatchHistoryFile *file, guint64 after, guint *n_lines, guint64 *last)
{
  g_autoptr (GPtrArray) events =
      watch_history_get_events (file->history, NULL, NULL, after, G_MAXUINT);
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

static gboolean
append_text (WatchHistoryFile *file, const GString *text)
{
  gint fd = g_open (
      file->path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, MODE);
  gboolean is_written = fd >= 0 && write (fd, text->str, text->len) == (gssize)text->len;

  if (!is_written)
    report (file, g_strerror (errno));
  if (fd >= 0)
    close (fd);
  return is_written;
}

static gboolean
replace_text (WatchHistoryFile *file, const GString *text)
{
  g_autofree gchar *folder = g_path_get_dirname (file->path);
  g_autoptr (GError) error = NULL;

  g_mkdir_with_parents (folder, 0750);
  if (!g_file_set_contents_full (
          file->path, text->str, text->len, G_FILE_SET_CONTENTS_CONSISTENT, MODE, &error))
    report (file, error->message);
  return error == NULL;
}

/* FALSE if the file has to be written anew. */
static gboolean
write_events (WatchHistoryFile *file, gboolean anew)
{
  guint64 last = file->written;
  guint n_lines;
  GString *text = format_events (file, anew ? 0 : file->written, &n_lines, &last);
  gboolean is_written = TRUE;

  if (anew)
    is_written = replace_text (file, text);
  else if (n_lines > 0)
    is_written = append_text (file, text);
  if (is_written) {
    file->written = last;
    file->n_lines = anew ? n_lines : file->n_lines + n_lines;
  }
  g_string_free (text, TRUE);
  return is_written;
}

/* Takes the path in the present folder of the watch. */
static void
update_path (WatchHistoryFile *file)
{
  WatchFolder *folder = watch_get_folder (file->watch);
  gchar *path = folder ? g_build_filename (watch_folder_get_path (folder), FILE_NAME, NULL) : NULL;

  g_clear_pointer (&folder, watch_folder_unref);
  file->is_new = g_strcmp0 (path, file->path) != 0;
  g_free (file->path);
  file->path = path;
}

/* The thread. */

static gboolean
has_too_many_lines (WatchHistoryFile *file)
{
  return file->n_lines > 2 * watch_history_count_events (file->history) + SPARE_LINES;
}

static gpointer
run (gpointer data)
{
  WatchHistoryFile *file = data;
  gboolean is_last = FALSE;

  update_path (file);
  read_events (file);
  while (!is_last) {
    gint64 next = g_get_monotonic_time () + WRITE_SECONDS * G_TIME_SPAN_SECOND;
    gboolean anew;

    g_mutex_lock (&file->lock);
    while (!file->is_stopping && g_cond_wait_until (&file->changed, &file->lock, next)) {
    }
    is_last = file->is_stopping;
    anew = file->must_rewrite;
    file->must_rewrite = FALSE;
    g_mutex_unlock (&file->lock);
    update_path (file);
    if (file->path && !write_events (file, anew || file->is_new || has_too_many_lines (file)))
      watch_history_file_rewrite (file);
  }
  g_mutex_lock (&file->lock);
  file->is_stopped = TRUE;
  g_cond_broadcast (&file->changed);
  g_mutex_unlock (&file->lock);
  return NULL;
}

WatchHistoryFile *
watch_history_file_new (Watch *watch, WatchHistory *history)
{
  const WatchConfig *config = watch_get_config (watch);
  WatchHistoryFile *file = g_new0 (WatchHistoryFile, 1);

  file->watch = watch;
  file->history = history;
  file->cameras = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < config->cameras->len; i++) {
    const WatchCameraConfig *camera = config->cameras->pdata[i];

    g_hash_table_add (file->cameras, g_strdup (camera->name));
  }
  g_mutex_init (&file->lock);
  g_cond_init (&file->changed);
  file->thread = g_thread_new ("events", run, file);
  return file;
}

void
watch_history_file_rewrite (WatchHistoryFile *file)
{
  g_mutex_lock (&file->lock);
  file->must_rewrite = TRUE;
  g_mutex_unlock (&file->lock);
}

gboolean
watch_history_file_free (WatchHistoryFile *file, gint64 until)
{
  gboolean is_stopped;

  g_mutex_lock (&file->lock);
  file->is_stopping = TRUE;
  g_cond_broadcast (&file->changed);
  while (!file->is_stopped && g_cond_wait_until (&file->changed, &file->lock, until)) {
  }
  is_stopped = file->is_stopped;
  g_mutex_unlock (&file->lock);
  if (!is_stopped)
    return FALSE;
  g_thread_join (file->thread);
  g_mutex_clear (&file->lock);
  g_cond_clear (&file->changed);
  g_hash_table_unref (file->cameras);
  g_free (file->path);
  g_free (file);
  return TRUE;
}
