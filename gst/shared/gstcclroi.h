/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions of interest (GstVideoRegionOfInterestMeta) of components and tracks. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <gst/video/video.h>

/* The type of our regions of interest and detections: "component". */
GQuark gst_ccl_component_quark (void);

/* The name and the identity of a labeller; "" and 0 for NULL. */
const gchar *gst_ccl_labeller_name_or_none (GstCclLabeller *labeller);
guint64 gst_ccl_labeller_id_or_none (GstCclLabeller *labeller);

/* An identity for a labeller: a random number other than 0. */
guint64 gst_ccl_labeller_new_id (void);

/* Whether a region of interest is one of any labeller here. */
gboolean gst_ccl_roi_is_ours (GstVideoRegionOfInterestMeta *roi);

/* Whether a region of interest is one of the labeller of that identity. */
gboolean gst_ccl_roi_is_of (GstVideoRegionOfInterestMeta *roi, guint64 labeller_id);

/* Adds a region of interest of a labeller, with the label as its id. */
GstVideoRegionOfInterestMeta *gst_ccl_roi_add (GstBuffer *buffer, GstCclLabeller *labeller,
    guint32 label, guint x, guint y, guint width, guint height);

/* Removes the regions of interest of the labeller of that identity. Whether there were any. */
gboolean gst_ccl_roi_remove (GstBuffer *buffer, guint64 labeller_id);

/* Sets the parameter `object_id` to the identity of a track, in place of that of another one. */
void gst_ccl_roi_identify (GstVideoRegionOfInterestMeta *roi, guint64 id);

/* Adds a region of interest for each row of the metadata, with the identity of its track, if it has
 * one. */
void gst_ccl_roi_add_rows (GstBuffer *buffer, const GstCclMeta *meta);
