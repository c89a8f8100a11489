/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "folder.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "log.h"

#define NAME_PATTERN                                                                               \
  "^[A-Za-z0-9_-][A-Za-z0-9._-]*/"                                                                 \
  "\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d\\.\\d{3}Z\\.(jpg|mp4)\\z"
#define IN_USE_SECONDS 10
#define CLEAN_SECONDS 60

gchar *
watch_folder_name (const gchar *camera, gint64 utc, const gchar *extension)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (utc / G_USEC_PER_SEC);
  g_autofree gchar *text = g_date_time_format (time, "%Y-%m-%dT%H-%M-%S");

  return g_strdup_printf (
      "%s/%s.%03dZ.%s", camera, text, (gint)(utc % G_USEC_PER_SEC / 1000), extension);
}

gboolean
watch_folder_is_name (const gchar *name)
{
  return g_regex_match_simple (NAME_PATTERN, name, 0, 0);
}

gchar *
watch_folder_make_path (const gchar *folder, const gchar *name)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);
  g_autofree gchar *parent = g_path_get_dirname (path);

  if (!watch_folder_is_name (name)) {
    watch_log_warning ("no file can be named %s", name);
    return NULL;
  }
  if (g_mkdir_with_parents (parent, 0750) != 0) {
    watch_log_warning ("folder %s cannot be made: %s", parent, g_strerror (errno));
    return NULL;
  }
  return g_steal_pointer (&path);
}

typedef struct {
  gchar *path;
  gchar *stem; /* the time in the name, which orders the files */
  guint64 size;
  gint64 changed; /* seconds since 1970 */
} File;

static void
file_free (gpointer data)
{
  File *file = data;

  g_free (file->path);
  g_free (file->stem);
  g_free (file);
}

static gint
compare_stems (gconstpointer a, gconstpointer b)
{
  return strcmp ((*(File *const *)a)->stem, (*(File *const *)b)->stem);
}

/* Adds the files of one camera's folder to the list. */
static void
list_camera (const gchar *folder, const gchar *camera, GPtrArray *files)
{
  g_autofree gchar *parent = g_build_filename (folder, camera, NULL);
  g_autoptr (GDir) dir = g_dir_open (parent, 0, NULL);
  const gchar *entry;

  while (dir && (entry = g_dir_read_name (dir))) {
    g_autofree gchar *name = g_build_filename (camera, entry, NULL);
    g_autofree gchar *path = g_build_filename (parent, entry, NULL);
    GStatBuf info;
    File *file;

    if (!watch_folder_is_name (name) || g_lstat (path, &info) != 0 || !S_ISREG (info.st_mode))
      continue;
    file = g_new (File, 1);
    file->path = g_steal_pointer (&path);
    file->stem = g_strdup (entry);
    file->size = info.st_size;
    file->changed = info.st_mtime;
    g_ptr_array_add (files, file);
  }
}

void
watch_folder_clean (const gchar *folder, gdouble keep_days, guint64 keep_bytes)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (file_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  gint64 now = g_get_real_time () / G_USEC_PER_SEC;
  guint64 total = 0;
  const gchar *entry;

  while (dir && (entry = g_dir_read_name (dir)))
    list_camera (folder, entry, files);
  for (guint i = 0; i < files->len; i++)
    total += ((File *)files->pdata[i])->size;
  g_ptr_array_sort (files, compare_stems);
  for (guint i = 0; i < files->len; i++) {
    File *file = files->pdata[i];
    gboolean too_old = keep_days > 0 && now - file->changed > keep_days * 86400;
    gboolean too_many = keep_bytes > 0 && total > keep_bytes;
    gboolean in_use = ABS (now - file->changed) < IN_USE_SECONDS;

    if ((!too_old && !too_many) || in_use)
      continue;
    if (g_unlink (file->path) == 0)
      total -= file->size;
    else
      watch_log_warning ("%s cannot be deleted: %s", file->path, g_strerror (errno));
  }
}

struct _WatchRetention {
  gchar *folder;
  gdouble keep_days;
  guint64 keep_bytes;
  GThread *thread;
  GMutex lock;
  GCond stopped_changed;
  gboolean stopped;
};

static gpointer
retention_thread (gpointer data)
{
  WatchRetention *self = data;

  g_mutex_lock (&self->lock);
  while (!self->stopped) {
    gint64 next = g_get_monotonic_time () + CLEAN_SECONDS * G_TIME_SPAN_SECOND;

    g_mutex_unlock (&self->lock);
    watch_folder_clean (self->folder, self->keep_days, self->keep_bytes);
    g_mutex_lock (&self->lock);
    while (!self->stopped && g_cond_wait_until (&self->stopped_changed, &self->lock, next))
      ;
  }
  g_mutex_unlock (&self->lock);
  return NULL;
}

WatchRetention *
watch_retention_new (Watch *watch)
{
  const WatchConfig *config = watch_get_config (watch);
  WatchRetention *self = g_new0 (WatchRetention, 1);

  self->folder = g_strdup (config->folder);
  self->keep_days = config->keep_days;
  self->keep_bytes = config->keep_bytes;
  g_mutex_init (&self->lock);
  g_cond_init (&self->stopped_changed);
  if (self->folder && (self->keep_days > 0 || self->keep_bytes > 0))
    self->thread = g_thread_new ("retention", retention_thread, self);
  return self;
}

void
watch_retention_free (WatchRetention *self)
{
  g_mutex_lock (&self->lock);
  self->stopped = TRUE;
  g_cond_signal (&self->stopped_changed);
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&self->thread, g_thread_join);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->stopped_changed);
  g_free (self->folder);
  g_free (self);
}
