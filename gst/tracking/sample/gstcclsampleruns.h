/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The connected components of a sample of the foreground, as runs: pixels side by side. Most of a
 * sample is background, so runs take far less memory than labels of pixels. */
#pragma once

#include <gst/gst.h>

#include <cudaccl/labeller.h>

#include "shared/gstcclsample.h"

#define GST_CCL_MAX_PARTS 4096
#define GST_CCL_NO_PART G_MAXUINT

/* The pixels begin … end − 1 of a row. */
typedef struct {
  guint y, begin, end;
  guint part; /* index of its component; GST_CCL_NO_PART: one of too many */
} GstCclRun;

/* The bounding box of a component of the sample: pixels of the sample, right and bottom not
 * included. */
typedef struct {
  guint left, top, right, bottom;
} GstCclPart;

/* Begin with zeros. Belongs to the streaming thread. */
typedef struct {
  guint width, height; /* of the sample */
  guint8 *pixels;      /* of a row, 0 or 1, then zeros up to a multiple of 64 */
  guint64 *bits;       /* of a row: words of 64 pixels, the leftmost lowest */
  GstCclRun *runs;     /* in raster order */
  guint n_runs;
  GstCclPart *parts; /* in raster order of their first pixels */
  guint n_parts;
} GstCclSampleRuns;

void gst_ccl_sample_runs_clear (GstCclSampleRuns *self);

/* Makes memory for samples of that size, which then has no runs. Nothing changes if it has the
 * size already. */
void gst_ccl_sample_runs_set_size (GstCclSampleRuns *self, guint width, guint height);

/* Finds the runs and the components of a sample of the size that was set. rows: mapped. */
void gst_ccl_sample_runs_find (
    GstCclSampleRuns *self, const GstCclSample *sample, const guint8 *rows);
