/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccltrackanalytics.h"

#if HAVE_ANALYTICS

#include <gst/analytics/analytics.h>

#include "shared/gstcclframe.h"
#include "shared/gstcclroi.h"

/* The tracks of a frame on their way into its analytics metadata. */
typedef struct {
  GstAnalyticsRelationMeta *relations;
  const GstCclMeta *meta;
  const CclTracks *tracks;
  const guint *listed;
  const GstCclDetections *detections;
  const GstCclTrackClasses *classes;
  gboolean are_tracked; /* the detections */
  GstClockTime running_time;
  gdouble frame_duration; /* ns of running time */
} Result;

/* The row's detection, with the box of its track. FALSE for a lost track, and where the detections
 * are those of another element. */
static gboolean
add_detection (const Result *result, guint row, guint *id)
{
  const GstCclComponent *c = gst_ccl_meta_get_component (result->meta, row);
  GstAnalyticsODMtd detection;

  if (result->are_tracked ||
      gst_ccl_meta_get_track (result->meta, row)->state == GST_CCL_TRACK_STATE_LOST ||
      !gst_analytics_relation_meta_add_od_mtd (result->relations, gst_ccl_component_quark (),
          (gint)c->x, (gint)c->y, (gint)c->width, (gint)c->height, 1.0f, &detection))
    return FALSE;
  *id = detection.id;
  return TRUE;
}

#if GST_CHECK_VERSION(1, 26, 0)

static GstClockTime
time_ago (const Result *result, guint64 n_frames)
{
  const GstClockTime ago = (GstClockTime)((gdouble)n_frames * result->frame_duration);

  return result->running_time - MIN (ago, result->running_time);
}

static gboolean
add_tracking (const Result *result, guint row, guint *id)
{
  const CclTrack *track = &result->tracks->tracks[result->listed[row]];
  GstAnalyticsTrackingMtd tracking;

  if (!GST_CLOCK_TIME_IS_VALID (result->running_time) ||
      !gst_analytics_relation_meta_add_tracking_mtd (result->relations,
          gst_ccl_meta_get_track (result->meta, row)->id, time_ago (result, track->age), &tracking))
    return FALSE;
  gst_analytics_tracking_mtd_update_last_seen (&tracking, time_ago (result, track->lost));
  if (track->state == CUDACCL_TRACK_LOST)
    gst_analytics_tracking_mtd_set_lost (&tracking);
  *id = tracking.id;
  return TRUE;
}

/* The segmentation mask of components: its pixels are labels, and so are its region ids. */
typedef struct {
  GstBuffer *mask; /* NULL: none */
  gint x, y;
  guint width, height;
  gsize n_regions;
} Segmentation;

static Segmentation
find_segmentation (GstAnalyticsRelationMeta *relations)
{
  GstAnalyticsSegmentationMtd mtd;
  Segmentation found = {0};
  gpointer state = NULL;

  if (gst_analytics_relation_meta_iterate (
          relations, &state, gst_analytics_segmentation_mtd_get_mtd_type (), &mtd)) {
    found.mask = gst_analytics_segmentation_mtd_get_mask (
        &mtd, &found.x, &found.y, &found.width, &found.height);
    found.n_regions = gst_analytics_segmentation_mtd_get_region_count (&mtd);
  }
  return found;
}

/* Takes the mask. Returns whether there is a segmentation. */
static gboolean
add_segmentation (const Result *result, Segmentation *segmentation, guint *id)
{
  GstAnalyticsSegmentationMtd mtd;
  gboolean added;
  g_autofree guint *ids = NULL;

  if (!segmentation->mask)
    return FALSE;
  ids = g_new (guint, segmentation->n_regions);
  for (guint i = 0; i < segmentation->n_regions; i++)
    ids[i] = i;
  added = gst_analytics_relation_meta_add_segmentation_mtd (result->relations,
      g_steal_pointer (&segmentation->mask), GST_SEGMENTATION_TYPE_INSTANCE,
      segmentation->n_regions, ids, segmentation->x, segmentation->y, segmentation->width,
      segmentation->height, &mtd);
  *id = mtd.id;
  return added;
}

static void
relate (const Result *result, guint from, guint to)
{
  gst_analytics_relation_meta_set_relation (
      result->relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, from, to);
}

/* The detection of another element that the row's track has in this frame. FALSE if it has none. */
static gboolean
find_detection (const Result *result, guint row, guint *id)
{
  const guint i = gst_ccl_track_classes_get_detection (result->classes, result->listed[row]);

  if (i == GST_CCL_NO_DETECTION || result->detections->items[i].mtd == G_MAXUINT)
    return FALSE;
  *id = result->detections->items[i].mtd;
  return TRUE;
}

static void
add_rows (const Result *result, Segmentation *segmentation)
{
  guint segmentation_id = 0, detection = 0, tracking = 0;
  const gboolean is_segmented = add_segmentation (result, segmentation, &segmentation_id);

  for (guint row = 0; row < gst_ccl_meta_get_n_rows (result->meta); row++) {
    const gboolean is_detected = add_detection (result, row, &detection);
    const gboolean is_tracked = add_tracking (result, row, &tracking);
    guint other;

    if (is_tracked && is_detected)
      relate (result, detection, tracking);
    if (is_tracked && find_detection (result, row, &other))
      relate (result, other, tracking);
    if (is_segmented && is_detected)
      relate (result, segmentation_id, detection);
  }
}

static gboolean
is_of_components (GstAnalyticsMtd *mtd)
{
  const GstAnalyticsMtdType type = gst_analytics_mtd_get_mtd_type (mtd);

  return type == gst_analytics_segmentation_mtd_get_mtd_type () ||
         (type == gst_analytics_od_mtd_get_mtd_type () &&
             gst_analytics_od_mtd_get_obj_type ((GstAnalyticsODMtd *)mtd) ==
                 gst_ccl_component_quark ());
}

#else

typedef struct {
  gboolean none;
} Segmentation;

static Segmentation
find_segmentation (GstAnalyticsRelationMeta *relations)
{
  return (Segmentation){TRUE};
}

static void
add_rows (const Result *result, Segmentation *segmentation)
{
  guint detection;

  for (guint row = 0; row < gst_ccl_meta_get_n_rows (result->meta); row++)
    add_detection (result, row, &detection);
}

static gboolean
is_of_components (GstAnalyticsMtd *mtd)
{
  return gst_analytics_mtd_get_mtd_type (mtd) == gst_analytics_od_mtd_get_mtd_type () &&
         gst_analytics_od_mtd_get_obj_type ((GstAnalyticsODMtd *)mtd) == gst_ccl_component_quark ();
}

#endif

/* Whether all items are those that the one labeller of the frame has attached. */
static gboolean
are_of_components (GstBuffer *frame, GstAnalyticsRelationMeta *relations)
{
  GstAnalyticsMtd mtd;
  gpointer state = NULL;

  if (gst_buffer_get_n_meta (frame, GST_CCL_META_API_TYPE) != 1)
    return FALSE;
  while (gst_analytics_relation_meta_iterate (relations, &state, GST_ANALYTICS_MTD_TYPE_ANY, &mtd))
    if (!is_of_components (&mtd))
      return FALSE;
  return TRUE;
}

void
gst_ccl_track_analytics_replace (GstBuffer *frame, const GstCclMeta *meta, const CclTracks *tracks,
    const guint *listed, const GstCclDetections *detections, const GstCclTrackClasses *classes,
    gboolean are_tracked, const GstCclMoment *moment, gdouble frame_rate)
{
  Result result = {gst_buffer_get_analytics_relation_meta (frame), meta, tracks, listed, detections,
      classes, are_tracked, gst_ccl_running_time (&moment->segment, moment->pts),
      GST_SECOND / frame_rate / gst_ccl_speed (&moment->segment)};
  Segmentation segmentation = {0};

  if (!result.relations)
    return;
  if (!are_tracked && are_of_components (frame, result.relations)) {
    segmentation = find_segmentation (result.relations);
    gst_buffer_remove_meta (frame, (GstMeta *)result.relations);
    result.relations = gst_buffer_add_analytics_relation_meta (frame);
  }
  add_rows (&result, &segmentation);
}

#else

void
gst_ccl_track_analytics_replace (GstBuffer *frame, const GstCclMeta *meta, const CclTracks *tracks,
    const guint *listed, const GstCclDetections *detections, const GstCclTrackClasses *classes,
    gboolean are_tracked, const GstCclMoment *moment, gdouble frame_rate)
{
}

#endif
