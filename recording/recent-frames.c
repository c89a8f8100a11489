/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "recent-frames.h"

#define BYTES_PER_BUFFER 1024 /* that GStreamer takes for a buffer beside its data, about */

static gboolean
is_key_frame (GstBuffer *buffer)
{
  return !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
}

static void
frame_free (gpointer data)
{
  EncodedFrame *frame = data;

  gst_buffer_unref (frame->buffer);
  g_free (frame);
}

static void
forget_first (RecentFrames *self)
{
  EncodedFrame *frame = self->frames.head->data;

  if (g_queue_peek_head (&self->key_frames) == self->frames.head)
    g_queue_pop_head (&self->key_frames);
  g_queue_pop_head (&self->frames);
  self->n_bytes -= frame->n_bytes;
  frame_free (frame);
}

/* The key frame after the first frame, or NULL. */
static GList *
next_key_frame (RecentFrames *self)
{
  return g_queue_peek_nth (&self->key_frames, 1);
}

static void
forget_old_frames (RecentFrames *self, GstClockTimeDiff kept)
{
  GstClockTimeDiff newest = ((EncodedFrame *)g_queue_peek_tail (&self->frames))->running_time;
  GList *next;

  while ((next = next_key_frame (self)) &&
         (((EncodedFrame *)next->data)->running_time + kept <= newest ||
             self->n_bytes > RECENT_FRAMES_BYTES))
    while (self->frames.head != next)
      forget_first (self);
}

gboolean
recent_frames_add (
    RecentFrames *self, GstBuffer *buffer, GstClockTimeDiff running_time, GstClockTimeDiff kept)
{
  EncodedFrame *frame;

  if (g_queue_is_empty (&self->frames) && !is_key_frame (buffer))
    return TRUE;
  frame = g_new (EncodedFrame, 1);
  frame->buffer = gst_buffer_ref (buffer);
  frame->running_time = running_time;
  frame->n_bytes = gst_buffer_get_size (buffer) + BYTES_PER_BUFFER;
  g_queue_push_tail (&self->frames, frame);
  if (is_key_frame (buffer))
    g_queue_push_tail (&self->key_frames, self->frames.tail);
  self->n_bytes += frame->n_bytes;
  forget_old_frames (self, kept);
  if (self->n_bytes <= RECENT_FRAMES_BYTES)
    return TRUE;
  recent_frames_clear (self);
  return FALSE;
}

GList *
recent_frames_find (RecentFrames *self, GstClockTimeDiff time)
{
  GList *found = self->frames.head;

  for (GList *l = self->key_frames.head; l; l = l->next) {
    GList *key = l->data;

    if (((EncodedFrame *)key->data)->running_time <= time)
      found = key;
  }
  return found;
}

void
recent_frames_clear (RecentFrames *self)
{
  g_queue_clear (&self->key_frames);
  g_queue_clear_full (&self->frames, frame_free);
  self->n_bytes = 0;
}
