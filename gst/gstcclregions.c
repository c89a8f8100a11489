/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclregions.h"

#include "gstcclregionlist.h"

gboolean
gst_ccl_region_stage_load (
    GstCclRegionStage *stage, const gchar *text, const gchar *path, GError **error)
{
  GArray *list = gst_ccl_region_list_new ();

  if (!gst_ccl_region_list_add_text (list, text, error) ||
      (path && !gst_ccl_region_list_add_file (list, path, error))) {
    g_array_unref (list);
    return FALSE;
  }
  stage->is_new = stage->changed = list->len > 0 || (stage->list && stage->list->len > 0);
  g_clear_pointer (&stage->list, g_array_unref);
  stage->list = list;
  return TRUE;
}

void
gst_ccl_region_stage_close (GstCclRegionStage *stage)
{
  ccl_regions_free (&stage->regions);
  g_clear_pointer (&stage->list, g_array_unref);
  *stage = (GstCclRegionStage){0};
}

void
gst_ccl_region_stage_reset (GstCclRegionStage *stage)
{
  ccl_regions_reset (stage->regions);
  stage->changed = stage->regions != NULL;
}

/* Plans the regions for a frame size. */
static gboolean
plan_regions (GstCclRegionStage *stage, const CclRegionsPlan *plan, CclError *error)
{
  CclRegions *regions = NULL;

  if (stage->frame_width != plan->width || stage->frame_height != plan->height)
    ccl_regions_reset (stage->regions); /* its tracks are of another tracker */
  if (plan->n_regions > 0) {
    regions = ccl_regions_new (plan, error);
    if (!regions)
      return FALSE;
    ccl_regions_inherit (regions, stage->regions);
  }
  ccl_regions_free (&stage->regions);
  stage->regions = regions;
  stage->frame_width = plan->width;
  stage->frame_height = plan->height;
  stage->is_new = FALSE;
  stage->changed = TRUE;
  return TRUE;
}

gboolean
gst_ccl_region_stage_run (GstCclRegionStage *stage, guint frame_width, guint frame_height,
    guint max_tracks, const CclTracks *tracks, GstClockTime elapsed,
    const CclRegionsOptions *options, CclRegionsResult *result, CclError *error)
{
  const CclRegionsPlan plan = {.width = frame_width,
      .height = frame_height,
      .max_tracks = max_tracks,
      .n_regions = stage->list->len,
      .regions = (const CclRegion *)(gpointer)stage->list->data};
  const gboolean is_resized =
      stage->regions && (stage->frame_width != frame_width || stage->frame_height != frame_height);

  *result = (CclRegionsResult){0};
  if ((stage->is_new || is_resized) && !plan_regions (stage, &plan, error))
    return FALSE;
  if (!stage->regions)
    return TRUE;
  if (ccl_regions_run (stage->regions, tracks, elapsed, options, result, error) != CCL_OK)
    return FALSE;
  stage->changed |= result->n_events > 0;
  return TRUE;
}

const CclRegion *
gst_ccl_region_stage_get (const GstCclRegionStage *stage, guint region)
{
  return &g_array_index (stage->list, CclRegion, region);
}
