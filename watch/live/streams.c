/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "streams.h"

#include "watch/system/log.h"
#include "watch/system/process-limits.h"
#include "stream-muxer.h"
#include "stream-result.h"
#include "stream-viewer.h"

#define MAX_VIEWERS 64
#define MAX_VIEWERS_OF_CLIENT 32
#define MAX_ON_WAY (8 * 1000 * 1000) /* bytes for the main thread, of a stream */

/* Of a camera that has viewers, until the camera's connection ends. */
typedef struct {
  WatchStreams *all;
  gchar *camera; /* its name */
  gint on_way;   /* atomic: bytes of messages for the main thread */

  GMutex lock;         /* held only for a moment, and while the muxer is made */
  WatchCamera *source; /* whose frames they are; only to be compared. NULL before the first */
  GstCaps *caps;
  WatchStreamMuxer *muxer; /* NULL before the first key frame and after the end */
  gboolean is_over;        /* as the threads know it */
  GstClockTimeDiff zero;   /* running time; GST_CLOCK_STIME_NONE before the head */

  /* Of the muxer's thread. */
  gboolean is_skipping; /* fragments, up to one with a key frame */

  /* Of the main thread. */
  gchar *head_text;
  GBytes *head;
  GPtrArray *viewers; /* WatchStreamViewer; NULL after the end */
} Stream;

struct _WatchStreams {
  WatchObserver observer;
  Watch *watch;
  GMutex lock;         /* held only for a moment */
  GHashTable *streams; /* camera's name → Stream */
  GPtrArray *watched;  /* Stream that have viewers; main thread only, as n_viewers */
  guint n_viewers;
  GHashTable *clients; /* WatchStreamViewer → its client; main thread only */
  gint n_streams;      /* atomic */
  WatchLogLimit limit; /* of messages */
};

typedef enum { HEAD, FRAGMENT, KEY_FRAGMENT, RESULT, END } Kind;

/* For the main thread. */
typedef struct {
  Stream *stream;
  Kind kind;
  gchar *text; /* NULL or a JSON object; at the end the reason */
  GBytes *bytes;
  gint size;
} Message;

static Stream *
stream_new (WatchStreams *all, const gchar *camera)
{
  Stream *stream = g_atomic_rc_box_new0 (Stream);

  stream->all = all;
  stream->camera = g_strdup (camera);
  stream->zero = GST_CLOCK_STIME_NONE;
  stream->viewers = g_ptr_array_new_with_free_func ((GDestroyNotify)watch_stream_viewer_free);
  g_mutex_init (&stream->lock);
  return stream;
}

static void
clear_stream (Stream *stream)
{
  g_free (stream->camera);
  gst_clear_caps (&stream->caps);
  g_mutex_clear (&stream->lock);
  g_free (stream->head_text);
  g_clear_pointer (&stream->head, g_bytes_unref);
}

static void
stream_unref (gpointer stream)
{
  g_atomic_rc_box_release_full (stream, (GDestroyNotify)clear_stream);
}

/* A reference, or NULL. */
static Stream *
find_stream (WatchStreams *self, const gchar *camera)
{
  Stream *stream;

  if (g_atomic_int_get (&self->n_streams) == 0)
    return NULL;
  g_mutex_lock (&self->lock);
  stream = g_hash_table_lookup (self->streams, camera);
  if (stream)
    g_atomic_rc_box_acquire (stream);
  g_mutex_unlock (&self->lock);
  return stream;
}

/* The end: main thread only. */

/* The next viewer of the camera gets another stream. */
static void
forget_stream (Stream *stream)
{
  WatchStreams *self = stream->all;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);

  if (g_hash_table_lookup (self->streams, stream->camera) == stream) {
    g_hash_table_remove (self->streams, stream->camera);
    g_atomic_int_add (&self->n_streams, -1);
  }
}

static void
end_muxer (Stream *stream)
{
  WatchStreamMuxer *muxer;

  g_mutex_lock (&stream->lock);
  stream->is_over = TRUE;
  muxer = g_steal_pointer (&stream->muxer);
  g_mutex_unlock (&stream->lock);
  g_clear_pointer (&muxer, watch_stream_muxer_free);
}

/* The viewers are told; each is gone when its connection has ended. */
static void
end_stream (Stream *stream)
{
  g_atomic_rc_box_acquire (stream);
  end_muxer (stream);
  forget_stream (stream);
  for (guint i = stream->viewers->len; i-- > 0;)
    watch_stream_viewer_end (stream->viewers->pdata[i]);
  stream_unref (stream);
}

static void
on_viewer_closed (gpointer data, WatchStreamViewer *viewer)
{
  Stream *stream = data;

  stream->all->n_viewers--;
  g_hash_table_remove (stream->all->clients, viewer);
  g_ptr_array_remove (stream->viewers, viewer);
  if (stream->viewers->len > 0)
    return;
  end_muxer (stream);
  forget_stream (stream);
  g_clear_pointer (&stream->viewers, g_ptr_array_unref);
  g_ptr_array_remove (stream->all->watched, stream);
}

/* Messages to the main thread. */

static void
message_free (gpointer data)
{
  Message *message = data;

  g_atomic_int_add (&message->stream->on_way, -message->size);
  stream_unref (message->stream);
  g_free (message->text);
  g_clear_pointer (&message->bytes, g_bytes_unref);
  g_free (message);
}

static void
give_to_viewer (const Message *message, WatchStreamViewer *viewer)
{
  Stream *stream = message->stream;

  if (stream->head && !watch_stream_viewer_has_head (viewer))
    watch_stream_viewer_send_head (viewer, stream->head_text, stream->head);
  if (message->kind == FRAGMENT || message->kind == KEY_FRAGMENT)
    watch_stream_viewer_send_fragment (viewer, message->bytes, message->kind == KEY_FRAGMENT);
  else if (message->kind == RESULT)
    watch_stream_viewer_send_result (viewer, message->text);
}

static gboolean
take_message (gpointer data)
{
  Message *message = data;
  Stream *stream = message->stream;

  if (!stream->viewers)
    return G_SOURCE_REMOVE;
  if (message->kind == END) {
    if (message->text)
      watch_log_warning_limited (&stream->all->limit, "camera %s: the stream of its page ended: %s",
          stream->camera, message->text);
    end_stream (stream);
    return G_SOURCE_REMOVE;
  }
  if (message->kind == HEAD) {
    stream->head_text = g_steal_pointer (&message->text);
    stream->head = g_steal_pointer (&message->bytes);
  }
  for (guint i = stream->viewers->len; i-- > 0;)
    give_to_viewer (message, stream->viewers->pdata[i]);
  return G_SOURCE_REMOVE;
}

/* Takes the text and the bytes, which may be NULL. */
static void
send_message (Stream *stream, Kind kind, gchar *text, GBytes *bytes)
{
  Message *message = g_new0 (Message, 1);

  message->stream = g_atomic_rc_box_acquire (stream);
  message->kind = kind;
  message->text = text;
  message->bytes = bytes;
  message->size = (gint)((text ? strlen (text) : 0) + (bytes ? g_bytes_get_size (bytes) : 0));
  g_atomic_int_add (&stream->on_way, message->size);
  g_idle_add_full (G_PRIORITY_DEFAULT, take_message, message, message_free);
}

/* The main thread takes what it gets. */
static gboolean
has_room (Stream *stream)
{
  return g_atomic_int_get (&stream->on_way) <= MAX_ON_WAY;
}

/* The muxer's thread. */

static void
on_head (gpointer data, GBytes *head, const gchar *codec, GstClockTimeDiff zero)
{
  Stream *stream = data;

  g_mutex_lock (&stream->lock);
  stream->zero = zero;
  g_mutex_unlock (&stream->lock);
  send_message (stream, HEAD,
      g_strdup_printf ("{\"type\":\"video/mp4; codecs=\\\"%s\\\"\"}", codec), g_bytes_ref (head));
}

static void
on_fragment (gpointer data, GBytes *fragment, gboolean begins_with_key_frame)
{
  Stream *stream = data;

  stream->is_skipping = !has_room (stream) || (stream->is_skipping && !begins_with_key_frame);
  if (!stream->is_skipping)
    send_message (
        stream, begins_with_key_frame ? KEY_FRAGMENT : FRAGMENT, NULL, g_bytes_ref (fragment));
}

static void
on_failed (gpointer data, const gchar *reason)
{
  send_message (data, END, g_strdup (reason), NULL);
}

/* Cameras' threads. */

/* With the stream's lock. Makes the muxer if this is a key frame. */
static void
begin (Stream *stream, WatchCamera *camera, GstBuffer *buffer, GstCaps *caps,
    GstClockTimeDiff running_time)
{
  const WatchStreamFunctions functions = {on_head, on_fragment, on_failed, stream};
  g_autoptr (GError) error = NULL;

  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT) ||
      !GST_CLOCK_STIME_IS_VALID (running_time))
    return;
  stream->source = camera;
  gst_caps_replace (&stream->caps, caps);
  if (watch_limits_check (&error))
    stream->muxer = watch_stream_muxer_new (caps, buffer, running_time, &functions, &error);
  if (stream->muxer)
    return;
  stream->is_over = TRUE;
  send_message (stream, END, g_strdup (error->message), NULL);
}

static void
on_analysed (gpointer data, WatchCamera *camera, GstBuffer *buffer, GstCaps *caps,
    GstClockTimeDiff running_time)
{
  Stream *stream = find_stream (data, watch_camera_get_name (camera));

  if (!stream)
    return;
  g_mutex_lock (&stream->lock);
  if (!stream->is_over && !stream->muxer)
    begin (stream, camera, buffer, caps, running_time);
  if (!stream->is_over && stream->muxer && stream->source == camera) {
    if (gst_caps_is_equal (stream->caps, caps)) {
      watch_stream_muxer_add (stream->muxer, buffer, running_time);
    } else {
      stream->is_over = TRUE; /* the video has another size, for instance */
      send_message (stream, END, NULL, NULL);
    }
  }
  g_mutex_unlock (&stream->lock);
  stream_unref (stream);
}

static void
on_frame (
    gpointer data, WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTime running_time)
{
  Stream *stream = find_stream (data, watch_camera_get_name (camera));
  GstClockTimeDiff zero;
  gchar *text;

  if (!stream)
    return;
  g_mutex_lock (&stream->lock);
  zero = stream->is_over || stream->source != camera ? GST_CLOCK_STIME_NONE : stream->zero;
  g_mutex_unlock (&stream->lock);
  if (GST_CLOCK_STIME_IS_VALID (zero) && GST_CLOCK_TIME_IS_VALID (running_time) &&
      has_room (stream)) {
    text = watch_stream_result (buffer, GST_CLOCK_DIFF (zero, (GstClockTimeDiff)running_time));
    if (text)
      send_message (stream, RESULT, text, NULL);
  }
  stream_unref (stream);
}

static void
on_stopped (gpointer data, WatchCamera *camera)
{
  Stream *stream = find_stream (data, watch_camera_get_name (camera));

  if (!stream)
    return;
  g_mutex_lock (&stream->lock);
  if (!stream->source || stream->source == camera) {
    stream->is_over = TRUE;
    send_message (stream, END, NULL, NULL);
  }
  g_mutex_unlock (&stream->lock);
  stream_unref (stream);
}

/* The interface. */

static guint
count_of_client (WatchStreams *self, const gchar *client)
{
  GHashTableIter iter;
  gpointer other;
  guint n = 0;

  g_hash_table_iter_init (&iter, self->clients);
  while (g_hash_table_iter_next (&iter, NULL, &other))
    n += g_str_equal (other, client);
  return n;
}

WatchStreamAnswer
watch_streams_ask (WatchStreams *self, const gchar *name, const gchar *client)
{
  g_autoptr (WatchCamera) camera = watch_find_camera (self->watch, name);
  WatchStatus status;

  if (!camera)
    return WATCH_STREAM_NO_CAMERA;
  watch_camera_get_status (camera, &status);
  watch_status_clear (&status);
  if (!status.has_stream)
    return WATCH_STREAM_NOT_H264;
  return self->n_viewers < MAX_VIEWERS && count_of_client (self, client) < MAX_VIEWERS_OF_CLIENT
             ? WATCH_STREAM_POSSIBLE
             : WATCH_STREAM_TOO_MANY;
}

void
watch_streams_add_viewer (WatchStreams *self, const gchar *camera,
    SoupWebsocketConnection *connection, GSocket *socket, const gchar *client)
{
  WatchStreamViewer *viewer;
  Stream *stream;

  g_mutex_lock (&self->lock);
  stream = g_hash_table_lookup (self->streams, camera);
  if (!stream) {
    stream = stream_new (self, camera);
    g_ptr_array_add (self->watched, stream);
    g_hash_table_insert (self->streams, stream->camera, stream);
    g_atomic_int_inc (&self->n_streams);
  }
  g_mutex_unlock (&self->lock);
  viewer = watch_stream_viewer_new (connection, socket, on_viewer_closed, stream);
  g_ptr_array_add (stream->viewers, viewer);
  self->n_viewers++;
  g_hash_table_insert (self->clients, viewer, g_strdup (client));
  if (stream->head)
    watch_stream_viewer_send_head (viewer, stream->head_text, stream->head);
}

static gdouble
count_viewers (gpointer data)
{
  return ((WatchStreams *)data)->n_viewers;
}

WatchStreams *
watch_streams_new (Watch *watch)
{
  WatchStreams *self = g_new0 (WatchStreams, 1);

  self->watch = watch;
  g_mutex_init (&self->lock);
  self->streams = g_hash_table_new (g_str_hash, g_str_equal);
  self->clients = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->watched = g_ptr_array_new_with_free_func (stream_unref);
  self->observer = (WatchObserver){.analysed = on_analysed,
      .frame = on_frame,
      .stopped = on_stopped,
      .queue_length = count_viewers,
      .queue_metric = "ccl_watch_video_viewers",
      .queue_help = "Viewers of the cameras' own video.",
      .data = self};
  watch_add_observer (watch, &self->observer);
  return self;
}

void
watch_streams_free (WatchStreams *self)
{
  for (guint i = self->watched->len; i-- > 0;) {
    Stream *stream = self->watched->pdata[i];

    end_muxer (stream);
    forget_stream (stream);
    g_clear_pointer (&stream->viewers, g_ptr_array_unref);
  }
  g_ptr_array_unref (self->watched);
  g_hash_table_unref (self->streams);
  g_hash_table_unref (self->clients);
  g_mutex_clear (&self->lock);
  g_free (self);
}
