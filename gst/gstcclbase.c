/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclbase.h"

#include "gstcclattach.h"
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

typedef struct {
  /* Guarded by the object lock. */
  GstCclSettings settings;
  GstCclStats stats;
  gboolean reset; /* the background model is to be discarded before the next frame */
  gchar *refusal; /* the latest error about caps since the start */

  /* Of the streaming thread. */
  GstVideoInfo info;
  GstCclFrameLabeller labeller;
  GstCclMotion motion;
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

const GstVideoInfo *
gst_ccl_base_get_info (GstCclBase *base)
{
  return &PRIVATE (base)->info;
}

void
gst_ccl_base_forget_plans (GstCclBase *base)
{
  gst_ccl_frame_labeller_forget (&PRIVATE (base)->labeller);
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
  priv->motion = (GstCclMotion){FALSE};
  priv->hints = (GstCclHints){FALSE};
  started =
      gst_ccl_foreground_stage_open (&priv->labeller.foreground, GST_ELEMENT (trans), roi_mask);
  g_free (roi_mask);
  return started;
}

static gboolean
gst_ccl_base_stop (GstBaseTransform *trans)
{
  GstCclBase *base = GST_CCL_BASE (trans);

  gst_ccl_base_forget_plans (base);
  gst_ccl_foreground_stage_close (&PRIVATE (base)->labeller.foreground);
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

/* Carries out a reset that was asked for, and returns the settings for the next frame. */
static GstCclSettings
begin_frame (GstCclBase *base)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  GstCclSettings settings;
  gboolean reset;

  GST_OBJECT_LOCK (base);
  settings = priv->settings;
  reset = priv->reset;
  priv->reset = FALSE;
  GST_OBJECT_UNLOCK (base);
  settings.roi_mask = NULL;
  /* Maps that no metadata would carry are not made. */
  settings.attach_labels =
      settings.attach_labels && (settings.meta & GST_CCL_META_FLAGS_WITH_LABELS);
  settings.attach_mask = settings.attach_mask && (settings.meta & GST_CCL_META_FLAG_CCL);
  if (reset) {
    GST_DEBUG_OBJECT (base, "the background model is discarded");
    ccl_foreground_reset (priv->labeller.foreground.foreground);
  }
  return settings;
}

static gboolean
gst_ccl_base_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclBase *base = GST_CCL_BASE (trans);
  GstVideoInfo *current = &PRIVATE (base)->info;
  GstStructure *structure = gst_caps_get_structure (incaps, 0);
  GstVideoInfo info;
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
  if (!gst_video_info_from_caps (&info, incaps)) {
    GST_ERROR_OBJECT (base, "invalid caps %" GST_PTR_FORMAT, incaps);
    return FALSE;
  }

  /* The background model does not depend on any other field of the caps. */
  if (GST_VIDEO_INFO_WIDTH (current) != width || GST_VIDEO_INFO_HEIGHT (current) != height) {
    GST_DEBUG_OBJECT (base, "new frame size %d×%d", width, height);
    gst_ccl_base_forget_plans (base);
  } else if (GST_VIDEO_INFO_FORMAT (current) != GST_VIDEO_INFO_FORMAT (&info)) {
    GST_DEBUG_OBJECT (base, "new format");
    gst_ccl_base_reset (base);
  }
  *current = info;
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

static void
post_structure (GstCclBase *base, GstStructure *structure)
{
  gst_element_post_message (
      GST_ELEMENT_CAST (base), gst_message_new_element (GST_OBJECT_CAST (base), structure));
}

static void
post_motion (GstCclBase *base, const gchar *event, GstClockTime time, guint n_components)
{
  GstStructure *structure =
      gst_ccl_moment_structure (event, time, &GST_BASE_TRANSFORM_CAST (base)->segment);

  GST_DEBUG_OBJECT (base, "%s at %" GST_TIME_FORMAT, event, GST_TIME_ARGS (time));
  gst_structure_set (structure, "count", G_TYPE_UINT, n_components, NULL);
  post_structure (base, structure);
}

static void
post_scene_change (GstCclBase *base, CclSceneChange change, GstClockTime time)
{
  static const gchar *const kinds[] = {
      [CCL_SCENE_MOVED] = "moved",
      [CCL_SCENE_INFRARED] = "infrared",
      [CCL_SCENE_COVERED] = "covered",
      [CCL_SCENE_BLINDED] = "blinded",
      [CCL_SCENE_UNCOVERED] = "uncovered",
  };
  GstStructure *structure =
      gst_ccl_moment_structure ("scene-change", time, &GST_BASE_TRANSFORM_CAST (base)->segment);

  GST_INFO_OBJECT (
      base, "scene change (%s) at %" GST_TIME_FORMAT, kinds[change], GST_TIME_ARGS (time));
  gst_structure_set (structure, "kind", G_TYPE_STRING, kinds[change], NULL);
  post_structure (base, structure);
}

static gboolean
gst_ccl_base_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclBase *base = GST_CCL_BASE (trans);
  GstCclMotion *motion = &PRIVATE (base)->motion;

  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_FLUSH_STOP:
    /* The next frame may be of another scene. */
    gst_ccl_base_reset (base);
    *motion = (GstCclMotion){FALSE};
    break;
  case GST_EVENT_EOS:
    if (gst_ccl_motion_end (motion) && gst_ccl_base_get_settings (base).post_motion)
      post_motion (base, "motion-end", motion->last, 0);
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
post_messages (GstCclBase *base, GstBuffer *buffer, const GstCclSettings *settings,
    const GstCclLabelledFrame *result)
{
  const CclTable *table = &result->table;
  GstElementFactory *factory = gst_element_get_factory (GST_ELEMENT_CAST (base));
  const GstClockTime quiet_time = (GstClockTime)(settings->quiet_time * GST_SECOND);
  const gchar *motion;

  if (result->scene_change != CCL_SCENE_UNCHANGED)
    post_scene_change (base, result->scene_change, GST_BUFFER_PTS (buffer));
  if (settings->post_messages)
    post_structure (base,
        gst_ccl_message_structure (factory ? GST_OBJECT_NAME (factory) : GST_OBJECT_NAME (base),
            buffer, &GST_BASE_TRANSFORM_CAST (base)->segment, table));
  motion = gst_ccl_motion_frame (&PRIVATE (base)->motion, GST_BUFFER_PTS (buffer),
      table->n_components, settings->min_frames, quiet_time);
  if (motion && settings->post_motion)
    post_motion (base, motion, GST_BUFFER_PTS (buffer), table->n_components);
}

static GstFlowReturn
gst_ccl_base_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCclBase *base = GST_CCL_BASE (trans);
  GstCclBasePrivate *priv = PRIVATE (base);
  const guint64 n_pixels =
      (guint64)GST_VIDEO_INFO_WIDTH (&priv->info) * GST_VIDEO_INFO_HEIGHT (&priv->info);
  GstCclLabelledFrame result;
  GstCclSettings settings;
  gboolean is_labelled;
  CclError error;

  /* A gap without content has no pixels to label; a gap with content is a frame. */
  if (gst_buffer_get_size (buffer) == 0 && GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP)) {
    GST_LOG_OBJECT (base, "an empty gap buffer is passed on");
    return GST_FLOW_OK;
  }

  settings = begin_frame (base);
  is_labelled =
      gst_ccl_frame_labeller_run (&priv->labeller, base, &settings, buffer, &result, &error);
  if (is_labelled)
    gst_ccl_frame_labeller_attach (&priv->labeller, base, &settings, buffer, &result);
  gst_ccl_labelled_frame_clear (&result);
  if (!is_labelled) {
    gst_ccl_error_post (GST_ELEMENT (base), &error);
    return GST_FLOW_ERROR;
  }

  GST_LOG_OBJECT (
      base, "%u components in %" G_GUINT64_FORMAT " ns", result.table.n_components, result.time);
  GST_OBJECT_LOCK (base);
  gst_ccl_stats_add_frame (&priv->stats, result.table.n_components, result.time);
  GST_OBJECT_UNLOCK (base);
  gst_ccl_hints_check (&priv->hints, GST_ELEMENT (base), &settings, n_pixels, &result.table);
  post_messages (base, buffer, &settings, &result);
  return GST_FLOW_OK;
}

static void
gst_ccl_base_finalize (GObject *object)
{
  GstCclBasePrivate *priv = PRIVATE (GST_CCL_BASE (object));

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
  gst_ccl_settings_init (&PRIVATE (base)->settings);
  gst_video_info_init (&PRIVATE (base)->info);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (base), TRUE);
}
