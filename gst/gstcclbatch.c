/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclbatch.h"

#if GST_CCL_HAS_BATCHES

void
gst_ccl_batch_cursor_init (GstCclBatchCursor *cursor, GstAnalyticsBatchStream *stream)
{
  *cursor = (GstCclBatchCursor){
      .stream = stream,
      .caps = gst_analytics_batch_stream_get_caps (stream),
      .segment = gst_analytics_batch_stream_get_segment (stream),
  };
}

static void
read_event (GstCclBatchCursor *cursor, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    gst_event_parse_caps (event, &cursor->caps);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    gst_event_parse_segment (event, &cursor->segment);
}

/* The next buffer of a list in the batch; NULL after the last one. */
static GstBuffer *
next_of_list (GstCclBatchCursor *cursor, GstMiniObject **object)
{
  GstBufferList *list = gst_buffer_list_make_writable (GST_BUFFER_LIST_CAST (*object));

  *object = GST_MINI_OBJECT_CAST (list);
  if (cursor->n_buffers < gst_buffer_list_length (list))
    return gst_buffer_list_get_writable (list, cursor->n_buffers++);
  cursor->n_buffers = 0;
  return NULL;
}

GstBuffer *
gst_ccl_batch_cursor_next (GstCclBatchCursor *cursor)
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

#endif
