/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "jpeg.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#define ENCODE_TIMEOUT (5 * GST_SECOND)
#define JPEG_QUALITY 85

static gboolean
element_exists (const gchar *name)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);

  return factory != NULL;
}

/* The size of a picture of at most this width with square pixels; both numbers are even. */
static gboolean
picture_size (const GstCaps *caps, gint max_width, gint *width, gint *height)
{
  GstVideoInfo info;
  gint64 w, h;

  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;
  h = info.height;
  w = gst_util_uint64_scale_int (info.width, MAX (info.par_n, 1), MAX (info.par_d, 1));
  if (max_width > 0 && w > max_width) {
    h = h * max_width / w;
    w = max_width;
  }
  *width = MAX (w & ~1, 2);
  *height = MAX (h & ~1, 2);
  return TRUE;
}

/* Boxes are drawn after scaling, so that their lines have the same width in all pictures, and a
 * mask before, because it has the frame's size. */
static const struct {
  const gchar *before, *after;
} drawings[] = {
    [JPEG_PLAIN] = {"", ""},
    [JPEG_BOXES] = {"", "ccloverlay !"},
    [JPEG_FOREGROUND] = {"videoconvert ! video/x-raw,format=BGRx ! ccloverlay draw-boxes=false "
                         "draw-ids=false draw-speeds=false draw-regions=false draw-mask=true "
                         "mask-color=0xb0ff2d95 !",
        ""},
};

static GstElement *
build_encoder (GstCaps *caps, JpegLook look, gint max_width, GError **error)
{
  const JpegLook drawn = element_exists ("ccloverlay") ? look : JPEG_PLAIN;
  gboolean cuda = gst_caps_features_contains (gst_caps_get_features (caps, 0), "memory:CUDAMemory");
  g_autofree gchar *description = NULL;
  gint width, height;

  if (!picture_size (caps, max_width, &width, &height)) {
    g_set_error_literal (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "not a video frame");
    return NULL;
  }
  description = g_strdup_printf (
      "appsrc name=in ! %s %s videoscale ! videoconvert ! "
      "video/x-raw,format=BGRx,width=%d,height=%d,pixel-aspect-ratio=1/1 ! %s videoconvert ! "
      "jpegenc quality=%d ! appsink name=out sync=false",
      cuda ? "cudadownload !" : "", drawings[drawn].before, width, height, drawings[drawn].after,
      JPEG_QUALITY);
  return gst_parse_launch (description, error);
}

/* Sets the error to that of the pipeline. */
static void
take_error (GstElement *pipeline, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  if (message)
    gst_message_parse_error (message, error, NULL);
  else
    g_set_error_literal (
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_ENCODE, "no picture came out of the encoder");
}

static GBytes *
sample_to_bytes (GstSample *sample)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  gpointer data;
  gsize size;

  gst_buffer_extract_dup (buffer, 0, -1, &data, &size);
  return g_bytes_new_take (data, size);
}

GBytes *
jpeg_encode (GstSample *frame, JpegLook look, gint width, GError **error)
{
  GstCaps *caps = gst_sample_get_caps (frame);
  g_autoptr (GstElement) pipeline = build_encoder (caps, look, width, error);
  g_autoptr (GstElement) in = NULL, out = NULL;
  g_autoptr (GstBuffer) buffer = NULL;
  g_autoptr (GstSample) sample = NULL;

  if (!pipeline)
    return NULL;
  in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  out = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  g_object_set (in, "caps", caps, "format", GST_FORMAT_TIME, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  buffer = gst_buffer_copy (gst_sample_get_buffer (frame));
  GST_BUFFER_PTS (buffer) = 0;
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  gst_app_src_push_buffer (GST_APP_SRC (in), g_steal_pointer (&buffer));
  gst_app_src_end_of_stream (GST_APP_SRC (in));
  sample = gst_app_sink_try_pull_sample (GST_APP_SINK (out), ENCODE_TIMEOUT);
  if (!sample)
    take_error (pipeline, error);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return sample ? sample_to_bytes (sample) : NULL;
}
