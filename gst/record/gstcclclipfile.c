/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclclipfile.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "shared/gstccllocation.h"

#define RECORD_MESSAGE "ccl-record"
#define FILE_MODE 0666 /* before the umask */

struct _GstCclClipFiles {
  GstElement *element;
  gint has_failed; /* atomic: there was an error */
  gint is_posted;  /* atomic: its message was posted */

  GMutex lock;
  GCond changed;
  guint64 number;  /* of the next name that is tried; only the file whose turn it is uses it */
  guint64 n_files; /* files that were asked for */
  guint64 turn;    /* whose turn it is: ClipFile.turn of the file that may be created now */
  guint n_open;
  gboolean is_cancelled;
};

typedef struct {
  GstCclClipFiles *files;
  gchar *location; /* pattern of its path */
  gchar *path;     /* NULL before the first write */
  int fd;          /* -1: it has not been created */
  guint64 turn;
  gboolean had_turn;
  gint has_failed; /* atomic */
  goffset size, mark;
  GstClockTimeDiff running_time;
} ClipFile;

/* TRUE for the first error only, which is posted. */
static gboolean
is_first_error (GstCclClipFiles *self)
{
  return g_atomic_int_compare_and_exchange (&self->has_failed, FALSE, TRUE);
}

/* Posts the first error of the system. */
static void
fail (GstCclClipFiles *self, const gchar *path, int number)
{
  if (!is_first_error (self))
    return;
  if (number == ENOSPC || number == EDQUOT)
    GST_ELEMENT_ERROR (
        self->element, RESOURCE, NO_SPACE_LEFT, ("%s: %s", path, g_strerror (number)), (NULL));
  else
    GST_ELEMENT_ERROR (
        self->element, RESOURCE, OPEN_WRITE, ("%s: %s", path, g_strerror (number)), (NULL));
  g_atomic_int_set (&self->is_posted, TRUE);
}

/* The next name, with the number that comes after it; NULL after an error. */
static gchar *
next_path (GstCclClipFiles *self, const gchar *location)
{
  g_autoptr (GError) error = NULL;
  gchar *path;

  path = gst_ccl_location_format (location, self->number, &error);
  self->number += self->number < G_MAXUINT64;
  if (path)
    return path;
  if (is_first_error (self))
    GST_ELEMENT_ERROR (self->element, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
  g_atomic_int_set (&self->is_posted, TRUE);
  return NULL;
}

/* A file that exists is never written to: the program may have been started again. */
static void
create_file (ClipFile *file)
{
  do {
    g_free (file->path);
    file->path = next_path (file->files, file->location);
    if (!file->path)
      return;
    file->fd = g_open (file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
  } while (file->fd < 0 && errno == EEXIST);
  if (file->fd < 0)
    fail (file->files, file->path, errno);
}

/* Files are created, or found not to be needed, in the order of their clips. */
static void
take_turn (ClipFile *file, gboolean is_needed)
{
  GstCclClipFiles *self = file->files;

  if (file->had_turn)
    return;
  g_mutex_lock (&self->lock);
  while (self->turn != file->turn)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
  if (is_needed)
    create_file (file);
  file->had_turn = TRUE;
  g_mutex_lock (&self->lock);
  self->turn++;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

gpointer
gst_ccl_clip_files_new_file (
    GstCclClipFiles *self, const gchar *location, GstClockTimeDiff running_time)
{
  ClipFile *file = g_new0 (ClipFile, 1);

  file->files = self;
  file->location = g_strdup (location);
  file->fd = -1;
  file->running_time = running_time;
  g_mutex_lock (&self->lock);
  file->turn = self->n_files++;
  self->n_open++;
  g_mutex_unlock (&self->lock);
  return file;
}

static gboolean
write_file (gpointer data, goffset position, GstBuffer *buffer)
{
  ClipFile *file = data;
  gboolean is_written = FALSE;
  GstMapInfo map;

  take_turn (file, TRUE);
  errno = EIO;
  if (file->fd >= 0 && !g_atomic_int_get (&file->has_failed) &&
      gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    is_written = gst_ccl_location_write (file->fd, map.data, map.size, position);
    if (!is_written)
      fail (file->files, file->path, errno);
    file->size = MAX (file->size, position + (goffset)map.size);
    gst_buffer_unmap (buffer, &map);
  }
  gst_buffer_unref (buffer);
  if (!is_written)
    g_atomic_int_set (&file->has_failed, TRUE);
  return is_written;
}

static void
mark_file (gpointer data)
{
  ClipFile *file = data;

  if (!g_atomic_int_get (&file->has_failed))
    file->mark = file->size;
}

static void
fail_file (gpointer data, const gchar *reason)
{
  ClipFile *file = data;

  g_atomic_int_set (&file->has_failed, TRUE);
  if (!is_first_error (file->files))
    return;
  GST_ELEMENT_ERROR (file->files->element, STREAM, MUX,
      ("%s: %s", file->path ? file->path : file->location, reason), (NULL));
  g_atomic_int_set (&file->files->is_posted, TRUE);
}

static void
post_end (const ClipFile *file, gboolean is_complete)
{
  gst_element_post_message (file->files->element,
      gst_message_new_element (GST_OBJECT_CAST (file->files->element),
          gst_structure_new (RECORD_MESSAGE, "location", G_TYPE_STRING, file->path, "running-time",
              G_TYPE_INT64, file->running_time, "complete", G_TYPE_BOOLEAN, is_complete, NULL)));
}

/* An incomplete file is kept as far as it can be played, and deleted if nothing can. */
static void
close_file (ClipFile *file, gboolean is_complete)
{
  if (!is_complete && file->mark > 0 && ftruncate (file->fd, file->mark) != 0)
    fail (file->files, file->path, errno);
  if (close (file->fd) != 0 && errno != EINTR) { /* some file systems of networks write only now */
    fail (file->files, file->path, errno);
    is_complete = FALSE;
  }
  if (!is_complete && file->mark == 0)
    g_unlink (file->path);
  else
    post_end (file, is_complete);
}

static void
end_file (gpointer data, gboolean is_complete)
{
  ClipFile *file = data;
  GstCclClipFiles *self = file->files;

  take_turn (file, FALSE);
  if (file->fd >= 0)
    close_file (file, is_complete && !g_atomic_int_get (&file->has_failed));
  g_mutex_lock (&self->lock);
  self->n_open--;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  g_free (file->location);
  g_free (file->path);
  g_free (file);
}

const ClipFileFunctions gst_ccl_clip_file_functions = {
    .write = write_file, .mark = mark_file, .fail = fail_file, .end = end_file};

GstCclClipFiles *
gst_ccl_clip_files_new (GstElement *element)
{
  GstCclClipFiles *self = g_new0 (GstCclClipFiles, 1);

  self->element = element;
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  return self;
}

void
gst_ccl_clip_files_free (GstCclClipFiles *self)
{
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self);
}

gboolean
gst_ccl_clip_files_have_failed (GstCclClipFiles *self)
{
  return g_atomic_int_get (&self->is_posted);
}

void
gst_ccl_clip_files_reset (GstCclClipFiles *self)
{
  g_atomic_int_set (&self->has_failed, FALSE);
  g_atomic_int_set (&self->is_posted, FALSE);
}

void
gst_ccl_clip_files_wait (GstCclClipFiles *self)
{
  g_mutex_lock (&self->lock);
  while (self->n_open > 0 && !self->is_cancelled)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
}

void
gst_ccl_clip_files_cancel_wait (GstCclClipFiles *self, gboolean is_cancelled)
{
  g_mutex_lock (&self->lock);
  self->is_cancelled = is_cancelled;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}
