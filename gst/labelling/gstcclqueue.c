/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclqueue.h"

#include "labelling/frame/gstcclattach.h"
#include "shared/gstcclerror.h"
#include "shared/gstcclframe.h"
#include "shared/gstccli18n.h"

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

/* Copies the settings that must be possible together. */
static void
take_combination (GstCclSettings *to, const GstCclSettings *from)
{
  to->foreground = from->foreground;
  to->reduction = from->reduction;
  to->connectivity = from->connectivity;
  to->algorithm = from->algorithm;
  to->max_components = from->max_components;
  to->attach_contours = from->attach_contours;
  to->attach_columns = from->attach_columns;
}

static gboolean
are_same_combination (const GstCclSettings *a, const GstCclSettings *b)
{
  return a->foreground == b->foreground && a->reduction == b->reduction &&
         a->connectivity == b->connectivity && a->algorithm == b->algorithm &&
         a->max_components == b->max_components && a->attach_contours == b->attach_contours &&
         a->attach_columns == b->attach_columns;
}

void
gst_ccl_queue_start (GstCclQueue *queue)
{
  queue->hints = (GstCclHints){FALSE};
  queue->has_former = queue->has_refused = FALSE;
}

void
gst_ccl_queue_begin (GstCclQueue *queue, const GstCclSettings *settings)
{
  GstCclSettings *used = &queue->settings;

  *used = *settings;
  used->roi_mask = used->masks = NULL;
  /* Maps that no metadata would carry are not made. */
  used->attach_labels = used->attach_labels && (used->meta & GST_CCL_META_FLAGS_WITH_LABELS);
  used->attach_mask = used->attach_mask && (used->meta & GST_CCL_META_FLAG_CCL);
  if (!(used->meta & GST_CCL_META_FLAG_CCL)) {
    used->attach_contours = GST_CCL_ATTACH_CONTOURS_NONE;
    used->attach_columns = 0;
  }
  used->attach_sample = used->attach_sample && (used->meta & GST_CCL_META_FLAG_CCL);
  if (queue->has_refused && are_same_combination (used, &queue->refused))
    take_combination (used, &queue->former);
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
  const CclTable *table = &queued->frame.table;
  CclError error;

  if (!gst_ccl_frame_labeller_attach (
          &stream->labeller, owner, &queue->settings, queued->buffer, &queued->frame, &error))
    keep_error (queue, &error);
  GST_LOG_OBJECT (
      owner->element, "%u components in %" G_GUINT64_FORMAT " ns", table->n_components, time);
  GST_OBJECT_LOCK (owner->element);
  gst_ccl_stats_add_frame (queue->stats, table->n_components, time);
  GST_OBJECT_UNLOCK (owner->element);
  gst_ccl_hints_check (&queue->hints, owner->element, &queue->settings, owner->methods->backend,
      &stream->labeller.info, table);
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

/* Goes back to the former combination of settings, so that a change while playing does not end the
 * stream. FALSE if that is no help. */
static gboolean
go_back (GstCclQueue *queue, const GstCclOwner *owner, const CclError *error)
{
  if (error->status != CUDACCL_ERROR_UNSUPPORTED || !queue->has_former ||
      are_same_combination (&queue->settings, &queue->former))
    return FALSE;
  gst_ccl_queue_finish (queue, owner);
  queue->refused = queue->settings;
  queue->has_refused = TRUE;
  take_combination (&queue->settings, &queue->former);
  GST_ELEMENT_WARNING (owner->element, RESOURCE, SETTINGS,
      (_ ("%s; the former settings stay"), error->message), (NULL));
  return TRUE;
}

/* Queues the work on a frame with the present settings, or with the former ones. */
static gboolean
queue_work (GstCclQueue *queue, const GstCclOwner *owner, GstCclSite *site, QueuedFrame *queued,
    CclError *error)
{
  GstCclFrameLabeller *labeller = &queued->stream->labeller;

  if (gst_ccl_frame_labeller_queue (
          labeller, owner, site, &queue->settings, queued->buffer, &queued->frame, error))
    return TRUE;
  gst_ccl_labelled_frame_clear (&queued->frame);
  if (!go_back (queue, owner, error))
    return FALSE;
  if (gst_ccl_frame_labeller_queue (
          labeller, owner, site, &queue->settings, queued->buffer, &queued->frame, error))
    return TRUE;
  gst_ccl_labelled_frame_clear (&queued->frame);
  return FALSE;
}

static gboolean
check_crop (GstBuffer *buffer, const GstVideoInfo *info, CclError *error)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);

  if (!gst_ccl_is_cropped (buffer, info))
    return TRUE;
  gst_ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
      "A frame has a GstVideoCropMeta, %u×%u pixels at %u,%u, that was not asked for and is not "
      "read: cut the area out before this element",
      crop->width, crop->height, crop->x, crop->y);
  return FALSE;
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
  if (!check_crop (buffer, &labeller->info, &error) ||
      !gst_ccl_frame_labeller_choose_site (labeller, owner, buffer, &site, &error)) {
    keep_error (queue, &error);
    return FALSE;
  }
  if (!gst_ccl_frame_labeller_can_queue (labeller, site))
    gst_ccl_queue_finish (queue, owner);
  gst_ccl_stream_advance (stream, buffer);
  if (queue_work (queue, owner, site, &queued, &error)) {
    g_array_append_val (queue->frames, queued);
    return TRUE;
  }
  keep_error (queue, &error);
  return FALSE;
}

GstFlowReturn
gst_ccl_queue_end (GstCclQueue *queue, const GstCclOwner *owner)
{
  gst_ccl_queue_finish (queue, owner);
  if (queue->error.status != CUDACCL_OK)
    gst_ccl_error_post (owner->element, &queue->error);
  else if (!queue->error_posted)
    queue->former = queue->settings;
  queue->has_former |= queue->error.status == CUDACCL_OK && !queue->error_posted;
  return queue->error.status == CUDACCL_OK && !queue->error_posted ? GST_FLOW_OK : GST_FLOW_ERROR;
}
