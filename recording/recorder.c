/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "recorder.h"

#include "recent-frames.h"

/* An event is reported when its first frame is analysed: a moment after the encoded frame came. */
#define ANALYSIS_TIME (2 * GST_SECOND)
#define RETRY_TIME (5 * G_TIME_SPAN_SECOND) /* after a clip that failed */

struct _Recorder {
  const RecorderFunctions *functions;
  gpointer data;
  GstClockTime longest;

  GRecMutex lock; /* held only for a moment; a report may lead back here */
  RecentFrames recent;
  GstCaps *caps;
  gboolean is_reported; /* that clips of these caps are not possible, or begin late */

  /* Of the latest event. */
  gboolean is_wanted; /* its clip has not ended */
  GstClockTime end;   /* running time after which the clip ends; GST_CLOCK_TIME_NONE: not known */
  GstClockTimeDiff begin; /* running time at which the clip should begin */
  GstClockTimeDiff time;  /* running time that names the clip */
  gint64 retry_time;      /* monotonic time before which no clip begins */
  gboolean has_begun;     /* a clip */
  gboolean is_continued;  /* after a clip that failed and stays: the next one begins behind it */
  Clip *clip;             /* that is being made, or NULL */
};

Recorder *
recorder_new (const RecorderFunctions *functions, gpointer data, GstClockTime longest)
{
  Recorder *self = g_new0 (Recorder, 1);

  self->functions = functions;
  self->data = data;
  self->longest = longest;
  g_rec_mutex_init (&self->lock);
  return self;
}

void
recorder_set_longest (Recorder *self, GstClockTime longest)
{
  g_rec_mutex_lock (&self->lock);
  self->longest = longest;
  g_rec_mutex_unlock (&self->lock);
}

static void
end_clip (Recorder *self)
{
  g_clear_pointer (&self->clip, clip_end);
}

/* Called with the lock held. */
static void
reset (Recorder *self)
{
  end_clip (self);
  recent_frames_clear (&self->recent);
}

void
recorder_free (Recorder *self)
{
  reset (self);
  gst_clear_caps (&self->caps);
  g_rec_mutex_clear (&self->lock);
  g_free (self);
}

static void report (Recorder *self, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static void
report (Recorder *self, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  self->functions->report (self->data, text);
}

/* The stream has other caps than before. */
static void
set_caps (Recorder *self, GstCaps *caps)
{
  reset (self);
  gst_caps_replace (&self->caps, caps);
  self->is_reported = !clip_takes (caps);
  if (self->is_reported) {
    g_autofree gchar *text = gst_caps_to_string (caps);

    report (self, "no clips, because MP4 takes no %s", text);
  }
}

/* A clip in a new file; NULL after a report. */
static Clip *
open_clip (Recorder *self, const EncodedFrame *first)
{
  gpointer file = self->functions->open (self->data, self->time);
  g_autofree gchar *title =
      self->functions->title ? self->functions->title (self->data, first->running_time) : NULL;
  g_autoptr (GError) error = NULL;
  Clip *clip;

  if (!file)
    return NULL;
  clip = clip_new (self->functions->file, file, self->caps, GST_BUFFER_DTS_IS_VALID (first->buffer),
      first->running_time, title, &error);
  if (!clip) {
    report (self, "clips are not possible: %s", error->message);
    self->functions->file->end (file, FALSE);
  }
  return clip;
}

/* Begins the wanted clip, if that is possible now. */
static void
try_to_begin (Recorder *self)
{
  GList *first = recent_frames_find (&self->recent, self->begin);
  gint64 now = g_get_monotonic_time ();

  if (!first || now < self->retry_time || !clip_takes (self->caps))
    return;
  self->clip = open_clip (self, first->data);
  if (!self->clip)
    self->retry_time = now + RETRY_TIME;
  self->has_begun = self->has_begun || self->clip;
  for (GList *l = first; l && self->clip; l = l->next) {
    const EncodedFrame *frame = l->data;

    clip_add (self->clip, frame->buffer, frame->running_time);
  }
}

/* The event and the time after it are over. */
static void
finish (Recorder *self)
{
  if (self->is_wanted && !self->has_begun && !self->recent.frames.head && self->caps &&
      clip_takes (self->caps))
    report (self, "no clip of an event, because no key frame came");
  self->is_wanted = FALSE;
  end_clip (self);
}

/* A frame came while a clip is wanted. */
static void
continue_clip (Recorder *self, GstBuffer *frame, GstClockTimeDiff time)
{
  gboolean is_key_frame = !GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_DELTA_UNIT);

  if (GST_CLOCK_TIME_IS_VALID (self->end) && time >= (GstClockTimeDiff)self->end) {
    finish (self);
    return;
  }
  if (self->clip && clip_has_failed (self->clip)) {
    self->is_continued = self->is_continued || clip_can_be_played (self->clip);
    if (self->is_continued)
      self->begin = self->time = time;
    end_clip (self);
    self->retry_time = g_get_monotonic_time () + RETRY_TIME;
  }
  if (self->clip && is_key_frame &&
      time > clip_get_start (self->clip) + (GstClockTimeDiff)self->longest) {
    end_clip (self);
    self->begin = self->time = time;
  }
  if (self->clip)
    clip_add (self->clip, frame, time);
  else
    try_to_begin (self);
}

void
recorder_add (Recorder *self, GstBuffer *frame, GstCaps *caps, GstClockTimeDiff running_time,
    GstClockTime pre)
{
  const EncodedFrame *last;

  g_rec_mutex_lock (&self->lock);
  if (!self->caps || !gst_caps_is_equal (self->caps, caps))
    set_caps (self, caps);
  last = g_queue_peek_tail (&self->recent.frames);
  if (!GST_CLOCK_STIME_IS_VALID (running_time))
    running_time = last ? last->running_time : 0;
  if (!recent_frames_add (&self->recent, frame, running_time, pre + ANALYSIS_TIME) &&
      !self->is_reported) {
    self->is_reported = TRUE;
    report (self,
        "more than %d MB from one key frame to the next, so clips begin with the first one after "
        "the event's beginning",
        RECENT_FRAMES_BYTES / 1000000);
  }
  if (self->is_wanted)
    continue_clip (self, frame, running_time);
  g_rec_mutex_unlock (&self->lock);
}

void
recorder_begin (Recorder *self, GstClockTime running_time, GstClockTime pre)
{
  g_rec_mutex_lock (&self->lock);
  self->is_wanted = TRUE;
  self->end = GST_CLOCK_TIME_NONE;
  if (!self->clip) {
    self->begin = GST_CLOCK_DIFF (pre, running_time);
    self->time = (GstClockTimeDiff)running_time;
    self->has_begun = self->is_continued = FALSE;
    try_to_begin (self);
  }
  g_rec_mutex_unlock (&self->lock);
}

void
recorder_end (Recorder *self, GstClockTime running_time)
{
  g_rec_mutex_lock (&self->lock);
  self->end = running_time;
  g_rec_mutex_unlock (&self->lock);
}

gboolean
recorder_is_recording (Recorder *self)
{
  gboolean is_wanted;

  g_rec_mutex_lock (&self->lock);
  is_wanted = self->is_wanted;
  g_rec_mutex_unlock (&self->lock);
  return is_wanted;
}

guint64
recorder_get_waiting (Recorder *self)
{
  guint64 n_bytes;

  g_rec_mutex_lock (&self->lock);
  n_bytes = self->clip ? clip_get_waiting (self->clip) : 0;
  g_rec_mutex_unlock (&self->lock);
  return n_bytes;
}

void
recorder_reset (Recorder *self)
{
  g_rec_mutex_lock (&self->lock);
  reset (self);
  self->is_wanted = self->is_wanted && !GST_CLOCK_TIME_IS_VALID (self->end);
  g_rec_mutex_unlock (&self->lock);
}

void
recorder_finish (Recorder *self)
{
  g_rec_mutex_lock (&self->lock);
  finish (self);
  g_rec_mutex_unlock (&self->lock);
}
