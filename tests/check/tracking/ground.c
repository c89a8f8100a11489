/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ground of ccltrack: texts, positions and speeds in metadata and JSON, changes while playing.
 * tests/unit/tracking/test-ground.c tests the geometry. */
#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"

#include <math.h>
#include <stdio.h>

#define WIDTH 320
#define HEIGHT 240

/* A camera 4 metres high that looks at the horizon, in row 40, with a focal length of 200 pixels: a
 * foot in row y is 800 / (y - 40) metres away. */
#define STREET "60,120 -5,10; 260,120 5,10; 210,80 5,20; 110,80 -5,20"

#define assert_near(found, expected, tolerance)                                                    \
  fail_unless (fabs ((found) - (expected)) <= (tolerance), "%g instead of %g", (double)(found),    \
      (double)(expected))

static GstHarness *
new_harness (const char *properties)
{
  gchar *line = g_strdup_printf ("ccl threshold=128 ! ccltrack confirm-frames=1 %s", properties);
  GstHarness *h = gst_harness_new_parse (line);
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  g_free (line);
  return h;
}

/* The foot is 20 metres away and moves 4 pixels to the right: 0.4 metres. */
static GstBuffer *
new_frame (guint index)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);

  gst_buffer_memset (frame, 0, 0, (gsize)-1);
  for (guint y = 50; y < 80; y++)
    gst_buffer_memset (frame, (gsize)y * WIDTH + 20 + 4 * index, 255, 20);
  GST_BUFFER_PTS (frame) = index * GST_SECOND / 10;
  GST_BUFFER_DURATION (frame) = GST_SECOND / 10;
  return frame;
}

/* Pushes the frames from one number to another one. Returns the last one. */
static GstBuffer *
walk (GstHarness *h, guint first, guint end)
{
  GstBuffer *frame = NULL;

  for (guint i = first; i < end; i++) {
    gst_clear_buffer (&frame);
    frame = gst_harness_push_and_pull (h, new_frame (i));
  }
  return frame;
}

/* Asserts position and speed in frame `index`; takes the frame. */
static void
assert_motion (GstBuffer *frame, guint index, gdouble factor)
{
  const GstCclTrackInfo *track = gst_ccl_meta_get_track (gst_buffer_get_ccl_meta (frame), 0);
  gdouble x, y, deviation;

  fail_unless (gst_ccl_track_info_get_position (track, &x, &y, &deviation));
  assert_near (x, factor * (-13 + 0.4 * index), 0.2 * factor);
  assert_near (y, factor * 20, 0.5 * factor);
  fail_unless (deviation > 0.1 * factor && deviation < 3 * factor, "%g", deviation);
  fail_unless (gst_ccl_track_info_get_speed (track, &x, &deviation));
  assert_near (x, factor * 14.4, 0.5 * factor);
  fail_unless (deviation > 0.1 * factor && deviation < 5 * factor, "%g", deviation);
  assert_near (track->ground_velocity_x, factor * 4, 0.2 * factor);
  assert_near (track->ground_velocity_y, 0, 0.2 * factor);
  gst_buffer_unref (frame);
}

static void
assert_no_motion (GstBuffer *frame)
{
  const GstCclTrackInfo *track = gst_ccl_meta_get_track (gst_buffer_get_ccl_meta (frame), 0);
  gdouble x = 1, y = 1, deviation = 1;

  fail_if (gst_ccl_track_info_get_position (track, &x, &y, &deviation));
  fail_unless (x == 0 && y == 0 && deviation == 0);
  fail_if (gst_ccl_track_info_get_speed (track, &x, &deviation));
  gst_buffer_unref (frame);
}

GST_START_TEST (test_metres)
{
  GstHarness *h = new_harness ("ground=\"" STREET "\"");

  assert_motion (walk (h, 0, 40), 39, 1);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_text_relative_to_the_frame)
{
  GstHarness *h = new_harness ("ground=\" ; 18.75%,50% -5,10;; 81.25%,50%   5,10 ; "
                               "65.625%,33.3333333333% 5,20 ;34.375%,33.3333333333% -5,20;\"");

  assert_motion (walk (h, 0, 40), 39, 1);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_without_a_ground)
{
  GstHarness *h = new_harness ("");

  assert_no_motion (walk (h, 0, 10));
  gst_harness_teardown (h);
}
GST_END_TEST

/* The horizon of these points is in row 100. */
GST_START_TEST (test_beyond_the_horizon)
{
  GstHarness *h =
      new_harness ("ground=\"60,180 -5,10; 260,180 5,10; 210,140 5,20; 110,140 -5,20\"");

  assert_no_motion (walk (h, 0, 10));
  gst_harness_teardown (h);
}
GST_END_TEST

/* Metres do not change with the size of the video. */
GST_START_TEST (test_scaled_video)
{
  GstHarness *h = new_harness (
      "ground=\"" STREET "\" ! videoscale ! capsfilter caps=video/x-raw,width=160,height=120");

  assert_motion (walk (h, 0, 40), 39, 1);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_changes_while_playing)
{
  GstHarness *h = new_harness ("ground=\"" STREET "\"");
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (tracker, bus);
  gst_buffer_unref (walk (h, 0, 30));
  g_object_set (tracker, "ground", "60,120 -5,10; 260", NULL);
  assert_motion (walk (h, 30, 32), 31, 1);
  assert_warning (
      bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "column 18: expected a comma");
  assert_warning (bus, 0, 0, NULL);
  /* Twice as large. */
  g_object_set (
      tracker, "ground", "60,120 -10,20\n260,120 10,20\n210,80 10,40\n110,80 -10,40", NULL);
  assert_motion (walk (h, 32, 33), 32, 2);
  g_object_set (tracker, "ground", NULL, NULL);
  assert_no_motion (walk (h, 33, 34));
  assert_warning (bus, 0, 0, NULL);
  gst_element_set_bus (tracker, NULL);
  gst_object_unref (tracker);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* The lines of frames with and without a ground. */
static gchar *
last_line (const char *ground)
{
  gchar *pipeline =
      g_strdup_printf ("ccl threshold=128 ! ccltrack confirm-frames=1 %s ! ccljson", ground);
  GstHarness *h = gst_harness_new_parse (pipeline);
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);
  gchar *line = NULL;
  GstBuffer *out;

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  for (guint i = 0; i < 40; i++) {
    fail_unless_equals_int (gst_harness_push (h, new_frame (i)), GST_FLOW_OK);
    while ((out = gst_harness_try_pull (h))) {
      gsize size = gst_buffer_get_size (out);

      g_free (line);
      line = g_malloc0 (size + 1);
      gst_buffer_extract (out, 0, line, size);
      gst_buffer_unref (out);
    }
  }
  gst_harness_teardown (h);
  g_free (pipeline);
  return line;
}

GST_START_TEST (test_json)
{
  gchar *line = last_line ("ground=\"" STREET "\"");
  gdouble x, y, position_deviation, speed, speed_deviation;

  fail_unless_equals_int (sscanf (strstr (line, ",\"position\""),
                              ",\"position\":[%lf,%lf],\"position_deviation\":%lf,\"speed\":%lf,"
                              "\"speed_deviation\":%lf}]}",
                              &x, &y, &position_deviation, &speed, &speed_deviation),
      5);
  assert_near (x, 2.6, 0.2);
  assert_near (y, 20, 0.5);
  assert_near (speed, 14.4, 0.5);
  fail_unless (position_deviation > 0.1 && speed_deviation > 0.1);
  g_free (line);

  line = last_line ("");
  fail_if (strstr (line, "position") || strstr (line, "speed"));
  g_free (line);
}
GST_END_TEST

/* The walker, at 14.4 km/h, is at x = 50 in frame 5, at 94 in frame 16, and passes 130 between
 * frames 25 and 26. */
GST_START_TEST (test_events_of_speed)
{
  GstHarness *h = gst_harness_new_parse (
      "ccl threshold=128 ! ccltrack confirm-frames=1 settle-frames=1 ground=\"" STREET "\" "
      "regions=\"region door 48,70 92,70 92,90 48,90 faster-than=12; "
      "region slow 48,70 92,70 92,90 48,90 slower-than=12; "
      "line gate 130,0 130,120 faster-than=12 slower-than=20\" ! ccljson");
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);
  GString *events = g_string_new (NULL);
  GstBuffer *out;

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  for (guint i = 0; i < 40; i++) {
    fail_unless_equals_int (gst_harness_push (h, new_frame (i)), GST_FLOW_OK);
    while ((out = gst_harness_try_pull (h))) {
      gchar line[1024] = "", *end;

      gst_buffer_extract (out, 0, line, sizeof line - 1);
      end = strstr (line, "\"speed\":");
      if (strstr (line, "\"event\"") && end) {
        const gdouble speed = g_ascii_strtod (end + strlen ("\"speed\":"), NULL);

        assert_near (speed, 14.4, 2);
        *end = '\0';
        g_string_append_printf (events, "%s\n", strstr (line, "\"event\""));
      }
      gst_buffer_unref (out);
    }
  }
  fail_unless_equals_string (events->str,
      "\"event\":\"entered\",\"id\":1,\"region\":\"door\",\n"
      "\"event\":\"faster\",\"id\":1,\"region\":\"door\",\n"
      "\"event\":\"entered\",\"id\":1,\"region\":\"slow\",\n"
      "\"event\":\"left\",\"id\":1,\"region\":\"door\",\"dwell\":1.000,\n"
      "\"event\":\"left\",\"id\":1,\"region\":\"slow\",\"dwell\":1.000,\n"
      "\"event\":\"crossed\",\"id\":1,\"line\":\"gate\",\"direction\":\"backward\",\n"
      "\"event\":\"faster\",\"id\":1,\"line\":\"gate\",\n"
      "\"event\":\"slower\",\"id\":1,\"line\":\"gate\",\n");
  g_string_free (events, TRUE);
  gst_harness_teardown (h);
}
GST_END_TEST

static const struct {
  const char *text, *message;
} bad_texts[] = {
    {"1,1", "ground, line 1, column 4: expected the point's position in metres"},
    {"1,1 2,2 3,3", "ground, line 1, column 9: expected a semicolon"},
    {"1,1 2%,2%", "ground, line 1, column 5: expected metres, found %"},
    {"1,1 2,2\n1%,1% 2,2", "ground, line 2, column 1: pixels and % are mixed"},
    {"1,1 2,2; 1%,1 2,2", "ground, line 1, column 10: pixels and % are mixed"},
    {"1,1 2,x", "ground, line 1, column 7: expected a number, found \"x\""},
    {"1,1 2,2; 2,2 3,3; 4,1 1,1", "ground: the ground needs 4 to 256 points, not 3"},
    {"1,1 1,1; 2,2 2,2; 3,3 3,3; 1,2 1,2", "ground: no camera sees the points"},
    {"1,1 1,1; 2,2 2,2; 1,2 1,2; 9e9,2 2,1", "ground: point 4 of the ground is outside"},
};

GST_START_TEST (test_bad_text)
{
  GstElement *tracker = gst_element_factory_make ("ccltrack", NULL);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (tracker, bus);
  g_object_set (tracker, "ground", bad_texts[__i__].text, NULL);
  fail_unless_equals_int (
      gst_element_set_state (tracker, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, bad_texts[__i__].message);
  gst_element_set_state (tracker, GST_STATE_NULL);
  gst_element_set_bus (tracker, NULL);
  gst_object_unref (tracker);
  gst_object_unref (bus);
}
GST_END_TEST

static Suite *
ground_suite (void)
{
  Suite *suite = suite_create ("ground");
  TCase *tcase = tcase_create ("ground");

  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_metres);
  tcase_add_test (tcase, test_text_relative_to_the_frame);
  tcase_add_test (tcase, test_without_a_ground);
  tcase_add_test (tcase, test_beyond_the_horizon);
  tcase_add_test (tcase, test_scaled_video);
  tcase_add_test (tcase, test_changes_while_playing);
  tcase_add_test (tcase, test_json);
  tcase_add_test (tcase, test_events_of_speed);
  tcase_add_loop_test (tcase, test_bad_text, 0, G_N_ELEMENTS (bad_texts));
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (ground);
