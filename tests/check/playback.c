/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What rates of playback, flushes, new streams and stops do to ccl and ccltrack. */
#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"

#include <math.h>

#define WIDTH 320
#define HEIGHT 120
#define FRAME_TIME (GST_SECOND / 10)
#define TRACKED "ccl threshold=128 ! ccltrack least-way=0 confirm-frames=1 settle-frames=1 "

/* A harness and the bus of its elements. */
typedef struct {
  GstHarness *h;
  GstBus *bus;
} Play;

static Play
begin (const char *line)
{
  Play play = {gst_harness_new_parse (line), gst_bus_new ()};
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);

  gst_element_set_bus (play.h->element, play.bus);
  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_harness_set_src_caps (play.h, caps);
  return play;
}

static void
end (Play *play)
{
  gst_element_set_bus (play->h->element, NULL);
  gst_object_unref (play->bus);
  gst_harness_teardown (play->h);
}

static void
set_rate (GstHarness *h, gdouble rate)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.stop = rate < 0 ? 100 * GST_SECOND : GST_CLOCK_TIME_NONE;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

static void
flush (GstHarness *h)
{
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  set_rate (h, 1);
}

static GstBuffer *
new_frame (GstClockTime pts)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);

  gst_buffer_memset (frame, 0, 0, (gsize)-1);
  GST_BUFFER_PTS (frame) = pts;
  return frame;
}

static GstBuffer *
push (GstHarness *h, GstBuffer *frame)
{
  GstBuffer *out = gst_harness_push_and_pull (h, frame);

  fail_unless (out != NULL);
  return out;
}

/* Pushes the frame of that number, in which an object has moved to the right by 4 pixels a frame.
 */
static GstBuffer *
walk (GstHarness *h, guint number)
{
  GstBuffer *frame = new_frame (number * FRAME_TIME);

  for (guint y = 30; y < 80; y++)
    gst_buffer_memset (frame, (gsize)y * WIDTH + 20 + 4 * number, 255, 20);
  return push (h, frame);
}

/* The next message of that name with, unless it is NULL, that field "event"; NULL if there is none.
 * The caller frees it. */
static GstStructure *
take_message (Play *play, const char *name, const char *event)
{
  GstStructure *found = NULL;
  GstMessage *message;

  while (!found && (message = gst_bus_pop_filtered (play->bus, GST_MESSAGE_ELEMENT))) {
    const GstStructure *structure = gst_message_get_structure (message);

    if (gst_structure_has_name (structure, name) &&
        (!event || !g_strcmp0 (gst_structure_get_string (structure, "event"), event)))
      found = gst_structure_copy (structure);
    gst_message_unref (message);
  }
  return found;
}

static void
assert_time (const GstStructure *structure, const char *name, GstClockTime expected)
{
  GstClockTime time = 0;

  fail_unless (gst_structure_get_clock_time (structure, name, &time));
  fail_unless_equals_uint64 (time, expected);
}

static void
check_dwell (gdouble rate)
{
  Play play = begin (TRACKED "regions=\"region door 48,70 148,70 148,90 48,90 stay=2\"");
  GstStructure *message;
  gdouble dwell = 0;

  set_rate (play.h, rate);
  for (guint i = 0; i < 40; i++) {
    GstBuffer *out = walk (play.h, i);
    const GstCclTrackInfo *track = gst_ccl_meta_get_track (gst_buffer_get_ccl_meta (out), 0);

    fail_unless_equals_int (track->age, i);
    gst_buffer_unref (out);
  }
  message = take_message (&play, "ccl-track", "stayed");
  fail_unless (message != NULL);
  gst_structure_free (message);
  message = take_message (&play, "ccl-track", "left");
  fail_unless (message != NULL);
  fail_unless (gst_structure_get_double (message, "dwell", &dwell));
  fail_unless (fabs (dwell - 2.4) < 1e-6, "rate %g: dwell %g", rate, dwell);
  gst_structure_free (message);
  end (&play);
}

/* The foot point, 30 + 4 × frame, is inside from frame 5 to frame 29: 24 frames of 0.1 s. */
GST_START_TEST (test_time_of_the_content)
{
  const gdouble rates[] = {1, 2, 4, 0.5, 0.25};

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    check_dwell (rates[i]);
}
GST_END_TEST

static void
check_direction (gdouble rate)
{
  Play play = begin (TRACKED "regions=\"line gate 100,0 100,120\"");
  GstStructure *message;

  set_rate (play.h, rate);
  for (guint i = 0; i < 40; i++)
    gst_buffer_unref (walk (play.h, rate < 0 ? 40 - i : i));
  message = take_message (&play, "ccl-track", "crossed");
  fail_unless (message != NULL);
  fail_unless_equals_string (gst_structure_get_string (message, "direction"), "backward");
  gst_structure_free (message);
  end (&play);
}

/* The object moves to the right in the content, in whatever order its frames arrive. */
GST_START_TEST (test_direction_of_the_content)
{
  check_direction (1);
  check_direction (-1);
}
GST_END_TEST

/* Dots at every other pixel of every other row. */
static GstBuffer *
snow (guint n, GstClockTime pts)
{
  GstBuffer *frame = new_frame (pts);

  for (guint i = 0; i < n; i++)
    gst_buffer_memset (frame, (gsize)(i / (WIDTH / 2)) * 2 * WIDTH + i % (WIDTH / 2) * 2, 255, 1);
  return frame;
}

static void
check_limit (const char *line, guint n, guint n_rows)
{
  Play play = begin (line);
  GstCclMeta *meta;
  GstBuffer *out;

  gst_buffer_unref (push (play.h, snow (n, 0)));
  out = push (play.h, snow (n, FRAME_TIME));
  meta = gst_buffer_get_ccl_meta (out);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), n);
  fail_unless_equals_int (gst_ccl_meta_get_n_rows (meta), n_rows);
  gst_buffer_unref (out);
  assert_warning (play.bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "not all of which");
  assert_warning (play.bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, NULL);
  end (&play);
}

GST_START_TEST (test_truncated_table)
{
  check_limit (
      "ccl threshold=128 max-components=10 ! ccltrack least-way=0 tentative=true", 333, 10);
}
GST_END_TEST

GST_START_TEST (test_largest_number_of_tracks)
{
  check_limit ("ccl threshold=128 ! ccltrack least-way=0 tentative=true", 2000, 1024);
  check_limit ("ccl threshold=128 ! ccltrack least-way=0 tentative=true max-tracks=20", 50, 20);
  check_limit ("ccl threshold=128 ! ccltrack least-way=0 tentative=true max-components=30", 50, 30);
}
GST_END_TEST

/* A track ends with its stream; its successor has another identity. */
GST_START_TEST (test_tracks_of_a_new_stream)
{
  Play play = begin (TRACKED);
  GstStructure *message;
  GstBuffer *out = NULL;

  for (guint i = 0; i < 10; i++)
    gst_buffer_unref (walk (play.h, i));
  gst_harness_push_event (play.h, gst_event_new_stream_start ("second"));
  set_rate (play.h, 1);
  message = take_message (&play, "ccl-track", "vanished");
  fail_unless (message != NULL);
  assert_time (message, "timestamp", 9 * FRAME_TIME);
  gst_structure_free (message);
  for (guint i = 10; i < 13; i++) {
    gst_clear_buffer (&out);
    out = walk (play.h, i);
  }
  fail_unless_equals_uint64 (gst_ccl_meta_get_track (gst_buffer_get_ccl_meta (out), 0)->id, 2);
  gst_buffer_unref (out);
  end (&play);
}
GST_END_TEST

/* The vanished tracks of before a seek have the times of before. */
GST_START_TEST (test_tracks_of_a_flush)
{
  Play play = begin (TRACKED);
  GstStructure *message;

  for (guint i = 0; i < 10; i++)
    gst_buffer_unref (walk (play.h, i));
  flush (play.h);
  gst_buffer_unref (push (play.h, new_frame (50 * GST_SECOND)));
  message = take_message (&play, "ccl-track", "vanished");
  fail_unless (message != NULL);
  assert_time (message, "timestamp", 9 * FRAME_TIME);
  assert_time (message, "running-time", 9 * FRAME_TIME);
  gst_structure_free (message);
  end (&play);
}
GST_END_TEST

#define MOTION "ccl name=labeller threshold=128 post-motion=true min-frames=1 quiet-time=1 "

static Play
begin_motion (void)
{
  Play play = begin (MOTION);
  GstStructure *message;

  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (walk (play.h, i));
  message = take_message (&play, "motion-begin", NULL);
  fail_unless (message != NULL);
  gst_structure_free (message);
  return play;
}

static void
assert_motion_ends (Play *play)
{
  GstStructure *message = take_message (play, "motion-end", NULL);

  fail_unless (message != NULL);
  assert_time (message, "timestamp", 2 * FRAME_TIME);
  gst_structure_free (message);
}

GST_START_TEST (test_motion_ends_with_a_flush)
{
  Play play = begin_motion ();

  flush (play.h);
  assert_motion_ends (&play);
  end (&play);
}
GST_END_TEST

GST_START_TEST (test_motion_ends_with_the_stream)
{
  Play play = begin_motion ();

  gst_harness_push_event (play.h, gst_event_new_stream_start ("second"));
  assert_motion_ends (&play);
  end (&play);
}
GST_END_TEST

GST_START_TEST (test_motion_ends_with_the_stop)
{
  Play play = begin_motion ();

  gst_element_set_state (play.h->element, GST_STATE_READY);
  assert_motion_ends (&play);
  end (&play);
}
GST_END_TEST

/* Where motion is reported again, it begins again. */
GST_START_TEST (test_motion_ends_where_it_is_no_longer_reported)
{
  Play play = begin_motion ();
  GstElement *labeller = gst_bin_get_by_name (GST_BIN (play.h->element), "labeller");
  GstStructure *message;

  g_object_set (labeller, "post-motion", FALSE, NULL);
  gst_buffer_unref (walk (play.h, 3));
  assert_motion_ends (&play);
  g_object_set (labeller, "post-motion", TRUE, NULL);
  gst_buffer_unref (walk (play.h, 4));
  message = take_message (&play, "motion-begin", NULL);
  fail_unless (message != NULL);
  gst_structure_free (message);
  gst_object_unref (labeller);
  end (&play);
}
GST_END_TEST

/* Ten frames without components are one second. */
GST_START_TEST (test_motion_ends_while_the_stream_is_reversed)
{
  Play play = begin (MOTION);
  GstStructure *message;

  set_rate (play.h, -1);
  gst_buffer_unref (walk (play.h, 40));
  for (guint i = 39; i >= 30; i--)
    gst_buffer_unref (push (play.h, new_frame (i * FRAME_TIME)));
  message = take_message (&play, "motion-end", NULL);
  fail_unless (message != NULL);
  gst_structure_free (message);
  end (&play);
}
GST_END_TEST

/* A time that is not known has no field. */
GST_START_TEST (test_motion_without_time_stamps)
{
  Play play = begin (MOTION);
  GstBuffer *frame = snow (5, GST_CLOCK_TIME_NONE);
  GstStructure *message;

  gst_buffer_unref (push (play.h, frame));
  message = take_message (&play, "motion-begin", NULL);
  fail_unless (message != NULL);
  fail_unless (!gst_structure_has_field (message, "timestamp"));
  fail_unless (!gst_structure_has_field (message, "stream-time"));
  fail_unless (!gst_structure_has_field (message, "running-time"));
  gst_structure_free (message);
  end (&play);
}
GST_END_TEST

/* Another stream may show another scene: its first frame is background. */
GST_START_TEST (test_background_of_a_new_stream)
{
  Play play = begin ("ccl foreground=codebook light=false");
  GstBuffer *out;

  for (guint i = 0; i < 10; i++)
    gst_buffer_unref (push (play.h, new_frame (i * FRAME_TIME)));
  gst_harness_push_event (play.h, gst_event_new_stream_start ("second"));
  set_rate (play.h, 1);
  out = walk (play.h, 10);
  assert_count (out, 0);
  gst_buffer_unref (out);
  end (&play);
}
GST_END_TEST

static Suite *
playback_suite (void)
{
  Suite *suite = suite_create ("playback");
  TCase *tcase = tcase_create ("playback");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_time_of_the_content);
  tcase_add_test (tcase, test_direction_of_the_content);
  tcase_add_test (tcase, test_truncated_table);
  tcase_add_test (tcase, test_largest_number_of_tracks);
  tcase_add_test (tcase, test_tracks_of_a_new_stream);
  tcase_add_test (tcase, test_tracks_of_a_flush);
  tcase_add_test (tcase, test_motion_ends_with_a_flush);
  tcase_add_test (tcase, test_motion_ends_with_the_stream);
  tcase_add_test (tcase, test_motion_ends_with_the_stop);
  tcase_add_test (tcase, test_motion_ends_where_it_is_no_longer_reported);
  tcase_add_test (tcase, test_motion_ends_while_the_stream_is_reversed);
  tcase_add_test (tcase, test_motion_without_time_stamps);
  tcase_add_test (tcase, test_background_of_a_new_stream);
  return suite;
}

GST_CHECK_MAIN (playback);
