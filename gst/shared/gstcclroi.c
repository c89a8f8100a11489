/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclroi.h"

/* Names the labeller in the parameters of a region of interest. */
#define PARAMETERS "ccl"

#define IDENTITY "object_id"

GQuark
gst_ccl_component_quark (void)
{
  static gsize quark = 0;

  if (g_once_init_enter (&quark))
    g_once_init_leave (&quark, g_quark_from_static_string ("component"));
  return (GQuark)quark;
}

const gchar *
gst_ccl_labeller_name_or_none (GstCclLabeller *labeller)
{
  return labeller ? gst_ccl_labeller_get_name (labeller) : "";
}

guint64
gst_ccl_labeller_id_or_none (GstCclLabeller *labeller)
{
  return labeller ? gst_ccl_labeller_get_id (labeller) : 0;
}

guint64
gst_ccl_labeller_new_id (void)
{
  return (guint64)g_random_int () << 32 | MAX (g_random_int (), 1);
}

gboolean
gst_ccl_roi_is_ours (GstVideoRegionOfInterestMeta *roi)
{
  return roi->roi_type == gst_ccl_component_quark () &&
         gst_video_region_of_interest_meta_get_param (roi, PARAMETERS) != NULL;
}

gboolean
gst_ccl_roi_is_of (GstVideoRegionOfInterestMeta *roi, guint64 labeller_id)
{
  const GstStructure *parameters;
  guint64 id = 0;

  if (!gst_ccl_roi_is_ours (roi))
    return FALSE;
  parameters = gst_video_region_of_interest_meta_get_param (roi, PARAMETERS);
  return gst_structure_get_uint64 (parameters, "labeller-id", &id) && id == labeller_id;
}

GstVideoRegionOfInterestMeta *
gst_ccl_roi_add (GstBuffer *buffer, GstCclLabeller *labeller, guint32 label, guint x, guint y,
    guint width, guint height)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta_id (
      buffer, gst_ccl_component_quark (), x, y, width, height);

  roi->id = (gint)label;
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new (PARAMETERS, "labeller", G_TYPE_STRING,
               gst_ccl_labeller_name_or_none (labeller), "labeller-id", G_TYPE_UINT64,
               gst_ccl_labeller_id_or_none (labeller), NULL));
  return roi;
}

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

gboolean
gst_ccl_roi_remove (GstBuffer *buffer, guint64 labeller_id)
{
  Removal removal = {labeller_id, FALSE};

  gst_buffer_foreach_meta (buffer, remove_roi, &removal);
  return removal.found;
}

void
gst_ccl_roi_identify (GstVideoRegionOfInterestMeta *roi, guint64 id)
{
  GstStructure *former;

  while ((former = gst_video_region_of_interest_meta_get_param (roi, IDENTITY))) {
    roi->params = g_list_remove (roi->params, former);
    gst_structure_free (former);
  }
  /* DL Streamer and programs that are written for it read an int. */
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new (IDENTITY, "id", G_TYPE_INT, (gint)(id & G_MAXINT), "track",
               G_TYPE_UINT64, id, NULL));
}

void
gst_ccl_roi_add_rows (GstBuffer *buffer, const GstCclMeta *meta)
{
  g_autoptr (GstCclLabeller) labeller = gst_ccl_meta_get_labeller (meta);

  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);
    const GstCclTrackInfo *track = gst_ccl_meta_get_track (meta, i);
    GstVideoRegionOfInterestMeta *roi =
        gst_ccl_roi_add (buffer, labeller, c->label, c->x, c->y, c->width, c->height);

    if (track)
      gst_ccl_roi_identify (roi, track->id);
  }
}
