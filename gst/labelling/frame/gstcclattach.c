/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclattach.h"
#include "labelling/pixels/gstcclmappool.h"
#include "shared/gstcclframe.h"
#include "shared/gstcclroi.h"
#include "shared/gstcclsample.h"

#include <cudaccl/columns.h>
#include <gst/ccl/ccl.h>
#include <gst/video/video.h>
#include <stddef.h>
#include <string.h>
#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#if HAVE_ANALYTICS
/* The category of the warnings below. */
static GstDebugCategory *
ensure_debug_category (void)
{
  static gsize category = 0;

  if (g_once_init_enter (&category))
    g_once_init_leave (
        &category, (gsize)_gst_debug_category_new ("cclattach", 0, "metadata of components"));
  return (GstDebugCategory *)category;
}
#undef GST_CAT_DEFAULT
#define GST_CAT_DEFAULT ensure_debug_category ()
#endif

GType
gst_ccl_meta_flags_get_type (void)
{
  static GType type = 0;
  static const GFlagsValue values[] = {
    {GST_CCL_META_FLAG_CCL, "GstCclMeta, one per frame", "ccl"},
    {GST_CCL_META_FLAG_ROI, "GstVideoRegionOfInterestMeta, one per component", "roi"},
#if HAVE_ANALYTICS
    {GST_CCL_META_FLAG_ANALYTICS, "GstAnalyticsODMtd, one per component", "analytics"},
#endif
    {0, NULL, NULL},
  };

  if (g_once_init_enter (&type)) {
    GType registered = g_flags_register_static ("GstCclMetaFlags", values);
    g_once_init_leave (&type, registered);
  }
  return type;
}

static gboolean
is_own_ccl (const GstCclMeta *meta, guint64 id)
{
  g_autoptr (GstCclLabeller) labeller = gst_ccl_meta_get_labeller (meta);

  return gst_ccl_labeller_id_or_none (labeller) == id;
}

typedef struct {
  guint64 id; /* not 0 */
  gboolean found;
} Own;

/* For gst_buffer_foreach_meta(): removes the metadata that the labeller of that identity attached
 * when the frame passed it before. */
static gboolean
remove_own (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  Own *own = data;
  GType api = (*meta)->info->api;

  if ((api == GST_CCL_META_API_TYPE && is_own_ccl ((GstCclMeta *)*meta, own->id)) ||
      (api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE &&
          gst_ccl_roi_is_of ((GstVideoRegionOfInterestMeta *)*meta, own->id))) {
    *meta = NULL;
    own->found = TRUE;
  }
  return TRUE;
}

/* Rows are copied as bytes from the labeller's table to the metadata's. */
#define ASSERT_SAME_FIELD(field, key)                                                              \
  G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclComponent, field) == offsetof (CclComponent, field));
CUDACCL_COLUMNS (ASSERT_SAME_FIELD, ASSERT_SAME_FIELD, CUDACCL_NO_COLUMN, CUDACCL_NO_COLUMN)
G_STATIC_ASSERT (sizeof (GstCclComponent) == sizeof (CclComponent));

static void
attach_ccl (GstBuffer *buffer, GstCclLabeller *labeller, guint frame_width, guint frame_height,
    const CclTable *table, const GstCclAttachment *labels, const GstCclAttachment *mask)
{
  GstCclMeta *meta = gst_buffer_add_ccl_meta (
      buffer, frame_width, frame_height, 0, NULL, 0, labels->buffer, labels->stride);
  GstCclComponent *rows = gst_ccl_meta_new_table (meta, table->n_components, table->n_rows);

  gst_ccl_meta_set_labeller (meta, labeller);
  gst_ccl_meta_set_mask (meta, mask->buffer, mask->stride);
  if (rows)
    memcpy (rows, table->rows, table->n_rows * sizeof *rows);
}

static void
attach_roi (GstBuffer *buffer, GstCclLabeller *labeller, const CclTable *table)
{
  for (guint i = 0; i < table->n_rows; i++) {
    const CclComponent *c = &table->rows[i];
    gst_ccl_roi_add (buffer, labeller, c->label, c->x, c->y, c->width, c->height);
  }
}

#if HAVE_ANALYTICS

/* Segmentation came after object detection. */
#if GST_CHECK_VERSION(1, 26, 0)

#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define GRAY16_NATIVE GST_VIDEO_FORMAT_GRAY16_LE
#else
#define GRAY16_NATIVE GST_VIDEO_FORMAT_GRAY16_BE
#endif

/* Copies the label map of a frame to pixels of one or two bytes. */
static void
copy_labels (const GstMapInfo *labels, gsize labels_stride, guint width, guint height,
    gsize pixel_size, guint8 *pixels)
{
  for (guint y = 0; y < height; y++) {
    const guint32 *row = (const guint32 *)(labels->data + y * labels_stride);
    guint8 *narrow = pixels + (gsize)y * width * pixel_size;
    if (pixel_size == 1)
      for (guint x = 0; x < width; x++)
        narrow[x] = (guint8)row[x];
    else
      for (guint x = 0; x < width; x++)
        ((guint16 *)narrow)[x] = (guint16)row[x];
  }
}

/* The label map as a video frame, as analytics elements expect it: such frames have at most 16 bits
 * a pixel, and segmentationoverlay of GStreamer 1.28 takes every mask to have 8. NULL if memory is
 * short or the map cannot be read. */
static GstBuffer *
new_segmentation_mask (GstBuffer *labels, gsize labels_stride, guint width, guint height,
    guint n_components, GstBufferPool **pool)
{
  const gsize pixel_size = n_components <= G_MAXUINT8 ? 1 : 2;
  gsize offsets[GST_VIDEO_MAX_PLANES] = {0};
  gint strides[GST_VIDEO_MAX_PLANES] = {(gint)(pixel_size * width)};
  g_autoptr (GstBuffer) mask = NULL;
  GstMapInfo from, to;

  if (!*pool)
    *pool = gst_ccl_map_pool_new (2 * (gsize)width * height);
  if (gst_buffer_pool_acquire_buffer (*pool, &mask, NULL) != GST_FLOW_OK ||
      !gst_buffer_map (labels, &from, GST_MAP_READ))
    return NULL;
  gst_buffer_map (mask, &to, GST_MAP_WRITE);
  copy_labels (&from, labels_stride, width, height, pixel_size, to.data);
  gst_buffer_unmap (mask, &to);
  gst_buffer_unmap (labels, &from);
  gst_buffer_add_video_meta_full (mask, GST_VIDEO_FRAME_FLAG_NONE,
      pixel_size == 1 ? GST_VIDEO_FORMAT_GRAY8 : GRAY16_NATIVE, width, height, 1, offsets, strides);
  return g_steal_pointer (&mask);
}

/* Region ids are labels, 0 is the background, so a region's index is its id. */
static void
attach_segmentation (GstAnalyticsRelationMeta *relations, guint frame_width, guint frame_height,
    const CclTable *table, const guint *detections, GstBuffer *labels, gsize labels_stride,
    GstBufferPool **pool)
{
  gsize n_regions = (gsize)table->n_components + 1;
  GstAnalyticsSegmentationMtd segmentation;
  g_autofree guint *ids = NULL;
  GstBuffer *mask;

  if (table->n_components > G_MAXUINT16) {
    GST_WARNING ("%u components are too many for a segmentation mask", table->n_components);
    return;
  }
  mask = new_segmentation_mask (
      labels, labels_stride, frame_width, frame_height, table->n_components, pool);
  if (!mask) {
    GST_WARNING ("no segmentation mask: the label map cannot be read, or memory is short");
    return;
  }
  ids = g_new (guint, n_regions);
  for (guint i = 0; i < n_regions; i++)
    ids[i] = i;
  if (gst_analytics_relation_meta_add_segmentation_mtd (relations, mask,
          GST_SEGMENTATION_TYPE_INSTANCE, n_regions, ids, 0, 0, frame_width, frame_height,
          &segmentation)) {
    for (guint i = 0; i < table->n_rows; i++)
      gst_analytics_relation_meta_set_relation (
          relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, segmentation.id, detections[i]);
  }
}
#endif

/* Removes the detections of a labeller that has labelled the frame before. GStreamer cannot remove
 * single items of analytics metadata, so all of it is removed, and only if every detection is a
 * component and no other labeller has added a GstCclMeta. */
static void
remove_own_analytics (GstBuffer *buffer)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd detection;
  gpointer state = NULL;

  if (!relations || gst_buffer_get_ccl_meta (buffer))
    return;
  while (gst_analytics_relation_meta_iterate (
      relations, &state, gst_analytics_od_mtd_get_mtd_type (), (GstAnalyticsMtd *)&detection))
    if (gst_analytics_od_mtd_get_obj_type (&detection) != gst_ccl_component_quark ())
      return;
  gst_buffer_remove_meta (buffer, (GstMeta *)relations);
}

static void
attach_analytics (GstBuffer *buffer, guint frame_width, guint frame_height, const CclTable *table,
    GstBuffer *labels, gsize labels_stride, GstBufferPool **pool)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  g_autofree guint *detections = g_new (guint, table->n_rows);

  if (!relations)
    relations = gst_buffer_add_analytics_relation_meta (buffer);
  for (guint i = 0; i < table->n_rows; i++) {
    const CclComponent *c = &table->rows[i];
    GstAnalyticsODMtd detection;
    gst_analytics_relation_meta_add_od_mtd (relations, gst_ccl_component_quark (), (gint)c->x,
        (gint)c->y, (gint)c->width, (gint)c->height, 1.0f, &detection);
    detections[i] = detection.id;
  }
#if GST_CHECK_VERSION(1, 26, 0)
  if (labels)
    attach_segmentation (
        relations, frame_width, frame_height, table, detections, labels, labels_stride, pool);
#endif
}
#endif

void
gst_ccl_attach (GstBuffer *buffer, GstCclMetaFlags kinds, GstCclLabeller *labeller,
    guint frame_width, guint frame_height, const CclTable *table, const GstCclAttachment *labels,
    const GstCclAttachment *mask, GstBufferPool **segmentation_pool)
{
  Own own = {gst_ccl_labeller_id_or_none (labeller), FALSE};

  (void)segmentation_pool; /* used with GStreamer 1.26 and later */
  gst_buffer_foreach_meta (buffer, remove_own, &own);
  gst_ccl_sample_remove (buffer, own.id);
#if HAVE_ANALYTICS
  if (own.found)
    remove_own_analytics (buffer);
#endif
  if (kinds & GST_CCL_META_FLAG_CCL)
    attach_ccl (buffer, labeller, frame_width, frame_height, table, labels, mask);
  if (kinds & GST_CCL_META_FLAG_ROI)
    attach_roi (buffer, labeller, table);
#if HAVE_ANALYTICS
  if (kinds & GST_CCL_META_FLAG_ANALYTICS)
    attach_analytics (buffer, frame_width, frame_height, table, labels->buffer, labels->stride,
        segmentation_pool);
#endif
}

static void
append_component (GValue *array, const CclComponent *component)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, GST_TYPE_STRUCTURE);
#define COUNT(field, key) key, G_TYPE_UINT, component->field,
#define REAL(field, key) key, G_TYPE_DOUBLE, component->field,
  g_value_take_boxed (
      &value, gst_structure_new ("component",
                  CUDACCL_COLUMNS (COUNT, REAL, CUDACCL_NO_COLUMN, CUDACCL_NO_COLUMN) NULL));
#undef COUNT
#undef REAL
  gst_value_array_append_and_take_value (array, &value);
}

GstStructure *
gst_ccl_message_structure (
    const gchar *name, GstBuffer *buffer, const GstSegment *segment, const CclTable *table)
{
  GValue components = G_VALUE_INIT;
  GstStructure *structure = gst_ccl_moment_structure (name, GST_BUFFER_PTS (buffer), segment);

  gst_structure_set (structure, "duration", GST_TYPE_CLOCK_TIME, GST_BUFFER_DURATION (buffer),
      "count", G_TYPE_UINT, table->n_components, "truncated", G_TYPE_BOOLEAN,
      table->n_rows < table->n_components, NULL);

  gst_value_array_init (&components, table->n_rows);
  for (guint i = 0; i < table->n_rows; i++)
    append_component (&components, &table->rows[i]);
  gst_structure_take_value (structure, "components", &components);
  return structure;
}
