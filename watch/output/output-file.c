/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines appended to a file, or written to the standard output. Each line is one write(), so a
 * program that is killed leaves whole lines. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "watch/system/lock.h"
#include "watch/system/log.h"
#include "output.h"

#define SYNC_INTERVAL G_TIME_SPAN_SECOND
#define RENAME_RETRY_MIN G_TIME_SPAN_SECOND
#define RENAME_RETRY_MAX (10 * G_TIME_SPAN_MINUTE)
#define LINE_BEGIN "{\"source\":\"" /* of all lines */
#define MAX_PARTIAL (64 << 20)      /* bytes of an incomplete line that are looked at */
#define OLD_FILE_PATTERN "^\\d{8}T\\d{6}\\.\\d{6}$"

typedef struct {
  WatchOutput *output;
  gchar *path; /* NULL: the standard output */
  gint fd;
  gboolean is_regular;
  guint64 size;                     /* of the file, bytes */
  gint64 begin;                     /* when the file was begun, microseconds since 1970 */
  guint64 rotate_size;              /* 0: never */
  gdouble rotate_age;               /* seconds; 0: never */
  guint64 keep;                     /* old files; 0: all */
  gint64 rename_time, rename_delay; /* after a failed rotation: when the next one is tried,
                                       monotonic, and the pause after it */
  gboolean unsynced;
  gint64 sync_time; /* monotonic */
} FileOutput;

static gboolean
read_rotation (FileOutput *self, GError **error)
{
  const gchar *size = watch_output_option (self->output, "rotate-size");
  const gchar *age = watch_output_option (self->output, "rotate-age");
  const gchar *keep = watch_output_option (self->output, "rotate-keep");

  if ((size || age || keep) && !self->path)
    return watch_fail (error, "the standard output does not rotate");
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
  self->rename_delay = RENAME_RETRY_MIN;
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

/* The beginning and the end of the file. */

/* Where the last line begins: behind the last newline. -1 if it cannot be read or is very long. */
static off_t
find_last_line (const FileOutput *self)
{
  gchar buffer[4096];
  off_t end = self->size;

  while (end > 0 && self->size - end < MAX_PARTIAL) {
    const gsize n = MIN ((gsize)end, sizeof buffer);
    const gchar *newline;

    if (pread (self->fd, buffer, n, end - n) != (gssize)n)
      return -1;
    end -= n;
    newline = memrchr (buffer, '\n', n);
    if (newline)
      return end + (newline + 1 - buffer);
  }
  return end == 0 ? 0 : -1;
}

/* Whether the text is the beginning of a line of ccl-watch, but no whole one. */
static gboolean
is_own_partial_line (const gchar *text, gsize length)
{
  g_autoptr (JsonParser) parser = json_parser_new ();

  return strncmp (text, LINE_BEGIN, MIN (length, strlen (LINE_BEGIN))) == 0 &&
         !json_parser_load_from_data (parser, text, length, NULL);
}

/* A machine that lost its power may leave a part of a line at the end of the file. It is removed;
 * text of others stays. */
static gboolean
mend_last_line (FileOutput *self, GError **error)
{
  const off_t begin = find_last_line (self);
  const gsize length = begin < 0 ? 0 : self->size - begin;
  g_autofree gchar *text = g_malloc (length + 1);
  gboolean is_mended = TRUE;

  if (begin < 0 || pread (self->fd, text, length, begin) != (gssize)length) {
    is_mended = write (self->fd, "\n", 1) == 1;
  } else if (length > 0 && is_own_partial_line (text, length)) {
    watch_log_warning (
        "%s: %" G_GSIZE_FORMAT " bytes of an incomplete line were removed", self->path, length);
    self->size = begin;
    is_mended = ftruncate (self->fd, begin) == 0;
  } else if (length > 0) {
    is_mended = write (self->fd, "\n", 1) == 1;
  }
  return is_mended || fail (error, self->path);
}

/* The time of the first line, microseconds since 1970; now if it has none. */
static gint64
time_of_first_line (const FileOutput *self)
{
  static const gchar key[] = "\"utc\":\"";
  gchar buffer[1024];
  const gssize n = pread (self->fd, buffer, sizeof buffer - 1, 0);
  gchar *time = NULL, *end = NULL;
  const gint64 now = g_get_real_time ();
  gint64 utc = now;

  buffer[MAX (n, 0)] = 0;
  time = strstr (buffer, key);
  if (time && (end = strchr (time += strlen (key), '"'))) {
    *end = 0;
    watch_parse_time (time, &utc);
  }
  return MIN (now, utc);
}

/* Not all file systems know when a file was made. */
static gint64
time_of_file (const FileOutput *self)
{
  struct statx status;

  if (self->size == 0)
    return g_get_real_time ();
  if (statx (self->fd, "", AT_EMPTY_PATH, STATX_BTIME, &status) == 0 &&
      status.stx_mask & STATX_BTIME)
    return status.stx_btime.tv_sec * G_USEC_PER_SEC + status.stx_btime.tv_nsec / 1000;
  return time_of_first_line (self);
}

/* The connection. */

/* One writer alone may have the file, because each of two would rotate away the file that the other
 * one has open. On a file system without locks, nothing is checked. */
static gboolean
take_lock (const FileOutput *self, GError **error)
{
  if (watch_lock_descriptor (self->fd) || errno != EWOULDBLOCK)
    return TRUE;
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
      "%s: another output or another ccl-watch writes to it", self->path);
  return FALSE;
}

static gboolean
file_open (gpointer data, GError **error)
{
  FileOutput *self = data;
  struct stat status;

  if (!self->path) {
    self->fd = STDOUT_FILENO;
    return TRUE;
  }
  self->fd = g_open (self->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (self->fd < 0)
    return fail (error, self->path);
  self->is_regular = fstat (self->fd, &status) == 0 && S_ISREG (status.st_mode);
  self->size = self->is_regular ? status.st_size : 0;
  if (self->is_regular && !(take_lock (self, error) && mend_last_line (self, error))) {
    close (self->fd);
    self->fd = -1;
    return FALSE;
  }
  self->begin = time_of_file (self);
  return TRUE;
}

static gboolean
file_sync (FileOutput *self, GError **error)
{
  const gboolean is_needed = self->unsynced && self->is_regular;

  self->unsynced = FALSE;
  self->sync_time = g_get_monotonic_time ();
  return !is_needed || fdatasync (self->fd) == 0 || fail (error, self->path);
}

static void
file_close (gpointer data)
{
  FileOutput *self = data;
  g_autoptr (GError) error = NULL;

  if (!file_sync (self, &error))
    watch_log_warning ("%s", error->message);
  if (self->path && self->fd >= 0)
    close (self->fd);
  self->fd = -1;
}

/* Rotation. */

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *)a, *(const gchar *const *)b);
}

/* Old files have the time of their rotation behind the name, so the order of names is that of age.
 * Files with other endings, such as ".1" and ".1.gz" of logrotate, belong to others. */
static void
remove_old_files (FileOutput *self)
{
  g_autofree gchar *folder = g_path_get_dirname (self->path);
  g_autofree gchar *base = g_path_get_basename (self->path);
  g_autofree gchar *prefix = g_strconcat (base, ".", NULL);
  g_autoptr (GPtrArray) old = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir)))
    if (g_str_has_prefix (name, prefix) &&
        g_regex_match_simple (OLD_FILE_PATTERN, name + strlen (prefix), G_REGEX_DOLLAR_ENDONLY, 0))
      g_ptr_array_add (old, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (old, compare_names);
  for (guint i = 0; i + self->keep < old->len; i++)
    g_unlink (g_ptr_array_index (old, i));
}

static gboolean
rename_file (FileOutput *self)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree gchar *time = g_date_time_format (now, "%Y%m%dT%H%M%S.%f");
  g_autofree gchar *old = g_strdup_printf ("%s.%s", self->path, time);
  const gboolean is_renamed = g_rename (self->path, old) == 0;

  if (!is_renamed) {
    watch_log_warning (
        "%s cannot be renamed: %s; it grows until it can", self->path, g_strerror (errno));
    self->rename_time = g_get_monotonic_time () + self->rename_delay;
    self->rename_delay = MIN (2 * self->rename_delay, RENAME_RETRY_MAX);
  }
  return is_renamed;
}

/* FALSE if there is no file any more. */
static gboolean
rotate (FileOutput *self, GError **error)
{
  if (!rename_file (self))
    return TRUE;
  self->rename_delay = RENAME_RETRY_MIN;
  file_close (self);
  if (self->keep > 0)
    remove_old_files (self);
  return file_open (self, error);
}

static gboolean
must_rotate (const FileOutput *self, gsize length)
{
  if (!self->is_regular || self->size == 0 || g_get_monotonic_time () < self->rename_time)
    return FALSE;
  return (self->rotate_size > 0 && self->size + length > self->rotate_size) ||
         (self->rotate_age > 0 &&
             g_get_real_time () - self->begin >= self->rotate_age * G_USEC_PER_SEC);
}

/* Writing. */

/* Removes the part of a line that a full disk took, before a reader sees it. It stays if another
 * program has appended to the file since. */
static void
remove_written_part (FileOutput *self, gsize length)
{
  const off_t end = lseek (self->fd, 0, SEEK_CUR);
  struct stat status;

  if (length > 0 && (fstat (self->fd, &status) != 0 || status.st_size != end ||
                        ftruncate (self->fd, end - length) != 0))
    watch_log_warning ("%s has an incomplete line", self->path);
}

static gboolean
write_line (FileOutput *self, const WatchLine *line, GError **error)
{
  gsize done = 0;

  while (done < line->length) {
    const gssize n = write (self->fd, line->text + done, line->length - done);

    if (n >= 0) {
      done += n;
    } else if (errno == EAGAIN) { /* a pipe that another program has made non-blocking */
      struct pollfd file = {.fd = self->fd, .events = POLLOUT};
      poll (&file, 1, -1);
    } else if (errno != EINTR) {
      fail (error, self->path ? self->path : "standard output");
      if (self->is_regular)
        remove_written_part (self, done);
      return FALSE;
    }
  }
  return TRUE;
}

static WatchSend
file_send (gpointer data, const WatchLine *line, GError **error)
{
  FileOutput *self = data;

  if (must_rotate (self, line->length) && !rotate (self, error))
    return WATCH_SEND_FAILED;
  if (!write_line (self, line, error))
    return self->path ? WATCH_SEND_FAILED : WATCH_SEND_CLOSED;
  if (self->is_regular)
    self->size = lseek (self->fd, 0, SEEK_CUR); /* others may append, too */
  self->unsynced = TRUE;
  return WATCH_SEND_DELIVERED;
}

static gboolean
file_poll (gpointer data, GError **error)
{
  FileOutput *self = data;

  return g_get_monotonic_time () < self->sync_time + SYNC_INTERVAL || file_sync (self, error);
}

/* A program such as logrotate renamed the file. */
static gboolean
file_reopen (gpointer data, GError **error)
{
  FileOutput *self = data;

  if (!self->path)
    return TRUE;
  file_close (self);
  return file_open (self, error);
}

const WatchOutputClass watch_output_file = {
    .new = file_new,
    .free = file_free,
    .open = file_open,
    .close = file_close,
    .send = file_send,
    .poll = file_poll,
    .reopen = file_reopen,
};
