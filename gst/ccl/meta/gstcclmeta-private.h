/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of GstCclMeta share. Not installed. */
#pragma once

#include "gst/ccl/gstcclmeta.h"

struct _GstCclMeta {
  GstMeta meta;

  guint frame_width, frame_height;
  guint n_components;
  guint n_rows;
  GstCclComponent *rows;   /* of g_atomic_rc_box_alloc(); NULL: no rows */
  GstCclTrackInfo *tracks; /* one for each row, allocated like rows; NULL: not tracked */
  guint n_ids;
  guint64 *ids; /* allocated like rows */
  GstCclLabeller *labeller;
  GstBuffer *labels;
  gsize labels_stride;
  GstBuffer *mask;
  gsize mask_stride;
  GstCclContours *contours;        /* NULL: none */
  GstCclColumns *columns;          /* with n_rows rows; NULL: none */
  GstCclRegionState *region_state; /* with n_rows rows; NULL: none */
  GstCclClasses *classes;          /* with n_rows rows; NULL: none */
};

/* New memory for rows, or for their tracks, with one reference, not initialised. NULL for none. */
GstCclComponent *gst_ccl_rows_new (guint n_rows);
GstCclTrackInfo *gst_ccl_tracks_new (guint n_rows);

/* The same, with a copy of these rows. */
GstCclComponent *gst_ccl_rows_copy (const GstCclComponent *components, guint n_rows);

/* Removes the table with its columns, classes and state of regions, and the identities. */
void gst_ccl_meta_unset_table (GstCclMeta *self);

/* Adds a GstCclMeta to a buffer. Takes over the reference to the rows; everything else is unset. */
GstCclMeta *gst_ccl_meta_add (GstBuffer *buffer, guint frame_width, guint frame_height,
    guint n_components, GstCclComponent *rows, guint n_rows);

/* Makes a meta with a new table refer to the identities and labeller of another one. Takes over the
 * reference to the tracks. */
void gst_ccl_meta_share_origin (GstCclMeta *self, const GstCclMeta *other, GstCclTrackInfo *tracks);

/* Makes an unset meta refer to everything that another one refers to. */
void gst_ccl_meta_share (GstCclMeta *self, const GstCclMeta *other);

/* New contours, with the coordinates multiplied. NULL if memory is short. */
GstCclContours *gst_ccl_contours_scale (
    const GstCclContours *self, gdouble factor_x, gdouble factor_y);

/* The memory of the contours: rows, then points. Returns its size in bytes. */
gsize gst_ccl_contours_get_data (const GstCclContours *self, gconstpointer *data, guint *n_points);

gboolean gst_ccl_meta_transform (
    GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data);

#if GST_CHECK_VERSION(1, 24, 0)
gboolean gst_ccl_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version);

GstMeta *gst_ccl_meta_deserialize (
    const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data, gsize size, guint8 version);
#endif

/* Brings regions of interest and analytics metadata of the labeller in line with the rows. */
void gst_ccl_meta_update_others (GstBuffer *buffer, const GstCclMeta *meta);
