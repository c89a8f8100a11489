/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-cclcombiner
 * @title: cclcombiner
 * @short_description: attaches the components of a mask to the video that the mask was made from
 * @see_also: ccl, cudaccl, ccloverlay
 *
 * Takes a video and its labelled masks, and passes on the video with the metadata of the masks:
 * #GstCclMeta, regions of interest and, with GStreamer 1.24 or later, analytics metadata. A mask
 * belongs to the frame that has the same running time. Where the mask is smaller or larger than the
 * video, coordinates are scaled, and the label map is dropped. Frames that no mask belongs to pass
 * without metadata; see the property `max-age` for masks at a lower rate. Every frame of the video
 * passes, unchanged and in order.
 *
 * The pad `mask` is a request pad. Without it, or after it was released, the video passes without
 * metadata, and does not wait. Tags are those of the video.
 *
 * With `emit-signals=true`, the signal `samples-selected` is emitted before each frame is pushed;
 * gst_aggregator_peek_next_sample() then has the frame, for `video`, and the mask that belongs to
 * it, for `mask`.
 *
 * Metadata that both branches have from before the tee is not added a second time.
 *
 * A gap in the video goes on as a gap event. A gap in the masks means that the frames of that time
 * have no components: they get an empty #GstCclMeta.
 *
 * Both branches need a queue. The queue of the video must hold the frames of the time that making a
 * mask takes. In a live pipeline the video never waits longer than the pipeline's latency; if masks
 * take longer, their frames pass without metadata, unless the property `latency` allows for the
 * time or `max-age` for the age.
 *
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! tee name=t \
 *     t. ! queue ! combiner.video \
 *     t. ! queue ! videoconvert ! video/x-raw,format=GRAY8 ! ccl threshold=128 ! combiner.mask \
 *     cclcombiner name=combiner ! ccloverlay ! videoconvert ! autovideosink
 * ]| This draws the boxes of the mask's components on the original video.
 *
 * Since: 0.2
 */
#include <gst/base/gstaggregator.h>
#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "gstcclcarry.h"
#include "shared/gstcclelements.h"
#include "shared/gstcclframe.h"
#include "shared/gstccli18n.h"

#define GST_TYPE_CCL_COMBINER (gst_ccl_combiner_get_type ())
G_DECLARE_FINAL_TYPE (GstCclCombiner, gst_ccl_combiner, GST, CCL_COMBINER, GstAggregator)

GST_DEBUG_CATEGORY_STATIC (gst_ccl_combiner_debug);
#define GST_CAT_DEFAULT gst_ccl_combiner_debug

enum {
  PROP_0,
  PROP_MAX_AGE,
};

#define DEFAULT_MAX_AGE 0

struct _GstCclCombiner {
  GstAggregator parent;

  GstClockTime max_age; /* guarded by the object lock */

  GstAggregatorPad *video_pad; /* owned by the element as its pad */
  GstAggregatorPad *mask_pad;  /* guarded by the object lock: the application's; NULL: none */

  GstEvent *tags; /* guarded by the object lock: of the video, to be pushed before its next frame */

  gint has_ended; /* atomic: no more masks are taken */

  /* The streaming thread's. */
  GstAggregatorPad *masks;  /* the mask pad while a frame is worked on; NULL: none */
  GstVideoInfo info;        /* of the video */
  GstBuffer *selected;      /* the mask that belongs to the frame; NULL: none */
  GstBuffer *mask;          /* the latest that is not ahead of the video; an empty one is a gap */
  GstClockTime mask_time;   /* its running time */
  GstClockTime mask_end;    /* where a gap ends, otherwise mask_time */
  GstCclLabeller *labeller; /* of the latest mask that had one; NULL: not known yet */
  gboolean warned;          /* that metadata is left out */
};

G_DEFINE_TYPE_WITH_CODE (GstCclCombiner, gst_ccl_combiner, GST_TYPE_AGGREGATOR,
    GST_DEBUG_CATEGORY_INIT (
        gst_ccl_combiner_debug, "cclcombiner", 0, "components of masks on video"))
GST_ELEMENT_REGISTER_DEFINE (cclcombiner, "cclcombiner", GST_RANK_NONE, GST_TYPE_CCL_COMBINER)

static GstStaticPadTemplate video_template = GST_STATIC_PAD_TEMPLATE (
    "video", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static GstStaticPadTemplate mask_template = GST_STATIC_PAD_TEMPLATE (
    "mask", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static void
gst_ccl_combiner_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCclCombiner *self = GST_CCL_COMBINER (object);

  GST_OBJECT_LOCK (self);
  self->max_age = g_value_get_uint64 (value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_combiner_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCclCombiner *self = GST_CCL_COMBINER (object);

  GST_OBJECT_LOCK (self);
  g_value_set_uint64 (value, self->max_age);
  GST_OBJECT_UNLOCK (self);
}

static void
drop_mask (GstCclCombiner *self)
{
  gst_clear_buffer (&self->mask);
  self->mask_time = self->mask_end = GST_CLOCK_TIME_NONE;
}

/* Takes the mask as the present one. */
static void
set_mask (GstCclCombiner *self, GstBuffer *mask, GstClockTime mask_time)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (mask);
  GstCclLabeller *labeller = meta ? gst_ccl_meta_get_labeller (meta) : NULL;

  drop_mask (self);
  self->mask = mask;
  self->mask_time = self->mask_end = mask_time;
  if (gst_ccl_is_empty_gap (mask) && GST_BUFFER_DURATION_IS_VALID (mask)) {
    GstClockTime end = gst_ccl_running_time (
        &self->masks->segment, GST_BUFFER_PTS (mask) + GST_BUFFER_DURATION (mask));
    self->mask_end = GST_CLOCK_TIME_IS_VALID (end) ? end : mask_time + GST_BUFFER_DURATION (mask);
  }
  if (labeller) {
    g_clear_pointer (&self->labeller, gst_ccl_labeller_unref);
    self->labeller = labeller;
  }
}

/* Whether the present mask, a gap, covers that time, too: then no other mask belongs to it. */
static gboolean
is_covered (const GstCclCombiner *self, GstClockTime video_time)
{
  return self->mask && self->mask_end > video_time;
}

/* Takes masks until one is found that belongs to that time or a later one. FALSE if it may still
 * come. */
static gboolean
find_mask (GstCclCombiner *self, GstClockTime video_time, gboolean timeout)
{
  while (self->masks && !is_covered (self, video_time)) {
    g_autoptr (GstBuffer) mask = gst_aggregator_pad_peek_buffer (self->masks);
    GstClockTime mask_time;

    if (!mask)
      return timeout || gst_aggregator_pad_is_eos (self->masks);
    mask_time = gst_ccl_running_time (&self->masks->segment, GST_BUFFER_PTS (mask));
    if (GST_CLOCK_TIME_IS_VALID (mask_time) && mask_time > video_time)
      return TRUE;

    gst_aggregator_pad_drop_buffer (self->masks);
    if (!GST_CLOCK_TIME_IS_VALID (mask_time)) {
      GST_WARNING_OBJECT (self, "dropping a mask without a time");
      continue;
    }
    set_mask (self, g_steal_pointer (&mask), mask_time);
    if (mask_time == video_time)
      return TRUE;
  }
  return TRUE;
}

/* The size that the coordinates of a mask refer to. FALSE if it is not known or 0: nothing can be
 * scaled from it. */
static gboolean
get_mask_size (GstCclCombiner *self, GstBuffer *mask, GstVideoInfo *size)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (mask);
  g_autoptr (GstCaps) caps = NULL;

  if (meta)
    return gst_video_info_set_format (size, GST_VIDEO_FORMAT_GRAY8,
        gst_ccl_meta_get_frame_width (meta), gst_ccl_meta_get_frame_height (meta));

  caps = self->masks ? gst_pad_get_current_caps (GST_PAD (self->masks)) : NULL;
  return caps && gst_video_info_from_caps (size, caps) && GST_VIDEO_INFO_WIDTH (size) > 0 &&
         GST_VIDEO_INFO_HEIGHT (size) > 0;
}

static gboolean
belongs (GstCclCombiner *self, GstClockTime time)
{
  GstClockTime max_age;

  GST_OBJECT_LOCK (self);
  max_age = self->max_age;
  GST_OBJECT_UNLOCK (self);
  return self->mask && GST_CLOCK_TIME_IS_VALID (time) && time >= self->mask_time &&
         (time - self->mask_time <= max_age || time < self->mask_end);
}

/* Attaches the metadata of the present mask. */
static GstBuffer *
attach (GstCclCombiner *self, GstBuffer *frame)
{
  GstVideoInfo mask_size;

  if (gst_ccl_is_empty_gap (self->mask)) {
    frame = gst_buffer_make_writable (frame);
    gst_ccl_meta_set_labeller (gst_buffer_add_ccl_meta (frame, GST_VIDEO_INFO_WIDTH (&self->info),
                                   GST_VIDEO_INFO_HEIGHT (&self->info), 0, NULL, 0, NULL, 0),
        self->labeller);
  } else if (get_mask_size (self, self->mask, &mask_size)) {
    frame = gst_buffer_make_writable (frame);
    if (!gst_ccl_carry_meta (self->mask, frame, &mask_size, &self->info) && !self->warned) {
      self->warned = TRUE;
      GST_ELEMENT_WARNING (self, STREAM, FORMAT,
          (_ ("Analytics metadata is attached to the video behind the tee: that of the mask is "
              "left "
              "out, because both cannot be merged")),
          (NULL));
    }
  }
  return frame;
}

static void
push_tags (GstCclCombiner *self, GstPad *pad)
{
  GstEvent *tags;

  GST_OBJECT_LOCK (self);
  tags = g_steal_pointer (&self->tags);
  GST_OBJECT_UNLOCK (self);
  if (tags)
    gst_pad_push_event (pad, tags);
}

/* Passes tags of the video on, and gaps as gap events. Here, because GstAggregator pushes
 * stream-start, caps and segment only before a buffer. */
static GstPadProbeReturn
precede_with_events (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

  push_tags (data, pad);
  if (!gst_ccl_is_empty_gap (buffer))
    return GST_PAD_PROBE_OK;
  /* A gap event must have a time. */
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    gst_pad_push_event (
        pad, gst_event_new_gap (GST_BUFFER_PTS (buffer), GST_BUFFER_DURATION (buffer)));
  return GST_PAD_PROBE_DROP;
}

/* Ends the output. More masks may arrive, and since GStreamer 1.26 GstAggregator blocks the thread
 * that pushes a mask until the mask is taken. */
static GstFlowReturn
end (GstCclCombiner *self)
{
  g_atomic_int_set (&self->has_ended, TRUE);
  while (self->masks && gst_aggregator_pad_drop_buffer (self->masks)) {
  }
  return GST_FLOW_EOS;
}

static GstPadProbeReturn
drop_after_the_end (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstCclCombiner *self = data;

  return g_atomic_int_get (&self->has_ended) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

/* Tells applications which frame and which mask come next. */
static void
announce (GstCclCombiner *self, GstBuffer *frame)
{
  gst_aggregator_selected_samples (GST_AGGREGATOR (self), GST_BUFFER_PTS (frame),
      GST_BUFFER_DTS (frame), GST_BUFFER_DURATION (frame), NULL);
}

static GstSample *
gst_ccl_combiner_peek_next_sample (GstAggregator *aggregator, GstAggregatorPad *pad)
{
  GstCclCombiner *self = GST_CCL_COMBINER (aggregator);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (GST_PAD (pad));
  g_autoptr (GstBuffer) buffer = NULL;

  if (pad == self->video_pad)
    buffer = gst_aggregator_pad_peek_buffer (pad);
  else if (pad == self->masks && self->selected)
    buffer = gst_buffer_ref (self->selected);
  return buffer ? gst_sample_new (buffer, caps, &pad->segment, NULL) : NULL;
}

static GstFlowReturn
work (GstCclCombiner *self, gboolean timeout)
{
  GstAggregator *aggregator = GST_AGGREGATOR (self);
  GstBuffer *frame = gst_aggregator_pad_peek_buffer (self->video_pad);
  GstClockTime time;
  GstFlowReturn flow;

  if (!frame)
    return gst_aggregator_pad_is_eos (self->video_pad) ? end (self) : GST_AGGREGATOR_FLOW_NEED_DATA;

  time = gst_ccl_running_time (&self->video_pad->segment, GST_BUFFER_PTS (frame));
  if (!gst_ccl_is_empty_gap (frame) && GST_CLOCK_TIME_IS_VALID (time) &&
      !find_mask (self, time, timeout)) {
    gst_buffer_unref (frame);
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  self->selected = belongs (self, time) ? self->mask : NULL;
  announce (self, frame);
  gst_aggregator_pad_drop_buffer (self->video_pad);

  if (gst_ccl_is_empty_gap (frame))
    GST_LOG_OBJECT (self, "gap in the video at %" GST_TIME_FORMAT, GST_TIME_ARGS (time));
  else if (self->selected)
    frame = attach (self, frame);
  else
    GST_LOG_OBJECT (self, "no mask for the frame at %" GST_TIME_FORMAT, GST_TIME_ARGS (time));

  if (GST_BUFFER_PTS_IS_VALID (frame))
    GST_AGGREGATOR_PAD (aggregator->srcpad)->segment.position =
        GST_BUFFER_PTS (frame) +
        (GST_BUFFER_DURATION_IS_VALID (frame) ? GST_BUFFER_DURATION (frame) : 0);
  flow = gst_aggregator_finish_buffer (aggregator, frame);
  return flow == GST_FLOW_EOS ? end (self) : flow;
}

/* The mask pad may be released while a frame is worked on. */
static GstFlowReturn
gst_ccl_combiner_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  GstCclCombiner *self = GST_CCL_COMBINER (aggregator);
  GstFlowReturn flow;

  GST_OBJECT_LOCK (self);
  self->masks = self->mask_pad ? gst_object_ref (self->mask_pad) : NULL;
  GST_OBJECT_UNLOCK (self);
  if (!self->masks)
    drop_mask (self);
  flow = work (self, timeout);
  gst_clear_object (&self->masks);
  self->selected = NULL;
  return flow;
}

/* The running time after which, in a live pipeline, aggregate() is called although a pad has no
 * buffer. There must be something to do then, because it is called again at once as long as that
 * time is in the past. Without a frame there is nothing to do, whatever the time is. */
static GstClockTime
gst_ccl_combiner_get_next_time (GstAggregator *aggregator)
{
  GstCclCombiner *self = GST_CCL_COMBINER (aggregator);
  g_autoptr (GstBuffer) frame = gst_aggregator_pad_peek_buffer (self->video_pad);
  GstClockTime time;

  if (!frame)
    return gst_aggregator_pad_is_eos (self->video_pad) ? 0 : GST_CLOCK_TIME_NONE;
  time = gst_ccl_running_time (&self->video_pad->segment, GST_BUFFER_PTS (frame));
  if (gst_ccl_is_empty_gap (frame) || !GST_CLOCK_TIME_IS_VALID (time) || is_covered (self, time))
    return 0; /* no mask is needed */
  return time;
}

static gboolean
gst_ccl_combiner_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  GstCclCombiner *self = GST_CCL_COMBINER (aggregator);

  if (pad == self->video_pad && GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    g_atomic_int_set (&self->has_ended, FALSE);
  if (pad == self->video_pad && GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    GstCaps *caps;

    gst_event_parse_caps (event, &caps);
    if (!gst_video_info_from_caps (&self->info, caps)) {
      GST_ERROR_OBJECT (self, "invalid caps %" GST_PTR_FORMAT, caps);
      gst_event_unref (event);
      return FALSE;
    }
    gst_aggregator_set_src_caps (aggregator, caps);
  }
  if (pad == self->video_pad && GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT) {
    const GstSegment *segment;

    gst_event_parse_segment (event, &segment);
    gst_aggregator_update_segment (aggregator, segment);
  }
  if (pad == self->video_pad && GST_EVENT_TYPE (event) == GST_EVENT_TAG) {
    GST_OBJECT_LOCK (self);
    gst_event_replace (&self->tags, event);
    GST_OBJECT_UNLOCK (self);
  }
  return GST_AGGREGATOR_CLASS (gst_ccl_combiner_parent_class)->sink_event (aggregator, pad, event);
}

/* The video passes unchanged, so its caps are those that its template and the next element take. */
static void
answer_caps (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  g_autoptr (GstCaps) template_caps = gst_pad_get_pad_template_caps (GST_PAD (pad));
  g_autoptr (GstCaps) taken = NULL, caps = NULL, answer = NULL;
  GstCaps *filter;

  gst_query_parse_caps (query, &filter);
  taken = filter ? gst_caps_intersect_full (filter, template_caps, GST_CAPS_INTERSECT_FIRST)
                 : gst_caps_ref (template_caps);
  caps = gst_pad_peer_query_caps (aggregator->srcpad, taken);
  answer = gst_caps_intersect_full (caps, taken, GST_CAPS_INTERSECT_FIRST);
  gst_query_set_caps_result (query, answer);
}

static gboolean
has_template_caps (GstAggregatorPad *pad, GstQuery *query)
{
  g_autoptr (GstCaps) taken = gst_pad_get_pad_template_caps (GST_PAD (pad));
  GstCaps *caps;

  gst_query_parse_accept_caps (query, &caps);
  return gst_caps_is_subset (caps, taken);
}

/* Caps and allocation queries of the video are forwarded to the peer downstream. */
static gboolean
gst_ccl_combiner_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  GstCclCombiner *self = GST_CCL_COMBINER (aggregator);

  if (pad == self->video_pad) {
    switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      answer_caps (aggregator, pad, query);
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      if (!has_template_caps (pad, query)) {
        gst_query_set_accept_caps_result (query, FALSE);
        return TRUE;
      }
      return gst_pad_peer_query (aggregator->srcpad, query);
    case GST_QUERY_ALLOCATION:
      return gst_pad_peer_query (aggregator->srcpad, query);
    default:
      break;
    }
  }
  return GST_AGGREGATOR_CLASS (gst_ccl_combiner_parent_class)->sink_query (aggregator, pad, query);
}

static gboolean
gst_ccl_combiner_propose_allocation (
    GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *decide_query, GstQuery *query)
{
  /* The element reads no pixel of a mask, so masks may have any layout. */
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static void
start_anew (GstCclCombiner *self)
{
  drop_mask (self);
  g_clear_pointer (&self->labeller, gst_ccl_labeller_unref);
  self->warned = FALSE;
  g_atomic_int_set (&self->has_ended, FALSE);
}

static void
drop_tags (GstCclCombiner *self)
{
  GST_OBJECT_LOCK (self);
  gst_clear_event (&self->tags);
  GST_OBJECT_UNLOCK (self);
}

static GstFlowReturn
gst_ccl_combiner_flush (GstAggregator *aggregator)
{
  start_anew (GST_CCL_COMBINER (aggregator));
  return GST_FLOW_OK;
}

static gboolean
gst_ccl_combiner_stop (GstAggregator *aggregator)
{
  start_anew (GST_CCL_COMBINER (aggregator));
  drop_tags (GST_CCL_COMBINER (aggregator));
  return TRUE;
}

static GstAggregatorPad *
new_sink_pad (GstCclCombiner *self, const gchar *name)
{
  GstPadTemplate *pad_template =
      gst_element_class_get_pad_template (GST_ELEMENT_GET_CLASS (self), name);

  return g_object_new (GST_TYPE_AGGREGATOR_PAD, "name", name, "direction", GST_PAD_SINK, "template",
      pad_template, NULL);
}

/* There is one mask pad at a time. */
static GstAggregatorPad *
gst_ccl_combiner_create_new_pad (
    GstAggregator *aggregator, GstPadTemplate *pad_template, const gchar *name, const GstCaps *caps)
{
  GstCclCombiner *self = GST_CCL_COMBINER (aggregator);
  GstAggregatorPad *pad = new_sink_pad (self, "mask");
  gboolean is_first;

  GST_OBJECT_LOCK (self);
  is_first = self->mask_pad == NULL;
  if (is_first)
    self->mask_pad = pad;
  GST_OBJECT_UNLOCK (self);
  if (!is_first) {
    gst_object_unref (gst_object_ref_sink (pad));
    return NULL;
  }
  gst_pad_add_probe (GST_PAD (pad), GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
      drop_after_the_end, self, NULL);
  return pad;
}

static void
gst_ccl_combiner_release_pad (GstElement *element, GstPad *pad)
{
  GstCclCombiner *self = GST_CCL_COMBINER (element);

  GST_OBJECT_LOCK (self);
  if (pad == GST_PAD_CAST (self->mask_pad))
    self->mask_pad = NULL;
  GST_OBJECT_UNLOCK (self);
  GST_ELEMENT_CLASS (gst_ccl_combiner_parent_class)->release_pad (element, pad);
}

static void
gst_ccl_combiner_class_init (GstCclCombinerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);

  object_class->set_property = gst_ccl_combiner_set_property;
  object_class->get_property = gst_ccl_combiner_get_property;
  g_object_class_install_property (object_class, PROP_MAX_AGE,
      g_param_spec_uint64 ("max-age", "Maximum age",
          "How much older than a frame its mask may be, in nanoseconds; 0 takes only masks with "
          "the running time of the frame, the largest number (-1) masks of any age. Raise it where "
          "masks have a lower rate than the video",
          0, G_MAXUINT64, DEFAULT_MAX_AGE,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));

  gst_element_class_set_static_metadata (element_class, "Connected components combiner",
      "Muxer/Video/Metadata",
      "Attaches the components of a mask to the video that the mask was made from", GST_CCL_AUTHOR);
  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &video_template, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &mask_template, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &src_template, GST_TYPE_AGGREGATOR_PAD);

  element_class->release_pad = GST_DEBUG_FUNCPTR (gst_ccl_combiner_release_pad);
  aggregator_class->create_new_pad = GST_DEBUG_FUNCPTR (gst_ccl_combiner_create_new_pad);
  aggregator_class->peek_next_sample = GST_DEBUG_FUNCPTR (gst_ccl_combiner_peek_next_sample);
  aggregator_class->aggregate = GST_DEBUG_FUNCPTR (gst_ccl_combiner_aggregate);
  aggregator_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_combiner_sink_event);
  aggregator_class->sink_query = GST_DEBUG_FUNCPTR (gst_ccl_combiner_sink_query);
  aggregator_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_combiner_propose_allocation);
  aggregator_class->flush = GST_DEBUG_FUNCPTR (gst_ccl_combiner_flush);
  aggregator_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_combiner_stop);
  aggregator_class->get_next_time = GST_DEBUG_FUNCPTR (gst_ccl_combiner_get_next_time);
  /* The caps of the output are those of the video; sink_event sets them. */
  aggregator_class->negotiate = NULL;
}

static void
gst_ccl_combiner_init (GstCclCombiner *self)
{
  self->max_age = DEFAULT_MAX_AGE;
  self->mask_time = self->mask_end = GST_CLOCK_TIME_NONE;
  gst_video_info_init (&self->info);
  self->video_pad = new_sink_pad (self, "video");
  gst_element_add_pad (GST_ELEMENT (self), GST_PAD (self->video_pad));
  gst_pad_add_probe (
      GST_AGGREGATOR (self)->srcpad, GST_PAD_PROBE_TYPE_BUFFER, precede_with_events, self, NULL);
}
