/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclregions.h"

#include <gio/gio.h>

/* Makes the regions of a list for frames of that size. *regions is NULL for an empty list. */
static gboolean
plan_regions (const GArray *list, guint frame_width, guint frame_height, guint max_tracks,
    CclRegions **regions, CclError *error)
{
  const CclRegionsPlan plan = {.width = frame_width,
      .height = frame_height,
      .max_tracks = max_tracks,
      .n_regions = list->len,
      .regions = (const CclRegion *)(gpointer)list->data};

  *regions = list->len > 0 ? ccl_regions_new (&plan, error) : NULL;
  return *regions || list->len == 0;
}

/* Takes the regions in place of the present ones, whose counts they continue. */
static void
take_regions (GstCclRegionStage *stage, CclRegions *regions)
{
  if (regions)
    ccl_regions_inherit (regions, stage->regions);
  ccl_regions_free (&stage->regions);
  stage->regions = regions;
  stage->changed = TRUE;
}

/* Loads a new list, and plans its regions if there was a frame. */
static gboolean
load (const GstCclRegionStage *stage, GArray *list, const gchar *text, const GstCclRegionFile *file,
    guint max_tracks, CclRegions **regions, GError **error)
{
  CclError reason;

  if (!gst_ccl_region_list_add_text (list, text, error) ||
      (file && !gst_ccl_region_list_add_file (list, file, error)))
    return FALSE;
  if (stage->frame_width == 0 ||
      plan_regions (list, stage->frame_width, stage->frame_height, max_tracks, regions, &reason))
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, reason.message);
  return FALSE;
}

gboolean
gst_ccl_region_stage_load (GstCclRegionStage *stage, const gchar *text,
    const GstCclRegionFile *file, guint max_tracks, GError **error)
{
  g_autoptr (GArray) list = gst_ccl_region_list_new ();
  CclRegions *regions = NULL;

  if (!load (stage, list, text, file, max_tracks, &regions, error))
    return FALSE;
  if (list->len > 0 || (stage->list && stage->list->len > 0))
    take_regions (stage, regions);
  g_clear_pointer (&stage->list, g_array_unref);
  stage->list = g_steal_pointer (&list);
  return TRUE;
}

void
gst_ccl_region_stage_close (GstCclRegionStage *stage)
{
  ccl_regions_free (&stage->regions);
  g_clear_pointer (&stage->list, g_array_unref);
  g_clear_pointer (&stage->infos, g_array_unref);
  g_clear_pointer (&stage->places, g_byte_array_unref);
  *stage = (GstCclRegionStage){0};
}

/* Plans the regions of the list for another frame size. */
static gboolean
resize (GstCclRegionStage *stage, guint frame_width, guint frame_height, guint max_tracks,
    CclError *error)
{
  CclRegions *regions;

  if (!plan_regions (stage->list, frame_width, frame_height, max_tracks, &regions, error))
    return FALSE;
  ccl_regions_reset (stage->regions); /* its tracks are of another tracker */
  if (stage->regions || regions)
    take_regions (stage, regions);
  stage->frame_width = frame_width;
  stage->frame_height = frame_height;
  return TRUE;
}

gboolean
gst_ccl_region_stage_run (GstCclRegionStage *stage, guint frame_width, guint frame_height,
    guint max_tracks, const CclTracks *tracks, GstClockTime elapsed,
    const CclRegionsOptions *options, CclRegionsResult *result, CclError *error)
{
  *result = (CclRegionsResult){0};
  if ((stage->frame_width != frame_width || stage->frame_height != frame_height) &&
      !resize (stage, frame_width, frame_height, max_tracks, error))
    return FALSE;
  if (!stage->regions)
    return TRUE;
  if (ccl_regions_run (stage->regions, tracks, elapsed, options, result, error) != CUDACCL_OK)
    return FALSE;
  stage->changed |= result->n_events > 0;
  return TRUE;
}

/* The regions and lines with their counts. */
static void
fill_infos (GstCclRegionStage *stage, const CclRegionsResult *result)
{
  g_array_set_size (stage->infos, 0);
  for (guint i = 0; i < stage->list->len; i++) {
    const CclRegion *region = gst_ccl_region_stage_get (stage, i);
    const GstCclRegionInfo info = {region->name, region->kind == CUDACCL_REGION_LINE,
        result->counts[i].inside, result->counts[i].forward, result->counts[i].backward};

    g_array_append_val (stage->infos, info);
  }
}

/* Sets the places of the tracks that cross a line in this frame. Events and rows alike are in the
 * order of identities. */
static void
mark_crossings (const CclTracks *tracks, const CclRegionsResult *result, const guint *listed,
    guint n_rows, gint8 *places)
{
  guint row = 0;

  for (guint i = 0; i < result->n_events; i++) {
    const CclRegionEvent *event = &result->events[i];
    const gboolean is_forward = event->kind == CUDACCL_REGION_FORWARD;

    while (row < n_rows && tracks->tracks[listed[row]].id < event->id)
      row++;
    if (row < n_rows && tracks->tracks[listed[row]].id == event->id &&
        (is_forward || event->kind == CUDACCL_REGION_BACKWARD))
      places[event->region * n_rows + row] = is_forward ? 1 : -1;
  }
}

void
gst_ccl_region_stage_attach (GstCclRegionStage *stage, const CclTracks *tracks,
    const CclRegionsResult *result, const guint *listed, GstCclMeta *meta)
{
  const guint n_rows = gst_ccl_meta_get_n_rows (meta);
  g_autoptr (GstCclRegionState) state = NULL;
  gint8 *places;

  if (!stage->regions)
    return;
  if (!stage->infos) {
    stage->infos = g_array_new (FALSE, FALSE, sizeof (GstCclRegionInfo));
    stage->places = g_byte_array_new ();
  }
  fill_infos (stage, result);
  g_byte_array_set_size (stage->places, stage->infos->len * n_rows);
  places = (gint8 *)stage->places->data;
  for (guint i = 0; i < stage->infos->len; i++)
    for (guint row = 0; row < n_rows; row++)
      places[i * n_rows + row] = ccl_regions_is_inside (stage->regions, listed[row], i);
  mark_crossings (tracks, result, listed, n_rows, places);
  state = gst_ccl_region_state_new (
      (const GstCclRegionInfo *)(gpointer)stage->infos->data, stage->infos->len, places, n_rows);
  gst_ccl_meta_set_region_state (meta, state);
}

const CclRegion *
gst_ccl_region_stage_get (const GstCclRegionStage *stage, guint region)
{
  return &g_array_index (stage->list, CclRegion, region);
}
