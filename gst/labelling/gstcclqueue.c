/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclqueue.h"

#include "gstcclattach.h"
#include "shared/gstcclerror.h"
#include "shared/gstcclframe.h"

GST_DEBUG_CATEGORY_STATIC (queue_debug);
#define GST_CAT_DEFAULT queue_debug

typedef struct {
  GstCclStream *stream;
  GstBuffer *buffer; /* not owned */
  GstCclLabelledFrame frame;
  gboolean is_labelled;
} QueuedFrame;

void
gst_ccl_queue_init_log (void)
{
  GST_DEBUG_CATEGORY_INIT (queue_debug, "cclqueue", 0, "frames that ccl and cudaccl label");
}

void
gst_ccl_queue_init (GstCclQueue *queue, GstCclStats *stats)
{
  queue->frames = g_array_new (FALSE, FALSE, sizeof (QueuedFrame));
  queue->stats = stats;
}

void
gst_ccl_queue_clear (GstCclQueue *queue)
{
  g_clear_pointer (&queue->frames, g_array_unref);
}

void
gst_ccl_queue_begin (GstCclQueue *queue, const GstCclSettings *settings)
{
  GstCclSettings *used = &queue->settings;

  *used = *settings;
  used->roi_mask = NULL;
  /* Maps that no metadata would carry are not made. */
  used->attach_labels = used->attach_labels && (used->meta & GST_CCL_META_FLAGS_WITH_LABELS);
  used->attach_mask = used->attach_mask && (used->meta & GST_CCL_META_FLAG_CCL);
  if (!(used->meta & GST_CCL_META_FLAG_CCL)) {
    used->attach_contours = GST_CCL_ATTACH_CONTOURS_NONE;
    used->attach_columns = 0;
  }
  used->attach_sample = used->attach_sample && (used->meta & GST_CCL_META_FLAG_CCL);
  queue->error.status = CUDACCL_OK;
  queue->error_posted = FALSE;
}

/* The first error of a buffer is posted. */
static void
keep_error (GstCclQueue *queue, const CclError *error)
{
  if (queue->error.status == CUDACCL_OK)
    queue->error = *error;
}

/* Attaches the result to a labelled frame and posts its messages. time: how long labelling took. */
static void
attach_and_post (
    GstCclQueue *queue, const GstCclOwner *owner, QueuedFrame *queued, GstClockTime time)
{
  GstCclStream *stream = queued->stream;
  const GstVideoInfo *info = &stream->labeller.info;
  const CclTable *table = &queued->frame.table;
  const guint64 n_pixels = (guint64)GST_VIDEO_INFO_WIDTH (info) * GST_VIDEO_INFO_HEIGHT (info);
  CclError error;

  if (!gst_ccl_frame_labeller_attach (
          &stream->labeller, owner, &queue->settings, queued->buffer, &queued->frame, &error))
    keep_error (queue, &error);
  GST_LOG_OBJECT (
      owner->element, "%u components in %" G_GUINT64_FORMAT " ns", table->n_components, time);
  GST_OBJECT_LOCK (owner->element);
  gst_ccl_stats_add_frame (queue->stats, table->n_components, time);
  GST_OBJECT_UNLOCK (owner->element);
  gst_ccl_hints_check (
      &queue->hints, owner->element, &queue->settings, owner->methods->backend, n_pixels, table);
  gst_ccl_stream_post_messages (stream, queued->buffer, &queue->settings, &queued->frame);
}

void
gst_ccl_queue_finish (GstCclQueue *queue, const GstCclOwner *owner)
{
  const guint n_queued = queue->frames->len;
  GstClockTime start, time;

  if (n_queued == 0)
    return;
  start = g_array_index (queue->frames, QueuedFrame, 0).frame.start;
  for (guint i = 0; i < n_queued; i++) {
    QueuedFrame *queued = &g_array_index (queue->frames, QueuedFrame, i);
    CclError error;

    queued->is_labelled = gst_ccl_frame_labeller_wait (
        &queued->stream->labeller, owner, &queue->settings, &queued->frame, &error);
    if (!queued->is_labelled)
      keep_error (queue, &error);
  }
  time = (gst_util_get_timestamp () - start) / n_queued;
  for (guint i = 0; i < n_queued; i++) {
    QueuedFrame *queued = &g_array_index (queue->frames, QueuedFrame, i);

    if (queued->is_labelled)
      attach_and_post (queue, owner, queued, time);
    gst_ccl_labelled_frame_clear (&queued->frame);
  }
  g_array_set_size (queue->frames, 0);
}

gboolean
gst_ccl_queue_add (
    GstCclQueue *queue, const GstCclOwner *owner, GstCclStream *stream, GstBuffer *buffer)
{
  QueuedFrame queued = {stream, buffer};
  GstCclFrameLabeller *labeller = &stream->labeller;
  GstCclSite *site;
  CclError error;

  /* A gap without content has no pixels to label; a gap with content is a frame. */
  if (gst_ccl_is_empty_gap (buffer)) {
    GST_LOG_OBJECT (owner->element, "an empty gap buffer is passed on");
    return TRUE;
  }
  if (!gst_ccl_frame_labeller_choose_site (labeller, owner, buffer, &site, &error)) {
    keep_error (queue, &error);
    return FALSE;
  }
  if (!gst_ccl_frame_labeller_can_queue (labeller, site))
    gst_ccl_queue_finish (queue, owner);
  gst_ccl_stream_advance (stream, buffer);
  if (gst_ccl_frame_labeller_queue (
          labeller, owner, site, &queue->settings, buffer, &queued.frame, &error)) {
    g_array_append_val (queue->frames, queued);
    return TRUE;
  }
  gst_ccl_labelled_frame_clear (&queued.frame);
  keep_error (queue, &error);
  return FALSE;
}

GstFlowReturn
gst_ccl_queue_end (GstCclQueue *queue, const GstCclOwner *owner)
{
  gst_ccl_queue_finish (queue, owner);
  if (queue->error.status != CUDACCL_OK)
    gst_ccl_error_post (owner->element, &queue->error);
  return queue->error.status == CUDACCL_OK && !queue->error_posted ? GST_FLOW_OK : GST_FLOW_ERROR;
}
