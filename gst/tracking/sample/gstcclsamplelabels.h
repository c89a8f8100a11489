/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes a label map from a sample of the foreground: that of the frame, at the sample's pixels. */
#pragma once

#include <gst/gst.h>

#include <cudaccl/labeller.h>

#include "gstcclsampleruns.h"
#include "shared/gstcclsample.h"

/* Begin with zeros. Belongs to the streaming thread. */
typedef struct {
  GstCclSampleRuns runs;
  guint32 *labels;   /* of each pixel; 0 outside the runs */
  guint32 *label_of; /* [GST_CCL_MAX_PARTS] label in the table of a component of the sample */
} GstCclSampleLabels;

void gst_ccl_sample_labels_clear (GstCclSampleLabels *self);

/* Labels the sample. A component of it gets the label of the row whose box fits best, and becomes
 * background where none fits. table: of the frame, in the order of labels. labels: filled; valid
 * until the next call. Returns FALSE, with the error filled, if the sample cannot be read. */
gboolean gst_ccl_sample_labels_make (GstCclSampleLabels *self, const GstCclSample *sample,
    const CclTable *table, CclLabels *labels, CclError *error);
