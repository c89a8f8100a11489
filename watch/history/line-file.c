/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "line-file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "watch/system/log.h"

#define WRITE_SECONDS 5
#define MAX_LINE 65536 /* bytes; longer lines are damaged */
#define MODE 0640
/* The file is written anew when it has twice as many lines as it needs, and so many more. */
#define SPARE_LINES 1000

struct _WatchLineFile {
  Watch *watch;
  const gchar *name;
  const WatchLineFileFunctions *functions;
  gpointer data;       /* for them */
  GHashTable *cameras; /* names of those that there were at the start */
  GMutex lock;         /* never held while the disk works */
  GCond changed;
  GThread *thread;
  gboolean is_stopping, is_stopped, must_rewrite; /* guarded by the lock */

  /* Of the thread. */
  gchar *path; /* NULL without a folder */
  guint n_lines;
  gint64 last;     /* the greatest number of what is in the file */
  gboolean is_new; /* the path is another one than before */
  WatchLogLimit fail_limit;
};

/* Reading. */

/* NULL if there is no such file, or it is no regular one. */
static FILE *
open_regular (const gchar *path)
{
  gint fd = g_open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat status;
  FILE *stream = NULL;

  if (fd >= 0 && fstat (fd, &status) == 0 && S_ISREG (status.st_mode))
    stream = fdopen (fd, "r");
  if (fd >= 0 && !stream)
    close (fd);
  return stream;
}

static void
read_line (WatchLineFile *file, JsonParser *parser, const gchar *line, GPtrArray *all)
{
  JsonNode *root =
      json_parser_load_from_data (parser, line, -1, NULL) ? json_parser_get_root (parser) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const gchar *camera = object ? watch_line_get_text (object, file->functions->camera) : NULL;
  gpointer read = NULL;

  if (camera && g_hash_table_contains (file->cameras, camera))
    read = file->functions->read (object, line);
  if (read)
    g_ptr_array_add (all, read);
}

/* A crash may have left a part of a line at the end, to which no other line must be added. */
static void
read_lines (WatchLineFile *file)
{
  FILE *stream = file->path ? open_regular (file->path) : NULL;
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autofree gchar *line = g_malloc (MAX_LINE);
  GPtrArray *all = g_ptr_array_new ();
  gboolean is_whole = TRUE;

  while (stream && fgets (line, MAX_LINE, stream)) {
    const gsize length = strlen (line);
    const gboolean begins = is_whole;

    is_whole = length > 0 && line[length - 1] == '\n';
    if (is_whole)
      line[length - 1] = '\0';
    file->n_lines += begins;
    if (begins && is_whole && length > 1)
      read_line (file, parser, line, all);
  }
  if (stream)
    fclose (stream);
  file->last = file->functions->take (file->data, all);
  if (!is_whole)
    watch_line_file_rewrite (file);
}

/* Writing. */

static void
report (WatchLineFile *file, const gchar *reason)
{
  watch_log_warning_limited (&file->fail_limit, "%s: %s", file->path, reason);
}

static gboolean
append_text (WatchLineFile *file, const GString *text)
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
replace_text (WatchLineFile *file, const GString *text)
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
write_lines (WatchLineFile *file, gboolean anew)
{
  gint64 last = anew ? -1 : file->last;
  guint n_lines;
  g_autoptr (GString) text = file->functions->format (file->data, &last, &n_lines);
  gboolean is_written = TRUE;

  if (anew)
    is_written = replace_text (file, text);
  else if (n_lines > 0)
    is_written = append_text (file, text);
  if (is_written) {
    file->last = last;
    file->n_lines = anew ? n_lines : file->n_lines + n_lines;
  }
  return is_written;
}

/* Takes the path in the present folder of the watch. */
static void
update_path (WatchLineFile *file)
{
  g_autoptr (WatchFolder) folder = watch_get_folder (file->watch);
  const gboolean is_own = folder && watch_folder_is_own (folder);
  gchar *path = is_own ? g_build_filename (watch_folder_get_path (folder), file->name, NULL) : NULL;

  file->is_new = g_strcmp0 (path, file->path) != 0;
  g_free (file->path);
  file->path = path;
}

/* The thread. */

static gboolean
has_too_many_lines (WatchLineFile *file)
{
  return file->n_lines > 2 * file->functions->count (file->data) + SPARE_LINES;
}

static gpointer
run (gpointer data)
{
  WatchLineFile *file = data;
  gboolean is_last = FALSE;

  update_path (file);
  read_lines (file);
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
    if (file->path && !write_lines (file, anew || file->is_new || has_too_many_lines (file)))
      watch_line_file_rewrite (file);
  }
  g_mutex_lock (&file->lock);
  file->is_stopped = TRUE;
  g_cond_broadcast (&file->changed);
  g_mutex_unlock (&file->lock);
  return NULL;
}

WatchLineFile *
watch_line_file_new (Watch *watch, const gchar *name, const gchar *thread_name,
    const WatchLineFileFunctions *functions, gpointer data)
{
  WatchLineFile *file = g_new0 (WatchLineFile, 1);

  file->watch = watch;
  file->name = name;
  file->functions = functions;
  file->data = data;
  file->cameras = watch_config_get_camera_names (watch_get_config (watch));
  g_mutex_init (&file->lock);
  g_cond_init (&file->changed);
  file->thread = g_thread_new (thread_name, run, file);
  return file;
}

void
watch_line_file_rewrite (WatchLineFile *file)
{
  g_mutex_lock (&file->lock);
  file->must_rewrite = TRUE;
  g_mutex_unlock (&file->lock);
}

void
watch_line_file_stop (WatchLineFile *file)
{
  g_mutex_lock (&file->lock);
  file->is_stopping = TRUE;
  g_cond_broadcast (&file->changed);
  g_mutex_unlock (&file->lock);
}

gboolean
watch_line_file_free (WatchLineFile *file, gint64 until)
{
  gboolean is_stopped;

  watch_line_file_stop (file);
  g_mutex_lock (&file->lock);
  while (!file->is_stopped && g_cond_wait_until (&file->changed, &file->lock, until)) {
  }
  is_stopped = file->is_stopped;
  g_mutex_unlock (&file->lock);
  if (!is_stopped) {
    watch_log_warning ("%s: the last lines could not be written in time", file->name);
    return FALSE;
  }
  g_thread_join (file->thread);
  g_mutex_clear (&file->lock);
  g_cond_clear (&file->changed);
  g_hash_table_unref (file->cameras);
  g_free (file->path);
  g_free (file);
  return TRUE;
}

static JsonNode *
find_value (JsonObject *object, const gchar *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node && JSON_NODE_HOLDS_VALUE (node) ? node : NULL;
}

const gchar *
watch_line_get_text (JsonObject *object, const gchar *name)
{
  JsonNode *node = find_value (object, name);

  return node ? json_node_get_string (node) : NULL;
}

gdouble
watch_line_get_number (JsonObject *object, const gchar *name)
{
  JsonNode *node = find_value (object, name);

  return node ? json_node_get_double (node) : 0;
}

gint64
watch_line_get_time (JsonObject *object, const gchar *name)
{
  const gchar *text = watch_line_get_text (object, name);
  gint64 utc;

  return text && watch_parse_time (text, &utc) ? utc : 0;
}
