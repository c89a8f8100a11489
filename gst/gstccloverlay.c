/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ccloverlay
 * @title: ccloverlay
 * @short_description: draws connected components on video
 * @see_also: ccl, cudaccl
 *
 * Draws what a #GstCclMeta says into the frame that carries it: boxes and, as wished, numbers,
 * areas, centroids and, where label map and mask are attached, the components themselves in
 * distinct colours and the mask in one. If the metadata was made for frames of another size, its
 * coordinates are scaled. A frame with nothing to draw passes untouched.
 *
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! video/x-raw,format=GRAY8 ! ccl threshold=128
 * attach-labels=true ! videoconvert ! ccloverlay draw-labels=true fill-components=true !
 * videoconvert ! autovideosink
 * ]| This shows the moving ball in colour, in a box with its number. With `videoscale` instead of
 * `videoconvert` before the overlay, the boxes would follow, but not the label map.
 */
#include "gstccloverlay.h"

#include <gst/ccl/gstcclmeta.h>
#include <gst/video/video.h>

#include "gstcclcanvas.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_overlay_debug);
#define GST_CAT_DEFAULT gst_ccl_overlay_debug

enum {
  PROP_0,
  PROP_DRAW_BOXES,
  PROP_BOX_COLOR,
  PROP_BOX_WIDTH,
  PROP_DRAW_LABELS,
  PROP_DRAW_AREAS,
  PROP_TEXT_COLOR,
  PROP_DRAW_CENTROIDS,
  PROP_CENTROID_COLOR,
  PROP_FILL_COMPONENTS,
  PROP_FILL_ALPHA,
  PROP_DRAW_MASK,
  PROP_MASK_COLOR,
};

#define DEFAULT_DRAW_BOXES TRUE
#define DEFAULT_BOX_COLOR 0xff00ff00
#define DEFAULT_BOX_WIDTH 2
#define DEFAULT_DRAW_LABELS FALSE
#define DEFAULT_DRAW_AREAS FALSE
#define DEFAULT_TEXT_COLOR 0xffffffff
#define DEFAULT_DRAW_CENTROIDS FALSE
#define DEFAULT_CENTROID_COLOR 0xffff0000
#define DEFAULT_FILL_COMPONENTS FALSE
#define DEFAULT_FILL_ALPHA 0.5
#define DEFAULT_DRAW_MASK FALSE
#define DEFAULT_MASK_COLOR 0x80ff0000

#define PROPERTY_FLAGS (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

struct _GstCclOverlay {
  GstBaseTransform parent;

  GstCclStyle style; /* guarded by the object lock */

  /* Of the streaming thread. */
  GstVideoInfo info;
  GstCclCanvas *canvas;
};

G_DEFINE_TYPE_WITH_CODE (GstCclOverlay, gst_ccl_overlay, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_overlay_debug, "ccloverlay", 0, "components on video"))
GST_ELEMENT_REGISTER_DEFINE (ccloverlay, "ccloverlay", GST_RANK_NONE, GST_TYPE_CCL_OVERLAY)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_VIDEO_OVERLAY_COMPOSITION_BLEND_FORMATS)));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_VIDEO_OVERLAY_COMPOSITION_BLEND_FORMATS)));

static void
gst_ccl_overlay_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCclStyle *style = &GST_CCL_OVERLAY (object)->style;

  GST_OBJECT_LOCK (object);
  switch (id) {
  case PROP_DRAW_BOXES:
    style->boxes = g_value_get_boolean (value);
    break;
  case PROP_BOX_COLOR:
    style->box_color = g_value_get_uint (value);
    break;
  case PROP_BOX_WIDTH:
    style->box_width = g_value_get_uint (value);
    break;
  case PROP_DRAW_LABELS:
    style->labels = g_value_get_boolean (value);
    break;
  case PROP_DRAW_AREAS:
    style->areas = g_value_get_boolean (value);
    break;
  case PROP_TEXT_COLOR:
    style->text_color = g_value_get_uint (value);
    break;
  case PROP_DRAW_CENTROIDS:
    style->centroids = g_value_get_boolean (value);
    break;
  case PROP_CENTROID_COLOR:
    style->centroid_color = g_value_get_uint (value);
    break;
  case PROP_FILL_COMPONENTS:
    style->fill = g_value_get_boolean (value);
    break;
  case PROP_FILL_ALPHA:
    style->fill_alpha = g_value_get_double (value);
    break;
  case PROP_DRAW_MASK:
    style->mask = g_value_get_boolean (value);
    break;
  case PROP_MASK_COLOR:
    style->mask_color = g_value_get_uint (value);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (object);
}

static void
gst_ccl_overlay_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCclStyle *style = &GST_CCL_OVERLAY (object)->style;

  GST_OBJECT_LOCK (object);
  switch (id) {
  case PROP_DRAW_BOXES:
    g_value_set_boolean (value, style->boxes);
    break;
  case PROP_BOX_COLOR:
    g_value_set_uint (value, style->box_color);
    break;
  case PROP_BOX_WIDTH:
    g_value_set_uint (value, style->box_width);
    break;
  case PROP_DRAW_LABELS:
    g_value_set_boolean (value, style->labels);
    break;
  case PROP_DRAW_AREAS:
    g_value_set_boolean (value, style->areas);
    break;
  case PROP_TEXT_COLOR:
    g_value_set_uint (value, style->text_color);
    break;
  case PROP_DRAW_CENTROIDS:
    g_value_set_boolean (value, style->centroids);
    break;
  case PROP_CENTROID_COLOR:
    g_value_set_uint (value, style->centroid_color);
    break;
  case PROP_FILL_COMPONENTS:
    g_value_set_boolean (value, style->fill);
    break;
  case PROP_FILL_ALPHA:
    g_value_set_double (value, style->fill_alpha);
    break;
  case PROP_DRAW_MASK:
    g_value_set_boolean (value, style->mask);
    break;
  case PROP_MASK_COLOR:
    g_value_set_uint (value, style->mask_color);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (object);
}

static GstCclStyle
get_style (GstCclOverlay *self)
{
  GstCclStyle style;

  GST_OBJECT_LOCK (self);
  style = self->style;
  GST_OBJECT_UNLOCK (self);
  return style;
}

static gboolean
gst_ccl_overlay_stop (GstBaseTransform *trans)
{
  g_clear_pointer (&GST_CCL_OVERLAY (trans)->canvas, gst_ccl_canvas_free);
  return TRUE;
}

static gboolean
gst_ccl_overlay_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);

  if (!gst_video_info_from_caps (&self->info, incaps)) {
    GST_ERROR_OBJECT (self, "invalid caps %" GST_PTR_FORMAT, incaps);
    return FALSE;
  }
  /* Made again when there is something to draw. */
  g_clear_pointer (&self->canvas, gst_ccl_canvas_free);
  return TRUE;
}

static gboolean
gst_ccl_overlay_propose_allocation (
    GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  GST_BASE_TRANSFORM_CLASS (gst_ccl_overlay_parent_class)
      ->propose_allocation (trans, decide_query, query);
  if (!gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL))
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* A frame that will not be drawn on need not be made writable. */
static GstFlowReturn
gst_ccl_overlay_prepare_output_buffer (
    GstBaseTransform *trans, GstBuffer *input, GstBuffer **output)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);
  GstCclStyle style = get_style (self);

  if (!gst_ccl_style_draws (&style, gst_buffer_get_ccl_meta (input))) {
    *output = input;
    return GST_FLOW_OK;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_overlay_parent_class)
      ->prepare_output_buffer (trans, input, output);
}

/* Whether what a GstVideoMeta says of a mapped frame is true. GStreamer looks at the first byte of
 * each plane only. */
static gboolean
frame_is_complete (const GstVideoFrame *frame, const GstVideoInfo *caps_info)
{
  const GstVideoMeta *meta = frame->meta;
  GstVideoInfo plain;

  if (!meta) /* then the buffer is as large as its caps say */
    return TRUE;
  if (!gst_video_info_set_format (
          &plain, GST_VIDEO_INFO_FORMAT (caps_info), meta->width, meta->height))
    return FALSE;
  for (guint i = 0; i < GST_VIDEO_FRAME_N_COMPONENTS (frame); i++) {
    guint plane = GST_VIDEO_FRAME_COMP_PLANE (frame, i);
    gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane);
    gint n_rows = GST_VIDEO_FRAME_COMP_HEIGHT (frame, i);
    gint pixel = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, i);
    /* Of packed formats without a pixel stride the rows are taken whole. */
    gint row = pixel > 0 ? GST_VIDEO_FRAME_COMP_WIDTH (frame, i) * pixel
                         : GST_VIDEO_INFO_PLANE_STRIDE (&plain, plane);
    const GstMapInfo *map = &frame->map[plane];
    gsize skipped = (gsize)((const guint8 *)frame->data[plane] - map->data);

    if (stride < row || (gsize)stride * (gsize)(n_rows - 1) + (gsize)row > map->size - skipped)
      return FALSE;
  }
  return TRUE;
}

/* Whether a GstVideoMeta has at least the pixels that the caps have, which GStreamer takes for
 * granted. */
static gboolean
covers_caps (GstBuffer *buffer, const GstVideoInfo *info)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  return !meta ||
         (meta->width >= (guint)GST_VIDEO_INFO_WIDTH (info) && meta->width <= G_MAXINT &&
             meta->height >= (guint)GST_VIDEO_INFO_HEIGHT (info) && meta->height <= G_MAXINT);
}

static GstFlowReturn
gst_ccl_overlay_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  GstCclStyle style = get_style (self);
  GstVideoFrame frame;
  gboolean blended;

  /* The style may just have changed, then it holds from the next frame. */
  if (!gst_ccl_style_draws (&style, meta) || !gst_buffer_is_writable (buffer))
    return GST_FLOW_OK;

  if (!self->canvas)
    self->canvas = gst_ccl_canvas_new (
        GST_VIDEO_INFO_WIDTH (&self->info), GST_VIDEO_INFO_HEIGHT (&self->info));
  if (!self->canvas)
    goto no_canvas;
  if (!covers_caps (buffer, &self->info) ||
      !gst_video_frame_map (&frame, &self->info, buffer, GST_MAP_READWRITE))
    goto not_mapped;
  if (!frame_is_complete (&frame, &self->info)) {
    gst_video_frame_unmap (&frame);
    goto not_mapped;
  }

  if (!gst_ccl_canvas_draw (self->canvas, &style, meta))
    GST_WARNING_OBJECT (self, "the label map or the mask cannot be read");
  blended = gst_ccl_canvas_blend (self->canvas, &frame);
  gst_video_frame_unmap (&frame);
  if (!blended)
    goto not_blended;
  return GST_FLOW_OK;

  /* ERRORS */
no_canvas:
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("No canvas for frames of %d×%d pixels", GST_VIDEO_INFO_WIDTH (&self->info),
          GST_VIDEO_INFO_HEIGHT (&self->info)),
      (NULL));
  return GST_FLOW_ERROR;
not_mapped:
  GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("The frame does not fit its caps"), (NULL));
  return GST_FLOW_ERROR;
not_blended:
  GST_ELEMENT_ERROR (self, STREAM, NOT_IMPLEMENTED,
      ("Nothing can be drawn on video of format %s",
          gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&self->info))),
      (NULL));
  return GST_FLOW_ERROR;
}

static void
gst_ccl_overlay_finalize (GObject *object)
{
  g_clear_pointer (&GST_CCL_OVERLAY (object)->canvas, gst_ccl_canvas_free);
  G_OBJECT_CLASS (gst_ccl_overlay_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, PROP_DRAW_BOXES,
      g_param_spec_boolean ("draw-boxes", "Draw boxes", "Draw the bounding box of each component",
          DEFAULT_DRAW_BOXES, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_BOX_COLOR,
      g_param_spec_uint ("box-color", "Box color", "Color of the boxes, 0xAARRGGBB", 0, G_MAXUINT,
          DEFAULT_BOX_COLOR, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_BOX_WIDTH,
      g_param_spec_uint ("box-width", "Box width",
          "Width of the boxes' lines in pixels; they run just inside the box", 1, 100,
          DEFAULT_BOX_WIDTH, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_DRAW_LABELS,
      g_param_spec_boolean ("draw-labels", "Draw labels", "Write the number of each component",
          DEFAULT_DRAW_LABELS, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_DRAW_AREAS,
      g_param_spec_boolean ("draw-areas", "Draw areas",
          "Write the area of each component, in pixels", DEFAULT_DRAW_AREAS, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_TEXT_COLOR,
      g_param_spec_uint ("text-color", "Text color", "Color of what is written, 0xAARRGGBB", 0,
          G_MAXUINT, DEFAULT_TEXT_COLOR, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_DRAW_CENTROIDS,
      g_param_spec_boolean ("draw-centroids", "Draw centroids",
          "Draw a cross at the centroid of each component", DEFAULT_DRAW_CENTROIDS,
          PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_CENTROID_COLOR,
      g_param_spec_uint ("centroid-color", "Centroid color", "Color of the crosses, 0xAARRGGBB", 0,
          G_MAXUINT, DEFAULT_CENTROID_COLOR, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_FILL_COMPONENTS,
      g_param_spec_boolean ("fill-components", "Fill components",
          "Paint the components in distinct colors, where the frame's label map is attached",
          DEFAULT_FILL_COMPONENTS, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_FILL_ALPHA,
      g_param_spec_double ("fill-alpha", "Fill alpha",
          "How much of a painted component is paint: 0 leaves it as it is, 1 covers it", 0, 1,
          DEFAULT_FILL_ALPHA, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_DRAW_MASK,
      g_param_spec_boolean ("draw-mask", "Draw mask",
          "Paint the mask that was labelled, where it is attached to the frame", DEFAULT_DRAW_MASK,
          PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_MASK_COLOR,
      g_param_spec_uint ("mask-color", "Mask color", "Color of the mask, 0xAARRGGBB", 0, G_MAXUINT,
          DEFAULT_MASK_COLOR, PROPERTY_FLAGS));
}

static void
gst_ccl_overlay_class_init (GstCclOverlayClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->set_property = gst_ccl_overlay_set_property;
  object_class->get_property = gst_ccl_overlay_get_property;
  object_class->finalize = gst_ccl_overlay_finalize;
  install_properties (object_class);

  gst_element_class_set_static_metadata (element_class, "Connected components overlay",
      "Filter/Editor/Video", "Draws the components that ccl and cudaccl found on the video",
      "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_overlay_stop);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_overlay_set_caps);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_overlay_propose_allocation);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_ccl_overlay_prepare_output_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_ccl_overlay_transform_ip);
}

static void
gst_ccl_overlay_init (GstCclOverlay *self)
{
  self->style = (GstCclStyle){
      .boxes = DEFAULT_DRAW_BOXES,
      .box_color = DEFAULT_BOX_COLOR,
      .box_width = DEFAULT_BOX_WIDTH,
      .labels = DEFAULT_DRAW_LABELS,
      .areas = DEFAULT_DRAW_AREAS,
      .text_color = DEFAULT_TEXT_COLOR,
      .centroids = DEFAULT_DRAW_CENTROIDS,
      .centroid_color = DEFAULT_CENTROID_COLOR,
      .fill = DEFAULT_FILL_COMPONENTS,
      .fill_alpha = DEFAULT_FILL_ALPHA,
      .mask = DEFAULT_DRAW_MASK,
      .mask_color = DEFAULT_MASK_COLOR,
  };
  gst_video_info_init (&self->info);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}
