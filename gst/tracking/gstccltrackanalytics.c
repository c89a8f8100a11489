/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccltrackanalytics.h"

#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 26, 0)

#include <gst/analytics/analytics.h>

#include "shared/gstcclframe.h"

/* Finds the detection of each component. The labeller added them in the order of its table. */
static void
find_detections (GstAnalyticsRelationMeta *relations, const CclTable *table, GArray *detections)
{
  GstAnalyticsODMtd detection;
  gpointer state = NULL;

  g_array_set_size (detections, 0);
  while (detections->len < table->n_rows &&
         gst_analytics_relation_meta_iterate (relations, &state,
             gst_analytics_od_mtd_get_mtd_type (), (GstAnalyticsMtd *)&detection)) {
    const CclComponent *c = &table->rows[detections->len];
    gint x, y, width, height;

    if (gst_analytics_od_mtd_get_location (&detection, &x, &y, &width, &height, NULL) &&
        x == (gint)c->x && y == (gint)c->y && width == (gint)c->width && height == (gint)c->height)
      g_array_append_val (detections, detection.id);
  }
}

static void
relate_members (GstAnalyticsRelationMeta *relations, const CclTracks *tracks, guint track,
    const GArray *detections, guint tracking_id)
{
  for (guint m = 0; m < tracks->n_members; m++)
    if (tracks->members[m].track == track && tracks->members[m].row < detections->len)
      gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_RELATE_TO,
          g_array_index (detections, guint, tracks->members[m].row), tracking_id);
}

void
gst_ccl_track_analytics_relate (GstBuffer *frame, const CclTable *table, const CclTracks *tracks,
    const GstCclTrackSettings *settings, guint64 id_offset, const GstCclMoment *moment,
    gdouble frame_rate, GArray *detections)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  const GstClockTime running_time = gst_ccl_running_time (&moment->segment, moment->pts);
  const gdouble duration = GST_SECOND / frame_rate / gst_ccl_speed (&moment->segment);

  if (!relations || !GST_CLOCK_TIME_IS_VALID (running_time))
    return;
  find_detections (relations, table, detections);
  for (guint i = 0; i < tracks->n_tracks; i++) {
    const CclTrack *track = &tracks->tracks[i];
    const GstClockTime age = (GstClockTime)((gdouble)track->age * duration);
    const GstClockTime lost = (GstClockTime)((gdouble)track->lost * duration);
    GstAnalyticsTrackingMtd tracking;

    if (!gst_ccl_track_settings_lists (settings, track) ||
        !gst_analytics_relation_meta_add_tracking_mtd (
            relations, id_offset + track->id, running_time - MIN (age, running_time), &tracking))
      continue;
    gst_analytics_tracking_mtd_update_last_seen (
        &tracking, running_time - MIN (lost, running_time));
    if (track->state == CUDACCL_TRACK_LOST)
      gst_analytics_tracking_mtd_set_lost (&tracking);
    relate_members (relations, tracks, i, detections, tracking.id);
  }
}

#else

void
gst_ccl_track_analytics_relate (GstBuffer *frame, const CclTable *table, const CclTracks *tracks,
    const GstCclTrackSettings *settings, guint64 id_offset, const GstCclMoment *moment,
    gdouble frame_rate, GArray *detections)
{
}

#endif
