/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The connected components of a frame, as metadata of the frame's buffer. */
#ifndef __GST_CCL_META_H__
#define __GST_CCL_META_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/ccl/gstcclclasses.h>
#include <gst/ccl/gstcclcolumns.h>
#include <gst/ccl/gstcclcomponent.h>
#include <gst/ccl/gstcclcontours.h>
#include <gst/ccl/gstccllabeller.h>
#include <gst/ccl/gstcclregionstate.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_META (gst_ccl_meta_get_type ())
#define GST_CCL_META_API_TYPE (gst_ccl_meta_api_get_type ())
#define GST_CCL_META_INFO (gst_ccl_meta_get_info ())

typedef struct _GstCclMeta GstCclMeta;

GST_CCL_API
GType gst_ccl_meta_get_type (void);

GST_CCL_API
GType gst_ccl_meta_api_get_type (void);

GST_CCL_API
const GstMetaInfo *gst_ccl_meta_get_info (void);

GST_CCL_API
GstCclMeta *gst_buffer_add_ccl_meta (GstBuffer *buffer, guint frame_width, guint frame_height,
    guint n_components, const GstCclComponent *components, guint n_rows, GstBuffer *labels,
    gsize labels_stride);

GST_CCL_API
void gst_buffer_attach_ccl_meta (GstBuffer *buffer, guint frame_width, guint frame_height,
    guint n_components, const GstCclComponent *components, guint n_rows, GstBuffer *labels,
    gsize labels_stride);

GST_CCL_API
GstCclMeta *gst_buffer_get_ccl_meta (GstBuffer *buffer);

GST_CCL_API
GstCclMeta *gst_buffer_get_ccl_meta_by_name (GstBuffer *buffer, const gchar *name);

GST_CCL_API
GstCclMeta *gst_buffer_dup_ccl_meta (GstBuffer *buffer);

GST_CCL_API
GstCclMeta *gst_buffer_dup_ccl_meta_by_name (GstBuffer *buffer, const gchar *name);

GST_CCL_API
GstCclMeta *gst_ccl_meta_copy (const GstCclMeta *meta);

GST_CCL_API
void gst_ccl_meta_free (GstCclMeta *copy);

GST_CCL_API
guint gst_ccl_meta_get_frame_width (const GstCclMeta *meta);

GST_CCL_API
guint gst_ccl_meta_get_frame_height (const GstCclMeta *meta);

GST_CCL_API
guint gst_ccl_meta_get_n_components (const GstCclMeta *meta);

GST_CCL_API
gboolean gst_ccl_meta_is_truncated (const GstCclMeta *meta);

GST_CCL_API
guint gst_ccl_meta_get_n_rows (const GstCclMeta *meta);

GST_CCL_API
const GstCclComponent *gst_ccl_meta_get_component (const GstCclMeta *meta, guint row);

GST_CCL_API
const GstCclComponent *gst_ccl_meta_find_component (const GstCclMeta *meta, guint32 label);

GST_CCL_API
gconstpointer gst_ccl_meta_get_rows (const GstCclMeta *meta, guint *n_rows, gsize *row_stride);

GST_CCL_API
GList *gst_ccl_meta_get_components (const GstCclMeta *meta);

GST_CCL_API
const GstCclTrackInfo *gst_ccl_meta_get_track (const GstCclMeta *meta, guint row);

GST_CCL_API
GstCclTrackInfo *gst_ccl_meta_dup_track (const GstCclMeta *meta, guint row);

GST_CCL_API
const guint64 *gst_ccl_meta_get_ids (const GstCclMeta *meta, guint row, guint *n_ids);

GST_CCL_API
GstCclComponent *gst_ccl_meta_new_table (GstCclMeta *meta, guint n_components, guint n_rows);

GST_CCL_API
void gst_ccl_meta_set_table (GstCclMeta *meta, guint n_components,
    const GstCclComponent *components, guint n_rows, const GstCclTrackInfo *tracks,
    const guint64 *ids, guint n_ids);

GST_CCL_API
GstCclLabeller *gst_ccl_meta_get_labeller (const GstCclMeta *meta);

GST_CCL_API
void gst_ccl_meta_set_labeller (GstCclMeta *meta, GstCclLabeller *labeller);

GST_CCL_API
GstBuffer *gst_ccl_meta_get_labels (const GstCclMeta *meta, gsize *stride);

GST_CCL_API
GstBuffer *gst_ccl_meta_get_mask (const GstCclMeta *meta, gsize *stride);

GST_CCL_API
GstBuffer *gst_ccl_meta_dup_labels (const GstCclMeta *meta, gsize *stride);

GST_CCL_API
GstBuffer *gst_ccl_meta_dup_mask (const GstCclMeta *meta, gsize *stride);

GST_CCL_API
void gst_ccl_meta_set_mask (GstCclMeta *meta, GstBuffer *mask, gsize stride);

GST_CCL_API
GstCclContours *gst_ccl_meta_get_contours (const GstCclMeta *meta);

GST_CCL_API
void gst_ccl_meta_set_contours (GstCclMeta *meta, GstCclContours *contours);

GST_CCL_API
GstCclColumns *gst_ccl_meta_get_columns (const GstCclMeta *meta);

GST_CCL_API
void gst_ccl_meta_set_columns (GstCclMeta *meta, GstCclColumns *columns);

GST_CCL_API
GstCclRegionState *gst_ccl_meta_get_region_state (const GstCclMeta *meta);

GST_CCL_API
void gst_ccl_meta_set_region_state (GstCclMeta *meta, GstCclRegionState *state);

GST_CCL_API
GstCclClasses *gst_ccl_meta_get_classes (const GstCclMeta *meta);

GST_CCL_API
void gst_ccl_meta_set_classes (GstCclMeta *meta, GstCclClasses *classes);

GST_CCL_API
void gst_ccl_meta_select_rows (GstCclMeta *meta, const guint *rows, guint n_rows);

GST_CCL_API
void gst_ccl_meta_relabel (GstCclMeta *meta, const guint32 *labels, guint n_rows);

GST_CCL_API
void gst_ccl_meta_set_tracks (GstCclMeta *meta, const GstCclTrackInfo *tracks, guint n_rows);

GST_CCL_API
void gst_buffer_replace_ccl_meta (GstBuffer *buffer, const GstCclMeta *meta);

/**
 * GST_CCL_ROW: (skip)
 * @rows: the rows that gst_ccl_meta_get_rows() returned
 * @row_stride: the stride that it returned
 * @row: which row, less than the number of rows
 *
 * The address of a row.
 *
 * Since: 0.2
 */
#define GST_CCL_ROW(rows, row_stride, row)                                                         \
  ((const GstCclComponent *)(gconstpointer)((const guint8 *)(rows) + (gsize)(row) * (row_stride)))

G_END_DECLS

#endif /* __GST_CCL_META_H__ */
