/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading the frames of a batch: a buffer with a GstAnalyticsBatchMeta (GStreamer 1.28), which
 * holds the buffers and events of several streams. */
#ifndef __GST_CCL_BATCH_H__
#define __GST_CCL_BATCH_H__

#include <gst/gst.h>

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 28, 0)
#define GST_CCL_HAS_BATCHES 1
#define GST_CCL_BATCH_NAME "multistream/x-analytics-batch"
#define GST_CCL_BATCH_CAPS GST_CCL_BATCH_NAME "(" GST_CAPS_FEATURE_META_GST_ANALYTICS_BATCH_META ")"
#define GST_CCL_OR_BATCHES "; " GST_CCL_BATCH_CAPS
#else
#define GST_CCL_HAS_BATCHES 0
#define GST_CCL_OR_BATCHES ""
#endif

G_BEGIN_DECLS

#if GST_CCL_HAS_BATCHES

/* Walks through a stream of a batch. */
typedef struct {
  GstAnalyticsBatchStream *stream;
  GstCaps *caps;             /* of the latest frame; NULL: unknown */
  const GstSegment *segment; /* of the latest frame; NULL: unknown */
  gsize n_objects;           /* read so far */
  guint n_buffers;           /* of the list that is being read, read so far */
} GstCclBatchCursor;

/* Before the first frame. The batch must be writable, and outlive the cursor. */
void gst_ccl_batch_cursor_init (GstCclBatchCursor *cursor, GstAnalyticsBatchStream *stream);

/* The next frame, which the batch owns, made writable; NULL after the last one. */
GstBuffer *gst_ccl_batch_cursor_next (GstCclBatchCursor *cursor);

#endif

G_END_DECLS

#endif /* __GST_CCL_BATCH_H__ */
