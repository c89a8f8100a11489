/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Several pipelines at once with the element that the environment variable CCL_ELEMENT names, while
 * other threads change properties, read statistics, and stop and start the pipelines.
 * tests/sanitizers runs this with ThreadSanitizer.
 */
#include "tests/check/shared/elements.h"
#include "tests/check/shared/leaks.h"

enum { N_PIPELINES = 4, N_FRAMES = 40, N_CYCLES = 8 };

static GstElement *new_pipeline (const char *format, ...) G_GNUC_PRINTF (1, 2);

static GstElement *
new_pipeline (const char *format, ...)
{
  GError *error = NULL;
  GstElement *pipeline;
  va_list arguments;
  gchar *line;

  va_start (arguments, format);
  line = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  pipeline = gst_parse_launch (line, &error);
  fail_unless (error == NULL, "%s: %s", line, error ? error->message : "");
  g_free (line);
  return pipeline;
}

static void
wait_for_end (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message =
      gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);

  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_object_unref (bus);
}

static void
count_labelled (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer user_data)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  GstBuffer *labels = meta ? gst_ccl_meta_get_labels (meta, NULL) : NULL;
  GstMapInfo map;

  if (meta)
    g_atomic_int_inc ((gint *)user_data);
  /* A label map in device memory is downloaded. */
  if (labels) {
    fail_unless (gst_buffer_map (labels, &map, GST_MAP_READ));
    fail_unless (map.size > 0);
    gst_buffer_unmap (labels, &map);
  }
}

static void
connect_sink (GstElement *pipeline, const char *name, gint *n_labelled)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), name);

  g_object_set (sink, "signal-handoffs", TRUE, "sync", FALSE, NULL);
  g_signal_connect (sink, "handoff", G_CALLBACK (count_labelled), n_labelled);
  gst_object_unref (sink);
}

static void
turn_properties (GstElement *labeller, guint i)
{
  GstStructure *stats;

  g_object_set (labeller, "connectivity", i % 2 ? 4 : 8, "threshold", i % 256, "invert", i % 3 == 0,
      "min-area", i % 5, "max-components", 1 + i % 100, "attach-labels", i % 2, "meta", 1 + i % 3,
      "foreground", i / 16 % 3, NULL);
  g_object_get (labeller, "stats", &stats, NULL);
  gst_structure_free (stats);
}

TEST (test_properties_of_several_pipelines)
{
  GstElement *pipelines[N_PIPELINES], *labellers[N_PIPELINES];
  gint n_labelled[N_PIPELINES] = {0};

  for (guint i = 0; i < N_PIPELINES; i++) {
    pipelines[i] =
        new_pipeline ("videotestsrc pattern=snow ! video/x-raw,format=GRAY8,width=%u,height=33 ! "
                      "queue ! %s name=labeller ! queue ! fakesink name=sink",
            60 + i, element_name ());
    labellers[i] = gst_bin_get_by_name (GST_BIN (pipelines[i]), "labeller");
    connect_sink (pipelines[i], "sink", &n_labelled[i]);
    gst_element_set_state (pipelines[i], GST_STATE_PLAYING);
  }
  for (guint i = 0; i < 400; i++) {
    turn_properties (labellers[i % N_PIPELINES], i);
    g_usleep (1000);
  }
  for (guint i = 0; i < N_PIPELINES; i++) {
    gst_element_send_event (pipelines[i], gst_event_new_eos ());
    wait_for_end (pipelines[i]);
    gst_element_set_state (pipelines[i], GST_STATE_NULL);
    /* "meta" may have been without "ccl" for some frames. */
    fail_unless (n_labelled[i] > 0);
    gst_object_unref (labellers[i]);
    gst_object_unref (pipelines[i]);
  }
}
GST_END_TEST

/* The elements of a pipeline share a device, and threads read label maps of other threads. */
TEST (test_elements_of_one_pipeline)
{
  GstElement *pipeline;
  gint n_labelled = 0;

  pipeline = new_pipeline (
      "videotestsrc pattern=snow num-buffers=%d ! video/x-raw,format=NV12,width=61,height=33 ! "
      "tee name=t t. ! queue ! %s attach-labels=true threshold=200 ! queue ! fakesink name=one "
      "t. ! queue ! %s attach-labels=true threshold=99 connectivity=4 ! queue ! fakesink name=two "
      "t. ! queue ! %s foreground=mog2 ! queue ! fakesink name=three",
      N_FRAMES, element_name (), element_name (), element_name ());
  connect_sink (pipeline, "one", &n_labelled);
  connect_sink (pipeline, "two", &n_labelled);
  connect_sink (pipeline, "three", &n_labelled);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for_end (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless_equals_int (n_labelled, 3 * N_FRAMES);
  gst_object_unref (pipeline);
}
GST_END_TEST

/* Starts a pipeline, and stops it by turns at the end and in the middle of the stream. */
static gpointer
cycle (gpointer data)
{
  GstElement *pipeline = data;

  for (guint i = 0; i < N_CYCLES; i++) {
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    if (i % 2)
      wait_for_end (pipeline);
    else
      g_usleep (3000);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
  return NULL;
}

TEST (test_states_side_by_side)
{
  GstElement *pipelines[N_PIPELINES];
  GThread *threads[N_PIPELINES];
  gint n_labelled = 0;

  for (guint i = 0; i < N_PIPELINES; i++) {
    pipelines[i] = new_pipeline ("videotestsrc pattern=snow num-buffers=5 ! "
                                 "video/x-raw,format=GRAY8,width=61,height=%u ! "
                                 "%s attach-labels=true ! queue ! fakesink name=sink",
        33 + i, element_name ());
    connect_sink (pipelines[i], "sink", &n_labelled);
    threads[i] = g_thread_new ("cycle", cycle, pipelines[i]);
  }
  for (guint i = 0; i < N_PIPELINES; i++) {
    g_thread_join (threads[i]);
    gst_object_unref (pipelines[i]);
  }
  fail_unless (n_labelled >= N_PIPELINES * N_CYCLES / 2 * 5);
}
GST_END_TEST

static Suite *
threads_suite (void)
{
  Suite *suite = suite_create ("threads");
  TCase *tcase = tcase_create ("threads");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_properties_of_several_pipelines);
  tcase_add_test (tcase, test_elements_of_one_pipeline);
  tcase_add_test (tcase, test_states_side_by_side);
  return suite;
}

GST_CHECK_MAIN (threads);
