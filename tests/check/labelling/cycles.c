/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The element that the environment variable CCL_ELEMENT names starts, labels and stops 200 times.
 * No object and no resource of a device may leak; tests/sanitizers finds leaks of other memory.
 */
#include "tests/check/shared/elements.h"
#include "tests/check/shared/leaks.h"

enum { N_CYCLES = 200, N_FRAMES = 3 };

static void
count_labelled (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer user_data)
{
  *(guint *)user_data += gst_buffer_get_ccl_meta (buffer) != NULL;
}

static void
run_cycles (const char *properties)
{
  gchar *line = g_strdup_printf (
      "videotestsrc pattern=ball num-buffers=%d ! video/x-raw,format=GRAY8,width=45,height=37 ! "
      "queue ! %s %s ! fakesink name=sink signal-handoffs=true sync=false",
      N_FRAMES, element_name (), properties);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error), *sink;
  GstBus *bus = gst_element_get_bus (pipeline);
  guint n_labelled = 0;

  fail_unless (error == NULL, "%s: %s", line, error ? error->message : "");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (count_labelled), &n_labelled);
  gst_object_unref (sink);
  for (guint i = 0; i < N_CYCLES; i++) {
    GstMessage *message;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message =
        gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
    gst_message_unref (message);
    fail_unless_equals_int (
        gst_element_set_state (pipeline, GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_uint64 (count_device_memory (), 0);
  }
  fail_unless_equals_int (n_labelled, N_CYCLES * N_FRAMES);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (line);
}

TEST (test_label_maps)
{
  run_cycles ("attach-labels=true meta=ccl+roi post-messages=true");
}
GST_END_TEST

TEST (test_background_model)
{
  run_cycles ("foreground=mog2 denoise=median-3x3 attach-mask=true");
}
GST_END_TEST

static Suite *
cycles_suite (void)
{
  Suite *suite = suite_create ("cycles");
  TCase *tcase = tcase_create ("cycles");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_label_maps);
  tcase_add_test (tcase, test_background_model);
  return suite;
}

GST_CHECK_MAIN (cycles);
