/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clips.h"

#include <gst/app/gstappsrc.h>
#include <gst/gst.h>

#include "folder.h"
#include "process-limits.h"
#include "log.h"

/* A motion is reported when its first frame is labelled: a moment after the encoded frame came. */
#define LABELLING_TIME (2 * GST_SECOND)
#define MAX_KEPT_BYTES (64 * 1024 * 1024)      /* of a camera's encoded frames in memory */
#define MAX_UNWRITTEN_BYTES (64 * 1024 * 1024) /* that wait for a slow disk */
#define MAX_CLIP_TIME (10 * 60 * GST_SECOND)   /* a longer motion has several clips */
#define FRAGMENT_MS 1000
#define FINISH_TIMEOUT G_TIME_SPAN_SECOND

typedef struct {
  GstBuffer *buffer;
  GstClockTimeDiff running_time; /* negative before the beginning of a file's time */
} Frame;

/* The recent encoded frames of one camera, and its clip. */
typedef struct {
  GQueue frames; /* Frame; the first one is a key frame */
  gsize n_bytes;
  GstCaps *caps;

  /* During a clip; owned by the set of open clips. */
  GstElement *clip;       /* the pipeline that writes; NULL if there is none */
  GstElement *input;      /* its appsrc */
  GstClockTimeDiff start; /* running time of the clip's first frame */
  GstClockTime end; /* running time after which the clip ends; GST_CLOCK_TIME_NONE: not known */
  gint64 wanted;    /* UTC time of a motion whose clip has not begun, or 0 */
} Recorder;

struct _WatchClips {
  WatchObserver observer;
  gchar *folder;
  GMutex lock;
  GHashTable *recorders; /* WatchCamera → Recorder */
  GHashTable *open;      /* set of pipelines that write or finish their file */
  GCond closed;
  GAsyncQueue *finished; /* pipelines to close; the WatchClips itself ends the closer */
  GThread *closer;
};

static void
frame_free (gpointer data)
{
  Frame *frame = data;

  gst_buffer_unref (frame->buffer);
  g_free (frame);
}

static gboolean
is_key_frame (const Frame *frame)
{
  return !GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_BUFFER_FLAG_DELTA_UNIT);
}

/* Elements that make a stream fit for MP4; NULL if it cannot be. A stream without decoding times
 * gets them. */
static const gchar *
elements_for (GstCaps *caps, gboolean has_dts)
{
  const gchar *type = gst_structure_get_name (gst_caps_get_structure (caps, 0));

  if (g_str_equal (type, "video/x-h264"))
    return has_dts ? "h264parse" : "h264parse ! h264timestamper";
  if (g_str_equal (type, "video/x-h265"))
    return has_dts ? "h265parse" : "h265parse ! h265timestamper";
  if (g_str_equal (type, "video/mpeg"))
    return "mpeg4videoparse";
  if (g_str_equal (type, "video/x-av1"))
    return "av1parse";
  if (g_str_equal (type, "video/x-vp9"))
    return "vp9parse";
  return NULL;
}

/* Forgets the frames before the last key frame that a motion may still begin its clip with. */
static void
drop_frames (Recorder *self, GstClockTimeDiff kept)
{
  GList *first = NULL;
  GstClockTimeDiff newest = ((Frame *)g_queue_peek_tail (&self->frames))->running_time;

  for (GList *l = self->frames.head; l; l = l->next) {
    Frame *frame = l->data;

    if (is_key_frame (frame) &&
        (frame->running_time + kept <= newest || self->n_bytes > MAX_KEPT_BYTES))
      first = l;
    else if (frame->running_time + kept > newest && self->n_bytes <= MAX_KEPT_BYTES)
      break;
  }
  while (first && self->frames.head != first) {
    Frame *frame = g_queue_pop_head (&self->frames);

    self->n_bytes -= gst_buffer_get_size (frame->buffer);
    frame_free (frame);
  }
}

/* Hands the pipeline to the closer at its end and after an error: this is a thread of the
 * pipeline, which cannot stop it. */
static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  WatchClips *self = data;
  GstObject *source = GST_MESSAGE_SRC (message);

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    g_autoptr (GError) error = NULL;

    gst_message_parse_error (message, &error, NULL);
    watch_log_warning ("a clip is incomplete: %s", error->message);
    while (GST_OBJECT_PARENT (source))
      source = GST_OBJECT_PARENT (source);
    g_async_queue_push (self->finished, gst_object_ref (source));
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS) {
    g_async_queue_push (self->finished, gst_object_ref (source));
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* Frees a pipeline, once, although an error and an end may both be reported. */
static void
close_clip (WatchClips *self, GstElement *clip)
{
  GHashTableIter iter;
  gpointer recorder;
  gboolean open;

  g_mutex_lock (&self->lock);
  open = g_hash_table_contains (self->open, clip);
  g_hash_table_iter_init (&iter, self->recorders);
  while (open && g_hash_table_iter_next (&iter, NULL, &recorder))
    if (((Recorder *)recorder)->clip == clip)
      ((Recorder *)recorder)->clip = NULL;
  g_mutex_unlock (&self->lock);
  if (!open)
    return;
  gst_element_set_state (clip, GST_STATE_NULL);
  g_mutex_lock (&self->lock);
  g_hash_table_remove (self->open, clip);
  g_cond_signal (&self->closed);
  g_mutex_unlock (&self->lock);
}

static gpointer
closer_thread (gpointer data)
{
  WatchClips *self = data;
  gpointer item;

  while ((item = g_async_queue_pop (self->finished)) != self) {
    close_clip (self, item);
    gst_object_unref (item);
  }
  return NULL;
}

/* Gives the clip a frame, whose times count from the clip's beginning. */
static void
write_frame (Recorder *self, const Frame *frame)
{
  GstBuffer *buffer = gst_buffer_copy (frame->buffer);
  GstClockTime time = MAX (0, frame->running_time - self->start);
  GstClockTime pts = GST_BUFFER_PTS (buffer), dts = GST_BUFFER_DTS (buffer);

  /* The running time is that of the DTS, or of the PTS where there is no DTS. */
  if (GST_CLOCK_TIME_IS_VALID (dts)) {
    GST_BUFFER_DTS (buffer) = time;
    if (GST_CLOCK_TIME_IS_VALID (pts))
      GST_BUFFER_PTS (buffer) = time + (pts - MIN (dts, pts));
  } else {
    GST_BUFFER_PTS (buffer) = time;
  }
  gst_app_src_push_buffer (GST_APP_SRC (self->input), buffer);
}

/* Ends the clip; the closer frees it when all is written. */
static void
end_clip (Recorder *self)
{
  if (self->clip)
    gst_app_src_end_of_stream (GST_APP_SRC (self->input));
  self->clip = NULL;
}

static GstElement *
build_writer (const gchar *elements, const gchar *path)
{
  /* Without buffering in filesink, each fragment is in the file as soon as it is complete. */
  g_autofree gchar *description =
      g_strdup_printf ("appsrc name=in ! %s ! mp4mux fragment-duration=%d ! filesink name=out "
                       "buffer-mode=unbuffered",
          elements, FRAGMENT_MS);
  g_autoptr (GError) error = NULL;
  GstElement *clip = gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  g_autoptr (GstElement) out = NULL;

  if (!clip) {
    watch_log_warning ("clips are not possible: %s", error->message);
    return NULL;
  }
  out = gst_bin_get_by_name (GST_BIN (clip), "out");
  g_object_set (out, "location", path, "async", FALSE, NULL);
  return clip;
}

/* Begins the requested clip with this kept frame. */
static void
begin_clip (WatchClips *self, Recorder *recorder, const gchar *camera, GList *first)
{
  Frame *frame = first->data;
  const gchar *elements = elements_for (recorder->caps, GST_BUFFER_DTS_IS_VALID (frame->buffer));
  g_autofree gchar *name = watch_folder_name (camera, recorder->wanted, "mp4");
  g_autofree gchar *path = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GError) error = NULL;

  recorder->wanted = 0;
  if (!watch_limits_check (&error)) {
    watch_log_warning ("%s: no clip: %s", camera, error->message);
    return;
  }
  if (!elements) {
    g_autofree gchar *caps = gst_caps_to_string (recorder->caps);

    watch_log_warning ("%s: no clip, because MP4 takes no %s", camera, caps);
    return;
  }
  path = watch_folder_make_path (self->folder, name);
  recorder->clip = path ? build_writer (elements, path) : NULL;
  if (!recorder->clip)
    return;
  gst_object_ref_sink (recorder->clip);
  g_hash_table_add (self->open, recorder->clip);
  recorder->input = gst_bin_get_by_name (GST_BIN (recorder->clip), "in");
  gst_object_unref (recorder->input); /* the pipeline holds it */
  g_object_set (
      recorder->input, "caps", recorder->caps, "format", GST_FORMAT_TIME, "max-bytes", 0, NULL);
  bus = gst_element_get_bus (recorder->clip);
  gst_bus_set_sync_handler (bus, on_message, self, NULL);
  recorder->start = frame->running_time;
  for (GList *l = first; l; l = l->next)
    write_frame (recorder, l->data);
  gst_element_set_state (recorder->clip, GST_STATE_PLAYING);
}

static GList *
find_first_frame (Recorder *self, GstClockTimeDiff time)
{
  GList *first = self->frames.head;

  for (GList *l = self->frames.head; l && ((Frame *)l->data)->running_time <= time; l = l->next)
    if (is_key_frame (l->data))
      first = l;
  return first;
}

static void
forget_frames (Recorder *self)
{
  g_queue_clear_full (&self->frames, frame_free);
  self->n_bytes = 0;
}

static void
recorder_free (gpointer data)
{
  Recorder *self = data;

  end_clip (self);
  forget_frames (self);
  gst_clear_caps (&self->caps);
  g_free (self);
}

/* Called with the lock held. */
static Recorder *
get_recorder (WatchClips *self, WatchCamera *camera)
{
  Recorder *recorder = g_hash_table_lookup (self->recorders, camera);

  if (!recorder) {
    recorder = g_new0 (Recorder, 1);
    g_hash_table_insert (self->recorders, camera, recorder);
  }
  return recorder;
}

/* Keeps a frame until it is older than all that a motion may still need. */
static void
keep_frame (Recorder *self, GstBuffer *buffer, GstClockTimeDiff running_time, GstClockTimeDiff kept)
{
  Frame *last = g_queue_peek_tail (&self->frames);
  Frame *frame = g_new (Frame, 1);

  if (!GST_CLOCK_STIME_IS_VALID (running_time))
    running_time = last ? last->running_time : 0;
  frame->buffer = gst_buffer_ref (buffer);
  frame->running_time = running_time;
  g_queue_push_tail (&self->frames, frame);
  self->n_bytes += gst_buffer_get_size (buffer);
  drop_frames (self, kept);
}

/* Continues the clip with the newest frame, or ends it. */
static void
continue_clip (WatchClips *self, Recorder *recorder, const gchar *camera)
{
  Frame *frame = g_queue_peek_tail (&recorder->frames);

  if (GST_CLOCK_TIME_IS_VALID (recorder->end) &&
      frame->running_time >= (GstClockTimeDiff)recorder->end) {
    end_clip (recorder);
  } else if (gst_app_src_get_current_level_bytes (GST_APP_SRC (recorder->input)) >
             MAX_UNWRITTEN_BYTES) {
    watch_log_warning ("%s: a clip is incomplete, because the disk is too slow", camera);
    end_clip (recorder);
  } else if (frame->running_time > recorder->start + MAX_CLIP_TIME && is_key_frame (frame)) {
    end_clip (recorder);
    recorder->wanted = g_get_real_time ();
    begin_clip (self, recorder, camera, recorder->frames.tail);
  } else {
    write_frame (recorder, frame);
  }
}

static void
on_encoded (gpointer data, WatchCamera *camera, GstBuffer *buffer, GstCaps *caps,
    GstClockTimeDiff running_time)
{
  WatchClips *self = data;
  WatchCameraConfig *config = watch_camera_get_config (camera);
  gboolean key_frame = !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  Recorder *recorder;

  g_mutex_lock (&self->lock);
  recorder = get_recorder (self, camera);
  if (!config->clips || !recorder->caps || !gst_caps_is_equal (recorder->caps, caps)) {
    end_clip (recorder);
    forget_frames (recorder);
    gst_caps_replace (&recorder->caps, caps);
  }
  if (config->clips && (recorder->frames.head || key_frame)) {
    keep_frame (recorder, buffer, running_time, config->clip_pre * GST_SECOND + LABELLING_TIME);
    if (recorder->clip)
      continue_clip (self, recorder, watch_camera_get_name (camera));
    else if (recorder->wanted != 0)
      begin_clip (self, recorder, watch_camera_get_name (camera), recorder->frames.head);
  }
  g_mutex_unlock (&self->lock);
  watch_camera_config_unref (config);
}

static void
on_event (gpointer data, WatchCamera *camera, const WatchEvent *event)
{
  WatchClips *self = data;
  WatchCameraConfig *config = watch_camera_get_config (camera);
  GstClockTime pre = config->clip_pre * GST_SECOND;
  Recorder *recorder;

  g_mutex_lock (&self->lock);
  recorder = get_recorder (self, camera);
  if (config->clips && g_str_equal (event->kind, "motion-begin")) {
    recorder->end = GST_CLOCK_TIME_NONE;
    recorder->wanted = recorder->clip ? 0 : event->utc;
    if (recorder->wanted != 0 && recorder->frames.head)
      begin_clip (self, recorder, event->camera,
          find_first_frame (recorder, GST_CLOCK_DIFF (pre, event->running_time)));
  } else if (g_str_equal (event->kind, "motion-end")) {
    recorder->end = event->running_time + (GstClockTime)(config->clip_post * GST_SECOND);
    recorder->wanted = 0;
  }
  g_mutex_unlock (&self->lock);
  watch_camera_config_unref (config);
}

static void
on_stopped (gpointer data, WatchCamera *camera)
{
  WatchClips *self = data;

  g_mutex_lock (&self->lock);
  g_hash_table_remove (self->recorders, camera);
  g_mutex_unlock (&self->lock);
}

static gdouble
count_unwritten (gpointer data)
{
  WatchClips *self = data;
  guint64 n_bytes = 0;
  GHashTableIter iter;
  gpointer recorder;

  g_mutex_lock (&self->lock);
  g_hash_table_iter_init (&iter, self->recorders);
  while (g_hash_table_iter_next (&iter, NULL, &recorder))
    if (((Recorder *)recorder)->clip)
      n_bytes += gst_app_src_get_current_level_bytes (GST_APP_SRC (((Recorder *)recorder)->input));
  g_mutex_unlock (&self->lock);
  return n_bytes;
}

WatchClips *
watch_clips_new (Watch *watch)
{
  WatchClips *self = g_new0 (WatchClips, 1);

  self->folder = g_strdup (watch_get_config (watch)->folder);
  g_mutex_init (&self->lock);
  g_cond_init (&self->closed);
  self->recorders = g_hash_table_new_full (NULL, NULL, NULL, recorder_free);
  self->open = g_hash_table_new_full (NULL, NULL, gst_object_unref, NULL);
  self->finished = g_async_queue_new_full (gst_object_unref);
  self->closer = g_thread_new ("clips", closer_thread, self);
  self->observer = (WatchObserver){
      .event = on_event,
      .encoded = on_encoded,
      .stopped = on_stopped,
      .queue_length = count_unwritten,
      .queue_metric = "ccl_watch_clip_queue_bytes",
      .queue_help = "Encoded frames of clips that wait to be written, in bytes.",
      .data = self,
  };
  if (self->folder)
    watch_add_observer (watch, &self->observer);
  return self;
}

void
watch_clips_free (WatchClips *self)
{
  gint64 timeout = g_get_monotonic_time () + FINISH_TIMEOUT;

  g_mutex_lock (&self->lock);
  g_hash_table_remove_all (self->recorders);
  while (
      g_hash_table_size (self->open) > 0 && g_cond_wait_until (&self->closed, &self->lock, timeout))
    ;
  if (g_hash_table_size (self->open) > 0)
    watch_log_warning ("%u clips are incomplete", g_hash_table_size (self->open));
  g_mutex_unlock (&self->lock);

  g_async_queue_push (self->finished, self);
  g_thread_join (self->closer);
  g_hash_table_unref (self->recorders);
  g_hash_table_unref (self->open);
  g_async_queue_unref (self->finished);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->closed);
  g_free (self->folder);
  g_free (self);
}
