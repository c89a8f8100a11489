/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pictures.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include "watch/system/log.h"

#define ENCODE_TIMEOUT (5 * GST_SECOND)
#define JPEG_QUALITY 85
#define MAX_WAITING 32

static gboolean
element_exists (const gchar *name)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);

  return factory != NULL;
}

/* The size of a picture of at most this width with square pixels; both numbers are even. */
static gboolean
picture_size (const GstCaps *caps, gint max_width, gint *width, gint *height)
{
  GstVideoInfo info;
  gint64 w, h;

  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;
  h = info.height;
  w = gst_util_uint64_scale_int (info.width, MAX (info.par_n, 1), MAX (info.par_d, 1));
  if (max_width > 0 && w > max_width) {
    h = h * max_width / w;
    w = max_width;
  }
  *width = MAX (w & ~1, 2);
  *height = MAX (h & ~1, 2);
  return TRUE;
}

static GstElement *
build_encoder (GstCaps *caps, gboolean boxes, gint max_width, GError **error)
{
  gboolean cuda = gst_caps_features_contains (gst_caps_get_features (caps, 0), "memory:CUDAMemory");
  g_autofree gchar *description = NULL;
  gint width, height;

  if (!picture_size (caps, max_width, &width, &height)) {
    g_set_error_literal (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "not a video frame");
    return NULL;
  }
  /* Boxes are drawn after scaling, so that their lines have the same width in all pictures. */
  description = g_strdup_printf (
      "appsrc name=in ! %s videoscale ! videoconvert ! "
      "video/x-raw,format=BGRx,width=%d,height=%d,pixel-aspect-ratio=1/1 ! %s videoconvert ! "
      "jpegenc quality=%d ! appsink name=out sync=false",
      cuda ? "cudadownload !" : "", width, height,
      boxes && element_exists ("ccloverlay") ? "ccloverlay !" : "", JPEG_QUALITY);
  return gst_parse_launch (description, error);
}

/* Sets the error to that of the pipeline. */
static void
take_error (GstElement *pipeline, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  if (message)
    gst_message_parse_error (message, error, NULL);
  else
    g_set_error_literal (
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_ENCODE, "no picture came out of the encoder");
}

static GBytes *
sample_to_bytes (GstSample *sample)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  gpointer data;
  gsize size;

  gst_buffer_extract_dup (buffer, 0, -1, &data, &size);
  return g_bytes_new_take (data, size);
}

GBytes *
watch_picture_encode (GstSample *frame, gboolean boxes, gint width, GError **error)
{
  GstCaps *caps = gst_sample_get_caps (frame);
  GstElement *pipeline = build_encoder (caps, boxes, width, error);
  g_autoptr (GstElement) in = NULL, out = NULL;
  g_autoptr (GstBuffer) buffer = NULL;
  GstSample *sample;
  GBytes *bytes = NULL;

  if (!pipeline)
    return NULL;
  in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  out = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  g_object_set (in, "caps", caps, "format", GST_FORMAT_TIME, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  buffer = gst_buffer_copy (gst_sample_get_buffer (frame));
  GST_BUFFER_PTS (buffer) = 0;
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  gst_app_src_push_buffer (GST_APP_SRC (in), g_steal_pointer (&buffer));
  gst_app_src_end_of_stream (GST_APP_SRC (in));
  sample = gst_app_sink_try_pull_sample (GST_APP_SINK (out), ENCODE_TIMEOUT);
  if (sample) {
    bytes = sample_to_bytes (sample);
    gst_sample_unref (sample);
  } else {
    take_error (pipeline, error);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return bytes;
}

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
  g_autoptr (GBytes) jpeg = watch_picture_encode (job->frame, job->boxes, 0, &error);
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
  WatchCameraConfig *config;

  if (!event->frame || !g_str_equal (event->kind, "motion-begin"))
    return;
  config = watch_camera_get_config (camera);
  if (config->pictures &&
      (watch_writer_has_folder (self->writer) || watch_wants_pictures (self->watch)))
    push_job (self, event, config->picture_boxes);
  watch_camera_config_unref (config);
}

static gboolean
is_busy (gpointer data)
{
  WatchPictures *self = data;
  gboolean is_busy;

  g_mutex_lock (&self->lock);
  is_busy = self->n_jobs > 0;
  g_mutex_unlock (&self->lock);
  return is_busy;
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
