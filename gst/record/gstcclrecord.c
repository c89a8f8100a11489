/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-cclrecord
 * @title: cclrecord
 * @short_description: writes clips of events, with the seconds before them, to files
 * @see_also: ccl, cclsnapshot
 *
 * A sink for encoded video: it keeps the frames of the last seconds in memory, and writes a clip of
 * each event to a file of its own. A clip begins with the last key frame that is at least
 * `pre-roll` seconds before the event, as far as frames are kept, and ends `post-roll` seconds
 * after it; an event that begins within these seconds goes on in the same file. Frames are not
 * decoded, and the files have them as they came: fragmented MP4, which can be played up to the last
 * second if the program ends in the middle. Sound is not recorded.
 *
 * An event begins and ends
 *
 * - by the action signals `start` and `stop`, whose argument is the running time of the event, as
 *   the messages of `ccl` and `ccltrack` have it, or #GST_CLOCK_TIME_NONE for the time of the
 * latest frame. A time may lie some seconds back.
 * - by the property `recording`
 * - with `follow-motion`, by the messages `motion-begin` and `motion-end` of a labeller in the same
 *   pipeline, whose `post-motion` is true; `labeller` is its name, where there are several
 *
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball num-buffers=100 ! video/x-raw,width=320,height=240 ! \
 *     tee name=t ! queue ! ccl threshold=128 post-motion=true ! fakesink t. ! queue ! \
 *     videoconvert ! x264enc tune=zerolatency key-int-max=25 ! \
 *     cclrecord follow-motion=true location=motion-%05d.mp4
 * ]| This writes a clip of each motion.
 *
 * `location` has the number of the clip as %d or, for instance, %05d. A file that exists is never
 * written to: the next number is taken. When a file is closed, an element message named
 * `ccl-record` has its `location`, the `running-time` of the event in ns as #gint64, and whether it
 * is `complete`. A clip that is longer than `max-duration` goes on in the next file, and so does
 * one whose stream gets other caps. At the end of the stream, the clip is complete before the
 * element posts the end. After a flush, as of a seek, the event goes on in the next file.
 *
 * If a file cannot be written, the element posts an error as filesink does; of an incomplete file,
 * what can be played stays. Where the stream has no key frame for the whole of an event, there is
 * no clip but a warning. The kept frames take 64 MB at most; a stream with more from one key frame
 * to the next has clips that begin late, with a warning. If the disk is slower than the stream, 64
 * MB wait for it; then the element blocks. Stopping the element waits for the files, so that a disk
 * that hangs holds it up, as with filesink.
 *
 * Since: 0.4
 */
#include <gst/base/gstbasesink.h>
#include <gst/gst.h>

#include "gstcclclipfile.h"
#include "recording/recorder.h"
#include "shared/gstcclelements.h"
#include "shared/gstccllocation.h"
#include "shared/gstcclproperty.h"

#define GST_TYPE_CCL_RECORD (gst_ccl_record_get_type ())
G_DECLARE_FINAL_TYPE (GstCclRecord, gst_ccl_record, GST, CCL_RECORD, GstBaseSink)

GST_DEBUG_CATEGORY_STATIC (gst_ccl_record_debug);
#define GST_CAT_DEFAULT gst_ccl_record_debug

#define MAX_SECONDS 86400
#define MAX_WAITING (64 * 1000 * 1000)              /* bytes that are not written yet */
#define WAIT_INTERVAL (5 * G_TIME_SPAN_MILLISECOND) /* between two checks, while too many wait */

/* The values of the properties. */
typedef struct {
  gchar *location, *labeller;
  gdouble pre_roll, post_roll, max_duration;
  gboolean follow_motion;
  gboolean recording; /* only written: get_property() asks the recorder */
} Settings;

static const Settings defaults = {
    .location = "clip-%05d.mp4", .pre_roll = 5, .post_roll = 5, .max_duration = 600};

/* clang-format off */
#define FIELD(field) G_STRUCT_OFFSET (Settings, field)
#define PLAYING GST_CCL_CHANGES_IN_PLAYING

static const GstCclProperty properties[] = {
  {GST_CCL_KIND_STRING, FIELD (location), "location", "Location",
      "Files of the clips, with a number as %d or %05d; existing files are kept",
      0, 0, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_DOUBLE, FIELD (pre_roll), "pre-roll", "Pre-roll",
      "Seconds before an event that its clip has at least, as far as 64 MB hold them",
      0, 600, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_DOUBLE, FIELD (post_roll), "post-roll", "Post-roll",
      "Seconds after an event that its clip has",
      0, 600, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_DOUBLE, FIELD (max_duration), "max-duration", "Maximum duration",
      "Seconds after which a clip goes on in the next file, at a key frame",
      1, MAX_SECONDS, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_BOOLEAN, FIELD (follow_motion), "follow-motion", "Follow motion",
      "Whether the messages motion-begin and motion-end in the same pipeline begin and end clips",
      0, 0, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_STRING, FIELD (labeller), "labeller", "Labeller",
      "Name of the element whose motion is followed, where several labellers are in the pipeline "
      "(NULL = all of them)",
      0, 0, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_BOOLEAN, FIELD (recording), "recording", "Recording",
      "TRUE begins an event at the latest frame, FALSE ends it. Reads TRUE until post-roll has passed",
      0, 0, NULL, PLAYING, GST_CCL_ALL_CLASSES},
};
/* clang-format on */

enum { SIGNAL_START, SIGNAL_STOP, N_SIGNALS };

static guint signals[N_SIGNALS];

struct _GstCclRecord {
  GstBaseSink parent;

  /* Guarded by the object lock. */
  Settings settings;
  GstClockTime latest; /* running time of the latest frame; 0 before the first one */

  Recorder *recorder;
  GstCclClipFiles *files;
  gint is_unlocked; /* atomic: the streaming thread must not wait */

  /* While the element is started. */
  GstBus *bus; /* of the whole pipeline */
  gulong handler;
  GstCaps *caps; /* the streaming thread's */
};

G_DEFINE_TYPE_WITH_CODE (GstCclRecord, gst_ccl_record, GST_TYPE_BASE_SINK,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_record_debug, "cclrecord", 0, "clips of events"))
GST_ELEMENT_REGISTER_DEFINE (cclrecord, "cclrecord", GST_RANK_NONE, GST_TYPE_CCL_RECORD)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS ("video/x-h264, alignment = (string) au; "
                         "video/x-h265, alignment = (string) au; "
                         "video/mpeg, mpegversion = (int) 4, systemstream = (boolean) false; "
                         "video/x-av1, alignment = (string) { tu, frame }; "
                         "video/x-vp9"));

/* Events. */

static GstClockTime
from_seconds (gdouble seconds)
{
  return (GstClockTime)(seconds * GST_SECOND);
}

/* A property, read under the object lock. */
static GstClockTime
get_roll (GstCclRecord *self, const gdouble *seconds, GstClockTime *running_time)
{
  GstClockTime roll;

  GST_OBJECT_LOCK (self);
  roll = from_seconds (*seconds);
  if (running_time && !GST_CLOCK_TIME_IS_VALID (*running_time))
    *running_time = self->latest;
  GST_OBJECT_UNLOCK (self);
  return roll;
}

static void
gst_ccl_record_begin (GstCclRecord *self, GstClockTime running_time)
{
  const GstClockTime pre = get_roll (self, &self->settings.pre_roll, &running_time);

  recorder_begin (self->recorder, running_time, pre);
}

static void
gst_ccl_record_end (GstCclRecord *self, GstClockTime running_time)
{
  const GstClockTime post = get_roll (self, &self->settings.post_roll, &running_time);

  recorder_end (self->recorder, running_time + post);
}

/* Called in the thread that posts the message. */
static void
on_message (GstBus *bus, GstMessage *message, GstCclRecord *self)
{
  const GstStructure *structure = gst_message_get_structure (message);
  GstClockTime time = GST_CLOCK_TIME_NONE;
  gboolean follows;

  if (!structure || !GST_MESSAGE_SRC (message))
    return;
  GST_OBJECT_LOCK (self);
  follows = self->settings.follow_motion &&
            (!self->settings.labeller || g_strcmp0 (self->settings.labeller,
                                             GST_OBJECT_NAME (GST_MESSAGE_SRC (message))) == 0);
  GST_OBJECT_UNLOCK (self);
  gst_structure_get_clock_time (structure, "running-time", &time);
  if (follows && gst_structure_has_name (structure, "motion-begin"))
    gst_ccl_record_begin (self, time);
  else if (follows && gst_structure_has_name (structure, "motion-end"))
    gst_ccl_record_end (self, time);
}

/* The bus of the outermost bin; NULL if there is none. */
static GstBus *
get_bus (GstCclRecord *self)
{
  g_autoptr (GstElement) top = gst_object_ref (GST_ELEMENT_CAST (self));
  GstElement *parent;

  while ((parent = GST_ELEMENT_CAST (gst_object_get_parent (GST_OBJECT_CAST (top))))) {
    gst_object_unref (top);
    top = parent;
  }
  return gst_element_get_bus (top);
}

/* The recorder. */

static gpointer
open_file (gpointer data, GstClockTimeDiff running_time)
{
  GstCclRecord *self = data;
  g_autofree gchar *location = NULL;

  GST_OBJECT_LOCK (self);
  location = g_strdup (self->settings.location ? self->settings.location : "");
  GST_OBJECT_UNLOCK (self);
  return gst_ccl_clip_files_new_file (self->files, location, running_time);
}

static void
report (gpointer data, const gchar *text)
{
  GST_ELEMENT_WARNING ((GstCclRecord *)data, STREAM, MUX, ("%s", text), (NULL));
}

static const RecorderFunctions functions = {
    .file = &gst_ccl_clip_file_functions, .open = open_file, .report = report};

/* The sink. */

static gboolean
gst_ccl_record_start (GstBaseSink *sink)
{
  GstCclRecord *self = GST_CCL_RECORD (sink);
  g_autofree gchar *location = NULL, *name = NULL;
  g_autoptr (GError) error = NULL;

  GST_OBJECT_LOCK (self);
  location = g_strdup (self->settings.location ? self->settings.location : "");
  self->latest = 0;
  GST_OBJECT_UNLOCK (self);
  name = gst_ccl_location_format (location, 0, &error);
  if (!name) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  gst_ccl_clip_files_reset (self->files);
  self->bus = get_bus (self);
  if (self->bus) {
    gst_bus_enable_sync_message_emission (self->bus);
    self->handler =
        g_signal_connect (self->bus, "sync-message::element", G_CALLBACK (on_message), self);
  }
  return TRUE;
}

static gboolean
gst_ccl_record_stop (GstBaseSink *sink)
{
  GstCclRecord *self = GST_CCL_RECORD (sink);

  if (self->bus) {
    g_clear_signal_handler (&self->handler, self->bus);
    gst_bus_disable_sync_message_emission (self->bus);
    gst_clear_object (&self->bus);
  }
  recorder_finish (self->recorder);
  recorder_reset (self->recorder);
  gst_ccl_clip_files_wait (self->files);
  gst_clear_caps (&self->caps);
  return TRUE;
}

static gboolean
gst_ccl_record_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  gst_caps_replace (&GST_CCL_RECORD (sink)->caps, caps);
  return TRUE;
}

static gboolean
gst_ccl_record_unlock (GstBaseSink *sink)
{
  GstCclRecord *self = GST_CCL_RECORD (sink);

  g_atomic_int_set (&self->is_unlocked, TRUE);
  gst_ccl_clip_files_cancel_wait (self->files, TRUE);
  return TRUE;
}

static gboolean
gst_ccl_record_unlock_stop (GstBaseSink *sink)
{
  GstCclRecord *self = GST_CCL_RECORD (sink);

  g_atomic_int_set (&self->is_unlocked, FALSE);
  gst_ccl_clip_files_cancel_wait (self->files, FALSE);
  return TRUE;
}

static gboolean
gst_ccl_record_event (GstBaseSink *sink, GstEvent *event)
{
  GstCclRecord *self = GST_CCL_RECORD (sink);

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    recorder_finish (self->recorder);
    gst_ccl_clip_files_wait (self->files);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    recorder_reset (self->recorder);
  }
  return GST_BASE_SINK_CLASS (gst_ccl_record_parent_class)->event (sink, event);
}

/* Waits while the disk is too slow. */
static GstFlowReturn
wait_for_disk (GstCclRecord *self)
{
  while (recorder_get_waiting (self->recorder) > MAX_WAITING) {
    if (g_atomic_int_get (&self->is_unlocked)) {
      const GstFlowReturn flow = gst_base_sink_wait_preroll (GST_BASE_SINK_CAST (self));

      if (flow != GST_FLOW_OK)
        return flow;
    }
    g_usleep (WAIT_INTERVAL);
  }
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_ccl_record_render (GstBaseSink *sink, GstBuffer *frame)
{
  GstCclRecord *self = GST_CCL_RECORD (sink);
  const GstClockTime pre = get_roll (self, &self->settings.pre_roll, NULL);
  GstClockTimeDiff time = GST_CLOCK_STIME_NONE;
  guint64 distance;
  gint sign;
  GstFlowReturn flow;

  if (gst_ccl_clip_files_have_failed (self->files))
    return GST_FLOW_ERROR;
  if ((flow = wait_for_disk (self)) != GST_FLOW_OK)
    return flow;
  sign = sink->segment.format != GST_FORMAT_TIME
             ? 0
             : gst_segment_to_running_time_full (
                   &sink->segment, GST_FORMAT_TIME, GST_BUFFER_DTS_OR_PTS (frame), &distance);
  if (sign != 0)
    time = sign > 0 ? (GstClockTimeDiff)distance : -(GstClockTimeDiff)distance;
  if (sign > 0) {
    GST_OBJECT_LOCK (self);
    self->latest = distance;
    GST_OBJECT_UNLOCK (self);
  }
  recorder_add (self->recorder, frame, self->caps, time, pre);
  return gst_ccl_clip_files_have_failed (self->files) ? GST_FLOW_ERROR : GST_FLOW_OK;
}

/* The object. */

static void
gst_ccl_record_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCclRecord *self = GST_CCL_RECORD (object);
  const GstCclProperty *row = &properties[id - 1];
  const gchar *text = G_VALUE_HOLDS_STRING (value) ? g_value_get_string (value) : NULL;
  GstClockTime longest;

  if (row->offset == FIELD (location) &&
      gst_ccl_location_refuse (GST_ELEMENT_CAST (self), text ? text : ""))
    return;
  GST_OBJECT_LOCK (object);
  gst_ccl_property_set (row, &self->settings, value);
  longest = from_seconds (self->settings.max_duration);
  GST_OBJECT_UNLOCK (object);
  if (row->offset == FIELD (max_duration))
    recorder_set_longest (self->recorder, longest);
  else if (row->offset == FIELD (recording) && g_value_get_boolean (value))
    gst_ccl_record_begin (self, GST_CLOCK_TIME_NONE);
  else if (row->offset == FIELD (recording))
    gst_ccl_record_end (self, GST_CLOCK_TIME_NONE);
}

static void
gst_ccl_record_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCclRecord *self = GST_CCL_RECORD (object);
  const GstCclProperty *row = &properties[id - 1];

  if (row->offset == FIELD (recording)) {
    g_value_set_boolean (value, recorder_is_recording (self->recorder));
    return;
  }
  GST_OBJECT_LOCK (object);
  gst_ccl_property_get (row, &self->settings, value);
  GST_OBJECT_UNLOCK (object);
}

static void
gst_ccl_record_finalize (GObject *object)
{
  GstCclRecord *self = GST_CCL_RECORD (object);

  recorder_free (self->recorder);
  gst_ccl_clip_files_free (self->files);
  gst_ccl_properties_clear (properties, G_N_ELEMENTS (properties), &self->settings);
  G_OBJECT_CLASS (gst_ccl_record_parent_class)->finalize (object);
}

static guint
add_action (GType type, const gchar *name, void (*function) (GstCclRecord *, GstClockTime))
{
  return g_signal_new_class_handler (name, type, G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (function), NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT64);
}

static void
gst_ccl_record_class_init (GstCclRecordClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  object_class->set_property = gst_ccl_record_set_property;
  object_class->get_property = gst_ccl_record_get_property;
  object_class->finalize = gst_ccl_record_finalize;
  gst_ccl_properties_install (
      object_class, properties, G_N_ELEMENTS (properties), GST_CCL_ALL_CLASSES, &defaults);

  /**
   * GstCclRecord::start:
   * @record: the element
   * @running_time: of the event in ns; #GST_CLOCK_TIME_NONE: of the latest frame
   *
   * An event begins. Any thread.
   *
   * Since: 0.4
   */
  signals[SIGNAL_START] = add_action (G_TYPE_FROM_CLASS (klass), "start", gst_ccl_record_begin);

  /**
   * GstCclRecord::stop:
   * @record: the element
   * @running_time: of the event's end in ns; #GST_CLOCK_TIME_NONE: of the latest frame
   *
   * The event ends: its clip goes on for `post-roll` seconds. Any thread.
   *
   * Since: 0.4
   */
  signals[SIGNAL_STOP] = add_action (G_TYPE_FROM_CLASS (klass), "stop", gst_ccl_record_end);

  gst_element_class_set_static_metadata (element_class, "Recorder of events", "Sink/File/Video",
      "Writes clips of events, with the seconds before them, to files", GST_CCL_AUTHOR);
  gst_element_class_add_static_pad_template (element_class, &sink_template);

  sink_class->start = GST_DEBUG_FUNCPTR (gst_ccl_record_start);
  sink_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_record_stop);
  sink_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_record_set_caps);
  sink_class->unlock = GST_DEBUG_FUNCPTR (gst_ccl_record_unlock);
  sink_class->unlock_stop = GST_DEBUG_FUNCPTR (gst_ccl_record_unlock_stop);
  sink_class->event = GST_DEBUG_FUNCPTR (gst_ccl_record_event);
  sink_class->render = GST_DEBUG_FUNCPTR (gst_ccl_record_render);
}

static void
gst_ccl_record_init (GstCclRecord *self)
{
  self->settings = defaults;
  self->settings.location = g_strdup (defaults.location);
  self->recorder = recorder_new (&functions, self, from_seconds (defaults.max_duration));
  self->files = gst_ccl_clip_files_new (GST_ELEMENT_CAST (self));
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_async_enabled (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
}
