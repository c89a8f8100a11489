/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ccljsonparse makes of lines: the metadata that they were written from, so that ccljson
 * writes the same lines again. */
#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"

#include <string.h>

#define WIDTH 320
#define HEIGHT 120
#define FRAME_TIME (GST_SECOND / 10)

/* Two objects that meet and part, of which one has a hole with a third one in it. */
static GstBuffer *
new_frame (guint i)
{
  static const guint rings[][4] = {{0, 0, 60, 60}, {8, 8, 44, 44}, {20, 20, 16, 16}};
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);

  gst_buffer_memset (frame, 0, 0, (gsize)-1);
  for (guint y = 40; y < 90; y++)
    gst_buffer_memset (frame, (gsize)y * WIDTH + 20 + 6 * i, 255, 20);
  for (guint k = 0; k < 3; k++)
    for (guint y = 0; y < rings[k][3]; y++)
      gst_buffer_memset (frame, (gsize)(30 + rings[k][1] + y) * WIDTH + 200 - 4 * i + rings[k][0],
          k == 1 ? 0 : 255, rings[k][2]);
  GST_BUFFER_PTS (frame) = GST_SECOND + i * FRAME_TIME;
  GST_BUFFER_DURATION (frame) = FRAME_TIME;
  gst_video_region_of_interest_meta_add_param (
      gst_buffer_add_video_region_of_interest_meta (frame, "a <person>", 20 + 6 * i, 40, 20, 50),
      gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, 0.123456 + i / 100., NULL));
  return frame;
}

static void
take_buffers (GstHarness *h, GByteArray *bytes, GArray *sizes)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (h))) {
    const guint before = bytes->len;
    const guint size = (guint)gst_buffer_get_size (buffer);

    g_byte_array_set_size (bytes, before + size);
    gst_buffer_extract (buffer, 0, bytes->data + before, size);
    if (sizes)
      g_array_append_val (sizes, size);
    gst_buffer_unref (buffer);
  }
}

/* What a pipeline of frames writes. sizes: of its buffers. */
static GByteArray *
write_lines (const char *line, GArray *sizes)
{
  GByteArray *bytes = g_byte_array_new ();
  GstHarness *h = gst_harness_new_parse (line);
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  for (guint i = 0; i < 30; i++)
    fail_unless_equals_int (gst_harness_push (h, new_frame (i)), GST_FLOW_OK);
  gst_harness_push_event (h, gst_event_new_eos ());
  take_buffers (h, bytes, sizes);
  gst_harness_teardown (h);
  return bytes;
}

/* A harness of byte streams, of which no other times are known. */
static GstHarness *
new_reader (const char *line, const char *caps)
{
  GstHarness *h = gst_harness_new_parse (line);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_set_src_caps_str (h, caps);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  return h;
}

static void
push_bytes (GstHarness *h, const guint8 *data, gsize size)
{
  GstBuffer *buffer = gst_buffer_new_memdup (data, size);

  GST_BUFFER_PTS (buffer) = GST_CLOCK_TIME_NONE;
  gst_harness_push (h, buffer);
}

static gchar *
as_text (const GByteArray *bytes)
{
  return g_strndup ((const gchar *)bytes->data, bytes->len);
}

/* Reads the bytes in pieces of some size, and compares what ccljson writes. */
static void
assert_round_trip (const GByteArray *bytes, guint piece, const char *reader, const char *caps)
{
  GstHarness *h = new_reader (reader, caps);
  GByteArray *again = g_byte_array_new ();
  guint same = 0;

  for (guint at = 0; at < bytes->len; at += piece) {
    push_bytes (h, bytes->data + at, MIN (piece, bytes->len - at));
    take_buffers (h, again, NULL);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  take_buffers (h, again, NULL);
  while (same < MIN (again->len, bytes->len) && again->data[same] == bytes->data[same])
    same++;
  fail_unless (same == bytes->len && same == again->len, "%.200s\nbecame\n%.200s",
      (const char *)bytes->data + same, (const char *)again->data + same);
  g_byte_array_unref (again);
  gst_harness_teardown (h);
}

#define TRACKED                                                                                    \
  "ccltrack least-way=0 tentative=true lost=true regions=\"region 'the \\\"yard\\\"' 0,0 150,0 "   \
  "150,119 0,119 stay=0.3; line <gate> 100,119 100,0\" "                                           \
  "ground=\"0,0 -3,9; 320,0 3,9; 320,120 2,4; 0,120 -2,4\""

static const struct {
  const char *line;
  const char *part; /* that lines must have */
} written[] = {
    {"ccl threshold=128 ! ccljson", "\"components\":[{\"label\":1,"},
    {"ccl threshold=128 max-components=1 ! ccljson", "\"truncated\":true"},
    {"ccl threshold=128 attach-columns=moments+perimeter+topology+luma ! ccljson",
        "\"orientation\""},
    {"ccl threshold=128 attach-contours=cracks ! ccljson", "\"inside\":"},
    {"ccl threshold=128 attach-contours=pixels ! ccltrack least-way=0 tentative=true ! ccljson",
        "\"contour_kind\":\"pixels\""},
    {"ccl threshold=128 ! " TRACKED " ! ccljson", "\"crossed\":[{\"line\":\"\\u003cgate>\""},
    {"ccl threshold=128 ! " TRACKED " ! ccljson",
        "\"event\":\"stayed\",\"id\":2,\"class\":\"a \\u003cperson>\","},
    {"ccl threshold=128 ! " TRACKED " ! ccljson", "\"position\":["},
    {"ccl threshold=128 ! " TRACKED " ! ccljson", "\"confidence\":0.1"},
    {"ccltrack ! ccljson utc=true", "\"utc_from\":\"arrival\""},
    {"ccltrack input=components ! ccljson", "\"count\":null"},
};

GST_START_TEST (test_round_trip)
{
  GByteArray *bytes = write_lines (written[__i__].line, NULL);
  const gboolean has_utc = strstr (written[__i__].line, "utc=true") != NULL;
  const char *reader = has_utc ? "ccljsonparse ! ccljson utc=true" : "ccljsonparse ! ccljson";
  static const guint pieces[] = {13, 4096, G_MAXINT};
  gchar *text = as_text (bytes);

  fail_unless (strstr (text, written[__i__].part) != NULL, "no %s", written[__i__].part);
  for (guint i = 0; i < G_N_ELEMENTS (pieces); i++)
    assert_round_trip (bytes, pieces[i], reader, "application/x-ndjson");
  g_free (text);
  g_byte_array_unref (bytes);
}
GST_END_TEST

/* Lines in packets of KLV, and as texts of a demuxer, which escapes them and gives each the time of
 * its own stream. */
GST_START_TEST (test_klv)
{
  GByteArray *bytes = write_lines (
      "ccl threshold=128 ! " TRACKED " ! ccljson ! capsfilter caps=meta/x-klv,parsed=true", NULL);
  static const guint pieces[] = {19, G_MAXINT};

  fail_unless (bytes->data[0] == 6 && bytes->data[16] == 0x84 && bytes->data[21] == '{');
  for (guint i = 0; i < G_N_ELEMENTS (pieces); i++)
    assert_round_trip (bytes, pieces[i],
        "ccljsonparse ! ccljson ! capsfilter caps=meta/x-klv,parsed=true",
        "meta/x-klv,parsed=true");
  g_byte_array_unref (bytes);
}
GST_END_TEST

GST_START_TEST (test_packets_of_others)
{
  guint8 other[300] = {0x06, 0x0e, 0x2b, 0x34};
  GByteArray *bytes =
      write_lines ("ccl threshold=128 ! ccljson ! capsfilter caps=meta/x-klv,parsed=true", NULL);
  GByteArray *mixed = g_byte_array_new ();
  GstHarness *h = new_reader ("ccljsonparse", "meta/x-klv,parsed=true");

  other[16] = 0x82;
  other[17] = (300 - 19) >> 8;
  other[18] = (300 - 19) & 255;
  g_byte_array_append (mixed, other, sizeof other);
  g_byte_array_append (mixed, bytes->data, bytes->len);
  g_byte_array_append (mixed, other, sizeof other);
  push_bytes (h, mixed->data, mixed->len);
  fail_unless_equals_int (gst_harness_buffers_received (h), 30);
  gst_harness_teardown (h);
  g_byte_array_unref (mixed);
  g_byte_array_unref (bytes);
}
GST_END_TEST

GST_START_TEST (test_times_of_the_stream)
{
  GArray *sizes = g_array_new (FALSE, FALSE, sizeof (guint));
  GByteArray *bytes = write_lines ("ccl threshold=128 ! ccljson", sizes);
  GstHarness *h = gst_harness_new ("ccljsonparse");
  guint at = 0;

  gst_harness_set_src_caps_str (h, "text/x-raw,format=pango-markup");
  for (guint i = 0; i < sizes->len; i++) {
    const guint size = g_array_index (sizes, guint, i);
    gchar *line = g_strndup ((const gchar *)bytes->data + at, size - 1); /* without the newline */
    gchar *escaped = g_markup_escape_text (line, -1);
    GstBuffer *buffer = gst_buffer_new_memdup (escaped, strlen (escaped)), *out;

    GST_BUFFER_PTS (buffer) = 7 * GST_SECOND + i * FRAME_TIME;
    GST_BUFFER_DURATION (buffer) = FRAME_TIME;
    out = gst_harness_push_and_pull (h, buffer);
    fail_unless (out != NULL);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 7 * GST_SECOND + i * FRAME_TIME);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), FRAME_TIME);
    fail_unless (gst_ccl_meta_get_n_rows (gst_buffer_get_ccl_meta (out)) >= 2);
    gst_buffer_unref (out);
    g_free (escaped);
    g_free (line);
    at += size;
  }
  gst_harness_teardown (h);
  g_byte_array_unref (bytes);
  g_array_unref (sizes);
}
GST_END_TEST

/* The frame's pixels are black, and may be written to without a change of others. */
GST_START_TEST (test_frames)
{
  static const char lines[] =
      "{\"pts\":5,\"running_time\":5,\"frame\":0,\"width\":7,\"height\":3,\"count\":0,"
      "\"components\":[]}"
      "{\"pts\":6,\"running_time\":6,\"frame\":1,\"width\":7,\"height\":3,\"count\":0,"
      "\"components\":[]}"
      "\n\n "
      "{\"pts\":null,\"running_time\":null,\"width\":9,\"height\":3,\"count\":0,\"components\":[]}";
  GstHarness *h = new_reader ("ccljsonparse", "application/x-ndjson");
  GstBuffer *first, *second;
  GstCaps *caps;
  guint8 byte = 1;
  gint width;

  push_bytes (h, (const guint8 *)lines, strlen (lines));
  first = gst_harness_pull (h);
  second = gst_harness_pull (h);
  gst_buffer_memset (first, 0, 255, (gsize)-1);
  fail_unless_equals_int (gst_buffer_get_size (second), 8 * 3);
  fail_unless_equals_int (gst_buffer_extract (second, 0, &byte, 1), 1);
  fail_unless_equals_int (byte, 0);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (second), 6);
  gst_buffer_unref (first);
  gst_buffer_unref (second);
  first = gst_harness_pull (h);
  fail_unless (!GST_BUFFER_PTS_IS_VALID (first));
  gst_buffer_unref (first);
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_structure_get_int (gst_caps_get_structure (caps, 0), "width", &width));
  fail_unless_equals_int (width, 9);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST

#define FRAME "\"pts\":0,\"running_time\":0,\"frame\":0,\"width\":20,\"height\":10,"
#define ROW "\"label\":1,\"area\":1,\"x\":1,\"y\":1,\"width\":1,\"height\":1,\"cx\":1,\"cy\":1"
#define TRACK "\"id\":1,\"state\":\"static\",\"age\":1,\"vx\":0,\"vy\":0"

/* Lines that ccljson does not write. */
static const char *const bad_lines[] = {"x", "{", "}", "[]", "null", "\"\\ud800\"", "{}",
    "{\"pts\":0}", "{\"pts\":-1,\"running_time\":0}", "{\"pts\":1e400,\"running_time\":0}",
    "{" FRAME "\"count\":1}", "{" FRAME "\"count\":\"1\"}",
    "{" FRAME "\"count\":0,\"components\":[{" ROW "}]}",
    "{" FRAME "\"count\":1,\"components\":[1]}", "{" FRAME "\"count\":1,\"components\":[null]}",
    "{" FRAME "\"count\":1,\"components\":[{}]}", "{" FRAME "\"count\":-1,\"components\":[]}",
    "{" FRAME "\"count\":99999999999999999999,\"components\":[]}",
    "{\"pts\":0,\"running_time\":0,\"width\":0,\"height\":1,\"count\":0,\"components\":[]}",
    "{\"pts\":0,\"running_time\":0,\"width\":65536,\"height\":1,\"count\":0,\"components\":[]}",
    "{" FRAME "\"count\":1,\"components\":[{\"label\":1,\"area\":1,\"x\":20,\"y\":1,\"width\":1,"
    "\"height\":1,\"cx\":1,\"cy\":1}]}",
    "{" FRAME "\"count\":1,\"components\":[{\"label\":1,\"area\":1,\"x\":1,\"y\":1,"
    "\"width\":4294967295,\"height\":1,\"cx\":1,\"cy\":1}]}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW ",\"id\":1}]}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW ",\"id\":-1,\"state\":\"static\"}]}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW "," TRACK ",\"ids\":{}}]}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW "," TRACK ",\"position\":[1]}]}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW "," TRACK ",\"position\":[null,1]}]}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW ",\"class\":1}]}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW ",\"class\":\"a\"}]}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW ",\"in\":[1]}],\"regions\":[]}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW ",\"crossed\":[1]}],\"regions\":[]}",
    "{" FRAME "\"count\":0,\"components\":[],\"regions\":[1]}",
    "{" FRAME "\"count\":0,\"components\":[],\"regions\":[{\"region\":1}]}",
    "{" FRAME "\"count\":0,\"components\":[],\"regions\":[{\"line\":\"a\",\"forward\":-1}]}",
    "{" FRAME "\"count\":0,\"components\":[],\"contour_kind\":1}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW ",\"contours\":1}],\"contour_kind\":\"pixels\"}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW
    ",\"contours\":[{}]}],\"contour_kind\":\"pixels\"}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW
    ",\"contours\":[{\"points\":[]}]}],\"contour_kind\":\"a\"}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW
    ",\"contours\":[{\"points\":[[1,null]]}]}],\"contour_kind\":\"a\"}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW
    ",\"contours\":[{\"hole\":true,\"points\":[[1,1]]}]}],\"contour_kind\":\"a\"}",
    "{" FRAME "\"count\":1,\"components\":[{" ROW
    ",\"contours\":[{\"hole\":false,\"points\":[[1,1]]},"
    "{\"hole\":false,\"points\":[[1,1]]}]}],\"contour_kind\":\"a\"}",
    "{" FRAME "\"count\":0,\"components\":[],\"utc\":\"yesterday\",\"utc_from\":\"sender\"}",
    "{" FRAME
    "\"count\":0,\"components\":[],\"utc\":\"1900-01-01T00:00:00Z\",\"utc_from\":\"sender\"}",
    "{\"pts\":0,\"running_time\":0,\"event\":1,\"id\":1}",
    "{\"pts\":0,\"running_time\":0,\"event\":\"a\"}",
    "{\"pts\":0,\"running_time\":0,\"event\":\"a\",\"id\":1,\"region\":1}",
    "{\"pts\":0,\"running_time\":0,\"event\":\"a\",\"id\":1,\"dwell\":\"1\"}", "{\"\xff\":1}",
    "[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]", "{\"a\":\"\\\"}"};

/* The type of the message that the element posted first, if it did. */
static GstMessageType
first_message (GstBus *bus)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
  const GstMessageType type = message ? GST_MESSAGE_TYPE (message) : GST_MESSAGE_UNKNOWN;

  if (message)
    gst_message_unref (message);
  return type;
}

GST_START_TEST (test_bad_lines)
{
  static const char good[] = "\n{" FRAME "\"count\":1,\"components\":[{" ROW "}]}\n";
  GstBus *bus = gst_bus_new ();

  for (guint i = 0; i < G_N_ELEMENTS (bad_lines); i++) {
    GstHarness *h = new_reader ("ccljsonparse", "application/x-ndjson");

    gst_element_set_bus (h->element, bus);
    push_bytes (h, (const guint8 *)bad_lines[i], strlen (bad_lines[i]));
    push_bytes (h, (const guint8 *)good, strlen (good));
    fail_unless_equals_int (gst_harness_buffers_received (h), 1);
    fail_unless_equals_int (first_message (bus), GST_MESSAGE_WARNING);
    gst_harness_push_event (h, gst_event_new_eos ());
    fail_unless_equals_int (first_message (bus), GST_MESSAGE_UNKNOWN);
    gst_element_set_bus (h->element, NULL);
    gst_harness_teardown (h);
  }
  gst_object_unref (bus);
}
GST_END_TEST

/* A stream without a line of ccljson, and an endless line. */
GST_START_TEST (test_other_streams)
{
  GstBus *bus = gst_bus_new ();
  GstHarness *h = new_reader ("ccljsonparse", "application/x-ndjson");
  const gsize size = 65u << 20;
  guint8 *line = g_malloc (size);

  gst_element_set_bus (h->element, bus);
  push_bytes (h, (const guint8 *)"<html>", 6);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (first_message (bus), GST_MESSAGE_WARNING);
  fail_unless_equals_int (first_message (bus), GST_MESSAGE_ERROR);
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);

  h = new_reader ("ccljsonparse", "application/x-ndjson");
  gst_element_set_bus (h->element, bus);
  memset (line, '[', size);
  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_new_wrapped (line, size)), GST_FLOW_ERROR);
  fail_unless_equals_int (first_message (bus), GST_MESSAGE_ERROR);
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);

  h = new_reader ("ccljsonparse", "meta/x-klv,parsed=true");
  gst_element_set_bus (h->element, bus);
  push_bytes (h, (const guint8 *)"0123456789abcdef\xff\xff\xff\xff\xff\xff\xff\xff", 24);
  fail_unless_equals_int (first_message (bus), GST_MESSAGE_ERROR);
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
  gst_object_unref (bus);
}
GST_END_TEST

/* Lines of all kinds with wrong bytes: whatever is read must be metadata that ccljson can write. */
GST_START_TEST (test_wrong_bytes)
{
  static const char alphabet[] = "\"{}[],:0123456789-.eEntx\\ ";
  GByteArray *bytes = write_lines (
      "ccl threshold=128 attach-contours=cracks attach-columns=topology ! " TRACKED " ! ccljson",
      NULL);
  GRand *random = g_rand_new_with_seed (1);
  GstHarness *h = new_reader ("ccljsonparse ! ccljson", "application/x-ndjson");

  for (guint round = 0; round < 60; round++) {
    GByteArray *again = g_byte_array_new ();
    guint8 *copy = g_memdup2 (bytes->data, bytes->len);

    for (guint k = 0; k < 30; k++)
      copy[g_rand_int_range (random, 0, (gint32)bytes->len)] =
          (guint8)alphabet[g_rand_int_range (random, 0, sizeof alphabet - 1)];
    push_bytes (h, copy, bytes->len);
    take_buffers (h, again, NULL);
    g_byte_array_unref (again);
    g_free (copy);
  }
  fail_unless (gst_harness_buffers_received (h) > 60 * 10);
  gst_harness_teardown (h);
  g_rand_free (random);
  g_byte_array_unref (bytes);
}
GST_END_TEST

static Suite *
json_parse_suite (void)
{
  Suite *s = suite_create ("ccljsonparse");
  TCase *tc = tcase_create ("general");

  tcase_add_checked_fixture (tc, NULL, assert_no_leaks);
  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_round_trip, 0, G_N_ELEMENTS (written));
  tcase_add_test (tc, test_klv);
  tcase_add_test (tc, test_packets_of_others);
  tcase_add_test (tc, test_times_of_the_stream);
  tcase_add_test (tc, test_frames);
  tcase_add_test (tc, test_bad_lines);
  tcase_add_test (tc, test_other_streams);
  tcase_add_test (tc, test_wrong_bytes);
  return s;
}

GST_CHECK_MAIN (json_parse);
