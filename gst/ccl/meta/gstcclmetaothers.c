/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata of other kinds that is about the same components. */
#include "gstcclmeta-private.h"

#include "gst/shared/gstcclroi.h"

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>

static gboolean
is_of_components (GstAnalyticsMtd *mtd)
{
  const GstAnalyticsMtdType type = gst_analytics_mtd_get_mtd_type (mtd);

#if GST_CHECK_VERSION(1, 26, 0)
  if (type == gst_analytics_segmentation_mtd_get_mtd_type ())
    return TRUE;
#endif
  return type == gst_analytics_tracking_mtd_get_mtd_type () ||
         (type == gst_analytics_od_mtd_get_mtd_type () &&
             gst_analytics_od_mtd_get_obj_type ((GstAnalyticsODMtd *)mtd) ==
                 gst_ccl_component_quark ());
}

/* Whether there are items, and all are of the labeller and the tracks of the frame's only meta. */
static gboolean
are_of_components (GstBuffer *buffer, GstAnalyticsRelationMeta *relations)
{
  GstAnalyticsMtd mtd;
  gpointer state = NULL;
  gboolean found = FALSE;

  if (gst_buffer_get_n_meta (buffer, GST_CCL_META_API_TYPE) != 1)
    return FALSE;
  while (
      gst_analytics_relation_meta_iterate (relations, &state, GST_ANALYTICS_MTD_TYPE_ANY, &mtd)) {
    if (!is_of_components (&mtd))
      return FALSE;
    found = TRUE;
  }
  return found;
}

/* Replaces all items, because single ones cannot be removed. Tracks and masks are not made again:
 * their times and pixels no longer are those of the rows. */
static void
update_analytics (GstBuffer *buffer, const GstCclMeta *meta)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd detection;

  if (!relations || !are_of_components (buffer, relations))
    return;
  gst_buffer_remove_meta (buffer, (GstMeta *)relations);
  relations = gst_buffer_add_analytics_relation_meta (buffer);
  for (guint i = 0; i < meta->n_rows; i++)
    if (!meta->tracks || meta->tracks[i].state != GST_CCL_TRACK_STATE_LOST)
      gst_analytics_relation_meta_add_od_mtd (relations, gst_ccl_component_quark (),
          (gint)meta->rows[i].x, (gint)meta->rows[i].y, (gint)meta->rows[i].width,
          (gint)meta->rows[i].height, 1.0f, &detection);
}
#else
static void
update_analytics (GstBuffer *buffer, const GstCclMeta *meta)
{
}
#endif

void
gst_ccl_meta_update_others (GstBuffer *buffer, const GstCclMeta *meta)
{
  if (gst_ccl_roi_remove (buffer, gst_ccl_labeller_id_or_none (meta->labeller)))
    gst_ccl_roi_add_rows (buffer, meta);
  update_analytics (buffer, meta);
}
