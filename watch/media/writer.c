/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer.h"

#include <errno.h>
#include <unistd.h>

#include "watch/system/heartbeat.h"
#include "watch/system/log.h"

#define MAX_BYTES_PER_CAMERA (128 * 1000 * 1000)
#define MAX_BYTES (256 * 1000 * 1000)
#define MAX_FILES_PER_CAMERA 40
#define BYTES_PER_STEP 512 /* that a step and a buffer take beside the data, about */
#define CHECK_SECONDS 2
#define STALLED_SECONDS 10 /* a disk that does not answer for so long is reported */

/* What waits for the files of one camera in one folder. */
typedef struct {
  gchar *path; /* of the camera's folder */
  gchar *camera;
  GQueue steps;
  gsize n_bytes;
  guint n_files; /* that have not ended */
  gboolean has_thread;
  WatchHeartbeat *heartbeat;
  gboolean is_failing;
} Lane;

struct _WatchWriter {
  Watch *watch;
  WatchObserver bytes, failures; /* for the metrics */
  guint timer;
  GThreadPool *pool; /* of threads that work on lanes */

  GMutex lock; /* never held while the disk works */
  GCond changed;
  GHashTable *lanes; /* path of the camera's folder → Lane */
  gsize n_bytes;
  guint64 n_failed;      /* files since the start */
  guint n_failed_lately; /* since no lane failed */
  gboolean is_stalled;
  WatchLogLimit fail_limit, refuse_limit; /* of messages */
};

struct _WatchFile {
  WatchWriter *writer;
  Lane *lane;
  WatchFolder *folder;
  gint64 utc;
  gchar *extension;
  gint has_failed; /* atomic: takes nothing more */

  /* Of the lane's thread. */
  gint descriptor; /* -1: not open */
  gchar *name;     /* of the open file */
  gboolean is_broken;
  goffset size, mark;
};

typedef enum { STEP_WRITE, STEP_MARK, STEP_END, STEP_GIVE_UP } StepKind;

typedef struct {
  StepKind kind;
  WatchFile *file;
  GstBuffer *buffer; /* of STEP_WRITE */
  goffset position;
} Step;

static gsize
step_bytes (const Step *step)
{
  return BYTES_PER_STEP + (step->buffer ? gst_buffer_get_size (step->buffer) : 0);
}

/* Called with the lock held. */
static gboolean
is_any_failing (WatchWriter *writer)
{
  GHashTableIter iter;
  gpointer lane;

  g_hash_table_iter_init (&iter, writer->lanes);
  while (g_hash_table_iter_next (&iter, NULL, &lane))
    if (((Lane *)lane)->is_failing)
      return TRUE;
  return FALSE;
}

/* A file was written completely. Called with the lock held. */
static void
end_failures (WatchWriter *writer, Lane *lane)
{
  if (!lane->is_failing)
    return;
  lane->is_failing = FALSE;
  if (is_any_failing (writer))
    return;
  watch_log_info (
      "pictures and clips are written again; %u were incomplete", writer->n_failed_lately);
  writer->n_failed_lately = 0;
  watch_log_reset_limit (&writer->fail_limit);
}

/* Only the first failure of a file is reported. */
void
watch_file_fail (WatchFile *file, const gchar *reason)
{
  WatchWriter *writer = file->writer;
  g_autofree gchar *name = NULL;

  if (!g_atomic_int_compare_and_exchange (&file->has_failed, FALSE, TRUE))
    return;
  g_mutex_lock (&writer->lock);
  writer->n_failed++;
  writer->n_failed_lately++;
  file->lane->is_failing = TRUE;
  g_mutex_unlock (&writer->lock);
  name = watch_folder_name (file->lane->camera, file->utc, file->extension);
  watch_log_warning_limited (&writer->fail_limit, "camera %s: %s/%s is incomplete: %s",
      file->lane->camera, watch_folder_get_path (file->folder), name, reason);
}

/* The thread of a lane. */

/* Closes a file that is not complete: what can be used of it stays. */
static void
cut_file (WatchFile *file)
{
  if (file->mark == 0)
    watch_folder_delete (file->folder, file->name);
  else if (ftruncate (file->descriptor, file->mark) != 0)
    watch_file_fail (file, g_strerror (errno));
  close (file->descriptor);
  file->descriptor = -1;
}

/* After a failed system call. */
static void
break_file (WatchFile *file)
{
  file->is_broken = TRUE;
  watch_file_fail (file, g_strerror (errno));
  cut_file (file);
}

static gboolean
open_file (WatchFile *file)
{
  g_autoptr (GError) error = NULL;

  file->descriptor = watch_folder_create (
      file->folder, file->lane->camera, file->utc, file->extension, &file->name, &error);
  if (file->descriptor >= 0)
    return TRUE;
  file->is_broken = TRUE;
  watch_file_fail (file, error->message);
  return FALSE;
}

static void
write_buffer (WatchFile *file, goffset position, GstBuffer *buffer)
{
  GstMapInfo map;
  gsize n = 0;

  if (file->is_broken || (file->descriptor < 0 && !open_file (file)))
    return;
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    errno = EIO;
    break_file (file);
    return;
  }
  while (n < map.size && !file->is_broken) {
    gssize written = pwrite (file->descriptor, map.data + n, map.size - n, position + n);

    if (written > 0)
      n += written;
    else if (written == 0 || errno != EINTR)
      break_file (file);
  }
  gst_buffer_unmap (buffer, &map);
  file->size = MAX (file->size, position + (goffset)n);
}

static void
mark_file (WatchFile *file)
{
  if (file->is_broken || file->descriptor < 0)
    return;
  if (file->mark == 0)
    watch_folder_note (file->folder, file->name);
  file->mark = file->size;
}

static void
close_file (WatchFile *file, gboolean is_complete)
{
  if (file->descriptor < 0)
    return;
  if (!is_complete || g_atomic_int_get (&file->has_failed)) {
    cut_file (file);
    return;
  }
  mark_file (file);
  /* A network folder may say only now that it is full. */
  if (close (file->descriptor) != 0 && errno != EINTR)
    watch_file_fail (file, g_strerror (errno));
}

static void
file_free (WatchFile *file)
{
  watch_folder_unref (file->folder);
  g_free (file->name);
  g_free (file->extension);
  g_free (file);
}

static void
take_step (const Step *step)
{
  switch (step->kind) {
  case STEP_WRITE:
    write_buffer (step->file, step->position, step->buffer);
    gst_buffer_unref (step->buffer);
    break;
  case STEP_MARK:
    mark_file (step->file);
    break;
  case STEP_END:
  case STEP_GIVE_UP:
    close_file (step->file, step->kind == STEP_END);
    break;
  }
}

static void
lane_free (gpointer data)
{
  Lane *lane = data;

  watch_heartbeat_free (lane->heartbeat);
  g_free (lane->path);
  g_free (lane->camera);
  g_free (lane);
}

/* The file is closed. Called with the lock held. */
static void
leave_lane (WatchFile *file, gboolean is_complete)
{
  file->lane->n_files--;
  if (!g_atomic_int_get (&file->has_failed)) { /* a failed file was counted when it failed */
    if (is_complete)
      end_failures (file->writer, file->lane);
    else
      file->writer->n_failed++;
  }
  file_free (file);
}

/* Takes the steps of a lane until there are none. */
static void
work (gpointer data, gpointer user_data)
{
  Lane *lane = data;
  WatchWriter *writer = user_data;
  Step *step;

  g_mutex_lock (&writer->lock);
  while ((step = g_queue_pop_head (&lane->steps))) {
    gsize n_bytes = step_bytes (step);

    g_mutex_unlock (&writer->lock);
    watch_heartbeat_beat (lane->heartbeat);
    take_step (step);
    g_mutex_lock (&writer->lock);
    lane->n_bytes -= n_bytes;
    writer->n_bytes -= n_bytes;
    if (step->kind == STEP_END || step->kind == STEP_GIVE_UP)
      leave_lane (step->file, step->kind == STEP_END);
    g_free (step);
  }
  watch_heartbeat_rest (lane->heartbeat);
  lane->has_thread = FALSE;
  if (lane->n_files == 0 && !lane->is_failing)
    g_hash_table_remove (writer->lanes, lane->path);
  g_cond_broadcast (&writer->changed);
  g_mutex_unlock (&writer->lock);
}

/* Files. */

/* Takes the step's content. */
static void
push_step (const Step *step)
{
  WatchWriter *writer = step->file->writer;
  Lane *lane = step->file->lane;
  gsize n_bytes = step_bytes (step);
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&writer->lock);

  g_queue_push_tail (&lane->steps, g_memdup2 (step, sizeof *step));
  lane->n_bytes += n_bytes;
  writer->n_bytes += n_bytes;
  if (!lane->has_thread) {
    lane->has_thread = TRUE;
    g_thread_pool_push (writer->pool, lane, NULL);
  }
}

/* The lane of a camera, which is made where missing. Called with the lock held. */
static Lane *
get_lane (WatchWriter *writer, WatchFolder *folder, const gchar *camera)
{
  g_autofree gchar *path = g_build_filename (watch_folder_get_path (folder), camera, NULL);
  g_autofree gchar *thread = g_strdup_printf ("pictures and clips of %s", camera);
  Lane *lane = g_hash_table_lookup (writer->lanes, path);

  if (!lane) {
    lane = g_new0 (Lane, 1);
    lane->path = g_steal_pointer (&path);
    lane->camera = g_strdup (camera);
    lane->heartbeat = watch_heartbeat_new (thread);
    g_hash_table_insert (writer->lanes, lane->path, lane);
  }
  return lane;
}

/* A place for one file more in the camera's lane; NULL if too much waits. */
static Lane *
enter_lane (WatchWriter *writer, WatchFolder *folder, const gchar *camera)
{
  Lane *lane;
  guint n_files;
  gsize n_bytes;

  g_mutex_lock (&writer->lock);
  lane = get_lane (writer, folder, camera);
  n_files = lane->n_files;
  n_bytes = lane->n_bytes;
  if (n_files >= MAX_FILES_PER_CAMERA || n_bytes > MAX_BYTES_PER_CAMERA / 2 ||
      writer->n_bytes > MAX_BYTES)
    lane = NULL;
  else
    lane->n_files++;
  g_mutex_unlock (&writer->lock);
  if (!lane)
    watch_log_warning_limited (&writer->refuse_limit,
        "camera %s: no picture or clip, because %u files and %" G_GSIZE_FORMAT
        " MB wait for the disk already",
        camera, n_files, n_bytes / 1000000);
  return lane;
}

gboolean
watch_writer_has_folder (WatchWriter *writer)
{
  WatchFolder *folder = watch_get_folder (writer->watch);
  const gboolean has = folder != NULL;

  g_clear_pointer (&folder, watch_folder_unref);
  return has;
}

WatchFile *
watch_writer_begin (WatchWriter *writer, const gchar *camera, gint64 utc, const gchar *extension)
{
  g_autoptr (WatchFolder) folder = watch_get_folder (writer->watch);
  Lane *lane = folder ? enter_lane (writer, folder, camera) : NULL;
  WatchFile *file;

  if (!lane)
    return NULL;
  file = g_new0 (WatchFile, 1);
  file->writer = writer;
  file->lane = lane;
  file->folder = g_steal_pointer (&folder);
  file->utc = utc;
  file->extension = g_strdup (extension);
  file->descriptor = -1;
  return file;
}

gboolean
watch_file_write (WatchFile *file, goffset position, GstBuffer *buffer)
{
  WatchWriter *writer = file->writer;
  gsize size = gst_buffer_get_size (buffer);
  gboolean has_room;

  g_mutex_lock (&writer->lock);
  has_room =
      file->lane->n_bytes + size <= MAX_BYTES_PER_CAMERA && writer->n_bytes + size <= MAX_BYTES;
  g_mutex_unlock (&writer->lock);
  if (!has_room)
    watch_file_fail (file, "the disk is too slow");
  if (g_atomic_int_get (&file->has_failed)) {
    gst_buffer_unref (buffer);
    return FALSE;
  }
  push_step (&(Step){.kind = STEP_WRITE, .file = file, .buffer = buffer, .position = position});
  return TRUE;
}

void
watch_file_mark (WatchFile *file)
{
  if (!g_atomic_int_get (&file->has_failed))
    push_step (&(Step){.kind = STEP_MARK, .file = file});
}

void
watch_file_end (WatchFile *file, gboolean is_complete)
{
  push_step (&(Step){.kind = is_complete ? STEP_END : STEP_GIVE_UP, .file = file});
}

/* The writer. */

/* Called with the lock held. */
static guint
count_files (WatchWriter *writer, gboolean *is_idle)
{
  guint n_files = 0;
  GHashTableIter iter;
  gpointer lane;

  *is_idle = TRUE;
  g_hash_table_iter_init (&iter, writer->lanes);
  while (g_hash_table_iter_next (&iter, NULL, &lane)) {
    n_files += ((Lane *)lane)->n_files;
    *is_idle = *is_idle && ((Lane *)lane)->n_files == 0 && !((Lane *)lane)->has_thread;
  }
  return n_files;
}

static gboolean
is_busy (gpointer data)
{
  WatchWriter *writer = data;
  gboolean is_idle;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&writer->lock);

  count_files (writer, &is_idle);
  return !is_idle;
}

static gdouble
get_bytes (gpointer data)
{
  WatchWriter *writer = data;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&writer->lock);

  return writer->n_bytes;
}

static gdouble
get_failures (gpointer data)
{
  WatchWriter *writer = data;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&writer->lock);

  return writer->n_failed;
}

/* The path of a folder of a camera whose disk does not answer; NULL if there is none. */
static gchar *
find_stalled (WatchWriter *writer)
{
  gchar *path = NULL;
  GHashTableIter iter;
  gpointer value;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&writer->lock);

  g_hash_table_iter_init (&iter, writer->lanes);
  while (!path && g_hash_table_iter_next (&iter, NULL, &value)) {
    const Lane *lane = value;

    if (watch_heartbeat_get_age (lane->heartbeat) > STALLED_SECONDS)
      path = g_strdup (lane->path);
  }
  return path;
}

/* Reports a disk that does not answer. The thread that waits for it cannot, so the main thread
 * does. */
static gboolean
report_stalled (gpointer data)
{
  WatchWriter *writer = data;
  g_autofree gchar *path = find_stalled (writer);

  if (path && !writer->is_stalled)
    watch_log_warning ("%s: the disk has not answered for %d s", path, STALLED_SECONDS);
  else if (!path && writer->is_stalled)
    watch_log_info ("the disk of pictures and clips answers again");
  writer->is_stalled = path != NULL;
  return G_SOURCE_CONTINUE;
}

static void
add_metric (WatchWriter *writer, WatchObserver *observer, gdouble (*get) (gpointer data),
    const gchar *name, const gchar *help)
{
  *observer = (WatchObserver){.is_busy = is_busy,
      .queue_length = get,
      .queue_metric = name,
      .queue_help = help,
      .data = writer};
  watch_add_observer (writer->watch, observer);
}

WatchWriter *
watch_writer_new (Watch *watch)
{
  WatchWriter *writer = g_new0 (WatchWriter, 1);

  writer->watch = watch;
  g_mutex_init (&writer->lock);
  g_cond_init (&writer->changed);
  writer->lanes = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, lane_free);
  writer->pool = g_thread_pool_new (work, writer, -1, FALSE, NULL);
  writer->timer = g_timeout_add_seconds (CHECK_SECONDS, report_stalled, writer);
  add_metric (writer, &writer->bytes, get_bytes, "ccl_watch_clip_queue_bytes",
      "Pictures and clips that wait to be written, in bytes.");
  add_metric (writer, &writer->failures, get_failures, "ccl_watch_incomplete_files_total",
      "Pictures and clips that could not be written completely.");
  return writer;
}

gboolean
watch_writer_free (WatchWriter *writer, gint64 until)
{
  gboolean is_idle;
  guint n_files;

  g_clear_handle_id (&writer->timer, g_source_remove);
  g_mutex_lock (&writer->lock);
  do
    n_files = count_files (writer, &is_idle);
  while (!is_idle && g_cond_wait_until (&writer->changed, &writer->lock, until));
  g_mutex_unlock (&writer->lock);
  if (!is_idle) {
    watch_log_warning (
        "%u pictures and clips are incomplete, because the disk is too slow", n_files);
    return FALSE;
  }
  g_thread_pool_free (writer->pool, FALSE, TRUE);
  g_hash_table_unref (writer->lanes);
  g_mutex_clear (&writer->lock);
  g_cond_clear (&writer->changed);
  g_free (writer);
  return TRUE;
}
