/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The streams of batches. A batch is a buffer with a GstAnalyticsBatchMeta (GStreamer 1.28), which
 * holds the buffers and events of several streams. */
#pragma once

#include <gst/gst.h>

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#include "gstcclqueue.h"
#include "gstcclstream.h"

#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 28, 0)
#define GST_CCL_HAS_BATCHES 1
#define GST_CCL_BATCH_NAME "multistream/x-analytics-batch"
#define GST_CCL_BATCH_CAPS GST_CCL_BATCH_NAME "(" GST_CAPS_FEATURE_META_GST_ANALYTICS_BATCH_META ")"
#define GST_CCL_OR_BATCHES "; " GST_CCL_BATCH_CAPS
#else
#define GST_CCL_HAS_BATCHES 0
#define GST_CCL_OR_BATCHES ""
#endif

/* Belongs to the streaming thread. */
typedef struct {
  GHashTable *streams;     /* GstCclStream by number */
  GstCclRoiMask *roi_mask; /* of the element, which keeps it: for all streams; NULL: none */
#if GST_CCL_HAS_BATCHES
  GArray *cursors; /* of the batch that is being queued */
#endif
} GstCclBatches;

void gst_ccl_batches_init (GstCclBatches *batches);

/* No frame may be queued. */
void gst_ccl_batches_clear (GstCclBatches *batches);

/* Whether buffers of these caps are batches. */
gboolean gst_ccl_batches_are_caps (const GstCaps *caps);

#if GST_CCL_HAS_BATCHES

/* Queues the frames of a batch: the first frames of all streams, then the second ones… After an
 * error, which the queue keeps or which was posted, it stops. The batch must be writable. */
void gst_ccl_batches_queue (
    GstCclBatches *batches, const GstCclOwner *owner, GstCclQueue *queue, GstBuffer *batch);

#endif
