/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccldetections.h"

#include <math.h>

#include "shared/gstcclroi.h"

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

void
gst_ccl_detections_init (GstCclDetections *self, guint max)
{
  *self = (GstCclDetections){
      .max = max,
      .items = g_new (GstCclDetection, max),
      .boxes = g_new (CclComponent, max),
  };
}

void
gst_ccl_detections_clear (GstCclDetections *self)
{
  g_free (self->items);
  g_free (self->boxes);
  *self = (GstCclDetections){0};
}

/* Clips a box to the frame. FALSE if nothing is left. */
static gboolean
clip (const gint64 *box, guint frame_width, guint frame_height, CclComponent *clipped)
{
  const gint64 left = MAX (box[0], 0), right = MIN (box[0] + box[2], (gint64)frame_width);
  const gint64 top = MAX (box[1], 0), bottom = MIN (box[1] + box[3], (gint64)frame_height);

  if (right <= left || bottom <= top)
    return FALSE;
  *clipped = (CclComponent){
      .area = (guint32)((right - left) * (bottom - top)),
      .x = (guint32)left,
      .y = (guint32)top,
      .width = (guint32)(right - left),
      .height = (guint32)(bottom - top),
      .centroid_x = (gdouble)(left + right - 1) / 2,
      .centroid_y = (gdouble)(top + bottom - 1) / 2,
  };
  return TRUE;
}

/* Elements may have made a class of any bytes. */
static gboolean
is_name (GQuark name)
{
  const gchar *text = g_quark_to_string (name);

  return text && *text != '\0' && g_utf8_validate (text, -1, NULL);
}

static void
add_detection (GstCclDetections *self, GstCclDetection detection, CclComponent box)
{
  if (self->n_found++ >= self->max)
    return;
  if (!is_name (detection.name))
    detection.name = 0;
  box.label = self->n + 1;
  self->boxes[self->n] = box;
  self->items[self->n++] = detection;
}

#if HAVE_ANALYTICS

static void
read_analytics (GstCclDetections *self, GstBuffer *frame, guint frame_width, guint frame_height)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  gpointer state = NULL;
  GstAnalyticsODMtd mtd;

  while (relations && gst_analytics_relation_meta_iterate (
                          relations, &state, gst_analytics_od_mtd_get_mtd_type (), &mtd)) {
    const GQuark name = gst_analytics_od_mtd_get_obj_type (&mtd);
    gint x, y, width, height;
    gfloat confidence;
    CclComponent box;

    if (name != gst_ccl_component_quark () &&
        gst_analytics_od_mtd_get_location (&mtd, &x, &y, &width, &height, &confidence) &&
        clip ((gint64[]){x, y, width, height}, frame_width, frame_height, &box))
      add_detection (self, (GstCclDetection){name, confidence, NULL, mtd.id}, box);
  }
}

#else

static void
read_analytics (GstCclDetections *self, GstBuffer *frame, guint frame_width, guint frame_height)
{
}

#endif

/* The confidence of a region of interest: DL Streamer's parameter `detection` has it, and those of
 * other detectors in a field of the same name. */
static gdouble
confidence_of (const GstVideoRegionOfInterestMeta *roi)
{
  for (const GList *item = roi->params; item; item = item->next) {
    const GValue *value = gst_structure_get_value (item->data, "confidence");

    if (value && G_VALUE_HOLDS_DOUBLE (value))
      return g_value_get_double (value);
    if (value && G_VALUE_HOLDS_FLOAT (value))
      return g_value_get_float (value);
  }
  return NAN;
}

static gboolean
are_near (guint32 a, guint32 b)
{
  return MAX (a, b) - MIN (a, b) <= 1;
}

/* The detection of the analytics metadata with that name and box; NULL if there is none. */
static GstCclDetection *
find_same (GstCclDetections *self, guint n, GQuark name, const CclComponent *box)
{
  for (guint i = 0; i < n; i++) {
    const CclComponent *other = &self->boxes[i];

    if (self->items[i].name == (is_name (name) ? name : 0) && !self->items[i].roi &&
        are_near (other->x, box->x) && are_near (other->y, box->y) &&
        are_near (other->x + other->width, box->x + box->width) &&
        are_near (other->y + other->height, box->y + box->height))
      return &self->items[i];
  }
  return NULL;
}

static void
read_rois (GstCclDetections *self, GstBuffer *frame, guint frame_width, guint frame_height)
{
  const guint n_analytics = self->n;
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  while ((roi = (GstVideoRegionOfInterestMeta *)gst_buffer_iterate_meta_filtered (
              frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstCclDetection *same;
    CclComponent box;

    if (gst_ccl_roi_is_ours (roi) ||
        !clip ((gint64[]){roi->x, roi->y, roi->w, roi->h}, frame_width, frame_height, &box))
      continue;
    same = find_same (self, n_analytics, roi->roi_type, &box);
    if (same)
      same->roi = roi;
    else
      add_detection (
          self, (GstCclDetection){roi->roi_type, confidence_of (roi), roi, G_MAXUINT}, box);
  }
}

void
gst_ccl_detections_read (
    GstCclDetections *self, GstBuffer *frame, guint frame_width, guint frame_height)
{
  self->n = self->n_found = 0;
  read_analytics (self, frame, frame_width, frame_height);
  read_rois (self, frame, frame_width, frame_height);
}

CclTable
gst_ccl_detections_table (const GstCclDetections *self)
{
  return (CclTable){self->n_found, self->n, self->boxes};
}
