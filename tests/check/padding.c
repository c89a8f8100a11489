/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoders that pad their frames where the peer downstream accepts GstVideoMeta, through an element
 * that works in place: each sink must get the frames that it gets through `identity`. The
 * environment variable CCL_ELEMENT names the element. The test does not check for leaks, because
 * the decoders' plugin has some.
 */
#include "tests/check/shared/elements.h"

#include <glib/gstdio.h>
#include <unistd.h>

#define VTEST "/usr/share/doc/opencv-doc/examples/data/vtest.avi"

/* The elements of a stream and those that they need; the test is skipped if one is missing. */
static const struct {
  const char *source, *decoder;
} streams[] = {
    {"filesrc location=" VTEST " ! avidemux", "avdec_msmpeg4"},
    {"videotestsrc num-buffers=4 ! video/x-raw,width=161,height=121 ! avenc_mpeg4", "avdec_mpeg4"},
    {"videotestsrc num-buffers=4 ! video/x-raw,width=323,height=243 ! avenc_mjpeg", "avdec_mjpeg"},
    {"videotestsrc num-buffers=4 ! video/x-raw,width=176,height=144 ! avenc_h263", "avdec_h263"},
    {"videotestsrc num-buffers=4 ! video/x-raw,format=Y42B,width=99,height=67 ! avenc_ffv1",
        "avdec_ffv1"},
};

static const char *const sinks[] = {"filesink", "fdsink", "appsink"};

/* Runs a pipeline to its end. Fills in the format of the frames that the sink got. */
static void
run (GstElement *pipeline, GstElement *sink, GstVideoInfo *info)
{
  GstPad *pad = gst_element_get_static_pad (sink, "sink");
  GstCaps *caps;
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  caps = gst_pad_get_current_caps (pad);
  fail_unless (gst_video_info_from_caps (info, caps));
  gst_caps_unref (caps);
  gst_object_unref (pad);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
}

static GstFlowReturn
append_sample (GstElement *sink, GByteArray *bytes)
{
  GstSample *sample = NULL;
  GstMapInfo map;

  g_signal_emit_by_name (sink, "pull-sample", &sample);
  fail_unless (gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ));
  g_byte_array_append (bytes, map.data, (guint)map.size);
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  gst_sample_unref (sample);
  return GST_FLOW_OK;
}

/* The bytes that the sink gets through an element. */
static GByteArray *
get_bytes (guint stream, const char *element, const char *sink_name, GstVideoInfo *info)
{
  gchar *line = g_strdup_printf ("%s ! identity eos-after=4 ! %s ! %s ! %s name=sink sync=false",
      streams[stream].source, streams[stream].decoder, element, sink_name);
  GByteArray *bytes = g_byte_array_new ();
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error), *sink;
  gchar *path = NULL, *content;
  gsize size;
  gint file = g_file_open_tmp ("frames-XXXXXX", &path, NULL);

  fail_unless (error == NULL, "%s: %s", line, error ? error->message : "");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  if (g_str_equal (sink_name, "filesink")) {
    g_object_set (sink, "location", path, NULL);
  } else if (g_str_equal (sink_name, "fdsink")) {
    g_object_set (sink, "fd", file, NULL);
  } else {
    g_object_set (sink, "emit-signals", TRUE, NULL);
    g_signal_connect (sink, "new-sample", G_CALLBACK (append_sample), bytes);
  }
  run (pipeline, sink, info);
  gst_object_unref (sink);
  gst_object_unref (pipeline);

  fail_unless (g_file_get_contents (path, &content, &size, NULL));
  g_byte_array_append (bytes, (const guint8 *)content, (guint)size);
  g_free (content);
  close (file);
  g_unlink (path);
  g_free (path);
  g_free (line);
  return bytes;
}

/* Compares all pixels of frames in the default layout; bytes between the rows are undefined. */
static gboolean
pixels_are_equal (const GByteArray *a, const GByteArray *b, const GstVideoInfo *info)
{
  for (gsize frame = 0; frame < a->len; frame += info->size) {
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
      for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, c); y++) {
        const gsize row = frame + GST_VIDEO_INFO_COMP_OFFSET (info, c) +
                          (gsize)y * (gsize)GST_VIDEO_INFO_COMP_STRIDE (info, c);
        if (memcmp (a->data + row, b->data + row, (gsize)GST_VIDEO_INFO_COMP_WIDTH (info, c)) != 0)
          return FALSE;
      }
    }
  }
  return TRUE;
}

static gboolean
can_decode (guint stream)
{
  gchar *line = g_strdup_printf ("%s ! %s", streams[stream].source, streams[stream].decoder);
  GstElement *bin = gst_parse_launch_full (line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, NULL);
  const gboolean can = bin && (stream > 0 || g_file_test (VTEST, G_FILE_TEST_EXISTS));

  if (!can)
    skip ("test_frames_are_passed_on", streams[stream].decoder);
  gst_clear_object (&bin);
  g_free (line);
  return can;
}

TEST (test_frames_are_passed_on)
{
  const guint stream = (guint)__i__ / G_N_ELEMENTS (sinks);
  const char *sink = sinks[(guint)__i__ % G_N_ELEMENTS (sinks)];

  if (can_decode (stream)) {
    GstVideoInfo expected_info, info;
    GByteArray *expected = get_bytes (stream, "identity", sink, &expected_info);
    GByteArray *found = get_bytes (stream, element_name (), sink, &info);

    fail_unless (gst_video_info_is_equal (&info, &expected_info));
    fail_unless (expected->len > 0 && expected->len % info.size == 0);
    fail_unless (found->len == expected->len, "%s, %s: %u bytes instead of %u",
        streams[stream].decoder, sink, found->len, expected->len);
    fail_unless (pixels_are_equal (found, expected, &info), "%s, %s: other pixels",
        streams[stream].decoder, sink);
    g_byte_array_unref (expected);
    g_byte_array_unref (found);
  }
}
GST_END_TEST

static Suite *
padding_suite (void)
{
  Suite *suite = suite_create ("padding");
  TCase *tcase = tcase_create (element_name ());

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (
      tcase, test_frames_are_passed_on, 0, (int)(G_N_ELEMENTS (streams) * G_N_ELEMENTS (sinks)));
  return suite;
}

GST_CHECK_MAIN (padding);
