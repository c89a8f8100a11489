/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ccljson
 * @title: ccljson
 * @short_description: turns the components of frames into lines of JSON
 * @see_also: ccl, cudaccl
 *
 * For every frame that comes in, one JSON object and a newline go out. Only the metadata is read,
 * so the frame may live in any memory.
 *
 * |[<!-- language="plain" -->
 * {"pts":ns|null,"running_time":ns|null,"frame":n,"width":w,"height":h,"count":N,
 * "truncated":false,"components":[{"label":1,"area":a,"x":x,"y":y,"width":w,"height":h,"cx":1.5,"cy":2.25},…]}
 * ]|
 *
 * - `pts`: the frame's presentation time stamp in ns, null if it has none
 * - `running_time`: the same in running time, which all branches of a pipeline share whatever
 *   their segments are; null outside of the segment
 * - `frame`: counts the frames this element has seen since it was started, from 0
 * - `width`, `height`: of the frame that boxes and centroids refer to, in pixels
 * - `count`: how many components the frame has, also when `truncated` says that `components`
 *   lists fewer; null for a frame that no labeller has seen, of which a warning is posted once
 * - `cx`, `cy`: the centroid, in the fewest digits that give back the same number
 *
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! ccl
 * threshold=128 ! ccljson ! filesink location=components.ndjson
 * ]| This writes a file of thirty lines.
 */
#include "gstccljson.h"

#include <gst/ccl/gstcclmeta.h>
#include <gst/video/video.h>
#include <math.h>

GST_DEBUG_CATEGORY_STATIC (gst_ccl_json_debug);
#define GST_CAT_DEFAULT gst_ccl_json_debug

struct _GstCclJson {
  GstBaseTransform parent;

  /* All of the streaming thread. */
  GstVideoInfo info;
  guint64 n_frames;
  gboolean warned; /* that a frame has no GstCclMeta */
  GString *line;   /* kept for its memory */
};

G_DEFINE_TYPE_WITH_CODE (GstCclJson, gst_ccl_json, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_json_debug, "ccljson", 0, "components as JSON"))
GST_ELEMENT_REGISTER_DEFINE (ccljson, "ccljson", GST_RANK_NONE, GST_TYPE_CCL_JSON)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-ndjson"));

/* JSON has no infinities and no NaN; the labellers never give one. */
static void
append_double (GString *line, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value)) {
    g_string_append (line, "null");
    return;
  }
  /* 15 digits survive the way to a double and back, 17 are always enough. */
  if (g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.15g", value), NULL) != value &&
      g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.16g", value), NULL) != value)
    g_ascii_formatd (text, sizeof text, "%.17g", value);
  g_string_append (line, text);
}

static void
append_component (GString *line, const GstCclComponent *component)
{
  g_string_append_printf (line,
      "{\"label\":%u,\"area\":%u,\"x\":%u,\"y\":%u,\"width\":%u,\"height\":%u,\"cx\":",
      component->label, component->area, component->x, component->y, component->width,
      component->height);
  append_double (line, component->centroid_x);
  g_string_append (line, ",\"cy\":");
  append_double (line, component->centroid_y);
  g_string_append_c (line, '}');
}

static void
append_meta (GString *line, const GstCclMeta *meta)
{
  guint n_rows;
  const GstCclComponent *components = gst_ccl_meta_get_components (meta, &n_rows);

  g_string_append_printf (line,
      "\"width\":%u,\"height\":%u,\"count\":%u,\"truncated\":%s,\"components\":[",
      gst_ccl_meta_get_frame_width (meta), gst_ccl_meta_get_frame_height (meta),
      gst_ccl_meta_get_n_components (meta), gst_ccl_meta_is_truncated (meta) ? "true" : "false");
  for (guint i = 0; i < n_rows; i++) {
    if (i > 0)
      g_string_append_c (line, ',');
    append_component (line, &components[i]);
  }
  g_string_append_c (line, ']');
}

static void
append_unlabelled (GString *line, const GstVideoInfo *info)
{
  g_string_append_printf (line,
      "\"width\":%d,\"height\":%d,\"count\":null,\"truncated\":false,\"components\":[]",
      GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
}

static GstClockTime
running_time (GstCclJson *self, GstBuffer *frame)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM_CAST (self)->segment;

  if (segment->format != GST_FORMAT_TIME)
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame));
}

static void
append_time (GString *line, GstClockTime time)
{
  if (GST_CLOCK_TIME_IS_VALID (time))
    g_string_append_printf (line, "%" G_GUINT64_FORMAT, time);
  else
    g_string_append (line, "null");
}

static void
format_line (GstCclJson *self, GstBuffer *frame)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (frame);
  GString *line = self->line;

  g_string_truncate (line, 0);
  g_string_append (line, "{\"pts\":");
  append_time (line, GST_BUFFER_PTS (frame));
  g_string_append (line, ",\"running_time\":");
  append_time (line, running_time (self, frame));
  g_string_append_printf (line, ",\"frame\":%" G_GUINT64_FORMAT ",", self->n_frames);

  if (meta) {
    append_meta (line, meta);
  } else {
    append_unlabelled (line, &self->info);
    if (!self->warned) {
      GST_ELEMENT_WARNING (self, STREAM, FORMAT,
          ("Frames without component metadata arrive; is there a ccl or cudaccl upstream?"),
          ("first one: frame %" G_GUINT64_FORMAT, self->n_frames));
      self->warned = TRUE;
    }
  }
  g_string_append (line, "}\n");
}

/* The output's size depends on the frame's components, so the output is made here, whole. */
static GstFlowReturn
gst_ccl_json_prepare_output_buffer (GstBaseTransform *trans, GstBuffer *input, GstBuffer **output)
{
  GstCclJson *self = GST_CCL_JSON (trans);

  format_line (self, input);
  self->n_frames++;

  *output = gst_buffer_new_memdup (self->line->str, self->line->len);
  gst_buffer_copy_into (*output, input, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  GST_BUFFER_FLAG_UNSET (*output, GST_BUFFER_FLAG_GAP);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_ccl_json_transform (GstBaseTransform *trans, GstBuffer *input, GstBuffer *output)
{
  return GST_FLOW_OK;
}

static GstCaps *
gst_ccl_json_transform_caps (
    GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK ? GST_BASE_TRANSFORM_SRC_PAD (trans)
                                            : GST_BASE_TRANSFORM_SINK_PAD (trans);
  GstCaps *other_caps = gst_pad_get_pad_template_caps (other);

  if (filter) {
    GstCaps *intersection = gst_caps_intersect_full (filter, other_caps, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (other_caps);
    other_caps = intersection;
  }
  return other_caps;
}

static gboolean
gst_ccl_json_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclJson *self = GST_CCL_JSON (trans);

  /* Needed for frames without metadata only, so a format unknown to GstVideoInfo is fine. */
  if (!gst_video_info_from_caps (&self->info, incaps))
    gst_video_info_init (&self->info);
  return TRUE;
}

static gboolean
gst_ccl_json_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  /* No pixel is read, so any layout will do. */
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static gboolean
gst_ccl_json_start (GstBaseTransform *trans)
{
  GstCclJson *self = GST_CCL_JSON (trans);

  self->n_frames = 0;
  self->warned = FALSE;
  return TRUE;
}

static void
gst_ccl_json_finalize (GObject *object)
{
  g_string_free (GST_CCL_JSON (object)->line, TRUE);
  G_OBJECT_CLASS (gst_ccl_json_parent_class)->finalize (object);
}

static void
gst_ccl_json_class_init (GstCclJsonClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_ccl_json_finalize;

  gst_element_class_set_static_metadata (element_class, "Connected components to JSON",
      "Converter/Video/Metadata",
      "Turns the components that ccl and cudaccl found into one line of JSON a frame",
      "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_json_start);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_ccl_json_transform_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_json_set_caps);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_json_propose_allocation);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_ccl_json_prepare_output_buffer);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_ccl_json_transform);
}

static void
gst_ccl_json_init (GstCclJson *self)
{
  self->line = g_string_new (NULL);
  gst_video_info_init (&self->info);
}
