/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclcarry.h"

#include <gst/ccl/ccl.h>
#include <math.h>
#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

typedef struct {
  GstBuffer *frame;
  GPtrArray *former; /* GstCclMeta and regions of interest that the frame had before; NULL: none */
  const GstVideoInfo *from, *to;
  gboolean is_scaled;
  gboolean is_complete; /* nothing was left out */
} Carriage;

static gboolean
collect (GstBuffer *frame, GstMeta **meta, gpointer data)
{
  const GType api = (*meta)->info->api;
  Carriage *carriage = data;

  if (api == GST_CCL_META_API_TYPE || api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) {
    if (!carriage->former)
      carriage->former = g_ptr_array_new ();
    g_ptr_array_add (carriage->former, *meta);
  }
  return TRUE;
}

/* Whether a coordinate that was scaled to the size of the mask and back may be that of the frame.
 * Each of both scalings rounds by less than a pixel of its result. */
static gboolean
may_be (gdouble of_mask, gdouble of_frame, gint from, gint to)
{
  const gdouble factor = (gdouble)to / from;

  return fabs (of_mask * factor - of_frame) < (from == to ? 1 : factor + 1);
}

static gboolean
have_same_parameters (const GstVideoRegionOfInterestMeta *a, const GstVideoRegionOfInterestMeta *b)
{
  const GList *of_a = a->params, *of_b = b->params;

  for (; of_a && of_b; of_a = of_a->next, of_b = of_b->next)
    if (!gst_structure_is_equal (of_a->data, of_b->data))
      return FALSE;
  return !of_a && !of_b;
}

static gboolean
is_same_roi (const Carriage *carriage, const GstVideoRegionOfInterestMeta *of_mask,
    const GstVideoRegionOfInterestMeta *of_frame)
{
  const gint from_width = GST_VIDEO_INFO_WIDTH (carriage->from);
  const gint from_height = GST_VIDEO_INFO_HEIGHT (carriage->from);
  const gint to_width = GST_VIDEO_INFO_WIDTH (carriage->to);
  const gint to_height = GST_VIDEO_INFO_HEIGHT (carriage->to);

  return of_mask->roi_type == of_frame->roi_type && of_mask->id == of_frame->id &&
         of_mask->parent_id == of_frame->parent_id &&
         may_be (of_mask->x, of_frame->x, from_width, to_width) &&
         may_be (of_mask->y, of_frame->y, from_height, to_height) &&
         may_be (of_mask->w, of_frame->w, from_width, to_width) &&
         may_be (of_mask->h, of_frame->h, from_height, to_height) &&
         have_same_parameters (of_mask, of_frame);
}

/* Copies of a GstCclMeta share the labeller. Applications may attach one without. */
static gboolean
have_same_labeller (const GstCclMeta *a, const GstCclMeta *b)
{
  g_autoptr (GstCclLabeller) of_a = gst_ccl_meta_get_labeller (a);
  g_autoptr (GstCclLabeller) of_b = gst_ccl_meta_get_labeller (b);

  return of_a == of_b;
}

static gboolean
is_tracked (const GstCclMeta *meta)
{
  return gst_ccl_meta_get_n_rows (meta) > 0 && gst_ccl_meta_get_track (meta, 0) != NULL;
}

static gboolean
have_same_table (const GstCclMeta *a, const GstCclMeta *b)
{
  return gst_ccl_meta_get_n_components (a) == gst_ccl_meta_get_n_components (b) &&
         gst_ccl_meta_get_n_rows (a) == gst_ccl_meta_get_n_rows (b) &&
         is_tracked (a) == is_tracked (b);
}

/* Looks for the frame's own copy of what the mask has. A GstCclMeta that was changed since the tee
 * is removed from the frame, and is not found. */
static gboolean
find_double (Carriage *carriage, const GstMeta *of_mask)
{
  for (guint i = 0; carriage->former && i < carriage->former->len; i++) {
    GstMeta *of_frame = g_ptr_array_index (carriage->former, i);
    const GstCclMeta *mask_ccl = (const GstCclMeta *)of_mask;
    const GstCclMeta *frame_ccl = (const GstCclMeta *)of_frame;

    if (of_frame->info->api != of_mask->info->api)
      continue;
    if (of_mask->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) {
      if (is_same_roi (carriage, (const GstVideoRegionOfInterestMeta *)of_mask,
              (const GstVideoRegionOfInterestMeta *)of_frame))
        return TRUE;
    } else if (have_same_labeller (mask_ccl, frame_ccl)) {
      if (have_same_table (mask_ccl, frame_ccl))
        return TRUE;
      gst_buffer_remove_meta (carriage->frame, of_frame);
      g_ptr_array_remove_index_fast (carriage->former, i--);
    }
  }
  return FALSE;
}

/* Not every kind of metadata can be scaled, but each can be copied. */
static void
carry (const Carriage *carriage, GstBuffer *mask, GstMeta *meta)
{
  GstVideoMetaTransform scale = {(GstVideoInfo *)carriage->from, (GstVideoInfo *)carriage->to};
  GstMetaTransformCopy copy = {FALSE, 0, (gsize)-1};

  if (carriage->is_scaled)
    meta->info->transform_func (
        carriage->frame, meta, mask, gst_video_meta_transform_scale_get_quark (), &scale);
  else
    meta->info->transform_func (carriage->frame, meta, mask, _gst_meta_transform_copy, &copy);
}

#if HAVE_ANALYTICS
static gboolean
is_same_box (
    const Carriage *carriage, const GstAnalyticsMtd *of_mask, const GstAnalyticsMtd *of_frame)
{
  const gint from_width = GST_VIDEO_INFO_WIDTH (carriage->from);
  const gint from_height = GST_VIDEO_INFO_HEIGHT (carriage->from);
  const gint to_width = GST_VIDEO_INFO_WIDTH (carriage->to);
  const gint to_height = GST_VIDEO_INFO_HEIGHT (carriage->to);
  gint x[2] = {0}, y[2] = {0}, width[2] = {0}, height[2] = {0};

  gst_analytics_od_mtd_get_location (of_mask, &x[0], &y[0], &width[0], &height[0], NULL);
  gst_analytics_od_mtd_get_location (of_frame, &x[1], &y[1], &width[1], &height[1], NULL);
  return may_be (x[0], x[1], from_width, to_width) && may_be (y[0], y[1], from_height, to_height) &&
         may_be (width[0], width[1], from_width, to_width) &&
         may_be (height[0], height[1], from_height, to_height);
}

/* Whether items may be copies of one. Of detections, type and box are compared; of others, only the
 * kind and the size are known. */
static gboolean
is_same_item (
    const Carriage *carriage, const GstAnalyticsMtd *of_mask, const GstAnalyticsMtd *of_frame)
{
  const GstAnalyticsMtdType type = gst_analytics_mtd_get_mtd_type (of_mask);

  if (gst_analytics_mtd_get_mtd_type (of_frame) != type ||
      gst_analytics_mtd_get_size (of_mask) != gst_analytics_mtd_get_size (of_frame))
    return FALSE;
  return type != gst_analytics_od_mtd_get_mtd_type () ||
         (gst_analytics_od_mtd_get_obj_type (of_mask) ==
                 gst_analytics_od_mtd_get_obj_type (of_frame) &&
             is_same_box (carriage, of_mask, of_frame));
}

/* A buffer has one GstAnalyticsRelationMeta, to which elements append. That of the mask replaces
 * the frame's where it begins with the same items. */
static void
carry_analytics (Carriage *carriage, GstBuffer *mask, GstMeta *meta)
{
  GstAnalyticsRelationMeta *of_mask = (GstAnalyticsRelationMeta *)meta;
  GstAnalyticsRelationMeta *of_frame = gst_buffer_get_analytics_relation_meta (carriage->frame);
  const gsize n_of_mask = gst_analytics_relation_get_length (of_mask);
  const gsize n_of_frame = of_frame ? gst_analytics_relation_get_length (of_frame) : 0;
  gboolean is_begin = n_of_frame <= n_of_mask;

  for (guint id = 0; is_begin && id < n_of_frame; id++)
    is_begin =
        is_same_item (carriage, &(GstAnalyticsMtd){id, of_mask}, &(GstAnalyticsMtd){id, of_frame});
  if (!is_begin) {
    carriage->is_complete = FALSE;
  } else if (n_of_frame < n_of_mask) {
    if (of_frame)
      gst_buffer_remove_meta (carriage->frame, (GstMeta *)of_frame);
    carry (carriage, mask, meta);
  }
}
#endif

static gboolean
carry_one (GstBuffer *mask, GstMeta **meta, gpointer data)
{
  const GType api = (*meta)->info->api;
  Carriage *carriage = data;

#if HAVE_ANALYTICS
  if (api == GST_ANALYTICS_RELATION_META_API_TYPE)
    carry_analytics (carriage, mask, *meta);
#endif
  if ((api == GST_CCL_META_API_TYPE || api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) &&
      !find_double (carriage, *meta))
    carry (carriage, mask, *meta);
  return TRUE;
}

gboolean
gst_ccl_carry_meta (
    GstBuffer *mask, GstBuffer *frame, const GstVideoInfo *from, const GstVideoInfo *to)
{
  Carriage carriage = {
      .frame = frame,
      .from = from,
      .to = to,
      .is_scaled = GST_VIDEO_INFO_WIDTH (from) != GST_VIDEO_INFO_WIDTH (to) ||
                   GST_VIDEO_INFO_HEIGHT (from) != GST_VIDEO_INFO_HEIGHT (to),
      .is_complete = TRUE,
  };

  gst_buffer_foreach_meta (frame, collect, &carriage);
  gst_buffer_foreach_meta (mask, carry_one, &carriage);
  g_clear_pointer (&carriage.former, g_ptr_array_unref);
  return carriage.is_complete;
}
