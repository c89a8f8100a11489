/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccltrackroi.h"

#include "shared/gstcclroi.h"

#define IDENTITY "object_id"

typedef struct {
  guint64 labeller_id;
  gboolean found;
} Removal;

/* For gst_buffer_foreach_meta(). */
static gboolean
remove_roi (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  Removal *removal = data;

  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE &&
      gst_ccl_roi_is_of ((GstVideoRegionOfInterestMeta *)*meta, removal->labeller_id)) {
    *meta = NULL;
    removal->found = TRUE;
  }
  return TRUE;
}

/* DL Streamer and programs that are written for it read an int. */
static GstStructure *
new_object_id (guint64 id)
{
  return gst_structure_new (
      IDENTITY, "id", G_TYPE_INT, (gint)(id & G_MAXINT), "track", G_TYPE_UINT64, id, NULL);
}

void
gst_ccl_track_roi_replace (GstBuffer *frame, const GstCclMeta *meta, gboolean *attached)
{
  GstCclLabeller *labeller = gst_ccl_meta_get_labeller (meta);
  Removal removal = {gst_ccl_labeller_id_or_none (labeller), FALSE};

  gst_buffer_foreach_meta (frame, remove_roi, &removal);
  *attached = *attached || removal.found;
  for (guint i = 0; *attached && i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);
    GstVideoRegionOfInterestMeta *roi =
        gst_ccl_roi_add (frame, labeller, c->label, c->x, c->y, c->width, c->height);

    gst_video_region_of_interest_meta_add_param (
        roi, new_object_id (gst_ccl_meta_get_track (meta, i)->id));
  }
  g_clear_pointer (&labeller, gst_ccl_labeller_unref);
}

void
gst_ccl_track_roi_identify (GstVideoRegionOfInterestMeta *roi, guint64 id)
{
  GstStructure *former;

  while ((former = gst_video_region_of_interest_meta_get_param (roi, IDENTITY))) {
    roi->params = g_list_remove (roi->params, former);
    gst_structure_free (former);
  }
  gst_video_region_of_interest_meta_add_param (roi, new_object_id (id));
}
