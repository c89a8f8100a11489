/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pictures.h"

#include "recording/jpeg.h"
#include "watch/system/log.h"

#define MAX_WAITING 32

struct _WatchPictures {
  WatchObserver observer;
  Watch *watch;
  WatchWriter *writer;
  GThreadPool *pool; /* of one thread, which encodes */
  GMutex lock;
  GCond changed;
  guint n_jobs;                           /* that wait or are being encoded */
  WatchLogLimit encode_limit, wait_limit; /* of messages */
};

typedef struct {
  GstSample *frame;
  gboolean boxes;
  gchar *camera;
  gint64 utc;
} Job;

static void
store_picture (WatchPictures *self, const Job *job)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) jpeg = jpeg_encode (job->frame, job->boxes, 0, &error);
  WatchFile *file;

  if (!jpeg) {
    watch_log_warning_limited (
        &self->encode_limit, "camera %s: no picture: %s", job->camera, error->message);
    return;
  }
  watch_push_picture (self->watch, job->camera, jpeg);
  if (!watch_writer_has_folder (self->writer))
    return;
  file = watch_writer_begin (self->writer, job->camera, job->utc, "jpg");
  if (file) {
    watch_file_write (file, 0, gst_buffer_new_wrapped_bytes (jpeg));
    watch_file_end (file, TRUE);
  }
}

static void
take_job (gpointer data, gpointer user_data)
{
  Job *job = data;
  WatchPictures *self = user_data;

  store_picture (self, job);
  gst_sample_unref (job->frame);
  g_free (job->camera);
  g_free (job);
  g_mutex_lock (&self->lock);
  self->n_jobs--;
  g_cond_signal (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* A frame waits for the encoder, unless too many do. */
static void
push_job (WatchPictures *self, const WatchEvent *event, gboolean boxes)
{
  gboolean has_room;
  Job *job;

  g_mutex_lock (&self->lock);
  has_room = self->n_jobs < MAX_WAITING;
  self->n_jobs += has_room;
  g_mutex_unlock (&self->lock);
  if (!has_room) {
    watch_log_warning_limited (&self->wait_limit,
        "camera %s: no picture, because %d wait to be encoded already", event->camera, MAX_WAITING);
    return;
  }
  job = g_new (Job, 1);
  job->frame = gst_sample_ref (event->frame);
  job->boxes = boxes;
  job->camera = g_strdup (event->camera);
  job->utc = event->utc;
  g_thread_pool_push (self->pool, job, NULL);
}

static void
on_event (gpointer data, WatchCamera *camera, const WatchEvent *event)
{
  WatchPictures *self = data;
  g_autoptr (WatchCameraConfig) config = watch_camera_get_config (camera);

  if (event->frame && g_str_equal (event->kind, "motion-begin") && config->pictures &&
      (watch_writer_has_folder (self->writer) || watch_wants_pictures (self->watch)))
    push_job (self, event, config->picture_boxes);
}

/* The extension of pictures of objects. */
gchar *
watch_picture_extension (guint64 id)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT ".jpg", id);
}

static void
on_picture (gpointer data, WatchCamera *camera, guint64 id, gint64 utc, GstBuffer *jpeg)
{
  WatchPictures *self = data;
  g_autofree gchar *extension = watch_picture_extension (id);
  WatchFile *file =
      watch_writer_has_folder (self->writer)
          ? watch_writer_begin (self->writer, watch_camera_get_name (camera), utc, extension)
          : NULL;

  if (file) {
    watch_file_write (file, 0, gst_buffer_ref (jpeg));
    watch_file_end (file, TRUE);
  }
}

static gboolean
is_busy (gpointer data)
{
  WatchPictures *self = data;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);

  return self->n_jobs > 0;
}

static gdouble
count_waiting (gpointer data)
{
  return g_thread_pool_unprocessed (((WatchPictures *)data)->pool);
}

WatchPictures *
watch_pictures_new (Watch *watch, WatchWriter *writer)
{
  WatchPictures *self = g_new0 (WatchPictures, 1);

  self->watch = watch;
  self->writer = writer;
  self->pool = g_thread_pool_new (take_job, self, 1, TRUE, NULL);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->observer = (WatchObserver){
      .event = on_event,
      .picture = on_picture,
      .is_busy = is_busy,
      .queue_length = count_waiting,
      .queue_metric = "ccl_watch_picture_queue",
      .queue_help = "Pictures that wait to be encoded.",
      .data = self,
  };
  watch_add_observer (watch, &self->observer);
  return self;
}

gboolean
watch_pictures_free (WatchPictures *self, gint64 until)
{
  guint n_jobs;

  g_mutex_lock (&self->lock);
  while (self->n_jobs > 0 && g_cond_wait_until (&self->changed, &self->lock, until)) {
  }
  n_jobs = self->n_jobs;
  g_mutex_unlock (&self->lock);
  if (n_jobs > 0) {
    watch_log_warning ("%u pictures were not encoded in time", n_jobs);
    return FALSE;
  }
  g_thread_pool_free (self->pool, FALSE, TRUE);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self);
  return TRUE;
}
