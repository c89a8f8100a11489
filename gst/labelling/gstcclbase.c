/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclbase.h"

#include "gstcclbatch.h"
#include "gstcclqueue.h"
#include "gstcclrefusal.h"
#include "gstcclstats.h"
#include "gstcclstream.h"
#include "labelling/pixels/gstcclplanes.h"
#include "shared/gstcclframe.h"
#include "shared/gstccli18n.h"
#include "shared/gstcclquery.h"
#include "shared/gstcclroi.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_base_debug);
#define GST_CAT_DEFAULT gst_ccl_base_debug

enum { SIGNAL_RESET, N_SIGNALS };
static guint signals[N_SIGNALS];

typedef struct {
  GstCclOwner owner; /* this element */

  /* Guarded by the object lock. */
  GstCclSettings settings;
  GstCclStats stats;
  GstCclMasks *masks; /* what settings.masks stands for */
  gboolean started;
  gboolean reset; /* the background models are to be discarded before the next frame */

  gint topology_changed; /* atomic: elements downstream may answer other queries now */

  /* Of the streaming thread. */
  GstCclMasks *used_masks; /* for the present buffer */
  GstCclStream stream;     /* of frames that come one by one */
  GstCclBatches batches;
  gboolean takes_batches; /* instead of frames */
  GstCclRefusal refusal;
  GstCclQueue queue;
} GstCclBasePrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstCclBase, gst_ccl_base, GST_TYPE_BASE_TRANSFORM,
    G_ADD_PRIVATE (GstCclBase)
        GST_DEBUG_CATEGORY_INIT (gst_ccl_base_debug, "cclbase", 0, "base class of ccl and cudaccl"))

#define PRIVATE(base) ((GstCclBasePrivate *)gst_ccl_base_get_instance_private (base))

/* Reads the property `masks`. After a mistake, the former masks stay, and the error is set. */
static gboolean
read_masks (GstCclBase *base, GError **error)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  g_autofree gchar *text = NULL;
  GstCclMasks *masks;

  GST_OBJECT_LOCK (base);
  text = g_strdup (priv->settings.masks);
  GST_OBJECT_UNLOCK (base);
  if (!gst_ccl_masks_read (text, &masks, error))
    return FALSE;
  GST_OBJECT_LOCK (base);
  gst_ccl_masks_unref (priv->masks);
  priv->masks = masks;
  GST_OBJECT_UNLOCK (base);
  return TRUE;
}

static void
gst_ccl_base_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCclBasePrivate *priv = PRIVATE (GST_CCL_BASE (object));
  g_autoptr (GError) error = NULL;
  gboolean has_masks;

  GST_OBJECT_LOCK (object);
  gst_ccl_property_set (&gst_ccl_settings_properties[id - 1], &priv->settings, value);
  has_masks = priv->started && g_str_equal (pspec->name, "masks");
  GST_OBJECT_UNLOCK (object);
  if (has_masks && !read_masks (GST_CCL_BASE (object), &error))
    GST_ELEMENT_WARNING (
        object, RESOURCE, SETTINGS, (_ ("%s; the former masks stay"), error->message), (NULL));
}

static void
gst_ccl_base_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCclBasePrivate *priv = PRIVATE (GST_CCL_BASE (object));

  GST_OBJECT_LOCK (object);
  if (!gst_ccl_property_get (&gst_ccl_settings_properties[id - 1], &priv->settings, value))
    g_value_take_boxed (value, gst_ccl_stats_to_structure (&priv->stats));
  GST_OBJECT_UNLOCK (object);
}

void
gst_ccl_base_class_install_properties (GstCclBaseClass *klass, GstCclBackend backend)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  klass->methods.backend = backend;
  object_class->set_property = gst_ccl_base_set_property;
  object_class->get_property = gst_ccl_base_get_property;
  gst_ccl_settings_install (object_class, backend);
}

GstCclSettings
gst_ccl_base_get_settings (GstCclBase *base)
{
  GstCclSettings settings;

  GST_OBJECT_LOCK (base);
  settings = PRIVATE (base)->settings;
  GST_OBJECT_UNLOCK (base);
  settings.roi_mask = settings.masks = NULL;
  return settings;
}

/* Calls a function for the stream of single frames and for those of batches. */
static void
for_each_stream (GstCclBase *base, void (*function) (GstCclStream *stream))
{
  GstCclBasePrivate *priv = PRIVATE (base);
  GHashTableIter iter;
  gpointer stream;

  function (&priv->stream);
  g_hash_table_iter_init (&iter, priv->batches.streams);
  while (g_hash_table_iter_next (&iter, NULL, &stream))
    function (stream);
}

static gboolean
gst_ccl_base_start (GstBaseTransform *trans)
{
  GstCclBasePrivate *priv = PRIVATE (GST_CCL_BASE (trans));
  gboolean started;
  g_autofree gchar *roi_mask = NULL;
  g_autoptr (GError) error = NULL;

  GST_OBJECT_LOCK (trans);
  gst_ccl_stats_reset (&priv->stats);
  priv->started = TRUE;
  priv->reset = FALSE;
  roi_mask = g_strdup (priv->settings.roi_mask);
  GST_OBJECT_UNLOCK (trans);
  if (!read_masks (GST_CCL_BASE (trans), &error)) {
    GST_ELEMENT_ERROR (trans, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
    GST_OBJECT_LOCK (trans);
    priv->started = FALSE;
    GST_OBJECT_UNLOCK (trans);
    return FALSE;
  }
  gst_ccl_refusal_clear (&priv->refusal);
  gst_ccl_stream_reset_motion (&priv->stream);
  gst_ccl_queue_start (&priv->queue);
  g_atomic_int_set (&priv->topology_changed, TRUE);
  started = gst_ccl_foreground_stage_open (
      &priv->stream.labeller.foreground, GST_ELEMENT (trans), roi_mask);
  priv->batches.roi_mask = priv->stream.labeller.foreground.roi_mask;
  return started;
}

static gboolean
gst_ccl_base_stop (GstBaseTransform *trans)
{
  GstCclBase *base = GST_CCL_BASE (trans);

  gst_ccl_queue_finish (&PRIVATE (base)->queue, &PRIVATE (base)->owner);
  for_each_stream (base, gst_ccl_stream_end_motion);
  for_each_stream (base, gst_ccl_stream_release);
  g_hash_table_remove_all (PRIVATE (base)->batches.streams);
  gst_ccl_foreground_stage_close (&PRIVATE (base)->stream.labeller.foreground);
  GST_OBJECT_LOCK (base);
  PRIVATE (base)->started = FALSE;
  GST_OBJECT_UNLOCK (base);
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

/* Before the first frame, and after links downstream have changed. */
static void
ask_for_wishes (GstCclBase *base)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  gboolean wants_sample;

  if (!g_atomic_int_compare_and_exchange (&priv->topology_changed, TRUE, FALSE))
    return;
  wants_sample = gst_ccl_query_ask_for_sample (GST_BASE_TRANSFORM_SRC_PAD (base));
  GST_DEBUG_OBJECT (
      base, "a sample of the foreground is %s", wants_sample ? "wanted" : "not wanted");
  GST_OBJECT_LOCK (base);
  priv->settings.attach_sample = wants_sample;
  GST_OBJECT_UNLOCK (base);
}

/* Carries out a reset that was asked for, and takes the settings for the frames of a buffer. */
static void
begin_buffer (GstCclBase *base)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  gboolean reset;

  GST_OBJECT_LOCK (base);
  gst_ccl_masks_unref (priv->used_masks);
  priv->used_masks = gst_ccl_masks_ref (priv->masks);
  priv->settings.read_masks = priv->used_masks;
  gst_ccl_queue_begin (&priv->queue, &priv->settings);
  reset = priv->reset;
  priv->reset = FALSE;
  GST_OBJECT_UNLOCK (base);
  if (reset) {
    GST_DEBUG_OBJECT (base, "the background model is discarded");
    for_each_stream (base, gst_ccl_stream_reset_model);
  }
}

static gboolean
gst_ccl_base_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclBasePrivate *priv = PRIVATE (GST_CCL_BASE (trans));

  priv->takes_batches = gst_ccl_batches_are_caps (incaps);
  return priv->takes_batches || gst_ccl_stream_set_caps (&priv->stream, incaps);
}

/* Moves formats of one byte to the front of an answer. Upstream, which chooses the first one, may
 * prefer 16 bits, which take twice the memory, and for which thresholds have another range. */
static void
prefer_bytes (GstQuery *query)
{
  static GstStaticCaps bytes =
      GST_STATIC_CAPS ("video/x-raw(ANY), format = (string) { " GST_CCL_BYTE_FORMATS " }");
  g_autoptr (GstCaps) of_bytes = gst_static_caps_get (&bytes);
  g_autoptr (GstCaps) sorted = NULL;
  GstCaps *caps;

  gst_query_parse_caps_result (query, &caps);
  if (!caps || gst_caps_is_any (caps))
    return;
  sorted = gst_caps_intersect_full (caps, of_bytes, GST_CAPS_INTERSECT_FIRST);
  sorted = gst_caps_merge (sorted, gst_caps_ref (caps));
  gst_query_set_caps_result (query, sorted);
}

static gboolean
gst_ccl_base_query (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  gboolean is_answered;

  gst_ccl_query_pass_labeller (query);
  is_answered =
      GST_BASE_TRANSFORM_CLASS (gst_ccl_base_parent_class)->query (trans, direction, query);
  if (is_answered && direction == GST_PAD_SINK && GST_QUERY_TYPE (query) == GST_QUERY_CAPS)
    prefer_bytes (query);
  return is_answered;
}

static gboolean
gst_ccl_base_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclBase *base = GST_CCL_BASE (trans);

  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_FLUSH_STOP:
  case GST_EVENT_STREAM_START:
    /* The next frame may be of another scene. */
    gst_ccl_base_reset (base);
    for_each_stream (base, gst_ccl_stream_end_motion);
    break;
  case GST_EVENT_EOS:
    for_each_stream (base, gst_ccl_stream_end_motion);
    break;
  default:
    break;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_base_parent_class)->sink_event (trans, event);
}

static gboolean
gst_ccl_base_src_event (GstBaseTransform *trans, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE)
    g_atomic_int_set (&PRIVATE (GST_CCL_BASE (trans))->topology_changed, TRUE);
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_base_parent_class)->src_event (trans, event);
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

static GstFlowReturn
gst_ccl_base_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCclBase *base = GST_CCL_BASE (trans);
  GstCclBasePrivate *priv = PRIVATE (base);

  ask_for_wishes (base);
  begin_buffer (base);
#if GST_CCL_HAS_BATCHES
  if (priv->takes_batches)
    gst_ccl_batches_queue (&priv->batches, &priv->owner, &priv->queue, buffer);
  else
#endif
  {
    priv->stream.segment = trans->segment;
    gst_ccl_queue_add (&priv->queue, &priv->owner, &priv->stream, buffer);
  }
  return gst_ccl_queue_end (&priv->queue, &priv->owner);
}

/* The class of an instance is known when all its init functions have run. */
static void
gst_ccl_base_constructed (GObject *object)
{
  GstCclBase *base = GST_CCL_BASE (object);

  PRIVATE (base)->owner = (GstCclOwner){
      GST_ELEMENT (base), &GST_CCL_BASE_GET_CLASS (base)->methods, gst_ccl_labeller_new_id ()};
  G_OBJECT_CLASS (gst_ccl_base_parent_class)->constructed (object);
}

static void
gst_ccl_base_finalize (GObject *object)
{
  GstCclBasePrivate *priv = PRIVATE (GST_CCL_BASE (object));

  gst_ccl_batches_clear (&priv->batches);
  gst_ccl_stream_clear (&priv->stream);
  gst_ccl_queue_clear (&priv->queue);
  gst_ccl_properties_clear (
      gst_ccl_settings_properties, gst_ccl_settings_n_properties, &priv->settings);
  g_clear_pointer (&priv->masks, gst_ccl_masks_unref);
  g_clear_pointer (&priv->used_masks, gst_ccl_masks_unref);
  gst_ccl_refusal_clear (&priv->refusal);
  G_OBJECT_CLASS (gst_ccl_base_parent_class)->finalize (object);
}

static void
gst_ccl_base_class_init (GstCclBaseClass *klass)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  gst_ccl_frame_labeller_init_log ();
  gst_ccl_queue_init_log ();
  gst_ccl_stream_init_log ();
  gst_ccl_foreground_stage_init_log ();

  G_OBJECT_CLASS (klass)->constructed = gst_ccl_base_constructed;
  G_OBJECT_CLASS (klass)->finalize = gst_ccl_base_finalize;

  /**
   * GstCclBase::reset:
   *
   * Action signal: discards the background model (foreground=codebook and mog2); the next frame
   * starts a new one. Any thread may emit it.
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
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_ccl_base_src_event);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_base_propose_allocation);
  trans_class->submit_input_buffer = GST_DEBUG_FUNCPTR (gst_ccl_base_submit_input_buffer);
  trans_class->before_transform = GST_DEBUG_FUNCPTR (gst_ccl_sync_values);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_ccl_base_transform_ip);

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_BASE, 0);
}

static void
gst_ccl_base_init (GstCclBase *base)
{
  GstCclBasePrivate *priv = PRIVATE (base);

  gst_ccl_settings_init (&priv->settings);
  gst_ccl_stream_init (&priv->stream, &priv->owner, -1);
  gst_ccl_batches_init (&priv->batches);
  gst_ccl_queue_init (&priv->queue, &priv->stats);
  gst_ccl_refusal_init (&priv->refusal, GST_ELEMENT (base), GST_BASE_TRANSFORM_SINK_PAD (base));
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (base), TRUE);
}
