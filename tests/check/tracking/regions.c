/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The regions and lines of ccltrack: texts, files, events, messages, counts, and changes while
 * playing. tests/unit/tracking/test-regions.c tests the geometry. */
#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"

#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define WIDTH 320
#define HEIGHT 120
#define FRAME_TIME (GST_SECOND / 10)

/* The walker's foot point moves from 30 to the right, by 4 pixels per frame, at y = 80. */
#define DOOR "region door 48,70 92,70 92,90 48,90 stay=0.5"
#define GATE "line 'the gate' 160,0 160,120"

static GstHarness *
new_harness (const char *properties)
{
  gchar *line = g_strdup_printf (
      "ccl threshold=128 ! ccltrack least-way=0 confirm-frames=1 settle-frames=1 %s", properties);
  GstHarness *h = gst_harness_new_parse (line);
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  g_free (line);
  return h;
}

static GstBuffer *
new_frame (guint index)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);

  gst_buffer_memset (frame, 0, 0, (gsize)-1);
  for (guint y = 30; y < 80; y++)
    gst_buffer_memset (frame, (gsize)y * WIDTH + 20 + 4 * index, 255, 20);
  GST_BUFFER_PTS (frame) = index * FRAME_TIME;
  GST_BUFFER_DURATION (frame) = FRAME_TIME;
  return frame;
}

/* Appends the events of regions and lines as text, each with the number of the frame. */
static void
append_events (GstHarness *h, guint index, GString *text)
{
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h))) {
    const GstStructure *s = gst_event_get_structure (event);

    if (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM &&
        gst_structure_has_name (s, "ccl-track")) {
      const gchar *region = gst_structure_get_string (s, "region");
      const gchar *line = gst_structure_get_string (s, "line");
      const gchar *direction = gst_structure_get_string (s, "direction");

      if (region || line)
        g_string_append_printf (text, "%s%u: %s %s%s%s", text->len > 0 ? ", " : "", index,
            gst_structure_get_string (s, "event"), region ? region : line, direction ? " " : "",
            direction ? direction : "");
    }
    gst_event_unref (event);
  }
}

/* Pushes the frames from one number to another one. Returns the events. */
static gchar *
walk (GstHarness *h, guint first, guint end)
{
  GString *text = g_string_new (NULL);

  for (guint i = first; i < end; i++) {
    gst_buffer_unref (gst_harness_push_and_pull (h, new_frame (i)));
    append_events (h, i, text);
  }
  return g_string_free (text, FALSE);
}

static void
assert_walk (GstHarness *h, guint first, guint end, const char *expected)
{
  gchar *events = walk (h, first, end);

  fail_unless_equals_string (events, expected);
  g_free (events);
}

/* The walker is at 50 in frame 5, at 94 in frame 16, and passes 160 between frames 32 and 33. */
static const char all_events[] = "5: entered door, 10: stayed door, 16: left door, 33: crossed the "
                                 "gate backward";

static void
check_properties (const char *properties)
{
  GstHarness *h = new_harness (properties);

  assert_walk (h, 0, 40, all_events);
  gst_harness_teardown (h);
}

GST_START_TEST (test_text)
{
  check_properties ("regions=\"" DOOR "; " GATE "\"");
}
GST_END_TEST

GST_START_TEST (test_text_relative_to_the_frame)
{
  check_properties ("regions=\";; region door 15%,50% 28.75%,50%  28.75%,75% 15%,75% "
                    "stay=.5 ;line 'the gate' 50%,0% 50%,100%;\"");
}
GST_END_TEST

static gchar *
write_file (const char *content)
{
  gchar *path = g_build_filename (g_get_tmp_dir (), "ccl-regions-XXXXXX", NULL);
  const int file = g_mkstemp (path);

  fail_unless (file >= 0);
  g_close (file, NULL);
  fail_unless (g_file_set_contents (path, content, -1, NULL));
  return path;
}

GST_START_TEST (test_file)
{
  gchar *path = write_file (
      "{\"regions\": [{\"name\": \"door\", \"points\": [[48, 70], [92, 70], [92, 90], [48, 90]], "
      "\"stay\": 0.5}], \"lines\": [{\"name\": \"the gate\", \"points\": [[0.5, 0], [0.5, 1]], "
      "\"relative\": true}]}");
  gchar *properties = g_strdup_printf ("regions-location=%s", path);

  check_properties (properties);
  g_free (properties);
  g_unlink (path);
  g_free (path);
}
GST_END_TEST

/* A file may have the text of the property. */
GST_START_TEST (test_text_file)
{
  gchar *path = write_file ("\n  " DOOR "\n" GATE "\n");
  gchar *properties = g_strdup_printf ("regions-location=%s", path);

  check_properties (properties);
  g_free (properties);
  g_unlink (path);
  g_free (path);
}
GST_END_TEST

/* The anchor is the middle of the box: the walker's is at y = 55. */
GST_START_TEST (test_anchor)
{
  GstHarness *h =
      new_harness ("anchor=center regions=\"" DOOR "; region high 48,50 92,50 92,60 48,60\"");

  assert_walk (h, 0, 20, "5: entered high, 16: left high");
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_settle_frames)
{
  GstHarness *h = new_harness ("settle-frames=3 regions=\"" GATE "\"");

  assert_walk (h, 0, 40, "35: crossed the gate backward");
  gst_harness_teardown (h);
}
GST_END_TEST

static const GstStructure *
get_region (const GstStructure *structure, guint i)
{
  const GValue *array = gst_structure_get_value (structure, "regions");

  fail_unless (array != NULL && GST_VALUE_HOLDS_ARRAY (array));
  fail_unless (i < gst_value_array_get_size (array));
  return gst_value_get_structure (gst_value_array_get_value (array, i));
}

static guint64
get_count (const GstStructure *structure, guint i, const char *field)
{
  const GValue *value = gst_structure_get_value (get_region (structure, i), field);

  fail_unless (value != NULL);
  return G_VALUE_HOLDS_UINT (value) ? g_value_get_uint (value) : g_value_get_uint64 (value);
}

/* The property and the sticky event have the same counts. */
GST_START_TEST (test_counts)
{
  GstHarness *h = new_harness ("name=tracker regions=\"" DOOR "; " GATE "\"");
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  GstStructure *stats;
  const GstStructure *announced;
  GstEvent *event;
  guint64 tracks;

  g_free (walk (h, 0, 10));
  g_object_get (tracker, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "tracks", &tracks));
  fail_unless_equals_uint64 (tracks, 1);
  fail_unless_equals_uint64 (get_count (stats, 0, "inside"), 1);
  fail_unless_equals_uint64 (get_count (stats, 0, "left"), 0);
  gst_structure_free (stats);

  g_free (walk (h, 10, 40));
  g_object_get (tracker, "stats", &stats, NULL);
  event = gst_pad_get_sticky_event (h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  fail_unless (event != NULL);
  announced = gst_event_get_structure (event);
  fail_unless (gst_structure_has_name (announced, "ccl-regions"));
  for (guint i = 0; i < 2; i++) {
    const GstStructure *s = i ? announced : stats;

    fail_unless_equals_string (gst_structure_get_string (get_region (s, 0), "name"), "door");
    fail_unless_equals_string (gst_structure_get_string (get_region (s, 1), "kind"), "line");
    fail_unless_equals_uint64 (get_count (s, 0, "inside"), 0);
    fail_unless_equals_uint64 (get_count (s, 0, "entered"), 1);
    fail_unless_equals_uint64 (get_count (s, 0, "left"), 1);
    fail_unless_equals_uint64 (get_count (s, 0, "stayed"), 1);
    fail_unless_equals_uint64 (get_count (s, 1, "forward"), 0);
    fail_unless_equals_uint64 (get_count (s, 1, "backward"), 1);
  }
  gst_event_unref (event);
  gst_structure_free (stats);
  gst_object_unref (tracker);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Regions that stay in the text keep their counts; a region that is moved counts anew. */
GST_START_TEST (test_changes_while_playing)
{
  GstHarness *h = new_harness ("regions=\"" DOOR "; region other 0,0 10,0 10,10\"");
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  GstStructure *stats;

  g_free (walk (h, 0, 8));
  g_object_set (tracker, "regions", GATE "\n" DOOR, NULL);
  assert_walk (h, 8, 40, "10: stayed door, 16: left door, 33: crossed the gate backward");
  g_object_get (tracker, "stats", &stats, NULL);
  fail_unless_equals_uint64 (get_count (stats, 1, "entered"), 1);
  gst_structure_free (stats);
  g_object_set (tracker, "regions", NULL, NULL);
  assert_walk (h, 40, 42, "");
  g_object_get (tracker, "stats", &stats, NULL);
  fail_unless_equals_int (gst_value_array_get_size (gst_structure_get_value (stats, "regions")), 0);
  gst_structure_free (stats);
  gst_object_unref (tracker);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A new frame size ends all tracks: the one inside leaves; counts go on. */
GST_START_TEST (test_new_frame_size)
{
  GstHarness *h = new_harness ("regions=\"" DOOR "\"");
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT - 1);
  GstStructure *stats;
  GstBuffer *frame = new_frame (9);

  g_free (walk (h, 0, 8));
  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  gst_buffer_set_size (frame, WIDTH * (HEIGHT - 1));
  gst_buffer_unref (gst_harness_push_and_pull (h, frame));
  g_object_get (tracker, "stats", &stats, NULL);
  fail_unless_equals_uint64 (get_count (stats, 0, "entered"), 2);
  fail_unless_equals_uint64 (get_count (stats, 0, "left"), 1);
  fail_unless_equals_uint64 (get_count (stats, 0, "inside"), 1);
  gst_structure_free (stats);
  gst_object_unref (tracker);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Who is inside leaves at the end of the stream. */
GST_START_TEST (test_end_of_stream)
{
  GstHarness *h = new_harness ("regions=\"" DOOR "\"");
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  GstStructure *stats;

  g_free (walk (h, 0, 8));
  gst_harness_push_event (h, gst_event_new_eos ());
  g_object_get (tracker, "stats", &stats, NULL);
  fail_unless_equals_uint64 (get_count (stats, 0, "entered"), 1);
  fail_unless_equals_uint64 (get_count (stats, 0, "left"), 1);
  fail_unless_equals_uint64 (get_count (stats, 0, "inside"), 0);
  gst_structure_free (stats);
  gst_object_unref (tracker);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_message)
{
  GstHarness *h = new_harness ("regions=\"" GATE "\"");
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  GstBus *bus = gst_bus_new ();
  const GstStructure *s;
  GstMessage *message;
  GstClockTime time;
  guint64 id;

  gst_element_set_bus (tracker, bus);
  g_free (walk (h, 0, 40));
  gst_message_unref (gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT)); /* appeared */
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  fail_unless (message != NULL);
  s = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (s, "ccl-track"));
  fail_unless_equals_string (gst_structure_get_string (s, "event"), "crossed");
  fail_unless_equals_string (gst_structure_get_string (s, "line"), "the gate");
  fail_unless_equals_string (gst_structure_get_string (s, "direction"), "backward");
  fail_unless (gst_structure_get_uint64 (s, "id", &id) && id == 1);
  fail_unless (gst_structure_get_clock_time (s, "running-time", &time));
  fail_unless_equals_clocktime (time, 33 * FRAME_TIME);
  gst_message_unref (message);
  gst_element_set_bus (tracker, NULL);
  gst_object_unref (bus);
  gst_object_unref (tracker);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Each frame tells where its tracks are, as the events do. */
GST_START_TEST (test_state_in_the_frame)
{
  GstHarness *h = new_harness ("regions=\"" DOOR "; " GATE "\"");

  for (guint i = 0; i < 40; i++) {
    GstBuffer *frame = gst_harness_push_and_pull (h, new_frame (i));
    GstCclRegionState *state = gst_ccl_meta_get_region_state (gst_buffer_get_ccl_meta (frame));
    const GstCclRegionInfo *door, *gate;

    fail_unless (state != NULL);
    fail_unless_equals_int (gst_ccl_region_state_get_n_rows (state), 1);
    door = gst_ccl_region_state_get_region (state, 0);
    gate = gst_ccl_region_state_get_region (state, 1);
    fail_unless_equals_string (door->name, "door");
    fail_unless_equals_string (gate->name, "the gate");
    fail_unless (!door->is_line && gate->is_line);
    fail_unless_equals_int (door->inside, i >= 5 && i < 16);
    fail_unless_equals_int (gst_ccl_region_state_is_inside (state, 0, 0), i >= 5 && i < 16);
    fail_unless_equals_int (gst_ccl_region_state_get_crossing (state, 1, 0), i == 33 ? -1 : 0);
    fail_unless_equals_int (gate->backward, i >= 33);
    fail_unless_equals_int (gate->forward, 0);
    gst_ccl_region_state_unref (state);
    gst_buffer_unref (frame);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* Two objects of which one is inside, and a frame without regions. */
GST_START_TEST (test_state_of_several_tracks)
{
  GstHarness *h = new_harness ("name=tracker regions=\"" DOOR "\"");
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  GstCclRegionState *state;
  GstBuffer *frame = new_frame (0);

  gst_buffer_memset (frame, 80 * WIDTH - 260, 255, 20); /* its foot point is at (70, 80) */
  gst_buffer_memset (frame, 79 * WIDTH - 260, 255, 20);
  frame = gst_harness_push_and_pull (h, frame);
  state = gst_ccl_meta_get_region_state (gst_buffer_get_ccl_meta (frame));
  fail_unless_equals_int (gst_ccl_region_state_get_n_rows (state), 2);
  fail_unless (!gst_ccl_region_state_is_inside (state, 0, 0));
  fail_unless (gst_ccl_region_state_is_inside (state, 0, 1));
  fail_unless_equals_int (gst_ccl_region_state_get_region (state, 0)->inside, 1);
  gst_ccl_region_state_unref (state);
  gst_buffer_unref (frame);

  g_object_set (tracker, "regions", NULL, NULL);
  frame = gst_harness_push_and_pull (h, new_frame (1));
  fail_unless (gst_ccl_meta_get_region_state (gst_buffer_get_ccl_meta (frame)) == NULL);
  gst_buffer_unref (frame);
  gst_object_unref (tracker);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_json)
{
  GstHarness *h =
      gst_harness_new_parse ("ccl threshold=128 ! ccltrack least-way=0 confirm-frames=1 "
                             "settle-frames=1 regions=\"" DOOR ";" GATE "\" ! ccljson");
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);
  GString *events = g_string_new (NULL);
  GstBuffer *out;

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  for (guint i = 0; i < 40; i++) {
    fail_unless_equals_int (gst_harness_push (h, new_frame (i)), GST_FLOW_OK);
    while ((out = gst_harness_try_pull (h))) {
      gchar line[1024] = "";

      gst_buffer_extract (out, 0, line, sizeof line - 1);
      if (strstr (line, "\"event\""))
        g_string_append (events, strstr (line, "\"event\""));
      gst_buffer_unref (out);
    }
  }
  fail_unless_equals_string (events->str,
      "\"event\":\"appeared\",\"id\":1}\n"
      "\"event\":\"entered\",\"id\":1,\"region\":\"door\"}\n"
      "\"event\":\"stayed\",\"id\":1,\"region\":\"door\"}\n"
      "\"event\":\"left\",\"id\":1,\"region\":\"door\",\"dwell\":1.000}\n"
      "\"event\":\"crossed\",\"id\":1,\"line\":\"the gate\",\"direction\":\"backward\"}\n");
  g_string_free (events, TRUE);
  gst_harness_teardown (h);
}
GST_END_TEST

static const struct {
  const char *text, *message;
} bad_texts[] = {
    {"regio a 1,1 2,2 3,3", "line 1, column 1: expected \"region\" or \"line\", found \"regio\""},
    {"region", "line 1, column 7: expected a name"},
    {"line 'a 1,1 2,2", "line 1, column 6: the quoted name has no end"},
    {"line a 1,1 2", "line 1, column 13: expected a comma"},
    {"line a 1,1 2,x2", "line 1, column 14: expected a number, found \"x2\""},
    {"line a 1,1 2,2,3", "line 1, column 15: expected a space"},
    {"line a 1,1 2%,2%", "line 1, column 12: pixels and % are mixed"},
    {"line a 1,1 2,2\n  line ä 1,1", "line 2, column 3: line \"ä\" has 1 points instead of 2"},
    {"line ä 1,1 2,2;region ä 1,1 2,2 1,2", "line 1, column 16: the name \"ä\" is used twice"},
    {"region a 1,1 2,2 stay=3", "line 1, column 1: region \"a\" has 2 points"},
    {"region a 1,1 2,2 2,1 stay=-3", "line 1, column 27: expected a number of seconds"},
    {"line a 1,1 2,2 stay=3", "line 1, column 16: a line has no stay"},
    {"line a 1,1 2,2 faster-than=x", "line 1, column 28: expected a number of km/h"},
    {"region a 1,1 2,2 2,1 slower-than=9e9", "line 1, column 34: expected a number of km/h"},
    {"line gate 0,0 0,0", "line 1, column 1: both points of line \"gate\" are the same"},
    {"region a 1,1 5,5 3,3", "line 1, column 1: all points of region \"a\" are on one line"},
};

GST_START_TEST (test_bad_text)
{
  GstElement *tracker = gst_element_factory_make ("ccltrack", NULL);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (tracker, bus);
  g_object_set (tracker, "regions", bad_texts[__i__].text, NULL);
  fail_unless_equals_int (
      gst_element_set_state (tracker, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, bad_texts[__i__].message);
  gst_element_set_state (tracker, GST_STATE_NULL);
  gst_element_set_bus (tracker, NULL);
  gst_object_unref (tracker);
  gst_object_unref (bus);
}
GST_END_TEST

/* A mistake while playing costs a warning: the former regions stay, with their counts, and the next
 * correct ones are taken. */
GST_START_TEST (test_mistakes_while_playing)
{
  static const struct {
    const char *property, *value, *message;
  } mistakes[] = {
      {"regions", "region dor 48,70 92", "line 1, column 20: expected a comma"},
      {"regions", "line far 0,0 9999999,0", "point 2 of region \"far\" is outside"},
      {"regions-location", "/nowhere/regions.json", "/nowhere/regions.json"},
  };
  GstHarness *h = new_harness ("regions=\"" DOOR "; " GATE "\"");
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (tracker, bus);
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++) {
    gchar *events = walk (h, 5 * i, 5 * i + 1), *more;

    g_object_set (tracker, mistakes[i].property, mistakes[i].value, NULL);
    more = walk (h, 5 * i + 1, 5 * i + 5);
    fail_unless_equals_string (events, i == 1   ? "5: entered door"
                                       : i == 2 ? "10: stayed door"
                                                : "");
    fail_unless_equals_string (more, "");
    assert_warning (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, mistakes[i].message);
    assert_warning (bus, 0, 0, NULL);
    g_free (events);
    g_free (more);
  }
  assert_walk (h, 15, 20, "16: left door");
  g_object_set (tracker, "regions-location", NULL, "regions", "line new 110,0 110,120", NULL);
  assert_walk (h, 20, 25, "20: crossed new backward");
  assert_warning (bus, 0, 0, NULL);
  gst_element_set_bus (tracker, NULL);
  gst_object_unref (tracker);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* The file is read when the property is set, not by the thread that pushes frames. */
GST_START_TEST (test_file_is_read_by_the_application)
{
  GstHarness *h = new_harness ("name=tracker");
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  gchar *path = write_file (DOOR "\n");

  g_object_set (tracker, "regions-location", path, NULL);
  g_unlink (path);
  assert_walk (h, 0, 20, "5: entered door, 10: stayed door, 16: left door");
  gst_object_unref (tracker);
  gst_harness_teardown (h);
  g_free (path);
}
GST_END_TEST

static const struct {
  const char *content, *message;
} bad_files[] = {
    {"", "top level: is not an object"},
    {"{\"regions\": [\n{\"name\": \"a\",]}", ": line 2: is not JSON"},
    {"root:x:0:0:root:/root:/bin/sh\n", ": line 1: is not JSON"},
    {"[]", "top level: is not an object"},
    {"line a 1,1 2,2\nregion b 1,1 2", ", line 2, column 15: expected a comma"},
    {"line a 1,1 2,2\nregio", ", line 2, column 1: expected \"region\" or \"line\""},
    {"line \xe4 1,1 2,2", "is not JSON"}, /* not UTF-8 */
    {"lines of another file", "is not JSON"},
    {"{\"region\": []}", "top level: has a member that is none of regions, lines"},
    {"{\"lines\": {}}", "lines: is not an array"},
    {"{\"lines\": [3]}", "line 1: is not an object"},
    {"{\"lines\": [{\"points\": []}]}", "line 1: needs a \"name\""},
    {"{\"lines\": [{\"name\": \"a\"}]}", "line 1: needs \"points\""},
    {"{\"lines\": [{\"name\": \"a\", \"points\": [[1, 2], [1]]}]}",
        "line 1: point 2 is not [x, y]"},
    {"{\"lines\": [{\"name\": \"a\", \"points\": [[1, 2]]}]}", "line \"a\" has 1 points"},
    {"{\"regions\": [{\"name\": \"a\", \"stay\": \"3\"}]}", "region 1: \"stay\" is not"},
    {"{\"lines\": [{\"name\": \"a\", \"faster_than\": -1}]}", "line 1: \"faster_than\" is not"},
    {"{\"lines\": [{\"name\": \"a\", \"relative\": 1}]}", "line 1: \"relative\" is neither"},
};

GST_START_TEST (test_bad_file)
{
  GstElement *tracker = gst_element_factory_make ("ccltrack", NULL);
  gchar *path = write_file (bad_files[__i__].content);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (tracker, bus);
  g_object_set (tracker, "regions-location", path, NULL);
  fail_unless_equals_int (
      gst_element_set_state (tracker, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, bad_files[__i__].message);
  g_unlink (path);
  fail_unless_equals_int (
      gst_element_set_state (tracker, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, path);
  gst_element_set_state (tracker, GST_STATE_NULL);
  gst_element_set_bus (tracker, NULL);
  gst_object_unref (tracker);
  gst_object_unref (bus);
  g_free (path);
}
GST_END_TEST

/* A file that is no regular one is refused without waiting for its data; so is a very large one. */
GST_START_TEST (test_kinds_of_files)
{
  GstElement *tracker = gst_element_factory_make ("ccltrack", NULL);
  gchar *fifo = g_strdup_printf ("%s/regions-%d", g_get_tmp_dir (), getpid ());
  gchar *large = write_file ("");
  const struct {
    const char *path, *message;
  } files[] = {{fifo, "not a regular file"}, {"/dev/zero", "not a regular file"},
      {"/", "not a regular file"}, {large, "larger than 1048576 bytes"}};
  GstBus *bus = gst_bus_new ();

  fail_unless_equals_int (mkfifo (fifo, 0600), 0);
  fail_unless_equals_int (truncate (large, 1 << 30), 0);
  gst_element_set_bus (tracker, bus);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_object_set (tracker, "regions-location", files[i].path, NULL);
    fail_unless_equals_int (
        gst_element_set_state (tracker, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, files[i].message);
  }
  gst_element_set_state (tracker, GST_STATE_NULL);
  gst_element_set_bus (tracker, NULL);
  gst_object_unref (tracker);
  gst_object_unref (bus);
  g_unlink (fifo);
  g_unlink (large);
  g_free (fifo);
  g_free (large);
}
GST_END_TEST

static Suite *
regions_suite (void)
{
  Suite *suite = suite_create ("regions");
  TCase *tcase = tcase_create ("regions");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_text);
  tcase_add_test (tcase, test_text_relative_to_the_frame);
  tcase_add_test (tcase, test_file);
  tcase_add_test (tcase, test_file_is_read_by_the_application);
  tcase_add_test (tcase, test_text_file);
  tcase_add_test (tcase, test_anchor);
  tcase_add_test (tcase, test_settle_frames);
  tcase_add_test (tcase, test_counts);
  tcase_add_test (tcase, test_changes_while_playing);
  tcase_add_test (tcase, test_new_frame_size);
  tcase_add_test (tcase, test_end_of_stream);
  tcase_add_test (tcase, test_message);
  tcase_add_test (tcase, test_state_in_the_frame);
  tcase_add_test (tcase, test_state_of_several_tracks);
  tcase_add_test (tcase, test_json);
  tcase_add_loop_test (tcase, test_bad_text, 0, G_N_ELEMENTS (bad_texts));
  tcase_add_test (tcase, test_mistakes_while_playing);
  tcase_add_loop_test (tcase, test_bad_file, 0, G_N_ELEMENTS (bad_files));
  tcase_add_test (tcase, test_kinds_of_files);
  return suite;
}

GST_CHECK_MAIN (regions);
