/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output of ccljson, byte for byte. The test makes the metadata itself, without a labeller. */
#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"

#include <locale.h>
#include <math.h>

static GstHarness *
new_harness (guint width, guint height)
{
  GstHarness *h = gst_harness_new ("ccljson");

  gst_harness_set_src_caps (h, frame_caps ("GRAY8", width, height));
  return h;
}

static GstBuffer *
frame_at (GstClockTime pts)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 64, NULL);

  GST_BUFFER_PTS (frame) = pts;
  return frame;
}

/* Takes the frame. */
static void
assert_line (GstHarness *h, GstBuffer *frame, const char *expected)
{
  GstBuffer *out = gst_harness_push_and_pull (h, frame);
  GstMapInfo map;
  gchar *line;

  fail_unless (out != NULL);
  fail_unless (gst_buffer_map (out, &map, GST_MAP_READ));
  line = g_strndup ((const gchar *)map.data, map.size);
  fail_unless_equals_string (line, expected);
  g_free (line);
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
}

static const GstCclComponent two[] = {
    {1, 4, 0, 0, 2, 2, 0.5, 0.5},
    {2, 3, 5, 6, 3, 1, 6.0, 6.0},
};

GST_START_TEST (test_frame_without_components)
{
  GstHarness *h = new_harness (8, 8);
  GstBuffer *frame = frame_at (40000000);

  gst_buffer_add_ccl_meta (frame, 8, 8, 0, NULL, 0, NULL, 0);
  assert_line (h, frame,
      "{\"pts\":40000000,\"running_time\":40000000,\"frame\":0,\"width\":8,\"height\":8,\"count\":"
      "0,\"truncated\":false,"
      "\"components\":[]}\n");
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_components)
{
  GstHarness *h = new_harness (8, 8);
  GstBuffer *frame = frame_at (0);

  gst_buffer_add_ccl_meta (frame, 8, 8, 2, two, 2, NULL, 0);
  assert_line (h, frame,
      "{\"pts\":0,\"running_time\":0,\"frame\":0,\"width\":8,\"height\":8,\"count\":2,"
      "\"truncated\":false,"
      "\"components\":["
      "{\"label\":1,\"area\":4,\"x\":0,\"y\":0,\"width\":2,\"height\":2,\"cx\":0.5,\"cy\":0.5},"
      "{\"label\":2,\"area\":3,\"x\":5,\"y\":6,\"width\":3,\"height\":1,\"cx\":6,\"cy\":6}"
      "]}\n");
  gst_harness_teardown (h);
}
GST_END_TEST

/* Columns come before what else a component has. What is not known is null. */
GST_START_TEST (test_columns)
{
  static const gchar *const keys[] = {"mean_value", "a \"b\""};
  static const gdouble values[] = {200, 0.1, NAN, -3};
  GstHarness *h = new_harness (8, 8);
  GstBuffer *frame = frame_at (0);
  GstCclMeta *meta = gst_buffer_add_ccl_meta (frame, 8, 8, 2, two, 2, NULL, 0);
  GstCclColumns *columns = gst_ccl_columns_new (keys, 2, values, 2);

  gst_ccl_meta_set_columns (meta, columns);
  gst_ccl_columns_unref (columns);
  assert_line (h, frame,
      "{\"pts\":0,\"running_time\":0,\"frame\":0,\"width\":8,\"height\":8,\"count\":2,"
      "\"truncated\":false,\"components\":["
      "{\"label\":1,\"area\":4,\"x\":0,\"y\":0,\"width\":2,\"height\":2,\"cx\":0.5,\"cy\":0.5,"
      "\"mean_value\":200,\"a \\\"b\\\"\":null},"
      "{\"label\":2,\"area\":3,\"x\":5,\"y\":6,\"width\":3,\"height\":1,\"cx\":6,\"cy\":6,"
      "\"mean_value\":0.1,\"a \\\"b\\\"\":-3}]}\n");
  gst_harness_teardown (h);
}
GST_END_TEST

/* The component in the hole names the one around it; the third component has no contours. */
GST_START_TEST (test_contours)
{
  static const GstCclComponent rows[] = {
      {1, 20, 0, 0, 6, 6, 2.5, 2.5}, {2, 1, 3, 2, 1, 1, 3, 2}, {3, 1, 7, 7, 1, 1, 7, 7}};
  static const GstCclContour contours[] = {
      {1, GST_CCL_NO_CONTOUR, 0, 2, 0}, {1, 0, 2, 1, 1}, {2, 1, 3, 1, 0}};
  static const gfloat points[] = {0, 0, 5.25, 5, 2, 2, 3, -2.5};
  GstHarness *h = new_harness (8, 8);
  GstBuffer *frame = frame_at (0);
  GstCclMeta *meta = gst_buffer_add_ccl_meta (frame, 8, 8, 3, rows, 3, NULL, 0);
  GstCclContours *attached = new_contours (GST_CCL_CONTOUR_KIND_PIXELS, contours, 3, points, 4);

  gst_ccl_meta_set_contours (meta, attached);
  gst_ccl_contours_unref (attached);
  assert_line (h, frame,
      "{\"pts\":0,\"running_time\":0,\"frame\":0,\"width\":8,\"height\":8,\"count\":3,"
      "\"truncated\":false,\"components\":["
      "{\"label\":1,\"area\":20,\"x\":0,\"y\":0,\"width\":6,\"height\":6,\"cx\":2.5,\"cy\":2.5,"
      "\"contours\":[{\"hole\":false,\"points\":[[0,0],[5.25,5]]},"
      "{\"hole\":true,\"points\":[[2,2]]}]},"
      "{\"label\":2,\"area\":1,\"x\":3,\"y\":2,\"width\":1,\"height\":1,\"cx\":3,\"cy\":2,"
      "\"contours\":[{\"hole\":false,\"inside\":1,\"points\":[[3,-2.50]]}]},"
      "{\"label\":3,\"area\":1,\"x\":7,\"y\":7,\"width\":1,\"height\":1,\"cx\":7,\"cy\":7,"
      "\"contours\":[]}],\"contour_kind\":\"pixels\"}\n");
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_truncated_table)
{
  GstHarness *h = new_harness (8, 8);
  GstBuffer *frame = frame_at (0);

  gst_buffer_add_ccl_meta (frame, 8, 8, 4000000000u, two, 1, NULL, 0);
  assert_line (h, frame,
      "{\"pts\":0,\"running_time\":0,\"frame\":0,\"width\":8,\"height\":8,\"count\":4000000000,"
      "\"truncated\":true,"
      "\"components\":["
      "{\"label\":1,\"area\":4,\"x\":0,\"y\":0,\"width\":2,\"height\":2,\"cx\":0.5,\"cy\":0.5}"
      "]}\n");
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_frames_are_counted_and_times_may_lack)
{
  static const GstClockTime times[] = {GST_CLOCK_TIME_NONE, 0, G_MAXUINT64 - 1};
  static const char *const texts[] = {"null", "0", "18446744073709551614"};
  GstHarness *h = new_harness (8, 8);

  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    GstBuffer *frame = frame_at (times[i]);
    gchar *expected = g_strdup_printf ("{\"pts\":%s,\"running_time\":%s,\"frame\":%u,\"width\":8,"
                                       "\"height\":8,\"count\":0,\"truncated\":false,"
                                       "\"components\":[]}\n",
        texts[i], texts[i], i);
    gst_buffer_add_ccl_meta (frame, 8, 8, 0, NULL, 0, NULL, 0);
    assert_line (h, frame, expected);
    g_free (expected);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* 2026-01-31 23:59:59.12 UTC. */
#define SOME_TIME (G_GUINT64_CONSTANT (1769903999) * GST_SECOND + 120 * GST_MSECOND)

GST_START_TEST (test_source_and_utc)
{
  static const struct {
    const char *kind;
    GstClockTime offset; /* of 1970 in its epoch */
  } clocks[] = {{"timestamp/x-ntp", 2208988800 * GST_SECOND}, {"timestamp/x-unix", 0}};

  for (guint i = 0; i < G_N_ELEMENTS (clocks); i++) {
    GstHarness *h = new_harness (8, 8);
    GstBuffer *frame = frame_at (0);
    GstCaps *kind = gst_caps_new_empty_simple (clocks[i].kind);

    g_object_set (h->element, "source", "a \"door\"", "utc", TRUE, NULL);
    gst_buffer_add_ccl_meta (frame, 8, 8, 0, NULL, 0, NULL, 0);
    gst_buffer_add_reference_timestamp_meta (
        frame, kind, SOME_TIME + clocks[i].offset, GST_CLOCK_TIME_NONE);
    gst_caps_unref (kind);
    assert_line (h, frame,
        "{\"source\":\"a \\\"door\\\"\",\"utc\":\"2026-01-31T23:59:59.120000Z\","
        "\"utc_from\":\"sender\",\"pts\":0,\"running_time\":0,\"frame\":0,\"width\":8,\"height\":8,"
        "\"count\":0,\"truncated\":false,\"components\":[]}\n");
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* Without the sender's time, and with an impossible one. */
GST_START_TEST (test_utc_of_arrival)
{
  for (guint i = 0; i < 2; i++) {
    GstHarness *h = new_harness (8, 8);
    GstBuffer *frame = frame_at (0), *out;
    gchar *line, *expected;
    gint64 before, after;
    gsize size;

    g_object_set (h->element, "utc", TRUE, NULL);
    if (i == 1) {
      GstCaps *kind = gst_caps_new_empty_simple ("timestamp/x-ntp");
      gst_buffer_add_reference_timestamp_meta (frame, kind, GST_SECOND, GST_CLOCK_TIME_NONE);
      gst_caps_unref (kind);
    }
    gst_buffer_add_ccl_meta (frame, 8, 8, 0, NULL, 0, NULL, 0);
    before = g_get_real_time () / G_USEC_PER_SEC;
    out = gst_harness_push_and_pull (h, frame);
    after = g_get_real_time () / G_USEC_PER_SEC;
    gst_buffer_extract_dup (out, 0, gst_buffer_get_size (out), (gpointer *)&line, &size);
    expected = strstr (line, "Z\",\"utc_from\":\"arrival\",\"pts\":0");
    fail_unless (expected != NULL && expected < line + size);
    {
      gchar *text = g_strndup (line + strlen ("{\"utc\":\""), expected + 1 - line - 8);
      GDateTime *time = g_date_time_new_from_iso8601 (text, NULL);
      fail_unless (time != NULL);
      fail_unless (g_date_time_to_unix (time) >= before && g_date_time_to_unix (time) <= after);
      g_date_time_unref (time);
      g_free (text);
    }
    g_free (line);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* The clock time at which the frame is due: base + (time − start) ÷ rate. */
GST_START_TEST (test_running_time)
{
  static const struct {
    GstFormat format;
    gdouble rate;
    guint64 start, stop, base;
    GstClockTime pts;
    const char *text;
  } cases[] = {
      {GST_FORMAT_TIME, 1, 0, GST_CLOCK_TIME_NONE, 0, 7, "7"},
      {GST_FORMAT_TIME, 1, 1000, GST_CLOCK_TIME_NONE, 0, 1040, "40"},
      {GST_FORMAT_TIME, 1, 1000, GST_CLOCK_TIME_NONE, 500, 1040, "540"},
      {GST_FORMAT_TIME, 2, 1000, GST_CLOCK_TIME_NONE, 500, 1040, "520"},
      {GST_FORMAT_TIME, -1, 0, 2000, 0, 1500, "500"},
      {GST_FORMAT_TIME, 1, 1000, GST_CLOCK_TIME_NONE, 0, 999, "null"},
      {GST_FORMAT_TIME, 1, 0, GST_CLOCK_TIME_NONE, 0, GST_CLOCK_TIME_NONE, "null"},
      {GST_FORMAT_BYTES, 1, 0, GST_CLOCK_TIME_NONE, 0, 7, "null"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = new_harness (8, 8);
    GstBuffer *frame = frame_at (cases[i].pts);
    gchar *pts = GST_CLOCK_TIME_IS_VALID (cases[i].pts)
                     ? g_strdup_printf ("%" G_GUINT64_FORMAT, cases[i].pts)
                     : g_strdup ("null");
    gchar *expected =
        g_strdup_printf ("{\"pts\":%s,\"running_time\":%s,\"frame\":0,\"width\":8,\"height\":8,"
                         "\"count\":0,\"truncated\":false,\"components\":[]}\n",
            pts, cases[i].text);
    GstSegment segment;

    gst_segment_init (&segment, cases[i].format);
    segment.rate = cases[i].rate;
    segment.start = segment.time = cases[i].start;
    segment.stop = cases[i].stop;
    segment.base = cases[i].base;
    fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
    gst_buffer_add_ccl_meta (frame, 8, 8, 0, NULL, 0, NULL, 0);
    assert_line (h, frame, expected);
    g_free (expected);
    g_free (pts);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* The size is that of the frame the coordinates refer to. */
GST_START_TEST (test_size_is_of_the_metadata)
{
  GstHarness *h = new_harness (8, 8);
  GstBuffer *frame = frame_at (0);

  gst_buffer_add_ccl_meta (frame, 1920, 1080, 0, NULL, 0, NULL, 0);
  assert_line (h, frame,
      "{\"pts\":0,\"running_time\":0,\"frame\":0,\"width\":1920,\"height\":1080,\"count\":0,"
      "\"truncated\":false,"
      "\"components\":[]}\n");
  gst_harness_teardown (h);
}
GST_END_TEST

/* A frame without metadata differs from one without components; the first one causes a warning. */
GST_START_TEST (test_frames_without_metadata)
{
  GstHarness *h = new_harness (8, 8);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *warning;

  gst_element_set_bus (h->element, bus);
  assert_line (h, frame_at (0),
      "{\"pts\":0,\"running_time\":0,\"frame\":0,\"width\":8,\"height\":8,\"count\":null,"
      "\"truncated\":false,"
      "\"components\":[]}\n");
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_parse_warning (message, &warning, NULL);
  fail_unless (g_error_matches (warning, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
  g_error_free (warning);
  gst_message_unref (message);

  assert_line (h, frame_at (1),
      "{\"pts\":1,\"running_time\":1,\"frame\":1,\"width\":8,\"height\":8,\"count\":null,"
      "\"truncated\":false,"
      "\"components\":[]}\n");
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* The number that follows "cx": in the line. */
static gchar *
written_centroid (GstHarness *h, gdouble centroid)
{
  GstCclComponent component = {1, 1, 0, 0, 1, 1, centroid, 0.0};
  GstBuffer *frame = frame_at (0), *out;
  GstMapInfo map;
  gchar *line, *start, *text;

  gst_buffer_add_ccl_meta (frame, 8, 8, 1, &component, 1, NULL, 0);
  out = gst_harness_push_and_pull (h, frame);
  gst_buffer_map (out, &map, GST_MAP_READ);
  line = g_strndup ((const gchar *)map.data, map.size);
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
  start = strstr (line, "\"cx\":") + strlen ("\"cx\":");
  text = g_strndup (start, strcspn (start, ","));
  g_free (line);
  return text;
}

/* The texts are those of Python's repr(), the shortest that give the same number when parsed. */
GST_START_TEST (test_numbers_are_short_and_exact)
{
  static const struct {
    gdouble value;
    const char *text;
  } cases[] = {
      {0.0, "0"},
      {1.5, "1.5"},
      {-0.25, "-0.25"},
      {0.1, "0.1"},
      {1.0 / 3, "0.3333333333333333"},
      {2.0 / 3, "0.6666666666666666"},
      {100.0 / 3, "33.333333333333336"},
      {16383.5, "16383.5"},
      {8191.333333333333, "8191.333333333333"},
      {1e-05, "1e-05"},
      {G_MAXINT, "2147483647"},
      {NAN, "null"},
      {INFINITY, "null"},
  };
  GstHarness *h = new_harness (8, 8);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *text = written_centroid (h, cases[i].value);
    fail_unless_equals_string (text, cases[i].text);
    g_free (text);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_numbers_read_back_the_same)
{
  GstHarness *h = new_harness (8, 8);
  GRand *rand = g_rand_new_with_seed (1);

  for (guint i = 0; i < 5000; i++) {
    guint area = g_rand_int (rand) % 100000 + 1;
    gdouble value = (gdouble)(g_rand_int (rand)) / area;
    gchar *text = written_centroid (h, value);
    fail_unless (g_ascii_strtod (text, NULL) == value, "%s is not %.17g", text, value);
    g_free (text);
  }
  g_rand_free (rand);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_locale_with_decimal_comma)
{
  static const char *const locales[] = {
      "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "es_ES.UTF-8", "it_IT.UTF-8", "de_DE"};
  GstHarness *h;
  gchar *text;
  guint i = 0;

  while (i < G_N_ELEMENTS (locales) && !setlocale (LC_NUMERIC, locales[i]))
    i++;
  if (i == G_N_ELEMENTS (locales)) {
    g_print ("SKIP: test_locale_with_decimal_comma: no locale with a decimal comma is installed\n");
    return;
  }
  fail_unless_equals_string (localeconv ()->decimal_point, ",");
  h = new_harness (8, 8);
  text = written_centroid (h, 1.5);
  fail_unless_equals_string (text, "1.5");
  g_free (text);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_caps)
{
  GstHarness *h = new_harness (8, 8);
  GstPad *sink = gst_element_get_static_pad (h->element, "sink");
  GstCaps *out = gst_pad_get_current_caps (h->sinkpad);
  static const char *const accepted[] = {"video/x-raw,format=RGB,width=8,height=8",
      "video/x-raw(memory:CUDAMemory),format=NV12,width=8,height=8",
      "video/x-raw(memory:CUDAMemory),format=GRAY8,width=8,height=8"};
  GstCaps *audio = gst_caps_from_string ("audio/x-raw");

  if (!out) {
    gst_buffer_unref (gst_harness_push_and_pull (h, frame_at (0)));
    out = gst_pad_get_current_caps (h->sinkpad);
  }
  fail_unless (gst_structure_has_name (gst_caps_get_structure (out, 0), "application/x-ndjson"));
  fail_unless_equals_int (gst_structure_n_fields (gst_caps_get_structure (out, 0)), 0);
  for (guint i = 0; i < G_N_ELEMENTS (accepted); i++) {
    GstCaps *caps = gst_caps_from_string (accepted[i]);
    fail_unless (gst_pad_query_accept_caps (sink, caps), "%s", accepted[i]);
    gst_caps_unref (caps);
  }
  fail_if (gst_pad_query_accept_caps (sink, audio));
  gst_caps_unref (audio);
  gst_caps_unref (out);
  gst_object_unref (sink);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_times_are_carried)
{
  GstHarness *h = new_harness (8, 8);
  GstBuffer *frame = frame_at (GST_SECOND), *out;

  GST_BUFFER_DTS (frame) = GST_SECOND / 2;
  GST_BUFFER_DURATION (frame) = GST_SECOND / 25;
  gst_buffer_add_ccl_meta (frame, 8, 8, 0, NULL, 0, NULL, 0);
  out = gst_harness_push_and_pull (h, frame);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DTS (out), GST_SECOND / 2);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), GST_SECOND / 25);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* An empty gap buffer is not a frame: it is forwarded as an event, without a line or a warning. */
GST_START_TEST (test_empty_gaps)
{
  GstHarness *h = new_harness (8, 8);
  GstBus *bus = gst_bus_new ();
  GstBuffer *gap = gst_buffer_new (), *frame = frame_at (GST_SECOND);
  gboolean found = FALSE;
  GstEvent *event;

  gst_element_set_bus (h->element, bus);
  GST_BUFFER_PTS (gap) = 0;
  GST_BUFFER_DURATION (gap) = GST_SECOND;
  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  fail_unless_equals_int (gst_harness_push (h, gap), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_received (h), 0);
  while ((event = gst_harness_try_pull_event (h))) {
    found |= GST_EVENT_TYPE (event) == GST_EVENT_GAP;
    gst_event_unref (event);
  }
  fail_unless (found);
  gst_buffer_add_ccl_meta (frame, 8, 8, 0, NULL, 0, NULL, 0);
  assert_line (h, frame,
      "{\"pts\":1000000000,\"running_time\":1000000000,\"frame\":0,\"width\":8,\"height\":8,"
      "\"count\":0,\"truncated\":false,\"components\":[]}\n");
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

static void
add_meta_of (GstBuffer *frame, const char *name, guint n_components)
{
  GstCclLabeller *labeller = gst_ccl_labeller_new (name, NULL);
  GstCclMeta *meta = gst_buffer_add_ccl_meta (frame, 8, 8, n_components, NULL, 0, NULL, 0);

  gst_ccl_meta_set_labeller (meta, labeller);
  gst_ccl_labeller_unref (labeller);
}

/* The labeller is named only where there are several, and any name makes sound JSON. */
GST_START_TEST (test_labellers)
{
  GstHarness *h = new_harness (8, 8);
  GstBuffer *frame = frame_at (0);

  add_meta_of (frame, "one", 1);
  assert_line (h, gst_buffer_copy (frame),
      "{\"pts\":0,\"running_time\":0,\"frame\":0,\"width\":8,\"height\":8,\"count\":1,"
      "\"truncated\":true,\"components\":[]}\n");
  add_meta_of (frame, "a\"\\b\n\303\244", 2);
  assert_line (h, gst_buffer_copy (frame),
      "{\"pts\":0,\"running_time\":0,\"frame\":1,\"width\":8,\"height\":8,"
      "\"labeller\":\"a\\\"\\\\b\\u000a\303\244\",\"count\":2,\"truncated\":true,\"components\":[]}"
      "\n");
  g_object_set (h->element, "labeller", "one", NULL);
  assert_line (h, frame,
      "{\"pts\":0,\"running_time\":0,\"frame\":2,\"width\":8,\"height\":8,\"labeller\":\"one\","
      "\"count\":1,\"truncated\":true,\"components\":[]}\n");
  gst_harness_teardown (h);
}
GST_END_TEST

/* The counter starts again with the element. */
GST_START_TEST (test_state_cycles)
{
  GstElement *element = gst_element_factory_make ("ccljson", NULL);

  for (guint round = 0; round < 3; round++) {
    GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
    GstBuffer *frame = frame_at (0);

    gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 8));
    gst_buffer_add_ccl_meta (frame, 8, 8, 0, NULL, 0, NULL, 0);
    assert_line (h, frame,
        "{\"pts\":0,\"running_time\":0,\"frame\":0,\"width\":8,\"height\":8,\"count\":0,"
        "\"truncated\":false,"
        "\"components\":[]}\n");
    gst_harness_teardown (h);
  }
  gst_object_unref (element);
}
GST_END_TEST

/* A gap whose time is not known becomes nothing: a gap event must have a time. */
GST_START_TEST (test_empty_gap_without_a_time)
{
  GstHarness *h = new_harness (8, 8);
  GstBuffer *gap = gst_buffer_new ();
  GstEvent *event;

  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  fail_unless_equals_int (gst_harness_push (h, gap), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_received (h), 0);
  while ((event = gst_harness_try_pull_event (h))) {
    fail_unless (GST_EVENT_TYPE (event) != GST_EVENT_GAP);
    gst_event_unref (event);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

static GstEvent *
track_event (void)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
      gst_structure_new ("ccl-track", "event", G_TYPE_STRING, "appeared", "id", G_TYPE_UINT64,
          (guint64)1, "other", G_TYPE_UINT64, (guint64)0, NULL));
}

/* Events of an application may have a NULL text and numbers that are NaN or infinite. */
GST_START_TEST (test_odd_track_events)
{
  GstHarness *h = new_harness (8, 8);
  GstStructure *odd = gst_structure_new ("ccl-track", "event", G_TYPE_STRING, "left", "speed",
      G_TYPE_DOUBLE, NAN, "dwell", G_TYPE_DOUBLE, HUGE_VAL, NULL);
  GstStructure *empty = gst_structure_new ("ccl-track", "event", G_TYPE_STRING, NULL, NULL);
  GstBuffer *frame = frame_at (0), *first;
  GstMapInfo map;
  gchar *line;

  gst_buffer_add_ccl_meta (frame, 8, 8, 0, NULL, 0, NULL, 0);
  gst_harness_push_event (h, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, empty));
  gst_harness_push_event (h, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, odd));
  first = gst_harness_push_and_pull (h, frame);
  fail_unless (first != NULL);
  fail_unless (gst_buffer_map (first, &map, GST_MAP_READ));
  line = g_strndup ((const gchar *)map.data, map.size);
  fail_unless (
      g_str_has_suffix (line, "\"event\":\"left\",\"id\":0,\"dwell\":null,\"speed\":null}\n"));
  g_free (line);
  gst_buffer_unmap (first, &map);
  gst_buffer_unref (first);
  fail_unless_equals_int (gst_harness_buffers_received (h), 2); /* the event's, the frame's */
  gst_harness_teardown (h);
}
GST_END_TEST

static GstFlowReturn
refuse (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_ERROR;
}

/* An event before caps and segment waits for them. A line that is refused ends the stream with the
 * frame that it belongs to. */
GST_START_TEST (test_events_wait_for_their_frame)
{
  GstElement *json = gst_element_factory_make ("ccljson", NULL);
  GstPad *sink = gst_element_get_static_pad (json, "sink");
  GstPad *src = gst_element_get_static_pad (json, "src");
  GstPad *taker = gst_pad_new ("taker", GST_PAD_SINK);
  GstCaps *caps = frame_caps ("GRAY8", 4, 4);
  GstSegment segment;

  gst_pad_set_chain_function (taker, refuse);
  gst_pad_set_active (taker, TRUE);
  fail_unless_equals_int (gst_pad_link (src, taker), GST_PAD_LINK_OK);
  gst_element_set_state (json, GST_STATE_PLAYING);
  gst_pad_send_event (sink, gst_event_new_stream_start ("stream"));
  gst_pad_send_event (sink, track_event ()); /* a buffer without caps would be a critical */
  gst_pad_send_event (sink, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_send_event (sink, gst_event_new_segment (&segment));
  fail_unless_equals_int (
      gst_pad_chain (sink, gst_buffer_new_allocate (NULL, 16, NULL)), GST_FLOW_ERROR);
  gst_element_set_state (json, GST_STATE_NULL);
  gst_caps_unref (caps);
  gst_object_unref (src);
  gst_object_unref (sink);
  gst_object_unref (taker);
  gst_object_unref (json);
}
GST_END_TEST

static Suite *
ccljson_suite (void)
{
  Suite *suite = suite_create ("ccljson");
  TCase *tcase = tcase_create ("ccljson");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_events_wait_for_their_frame);
  tcase_add_test (tcase, test_odd_track_events);
  tcase_add_test (tcase, test_frame_without_components);
  tcase_add_test (tcase, test_components);
  tcase_add_test (tcase, test_columns);
  tcase_add_test (tcase, test_contours);
  tcase_add_test (tcase, test_truncated_table);
  tcase_add_test (tcase, test_frames_are_counted_and_times_may_lack);
  tcase_add_test (tcase, test_running_time);
  tcase_add_test (tcase, test_source_and_utc);
  tcase_add_test (tcase, test_utc_of_arrival);
  tcase_add_test (tcase, test_size_is_of_the_metadata);
  tcase_add_test (tcase, test_frames_without_metadata);
  tcase_add_test (tcase, test_numbers_are_short_and_exact);
  tcase_add_test (tcase, test_numbers_read_back_the_same);
  tcase_add_test (tcase, test_locale_with_decimal_comma);
  tcase_add_test (tcase, test_caps);
  tcase_add_test (tcase, test_times_are_carried);
  tcase_add_test (tcase, test_empty_gaps);
  tcase_add_test (tcase, test_empty_gap_without_a_time);
  tcase_add_test (tcase, test_labellers);
  tcase_add_test (tcase, test_state_cycles);
  return suite;
}

GST_CHECK_MAIN (ccljson);
