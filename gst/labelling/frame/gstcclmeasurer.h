/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The columns of a frame's components: shapes, luma and mean colour. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <cudaccl/labeller.h>

#include "gstcclbackend.h"
#include "labelling/pixels/gstcclplanes.h"
#include "gstcclproperties.h"

/* Memory for measurements, reused from frame to frame. All zeros: none. */
typedef struct {
  GByteArray *luma; /* a plane of luma alone, of packed formats */
  GArray *features; /* CclFeatures: of the luma of packed formats */
  GArray *sums;     /* guint64: of u and v of each row */
  GArray *values;   /* gdouble: the columns */
} GstCclMeasurer;

void gst_ccl_measurer_release (GstCclMeasurer *self);

/* FALSE, with the error filled, if frames are too large for the columns that the settings name. */
gboolean gst_ccl_measurer_check (
    const GstCclSettings *settings, const GstVideoInfo *info, CclError *error);

/* The columns that a labeller of frames measures for the settings: flags of CclColumn, with
 * CUDACCL_COLUMN_INTENSITY for the luma of formats that have it in a plane of its own. */
guint32 gst_ccl_measurer_plan (const GstCclSettings *settings, const GstVideoInfo *info);

/* Whether columns are measured behind the labeller, on the CPU, from the label map and the frame in
 * system memory: chroma, and the luma of packed formats. */
gboolean gst_ccl_measurer_needs_labels (const GstCclSettings *settings, const GstVideoInfo *info);

/* Makes the columns of a labelled frame. layout: where the planes are in the frame's memory, which
 * is mapped for reading, like the label map, where gst_ccl_measurer_needs_labels(). NULL after an
 * error. */
GstCclColumns *gst_ccl_measurer_run (GstCclMeasurer *self, const GstVideoInfo *info,
    const GstCclSettings *settings, GstBuffer *buffer, const GstCclPlanes *layout,
    const CclTable *table, const GstCclMap *labels, CclError *error);
