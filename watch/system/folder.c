/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "config-values.h"
#include "heartbeat.h"
#include "lock.h"
#include "log.h"

#define NAME_PATTERN                                                                               \
  "^[A-Za-z0-9_-][A-Za-z0-9._-]*/"                                                                 \
  "\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d\\.\\d{3}Z\\.((\\d{1,20}\\.)?jpg|mp4)\\z"
#define IN_USE_SECONDS 10
#define CLEAN_SECONDS 60
#define FILE_MODE 0640
#define KEPT_MODE 0440    /* a file that its owner may not write is not deleted */
#define LIST_SECONDS 3600 /* without limits */
#define MAX_NAMES 1000    /* that are tried for a new file */

/* The years 1900 and 9999, in ms since 1970: a camera may send any time. */
#define MIN_TIME G_GINT64_CONSTANT (-2208988800000)
#define MAX_TIME G_GINT64_CONSTANT (253402300799999)

struct _WatchFolder {
  gchar *path;
  GMutex lock; /* never held while the disk works */
  GCond changed;
  gdouble keep_days;
  guint64 keep_bytes;
  GTree *names;      /* of the files that exist, compare_names() → whether it is kept */
  GHashTable *noted; /* the same of those that were noted since the thread began to list, which may
                        have seen them before; NULL while it does not list */
  gboolean is_due;   /* the limits are others than when the thread last looked */
  gboolean is_stopping, is_stopped;
  WatchHeartbeat *heartbeat;
  WatchLogLimit delete_limit, lock_limit; /* of messages */
  GMutex lock_lock;                       /* held while the disk works */
  gint lock_file;                         /* that is locked, guarded by its lock; -1: none */
};

/* Names. */

gchar *
watch_folder_name (const gchar *camera, gint64 utc, const gchar *extension)
{
  gint64 ms = CLAMP (utc / 1000, MIN_TIME, MAX_TIME) - MIN_TIME;
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (ms / 1000 + MIN_TIME / 1000);
  g_autofree gchar *text = g_date_time_format (time, "%Y-%m-%dT%H-%M-%S");

  return g_strdup_printf ("%s/%s.%03dZ.%s", camera, text, (gint)(ms % 1000), extension);
}

gboolean
watch_folder_is_name (const gchar *name)
{
  return g_regex_match_simple (NAME_PATTERN, name, 0, 0);
}

static gboolean
is_clip (const gchar *name)
{
  return g_str_has_suffix (name, ".mp4");
}

/* Clips come first. Those of a camera are in the order of time. */
static gint
compare_names (gconstpointer a, gconstpointer b, gpointer data)
{
  return is_clip (a) != is_clip (b) ? is_clip (b) - is_clip (a) : strcmp (a, b);
}

static GTree *
make_names (void)
{
  return g_tree_new_full (compare_names, NULL, g_free, NULL);
}

gboolean
watch_folder_has (WatchFolder *folder, const gchar *name)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&folder->lock);

  return g_tree_lookup_node (folder->names, name) != NULL;
}

gint64
watch_folder_time_of_name (const gchar *name)
{
  g_autofree gchar *text = g_strdup (strchr (name, '/') + 1);
  gint64 utc;

  text[strlen ("2026-11-22T05")] = text[strlen ("2026-11-22T05-20")] = ':';
  text[strlen ("2026-11-22T05:20:40.895Z")] = '\0';
  return watch_parse_time (text, &utc) ? utc : 0;
}

gchar *
watch_folder_find_clip (WatchFolder *folder, const gchar *camera, gint64 from, gint64 to)
{
  g_autofree gchar *first = watch_folder_name (camera, from, "mp4");
  g_autofree gchar *last = watch_folder_name (camera, to, "mp4");
  const gchar *name;
  GTreeNode *node;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&folder->lock);

  node = g_tree_upper_bound (folder->names, last);
  node = node ? g_tree_node_previous (node) : g_tree_node_last (folder->names);
  name = node ? g_tree_node_key (node) : NULL;
  return name && is_clip (name) && strcmp (name, first) >= 0 ? g_strdup (name) : NULL;
}

gboolean
watch_folder_is_kept (WatchFolder *folder, const gchar *name)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&folder->lock);

  return g_tree_lookup (folder->names, name) != NULL;
}

static void
note (WatchFolder *folder, const gchar *name, gboolean is_kept)
{
  g_mutex_lock (&folder->lock);
  g_tree_insert (folder->names, g_strdup (name), GINT_TO_POINTER (is_kept));
  if (folder->noted)
    g_hash_table_insert (folder->noted, g_strdup (name), GINT_TO_POINTER (is_kept));
  g_mutex_unlock (&folder->lock);
}

void
watch_folder_note (WatchFolder *folder, const gchar *name)
{
  note (folder, name, FALSE);
}

static void
forget_name (WatchFolder *folder, const gchar *name)
{
  g_mutex_lock (&folder->lock);
  g_tree_remove (folder->names, name);
  if (folder->noted)
    g_hash_table_remove (folder->noted, name);
  g_mutex_unlock (&folder->lock);
}

/* The lock. */

#define LOCK_NAME ".lock" /* cannot be the name of a camera */

gboolean
watch_folder_is_own (WatchFolder *folder)
{
  g_autofree gchar *path = g_build_filename (folder->path, LOCK_NAME, NULL);
  gboolean is_own = TRUE;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&folder->lock_lock);

  if (folder->lock_file < 0 && (folder->lock_file = watch_lock_file (path)) < 0)
    is_own =
        errno != EWOULDBLOCK && errno != ENOENT; /* a file system without locks counts as ours */
  if (!is_own && errno == EWOULDBLOCK)
    watch_log_warning_limited (&folder->lock_limit,
        "%s: another ccl-watch uses this folder; nothing is written to it", folder->path);
  return is_own;
}

/* Files. */

static gint
fail (GError **error, const gchar *path)
{
  gint code = errno;

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", path, g_strerror (code));
  return -1;
}

/* The folder of a camera; a descriptor that the caller closes. */
static gint
open_camera (WatchFolder *folder, const gchar *camera, gboolean may_make, GError **error)
{
  gint parent, descriptor;

  if (may_make && g_mkdir_with_parents (folder->path, 0750) != 0)
    return fail (error, folder->path);
  parent = open (folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0)
    return fail (error, folder->path);
  if (may_make && mkdirat (parent, camera, 0750) != 0 && errno != EEXIST) {
    fail (error, camera);
    close (parent);
    return -1;
  }
  descriptor = openat (parent, camera, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0)
    fail (error, camera);
  close (parent);
  return descriptor;
}

gint
watch_folder_create (WatchFolder *folder, const gchar *camera, gint64 utc, const gchar *extension,
    gchar **name, GError **error)
{
  gint parent = open_camera (folder, camera, TRUE, error), descriptor = -1;

  if (parent >= 0 && !watch_folder_is_own (folder)) {
    g_set_error (
        error, G_IO_ERROR, G_IO_ERROR_BUSY, "%s: another ccl-watch uses this folder", folder->path);
    close (parent);
    return -1;
  }
  if (parent < 0)
    return -1;
  for (gint i = 0; i < MAX_NAMES && descriptor < 0; i++) {
    g_autofree gchar *next = watch_folder_name (camera, utc + i * 1000, extension);

    descriptor = openat (parent, strchr (next, '/') + 1,
        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (descriptor >= 0)
      *name = g_steal_pointer (&next);
    else if (errno != EEXIST)
      break;
  }
  if (descriptor < 0)
    fail (error, camera);
  close (parent);
  return descriptor;
}

gint
watch_folder_open (WatchFolder *folder, const gchar *name, GError **error)
{
  g_autofree gchar *camera = g_path_get_dirname (name);
  gint parent, descriptor;
  GStatBuf info;

  if (!watch_folder_is_name (name)) {
    errno = ENOENT;
    return fail (error, name);
  }
  parent = open_camera (folder, camera, FALSE, error);
  if (parent < 0)
    return -1;
  descriptor =
      openat (parent, strchr (name, '/') + 1, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  close (parent);
  if (descriptor < 0)
    return fail (error, name);
  if (fstat (descriptor, &info) == 0 && S_ISREG (info.st_mode))
    return descriptor;
  close (descriptor);
  errno = ENOENT;
  return fail (error, name);
}

gboolean
watch_folder_keep (WatchFolder *folder, const gchar *name, gboolean is_kept, GError **error)
{
  gint descriptor = watch_folder_open (folder, name, error);
  gboolean is_done;

  if (descriptor < 0)
    return FALSE;
  is_done = fchmod (descriptor, is_kept ? KEPT_MODE : FILE_MODE) == 0;
  if (is_done)
    note (folder, name, is_kept);
  else
    fail (error, name);
  close (descriptor);
  return is_done;
}

void
watch_folder_delete (WatchFolder *folder, const gchar *name)
{
  g_autofree gchar *path = g_build_filename (folder->path, name, NULL);

  if (g_unlink (path) == 0 || errno == ENOENT)
    forget_name (folder, name);
  else
    watch_log_warning_limited (
        &folder->delete_limit, "%s cannot be deleted: %s", path, g_strerror (errno));
}

/* The thread. */

typedef struct {
  gchar *name;
  guint64 size;
  gint64 changed; /* nanoseconds since 1970 */
  gboolean is_kept;
} File;

static void
file_free (gpointer data)
{
  File *file = data;

  g_free (file->name);
  g_free (file);
}

/* By the machine's clock, because cameras, whose times are the names, may have a wrong one. */
static gint
compare_ages (gconstpointer a, gconstpointer b)
{
  const File *first = *(File *const *)a, *second = *(File *const *)b;

  if (first->changed != second->changed)
    return first->changed < second->changed ? -1 : 1;
  return strcmp (first->name, second->name);
}

/* Adds the files of one camera's folder to the list. */
static void
list_camera (WatchFolder *folder, const gchar *camera, GPtrArray *files)
{
  g_autofree gchar *parent = g_build_filename (folder->path, camera, NULL);
  g_autoptr (GDir) dir = NULL;
  const gchar *entry;
  struct stat info;

  if (lstat (parent, &info) != 0 || !S_ISDIR (info.st_mode))
    return;
  dir = g_dir_open (parent, 0, NULL);
  while (dir && (entry = g_dir_read_name (dir))) {
    g_autofree gchar *name = g_build_filename (camera, entry, NULL);
    g_autofree gchar *path = g_build_filename (parent, entry, NULL);
    File *file;

    watch_heartbeat_beat (folder->heartbeat);
    if (!watch_folder_is_name (name) || lstat (path, &info) != 0 || !S_ISREG (info.st_mode))
      continue;
    file = g_new (File, 1);
    file->name = g_steal_pointer (&name);
    file->size = info.st_size;
    file->is_kept = (info.st_mode & S_IWUSR) == 0;
    file->changed = info.st_mtim.tv_sec * G_GINT64_CONSTANT (1000000000) + info.st_mtim.tv_nsec;
    g_ptr_array_add (files, file);
  }
}

/* The files, the oldest first. */
static GPtrArray *
list_files (WatchFolder *folder)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (file_free);
  g_autoptr (GDir) dir = g_dir_open (folder->path, 0, NULL);
  const gchar *camera;

  while (dir && (camera = g_dir_read_name (dir)))
    list_camera (folder, camera, files);
  g_ptr_array_sort (files, compare_ages);
  return files;
}

/* Lists the files, and learns their names. */
static GPtrArray *
learn_files (WatchFolder *folder)
{
  GTree *names = make_names ();
  GPtrArray *files;
  GHashTableIter iter;
  gpointer name, is_kept;

  g_mutex_lock (&folder->lock);
  folder->noted = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_mutex_unlock (&folder->lock);
  files = list_files (folder);
  for (guint i = 0; i < files->len; i++) {
    const File *file = files->pdata[i];

    g_tree_insert (names, g_strdup (file->name), GINT_TO_POINTER (file->is_kept));
  }

  g_mutex_lock (&folder->lock);
  g_hash_table_iter_init (&iter, folder->noted);
  while (g_hash_table_iter_next (&iter, &name, &is_kept))
    g_tree_insert (names, g_strdup (name), is_kept);
  g_clear_pointer (&folder->noted, g_hash_table_unref);
  g_tree_unref (folder->names);
  folder->names = names;
  g_mutex_unlock (&folder->lock);
  return files;
}

/* Deletes the files that are too old or too many. */
static void
clean (WatchFolder *folder, gdouble keep_days, guint64 keep_bytes)
{
  g_autoptr (GPtrArray) files = learn_files (folder);
  guint64 total = 0;

  if (!watch_folder_is_own (folder))
    return;
  for (guint i = 0; i < files->len; i++)
    total += ((File *)files->pdata[i])->size;
  for (guint i = 0; i < files->len; i++) {
    const File *file = files->pdata[i];
    gdouble age = g_get_real_time () / 1e6 - file->changed / 1e9;
    gboolean is_too_old = keep_days > 0 && age > keep_days * 86400;
    gboolean is_too_much = keep_bytes > 0 && total > keep_bytes;

    if ((!is_too_old && !is_too_much) || ABS (age) < IN_USE_SECONDS ||
        watch_folder_is_kept (folder, file->name))
      continue;
    watch_heartbeat_beat (folder->heartbeat);
    watch_folder_delete (folder, file->name);
    if (!watch_folder_has (folder, file->name))
      total -= file->size;
  }
}

static gpointer
run (gpointer data)
{
  WatchFolder *folder = data;

  g_mutex_lock (&folder->lock);
  while (!folder->is_stopping) {
    gdouble keep_days = folder->keep_days;
    guint64 keep_bytes = folder->keep_bytes;
    gint64 seconds = keep_days > 0 || keep_bytes > 0 ? CLEAN_SECONDS : LIST_SECONDS;
    gint64 next = g_get_monotonic_time () + seconds * G_TIME_SPAN_SECOND;

    folder->is_due = FALSE;
    g_mutex_unlock (&folder->lock);
    watch_heartbeat_beat (folder->heartbeat);
    clean (folder, keep_days, keep_bytes);
    watch_heartbeat_rest (folder->heartbeat);
    g_mutex_lock (&folder->lock);
    while (!folder->is_stopping && !folder->is_due &&
           g_cond_wait_until (&folder->changed, &folder->lock, next)) {
    }
  }
  folder->is_stopped = TRUE;
  g_cond_broadcast (&folder->changed);
  g_mutex_unlock (&folder->lock);
  watch_folder_unref (folder);
  return NULL;
}

/* The interface. */

WatchFolder *
watch_folder_new (const gchar *path, gdouble keep_days, guint64 keep_bytes)
{
  WatchFolder *folder = g_atomic_rc_box_new0 (WatchFolder);

  folder->path = g_strdup (path);
  folder->keep_days = keep_days;
  folder->keep_bytes = keep_bytes;
  folder->names = make_names ();
  g_mutex_init (&folder->lock);
  g_mutex_init (&folder->lock_lock);
  folder->lock_file = -1;
  g_cond_init (&folder->changed);
  folder->heartbeat = watch_heartbeat_new ("folder");
  g_thread_unref (g_thread_new ("folder", run, watch_folder_ref (folder)));
  return folder;
}

WatchFolder *
watch_folder_ref (WatchFolder *folder)
{
  return g_atomic_rc_box_acquire (folder);
}

static void
clear_folder (WatchFolder *folder)
{
  g_tree_unref (folder->names);
  watch_heartbeat_free (folder->heartbeat);
  g_mutex_clear (&folder->lock);
  g_mutex_clear (&folder->lock_lock);
  if (folder->lock_file >= 0)
    close (folder->lock_file);
  g_cond_clear (&folder->changed);
  g_free (folder->path);
}

void
watch_folder_unref (WatchFolder *folder)
{
  g_atomic_rc_box_release_full (folder, (GDestroyNotify)clear_folder);
}

const gchar *
watch_folder_get_path (WatchFolder *folder)
{
  return folder->path;
}

gdouble
watch_folder_get_keep_days (WatchFolder *folder)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&folder->lock);

  return folder->keep_days;
}

void
watch_folder_set_limits (WatchFolder *folder, gdouble keep_days, guint64 keep_bytes)
{
  g_mutex_lock (&folder->lock);
  folder->is_due = folder->keep_days != keep_days || folder->keep_bytes != keep_bytes;
  folder->keep_days = keep_days;
  folder->keep_bytes = keep_bytes;
  g_cond_broadcast (&folder->changed);
  g_mutex_unlock (&folder->lock);
}

gboolean
watch_folder_stop (WatchFolder *folder, gint64 until)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&folder->lock);

  folder->is_stopping = TRUE;
  g_cond_broadcast (&folder->changed);
  while (!folder->is_stopped && g_cond_wait_until (&folder->changed, &folder->lock, until)) {
  }
  return folder->is_stopped;
}
