/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ccloverlay
 * @title: ccloverlay
 * @short_description: draws connected components on video
 * @see_also: ccl, cudaccl, ccltrack
 *
 * Draws the components of each frame on it: boxes and, as properties choose, labels, areas,
 * centroids and, where label map and mask are attached, the components in distinct colours and the
 * mask in one colour. Behind `ccltrack`, it writes the identity of each track, its class where a
 * detector named one, and, where the tracker has a ground, its speed in km/h, in a colour that
 * depends only on the identity, and draws regions and lines with their names and counts: the number
 * of tracks inside a region, and how often a line was crossed forward and backward, which its arrow
 * shows. `trail-length` adds the trails of the tracks. Lines and texts grow with the frame; texts
 * do not cover each other, and one that has no room near its box is left out. Coordinates are
 * scaled where the metadata was made for frames of another size. A frame with nothing to draw
 * passes untouched.
 *
 * Where the elements downstream support it, the drawing is attached to the frame as a
 * #GstVideoOverlayCompositionMeta, which a video sink draws when it shows the frame. Then frames
 * may be in any memory, for instance CUDA memory, and have any format. Otherwise the drawing is
 * blended into the frame, which must be in system memory.
 *
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! video/x-raw,format=GRAY8 ! \
 *     ccl threshold=128 attach-labels=true ! videoconvert ! \
 *     ccloverlay draw-labels=true fill-components=true ! videoconvert ! autovideosink
 * ]| This shows the moving ball in colour, in a box with its label. With `videoscale` in place of
 * the first `videoconvert`, the box would still be drawn, but not the colour: scaling drops the
 * label map.
 *
 * |[
 * gst-launch-1.0 filesrc location=in.avi ! decodebin ! videoconvert ! \
 *     ccl foreground=codebook min-area=200 ! ccltrack ! \
 *     ccloverlay trail-length=50 ! videoconvert ! autovideosink
 * ]| This shows each moving object with its identity and its trail over the last 50
 * frames.
 *
 * Since: 0.2
 */
#include <gst/base/gstbasetransform.h>
#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "gstcclcanvas.h"
#include "gstcclregionview.h"
#include "gstcclscene.h"
#include "gstccltrails.h"
#include "shared/gstcclelements.h"
#include "shared/gstcclerror.h"
#include "shared/gstcclevents.h"
#include "shared/gstcclframe.h"
#include "shared/gstcclquery.h"
#include "shared/gstccli18n.h"

#define GST_TYPE_CCL_OVERLAY (gst_ccl_overlay_get_type ())
G_DECLARE_FINAL_TYPE (GstCclOverlay, gst_ccl_overlay, GST, CCL_OVERLAY, GstBaseTransform)

GST_DEBUG_CATEGORY_STATIC (gst_ccl_overlay_debug);
#define GST_CAT_DEFAULT gst_ccl_overlay_debug

struct _GstCclOverlay {
  GstBaseTransform parent;

  GstCclStyle style; /* guarded by the object lock */

  gint is_decided; /* atomic: takes_overlays is up to date */

  /* The streaming thread's. */
  GstVideoInfo info;
  GstCclCanvas *canvas;
  GstCclTrails *trails;
  GArray *regions;          /* GstCclRegionView; NULL until they are announced */
  gboolean can_blend;       /* frames are in system memory, in a format that can be blended */
  gboolean takes_overlays;  /* downstream supports overlay compositions; see is_decided */
  gboolean warned_of_meta;  /* that a frame has no GstCclMeta */
  gboolean warned_of_map;   /* that a map to be drawn is not attached */
  gboolean warned_of_frame; /* that nothing can be drawn on frames like this */
};

G_DEFINE_TYPE_WITH_CODE (GstCclOverlay, gst_ccl_overlay, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (
        gst_ccl_overlay_debug, "ccloverlay", 0, "drawings of components on video"))
GST_ELEMENT_REGISTER_DEFINE (ccloverlay, "ccloverlay", GST_RANK_NONE, GST_TYPE_CCL_OVERLAY)

#define OVERLAY_FEATURE GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION
#define BLEND_CAPS GST_VIDEO_CAPS_MAKE (GST_VIDEO_OVERLAY_COMPOSITION_BLEND_FORMATS)

/* Frames to blend into, and any frames to attach overlay compositions to. */
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (BLEND_CAPS "; video/x-raw(ANY)"));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (BLEND_CAPS "; video/x-raw(ANY)"));

static GstStaticCaps blend_caps = GST_STATIC_CAPS (BLEND_CAPS);

static void
gst_ccl_overlay_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  gst_ccl_property_set (&gst_ccl_style_properties[id - 1], &GST_CCL_OVERLAY (object)->style, value);
  GST_OBJECT_UNLOCK (object);
}

static void
gst_ccl_overlay_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  gst_ccl_property_get (&gst_ccl_style_properties[id - 1], &GST_CCL_OVERLAY (object)->style, value);
  GST_OBJECT_UNLOCK (object);
}

static GstCclStyle
get_style (GstCclOverlay *self)
{
  GstCclStyle style;

  GST_OBJECT_LOCK (self);
  style = self->style;
  style.labeller = NULL;
  GST_OBJECT_UNLOCK (self);
  return style;
}

/* The metadata to draw, or NULL. An empty gap buffer has no pixels to draw on. */
static const GstCclMeta *
get_meta (GstCclOverlay *self, GstBuffer *buffer)
{
  const GstCclMeta *meta;

  if (gst_ccl_is_empty_gap (buffer))
    return NULL;
  GST_OBJECT_LOCK (self);
  meta = gst_buffer_get_ccl_meta_by_name (buffer, self->style.labeller);
  GST_OBJECT_UNLOCK (self);
  if (!meta && !self->regions)
    gst_ccl_error_warn_of_missing_meta (GST_ELEMENT_CAST (self), &self->warned_of_meta);
  return meta;
}

static GstCclScene
get_scene (GstCclOverlay *self, GstBuffer *buffer)
{
  return (GstCclScene){get_meta (self, buffer), self->trails, self->regions};
}

static gboolean
gst_ccl_overlay_start (GstBaseTransform *trans)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);

  self->warned_of_meta = self->warned_of_map = self->warned_of_frame = FALSE;
  return TRUE;
}

static gboolean
gst_ccl_overlay_stop (GstBaseTransform *trans)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);

  g_clear_pointer (&self->canvas, gst_ccl_canvas_free);
  g_clear_pointer (&self->regions, g_array_unref);
  gst_ccl_trails_clear (self->trails);
  return TRUE;
}

static gboolean
has_overlay_feature (const GstCaps *caps, guint i)
{
  const GstCapsFeatures *features = gst_caps_get_features (caps, i);

  return !gst_caps_features_is_any (features) &&
         gst_caps_features_contains (features, OVERLAY_FEATURE);
}

/* A copy of one structure of the caps, with or without the overlay feature. */
static GstCaps *
with_overlay_feature (const GstCaps *caps, guint i, gboolean wanted)
{
  GstCaps *one = gst_caps_copy_nth (caps, i);
  GstCapsFeatures *features = gst_caps_get_features (one, 0);

  if (gst_caps_features_is_any (features) || has_overlay_feature (one, 0) == wanted)
    return one;
  if (wanted)
    gst_caps_features_add (features, OVERLAY_FEATURE);
  else
    gst_caps_features_remove (features, OVERLAY_FEATURE);
  return one;
}

/* Downstream, each kind of frames is offered with overlay compositions, and as it is where the
 * drawing can be blended into it. Upstream, frames that downstream takes with overlay compositions
 * are accepted with and without them. */
static GstCaps *
gst_ccl_overlay_transform_caps (
    GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  g_autoptr (GstCaps) blendable = gst_static_caps_get (&blend_caps);
  g_autoptr (GstCaps) other = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    g_autoptr (GstCaps) plain = with_overlay_feature (caps, i, FALSE);

    if (direction == GST_PAD_SINK || has_overlay_feature (caps, i))
      other = gst_caps_merge (other, with_overlay_feature (caps, i, TRUE));
    if (direction == GST_PAD_SRC && has_overlay_feature (caps, i))
      other = gst_caps_merge (other, gst_caps_ref (plain));
    else if (!has_overlay_feature (caps, i))
      other = gst_caps_merge (other, gst_caps_intersect (plain, blendable));
  }
  return filter ? gst_caps_intersect_full (filter, other, GST_CAPS_INTERSECT_FIRST)
                : g_steal_pointer (&other);
}

/* Whether an element downstream names the overlay feature. One that takes anything does not. */
static gboolean
downstream_names_overlays (GstBaseTransform *trans)
{
  g_autoptr (GstCaps) caps = gst_pad_peer_query_caps (GST_BASE_TRANSFORM_SRC_PAD (trans), NULL);
  gboolean named = FALSE;

  for (guint i = 0; caps && !gst_caps_is_any (caps) && i < gst_caps_get_size (caps); i++)
    named |= has_overlay_feature (caps, i);
  return named;
}

/* Of caps with and without the overlay feature, takes the ones that downstream understands. */
static GstCaps *
gst_ccl_overlay_fixate_caps (
    GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *other)
{
  gboolean wanted = direction == GST_PAD_SINK && downstream_names_overlays (trans);

  for (guint i = 0; i < gst_caps_get_size (other); i++) {
    if (has_overlay_feature (other, i) == wanted) {
      GstCaps *chosen = gst_caps_copy_nth (other, i);
      gst_caps_unref (other);
      other = chosen;
      break;
    }
  }
  return gst_caps_fixate (other);
}

static gboolean
gst_ccl_overlay_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);
  g_autoptr (GstCaps) blendable = NULL, plain = NULL;

  if (!gst_video_info_from_caps (&self->info, incaps)) {
    GST_ERROR_OBJECT (self, "invalid caps %" GST_PTR_FORMAT, incaps);
    return FALSE;
  }
  blendable = gst_static_caps_get (&blend_caps);
  plain = with_overlay_feature (incaps, 0, FALSE);
  self->can_blend = gst_caps_can_intersect (plain, blendable);
  g_atomic_int_set (&self->is_decided, FALSE);
  /* Made again when there is something to draw. */
  g_clear_pointer (&self->canvas, gst_ccl_canvas_free);
  return TRUE;
}

/* Asks downstream whether it supports the metadata that the caps announce. GstBaseTransform does
 * not ask for elements that work in place. */
static gboolean
query_overlays (GstBaseTransform *trans)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (GST_BASE_TRANSFORM_SRC_PAD (trans));
  g_autoptr (GstQuery) query = NULL;

  if (!caps || !has_overlay_feature (caps, 0))
    return FALSE;
  query = gst_query_new_allocation (caps, FALSE);
  return gst_pad_peer_query (GST_BASE_TRANSFORM_SRC_PAD (trans), query) &&
         gst_query_find_allocation_meta (query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
}

/* Decides once for all frames between two negotiations. */
static void
decide_drawing (GstCclOverlay *self)
{
  if (!g_atomic_int_compare_and_exchange (&self->is_decided, FALSE, TRUE))
    return;
  self->takes_overlays = query_overlays (GST_BASE_TRANSFORM (self));
  GST_DEBUG_OBJECT (self, "%s",
      self->takes_overlays ? "attaching overlay compositions"
      : self->can_blend    ? "blending into frames"
                           : "cannot draw on these frames");
}

static gboolean
gst_ccl_overlay_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);
  const GstStructure *structure = gst_event_get_structure (event);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP ||
      GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    gst_ccl_trails_clear (self->trails);
  if (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM_STICKY && structure &&
      gst_structure_has_name (structure, GST_CCL_REGIONS_EVENT)) {
    g_clear_pointer (&self->regions, g_array_unref);
    self->regions = gst_ccl_region_views_new (structure);
  }
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_overlay_parent_class)->sink_event (trans, event);
}

static gboolean
gst_ccl_overlay_src_event (GstBaseTransform *trans, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE)
    g_atomic_int_set (&GST_CCL_OVERLAY (trans)->is_decided, FALSE);
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_overlay_parent_class)->src_event (trans, event);
}

/* Passes the peer's answer on, except for GstVideoCropMeta. */
static gboolean
gst_ccl_overlay_propose_allocation (
    GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  gboolean answered = GST_BASE_TRANSFORM_CLASS (gst_ccl_overlay_parent_class)
                          ->propose_allocation (trans, decide_query, query);

  gst_ccl_query_remove_crop_meta (query);
  return answered;
}

/* A frame that is not drawn on need not be made writable. */
static GstFlowReturn
gst_ccl_overlay_prepare_output_buffer (
    GstBaseTransform *trans, GstBuffer *input, GstBuffer **output)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);
  GstCclStyle style = get_style (self);
  const GstCclScene scene = get_scene (self, input);

  if (!gst_ccl_scene_has_drawing (&scene, &style)) {
    *output = input;
    return GST_FLOW_OK;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_overlay_parent_class)
      ->prepare_output_buffer (trans, input, output);
}

/* Whether a mapped frame has all the pixels that its GstVideoMeta describes. GStreamer checks only
 * the first byte of each plane. */
static gboolean
frame_is_complete (const GstVideoFrame *frame, const GstVideoInfo *caps_info)
{
  const GstVideoMeta *meta = frame->meta;
  GstVideoInfo plain;

  if (!meta) /* then GStreamer checks that the buffer is as large as its caps demand */
    return TRUE;
  if (!gst_video_info_set_format (
          &plain, GST_VIDEO_INFO_FORMAT (caps_info), meta->width, meta->height))
    return FALSE;
  for (guint i = 0; i < GST_VIDEO_FRAME_N_COMPONENTS (frame); i++) {
    guint plane = GST_VIDEO_FRAME_COMP_PLANE (frame, i);
    gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane);
    gint n_rows = GST_VIDEO_FRAME_COMP_HEIGHT (frame, i);
    gint pixel = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, i);
    /* Packed formats without a pixel stride: the row with its padding. */
    gint row = pixel > 0 ? GST_VIDEO_FRAME_COMP_WIDTH (frame, i) * pixel
                         : GST_VIDEO_INFO_PLANE_STRIDE (&plain, plane);
    const GstMapInfo *map = &frame->map[plane];
    gsize skipped = (gsize)((const guint8 *)frame->data[plane] - map->data);

    if (stride < row || (gsize)stride * (gsize)(n_rows - 1) + (gsize)row > map->size - skipped)
      return FALSE;
  }
  return TRUE;
}

/* Whether a GstVideoMeta describes at least the pixels of the caps. GStreamer does not check it. */
static gboolean
covers_caps (GstBuffer *buffer, const GstVideoInfo *info)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  return !meta ||
         (meta->width >= (guint)GST_VIDEO_INFO_WIDTH (info) && meta->width <= G_MAXINT &&
             meta->height >= (guint)GST_VIDEO_INFO_HEIGHT (info) && meta->height <= G_MAXINT);
}

/* Properties that do nothing because a map is not attached deserve a warning. */
static void
warn_of_missing_map (GstCclOverlay *self, const GstCclStyle *style, const GstCclMeta *meta)
{
  gboolean lacks_labels = style->fill && !gst_ccl_meta_get_labels (meta, NULL);
  gboolean lacks_mask = style->mask && !gst_ccl_meta_get_mask (meta, NULL);

  if (self->warned_of_map || gst_ccl_meta_get_n_components (meta) == 0 ||
      (!lacks_labels && !lacks_mask))
    return;
  self->warned_of_map = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      (_ ("%s has no effect: no %s is attached to the frames; set %s=true on the labeller, and do "
          "not "
          "scale or crop the video behind it"),
          lacks_labels ? "fill-components" : "draw-mask",
          lacks_labels ? _ ("label map") : _ ("mask"),
          lacks_labels ? "attach-labels" : "attach-mask"),
      (NULL));
}

/* Adds the drawing to the frame's overlay composition, which may be that of another element. */
static void
attach_drawing (GstCclOverlay *self, GstBuffer *buffer)
{
  GstVideoOverlayRectangle *rectangle = gst_ccl_canvas_take_rectangle (self->canvas);
  GstVideoOverlayCompositionMeta *meta = gst_buffer_get_video_overlay_composition_meta (buffer);
  GstVideoOverlayComposition *composition;

  if (!rectangle)
    return;
  if (meta) {
    composition = gst_video_overlay_composition_copy (meta->overlay);
    gst_video_overlay_composition_add_rectangle (composition, rectangle);
    gst_video_overlay_composition_unref (meta->overlay);
    meta->overlay = composition;
  } else {
    composition = gst_video_overlay_composition_new (rectangle);
    gst_buffer_add_video_overlay_composition_meta (buffer, composition);
    gst_video_overlay_composition_unref (composition);
  }
  gst_video_overlay_rectangle_unref (rectangle);
}

typedef enum {
  BLENDED,
  NOT_MAPPED,
  NOT_BLENDED,
} Blending;

static Blending
blend_drawing (GstCclOverlay *self, GstBuffer *buffer)
{
  Blending blending = NOT_MAPPED;
  GstVideoFrame frame;

  if (!covers_caps (buffer, &self->info) ||
      !gst_video_frame_map (&frame, &self->info, buffer, GST_MAP_READWRITE))
    return NOT_MAPPED;
  if (frame_is_complete (&frame, &self->info))
    blending = gst_ccl_canvas_blend (self->canvas, &frame) ? BLENDED : NOT_BLENDED;
  gst_video_frame_unmap (&frame);
  return blending;
}

/* Why nothing can be drawn on a frame; NULL if something can. */
static const gchar *
find_obstacle (const GstCclOverlay *self, GstBuffer *buffer)
{
  if (GST_VIDEO_INFO_WIDTH (&self->info) > GST_CCL_CANVAS_MAX_SIDE ||
      GST_VIDEO_INFO_HEIGHT (&self->info) > GST_CCL_CANVAS_MAX_SIDE)
    return _ ("frames have more than 32767 pixels in a row or column");
  if (self->takes_overlays)
    return NULL;
  if (!self->can_blend)
    return _ ("frames are not in system memory, or their format cannot be blended, and downstream "
              "does not support overlay compositions");
  if (gst_ccl_is_cropped (buffer, &self->info))
    return _ ("frames have a GstVideoCropMeta of another area than their caps, which was not asked "
              "for");
  return NULL;
}

/* Warns once if nothing can be drawn: a property does not end a stream. */
static gboolean
can_draw (GstCclOverlay *self, GstBuffer *buffer)
{
  const gchar *obstacle = find_obstacle (self, buffer);

  if (obstacle && !self->warned_of_frame) {
    self->warned_of_frame = TRUE;
    GST_ELEMENT_WARNING (
        self, STREAM, NOT_IMPLEMENTED, (_ ("Nothing is drawn: %s"), obstacle), (NULL));
  }
  return !obstacle;
}

static GstFlowReturn
gst_ccl_overlay_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);
  const GstCclScene scene = get_scene (self, buffer);
  GstCclStyle style = get_style (self);
  Blending blending;

  if (scene.meta)
    warn_of_missing_map (self, &style, scene.meta);
  gst_ccl_trails_add_frame (self->trails, scene.meta, style.trail_length);
  /* The style may have changed after prepare_output_buffer: then it holds from the next frame. */
  if (!gst_ccl_scene_has_drawing (&scene, &style) || !gst_buffer_is_writable (buffer))
    return GST_FLOW_OK;
  decide_drawing (self);
  if (!can_draw (self, buffer))
    return GST_FLOW_OK;

  if (!self->canvas)
    self->canvas = gst_ccl_canvas_new (
        GST_VIDEO_INFO_WIDTH (&self->info), GST_VIDEO_INFO_HEIGHT (&self->info));
  if (!self->canvas)
    goto no_canvas;
  GST_LOG_OBJECT (self, "drawing %u components", gst_ccl_meta_get_n_rows (scene.meta));
  if (!gst_ccl_scene_draw (&scene, &style, self->canvas))
    GST_WARNING_OBJECT (self, "the label map or the mask cannot be read");
  if (self->takes_overlays) {
    attach_drawing (self, buffer);
    return GST_FLOW_OK;
  }
  blending = blend_drawing (self, buffer);
  if (blending == NOT_MAPPED)
    goto not_mapped;
  if (blending == NOT_BLENDED)
    goto not_blended;
  return GST_FLOW_OK;

  /* ERRORS */
no_canvas:
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      (_ ("No memory to draw on frames of %d×%d pixels"), GST_VIDEO_INFO_WIDTH (&self->info),
          GST_VIDEO_INFO_HEIGHT (&self->info)),
      (NULL));
  return GST_FLOW_ERROR;
not_mapped:
  GST_ELEMENT_ERROR (self, STREAM, FORMAT, (_ ("The frame does not fit its caps")), (NULL));
  return GST_FLOW_ERROR;
not_blended:
  GST_ELEMENT_ERROR (self, STREAM, NOT_IMPLEMENTED,
      (_ ("Nothing can be drawn on video of format %s"),
          gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&self->info))),
      (NULL));
  return GST_FLOW_ERROR;
}

static void
gst_ccl_overlay_finalize (GObject *object)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (object);

  g_clear_pointer (&self->canvas, gst_ccl_canvas_free);
  g_clear_pointer (&self->regions, g_array_unref);
  gst_ccl_trails_free (self->trails);
  gst_ccl_properties_clear (gst_ccl_style_properties, gst_ccl_style_n_properties, &self->style);
  G_OBJECT_CLASS (gst_ccl_overlay_parent_class)->finalize (object);
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
  gst_ccl_properties_install (object_class, gst_ccl_style_properties, gst_ccl_style_n_properties,
      GST_CCL_ALL_CLASSES, &gst_ccl_style_defaults);

  gst_element_class_set_static_metadata (element_class, "Connected components overlay",
      "Filter/Editor/Video", "Draws on video the components that ccl and cudaccl found",
      GST_CCL_AUTHOR);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_overlay_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_overlay_stop);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_ccl_overlay_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR (gst_ccl_overlay_fixate_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_overlay_set_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_overlay_sink_event);
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_ccl_overlay_src_event);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_overlay_propose_allocation);
  trans_class->before_transform = GST_DEBUG_FUNCPTR (gst_ccl_sync_values);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_ccl_overlay_prepare_output_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_ccl_overlay_transform_ip);
}

static void
gst_ccl_overlay_init (GstCclOverlay *self)
{
  self->style = gst_ccl_style_defaults;
  self->trails = gst_ccl_trails_new ();
  gst_video_info_init (&self->info);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}
