/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detections of other elements in a frame: regions of interest and, with GStreamer 1.24 and
 * later, analytics metadata. Those of components and tracks are not among them. */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <cudaccl/labeller.h>

#define GST_CCL_NO_DETECTION G_MAXUINT

/* A detection, which may be in both kinds of metadata. */
typedef struct {
  GQuark name;                       /* of its class; 0: none */
  gdouble confidence;                /* 0…1; NaN: not known */
  GstVideoRegionOfInterestMeta *roi; /* of the frame; NULL: none */
  guint mtd;                         /* id in the frame's analytics metadata; G_MAXUINT: none */
} GstCclDetection;

/* Begin with gst_ccl_detections_init(). Belongs to the streaming thread. */
typedef struct {
  guint max, n;
  guint n_found; /* in the frame; more than n if there are more than max */
  GstCclDetection *items;
  CclComponent *boxes; /* of the items, inside the frame; the labels are 1…n */
} GstCclDetections;

void gst_ccl_detections_init (GstCclDetections *self, guint max);
void gst_ccl_detections_clear (GstCclDetections *self);

/* Finds the detections of a frame of that size. A box is clipped to the frame; detections outside
 * of it are left out. One that is both a region of interest and in the analytics metadata counts
 * once. */
void gst_ccl_detections_read (
    GstCclDetections *self, GstBuffer *frame, guint frame_width, guint frame_height);

/* The detections as a table of components that fill their boxes, valid until the next call. */
CclTable gst_ccl_detections_table (const GstCclDetections *self);
