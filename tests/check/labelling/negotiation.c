/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caps and allocation queries of ccl and cudaccl.
 */
#include "blobs.h"
#include "tests/check/shared/elements.h"
#include "tests/check/shared/leaks.h"

static const char *const formats[] = {"GRAY8", "NV12", "NV21", "I420", "YV12", "Y42B", "Y444",
    "NV16", "NV61", "NV24", "Y41B", "YUY2", "UYVY", "YVYU", "VYUY", "GRAY16_LE", "P010_10LE",
    "P012_LE", "P016_LE"};

TEST_OF_DESCRIPTION (test_caps_templates)
{
  GstElement *element = gst_element_factory_make (element_name (), NULL);
  gboolean cuda = g_str_equal (element_name (), "cudaccl");

  for (guint p = 0; p < 2; p++) {
    GstPad *pad = gst_element_get_static_pad (element, p ? "src" : "sink");
    GstCaps *template = gst_pad_get_pad_template_caps (pad);
    GstCaps *rgb = frame_caps ("RGB", 8, 8);

    for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
      GstCaps *caps = frame_caps (formats[i], 1, 1);
      fail_unless (gst_caps_is_subset (caps, template), "%s is missing", formats[i]);
      gst_caps_set_features_simple (caps, gst_caps_features_from_string ("memory:CUDAMemory"));
      fail_unless_equals_int (gst_caps_is_subset (caps, template), cuda);
      gst_caps_unref (caps);
    }
    fail_unless_equals_int (gst_caps_can_intersect (rgb, template), !cuda); /* see formats.c */
    gst_caps_unref (rgb);
    gst_caps_unref (template);
    gst_object_unref (pad);
  }
  gst_object_unref (element);
}
GST_END_TEST

/* Only luma is read; chroma is all 255 here. Of 7 columns, the last sample of subsampled chroma
 * covers fewer pixels than the others. */
TEST (test_every_format)
{
  static const char odd[] = "#.....#\n#.....#\n#.....#\n";
  static const char steps[] = "1.2.3.4\n";
  GstHarness *h = new_harness ();

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    const GstVideoFormatInfo *format =
        gst_video_format_get_info (gst_video_format_from_string (formats[i]));
    GstBuffer *out;
    /* The pixels of the steps are 25, 50, 75 and 100, in each byte. */
    g_object_set (h->element, "threshold", format->bits > 8 ? 50 * 257 : 50, NULL);
    gst_harness_set_src_caps (h, frame_caps (formats[i], 7, 1));
    out = label (h, luma_frame (formats[i], steps));
    assert_count (out, 2);
    gst_buffer_unref (out);
    g_object_set (h->element, "threshold", 0, NULL);
    gst_harness_set_src_caps (h, frame_caps (formats[i], 8, 6));
    out = label (h, luma_frame (formats[i], blobs));
    assert_components (out, BLOBS_8);
    gst_buffer_unref (out);
    gst_harness_set_src_caps (h, frame_caps (formats[i], 7, 3));
    out = label (h, luma_frame (formats[i], odd));
    assert_count (out, 2);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* Pushes a frame with those caps. Events are sticky: only the frame after them shows whether the
 * element accepts them. */
static GstFlowReturn
push_with_caps (GstHarness *h, GstCaps *caps, GstBuffer *frame)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (h->srcpad, gst_event_new_stream_start ("test"));
  gst_pad_push_event (h->srcpad, gst_event_new_caps (caps));
  gst_pad_push_event (h->srcpad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  return gst_pad_push (h->srcpad, frame);
}

/* The error names the element that converts such frames. It comes with the caps, once however often
 * they are sent, and never from a question alone. Elements that pass a question on, such as a
 * queue, refuse the caps themselves: behind them the caps of the pad upstream say that it is no
 * mere question. */
TEST (test_refuses_other_caps)
{
  static const struct {
    const char *format, *features, *part;
  } cases[] = {
      {"RGB16", NULL, "the format RGB16 cannot be labelled: insert videoconvert before"},
      {"GRAY10_LE32", NULL, "videoconvert"},
      {"I420_10BE", NULL, "videoconvert"},
      {"AYUV", NULL, "videoconvert"},
      {"NV12", "memory:GLMemory", "memory:GLMemory cannot be labelled: insert gldownload before"},
      {"NV12", "memory:NVMM", "insert nvvideoconvert before"},
      {"NV12", "memory:Other", "insert an element that copies them to system memory before"},
  };
  static const char *const before[] = {
      NULL, "queue", "tee", "identity", "queue ! identity ! queue"};

  for (guint i = 0; i < G_N_ELEMENTS (cases) * G_N_ELEMENTS (before); i++) {
    const guint k = i % G_N_ELEMENTS (cases), b = i / G_N_ELEMENTS (cases);
    gchar *line = g_strdup_printf ("%s ! %s name=ccl", before[b] ? before[b] : "", element_name ());
    GstHarness *h = before[b] ? gst_harness_new_parse (line) : new_harness ();
    GstElement *element =
        before[b] ? gst_bin_get_by_name (GST_BIN (h->element), "ccl") : gst_object_ref (h->element);
    GstPad *sink = gst_element_get_static_pad (element, "sink");
    GstCaps *caps = frame_caps (cases[k].format, 8, 6);
    GstBus *bus = gst_bus_new ();

    if (cases[k].features)
      gst_caps_set_features_simple (caps, gst_caps_features_from_string (cases[k].features));
    gst_element_set_bus (element, bus);
    fail_if (gst_pad_query_accept_caps (sink, caps));
    fail_unless (gst_bus_peek (bus) == NULL);
    for (guint n = 0; n < 2; n++)
      fail_unless_equals_int (
          push_with_caps (h, gst_caps_ref (caps), gray8_frame (blobs)), GST_FLOW_NOT_NEGOTIATED);
    assert_error (bus, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION, cases[k].part);
    fail_unless (gst_bus_peek (bus) == NULL);
    /* The pad upstream has these caps now. */
    fail_if (gst_pad_query_accept_caps (sink, caps));
    fail_unless (gst_bus_peek (bus) == NULL);

    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_caps_unref (caps);
    gst_object_unref (sink);
    gst_object_unref (element);
    gst_harness_teardown (h);
    g_free (line);
  }
}
GST_END_TEST

/* Asks an element whether it takes the caps of another one's sink pad. */
static void
ask_for_caps_of (GstElement *pipeline, const char *other, const char *asked)
{
  GstElement *elements[] = {gst_bin_get_by_name (GST_BIN (pipeline), other),
      gst_bin_get_by_name (GST_BIN (pipeline), asked)};
  GstPad *from = gst_element_get_static_pad (elements[0], "sink");
  GstPad *to = gst_element_get_static_pad (elements[1], "sink");
  GstCaps *caps = gst_pad_get_current_caps (from);

  gst_pad_query_accept_caps (to, caps);
  gst_caps_unref (caps);
  gst_object_unref (from);
  gst_object_unref (to);
  gst_object_unref (elements[0]);
  gst_object_unref (elements[1]);
}

/* A converter upstream asks before it converts; that is no error either. Nor is a question about
 * its caps. */
TEST (test_converter_before_element)
{
  static const struct {
    const char *format, *properties;
  } cases[] = {
      {"RGB", "threshold=200"}, {"I420_10LE", "foreground=mog2"}, {"GRAY16_LE", "foreground=mog2"}};

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    gchar *line = g_strdup_printf ("videotestsrc num-buffers=2 ! video/x-raw,format=%s ! queue ! "
                                   "videoconvert name=converter ! %s name=ccl %s ! fakesink",
        cases[k].format, element_name (), cases[k].properties);
    GstElement *pipeline = gst_parse_launch (line, NULL);
    GstBus *bus = gst_element_get_bus (pipeline);
    GstMessage *message;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered (
        bus, 30 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "%s", line);
    gst_message_unref (message);
    ask_for_caps_of (pipeline, "converter", "ccl");
    fail_if (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR));
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (bus);
    gst_object_unref (pipeline);
    g_free (line);
  }
}
GST_END_TEST

/* videotestsrc prefers more bits; a format of more than 8 is negotiated only where upstream has no
 * other. */
TEST (test_formats_of_8_bits_come_first)
{
  static const struct {
    const char *between;
    guint bits;
  } cases[] = {{"", 8}, {"videoconvert !", 8}, {"video/x-raw,format={P016_LE,GRAY16_LE} !", 16},
      {"video/x-raw,format={P010_10LE,NV12,I420} !", 8}};

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    gchar *line = g_strdup_printf ("videotestsrc num-buffers=1 ! %s %s name=ccl ! fakesink",
        cases[k].between, element_name ());
    GstElement *pipeline = gst_parse_launch (line, NULL);
    GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "ccl");
    GstPad *pad = gst_element_get_static_pad (element, "sink");
    GstCaps *caps;
    GstVideoInfo info;

    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    fail_unless_equals_int (
        gst_element_get_state (pipeline, NULL, NULL, 30 * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
    caps = gst_pad_get_current_caps (pad);
    fail_unless (gst_video_info_from_caps (&info, caps));
    fail_unless (GST_VIDEO_INFO_COMP_DEPTH (&info, 0) == cases[k].bits, "%s: %s", line,
        GST_VIDEO_INFO_NAME (&info));
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_caps_unref (caps);
    gst_object_unref (pad);
    gst_object_unref (element);
    gst_object_unref (pipeline);
    g_free (line);
  }
}
GST_END_TEST

/* Other sizes mid-stream: labeller and label maps follow. */
TEST (test_renegotiation)
{
  static const char wide[] = "#.#.#.#.#.#.#.#.#\n";
  static const char tall[] = "#\n.\n#\n.\n#\n";
  static const char dot[] = "#\n";
  static const char *const drawings[] = {blobs, wide, dot, tall, blobs};
  static const guint counts[] = {4, 9, 1, 3, 4};
  GstHarness *h = new_harness ();

  g_object_set (h->element, "attach-labels", TRUE, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (drawings); i++) {
    guint width = drawing_width (drawings[i]), height = drawing_height (drawings[i]);

    gst_harness_set_src_caps (h, frame_caps ("GRAY8", width, height));
    for (guint frame = 0; frame < 3; frame++) {
      GstBuffer *out = label (h, gray8_frame (drawings[i]));
      GstCclMeta *meta = gst_buffer_get_ccl_meta (out);
      gsize stride;

      assert_count (out, counts[i]);
      fail_unless_equals_int (gst_ccl_meta_get_frame_width (meta), width);
      fail_unless_equals_int (gst_ccl_meta_get_frame_height (meta), height);
      fail_unless (gst_buffer_get_size (gst_ccl_meta_get_labels (meta, &stride)) >=
                   stride * (height - 1) + 4 * width);
      gst_buffer_unref (out);
    }
  }
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_frames_too_large_are_not_negotiated)
{
  static const guint sizes[][2] = {{65536, 32768}, {G_MAXINT, 2}, {46341, 46341}};

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    GstHarness *h = new_harness ();
    GstBus *bus = gst_bus_new ();

    gst_element_set_bus (h->element, bus);
    fail_unless_equals_int (
        push_with_caps (h, frame_caps ("GRAY8", sizes[i][0], sizes[i][1]), gray8_frame (blobs)),
        GST_FLOW_NOT_NEGOTIATED);
    assert_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "too large");
    gst_element_set_bus (h->element, NULL);
    gst_object_unref (bus);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* An empty gap shows that caps are accepted, without memory for a frame. The stride of wider rows
 * would exceed a gint. */
TEST (test_largest_frame_is_negotiated)
{
  GstHarness *h = new_harness ();
  GstBuffer *gap = gst_buffer_new ();

  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  fail_unless_equals_int (
      push_with_caps (h, frame_caps ("GRAY8", G_MAXINT - 3, 1), gap), GST_FLOW_OK);
  gst_harness_teardown (h);
}
GST_END_TEST

static GstQuery *
query_allocation (GstHarness *h, GstCaps *caps, gboolean *answer)
{
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstPad *sink = gst_element_get_static_pad (h->element, "sink");

  *answer = gst_pad_query (sink, query);
  gst_object_unref (sink);
  return query;
}

/* Frames are passed on as they are, so their layout may be only one that the peer accepts. */
TEST (test_allocation_query_is_that_of_the_peer)
{
  GstCaps *caps = frame_caps ("GRAY8", 8, 6);

  for (guint with_meta = 0; with_meta < 2; with_meta++) {
    GstHarness *h = new_harness ();
    gboolean answer;
    GstQuery *query;

    gst_harness_set_src_caps (h, gst_caps_ref (caps));
    if (with_meta)
      gst_harness_add_propose_allocation_meta (h, GST_VIDEO_META_API_TYPE, NULL);
    query = query_allocation (h, caps, &answer);
    fail_unless (answer);
    fail_unless_equals_int (
        gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL), with_meta);
    gst_query_unref (query);
    gst_harness_teardown (h);
  }
  gst_caps_unref (caps);
}
GST_END_TEST

static GstPadProbeReturn
refuse_query (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  const gboolean is_allocation =
      GST_QUERY_TYPE (GST_PAD_PROBE_INFO_QUERY (info)) == GST_QUERY_ALLOCATION;

  return is_allocation ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

/* cudaccl may still propose memory of its own, in the default layout. */
TEST (test_allocation_query_that_the_peer_refuses)
{
  GstCaps *caps = frame_caps ("GRAY8", 8, 6);
  GstHarness *h = new_harness ();
  gboolean answer;
  GstQuery *query;

  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, refuse_query, NULL, NULL);
  query = query_allocation (h, caps, &answer);
  fail_unless_equals_int (gst_query_get_n_allocation_metas (query), 0);
  fail_unless_equals_int (answer, gst_query_get_n_allocation_pools (query) > 0);
  if (g_str_equal (element_name (), "ccl"))
    fail_if (answer);
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A video sink that supports GstVideoCropMeta must not get it from upstream through the element,
 * which would label pixels outside the crop rectangle. */
TEST (test_crop_metadata_is_not_proposed)
{
  GstHarness *h = new_harness ();
  GstCaps *caps = frame_caps ("GRAY8", 8, 6);
  GstQuery *query;
  gboolean answer;

  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_CROP_META_API_TYPE, NULL);
  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_META_API_TYPE, NULL);
  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  query = query_allocation (h, caps, &answer);
  fail_unless (answer);
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  fail_if (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST

static Suite *
negotiation_suite (void)
{
  Suite *suite = suite_create ("negotiation");
  TCase *tcase = tcase_create (element_name ());

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_caps_templates);
  tcase_add_test (tcase, test_every_format);
  tcase_add_test (tcase, test_refuses_other_caps);
  tcase_add_test (tcase, test_converter_before_element);
  tcase_add_test (tcase, test_formats_of_8_bits_come_first);
  tcase_add_test (tcase, test_renegotiation);
  tcase_add_test (tcase, test_frames_too_large_are_not_negotiated);
  tcase_add_test (tcase, test_largest_frame_is_negotiated);
  tcase_add_test (tcase, test_allocation_query_is_that_of_the_peer);
  tcase_add_test (tcase, test_allocation_query_that_the_peer_refuses);
  tcase_add_test (tcase, test_crop_metadata_is_not_proposed);
  return suite;
}

GST_CHECK_MAIN (negotiation);
