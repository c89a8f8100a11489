/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccltrackreport.h"

#include "tracking/regions/gstcclregionlist.h"
#include "shared/gstcclevents.h"
#include "shared/gstcclframe.h"

/* Posts a message and pushes an event of the same content. Takes the structure. */
static void
report (GstBaseTransform *trans, GstStructure *structure)
{
  gst_element_post_message (GST_ELEMENT_CAST (trans),
      gst_message_new_element (GST_OBJECT_CAST (trans), gst_structure_copy (structure)));
  gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (trans),
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, structure));
}

/* Identities are those of the tracker; other: 0 for none. */
static GstStructure *
new_event (const GstCclTrackReport *common, const gchar *event, guint64 id, guint64 other)
{
  const GstCclMoment *moment = common->moment;
  const gchar *name = gst_ccl_track_classes_find (common->classes, id);
  GstStructure *structure =
      gst_ccl_moment_structure (GST_CCL_TRACK_EVENT, moment->pts, &moment->segment);

  gst_structure_set (structure, "event", G_TYPE_STRING, event, "id", G_TYPE_UINT64,
      common->id_offset + id, "other", G_TYPE_UINT64, other ? common->id_offset + other : 0, NULL);
  if (name)
    gst_structure_set (structure, "class", G_TYPE_STRING, name, NULL);
  return structure;
}

guint
gst_ccl_track_report_tracks (GstBaseTransform *trans, const CclTracks *tracks,
    const GstCclParents *parents, const GstCclTrackReport *common)
{
  static const gchar *const names[] = {
      [CUDACCL_TRACK_APPEARED] = "appeared",
      [CUDACCL_TRACK_VANISHED] = "vanished",
      [CUDACCL_TRACK_MERGED] = "merged",
      [CUDACCL_TRACK_SPLIT] = "split",
  };
  guint n_appeared = 0;

  for (guint i = 0; i < tracks->n_events; i++) {
    const CclTrackEvent *event = &tracks->events[i];
    const gboolean appeared = event->kind == CUDACCL_TRACK_APPEARED;
    const guint64 other = appeared ? gst_ccl_parents_get (parents, event->id) : event->other;

    report (trans, new_event (common, names[event->kind], event->id, other));
    n_appeared += appeared;
  }
  return n_appeared;
}

void
gst_ccl_track_report_regions (GstBaseTransform *trans, const GstCclRegionStage *stage,
    const CclRegionsResult *result, const GstCclTrackReport *common)
{
  static const gchar *const names[] = {
      [CUDACCL_REGION_ENTERED] = "entered",
      [CUDACCL_REGION_LEFT] = "left",
      [CUDACCL_REGION_STAYED] = "stayed",
      [CUDACCL_REGION_FORWARD] = "crossed",
      [CUDACCL_REGION_BACKWARD] = "crossed",
      [CUDACCL_REGION_FASTER] = "faster",
      [CUDACCL_REGION_SLOWER] = "slower",
  };

  for (guint i = 0; i < result->n_events; i++) {
    const CclRegionEvent *event = &result->events[i];
    const CclRegion *region = gst_ccl_region_stage_get (stage, event->region);
    GstStructure *structure = new_event (common, names[event->kind], event->id, 0);

    gst_structure_set (structure, region->kind == CUDACCL_REGION_LINE ? "line" : "region",
        G_TYPE_STRING, region->name, NULL);
    if (event->kind == CUDACCL_REGION_FORWARD || event->kind == CUDACCL_REGION_BACKWARD)
      gst_structure_set (structure, "direction", G_TYPE_STRING,
          event->kind == CUDACCL_REGION_FORWARD ? "forward" : "backward", NULL);
    if (event->kind == CUDACCL_REGION_LEFT)
      gst_structure_set (
          structure, "dwell", G_TYPE_DOUBLE, event->dwell / (gdouble)GST_SECOND, NULL);
    if (event->speed >= 0)
      gst_structure_set (structure, "speed", G_TYPE_DOUBLE, event->speed, NULL);
    report (trans, structure);
  }
}

GstStructure *
gst_ccl_track_announce_regions (
    GstBaseTransform *trans, GstCclRegionStage *stage, const CclRegionsResult *result)
{
  GstStructure *structure;

  if (!stage->changed)
    return NULL;
  stage->changed = FALSE;
  structure = gst_structure_new_empty (GST_CCL_REGIONS_EVENT);
  gst_ccl_region_list_describe (
      stage->list, stage->frame_width, stage->frame_height, result->counts, structure);
  gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (trans),
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, gst_structure_copy (structure)));
  return structure;
}
