/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clips.h"

#include "clip.h"
#include "watch/system/log.h"
#include "watch/system/process-limits.h"
#include "recent-frames.h"

/* A motion is reported when its first frame is labelled: a moment after the encoded frame came. */
#define LABELLING_TIME (2 * GST_SECOND)
#define MAX_CLIP_TIME (10 * 60 * GST_SECOND) /* a longer motion has several clips */
#define RETRY_TIME (5 * G_TIME_SPAN_SECOND)  /* after a clip that failed */

/* The recent encoded frames of one connection of a camera, and its clip. */
typedef struct {
  GMutex lock; /* held only for a moment */
  WatchRecentFrames recent;
  GstCaps *caps;
  gboolean is_reported; /* that clips of these caps are not possible, or begin late */

  /* Of the latest motion. */
  gboolean is_wanted; /* its clip has not ended */
  GstClockTime end;   /* running time after which the clip ends; GST_CLOCK_TIME_NONE: not known */
  GstClockTimeDiff begin; /* running time at which the clip should begin */
  gint64 utc;             /* that names the clip */
  gint64 utc_offset;      /* of UTC to running time, in microseconds */
  gint64 retry_time;      /* monotonic time before which no clip begins */
  gboolean has_begun;     /* a clip */
  WatchClip *clip;        /* that is being made, or NULL */
} Recorder;

struct _WatchClips {
  WatchObserver observer;
  WatchWriter *writer;
  GMutex lock;           /* held only for a moment */
  GHashTable *recorders; /* WatchCamera → Recorder */
  WatchLogLimit limit;   /* of messages */
};

/* A recorder. */

static Recorder *
recorder_new (void)
{
  Recorder *recorder = g_atomic_rc_box_new0 (Recorder);

  g_mutex_init (&recorder->lock);
  return recorder;
}

static void
end_clip (Recorder *recorder)
{
  g_clear_pointer (&recorder->clip, watch_clip_end);
}

static void
clear_recorder (Recorder *recorder)
{
  end_clip (recorder);
  watch_recent_frames_clear (&recorder->recent);
  gst_clear_caps (&recorder->caps);
  g_mutex_clear (&recorder->lock);
}

static void
recorder_unref (gpointer recorder)
{
  g_atomic_rc_box_release_full (recorder, (GDestroyNotify)clear_recorder);
}

/* A reference to the camera's recorder, which is made where missing. */
static Recorder *
get_recorder (WatchClips *self, WatchCamera *camera)
{
  Recorder *recorder;

  g_mutex_lock (&self->lock);
  recorder = g_hash_table_lookup (self->recorders, camera);
  if (!recorder) {
    recorder = recorder_new ();
    g_hash_table_insert (self->recorders, camera, recorder);
  }
  g_atomic_rc_box_acquire (recorder);
  g_mutex_unlock (&self->lock);
  return recorder;
}

/* The stream has other caps than before. */
static void
set_caps (Recorder *recorder, GstCaps *caps, const gchar *camera)
{
  end_clip (recorder);
  watch_recent_frames_clear (&recorder->recent);
  gst_caps_replace (&recorder->caps, caps);
  recorder->is_reported = !watch_clip_takes (caps);
  if (recorder->is_reported) {
    g_autofree gchar *text = gst_caps_to_string (caps);

    watch_log_warning ("camera %s: no clips, because MP4 takes no %s", camera, text);
  }
}

/* Begins the wanted clip, if that is possible now. */
static void
try_to_begin (WatchClips *self, Recorder *recorder, const gchar *camera)
{
  GList *first = watch_recent_frames_find (&recorder->recent, recorder->begin);
  gint64 now = g_get_monotonic_time ();
  const WatchEncodedFrame *frame;
  g_autoptr (GError) error = NULL;

  if (!first || now < recorder->retry_time || !watch_clip_takes (recorder->caps))
    return;
  frame = first->data;
  if (watch_limits_check (&error))
    recorder->clip = watch_clip_new (self->writer, camera, recorder->utc, recorder->caps,
        GST_BUFFER_DTS_IS_VALID (frame->buffer), frame->running_time);
  else
    watch_log_warning_limited (&self->limit, "camera %s: no clip: %s", camera, error->message);
  if (!recorder->clip)
    recorder->retry_time = now + RETRY_TIME;
  recorder->has_begun = recorder->has_begun || recorder->clip;
  for (GList *l = first; l && recorder->clip; l = l->next) {
    frame = l->data;
    watch_clip_add (recorder->clip, frame->buffer, frame->running_time);
  }
}

/* The motion and the time after it are over. */
static void
finish_motion (WatchClips *self, Recorder *recorder, const gchar *camera)
{
  recorder->is_wanted = FALSE;
  end_clip (recorder);
  if (!recorder->has_begun && !recorder->recent.frames.head && watch_clip_takes (recorder->caps))
    watch_log_warning_limited (
        &self->limit, "camera %s: no clip of a motion, because no key frame came", camera);
}

/* A frame came while a clip is wanted. */
static void
continue_clip (WatchClips *self, Recorder *recorder, const gchar *camera, GstBuffer *buffer,
    GstClockTimeDiff time)
{
  gboolean is_key_frame = !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);

  if (GST_CLOCK_TIME_IS_VALID (recorder->end) && time >= (GstClockTimeDiff)recorder->end) {
    finish_motion (self, recorder, camera);
    return;
  }
  if (recorder->clip && watch_clip_has_failed (recorder->clip)) {
    end_clip (recorder);
    recorder->retry_time = g_get_monotonic_time () + RETRY_TIME;
  }
  if (recorder->clip && is_key_frame &&
      time > watch_clip_get_start (recorder->clip) + MAX_CLIP_TIME) {
    end_clip (recorder);
    recorder->begin = time;
    recorder->utc = recorder->utc_offset + time / 1000;
  }
  if (recorder->clip)
    watch_clip_add (recorder->clip, buffer, time);
  else
    try_to_begin (self, recorder, camera);
}

/* The observer. */

static void
on_encoded (gpointer data, WatchCamera *camera, GstBuffer *buffer, GstCaps *caps,
    GstClockTimeDiff running_time)
{
  WatchClips *self = data;
  WatchCameraConfig *config = watch_camera_get_config (camera);
  Recorder *recorder = get_recorder (self, camera);
  const gchar *name = watch_camera_get_name (camera);
  const WatchEncodedFrame *last;

  g_mutex_lock (&recorder->lock);
  if (!config->clips || !watch_writer_has_folder (self->writer)) {
    end_clip (recorder);
    watch_recent_frames_clear (&recorder->recent);
  } else {
    if (!recorder->caps || !gst_caps_is_equal (recorder->caps, caps))
      set_caps (recorder, caps, name);
    last = g_queue_peek_tail (&recorder->recent.frames);
    if (!GST_CLOCK_STIME_IS_VALID (running_time))
      running_time = last ? last->running_time : 0;
    if (!watch_recent_frames_add (&recorder->recent, buffer, running_time,
            config->clip_pre * GST_SECOND + LABELLING_TIME) &&
        !recorder->is_reported) {
      recorder->is_reported = TRUE;
      watch_log_warning (
          "camera %s: more than %d MB from one key frame to the next, so clips begin "
          "with the first one after the motion's beginning",
          name, WATCH_RECENT_BYTES / 1000000);
    }
    if (recorder->is_wanted)
      continue_clip (self, recorder, name, buffer, running_time);
  }
  g_mutex_unlock (&recorder->lock);
  recorder_unref (recorder);
  watch_camera_config_unref (config);
}

static void
begin_motion (WatchClips *self, Recorder *recorder, const WatchEvent *event, gdouble pre)
{
  recorder->is_wanted = TRUE;
  recorder->end = GST_CLOCK_TIME_NONE;
  if (recorder->clip)
    return; /* of the motion before, which goes on */
  recorder->begin = GST_CLOCK_DIFF ((GstClockTime)(pre * GST_SECOND), event->running_time);
  recorder->utc = event->utc;
  recorder->utc_offset = event->utc - (gint64)(event->running_time / 1000);
  recorder->has_begun = FALSE;
  try_to_begin (self, recorder, event->camera);
}

static void
on_event (gpointer data, WatchCamera *camera, const WatchEvent *event)
{
  WatchClips *self = data;
  gboolean begins = g_str_equal (event->kind, "motion-begin");
  WatchCameraConfig *config;
  Recorder *recorder;

  if (!begins && !g_str_equal (event->kind, "motion-end"))
    return;
  config = watch_camera_get_config (camera);
  recorder = get_recorder (self, camera);
  g_mutex_lock (&recorder->lock);
  if (begins)
    begin_motion (self, recorder, event, config->clip_pre);
  else
    recorder->end = event->running_time + (GstClockTime)(config->clip_post * GST_SECOND);
  g_mutex_unlock (&recorder->lock);
  recorder_unref (recorder);
  watch_camera_config_unref (config);
}

static void
on_stopped (gpointer data, WatchCamera *camera)
{
  WatchClips *self = data;
  gpointer recorder = NULL;

  g_mutex_lock (&self->lock);
  g_hash_table_steal_extended (self->recorders, camera, NULL, &recorder);
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&recorder, recorder_unref);
}

WatchClips *
watch_clips_new (Watch *watch, WatchWriter *writer)
{
  WatchClips *self = g_new0 (WatchClips, 1);

  self->writer = writer;
  g_mutex_init (&self->lock);
  self->recorders = g_hash_table_new_full (NULL, NULL, NULL, recorder_unref);
  self->observer = (WatchObserver){
      .event = on_event, .encoded = on_encoded, .stopped = on_stopped, .data = self};
  watch_add_observer (watch, &self->observer);
  return self;
}

void
watch_clips_free (WatchClips *self)
{
  g_hash_table_unref (self->recorders);
  g_mutex_clear (&self->lock);
  g_free (self);
}
