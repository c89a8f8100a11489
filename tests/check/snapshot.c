/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cclsnapshot: which view of a track is pictured, when, and what the picture shows. Qualities are
 * computed by hand from the formula of the documentation. */
#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <math.h>

#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"

#define WIDTH 200
#define HEIGHT 160
#define TYPE_STATE(state) GST_CCL_TRACK_STATE_##state

typedef struct {
  GstHarness *harness;
  GstElement *element;
  GstBus *bus;
  guint n_frames;
} Run;

static Run
start (const gchar *settings, const gchar *format)
{
  gchar *line = g_strdup_printf ("cclsnapshot name=e %s", settings);
  Run run = {.harness = gst_harness_new_parse (line), .bus = gst_bus_new ()};

  run.element = gst_bin_get_by_name (GST_BIN (run.harness->element), "e");
  gst_element_set_bus (run.element, run.bus);
  gst_harness_set_src_caps (run.harness, frame_caps (format, WIDTH, HEIGHT));
  g_free (line);
  return run;
}

static void
finish (Run *run)
{
  gst_element_set_bus (run->element, NULL);
  gst_object_unref (run->element);
  gst_harness_teardown (run->harness);
  gst_object_unref (run->bus);
}

typedef struct {
  guint64 id;
  GstCclTrackState state;
  guint x, y, width, height;
  guint luma;  /* of the object */
  gint stripe; /* pixels of the object are luma ± stripe in turn, column by column */
} Object;

/* A grey frame with these objects on black, and their tracks. */
static GstBuffer *
new_frame (Run *run, const Object *objects, guint n)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);
  GstCclComponent *rows = g_new0 (GstCclComponent, n + 1);
  GstCclTrackInfo *tracks = g_new0 (GstCclTrackInfo, n + 1);
  GstMapInfo map;

  gst_buffer_map (frame, &map, GST_MAP_WRITE);
  memset (map.data, 0, map.size);
  for (guint i = 0; i < n; i++) {
    const Object *o = &objects[i];

    for (guint y = o->y; y < o->y + o->height; y++)
      for (guint x = o->x; x < o->x + o->width; x++)
        map.data[y * WIDTH + x] = (guint8)((gint)o->luma + (x % 2 ? o->stripe : -o->stripe));
    rows[i] = (GstCclComponent){i + 1, o->width * o->height, o->x, o->y, o->width, o->height};
    tracks[i] = (GstCclTrackInfo){.id = o->id, .state = o->state};
  }
  gst_buffer_unmap (frame, &map);
  gst_ccl_meta_set_tracks (
      gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, n, rows, n, NULL, 0), tracks, n);
  GST_BUFFER_PTS (frame) = run->n_frames++ * (GST_SECOND / 25);
  g_free (rows);
  g_free (tracks);
  return frame;
}

#define PUSH(run, ...)                                                                             \
  do {                                                                                             \
    const Object objects_[] = {__VA_ARGS__};                                                       \
    fail_unless_equals_int (                                                                       \
        gst_harness_push ((run)->harness, new_frame (run, objects_, G_N_ELEMENTS (objects_))),     \
        GST_FLOW_OK);                                                                              \
  } while (0)

static void
vanish (Run *run, guint64 id)
{
  gst_harness_push_event (run->harness, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
                                            gst_structure_new ("ccl-track", "event", G_TYPE_STRING,
                                                "vanished", "id", G_TYPE_UINT64, id, NULL)));
}

static void
end_stream (Run *run)
{
  fail_unless (gst_harness_push_event (run->harness, gst_event_new_eos ()));
}

/* The content of the next message, which must come within five seconds; NULL: there is none now. */
static GstStructure *
next_message (Run *run, GstClockTime wait)
{
  GstMessage *message = gst_bus_timed_pop_filtered (run->bus, wait, GST_MESSAGE_ELEMENT);
  GstStructure *structure;

  if (!message)
    return NULL;
  structure = gst_structure_copy (gst_message_get_structure (message));
  fail_unless (gst_structure_has_name (structure, "ccl-snapshot"));
  gst_message_unref (message);
  return structure;
}

static guint
get_uint (const GstStructure *structure, const gchar *field)
{
  guint value = G_MAXUINT;

  fail_unless (gst_structure_get_uint (structure, field, &value), "no %s", field);
  return value;
}

/* The message's picture, decoded to grey. */
static GstSample *
decode (const GstStructure *structure)
{
  GstElement *pipeline = gst_parse_launch ("appsrc name=in ! jpegdec ! videoconvert ! "
                                           "video/x-raw,format=GRAY8 ! appsink name=out sync=false",
      NULL);
  GstElement *in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  GstElement *out = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  GstSample *jpeg = NULL, *grey;

  fail_unless (gst_structure_get (structure, "image", GST_TYPE_SAMPLE, &jpeg, NULL));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_app_src_push_sample (GST_APP_SRC (in), jpeg);
  gst_app_src_end_of_stream (GST_APP_SRC (in));
  grey = gst_app_sink_try_pull_sample (GST_APP_SINK (out), 5 * GST_SECOND);
  fail_unless (grey != NULL, "not a JPEG picture");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (in);
  gst_object_unref (out);
  gst_object_unref (pipeline);
  gst_sample_unref (jpeg);
  return grey;
}

static void
assert_size (const GstStructure *structure, gint width, gint height)
{
  GstSample *grey = decode (structure);
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (grey)));
  fail_unless_equals_int (info.width, width);
  fail_unless_equals_int (info.height, height);
  gst_sample_unref (grey);
}

/* The value of a picture's pixel. */
static guint
pixel (const GstStructure *structure, guint x, guint y)
{
  GstSample *grey = decode (structure);
  GstVideoInfo info;
  GstVideoFrame frame;
  guint value;

  gst_video_info_from_caps (&info, gst_sample_get_caps (grey));
  fail_unless (gst_video_frame_map (&frame, &info, gst_sample_get_buffer (grey), GST_MAP_READ));
  value = ((guint8 *)GST_VIDEO_FRAME_PLANE_DATA (
      &frame, 0))[y * (guint)GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + x];
  gst_video_frame_unmap (&frame);
  gst_sample_unref (grey);
  return value;
}

/* Fails the test unless the next picture is that of this track and of the frame with this number.
 */
static void
assert_picture (Run *run, guint64 id, guint number, gdouble quality)
{
  GstStructure *structure = next_message (run, 5 * GST_SECOND);
  guint64 found = 0;
  GstClockTime time = 0;
  gdouble value = 0;

  fail_unless (structure != NULL, "no picture");
  gst_structure_get_uint64 (structure, "id", &found);
  fail_unless_equals_uint64 (found, id);
  gst_structure_get_clock_time (structure, "timestamp", &time);
  fail_unless_equals_uint64 (time, number * (GST_SECOND / 25));
  gst_structure_get_double (structure, "quality", &value);
  fail_unless (fabs (value - quality) < 1e-6 * quality, "quality %.9f", value);
  gst_structure_free (structure);
}

static void
assert_no_picture (Run *run)
{
  fail_unless (next_message (run, 0) == NULL);
}

/* A plain object in the middle: its quality is the square root of its pixels. */
GST_START_TEST (test_largest_view)
{
  Run run = start ("", "GRAY8");

  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 40, 30, 200, 0});
  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 60, 40, 200, 0});
  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 61, 41, 200, 0}); /* not a tenth better */
  PUSH (&run, {7, TYPE_STATE (STATIC), 60, 50, 20, 20, 200, 0});
  assert_no_picture (&run);
  vanish (&run, 7);
  assert_picture (&run, 7, 1, sqrt (60 * 40));
  vanish (&run, 7);
  end_stream (&run);
  assert_no_picture (&run);
  finish (&run);
}
GST_END_TEST

/* Stripes of ±d: the Laplacian of a pixel is ±4d, its mean over as many columns of both kinds is 0,
 * and its standard deviation 4d. */
GST_START_TEST (test_sharpest_view)
{
  Run run = start ("", "GRAY8");

  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 42, 30, 100, 2});
  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 42, 30, 100, 10});
  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 62, 50, 100, 0});
  end_stream (&run);
  assert_picture (&run, 7, 1, sqrt (42 * 30) * (1 + 40));
  finish (&run);
}
GST_END_TEST

/* A cut object counts a quarter, and one 3 pixels from the edge, of 6 that are a tenth of its
 * longer side, 0.25 + 0.75 / 2. */
GST_START_TEST (test_view_in_the_frame)
{
  Run run = start ("", "GRAY8");

  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 0, 50, 60, 40, 200, 0});
  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 3, 50, 60, 40, 200, 0});
  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 150, 120, 50, 40, 200, 0});
  end_stream (&run);
  assert_picture (&run, 7, 1, sqrt (60 * 40) * 0.625);
  finish (&run);
}
GST_END_TEST

/* 40 × 30 pixels and a quarter of that on each side: 60 × 44 (whole pixels), the object in the
 * middle. JPEG has luma of another range. */
GST_START_TEST (test_what_is_shown)
{
  Run run = start ("margin=0.25", "GRAY8");
  GstStructure *structure;

  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 40, 30, 200, 0});
  end_stream (&run);
  structure = next_message (&run, 5 * GST_SECOND);
  fail_unless (structure != NULL);
  fail_unless_equals_int (get_uint (structure, "x"), 60);
  fail_unless_equals_int (get_uint (structure, "y"), 50);
  fail_unless_equals_int (get_uint (structure, "width"), 40);
  fail_unless_equals_int (get_uint (structure, "height"), 30);
  assert_size (structure, 60, 44);
  fail_unless (ABS ((gint)pixel (structure, 30, 22) - 200) < 20, "%u", pixel (structure, 30, 22));
  fail_unless (pixel (structure, 3, 22) < 40);
  fail_unless (pixel (structure, 56, 22) < 40);
  fail_unless (pixel (structure, 30, 2) < 40);
  gst_structure_free (structure);
  finish (&run);
}
GST_END_TEST

GST_START_TEST (test_size_of_pictures)
{
  Run run = start ("margin=0 max-size=50", "GRAY8");
  GstStructure *structure;

  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 20, 30, 100, 60, 200, 0});
  end_stream (&run);
  structure = next_message (&run, 5 * GST_SECOND);
  assert_size (structure, 50, 30);
  gst_structure_free (structure);
  finish (&run);
}
GST_END_TEST

/* Tracks that are not confirmed, or lost, are not there to be seen. */
GST_START_TEST (test_states)
{
  Run run = start ("", "GRAY8");

  PUSH (&run, {1, TYPE_STATE (TENTATIVE), 60, 50, 40, 30, 200, 0},
      {2, TYPE_STATE (LOST), 60, 50, 40, 30, 200, 0},
      {3, TYPE_STATE (CONFIRMED), 60, 50, 20, 20, 200, 0});
  PUSH (&run, {3, TYPE_STATE (LOST), 60, 50, 90, 70, 200, 0});
  end_stream (&run);
  assert_picture (&run, 3, 0, 20);
  assert_no_picture (&run);
  finish (&run);
}
GST_END_TEST

/* The first view is at 0; the frame at 0.2 s is number 5. */
GST_START_TEST (test_longest_wait)
{
  Run run = start ("max-wait=0.2", "GRAY8");

  for (guint i = 0; i < 5; i++)
    PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 20 + 15 * i, 20, 200, 0});
  assert_no_picture (&run);
  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 10, 20, 200, 0});
  assert_picture (&run, 7, 4, sqrt (80 * 20));
  for (guint i = 0; i < 5; i++)
    PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 90, 60, 200, 0});
  end_stream (&run);
  assert_no_picture (&run);
  finish (&run);
}
GST_END_TEST

/* Without events, a track ends ten seconds after its last row: with the frame at 10.04 s. */
GST_START_TEST (test_tracker_without_events)
{
  Run run = start ("", "GRAY8");

  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 20, 20, 200, 0});
  run.n_frames = 250;
  PUSH (&run, {8, TYPE_STATE (CONFIRMED), 60, 50, 20, 20, 200, 0});
  assert_no_picture (&run);
  PUSH (&run, {8, TYPE_STATE (CONFIRMED), 60, 50, 20, 20, 200, 0});
  assert_picture (&run, 7, 0, 20);
  finish (&run);
}
GST_END_TEST

/* A thousand objects that are there at the same time. */
GST_START_TEST (test_many_tracks)
{
  static Object objects[1000];
  gboolean found[G_N_ELEMENTS (objects)] = {FALSE};
  Run run = start ("", "GRAY8");

  for (guint i = 0; i < G_N_ELEMENTS (objects); i++)
    objects[i] = (Object){i + 1, TYPE_STATE (CONFIRMED), i % 40 * 5, i / 40 * 6, 4, 5, 200, 0};
  for (guint k = 0; k < 3; k++)
    fail_unless_equals_int (
        gst_harness_push (run.harness, new_frame (&run, objects, G_N_ELEMENTS (objects))),
        GST_FLOW_OK);
  end_stream (&run);
  for (guint i = 0; i < G_N_ELEMENTS (objects); i++) {
    GstStructure *structure = next_message (&run, 0);
    guint64 id = 0;

    fail_unless (structure != NULL, "%u pictures", i);
    gst_structure_get_uint64 (structure, "id", &id);
    fail_if (found[id - 1]);
    found[id - 1] = TRUE;
    gst_structure_free (structure);
  }
  assert_no_picture (&run);
  finish (&run);
}
GST_END_TEST

GST_START_TEST (test_files)
{
  gchar *folder = g_dir_make_tmp ("snapshot-XXXXXX", NULL), *content;
  gchar *settings = g_strdup_printf ("location=%s/track-%%03d.jpg", folder);
  gchar *path = g_strdup_printf ("%s/track-012.jpg", folder);
  Run run = start (settings, "GRAY8");
  GstStructure *structure;
  GstSample *image;
  gsize size;

  PUSH (&run, {12, TYPE_STATE (CONFIRMED), 60, 50, 20, 20, 200, 0});
  end_stream (&run);
  fail_unless (g_file_get_contents (path, &content, &size, NULL));
  structure = next_message (&run, 0);
  fail_unless_equals_string (gst_structure_get_string (structure, "location"), path);
  gst_structure_get (structure, "image", GST_TYPE_SAMPLE, &image, NULL);
  fail_unless_equals_int (gst_buffer_get_size (gst_sample_get_buffer (image)), size);
  fail_unless (gst_buffer_memcmp (gst_sample_get_buffer (image), 0, content, size) == 0);
  gst_sample_unref (image);
  gst_structure_free (structure);
  finish (&run);
  g_unlink (path);
  g_rmdir (folder);
  g_free (content);
  g_free (path);
  g_free (settings);
  g_free (folder);
}
GST_END_TEST

GST_START_TEST (test_folder_that_is_missing)
{
  Run run = start ("location=/nonexistent/folder/%d.jpg", "GRAY8");
  const Object object = {12, TYPE_STATE (CONFIRMED), 60, 50, 20, 20, 200, 0};
  GstFlowReturn flow = GST_FLOW_OK;

  PUSH (&run, object);
  vanish (&run, 12);
  for (guint i = 0; i < 500 && flow == GST_FLOW_OK; i++) {
    flow = gst_harness_push (run.harness, new_frame (&run, NULL, 0));
    g_usleep (10000);
  }
  fail_unless_equals_int (flow, GST_FLOW_ERROR);
  assert_error (
      run.bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE, "/nonexistent/folder/12");
  finish (&run);
}
GST_END_TEST

/* Of a track that a flush ends, the picture is that of before; the next track is another one. */
GST_START_TEST (test_flush)
{
  Run run = start ("", "GRAY8");
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 20, 20, 200, 0});
  gst_harness_push_event (run.harness, gst_event_new_flush_start ());
  gst_harness_push_event (run.harness, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (run.harness, gst_event_new_segment (&segment));
  vanish (&run, 7);
  run.n_frames = 0;
  PUSH (&run, {8, TYPE_STATE (CONFIRMED), 60, 50, 30, 30, 200, 0});
  end_stream (&run);
  assert_picture (&run, 7, 0, 20);
  assert_picture (&run, 8, 0, 30);
  finish (&run);
}
GST_END_TEST

/* The stop makes the pictures that are missing. */
GST_START_TEST (test_stop)
{
  Run run = start ("", "GRAY8");

  PUSH (&run, {7, TYPE_STATE (CONFIRMED), 60, 50, 20, 20, 200, 0});
  gst_element_set_state (run.element, GST_STATE_READY);
  assert_picture (&run, 7, 0, 20);
  finish (&run);
}
GST_END_TEST

/* A frame of any format, white in the box on black, in which `ccl` found the object. */
static GstBuffer *
convert_frame (Run *run, const gchar *format)
{
  const Object object = {7, TYPE_STATE (CONFIRMED), 60, 50, 40, 30, 235, 0};
  GstBuffer *grey = new_frame (run, &object, 1), *converted;
  GstCaps *from = frame_caps ("GRAY8", WIDTH, HEIGHT), *to = frame_caps (format, WIDTH, HEIGHT);
  GstSample *sample = gst_sample_new (grey, from, NULL, NULL);
  GstSample *result = gst_video_convert_sample (sample, to, 5 * GST_SECOND, NULL);

  fail_unless (result != NULL, "%s", format);
  converted = gst_buffer_copy (gst_sample_get_buffer (result));
  if (!gst_buffer_get_ccl_meta (converted))
    gst_buffer_replace_ccl_meta (converted, gst_buffer_get_ccl_meta (grey));
  GST_BUFFER_PTS (converted) = 0;
  gst_buffer_unref (grey);
  gst_sample_unref (sample);
  gst_sample_unref (result);
  gst_caps_unref (from);
  gst_caps_unref (to);
  return converted;
}

GST_START_TEST (test_formats)
{
  static const gchar *const formats[] = {"GRAY8", "GRAY16_LE", "GRAY16_BE", "I420", "NV12", "YUY2",
      "I420_10LE", "P010_10LE", "RGB", "BGRx", "ARGB64", "v210", "NV12_4L4", "r210", "GBR_10BE"};

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    Run run = start ("margin=0.5", formats[i]);
    GstStructure *structure;

    fail_unless_equals_int (
        gst_harness_push (run.harness, convert_frame (&run, formats[i])), GST_FLOW_OK);
    end_stream (&run);
    structure = next_message (&run, 5 * GST_SECOND);
    fail_unless (structure != NULL, "%s", formats[i]);
    fail_unless (pixel (structure, 40, 30) > 200, "%s: %u", formats[i], pixel (structure, 40, 30));
    fail_unless (pixel (structure, 5, 5) < 50, "%s: %u", formats[i], pixel (structure, 5, 5));
    gst_structure_free (structure);
    finish (&run);
  }
}
GST_END_TEST

/* The box refers to frames of twice the size: 40 × 30 at (60, 50) is 20 × 15 at (30, 25) here. */
GST_START_TEST (test_metadata_of_larger_frames)
{
  Run run = start ("margin=0", "GRAY8");
  const GstCclComponent row = {1, 1200, 60, 50, 40, 30, 0, 0};
  const GstCclTrackInfo track = {.id = 7, .state = TYPE_STATE (CONFIRMED)};
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);
  GstStructure *structure;

  gst_buffer_memset (frame, 0, 90, WIDTH * HEIGHT);
  gst_ccl_meta_set_tracks (
      gst_buffer_add_ccl_meta (frame, 2 * WIDTH, 2 * HEIGHT, 1, &row, 1, NULL, 0), &track, 1);
  GST_BUFFER_PTS (frame) = 0;
  fail_unless_equals_int (gst_harness_push (run.harness, frame), GST_FLOW_OK);
  end_stream (&run);
  structure = next_message (&run, 5 * GST_SECOND);
  fail_unless_equals_int (get_uint (structure, "x"), 30);
  fail_unless_equals_int (get_uint (structure, "height"), 15);
  gst_structure_free (structure);
  finish (&run);
}
GST_END_TEST

/* Frames pass as they are, although others hold them, too. */
GST_START_TEST (test_frames_pass)
{
  Run run = start ("", "GRAY8");
  const Object object = {7, TYPE_STATE (CONFIRMED), 60, 50, 40, 30, 200, 0};
  GstBuffer *frame = gst_buffer_ref (new_frame (&run, &object, 1)), *passed;

  passed = gst_harness_push_and_pull (run.harness, frame);
  fail_unless (passed == frame);
  gst_buffer_unref (frame);
  gst_buffer_unref (passed);
  finish (&run);
}
GST_END_TEST

static Suite *
snapshot_suite (void)
{
  Suite *suite = suite_create ("cclsnapshot");
  TCase *tcase = tcase_create ("cclsnapshot");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_largest_view);
  tcase_add_test (tcase, test_sharpest_view);
  tcase_add_test (tcase, test_view_in_the_frame);
  tcase_add_test (tcase, test_what_is_shown);
  tcase_add_test (tcase, test_size_of_pictures);
  tcase_add_test (tcase, test_states);
  tcase_add_test (tcase, test_longest_wait);
  tcase_add_test (tcase, test_tracker_without_events);
  tcase_add_test (tcase, test_many_tracks);
  tcase_add_test (tcase, test_files);
  tcase_add_test (tcase, test_folder_that_is_missing);
  tcase_add_test (tcase, test_flush);
  tcase_add_test (tcase, test_stop);
  tcase_add_test (tcase, test_formats);
  tcase_add_test (tcase, test_metadata_of_larger_frames);
  tcase_add_test (tcase, test_frames_pass);
  return suite;
}

GST_CHECK_MAIN (snapshot);
