/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines appended to a file, or written to the standard output. Each line is one write(), so a
 * program that is killed leaves whole lines. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "output.h"

typedef struct {
  WatchOutput *output;
  gchar *path; /* NULL: the standard output */
  gint fd;
  guint64 size;        /* of the file, bytes */
  gint64 begin;        /* when the file was begun, microseconds since 1970 */
  guint64 rotate_size; /* 0: never */
  gdouble rotate_age;  /* seconds; 0: never */
  guint64 keep;        /* old files; 0: all */
  gboolean unsynced;
  gint64 sync_time; /* monotonic */
} FileOutput;

#define SYNC_INTERVAL G_TIME_SPAN_SECOND

static gboolean
read_rotation (FileOutput *self, GError **error)
{
  const gchar *size = watch_output_option (self->output, "rotate-size");
  const gchar *age = watch_output_option (self->output, "rotate-age");
  const gchar *keep = watch_output_option (self->output, "rotate-keep");

  if ((size || age || keep) && !self->path) {
    g_set_error (error, WATCH_CONFIG_ERROR, 0, "the standard output does not rotate");
    return FALSE;
  }
  return (!size || watch_parse_size (size, &self->rotate_size, error)) &&
         (!age || watch_parse_duration (age, &self->rotate_age, error)) &&
         (!keep || g_ascii_string_to_unsigned (keep, 10, 1, 1000000, &self->keep, error));
}

static void
file_free (gpointer data)
{
  FileOutput *self = data;

  if (self->path && self->fd >= 0)
    close (self->fd);
  g_free (self->path);
  g_free (self);
}

static gpointer
file_new (WatchOutput *output, const WatchOutputConfig *config, GError **error)
{
  FileOutput *self = g_new0 (FileOutput, 1);
  gboolean is_valid = TRUE;

  self->output = output;
  self->fd = -1;
  if (g_str_has_prefix (config->uri, "file://"))
    is_valid = (self->path = g_filename_from_uri (config->uri, NULL, error)) != NULL;
  else if (strcmp (config->uri, "-") != 0)
    self->path = g_strdup (config->uri);
  if (!is_valid || !read_rotation (self, error)) {
    file_free (self);
    return NULL;
  }
  return self;
}

static gboolean
fail (GError **error, const gchar *what)
{
  g_set_error (
      error, G_FILE_ERROR, g_file_error_from_errno (errno), "%s: %s", what, g_strerror (errno));
  return FALSE;
}

/* A machine that lost its power may leave half a line at the end of the file. */
static gboolean
remove_partial_line (FileOutput *self)
{
  gchar buffer[4096];
  off_t end = self->size;

  while (end > 0) {
    gsize n = MIN ((gsize)end, sizeof buffer);
    gchar *newline;

    if (pread (self->fd, buffer, n, end - n) != (gssize)n)
      return FALSE;
    newline = memrchr (buffer, '\n', n);
    end -= n;
    if (newline) {
      end += newline + 1 - buffer;
      break;
    }
  }
  if ((guint64)end == self->size)
    return TRUE;
  watch_log_warning ("%s: %" G_GUINT64_FORMAT " bytes of an incomplete line were removed",
      self->path, self->size - end);
  self->size = end;
  return ftruncate (self->fd, end) == 0;
}

static gboolean
file_open (gpointer data, GError **error)
{
  FileOutput *self = data;
  struct stat status;

  if (!self->path) {
    self->fd = STDOUT_FILENO;
    watch_output_set_connected (self->output, TRUE);
    return TRUE;
  }
  self->fd = g_open (self->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (self->fd < 0)
    return fail (error, self->path);
  if (fstat (self->fd, &status) != 0 ||
      (self->size = status.st_size, S_ISREG (status.st_mode) && !remove_partial_line (self))) {
    fail (error, self->path);
    close (self->fd);
    self->fd = -1;
    return FALSE;
  }
  self->begin = self->size > 0 ? status.st_ctim.tv_sec * G_USEC_PER_SEC : g_get_real_time ();
  watch_output_set_connected (self->output, TRUE);
  return TRUE;
}

static void
file_sync (FileOutput *self)
{
  if (self->path && self->unsynced && self->fd >= 0)
    fdatasync (self->fd);
  self->unsynced = FALSE;
  self->sync_time = g_get_monotonic_time ();
}

static void
file_close (gpointer data)
{
  FileOutput *self = data;

  file_sync (self);
  if (self->path && self->fd >= 0)
    close (self->fd);
  self->fd = -1;
  watch_output_set_connected (self->output, FALSE);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *)a, *(const gchar *const *)b);
}

/* Old files have the time of their rotation behind the name, so the order of names is that of age.
 */
static void
remove_old_files (FileOutput *self)
{
  gchar *folder = g_path_get_dirname (self->path);
  gchar *base = g_path_get_basename (self->path);
  gchar *prefix = g_strconcat (base, ".", NULL);
  GPtrArray *old = g_ptr_array_new_with_free_func (g_free);
  GDir *dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir)))
    if (g_str_has_prefix (name, prefix) && g_ascii_isdigit (name[strlen (prefix)]))
      g_ptr_array_add (old, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (old, compare_names);
  for (guint i = 0; i + self->keep < old->len; i++)
    g_unlink (g_ptr_array_index (old, i));
  g_clear_pointer (&dir, g_dir_close);
  g_ptr_array_unref (old);
  g_free (prefix);
  g_free (base);
  g_free (folder);
}

static gboolean
rotate (FileOutput *self, GError **error)
{
  GDateTime *now = g_date_time_new_now_utc ();
  gchar *time = g_date_time_format (now, "%Y%m%dT%H%M%S.%f");
  gchar *old = g_strdup_printf ("%s.%s", self->path, time);

  if (g_rename (self->path, old) != 0)
    watch_log_warning ("%s cannot be renamed: %s", self->path, g_strerror (errno));
  g_free (old);
  g_free (time);
  g_date_time_unref (now);
  file_close (self);
  if (self->keep > 0)
    remove_old_files (self);
  return file_open (self, error);
}

static gboolean
must_rotate (const FileOutput *self, gsize length)
{
  if (!self->path || self->size == 0)
    return FALSE;
  return (self->rotate_size > 0 && self->size + length > self->rotate_size) ||
         (self->rotate_age > 0 &&
             g_get_real_time () - self->begin >= self->rotate_age * G_USEC_PER_SEC);
}

static WatchSend
file_send (gpointer data, const WatchLine *line, GError **error)
{
  FileOutput *self = data;
  gsize done = 0;

  if (must_rotate (self, line->length) && !rotate (self, error))
    return WATCH_SEND_FAILED;
  while (done < line->length) {
    gssize n = write (self->fd, line->text + done, line->length - done);

    if (n >= 0) {
      done += n;
    } else if (errno != EINTR) {
      fail (error, self->path ? self->path : "standard output");
      if (!self->path)
        return WATCH_SEND_CLOSED;
      /* A full disk took a part of the line: no reader shall see it. */
      if (done > 0 && ftruncate (self->fd, self->size) != 0)
        watch_log_warning ("%s has an incomplete line", self->path);
      return WATCH_SEND_FAILED;
    }
  }
  self->size += line->length;
  self->unsynced = TRUE;
  return WATCH_SEND_DELIVERED;
}

static void
file_poll (gpointer data)
{
  FileOutput *self = data;

  if (g_get_monotonic_time () >= self->sync_time + SYNC_INTERVAL)
    file_sync (self);
}

static gboolean
file_flush (gpointer data)
{
  file_sync (data);
  return TRUE;
}

/* A program such as logrotate renamed the file. */
static void
file_reopen (gpointer data)
{
  FileOutput *self = data;
  GError *error = NULL;

  if (!self->path || self->fd < 0)
    return;
  file_close (self);
  if (!file_open (self, &error))
    watch_log_warning ("%s", error->message);
  g_clear_error (&error);
}

const WatchOutputClass watch_output_file = {
    .new = file_new,
    .free = file_free,
    .open = file_open,
    .close = file_close,
    .send = file_send,
    .poll = file_poll,
    .flush = file_flush,
    .reopen = file_reopen,
};
