/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cclrecord: what the clips of events contain, and what happens when they cannot be written.
 * ffprobe counts the frames of a clip. */
#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"
#include "tests/check/shared/skips.h"

#define RATE 25
#define KEY_INTERVAL 10 /* frames */
#define N_FRAMES 200
#define SECONDS(x) ((GstClockTime)((x)*GST_SECOND))

static GPtrArray *frames; /* GstSample: an encoded stream with a key frame every 0.4 s */

/* Encodes N_FRAMES pictures of that width. */
static GPtrArray *
encode (guint width)
{
  GPtrArray *samples = g_ptr_array_new_with_free_func ((GDestroyNotify)gst_sample_unref);
  gchar *line = g_strdup_printf (
      "videotestsrc num-buffers=%d pattern=ball ! video/x-raw,width=%u,height=64,framerate=%d/1 ! "
      "x264enc tune=zerolatency key-int-max=%d option-string=scenecut=0 speed-preset=ultrafast ! "
      "video/x-h264,alignment=au,stream-format=avc ! appsink name=s sync=false",
      N_FRAMES, width, RATE, KEY_INTERVAL);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  GstSample *sample;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_pull_sample (GST_APP_SINK (sink))))
    g_ptr_array_add (samples, sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  g_free (line);
  fail_unless_equals_int (samples->len, N_FRAMES);
  return samples;
}

typedef struct {
  GstHarness *harness;
  GstElement *element;
  GstBus *bus;
  gchar *folder;
} Run;

static gchar *
file_of (const Run *run, guint number)
{
  return g_strdup_printf ("%s/clip %u.mp4", run->folder, number);
}

static Run
start (const gchar *settings)
{
  Run run = {.folder = g_dir_make_tmp ("record-XXXXXX", NULL), .bus = gst_bus_new ()};
  gchar *line =
      g_strdup_printf ("cclrecord name=e location=\"%s/clip %%d.mp4\" %s", run.folder, settings);

  run.harness = gst_harness_new_parse (line);
  run.element = gst_bin_get_by_name (GST_BIN (run.harness->element), "e");
  gst_element_set_bus (run.element, run.bus);
  g_free (line);
  return run;
}

static void
finish (Run *run)
{
  GDir *dir = g_dir_open (run->folder, 0, NULL);
  const gchar *name;

  gst_element_set_bus (run->element, NULL);
  gst_object_unref (run->element);
  gst_harness_teardown (run->harness);
  gst_object_unref (run->bus);
  while ((name = g_dir_read_name (dir))) {
    gchar *path = g_build_filename (run->folder, name, NULL);

    g_unlink (path);
    g_free (path);
  }
  g_dir_close (dir);
  g_rmdir (run->folder);
  g_free (run->folder);
}

/* Pushes frames [first, end) of a stream with its caps. */
static GstFlowReturn
push (Run *run, GPtrArray *samples, guint first, guint end)
{
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint i = first; i < end && flow == GST_FLOW_OK; i++) {
    GstSample *sample = g_ptr_array_index (samples, i);
    GstBuffer *buffer = gst_buffer_copy (gst_sample_get_buffer (sample));

    if (i == first)
      gst_harness_set_src_caps (run->harness, gst_caps_ref (gst_sample_get_caps (sample)));
    GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = i * GST_SECOND / RATE;
    flow = gst_harness_push (run->harness, buffer);
  }
  return flow;
}

static void
act (Run *run, const gchar *signal, GstClockTime time)
{
  g_signal_emit_by_name (run->element, signal, (guint64)time);
}

static void
end_stream (Run *run)
{
  fail_unless (gst_harness_push_event (run->harness, gst_event_new_eos ()));
}

/* The number of frames that ffprobe finds in a file; -1 if it cannot be played. */
static gint
count_frames (const gchar *path)
{
  const gchar *command[] = {"ffprobe", "-v", "error", "-count_packets", "-select_streams", "v",
      "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", path, NULL};
  gchar *output = NULL;
  gint status = -1, n = -1;

  if (g_spawn_sync (NULL, (gchar **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, NULL,
          &status, NULL) &&
      status == 0)
    n = atoi (output);
  g_free (output);
  return n;
}

/* Fails the test unless there are exactly these files, with so many frames. */
static void
assert_clips (const Run *run, const gint *expected, guint n)
{
  for (guint i = 0; i <= n; i++) {
    gchar *path = file_of (run, i);

    if (i == n)
      fail_if (g_file_test (path, G_FILE_TEST_EXISTS), "a clip too many: %s", path);
    else
      fail_unless_equals_int (count_frames (path), expected[i]);
    g_free (path);
  }
}

#define ASSERT_CLIPS(run, ...)                                                                     \
  do {                                                                                             \
    const gint expected_[] = {__VA_ARGS__};                                                        \
    assert_clips (run, expected_, G_N_ELEMENTS (expected_));                                       \
  } while (0)

/* Fails the test unless there is a message for each clip, in any order: clips end in threads of
 * their own. times: running times of the events. */
static void
assert_messages (const Run *run, const GstClockTime *times, guint n)
{
  for (guint i = 0; i < n; i++) {
    GstMessage *message = gst_bus_pop_filtered (run->bus, GST_MESSAGE_ELEMENT);
    const GstStructure *structure;
    gboolean is_complete = FALSE;
    gint64 time = -1;
    guint number;

    fail_unless (message != NULL);
    structure = gst_message_get_structure (message);
    fail_unless (gst_structure_has_name (structure, "ccl-record"));
    fail_unless (sscanf (strstr (gst_structure_get_string (structure, "location"), "/clip "),
                     "/clip %u.mp4", &number) == 1);
    fail_unless (gst_structure_get_int64 (structure, "running-time", &time));
    fail_unless (number < n);
    fail_unless_equals_uint64 (time, times[number]);
    gst_structure_get_boolean (structure, "complete", &is_complete);
    fail_unless (is_complete);
    gst_message_unref (message);
  }
}

#define ASSERT_MESSAGES(run, ...)                                                                  \
  do {                                                                                             \
    const GstClockTime times_[] = {__VA_ARGS__};                                                   \
    assert_messages (run, times_, G_N_ELEMENTS (times_));                                          \
  } while (0)

/* The event is from 4 s to 5 s and is reported 0.2 s later. The last key frame at least 1 s before
 * it is frame 70, at 2.8 s; 1 s after it is frame 150. */
GST_START_TEST (test_rolls)
{
  Run run = start ("pre-roll=1 post-roll=1");

  push (&run, frames, 0, 105);
  act (&run, "start", SECONDS (4));
  push (&run, frames, 105, 130);
  act (&run, "stop", SECONDS (5));
  push (&run, frames, 130, 200);
  end_stream (&run);
  ASSERT_CLIPS (&run, 150 - 70);
  ASSERT_MESSAGES (&run, SECONDS (4));
  finish (&run);
}
GST_END_TEST

/* An event that begins in the seconds after another one goes on in its clip. */
GST_START_TEST (test_events_that_follow)
{
  Run run = start ("pre-roll=0 post-roll=1");

  push (&run, frames, 0, 50);
  act (&run, "start", GST_CLOCK_TIME_NONE); /* frame 49, after key frame 40 */
  push (&run, frames, 50, 60);
  act (&run, "stop", SECONDS (2)); /* until 3 s */
  push (&run, frames, 60, 70);
  act (&run, "start", GST_CLOCK_TIME_NONE);
  push (&run, frames, 70, 90);
  act (&run, "stop", SECONDS (3)); /* until 4 s: frame 100 */
  push (&run, frames, 90, 150);
  act (&run, "start", GST_CLOCK_TIME_NONE); /* frame 149, after key frame 140 */
  push (&run, frames, 150, 200);
  end_stream (&run);
  ASSERT_CLIPS (&run, 100 - 40, 200 - 140);
  finish (&run);
}
GST_END_TEST

GST_START_TEST (test_property)
{
  Run run = start ("recording=true post-roll=0");
  gboolean is_recording;

  push (&run, frames, 0, 100);
  g_object_get (run.element, "recording", &is_recording, NULL);
  fail_unless (is_recording);
  g_object_set (run.element, "recording", FALSE, NULL); /* at frame 99 */
  push (&run, frames, 100, 101);
  g_object_get (run.element, "recording", &is_recording, NULL);
  fail_if (is_recording);
  push (&run, frames, 101, 200);
  end_stream (&run);
  ASSERT_CLIPS (&run, 100);
  finish (&run);
}
GST_END_TEST

GST_START_TEST (test_no_event)
{
  Run run = start ("");

  push (&run, frames, 0, 20);
  end_stream (&run);
  assert_clips (&run, NULL, 0);
  finish (&run);
}
GST_END_TEST

/* Key frames come every 0.4 s; the clip ends with the first one that is more than 2 s after its
 * beginning. */
GST_START_TEST (test_long_events)
{
  Run run = start ("recording=true max-duration=2");

  push (&run, frames, 0, 200);
  end_stream (&run);
  ASSERT_CLIPS (&run, 60, 60, 60, 20);
  ASSERT_MESSAGES (&run, 0, SECONDS (2.4), SECONDS (4.8), SECONDS (7.2));
  finish (&run);
}
GST_END_TEST

GST_START_TEST (test_caps_that_change)
{
  GPtrArray *wide = encode (96);
  Run run = start ("recording=true");

  push (&run, frames, 0, 50);
  push (&run, wide, 50, 120);
  end_stream (&run);
  ASSERT_CLIPS (&run, 50, 70);
  finish (&run);
  g_ptr_array_unref (wide);
}
GST_END_TEST

/* What follows a seek is another clip; the seconds after an event before it are not recorded. */
GST_START_TEST (test_flushes)
{
  Run run = start ("recording=true post-roll=5");

  push (&run, frames, 0, 50);
  gst_harness_push_event (run.harness, gst_event_new_flush_start ());
  gst_harness_push_event (run.harness, gst_event_new_flush_stop (TRUE));
  push (&run, frames, 0, 30);
  act (&run, "stop", GST_CLOCK_TIME_NONE);
  push (&run, frames, 30, 40);
  gst_harness_push_event (run.harness, gst_event_new_flush_start ());
  gst_harness_push_event (run.harness, gst_event_new_flush_stop (TRUE));
  push (&run, frames, 0, 30);
  end_stream (&run);
  ASSERT_CLIPS (&run, 50, 40);
  finish (&run);
}
GST_END_TEST

/* The program ends in the middle of a clip, which is complete nevertheless. */
GST_START_TEST (test_stop_in_a_clip)
{
  Run run = start ("recording=true");

  push (&run, frames, 0, 77);
  gst_element_set_state (run.element, GST_STATE_NULL);
  ASSERT_CLIPS (&run, 77);
  finish (&run);
}
GST_END_TEST

GST_START_TEST (test_files_are_kept)
{
  Run run = start ("recording=true");
  gchar *first = file_of (&run, 0), *second = file_of (&run, 1), *content;

  fail_unless (g_file_set_contents (first, "precious", -1, NULL));
  push (&run, frames, 0, 30);
  end_stream (&run);
  fail_unless (g_file_get_contents (first, &content, NULL, NULL));
  fail_unless_equals_string (content, "precious");
  fail_unless_equals_int (count_frames (second), 30);
  g_free (content);
  g_free (first);
  g_free (second);
  finish (&run);
}
GST_END_TEST

/* The file is written by another thread. */
static void
push_until_error (Run *run)
{
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint i = 0; i < 200 && flow == GST_FLOW_OK; i++) {
    flow = push (run, frames, 0, 200);
    g_usleep (10000);
  }
  fail_unless_equals_int (flow, GST_FLOW_ERROR);
}

GST_START_TEST (test_folder_that_is_missing)
{
  Run run = start ("recording=true");

  g_object_set (run.element, "location", "/nonexistent/folder/%d.mp4", NULL);
  push_until_error (&run);
  assert_error (
      run.bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE, "/nonexistent/folder/0");
  finish (&run);
}
GST_END_TEST

/* A limit of the process stands for a disk that is full after some fragments. */
GST_START_TEST (test_disk_that_fills_up)
{
  const struct rlimit limit = {.rlim_cur = 40000, .rlim_max = RLIM_INFINITY};
  struct rlimit former;
  Run run = start ("recording=true");
  gchar *path = file_of (&run, 0);
  gint n;

  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &former);
  setrlimit (RLIMIT_FSIZE, &limit);
  push_until_error (&run);
  assert_error (run.bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE, path);
  gst_element_set_state (run.element, GST_STATE_NULL);
  setrlimit (RLIMIT_FSIZE, &former);
  n = count_frames (path);
  fail_unless (n >= 25, "%d frames can be played", n);
  finish (&run);
  g_free (path);
}
GST_END_TEST

/* The event ends before a key frame comes. */
GST_START_TEST (test_no_key_frame)
{
  Run run = start ("recording=true post-roll=0");

  push (&run, frames, 1, 6);
  g_object_set (run.element, "recording", FALSE, NULL);
  push (&run, frames, 6, 9);
  assert_warning (run.bus, GST_STREAM_ERROR, GST_STREAM_ERROR_MUX, "no key frame");
  end_stream (&run);
  assert_clips (&run, NULL, 0);
  finish (&run);
}
GST_END_TEST

GST_START_TEST (test_locations)
{
  static const gchar *const wrong[] = {"", "clip.mp4", "%s.mp4", "%n%d", "%d-%d", "%", "%5d",
      "%00d", "%0d", "%099999999999d", "%ld"};

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    GstElement *element = gst_element_factory_make ("cclrecord", NULL);
    GstBus *bus = gst_bus_new ();

    gst_element_set_bus (element, bus);
    g_object_set (element, "location", wrong[i], NULL);
    fail_unless_equals_int (
        gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "location");
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_object_unref (element);
  }
}
GST_END_TEST

/* A wrong location does not end the stream, nor the clip. */
GST_START_TEST (test_wrong_location_while_playing)
{
  Run run = start ("recording=true");

  push (&run, frames, 0, 30);
  g_object_set (run.element, "location", "clip.mp4", NULL);
  assert_warning (run.bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "clip.mp4");
  g_object_set (run.element, "location", NULL, NULL);
  assert_warning (run.bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "location");
  fail_unless_equals_int (push (&run, frames, 30, 60), GST_FLOW_OK);
  end_stream (&run);
  ASSERT_CLIPS (&run, 60);
  finish (&run);
}
GST_END_TEST

/* The ball moves from the first frame to the last one: one clip, with all frames from the first
 * key frame on. */
GST_START_TEST (test_motion_of_the_pipeline)
{
  Run run = {.folder = g_dir_make_tmp ("record-XXXXXX", NULL)};
  gchar *line = g_strdup_printf (
      "videotestsrc pattern=ball num-buffers=60 ! video/x-raw,format=I420,width=64,height=64 ! "
      "tee name=t ! queue ! ccl threshold=100 post-motion=true ! fakesink async=false t. ! queue ! "
      "x264enc tune=zerolatency ! cclrecord follow-motion=true location=\"%s/clip %%d.mp4\" "
      "t. ! queue ! x264enc tune=zerolatency ! cclrecord follow-motion=true labeller=other "
      "location=\"%s/other %%d.mp4\"",
      run.folder, run.folder);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  gchar *other = g_strdup_printf ("%s/other 0.mp4", run.folder);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  ASSERT_CLIPS (&run, 60);
  fail_if (g_file_test (other, G_FILE_TEST_EXISTS));
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (line);
  g_free (other);
  run.harness = gst_harness_new ("identity");
  run.element = gst_object_ref (run.harness->element);
  run.bus = gst_bus_new ();
  finish (&run);
}
GST_END_TEST

static void
set_up (void)
{
  frames = encode (64);
}

static void
tear_down (void)
{
  g_clear_pointer (&frames, g_ptr_array_unref);
  assert_no_leaks ();
}

static Suite *
record_suite (void)
{
  Suite *suite = suite_create ("cclrecord");
  TCase *tcase = tcase_create ("cclrecord");
  gchar *ffprobe = g_find_program_in_path ("ffprobe");
  GstElementFactory *encoder = gst_element_factory_find ("x264enc");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, ffprobe && encoder ? set_up : NULL, tear_down);
  tcase_add_test (tcase, test_locations);
  if (ffprobe && encoder) {
    tcase_add_test (tcase, test_rolls);
    tcase_add_test (tcase, test_events_that_follow);
    tcase_add_test (tcase, test_property);
    tcase_add_test (tcase, test_no_event);
    tcase_add_test (tcase, test_long_events);
    tcase_add_test (tcase, test_caps_that_change);
    tcase_add_test (tcase, test_flushes);
    tcase_add_test (tcase, test_stop_in_a_clip);
    tcase_add_test (tcase, test_files_are_kept);
    tcase_add_test (tcase, test_folder_that_is_missing);
    tcase_add_test (tcase, test_disk_that_fills_up);
    tcase_add_test (tcase, test_no_key_frame);
    tcase_add_test (tcase, test_wrong_location_while_playing);
    tcase_add_test (tcase, test_motion_of_the_pipeline);
  } else {
    skip ("the clips of cclrecord", "ffprobe or x264enc is missing");
  }
  gst_clear_object (&encoder);
  g_free (ffprobe);
  return suite;
}

GST_CHECK_MAIN (record);
