/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream-muxer.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <string.h>

#define FRAGMENT_MS 100
#define MAX_WAITING (8 * 1000 * 1000)      /* bytes of frames */
#define MAX_FRAGMENT (16u * 1000u * 1000u) /* bytes; MP4 boxes that are longer end the stream */
#define BOX_HEADER 8

struct _WatchStreamMuxer {
  WatchStreamFunctions functions;
  GstElement *pipeline;
  GstElement *input; /* its appsrc; the pipeline holds it */
  GstClockTimeDiff start;
  GstClockTimeDiff first_time; /* running time of the first frame's PTS */
  gboolean is_skipping;        /* frames, up to a key frame */

  /* Of the pipeline's thread. */
  GByteArray *boxes; /* of the head, or of the next fragment */
  gsize missing;     /* bytes of the last box */
  guint8 type[4];    /* of the last box */
  gboolean has_frame, begins_with_key_frame;
  gchar *codec; /* of the head, until the first frame */
  GBytes *head;
};

/* What the muxer makes. */

/* The codec of the head, from the configuration of the decoder in it; NULL without one. */
static gchar *
find_codec (const GByteArray *head)
{
  const guint8 *box = memmem (head->data, head->len, "avcC", 4);

  if (!box || box + 8 > head->data + head->len)
    return NULL;
  return g_strdup_printf ("avc1.%02X%02X%02X", box[5], box[6], box[7]);
}

static void
fail (WatchStreamMuxer *muxer, const gchar *reason)
{
  muxer->functions.failed (muxer->functions.data, reason);
}

static GBytes *
take_boxes (WatchStreamMuxer *muxer)
{
  GBytes *bytes = g_byte_array_free_to_bytes (muxer->boxes);

  muxer->boxes = g_byte_array_new ();
  return bytes;
}

/* The first frame tells which running time the presentation time 0 stands for. */
static void
report_head (WatchStreamMuxer *muxer, GstClockTime pts)
{
  muxer->functions.head (muxer->functions.data, muxer->head, muxer->codec,
      muxer->first_time - (GstClockTimeDiff)(GST_CLOCK_TIME_IS_VALID (pts) ? pts : 0));
  g_clear_pointer (&muxer->head, g_bytes_unref);
  g_clear_pointer (&muxer->codec, g_free);
}

/* The last box is complete. */
static void
end_box (WatchStreamMuxer *muxer)
{
  if (memcmp (muxer->type, "moov", 4) == 0) {
    muxer->codec = find_codec (muxer->boxes);
    muxer->head = take_boxes (muxer);
    if (!muxer->codec)
      fail (muxer, "the head has no configuration of a decoder");
  } else if (memcmp (muxer->type, "mdat", 4) == 0) {
    g_autoptr (GBytes) fragment = take_boxes (muxer);

    if (muxer->has_frame)
      muxer->functions.fragment (muxer->functions.data, fragment, muxer->begins_with_key_frame);
    muxer->has_frame = FALSE;
  }
}

/* A buffer of the muxer is the begin of a box, a whole box, or a frame in one. FALSE if that is not
 * so. */
static gboolean
take_buffer (WatchStreamMuxer *muxer, GstBuffer *buffer, const GstMapInfo *map)
{
  if (muxer->missing == 0 && map->size >= BOX_HEADER) {
    muxer->missing = GST_READ_UINT32_BE (map->data);
    memcpy (muxer->type, map->data + 4, sizeof muxer->type);
    if (muxer->missing < BOX_HEADER || muxer->missing + muxer->boxes->len > MAX_FRAGMENT)
      return FALSE;
  } else if (!muxer->has_frame) {
    muxer->has_frame = TRUE;
    muxer->begins_with_key_frame = !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    if (muxer->head && muxer->codec)
      report_head (muxer, GST_BUFFER_PTS (buffer));
  }
  if (map->size > muxer->missing)
    return FALSE;
  muxer->missing -= map->size;
  g_byte_array_append (muxer->boxes, map->data, map->size);
  if (muxer->missing == 0)
    end_box (muxer);
  return TRUE;
}

static GstFlowReturn
on_sample (GstAppSink *sink, gpointer data)
{
  g_autoptr (GstSample) sample = gst_app_sink_pull_sample (sink);
  GstBuffer *buffer = sample ? gst_sample_get_buffer (sample) : NULL;
  GstFlowReturn result = GST_FLOW_OK;
  GstMapInfo map;

  if (buffer && gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    if (!take_buffer (data, buffer, &map)) {
      fail (data, "the muxer made no MP4 as it is streamed");
      result = GST_FLOW_EOS;
    }
    gst_buffer_unmap (buffer, &map);
  }
  return result;
}

static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  g_autoptr (GError) error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    fail (data, error->message);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* The interface. */

static GstElement *
build_pipeline (gboolean has_dts, GError **error)
{
  g_autofree gchar *description = g_strdup_printf (
      "appsrc name=in format=time block=false max-bytes=0 ! h264parse ! %s "
      "video/x-h264,stream-format=avc,alignment=au ! mp4mux fragment-duration=%d streamable=true ! "
      "appsink name=out async=false sync=false enable-last-sample=false",
      has_dts ? "" : "h264timestamper !", FRAGMENT_MS);
  GstElement *pipeline =
      gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);

  return pipeline ? gst_object_ref_sink (pipeline) : NULL;
}

WatchStreamMuxer *
watch_stream_muxer_new (GstCaps *caps, GstBuffer *key_frame, GstClockTimeDiff time,
    const WatchStreamFunctions *functions, GError **error)
{
  const gboolean has_dts = GST_BUFFER_DTS_IS_VALID (key_frame);
  GstElement *pipeline = build_pipeline (has_dts, error);
  GstAppSinkCallbacks callbacks = {.new_sample = on_sample};
  g_autoptr (GstElement) output = NULL;
  g_autoptr (GstBus) bus = NULL;
  WatchStreamMuxer *muxer;

  if (!pipeline)
    return NULL;
  muxer = g_new0 (WatchStreamMuxer, 1);
  muxer->functions = *functions;
  muxer->pipeline = pipeline;
  muxer->start = muxer->first_time = time;
  if (has_dts && GST_BUFFER_PTS_IS_VALID (key_frame))
    muxer->first_time += GST_CLOCK_DIFF (GST_BUFFER_DTS (key_frame), GST_BUFFER_PTS (key_frame));
  muxer->boxes = g_byte_array_new ();
  muxer->input = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  gst_object_unref (muxer->input);
  gst_app_src_set_caps (GST_APP_SRC (muxer->input), caps);
  output = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  gst_app_sink_set_callbacks (GST_APP_SINK (output), &callbacks, muxer, NULL);
  bus = gst_element_get_bus (pipeline);
  gst_bus_set_sync_handler (bus, on_message, muxer, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  return muxer;
}

/* The times of a frame since the start, which are not negative. */
static void
set_times (GstBuffer *frame, GstClockTime time)
{
  const GstClockTime pts = GST_BUFFER_PTS (frame), dts = GST_BUFFER_DTS (frame);

  if (GST_CLOCK_TIME_IS_VALID (dts)) {
    GST_BUFFER_DTS (frame) = time;
    if (GST_CLOCK_TIME_IS_VALID (pts))
      GST_BUFFER_PTS (frame) = time + (pts - MIN (dts, pts));
  } else {
    GST_BUFFER_PTS (frame) = time;
  }
}

void
watch_stream_muxer_add (WatchStreamMuxer *muxer, GstBuffer *frame, GstClockTimeDiff time)
{
  const gboolean is_full =
      gst_app_src_get_current_level_bytes (GST_APP_SRC (muxer->input)) > MAX_WAITING;

  if (is_full || !GST_CLOCK_STIME_IS_VALID (time))
    muxer->is_skipping = TRUE;
  else if (!GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_DELTA_UNIT))
    muxer->is_skipping = FALSE;
  if (muxer->is_skipping)
    return;
  frame = gst_buffer_copy (frame);
  set_times (frame, MAX (0, time - muxer->start));
  gst_app_src_push_buffer (GST_APP_SRC (muxer->input), frame);
}

void
watch_stream_muxer_free (WatchStreamMuxer *muxer)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (muxer->pipeline);

  gst_element_set_state (muxer->pipeline, GST_STATE_NULL);
  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  gst_object_unref (muxer->pipeline);
  g_byte_array_unref (muxer->boxes);
  g_clear_pointer (&muxer->head, g_bytes_unref);
  g_free (muxer->codec);
  g_free (muxer);
}
