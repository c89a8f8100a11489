/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clips.h"

#include <gst/ccl/ccl.h>

#include "recording/recorder.h"
#include "watch/system/log.h"
#include "watch/system/process-limits.h"

#define LONGEST_CLIP (10 * 60 * GST_SECOND) /* a longer motion has several clips */

/* The recorder of one connection of a camera. */
typedef struct {
  WatchClips *clips;
  gchar *camera;
  GMutex lock;       /* held only for a moment */
  gint64 utc_offset; /* of UTC to running time, in microseconds */
  Recorder *recorder;
} Recording;

struct _WatchClips {
  WatchObserver observer;
  WatchWriter *writer;
  GMutex lock;            /* held only for a moment */
  GHashTable *recordings; /* WatchCamera → Recording */
  WatchLogLimit limit;    /* of messages */
};

/* Functions that the recorder calls. */

static void
report (gpointer data, const gchar *text)
{
  const Recording *recording = data;

  watch_log_warning_limited (&recording->clips->limit, "camera %s: %s", recording->camera, text);
}

static gint64
to_utc (Recording *recording, GstClockTimeDiff running_time)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&recording->lock);

  return recording->utc_offset + running_time / 1000;
}

static gchar *
make_title (gpointer data, GstClockTimeDiff running_time)
{
  return gst_ccl_utc_format (to_utc (data, running_time));
}

static gpointer
open_file (gpointer data, GstClockTimeDiff running_time)
{
  Recording *recording = data;
  g_autoptr (GError) error = NULL;

  if (!watch_limits_check (&error)) {
    g_autofree gchar *text = g_strdup_printf ("no clip: %s", error->message);

    report (recording, text);
    return NULL;
  }
  return watch_writer_begin (
      recording->clips->writer, recording->camera, to_utc (recording, running_time), "mp4");
}

static gboolean
write_file (gpointer file, goffset position, GstBuffer *buffer)
{
  return watch_file_write (file, position, buffer);
}

static void
mark_file (gpointer file)
{
  watch_file_mark (file);
}

static void
fail_file (gpointer file, const gchar *reason)
{
  watch_file_fail (file, reason);
}

static void
end_file (gpointer file, gboolean is_complete)
{
  watch_file_end (file, is_complete);
}

static const ClipFileFunctions file_functions = {
    .write = write_file, .mark = mark_file, .fail = fail_file, .end = end_file};
static const RecorderFunctions functions = {
    .file = &file_functions, .open = open_file, .title = make_title, .report = report};

/* Recordings. */

static void
clear_recording (gpointer data)
{
  Recording *recording = data;

  recorder_free (recording->recorder);
  g_free (recording->camera);
  g_mutex_clear (&recording->lock);
}

static void
recording_unref (gpointer recording)
{
  g_atomic_rc_box_release_full (recording, clear_recording);
}

static Recording *
recording_new (WatchClips *self, WatchCamera *camera)
{
  Recording *recording = g_atomic_rc_box_new0 (Recording);

  recording->clips = self;
  recording->camera = g_strdup (watch_camera_get_name (camera));
  g_mutex_init (&recording->lock);
  recording->recorder = recorder_new (&functions, recording, LONGEST_CLIP);
  return recording;
}

/* A reference to the camera's recording, which is made where missing. */
static Recording *
get_recording (WatchClips *self, WatchCamera *camera)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);
  Recording *recording = g_hash_table_lookup (self->recordings, camera);

  if (!recording) {
    recording = recording_new (self, camera);
    g_hash_table_insert (self->recordings, camera, recording);
  }
  g_atomic_rc_box_acquire (recording);
  return recording;
}

/* The observer. */

static void
on_encoded (gpointer data, WatchCamera *camera, GstBuffer *buffer, GstCaps *caps,
    GstClockTimeDiff running_time)
{
  WatchClips *self = data;
  g_autoptr (WatchCameraConfig) config = watch_camera_get_config (camera);
  Recording *recording = get_recording (self, camera);

  if (config->clips && watch_writer_has_folder (self->writer))
    recorder_add (recording->recorder, buffer, caps, running_time,
        (GstClockTime)(config->clip_pre * GST_SECOND));
  else
    recorder_reset (recording->recorder);
  recording_unref (recording);
}

static void
begin_motion (Recording *recording, const WatchEvent *event, gdouble pre)
{
  if (!recorder_is_recording (recording->recorder)) {
    g_mutex_lock (&recording->lock);
    recording->utc_offset = event->utc - (gint64)(event->running_time / 1000);
    g_mutex_unlock (&recording->lock);
  }
  recorder_begin (recording->recorder, event->running_time, (GstClockTime)(pre * GST_SECOND));
}

static void
on_event (gpointer data, WatchCamera *camera, const WatchEvent *event)
{
  WatchClips *self = data;
  gboolean begins = g_str_equal (event->kind, "motion-begin");
  g_autoptr (WatchCameraConfig) config = watch_camera_get_config (camera);
  Recording *recording;

  if (!begins && !g_str_equal (event->kind, "motion-end"))
    return;
  recording = get_recording (self, camera);
  if (begins)
    begin_motion (recording, event, config->clip_pre);
  else
    recorder_end (
        recording->recorder, event->running_time + (GstClockTime)(config->clip_post * GST_SECOND));
  recording_unref (recording);
}

static void
on_stopped (gpointer data, WatchCamera *camera)
{
  WatchClips *self = data;
  gpointer recording = NULL;

  g_mutex_lock (&self->lock);
  g_hash_table_steal_extended (self->recordings, camera, NULL, &recording);
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&recording, recording_unref);
}

WatchClips *
watch_clips_new (Watch *watch, WatchWriter *writer)
{
  WatchClips *self = g_new0 (WatchClips, 1);

  self->writer = writer;
  g_mutex_init (&self->lock);
  self->recordings = g_hash_table_new_full (NULL, NULL, NULL, recording_unref);
  self->observer = (WatchObserver){
      .event = on_event, .encoded = on_encoded, .stopped = on_stopped, .data = self};
  watch_add_observer (watch, &self->observer);
  return self;
}

void
watch_clips_free (WatchClips *self)
{
  g_hash_table_unref (self->recordings);
  g_mutex_clear (&self->lock);
  g_free (self);
}
