/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GStreamer's cudaupload and cudadownload around cudaccl: ccljson must write the same bytes as
 * after ccl. */
#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"
#include "tests/check/shared/skips.h"

static const char *const sources[] = {
    "pattern=ball ! video/x-raw,format=NV12,width=320,height=240",
    "pattern=ball ! video/x-raw,format=NV12,width=321,height=243",
    "pattern=snow ! video/x-raw,format=I420,width=67,height=45",
    "pattern=snow ! video/x-raw,format=Y444,width=31,height=64",
    "pattern=gamut ! video/x-raw,format=NV12,width=16,height=2",
};

static const char *const properties[] = {
    "threshold=128",
    "threshold=99 connectivity=4 min-area=3 attach-labels=true",
    "foreground=mog2 attach-mask=true",
};

static void
append_line (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer user_data)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_string_append_len (user_data, (const gchar *)map.data, (gssize)map.size);
  gst_buffer_unmap (buffer, &map);
}

static gchar *
run (const char *source, const char *before, const char *element, const char *behind)
{
  gchar *line = g_strdup_printf ("videotestsrc num-buffers=4 %s ! %s %s %s ! ccljson ! fakesink "
                                 "name=sink signal-handoffs=true sync=false",
      source, before, element, behind);
  GstElement *pipeline, *sink;
  GError *error = NULL;
  GstMessage *message;
  GString *lines = g_string_new (NULL);
  GstBus *bus;

  pipeline = gst_parse_launch (line, &error);
  fail_unless (error == NULL, "%s: %s", line, error ? error->message : "");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (append_line), lines);
  gst_object_unref (sink);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "%s", line);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (line);
  return g_string_free (lines, FALSE);
}

GST_START_TEST (test_same_as_on_the_cpu)
{
  const char *source = sources[__i__ / G_N_ELEMENTS (properties)];
  const char *chosen = properties[__i__ % G_N_ELEMENTS (properties)];
  gchar *element, *expected, *found;
  guint n_lines = 0;

  if (!is_built ("cudaupload", "test_same_as_on_the_cpu"))
    return;
  element = g_strdup_printf ("ccl %s", chosen);
  expected = run (source, "", element, "");
  for (const gchar *c = expected; *c; c++)
    n_lines += *c == '\n';
  fail_unless_equals_int (n_lines, 4);
  g_free (element);

  element = g_strdup_printf ("cudaccl %s", chosen);
  found = run (source, "cudaupload ! video/x-raw(memory:CUDAMemory) !", element, "");
  fail_unless_equals_string (found, expected);
  g_free (found);
  found = run (source, "cudaupload ! video/x-raw(memory:CUDAMemory) !", element,
      "! cudadownload ! video/x-raw");
  fail_unless_equals_string (found, expected);
  g_free (found);
  g_free (expected);
  g_free (element);
}
GST_END_TEST

static Suite *
upload_suite (void)
{
  Suite *suite = suite_create ("upload");
  TCase *tcase = tcase_create ("upload");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_loop_test (
      tcase, test_same_as_on_the_cpu, 0, (int)(G_N_ELEMENTS (sources) * G_N_ELEMENTS (properties)));
  return suite;
}

GST_CHECK_MAIN (upload);
