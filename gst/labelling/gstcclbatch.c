/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclbatch.h"
#include "shared/gstccli18n.h"

static void
stream_free (gpointer data)
{
  gst_ccl_stream_clear (data);
  g_free (data);
}

#if GST_CCL_HAS_BATCHES

/* Walks through a stream of a batch. */
typedef struct {
  GstAnalyticsBatchStream *stream;
  GstCaps *caps;             /* of the latest frame; NULL: unknown */
  const GstSegment *segment; /* of the latest frame; NULL: unknown */
  gsize n_objects;           /* read so far */
  gboolean is_new;           /* another stream began since the latest frame */
  guint n_buffers;           /* of the list that is being read, read so far */
} Cursor;

/* Before the first frame. The batch must be writable, and outlive the cursor. */
static void
cursor_init (Cursor *cursor, GstAnalyticsBatchStream *stream)
{
  *cursor = (Cursor){
      .stream = stream,
      .caps = gst_analytics_batch_stream_get_caps (stream),
      .segment = gst_analytics_batch_stream_get_segment (stream),
  };
}

static void
read_event (Cursor *cursor, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    gst_event_parse_caps (event, &cursor->caps);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    gst_event_parse_segment (event, &cursor->segment);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    cursor->is_new = TRUE;
}

/* The next buffer of a list in the batch; NULL after the last one. */
static GstBuffer *
next_of_list (Cursor *cursor, GstMiniObject **object)
{
  GstBufferList *list = gst_buffer_list_make_writable (GST_BUFFER_LIST_CAST (*object));

  *object = GST_MINI_OBJECT_CAST (list);
  if (cursor->n_buffers < gst_buffer_list_length (list))
    return gst_buffer_list_get_writable (list, cursor->n_buffers++);
  cursor->n_buffers = 0;
  return NULL;
}

/* The next frame, which the batch owns, made writable; NULL after the last one. */
static GstBuffer *
cursor_next (Cursor *cursor)
{
  for (; cursor->n_objects < cursor->stream->n_objects; cursor->n_objects++) {
    GstMiniObject **object = &cursor->stream->objects[cursor->n_objects];

    if (GST_IS_EVENT (*object)) {
      read_event (cursor, GST_EVENT_CAST (*object));
    } else if (GST_IS_BUFFER_LIST (*object)) {
      GstBuffer *buffer = next_of_list (cursor, object);
      if (buffer)
        return buffer;
    } else if (GST_IS_BUFFER (*object)) {
      GstBuffer *buffer = gst_buffer_make_writable (GST_BUFFER_CAST (*object));
      *object = GST_MINI_OBJECT_CAST (buffer);
      cursor->n_objects++;
      return buffer;
    }
  }
  return NULL;
}

static GstCclStream *
get_stream (GstCclBatches *batches, const GstCclOwner *owner, guint number)
{
  GstCclStream *stream = g_hash_table_lookup (batches->streams, GUINT_TO_POINTER (number));

  if (!stream) {
    stream = g_new0 (GstCclStream, 1);
    gst_ccl_stream_init (stream, owner, (gint)number);
    stream->labeller.foreground.roi_mask = batches->roi_mask;
    g_hash_table_insert (batches->streams, GUINT_TO_POINTER (number), stream);
  }
  return stream;
}

/* Whether the element labels frames of these caps: raw video. Other streams are passed on. */
static gboolean
is_video (const GstCaps *caps)
{
  return caps && gst_caps_get_size (caps) > 0 &&
         gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw");
}

/* Sets the caps of a stream in batches. Returns FALSE after it has posted an error. */
static gboolean
set_caps (GstCclQueue *queue, const GstCclOwner *owner, GstCclStream *stream, GstCaps *caps)
{
  g_autoptr (GstCaps) taken =
      gst_pad_get_pad_template_caps (GST_BASE_TRANSFORM_SINK_PAD (owner->element));

  if (stream->caps && (stream->caps == caps || gst_caps_is_equal (stream->caps, caps)))
    return TRUE;
  if (!gst_caps_can_intersect (caps, taken)) {
    GST_ELEMENT_ERROR (owner->element, CORE, NEGOTIATION,
        (_ ("Stream %d of the batch has frames that cannot be labelled"), stream->number),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  gst_ccl_queue_finish (queue, owner);
  if (!gst_ccl_stream_set_caps (stream, caps))
    return FALSE;
  gst_caps_replace (&stream->caps, caps);
  return TRUE;
}

/* Queues the next frame of a stream of a batch, and sets *found if there is one. */
static gboolean
queue_next (GstCclBatches *batches, const GstCclOwner *owner, GstCclQueue *queue, Cursor *cursor,
    gboolean *found)
{
  GstBuffer *frame = cursor_next (cursor);
  GstCclStream *stream;

  if (!frame)
    return TRUE;
  *found = TRUE;
  if (!is_video (cursor->caps))
    return TRUE;
  stream = get_stream (batches, owner, cursor->stream->index);
  if (cursor->is_new) {
    gst_ccl_queue_finish (queue, owner);
    gst_ccl_stream_restart (stream);
    cursor->is_new = FALSE;
  }
  if (!set_caps (queue, owner, stream, cursor->caps)) {
    queue->error_posted = TRUE;
    return FALSE;
  }
  if (cursor->segment)
    stream->segment = *cursor->segment;
  return gst_ccl_queue_add (queue, owner, stream, frame);
}

void
gst_ccl_batches_queue (
    GstCclBatches *batches, const GstCclOwner *owner, GstCclQueue *queue, GstBuffer *batch)
{
  GstAnalyticsBatchMeta *meta = gst_buffer_get_analytics_batch_meta (batch);
  GArray *cursors = batches->cursors;
  gboolean is_ok = TRUE, found = meta != NULL;

  g_array_set_size (cursors, meta ? (guint)meta->n_streams : 0);
  for (guint i = 0; i < cursors->len; i++)
    cursor_init (&g_array_index (cursors, Cursor, i), &meta->streams[i]);
  while (is_ok && found) {
    found = FALSE;
    for (guint i = 0; i < cursors->len && is_ok; i++)
      is_ok = queue_next (batches, owner, queue, &g_array_index (cursors, Cursor, i), &found);
  }
}

#endif

void
gst_ccl_batches_init (GstCclBatches *batches)
{
  batches->streams = g_hash_table_new_full (NULL, NULL, NULL, stream_free);
#if GST_CCL_HAS_BATCHES
  batches->cursors = g_array_new (FALSE, FALSE, sizeof (Cursor));
#endif
}

void
gst_ccl_batches_clear (GstCclBatches *batches)
{
  g_clear_pointer (&batches->streams, g_hash_table_unref);
#if GST_CCL_HAS_BATCHES
  g_clear_pointer (&batches->cursors, g_array_unref);
#endif
}

gboolean
gst_ccl_batches_are_caps (const GstCaps *caps)
{
#if GST_CCL_HAS_BATCHES
  return gst_structure_has_name (gst_caps_get_structure (caps, 0), GST_CCL_BATCH_NAME);
#else
  return FALSE;
#endif
}
