/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "process-limits.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "config-values.h"

#define MAX_OPEN_FILES 65536
/* A connection takes 8 open files and 7 threads where the CPU decodes a file, 11 and 8 where it
 * decodes RTSP; with a GPU 5 and 1 more. */
#define FILES_PER_CONNECTION 24
#define THREADS_PER_CONNECTION 16
/* Of each camera, whether it is connected or not; its thread is made with its first connection. */
#define FILES_PER_CAMERA 1
/* A web client has a connection and perhaps the file that is sent to it. They may have a 16th of
 * all open files. */
#define FILES_PER_CLIENT 2
#define PART_OF_CLIENTS 16
#define LEAST_CLIENTS 16
#define MOST_CLIENTS 256
/* For outputs, pictures, the GPU and what libraries open for a moment. */
#define OTHER_FILES 64
#define OTHER_THREADS 32

#define UNLIMITED G_MAXUINT

static GMutex lock;
static guint n_reserved;              /* connections, guarded by the lock */
static guint most_clients, n_clients; /* of the web server, guarded by the lock */

/* UNLIMITED if no more file can be opened, not even this folder; 0 if there is no such folder. */
static guint
count_entries (const gchar *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) folder = g_dir_open (path, 0, &error);
  guint n = 0;

  if (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_MFILE) ||
      g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NFILE))
    n = UNLIMITED;
  while (folder && g_dir_read_name (folder))
    n++;
  return n;
}

static guint
get_limit (int resource)
{
  struct rlimit limit;

  return getrlimit (resource, &limit) == 0 ? MIN (limit.rlim_cur, UNLIMITED) : UNLIMITED;
}

guint
watch_limits_count_files (void)
{
  return MIN (count_entries ("/proc/self/fd"), get_limit (RLIMIT_NOFILE));
}

/* Threads. The limit of a user holds for all processes of the user, of which only this one is
 * counted, and not for root; the limit of a control group (systemd's TasksMax, a container's) holds
 * for all processes of the group and of the groups in it. */

/* The number in a file of a control group; UNLIMITED for "max" or if there is no such file. */
static guint
read_number (const gchar *folder, const gchar *name)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);
  g_autofree gchar *text = NULL;
  guint64 number;

  if (!g_file_get_contents (path, &text, NULL, NULL) ||
      !g_ascii_string_to_unsigned (g_strstrip (text), 10, 0, UNLIMITED, &number, NULL))
    number = UNLIMITED;
  return number;
}

/* The tightest limit that a group or one of those around it sets to this process, if the other
 * processes stay as they are. */
static guint
get_group_limit (const gchar *root, const gchar *group, guint used)
{
  g_autofree gchar *path = g_strdup (group);
  guint limit = UNLIMITED;
  gboolean is_root;

  do {
    g_autofree gchar *folder = g_build_filename (root, path, NULL);
    gchar *parent = g_path_get_dirname (path);
    guint most = read_number (folder, "pids.max"), present = read_number (folder, "pids.current");

    if (most != UNLIMITED && present != UNLIMITED)
      limit = MIN (limit, used + MAX (most, present) - present);
    is_root = strcmp (parent, path) == 0;
    g_free (path);
    path = parent;
  } while (!is_root);
  return limit;
}

static guint
get_limit_of_groups (guint used)
{
  g_autofree gchar *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint limit = UNLIMITED;

  if (!g_file_get_contents ("/proc/self/cgroup", &text, NULL, NULL))
    return UNLIMITED;
  lines = g_strsplit (text, "\n", -1);
  for (gchar **line = lines; *line; line++) {
    g_auto (GStrv) fields = g_strsplit (*line, ":", 3); /* number, controllers, group */

    if (g_strv_length (fields) == 3 && !*fields[1])
      limit = MIN (limit, get_group_limit ("/sys/fs/cgroup", fields[2], used));
    else if (g_strv_length (fields) == 3 && strcmp (fields[1], "pids") == 0)
      limit = MIN (limit, get_group_limit ("/sys/fs/cgroup/pids", fields[2], used));
  }
  return limit;
}

static gboolean
check_files (guint64 files, GError **error)
{
  guint limit = get_limit (RLIMIT_NOFILE);

  return files <= limit || watch_fail (error, "too many open files (the limit is %u)", limit);
}

static gboolean
check_threads (guint threads, guint used, GError **error)
{
  guint limit = geteuid () == 0 ? UNLIMITED : get_limit (RLIMIT_NPROC);

  if (threads > limit)
    return watch_fail (error, "too many threads (the limit is %u)", limit);
  /* The message has no number: the limit changes with the other processes of the group, and a
   * message that changes would be logged again and again. */
  return threads <= get_limit_of_groups (used) ||
         watch_fail (error, "too many threads in the control group");
}

/* Whether n more connections are possible. Called with the lock held. */
static gboolean
check_connections (guint n, GError **error)
{
  guint files = watch_limits_count_files (), threads = count_entries ("/proc/self/task");
  /* Files that clients of the web server may still open. */
  guint of_clients =
      most_clients * FILES_PER_CLIENT - MIN (n_clients, most_clients * FILES_PER_CLIENT);

  return check_files (
             (guint64)files + OTHER_FILES + of_clients + n * FILES_PER_CONNECTION, error) &&
         check_threads (threads + OTHER_THREADS + n * THREADS_PER_CONNECTION, threads, error);
}

void
watch_limits_raise (void)
{
  struct rlimit limit;

  if (getrlimit (RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = MAX (limit.rlim_cur, MIN (limit.rlim_max, MAX_OPEN_FILES));
    setrlimit (RLIMIT_NOFILE, &limit);
  }
}

guint
watch_limits_reserve_clients (void)
{
  guint n = CLAMP (
      get_limit (RLIMIT_NOFILE) / PART_OF_CLIENTS / FILES_PER_CLIENT, LEAST_CLIENTS, MOST_CLIENTS);
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);

  most_clients = n;
  return n;
}

void
watch_limits_set_clients (guint n)
{
  g_mutex_lock (&lock);
  n_clients = n;
  g_mutex_unlock (&lock);
}

gboolean
watch_limits_check_cameras (guint n_cameras, GError **error)
{
  if (check_files (n_cameras * FILES_PER_CAMERA + OTHER_FILES + FILES_PER_CONNECTION, error))
    return TRUE;
  g_prefix_error (error, "%u cameras: ", n_cameras);
  return FALSE;
}

gboolean
watch_limits_check (GError **error)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);

  return check_connections (n_reserved + 1, error);
}

gboolean
watch_limits_reserve (GError **error)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  gboolean is_possible = check_connections (n_reserved + 1, NULL);

  if (is_possible)
    n_reserved++;
  else
    check_connections (1, error);
  return is_possible;
}

void
watch_limits_release (void)
{
  g_mutex_lock (&lock);
  n_reserved--;
  g_mutex_unlock (&lock);
}
