/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclbase.h"

#include "gstcclattach.h"
#include "gstcclbatch.h"
#include "gstcclerror.h"
#include "gstcclframelabeller.h"
#include "gstcclhints.h"
#include "gstcclmotion.h"
#include "gstcclquery.h"
#include "gstcclrefusal.h"
#include "gstcclstats.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_base_debug);
#define GST_CAT_DEFAULT gst_ccl_base_debug

enum { SIGNAL_RESET, N_SIGNALS };
static guint signals[N_SIGNALS];

/* A stream of frames that the element labels. */
typedef struct {
  gint number;   /* of a stream in batches; -1: frames come one by one */
  GstCaps *caps; /* of a stream in batches */
  GstSegment segment;
  GstCclFrameLabeller labeller;
  GstCclMotion motion;
} GstCclStream;

/* A frame whose work is queued. */
typedef struct {
  GstCclStream *stream;
  GstBuffer *buffer; /* its owner keeps it */
  GstCclLabelledFrame frame;
  gboolean is_labelled;
} GstCclQueuedFrame;

typedef struct {
  /* Guarded by the object lock. */
  GstCclSettings settings;
  GstCclStats stats;
  gboolean reset; /* the background models are to be discarded before the next frame */
  gchar *refusal; /* the latest error about caps since the start */

  /* Of the streaming thread. */
  GstCclStream stream;
  gboolean takes_batches;    /* buffers are batches */
  GHashTable *batch_streams; /* GstCclStreams by number */
  GArray *queued;            /* GstCclQueuedFrames of the buffer that is being labelled */
  GstCclSettings used;       /* for these frames; roi_mask is NULL */
  CclError error;        /* the first one of these frames; its status is CCL_OK if there is none */
  gboolean error_posted; /* another error of these frames was posted */
#if GST_CCL_HAS_BATCHES
  GArray *cursors; /* GstCclBatchCursors of the batch that is being labelled */
#endif
  GstCclHints hints;
} GstCclBasePrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstCclBase, gst_ccl_base, GST_TYPE_BASE_TRANSFORM,
    G_ADD_PRIVATE (GstCclBase)
        GST_DEBUG_CATEGORY_INIT (gst_ccl_base_debug, "cclbase", 0, "base class of ccl and cudaccl"))

#define PRIVATE(base) ((GstCclBasePrivate *)gst_ccl_base_get_instance_private (base))

static void
gst_ccl_base_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  gst_ccl_settings_set (&PRIVATE (GST_CCL_BASE (object))->settings, id, value);
  GST_OBJECT_UNLOCK (object);
}

static void
gst_ccl_base_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCclBasePrivate *priv = PRIVATE (GST_CCL_BASE (object));

  GST_OBJECT_LOCK (object);
  if (!gst_ccl_settings_get (&priv->settings, id, value))
    g_value_take_boxed (value, gst_ccl_stats_to_structure (&priv->stats));
  GST_OBJECT_UNLOCK (object);
}

void
gst_ccl_base_class_install_properties (GstCclBaseClass *klass, GstCclBackend backend)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  klass->backend = backend;
  object_class->set_property = gst_ccl_base_set_property;
  object_class->get_property = gst_ccl_base_get_property;
  gst_ccl_properties_install (object_class, backend);
}

GstCclSettings
gst_ccl_base_get_settings (GstCclBase *base)
{
  GstCclSettings settings;

  GST_OBJECT_LOCK (base);
  settings = PRIVATE (base)->settings;
  GST_OBJECT_UNLOCK (base);
  settings.roi_mask = NULL;
  return settings;
}

static void
stream_init (GstCclStream *stream, gint number)
{
  stream->number = number;
  stream->caps = NULL;
  stream->motion = (GstCclMotion){FALSE};
  gst_segment_init (&stream->segment, GST_FORMAT_UNDEFINED);
  gst_ccl_frame_labeller_init (&stream->labeller);
}

static void
batch_stream_free (gpointer data)
{
  GstCclStream *stream = data;

  gst_ccl_frame_labeller_clear (&stream->labeller);
  gst_clear_caps (&stream->caps);
  g_free (stream);
}

/* Calls a function for the element's stream and for those of batches. */
static void
for_each_stream (GstCclBase *base, void (*function) (GstCclBase *base, GstCclStream *stream))
{
  GstCclBasePrivate *priv = PRIVATE (base);
  GHashTableIter iter;
  gpointer stream;

  function (base, &priv->stream);
  g_hash_table_iter_init (&iter, priv->batch_streams);
  while (g_hash_table_iter_next (&iter, NULL, &stream))
    function (base, stream);
}

static void
forget_stream (GstCclBase *base, GstCclStream *stream)
{
  gst_ccl_frame_labeller_forget (&stream->labeller);
}

static void
reset_model (GstCclBase *base, GstCclStream *stream)
{
  ccl_foreground_reset (stream->labeller.foreground.foreground);
}

static void
reset_motion (GstCclBase *base, GstCclStream *stream)
{
  stream->motion = (GstCclMotion){FALSE};
}

static gboolean
gst_ccl_base_start (GstBaseTransform *trans)
{
  GstCclBasePrivate *priv = PRIVATE (GST_CCL_BASE (trans));
  gboolean started;
  gchar *roi_mask;

  GST_OBJECT_LOCK (trans);
  gst_ccl_stats_reset (&priv->stats);
  priv->reset = FALSE;
  roi_mask = g_strdup (priv->settings.roi_mask);
  g_clear_pointer (&priv->refusal, g_free);
  GST_OBJECT_UNLOCK (trans);
  reset_motion (GST_CCL_BASE (trans), &priv->stream);
  priv->hints = (GstCclHints){FALSE};
  started = gst_ccl_foreground_stage_open (
      &priv->stream.labeller.foreground, GST_ELEMENT (trans), roi_mask);
  g_free (roi_mask);
  return started;
}

static gboolean
gst_ccl_base_stop (GstBaseTransform *trans)
{
  GstCclBase *base = GST_CCL_BASE (trans);

  gst_ccl_base_forget_plans (base);
  g_hash_table_remove_all (PRIVATE (base)->batch_streams);
  gst_ccl_foreground_stage_close (&PRIVATE (base)->stream.labeller.foreground);
  return TRUE;
}

/* Any thread may ask for a reset; the streaming thread carries it out. */
static void
gst_ccl_base_reset (GstCclBase *base)
{
  GST_OBJECT_LOCK (base);
  PRIVATE (base)->reset = TRUE;
  GST_OBJECT_UNLOCK (base);
}

/* Carries out a reset that was asked for, and takes the settings for the frames of a buffer. */
static void
begin_buffer (GstCclBase *base)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  GstCclSettings *used = &priv->used;
  gboolean reset;

  GST_OBJECT_LOCK (base);
  *used = priv->settings;
  reset = priv->reset;
  priv->reset = FALSE;
  GST_OBJECT_UNLOCK (base);
  used->roi_mask = NULL;
  /* Maps that no metadata would carry are not made. */
  used->attach_labels = used->attach_labels && (used->meta & GST_CCL_META_FLAGS_WITH_LABELS);
  used->attach_mask = used->attach_mask && (used->meta & GST_CCL_META_FLAG_CCL);
  if (reset) {
    GST_DEBUG_OBJECT (base, "the background model is discarded");
    for_each_stream (base, reset_model);
  }
  priv->error.status = CCL_OK;
  priv->error_posted = FALSE;
}

/* Reads the caps of frames, which must be raw video. Posts an error if there can be no such frames.
 */
static gboolean
read_caps (GstCclBase *base, const GstCaps *caps, GstVideoInfo *info)
{
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  gint width = 0, height = 0;

  gst_structure_get_int (structure, "width", &width);
  gst_structure_get_int (structure, "height", &height);
  if ((gint64)width * height > CCL_MAX_PIXELS) {
    GST_ELEMENT_ERROR (base, STREAM, FORMAT,
        ("A frame of %d×%d pixels is too large: at most %d pixels can be labelled", width, height,
            CCL_MAX_PIXELS),
        (NULL));
    return FALSE;
  }
  if (!gst_video_info_from_caps (info, caps)) {
    GST_ERROR_OBJECT (base, "invalid caps %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  return TRUE;
}

/* Sets the format of the frames of a stream, of which none may be queued. The background model does
 * not depend on any other field of the caps. */
static void
set_stream_info (GstCclBase *base, GstCclStream *stream, const GstVideoInfo *info)
{
  const GstVideoInfo *current = &stream->labeller.info;

  if (GST_VIDEO_INFO_WIDTH (current) != GST_VIDEO_INFO_WIDTH (info) ||
      GST_VIDEO_INFO_HEIGHT (current) != GST_VIDEO_INFO_HEIGHT (info)) {
    GST_DEBUG_OBJECT (
        base, "new frame size %d×%d", GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
    forget_stream (base, stream);
  } else if (GST_VIDEO_INFO_FORMAT (current) != GST_VIDEO_INFO_FORMAT (info)) {
    GST_DEBUG_OBJECT (base, "new format");
    reset_model (base, stream);
  }
  stream->labeller.info = *info;
}

static gboolean
is_batch (const GstCaps *caps)
{
#if GST_CCL_HAS_BATCHES
  return gst_structure_has_name (gst_caps_get_structure (caps, 0), GST_CCL_BATCH_NAME);
#else
  return FALSE;
#endif
}

static gboolean
gst_ccl_base_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclBase *base = GST_CCL_BASE (trans);
  GstVideoInfo info;

  PRIVATE (base)->takes_batches = is_batch (incaps);
  if (PRIVATE (base)->takes_batches)
    return TRUE;
  if (!read_caps (base, incaps, &info))
    return FALSE;
  set_stream_info (base, &PRIVATE (base)->stream, &info);
  return TRUE;
}

static gboolean
gst_ccl_base_query (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  if (direction == GST_PAD_SINK)
    gst_ccl_refusal_report (&PRIVATE (GST_CCL_BASE (trans))->refusal, GST_ELEMENT (trans),
        GST_BASE_TRANSFORM_SINK_PAD (trans), query);
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_base_parent_class)->query (trans, direction, query);
}

/* Posts a message about a stream. With batches it has the number of the stream. */
static void
post_structure (GstCclBase *base, const GstCclStream *stream, GstStructure *structure)
{
  if (stream->number >= 0)
    gst_structure_set (structure, "stream", G_TYPE_UINT, (guint)stream->number, NULL);
  gst_element_post_message (
      GST_ELEMENT_CAST (base), gst_message_new_element (GST_OBJECT_CAST (base), structure));
}

static void
post_motion (GstCclBase *base, const GstCclStream *stream, const gchar *event, GstClockTime time,
    guint n_components)
{
  GstStructure *structure = gst_ccl_moment_structure (event, time, &stream->segment);

  GST_DEBUG_OBJECT (base, "%s at %" GST_TIME_FORMAT, event, GST_TIME_ARGS (time));
  gst_structure_set (structure, "count", G_TYPE_UINT, n_components, NULL);
  post_structure (base, stream, structure);
}

static void
post_scene_change (
    GstCclBase *base, const GstCclStream *stream, CclSceneChange change, GstClockTime time)
{
  static const gchar *const kinds[] = {
      [CCL_SCENE_MOVED] = "moved",
      [CCL_SCENE_INFRARED] = "infrared",
      [CCL_SCENE_COVERED] = "covered",
      [CCL_SCENE_BLINDED] = "blinded",
      [CCL_SCENE_UNCOVERED] = "uncovered",
  };
  GstStructure *structure = gst_ccl_moment_structure ("scene-change", time, &stream->segment);

  GST_INFO_OBJECT (
      base, "scene change (%s) at %" GST_TIME_FORMAT, kinds[change], GST_TIME_ARGS (time));
  gst_structure_set (structure, "kind", G_TYPE_STRING, kinds[change], NULL);
  post_structure (base, stream, structure);
}

/* At the end of a stream. */
static void
end_motion (GstCclBase *base, GstCclStream *stream)
{
  if (gst_ccl_motion_end (&stream->motion) && gst_ccl_base_get_settings (base).post_motion)
    post_motion (base, stream, "motion-end", stream->motion.last, 0);
}

static gboolean
gst_ccl_base_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclBase *base = GST_CCL_BASE (trans);

  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_FLUSH_STOP:
    /* The next frame may be of another scene. */
    gst_ccl_base_reset (base);
    for_each_stream (base, reset_motion);
    break;
  case GST_EVENT_EOS:
    for_each_stream (base, end_motion);
    break;
  default:
    break;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_base_parent_class)->sink_event (trans, event);
}

/* Passes the peer's answer on, except for GstVideoCropMeta. */
static gboolean
gst_ccl_base_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  gboolean answered = GST_BASE_TRANSFORM_CLASS (gst_ccl_base_parent_class)
                          ->propose_allocation (trans, decide_query, query);

  gst_ccl_query_remove_crop_meta (query);
  return answered;
}

static GstFlowReturn
gst_ccl_base_submit_input_buffer (GstBaseTransform *trans, gboolean is_discont, GstBuffer *input)
{
  GstFlowReturn ret = GST_BASE_TRANSFORM_CLASS (gst_ccl_base_parent_class)
                          ->submit_input_buffer (trans, is_discont, input);

  if (ret == GST_BASE_TRANSFORM_FLOW_DROPPED) {
    GST_OBJECT_LOCK (trans);
    PRIVATE (GST_CCL_BASE (trans))->stats.dropped++;
    GST_OBJECT_UNLOCK (trans);
  }
  return ret;
}

/* Sets controlled properties to their values at the time of the frame. */
static void
gst_ccl_base_before_transform (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstClockTime time = GST_CLOCK_TIME_NONE;

  if (trans->segment.format == GST_FORMAT_TIME)
    time = gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (trans), time);
}

/* Posts the messages about a labelled frame. */
static void
post_messages (GstCclBase *base, GstCclStream *stream, GstBuffer *buffer,
    const GstCclSettings *settings, const GstCclLabelledFrame *frame)
{
  const CclTable *table = &frame->table;
  GstElementFactory *factory = gst_element_get_factory (GST_ELEMENT_CAST (base));
  const GstClockTime quiet_time = (GstClockTime)(settings->quiet_time * GST_SECOND);
  const gchar *motion;

  if (frame->scene_change != CCL_SCENE_UNCHANGED)
    post_scene_change (base, stream, frame->scene_change, GST_BUFFER_PTS (buffer));
  if (settings->post_messages)
    post_structure (base, stream,
        gst_ccl_message_structure (factory ? GST_OBJECT_NAME (factory) : GST_OBJECT_NAME (base),
            buffer, &stream->segment, table));
  motion = gst_ccl_motion_frame (&stream->motion, GST_BUFFER_PTS (buffer), table->n_components,
      settings->min_frames, quiet_time);
  if (motion && settings->post_motion)
    post_motion (base, stream, motion, GST_BUFFER_PTS (buffer), table->n_components);
}

/* Attaches the result to a labelled frame and tells about it. time: how long labelling took. */
static void
deliver (GstCclBase *base, GstCclQueuedFrame *queued, GstClockTime time)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  GstCclStream *stream = queued->stream;
  const GstVideoInfo *info = &stream->labeller.info;
  const CclTable *table = &queued->frame.table;
  const guint64 n_pixels = (guint64)GST_VIDEO_INFO_WIDTH (info) * GST_VIDEO_INFO_HEIGHT (info);

  gst_ccl_frame_labeller_attach (
      &stream->labeller, base, &priv->used, queued->buffer, &queued->frame);
  GST_LOG_OBJECT (base, "%u components in %" G_GUINT64_FORMAT " ns", table->n_components, time);
  GST_OBJECT_LOCK (base);
  gst_ccl_stats_add_frame (&priv->stats, table->n_components, time);
  GST_OBJECT_UNLOCK (base);
  gst_ccl_hints_check (&priv->hints, GST_ELEMENT (base), &priv->used, n_pixels, table);
  post_messages (base, stream, queued->buffer, &priv->used, &queued->frame);
}

/* Waits for all frames that are queued, and delivers those that are labelled. */
static void
finish_queued (GstCclBase *base)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  const guint n_queued = priv->queued->len;
  GstClockTime start, time;

  if (n_queued == 0)
    return;
  start = g_array_index (priv->queued, GstCclQueuedFrame, 0).frame.start;
  for (guint i = 0; i < n_queued; i++) {
    GstCclQueuedFrame *queued = &g_array_index (priv->queued, GstCclQueuedFrame, i);
    CclError error;

    queued->is_labelled =
        gst_ccl_frame_labeller_wait (&queued->stream->labeller, &queued->frame, &error);
    if (!queued->is_labelled && priv->error.status == CCL_OK)
      priv->error = error;
  }
  time = (gst_util_get_timestamp () - start) / n_queued;
  for (guint i = 0; i < n_queued; i++) {
    GstCclQueuedFrame *queued = &g_array_index (priv->queued, GstCclQueuedFrame, i);

    if (queued->is_labelled)
      deliver (base, queued, time);
    gst_ccl_labelled_frame_clear (&queued->frame);
  }
  g_array_set_size (priv->queued, 0);
}

void
gst_ccl_base_forget_plans (GstCclBase *base)
{
  finish_queued (base);
  for_each_stream (base, forget_stream);
}

/* Queues the work on a frame. Returns FALSE after an error, which is kept. */
static gboolean
queue_frame (GstCclBase *base, GstCclStream *stream, GstBuffer *buffer)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  GstCclQueuedFrame queued = {stream, buffer};
  CclError error;

  /* A gap without content has no pixels to label; a gap with content is a frame. */
  if (gst_buffer_get_size (buffer) == 0 && GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP)) {
    GST_LOG_OBJECT (base, "an empty gap buffer is passed on");
    return TRUE;
  }
  if (!gst_ccl_frame_labeller_can_queue (&stream->labeller))
    finish_queued (base);
  if (gst_ccl_frame_labeller_queue (
          &stream->labeller, base, &priv->used, buffer, &queued.frame, &error)) {
    g_array_append_val (priv->queued, queued);
    return TRUE;
  }
  gst_ccl_labelled_frame_clear (&queued.frame);
  if (priv->error.status == CCL_OK)
    priv->error = error;
  return FALSE;
}

#if GST_CCL_HAS_BATCHES

static GstCclStream *
get_batch_stream (GstCclBase *base, guint number)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  GstCclStream *stream = g_hash_table_lookup (priv->batch_streams, GUINT_TO_POINTER (number));

  if (!stream) {
    stream = g_new0 (GstCclStream, 1);
    stream_init (stream, (gint)number);
    stream->labeller.foreground.roi_mask = priv->stream.labeller.foreground.roi_mask;
    g_hash_table_insert (priv->batch_streams, GUINT_TO_POINTER (number), stream);
  }
  return stream;
}

/* Whether the element labels frames of these caps: raw video. Streams of other kinds are passed on.
 */
static gboolean
is_video (const GstCaps *caps)
{
  return caps && gst_caps_get_size (caps) > 0 &&
         gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw");
}

/* Sets the caps of a stream in batches. Returns FALSE after it has posted an error. */
static gboolean
set_batch_stream_caps (GstCclBase *base, GstCclStream *stream, GstCaps *caps)
{
  GstCaps *taken;
  gboolean is_taken;
  GstVideoInfo info;

  if (stream->caps && (stream->caps == caps || gst_caps_is_equal (stream->caps, caps)))
    return TRUE;
  taken = gst_pad_get_pad_template_caps (GST_BASE_TRANSFORM_SINK_PAD (base));
  is_taken = gst_caps_can_intersect (caps, taken);
  gst_caps_unref (taken);
  if (!is_taken) {
    GST_ELEMENT_ERROR (base, CORE, NEGOTIATION,
        ("Stream %d of the batch has frames that cannot be labelled", stream->number),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (!read_caps (base, caps, &info))
    return FALSE;
  finish_queued (base);
  set_stream_info (base, stream, &info);
  gst_caps_replace (&stream->caps, caps);
  return TRUE;
}

/* Queues the next frame of a stream of a batch, and sets *found if there is one. */
static gboolean
queue_next (GstCclBase *base, GstCclBatchCursor *cursor, gboolean *found)
{
  GstBuffer *frame = gst_ccl_batch_cursor_next (cursor);
  GstCclStream *stream;

  if (!frame)
    return TRUE;
  *found = TRUE;
  if (!is_video (cursor->caps))
    return TRUE;
  stream = get_batch_stream (base, cursor->stream->index);
  if (!set_batch_stream_caps (base, stream, cursor->caps)) {
    PRIVATE (base)->error_posted = TRUE;
    return FALSE;
  }
  if (cursor->segment)
    stream->segment = *cursor->segment;
  return queue_frame (base, stream, frame);
}

/* Queues the frames of a batch: the first frames of all streams, then the second ones… */
static void
queue_batch (GstCclBase *base, GstBuffer *batch)
{
  GstAnalyticsBatchMeta *meta = gst_buffer_get_analytics_batch_meta (batch);
  GArray *cursors = PRIVATE (base)->cursors;
  gboolean is_ok = TRUE, found = meta != NULL;

  g_array_set_size (cursors, meta ? (guint)meta->n_streams : 0);
  for (guint i = 0; i < cursors->len; i++)
    gst_ccl_batch_cursor_init (&g_array_index (cursors, GstCclBatchCursor, i), &meta->streams[i]);
  while (is_ok && found) {
    found = FALSE;
    for (guint i = 0; i < cursors->len && is_ok; i++)
      is_ok = queue_next (base, &g_array_index (cursors, GstCclBatchCursor, i), &found);
  }
}

#endif

static GstFlowReturn
gst_ccl_base_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCclBase *base = GST_CCL_BASE (trans);
  GstCclBasePrivate *priv = PRIVATE (base);

  begin_buffer (base);
#if GST_CCL_HAS_BATCHES
  if (priv->takes_batches)
    queue_batch (base, buffer);
  else
#endif
  {
    priv->stream.segment = trans->segment;
    queue_frame (base, &priv->stream, buffer);
  }
  finish_queued (base);
  if (priv->error.status != CCL_OK)
    gst_ccl_error_post (GST_ELEMENT (base), &priv->error);
  return priv->error.status == CCL_OK && !priv->error_posted ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static void
gst_ccl_base_finalize (GObject *object)
{
  GstCclBasePrivate *priv = PRIVATE (GST_CCL_BASE (object));

  g_hash_table_unref (priv->batch_streams);
  gst_ccl_frame_labeller_clear (&priv->stream.labeller);
  g_array_unref (priv->queued);
#if GST_CCL_HAS_BATCHES
  g_array_unref (priv->cursors);
#endif
  gst_ccl_settings_clear (&priv->settings);
  g_free (priv->refusal);
  G_OBJECT_CLASS (gst_ccl_base_parent_class)->finalize (object);
}

static void
gst_ccl_base_class_init (GstCclBaseClass *klass)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  gst_ccl_frame_labeller_init_log ();
  gst_ccl_foreground_stage_init_log ();

  G_OBJECT_CLASS (klass)->finalize = gst_ccl_base_finalize;

  /**
   * GstCclBase::reset:
   *
   * Action signal: discards the background model (foreground=mog2); the next frame starts a new
   * one. Any thread may emit it.
   *
   * Since: 0.2
   */
  signals[SIGNAL_RESET] = g_signal_new_class_handler ("reset", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (gst_ccl_base_reset), NULL, NULL, NULL,
      G_TYPE_NONE, 0);

  /* Allocation queries need no method: the default one returns the answer of the peer downstream,
   * as frames are passed on as they are. */
  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_base_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_base_stop);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_ccl_base_query);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_base_set_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_base_sink_event);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_base_propose_allocation);
  trans_class->submit_input_buffer = GST_DEBUG_FUNCPTR (gst_ccl_base_submit_input_buffer);
  trans_class->before_transform = GST_DEBUG_FUNCPTR (gst_ccl_base_before_transform);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_ccl_base_transform_ip);

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_BASE, 0);
}

static void
gst_ccl_base_init (GstCclBase *base)
{
  GstCclBasePrivate *priv = PRIVATE (base);

  gst_ccl_settings_init (&priv->settings);
  stream_init (&priv->stream, -1);
  priv->batch_streams = g_hash_table_new_full (NULL, NULL, NULL, batch_stream_free);
  priv->queued = g_array_new (FALSE, FALSE, sizeof (GstCclQueuedFrame));
#if GST_CCL_HAS_BATCHES
  priv->cursors = g_array_new (FALSE, FALSE, sizeof (GstCclBatchCursor));
#endif
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (base), TRUE);
}
