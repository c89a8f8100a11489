/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams through ccl and cudaccl: states, events, gaps, statistics, several branches and threads.
 */
#include "blobs.h"
#include "tests/check/shared/elements.h"
#include "tests/check/shared/leaks.h"

TEST (test_state_cycles)
{
  GstElement *element = gst_element_factory_make (element_name (), NULL);

  for (guint round = 0; round < 3; round++) {
    GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
    GstStructure *stats;
    guint64 frames;
    GstBuffer *out;

    gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
    out = label (h, gray8_frame (blobs));
    assert_components (out, BLOBS_8);
    gst_buffer_unref (out);
    g_object_get (element, "stats", &stats, NULL);
    fail_unless (gst_structure_get_uint64 (stats, "frames", &frames));
    fail_unless_equals_uint64 (frames, 1);
    gst_structure_free (stats);
    /* Sets the element to NULL. */
    gst_harness_teardown (h);
  }
  gst_object_unref (element);
}
GST_END_TEST

TEST (test_states_without_data)
{
  GstElement *element = gst_element_factory_make (element_name (), NULL);
  static const GstState states[] = {GST_STATE_READY, GST_STATE_NULL, GST_STATE_PAUSED,
      GST_STATE_READY, GST_STATE_PLAYING, GST_STATE_NULL, GST_STATE_PLAYING, GST_STATE_NULL};

  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    fail_unless_equals_int (gst_element_set_state (element, states[i]), GST_STATE_CHANGE_SUCCESS);
  gst_object_unref (element);
}
GST_END_TEST

TEST (test_eos)
{
  GstHarness *h = new_gray8_harness (blobs);

  gst_buffer_unref (label (h, gray8_frame (blobs)));
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  for (;;) {
    GstEvent *event = gst_harness_pull_event (h);
    gboolean eos;

    fail_unless (event != NULL);
    eos = GST_EVENT_TYPE (event) == GST_EVENT_EOS;
    gst_event_unref (event);
    if (eos)
      break;
  }
  fail_unless_equals_int (gst_harness_push (h, gray8_frame (blobs)), GST_FLOW_EOS);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_flush)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstSegment segment;
  GstBuffer *out;

  gst_buffer_unref (label (h, gray8_frame (blobs)));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless_equals_int (gst_harness_push (h, gray8_frame (blobs)), GST_FLOW_FLUSHING);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  out = label (h, gray8_frame (blobs));
  assert_components (out, BLOBS_8);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_empty_gap_buffer_passes)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *gap = gst_buffer_new (), *out;

  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  out = label (h, gap);
  fail_unless (gst_buffer_get_ccl_meta (out) == NULL);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_gap_with_pixels_is_labelled)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *gap = gray8_frame (blobs), *out;

  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  out = label (h, gap);
  assert_components (out, BLOBS_8);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

static GstStructure *
get_stats (GstHarness *h)
{
  GstStructure *stats;

  g_object_get (h->element, "stats", &stats, NULL);
  return stats;
}

static guint64
get_count (const GstStructure *stats, const char *field)
{
  guint64 value;

  fail_unless (gst_structure_get_uint64 (stats, field, &value), "no %s", field);
  return value;
}

TEST (test_stats)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstStructure *stats = get_stats (h);

  fail_unless_equals_uint64 (get_count (stats, "frames"), 0);
  fail_unless_equals_uint64 (get_count (stats, "label-time-mean"), 0);
  fail_unless_equals_uint64 (get_count (stats, "label-time-p99"), 0);
  gst_structure_free (stats);

  for (guint i = 0; i < 20; i++)
    gst_buffer_unref (label (h, gray8_frame (blobs)));
  stats = get_stats (h);
  fail_unless_equals_uint64 (get_count (stats, "frames"), 20);
  fail_unless_equals_uint64 (get_count (stats, "components"), 80);
  fail_unless_equals_uint64 (get_count (stats, "dropped"), 0);
  fail_unless (get_count (stats, "label-time-mean") > 0);
  fail_unless (get_count (stats, "label-time-mean") < 10 * GST_SECOND);
  /* With twenty frames it is the slowest one. */
  fail_unless (get_count (stats, "label-time-p99") >= get_count (stats, "label-time-mean"));
  gst_structure_free (stats);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Frames are labelled while they are pushed, so the element adds no latency: none waits for a later
 * one. */
TEST (test_latency_is_that_of_upstream)
{
  GstHarness *h = new_gray8_harness (blobs);

  gst_harness_set_upstream_latency (h, 40 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 40 * GST_MSECOND);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *out;

    fail_unless_equals_int (gst_harness_push (h, gray8_frame (blobs)), GST_FLOW_OK);
    out = gst_harness_try_pull (h);
    fail_unless (out != NULL);
    assert_components (out, BLOBS_8);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* Checks that the next QoS message counts that many frames. */
static void
assert_qos_message (GstBus *bus, guint64 n_processed, guint64 n_dropped)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_QOS);
  guint64 processed, dropped;
  GstFormat format;

  fail_unless (message != NULL);
  gst_message_parse_qos_stats (message, &format, &processed, &dropped);
  fail_unless_equals_int (format, GST_FORMAT_BUFFERS);
  fail_unless_equals_uint64 (processed, n_processed);
  fail_unless_equals_uint64 (dropped, n_dropped);
  gst_message_unref (message);
}

TEST (test_late_frames_are_dropped_and_counted)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *frame;
  GstStructure *stats;
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_buffer_unref (label (h, gray8_frame (blobs)));
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND, GST_SECOND));

  frame = gray8_frame (blobs);
  GST_BUFFER_PTS (frame) = GST_SECOND;
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  fail_unless (gst_harness_try_pull (h) == NULL);
  assert_qos_message (bus, 1, 1);

  frame = gray8_frame (blobs);
  GST_BUFFER_PTS (frame) = 10 * GST_SECOND;
  gst_buffer_unref (label (h, frame));

  stats = get_stats (h);
  fail_unless_equals_uint64 (get_count (stats, "frames"), 2);
  fail_unless_equals_uint64 (get_count (stats, "dropped"), 1);
  gst_structure_free (stats);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

typedef struct {
  guint n_frames, n_labelled;
} Seen;

static void
count_frame (GstElement *sink, GstBuffer *buffer, GstPad *pad, Seen *seen)
{
  seen->n_frames++;
  seen->n_labelled += gst_buffer_get_ccl_meta (buffer) != NULL;
}

static void
run_to_eos (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  fail_if (gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "no end of stream within a minute");
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static void
connect_sink (GstElement *pipeline, const char *name, Seen *seen)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), name);

  g_object_set (sink, "signal-handoffs", TRUE, NULL);
  g_signal_connect (sink, "handoff", G_CALLBACK (count_frame), seen);
  gst_object_unref (sink);
}

/* Both branches of a tee after the element get the metadata; of a tee before it, only its branch.
 */
TEST (test_tees)
{
  gchar *line = g_strdup_printf (
      "videotestsrc num-buffers=10 ! video/x-raw,format=GRAY8,width=64,height=48 ! tee name=before "
      "before. ! queue ! fakesink name=plain "
      "before. ! queue ! %s ! tee name=behind "
      "behind. ! queue ! fakesink name=one behind. ! queue ! fakesink name=two",
      element_name ());
  GstElement *pipeline = gst_parse_launch (line, NULL);
  Seen plain = {0}, one = {0}, two = {0};

  fail_unless (pipeline != NULL);
  connect_sink (pipeline, "plain", &plain);
  connect_sink (pipeline, "one", &one);
  connect_sink (pipeline, "two", &two);
  run_to_eos (pipeline);
  fail_unless_equals_int (plain.n_frames, 10);
  fail_unless_equals_int (plain.n_labelled, 0);
  fail_unless_equals_int (one.n_frames, 10);
  fail_unless_equals_int (one.n_labelled, 10);
  fail_unless_equals_int (two.n_frames, 10);
  fail_unless_equals_int (two.n_labelled, 10);
  gst_object_unref (pipeline);
  g_free (line);
}
GST_END_TEST

static gpointer
turn_properties (gpointer data)
{
  GstElement *element = data;

  for (guint i = 0; i < 2000; i++) {
    GstStructure *stats;
    g_object_set (element, "connectivity", i % 2 ? 4 : 8, "threshold", i % 256, "invert",
        i % 3 == 0, "min-area", i % 5, "max-area", i % 7 * 100, "max-components", 1 + i % 100,
        "attach-labels", i % 2, "meta", i % 4, NULL);
    g_object_get (element, "stats", &stats, NULL);
    gst_structure_free (stats);
    if (i % 50 == 0)
      g_usleep (100);
  }
  return NULL;
}

/* Properties change in another thread while frames flow. */
TEST (test_properties_from_another_thread)
{
  gchar *line = g_strdup_printf (
      "videotestsrc pattern=snow num-buffers=300 ! video/x-raw,format=GRAY8,width=65,height=33 ! "
      "%s name=labeller ! fakesink name=sink",
      element_name ());
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *labeller = gst_bin_get_by_name (GST_BIN (pipeline), "labeller");
  Seen seen = {0};
  GThread *thread;

  connect_sink (pipeline, "sink", &seen);
  thread = g_thread_new ("properties", turn_properties, labeller);
  run_to_eos (pipeline);
  g_thread_join (thread);
  fail_unless_equals_int (seen.n_frames, 300);
  gst_object_unref (labeller);
  gst_object_unref (pipeline);
  g_free (line);
}
GST_END_TEST

/* Several labellers at work in one process do not disturb each other. */
TEST (test_streams_side_by_side)
{
  GString *line = g_string_new (NULL);
  GstElement *pipeline;
  Seen seen[4] = {{0}};

  for (guint i = 0; i < G_N_ELEMENTS (seen); i++)
    g_string_append_printf (line,
        "videotestsrc pattern=snow num-buffers=40 ! "
        "video/x-raw,format=NV12,width=%u,height=60 ! queue ! %s ! fakesink name=sink%u ",
        100 + i, element_name (), i);
  pipeline = gst_parse_launch (line->str, NULL);
  fail_unless (pipeline != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (seen); i++) {
    gchar *name = g_strdup_printf ("sink%u", i);
    connect_sink (pipeline, name, &seen[i]);
    g_free (name);
  }
  run_to_eos (pipeline);
  for (guint i = 0; i < G_N_ELEMENTS (seen); i++)
    fail_unless_equals_int (seen[i].n_labelled, 40);
  gst_object_unref (pipeline);
  g_string_free (line, TRUE);
}
GST_END_TEST

static Suite *
streams_suite (void)
{
  Suite *suite = suite_create ("streams");
  TCase *tcase = tcase_create (element_name ());

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_state_cycles);
  tcase_add_test (tcase, test_states_without_data);
  tcase_add_test (tcase, test_eos);
  tcase_add_test (tcase, test_flush);
  tcase_add_test (tcase, test_empty_gap_buffer_passes);
  tcase_add_test (tcase, test_gap_with_pixels_is_labelled);
  tcase_add_test (tcase, test_stats);
  tcase_add_test (tcase, test_latency_is_that_of_upstream);
  tcase_add_test (tcase, test_late_frames_are_dropped_and_counted);
  tcase_add_test (tcase, test_tees);
  tcase_add_test (tcase, test_properties_from_another_thread);
  tcase_add_test (tcase, test_streams_side_by_side);
  return suite;
}

GST_CHECK_MAIN (streams);
