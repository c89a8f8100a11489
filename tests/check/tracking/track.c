/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The identities and events of ccltrack for drawn objects that ccl labels. */
#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"

#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 26, 0)
#define HAVE_TRACKING 1
#include <gst/analytics/analytics.h>
#endif

#define WIDTH 320
#define HEIGHT 120
#include "tracks.h"

#define TRACKED "ccl name=labeller threshold=128 ! ccltrack least-way=0 name=tracker"

/* Pushes the frame at that place of the stream. */
static GstBuffer *
track (GstHarness *h, guint index, const Rectangle *rectangles, guint n)
{
  return push (h, frame_at (index, rectangles, n));
}

/* An object at a place of its way to the right. */
static Rectangle
walker (guint index)
{
  return (Rectangle){20 + 4 * index, 30, 20, 50};
}

static GstBuffer *
track_walker (GstHarness *h, guint index)
{
  const Rectangle rectangle = walker (index);

  return track (h, index, &rectangle, 1);
}

/* The row of a track; NULL if there is none. */
static const GstCclComponent *
find_track (GstBuffer *frame, guint64 id, guint *row)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (frame);

  fail_unless (meta != NULL);
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclTrackInfo *track = gst_ccl_meta_get_track (meta, i);

    if (track && track->id == id) {
      if (row)
        *row = i;
      return gst_ccl_meta_get_component (meta, i);
    }
  }
  return NULL;
}

/* The track of that identity, which the frame has. */
static const GstCclTrackInfo *
track_info (GstBuffer *frame, guint64 id)
{
  guint row;

  fail_unless (find_track (frame, id, &row) != NULL);
  return gst_ccl_meta_get_track (gst_buffer_get_ccl_meta (frame), row);
}

/* Two objects pass each other. While they touch they are one component. */
GST_START_TEST (test_crossing_objects_keep_their_identities)
{
  GstHarness *h = new_harness (TRACKED);
  gboolean was_shared = FALSE;
  guint n_shared = 0;

  for (guint i = 0; i < 50; i++) {
    const Rectangle objects[] = {{60 + 4 * i, 20, 20, 50}, {240 - 4 * i, 40, 20, 50}};
    GstBuffer *out = track (h, i, objects, 2);

    if (i < 2) {
      fail_unless_equals_int (gst_ccl_meta_get_n_rows (gst_buffer_get_ccl_meta (out)), 0);
    } else {
      for (guint id = 1; id <= 2; id++) {
        guint row, n_ids;
        const GstCclComponent *component = find_track (out, id, &row);

        fail_unless (component != NULL, "frame %u: no track %u", i, id);
        fail_unless (ABS ((gint)component->x - (gint)objects[id - 1].x) <= 8,
            "frame %u: track %u is at %u instead of %u", i, id, component->x, objects[id - 1].x);
        fail_unless (ABS ((gint)component->width - 20) <= 8);
        fail_unless_equals_int (track_info (out, id)->age, i);
        fail_unless_equals_int (track_info (out, id)->state, GST_CCL_TRACK_STATE_CONFIRMED);
        gst_ccl_meta_get_ids (gst_buffer_get_ccl_meta (out), row, &n_ids);
        n_shared += n_ids == 2;
        was_shared |= n_ids == 2;
        fail_unless_equals_uint64 (
            track_info (out, id)->parent_id, was_shared && n_ids == 1 && id == 2 ? 1 : 0);
        fail_unless (n_ids == 1 || n_ids == 2);
      }
    }
    gst_buffer_unref (out);
  }
  fail_unless (n_shared >= 10, "%u rows of tracks in one component", n_shared);
  assert_events (h, "appeared 1, appeared 2, merged 1 2, merged 2 1, split 1 2, split 2 1");
  gst_harness_teardown (h);
}
GST_END_TEST

/* The label of the component that the first track is in. A thick bar above has a thin tail on the
 * left, a thick bar below a thin one on the right: their boxes overlap, their pixels do not. After
 * a rest, both move at once, so that the upper one's box is where the lower one's was. */
static guint
label_after_jump (const char *line)
{
  GstHarness *h = new_harness (line);
  guint label = 0;

  for (guint i = 0; i < 20; i++) {
    const guint x = i < 19 ? 100 : 125;
    const Rectangle parts[] = {
        {x, 10, 100, 50}, {x, 60, 5, 50}, {x + 25, 65, 100, 45}, {x + 120, 10, 5, 55}};
    GstBuffer *out = track (h, i, parts, 4);

    if (i >= 2) {
      const GstCclComponent *component = find_track (out, 1, NULL);
      fail_unless (component != NULL);
      label = component->label;
      fail_unless (i == 19 || label == 1);
    }
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
  return label;
}

GST_START_TEST (test_label_map_distinguishes_objects_whose_boxes_overlap)
{
  fail_unless_equals_int (
      label_after_jump (
          "ccl threshold=128 attach-labels=true ! ccltrack least-way=0 use-mask=false"),
      1);
  fail_unless_equals_int (
      label_after_jump ("ccl threshold=128 ! ccltrack least-way=0 use-mask=false"), 2);
}
GST_END_TEST

/* ccltrack asks labellers for what it needs, whatever is between them. */
GST_START_TEST (test_mask_distinguishes_objects_whose_boxes_overlap)
{
  static const char *const lines[] = {
      "ccl threshold=128 ! ccltrack least-way=0",
      "ccl foreground=otsu ! ccltrack least-way=0",
      "ccl threshold=128 ! queue ! ccltrack least-way=0",
      "ccl threshold=128 ! identity ! capsfilter caps=video/x-raw ! ccltrack least-way=0",
      "ccl threshold=128 ! videoconvert ! video/x-raw,format=NV12 ! ccltrack least-way=0",
      "ccl threshold=128 ! tee name=t ! queue ! fakesink async=false t. ! queue ! ccltrack "
      "least-way=0",
      "ccl threshold=128 ! tee name=t ! queue ! ccltrack least-way=0 t. ! queue ! fakesink "
      "async=false",
      "ccl threshold=200 name=first ! ccl threshold=128 name=second ! ccltrack least-way=0",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    fail_unless_equals_int (label_after_jump (lines[i]), 1);
}
GST_END_TEST

/* Whether a labeller of that name has handed on its mask at a reduced size. */
static gboolean
has_sample (GstBuffer *frame)
{
  const GType api = g_type_from_name ("GstCclSampleMetaAPI");

  return api != 0 && gst_buffer_get_meta (frame, api) != NULL;
}

static GstPadProbeReturn
note_sample (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  *(gboolean *)data |= has_sample (GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

static void
note_samples_at (const GValue *item, gpointer data)
{
  GstPad *sink = gst_element_get_static_pad (g_value_get_object (item), "sink");

  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_BUFFER, note_sample, data, NULL);
  gst_object_unref (sink);
}

/* Sets *found when a sample arrives at an element of the harness. */
static void
note_samples (GstHarness *h, gboolean *found)
{
  GstIterator *elements;

  *found = FALSE;
  if (!GST_IS_BIN (h->element))
    return;
  elements = gst_bin_iterate_elements (GST_BIN (h->element));
  gst_iterator_foreach (elements, note_samples_at, found);
  gst_iterator_free (elements);
}

/* The tracker takes the sample from the frame. */
GST_START_TEST (test_mask_is_made_where_it_is_wanted)
{
  static const struct {
    const char *line;
    gboolean has_sample;
  } cases[] = {
      {"ccl", FALSE},
      {"ccl ! ccljson ! identity", FALSE},
      {"ccl ! ccltrack least-way=0 use-mask=false", FALSE},
      {"ccl ! ccltrack least-way=0 labeller=another", FALSE},
      {"ccl meta=roi ! ccltrack least-way=0", FALSE},
      {"ccl ! ccltrack least-way=0", TRUE},
      {"ccl name=first ! ccl ! ccltrack least-way=0 labeller=first", TRUE},
      {"ccl ! ccltrack least-way=0 use-mask=false ! ccltrack least-way=0", TRUE},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = new_harness (cases[i].line);
    gboolean found;
    GstBuffer *out;

    note_samples (h, &found);
    out = track_walker (h, 0);
    fail_unless (found == cases[i].has_sample, "%s", cases[i].line);
    fail_unless (!has_sample (out), "%s", cases[i].line);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

GST_START_TEST (test_mask_is_switched_on_and_off)
{
  GstHarness *h = new_harness ("ccl threshold=128 ! queue ! ccltrack least-way=0 name=tracker");
  GstElement *tracker = gst_bin_get_by_name (GST_BIN (h->element), "tracker");
  gboolean found;

  note_samples (h, &found);
  for (guint i = 0; i < 6; i++) {
    found = FALSE;
    gst_buffer_unref (track_walker (h, i));
    fail_unless (found == (i % 2 == 0));
    g_object_set (tracker, "use-mask", i % 2 == 1, NULL);
  }
  gst_object_unref (tracker);
  gst_harness_teardown (h);
}
GST_END_TEST

#define LARGE_WIDTH 1280
#define LARGE_HEIGHT 722 /* the last row of the sample stands for two rows of the frame */
#define PERSON_HEIGHT 240

/* Writes a rectangle into the luma of a frame. */
static void
fill (GstVideoFrame *frame, Rectangle r, guint8 value)
{
  const guint step = (guint)GST_VIDEO_FRAME_COMP_PSTRIDE (frame, 0);
  const guint depth = (guint)GST_VIDEO_FRAME_COMP_DEPTH (frame, 0);
  guint8 *luma = GST_VIDEO_FRAME_COMP_DATA (frame, 0);

  for (guint y = r.y; y < r.y + r.height; y++)
    for (guint x = r.x; x < r.x + r.width; x++) {
      guint8 *pixel = luma + y * (gsize)GST_VIDEO_FRAME_COMP_STRIDE (frame, 0) + x * step;

      pixel[0] = value;
      if (depth == 16)
        pixel[1] = value;
    }
}

/* A large frame with n people hand in hand, from x on. */
static GstBuffer *
new_large_frame (const GstVideoInfo *info, guint x, guint n, gboolean invert)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  const guint8 object = invert ? 0 : 255;
  GstVideoFrame frame;

  gst_buffer_memset (buffer, 0, 100, (gsize)-1);
  gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE);
  fill (&frame, (Rectangle){0, 0, LARGE_WIDTH, LARGE_HEIGHT}, 255 - object);
  for (guint i = 0; i < n; i++)
    fill (&frame, (Rectangle){x + 150 * i, 300, 90, PERSON_HEIGHT}, object);
  if (n > 1)
    fill (&frame, (Rectangle){x, 400, 150 * (n - 1), 20}, object);
  gst_video_frame_unmap (&frame);
  return buffer;
}

/* The number of tracks of two people hand in hand, after one who has shown the height of people. */
static guint
count_tracks (const char *line, const char *format, gboolean invert)
{
  GstHarness *h = gst_harness_new_parse (line);
  GstCaps *caps = frame_caps (format, LARGE_WIDTH, LARGE_HEIGHT);
  GstVideoInfo info;
  guint n_tracks = 0;

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_video_info_from_caps (&info, caps);
  gst_harness_set_src_caps (h, caps);
  for (guint i = 0; i < 60; i++) {
    const gboolean is_one = i < 16, is_empty = i >= 16 && i < 34;
    GstBuffer *out, *frame = new_large_frame (
                        &info, 40 + 12 * (i % 34), is_empty ? 0 : (is_one ? 1 : 2), invert);

    GST_BUFFER_PTS (frame) = i * FRAME_TIME;
    out = gst_harness_push_and_pull (h, frame);
    n_tracks = gst_ccl_meta_get_n_rows (gst_buffer_get_ccl_meta (out));
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
  return n_tracks;
}

/* The mask has half of the frame's width and height here, and is taken from frames of each layout
 * of luma. */
GST_START_TEST (test_mask_of_large_frames_divides_components)
{
  static const char *const formats[] = {"GRAY8", "NV12", "GRAY16_LE", "YUY2", "UYVY"};

  fail_unless_equals_int (
      count_tracks ("ccl threshold=128 ! ccltrack least-way=0 use-mask=false", "GRAY8", FALSE), 1);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    const gboolean is_deep = g_str_equal (formats[i], "GRAY16_LE");

    fail_unless_equals_int (count_tracks (is_deep ? "ccl threshold=40000 ! ccltrack least-way=0"
                                                  : "ccl threshold=128 ! ccltrack least-way=0",
                                formats[i], FALSE),
        2);
  }
  fail_unless_equals_int (
      count_tracks ("ccl threshold=128 invert=true ! ccltrack least-way=0", "NV12", TRUE), 2);
  fail_unless_equals_int (
      count_tracks ("ccl threshold=128 denoise=median-3x3 ! ccltrack least-way=0", "NV12", FALSE),
      2);
}
GST_END_TEST

static GstCclComponent
row_at (guint32 label, guint32 x)
{
  return (GstCclComponent){
      .label = label, .area = 400, .x = x, .y = 10, .width = 20, .height = 20, .centroid_x = x};
}

/* An application's table with its own label map is tracked although the rows are in another order
 * than that of the labels. */
GST_START_TEST (test_rows_in_another_order_than_labels)
{
  GstHarness *h = new_harness ("ccltrack");
  const GstCclComponent rows[] = {row_at (2, 10), row_at (1, 100)};

  for (guint i = 0; i < 5; i++) {
    GstBuffer *frame = new_frame (NULL, 0), *out;
    GstBuffer *labels = gst_buffer_new_allocate (NULL, 4 * WIDTH * HEIGHT, NULL);

    gst_buffer_memset (labels, 0, 0, (gsize)-1);
    GST_BUFFER_PTS (frame) = i * FRAME_TIME;
    gst_buffer_attach_ccl_meta (frame, WIDTH, HEIGHT, 2, rows, 2, labels, 4 * WIDTH);
    gst_buffer_unref (labels);
    out = gst_harness_push_and_pull (h, frame);
    fail_unless (out != NULL);
    if (i == 4)
      fail_unless_equals_int (gst_ccl_meta_get_n_rows (gst_buffer_get_ccl_meta (out)), 2);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* What arrives as one object, and then separates: the new track names its parent. */
GST_START_TEST (test_object_that_separates)
{
  GstHarness *h = new_harness (TRACKED);

  for (guint i = 0; i < 40; i++) {
    const Rectangle objects[] = {
        {40 + 2 * i, 30, 30, 50}, {70 + 2 * i + (i > 15 ? 3 * (i - 15) : 0), 30, 30, 50}};
    GstBuffer *out = track (h, i, objects, 2);

    if (i == 39) {
      fail_unless_equals_int (gst_ccl_meta_get_n_rows (gst_buffer_get_ccl_meta (out)), 2);
      fail_unless_equals_uint64 (track_info (out, 1)->parent_id, 0);
      fail_unless_equals_uint64 (track_info (out, 2)->parent_id, 1);
    }
    gst_buffer_unref (out);
  }
  assert_events (h, "appeared 1, appeared 2 1");
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_row_of_a_track)
{
  GstHarness *h = new_harness (TRACKED);
  const GstCclComponent *component;
  GstBuffer *out = NULL;
  guint row, n_ids;
  const guint64 *ids;

  for (guint i = 0; i < 30; i++) {
    gst_clear_buffer (&out);
    out = track_walker (h, i);
  }
  component = find_track (out, 1, &row);
  fail_unless (component != NULL);
  fail_unless_equals_int (component->label, 1);
  fail_unless_equals_int (component->area, 20 * 50);
  fail_unless_equals_int (component->x, walker (29).x);
  fail_unless_equals_int (component->y, 30);
  fail_unless_equals_int (component->width, 20);
  fail_unless_equals_int (component->height, 50);
  fail_unless_equals_float (component->centroid_x, walker (29).x + 9.5);
  fail_unless (ABS (track_info (out, 1)->velocity_x - 4) < 0.2 &&
               ABS (track_info (out, 1)->velocity_y) < 0.2);
  fail_unless_equals_int (track_info (out, 1)->age, 29);
  ids = gst_ccl_meta_get_ids (gst_buffer_get_ccl_meta (out), row, &n_ids);
  fail_unless_equals_int (n_ids, 1);
  fail_unless_equals_uint64 (ids[0], 1);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_object_that_leaves_vanishes)
{
  GstHarness *h = new_harness ("ccl threshold=128 ! ccltrack least-way=0 max-lost=3 lost=true");

  for (guint i = 0; i < 10; i++)
    gst_buffer_unref (track_walker (h, i));
  assert_events (h, "appeared 1");
  for (guint i = 10; i < 15; i++) {
    GstBuffer *out = track (h, i, NULL, 0);
    const GstCclComponent *component = find_track (out, 1, NULL);

    if (i < 13) {
      fail_unless (component != NULL);
      fail_unless_equals_int (track_info (out, 1)->state, GST_CCL_TRACK_STATE_LOST);
      fail_unless_equals_int (component->label, 0);
      fail_unless (ABS ((gint)component->x - (gint)walker (i).x) <= 2);
    } else {
      fail_unless (component == NULL);
    }
    gst_buffer_unref (out);
  }
  assert_events (h, "vanished 1");
  gst_harness_teardown (h);
}
GST_END_TEST

/* After dropped frames, and after a gap of the same length, the object is where its velocity moves
 * it, far from its last place. */
static void
check_interruption (gboolean with_gap)
{
  GstHarness *h = new_harness (TRACKED);
  GstBuffer *out;

  for (guint i = 0; i < 20; i++)
    gst_buffer_unref (track_walker (h, i));
  if (with_gap)
    fail_unless (gst_harness_push_event (h, gst_event_new_gap (20 * FRAME_TIME, 15 * FRAME_TIME)));
  out = track_walker (h, 35);
  fail_unless (find_track (out, 1, NULL) != NULL);
  fail_unless_equals_int (track_info (out, 1)->age, 35);
  gst_buffer_unref (out);
  assert_events (h, "appeared 1");
  gst_harness_teardown (h);
}

GST_START_TEST (test_dropped_frames)
{
  check_interruption (FALSE);
}
GST_END_TEST

GST_START_TEST (test_gap_event)
{
  check_interruption (TRUE);
}
GST_END_TEST

/* Without a frame rate in the caps, a frame is the usual interval between time stamps, though they
 * jitter and every fifth frame is dropped. */
GST_START_TEST (test_unknown_frame_rate)
{
  GstHarness *h = gst_harness_new_parse (TRACKED);
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);
  GstBuffer *out = NULL;

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  for (guint i = 0; i < 60; i++) {
    const Rectangle rectangle = walker (i);
    GstBuffer *frame;

    if (i % 5 == 4)
      continue;
    gst_clear_buffer (&out);
    frame = new_frame (&rectangle, 1);
    GST_BUFFER_PTS (frame) = i * FRAME_TIME + i % 3 * GST_MSECOND;
    out = gst_harness_push_and_pull (h, frame);
  }
  fail_unless (ABS (track_info (out, 1)->velocity_x - 4) < 0.3);
  fail_unless (ABS ((gint)track_info (out, 1)->age - 58) <= 2);
  gst_buffer_unref (out);
  assert_events (h, "appeared 1");
  gst_harness_teardown (h);
}
GST_END_TEST

/* An empty gap buffer passes without a warning. */
GST_START_TEST (test_empty_gap_buffer)
{
  GstHarness *h = new_harness ("ccltrack name=tracker");
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  GstBus *bus = gst_bus_new ();
  GstBuffer *gap = gst_buffer_new (), *out;

  gst_element_set_bus (tracker, bus);
  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  out = gst_harness_push_and_pull (h, gap);
  fail_unless (out != NULL);
  gst_buffer_unref (out);
  assert_warning (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, NULL);
  gst_buffer_unref (track (h, 0, NULL, 0));
  assert_warning (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "component metadata");
  gst_element_set_bus (tracker, NULL);
  gst_object_unref (bus);
  gst_object_unref (tracker);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_flush_removes_the_tracks)
{
  GstHarness *h = new_harness (TRACKED);
  GstSegment segment;
  GstBuffer *out = NULL;

  for (guint i = 0; i < 10; i++)
    gst_buffer_unref (track_walker (h, i));
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  for (guint i = 10; i < 20; i++) {
    gst_clear_buffer (&out);
    out = track_walker (h, i);
  }
  fail_unless (find_track (out, 1, NULL) == NULL);
  fail_unless (find_track (out, 2, NULL) != NULL);
  fail_unless_equals_int (track_info (out, 2)->age, 9);
  gst_buffer_unref (out);
  assert_events (h, "appeared 1, vanished 1, appeared 2");
  gst_harness_teardown (h);
}
GST_END_TEST

/* The tracks of confirmed and of lost objects vanish with the stream, those of others do not. */
GST_START_TEST (test_end_of_stream)
{
  GstHarness *h = new_harness (TRACKED);
  const Rectangle other = {200, 60, 30, 30};

  for (guint i = 0; i < 10; i++) {
    const Rectangle objects[] = {walker (i), other};

    gst_buffer_unref (track (h, i, objects, i < 5 ? 2 : 1));
  }
  gst_buffer_unref (track (h, 10, (const Rectangle[]){walker (10), {250, 10, 20, 20}}, 2));
  assert_events (h, "appeared 1, appeared 2");
  gst_harness_push_event (h, gst_event_new_eos ());
  assert_events (h, "vanished 1, vanished 2");
  gst_harness_teardown (h);
}
GST_END_TEST

/* An element that is stopped without the end of the stream can only post messages. */
GST_START_TEST (test_stop)
{
  GstHarness *h = new_harness (TRACKED);
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  GstBus *bus = gst_bus_new ();
  GstMessage *message;

  for (guint i = 0; i < 10; i++)
    gst_buffer_unref (track_walker (h, i));
  gst_element_set_bus (tracker, bus);
  gst_element_set_state (tracker, GST_STATE_NULL);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  fail_unless (message != NULL);
  fail_unless_equals_string (
      gst_structure_get_string (gst_message_get_structure (message), "event"), "vanished");
  gst_message_unref (message);
  gst_element_set_bus (tracker, NULL);
  gst_object_unref (bus);
  gst_object_unref (tracker);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Only time segments have running times and stream times. A critical fails the test. */
GST_START_TEST (test_segment_of_bytes)
{
  GstHarness *h = new_harness (TRACKED);
  GstBuffer *out = NULL;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  for (guint i = 0; i < 5; i++) {
    gst_clear_buffer (&out);
    out = track_walker (h, i);
  }
  fail_unless (find_track (out, 1, NULL) != NULL);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A new frame size needs a new tracker; the identities continue. */
GST_START_TEST (test_identities_are_not_used_again)
{
  GstHarness *h = new_harness (TRACKED);
  GstBuffer *out = NULL;
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT / 2);

  for (guint i = 0; i < 10; i++)
    gst_buffer_unref (track_walker (h, i));
  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  for (guint i = 0; i < 5; i++) {
    gst_clear_buffer (&out);
    GstBuffer *frame = new_frame (&(Rectangle){20 + 4 * i, 5, 20, 50}, 1);
    gst_buffer_set_size (frame, WIDTH * HEIGHT / 2);
    out = gst_harness_push_and_pull (h, frame);
  }
  fail_unless (find_track (out, 2, NULL) != NULL);
  gst_buffer_unref (out);
  assert_events (h, "appeared 1, vanished 1, appeared 2");
  gst_harness_teardown (h);
}
GST_END_TEST

/* Of two labellers, the one that is named is tracked; the table of the other stays. */
GST_START_TEST (test_labeller)
{
  GstHarness *h = new_harness ("ccl name=all threshold=20 ! ccl name=bright threshold=200 ! "
                               "ccltrack least-way=0 labeller=all confirm-frames=1");
  GstBuffer *out = track_walker (h, 0);
  GstCclMeta *all = gst_buffer_get_ccl_meta_by_name (out, "all");
  GstCclMeta *bright = gst_buffer_get_ccl_meta_by_name (out, "bright");

  fail_unless_equals_uint64 (gst_ccl_meta_get_track (all, 0)->id, 1);
  fail_unless (gst_ccl_meta_get_track (bright, 0) == NULL);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_properties_list_tentative_tracks)
{
  GstHarness *h =
      new_harness ("ccl threshold=128 ! ccltrack least-way=0 confirm-frames=5 tentative=true");

  for (guint i = 0; i < 6; i++) {
    GstBuffer *out = track_walker (h, i);

    fail_unless_equals_int (track_info (out, 1)->state,
        i < 4 ? GST_CCL_TRACK_STATE_TENTATIVE : GST_CCL_TRACK_STATE_CONFIRMED);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_resting_object_is_static)
{
  GstHarness *h = new_harness ("ccl threshold=128 ! ccltrack least-way=0 static-frames=20");

  for (guint i = 0; i < 30; i++) {
    const Rectangle object = walker (0);
    GstBuffer *out = track (h, i, &object, 1);

    if (i >= 2)
      fail_unless_equals_int (track_info (out, 1)->state,
          i < 19 ? GST_CCL_TRACK_STATE_CONFIRMED : GST_CCL_TRACK_STATE_STATIC);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* At 10, 5 and 1 frames a second: static after three seconds at rest, gone four seconds after the
 * last frame with it. */
GST_START_TEST (test_times_are_those_of_the_content)
{
  const guint stride = (guint[]){1, 2, 10}[__i__]; /* tenths of a second */
  GstHarness *h = gst_harness_new_parse (
      "ccl threshold=128 ! ccltrack least-way=0 static-time=3 lost-time=4 lost=true");
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);
  const Rectangle object = walker (0);

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10 / stride, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  for (guint i = 0; i < 140; i += stride) {
    GstBuffer *out = track (h, i, &object, i < 80);
    const GstCclComponent *row = i >= 2 * stride ? find_track (out, 1, NULL) : NULL;

    if (i >= 2 * stride && i < 80)
      fail_unless_equals_int (track_info (out, 1)->state,
          i + stride < 30 ? GST_CCL_TRACK_STATE_CONFIRMED : GST_CCL_TRACK_STATE_STATIC);
    if (i >= 80)
      fail_unless (!row == (i >= 80 + 40), "at %u: %p", i, (gpointer)row);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* The message has the content of the event, and the times of the frame. */
GST_START_TEST (test_message)
{
  GstHarness *h = new_harness (TRACKED);
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  const GstStructure *structure;
  GstClockTime time;

  gst_element_set_bus (tracker, bus);
  for (guint i = 0; i < 5; i++)
    gst_buffer_unref (track_walker (h, i));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  fail_unless (message != NULL);
  structure = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (structure, "ccl-track"));
  fail_unless_equals_string (gst_structure_get_string (structure, "event"), "appeared");
  fail_unless (gst_structure_get_clock_time (structure, "timestamp", &time));
  fail_unless_equals_clocktime (time, 2 * FRAME_TIME);
  fail_unless (gst_structure_get_clock_time (structure, "running-time", &time));
  fail_unless_equals_clocktime (time, 2 * FRAME_TIME);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT) == NULL);
  gst_element_set_bus (tracker, NULL);
  gst_object_unref (bus);
  gst_object_unref (tracker);
  gst_harness_teardown (h);
}
GST_END_TEST

static gchar *
line_of (GstBuffer *buffer)
{
  const gsize size = gst_buffer_get_size (buffer);
  gchar *line = g_new0 (gchar, size + 1);

  gst_buffer_extract (buffer, 0, line, size);
  gst_buffer_unref (buffer);
  return line;
}

GST_START_TEST (test_json)
{
  GstHarness *h =
      new_harness ("ccl threshold=128 ! ccltrack least-way=0 confirm-frames=1 ! ccljson name=json");
  GstBuffer *frame = new_frame (&(Rectangle){20, 30, 20, 50}, 1);
  gchar *line;

  GST_BUFFER_PTS (frame) = 0;
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  line = line_of (gst_harness_pull (h));
  fail_unless_equals_string (
      line, "{\"pts\":0,\"running_time\":0,\"event\":\"appeared\",\"id\":1}\n");
  g_free (line);
  line = line_of (gst_harness_pull (h));
  fail_unless_equals_string (line,
      "{\"pts\":0,\"running_time\":0,\"frame\":0,\"width\":320,\"height\":120,\"count\":1,"
      "\"truncated\":false,\"components\":[{\"label\":1,\"area\":1000,\"x\":20,\"y\":30,"
      "\"width\":20,\"height\":50,\"cx\":29.5,\"cy\":54.5,\"id\":1,\"state\":\"confirmed\","
      "\"age\":0,\"vx\":0,\"vy\":0,\"ids\":[1]}]}\n");
  g_free (line);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Whether one of the lines of JSON that were not read yet has the text. */
static gboolean
has_text (GstHarness *h, const char *text)
{
  gboolean has = FALSE;
  GstBuffer *out;

  while ((out = gst_harness_try_pull (h))) {
    gchar *line = line_of (out);
    has |= strstr (line, text) != NULL;
    g_free (line);
  }
  return has;
}

/* The states of tracks, and the identities in a component that tracks share. */
GST_START_TEST (test_json_of_states_and_shared_components)
{
  GstHarness *h = new_harness ("ccl threshold=128 ! ccltrack least-way=0 static-frames=20 "
                               "tentative=true lost=true ! ccljson");
  gboolean shared = FALSE, split = FALSE;

  for (guint i = 0; i < 30; i++) {
    const Rectangle object = walker (0);
    GstBuffer *frame = new_frame (&object, 1);

    GST_BUFFER_PTS (frame) = i * FRAME_TIME;
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
    fail_unless (has_text (h, i < 2    ? "\"state\":\"tentative\""
                              : i < 19 ? "\"state\":\"confirmed\""
                                       : "\"state\":\"static\""));
  }
  for (guint i = 30; i < 80; i++) {
    const Rectangle objects[] = {{60 + 4 * (i - 30), 20, 20, 50}, {240 - 4 * (i - 30), 40, 20, 50}};
    GstBuffer *frame = new_frame (objects, i < 70 ? 2 : 0);

    GST_BUFFER_PTS (frame) = i * FRAME_TIME;
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
    if (i >= 70)
      fail_unless (has_text (h, "\"state\":\"lost\""));
    else if (shared)
      split |= has_text (h, "\"ids\":[3],\"parent\":2}");
    else
      shared |= has_text (h, "\"ids\":[2,3]");
  }
  fail_unless (shared && split);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Each track has a region of interest of its own, also where two share a component. */
GST_START_TEST (test_regions_of_interest)
{
  GstHarness *h =
      new_harness ("ccl threshold=128 meta=ccl+roi ! ccltrack least-way=0 confirm-frames=1");

  for (guint i = 0; i < 50; i++) {
    const Rectangle objects[] = {{60 + 4 * i, 20, 20, 50}, {240 - 4 * i, 40, 20, 50}};
    GstBuffer *out = track (h, i, objects, 2);
    const GstCclMeta *meta = gst_buffer_get_ccl_meta (out);
    GstVideoRegionOfInterestMeta *roi;
    gpointer state = NULL;
    guint n = 0;

    gst_buffer_add_video_region_of_interest_meta (out, "face", 1, 2, 3, 4);
    while ((roi = (GstVideoRegionOfInterestMeta *)gst_buffer_iterate_meta_filtered (
                out, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
      const GstCclComponent *c = gst_ccl_meta_get_component (meta, n);
      const GstStructure *parameter =
          gst_video_region_of_interest_meta_get_param (roi, "object_id");
      guint64 track_id;
      gint id;

      if (n == 2) {
        fail_unless_equals_string (g_quark_to_string (roi->roi_type), "face");
        continue;
      }
      fail_unless (roi->x == c->x && roi->y == c->y && roi->w == c->width && roi->h == c->height);
      fail_unless_equals_int (roi->id, (gint)c->label);
      fail_unless (gst_structure_get_int (parameter, "id", &id));
      fail_unless (gst_structure_get_uint64 (parameter, "track", &track_id));
      fail_unless_equals_int (id, n + 1);
      fail_unless_equals_uint64 (track_id, gst_ccl_meta_get_track (meta, n)->id);
      n++;
    }
    fail_unless_equals_int (n, 2);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

#ifdef HAVE_TRACKING
static void
assert_box (const GstCclMeta *meta, guint row, gint x, gint y, gint width, gint height)
{
  const GstCclComponent *c = gst_ccl_meta_get_component (meta, row);

  fail_unless (c != NULL);
  fail_unless_equals_int (x, (gint)c->x);
  fail_unless_equals_int (y, (gint)c->y);
  fail_unless_equals_int (width, (gint)c->width);
  fail_unless_equals_int (height, (gint)c->height);
}

/* A detector's item and the label map: the former stays, the latter is related to the tracks. */
GST_START_TEST (test_analytics_of_others)
{
  GstHarness *h = new_harness ("ccl threshold=128 attach-labels=true meta=ccl+analytics ! "
                               "ccltrack least-way=0 confirm-frames=1");

  for (guint i = 0; i < 4; i++) {
    const Rectangle objects[] = {walker (i), {200, 60, 30, 30}};
    GstBuffer *frame = new_frame (objects, 2), *out;
    GstAnalyticsRelationMeta *relations;
    GstAnalyticsSegmentationMtd segmentation;
    GstAnalyticsODMtd detection;
    gpointer state = NULL, of_segmentation = NULL;
    guint n_related = 0, n_faces = 0, n = 0;

    if (i % 2)
      gst_analytics_relation_meta_add_od_mtd (gst_buffer_add_analytics_relation_meta (frame),
          g_quark_from_static_string ("face"), 1, 2, 3, 4, 0.5f, &detection);
    GST_BUFFER_PTS (frame) = i * FRAME_TIME;
    out = gst_harness_push_and_pull (h, frame);
    relations = gst_buffer_get_analytics_relation_meta (out);
    fail_unless (gst_analytics_relation_meta_iterate (
        relations, &state, gst_analytics_segmentation_mtd_get_mtd_type (), &segmentation));
    fail_unless_equals_int (gst_analytics_segmentation_mtd_get_region_count (&segmentation), 3);
    while (gst_analytics_relation_meta_get_direct_related (relations, segmentation.id,
        GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_od_mtd_get_mtd_type (), &of_segmentation,
        &detection))
      n_related++;
    fail_unless_equals_int (n_related, 2);
    state = NULL;
    while (gst_analytics_relation_meta_iterate (
        relations, &state, gst_analytics_od_mtd_get_mtd_type (), &detection)) {
      n_faces += gst_analytics_od_mtd_get_obj_type (&detection) == g_quark_from_string ("face");
      n++;
    }
    fail_unless_equals_int (n_faces, i % 2);
    fail_unless_equals_int (n, i % 2 ? 5 : 2); /* the face, two components and two tracks */
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* The tracking that a detection is related to; FALSE if there is none. */
static gboolean
find_tracking (
    GstAnalyticsRelationMeta *relations, guint detection, GstAnalyticsTrackingMtd *tracking)
{
  gpointer state = NULL;

  return gst_analytics_relation_meta_get_direct_related (relations, detection,
      GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_tracking_mtd_get_mtd_type (), &state,
      tracking);
}

/* Two walkers: each track has a detection with its box, which is related to the running times of
 * its first and latest frame. */
GST_START_TEST (test_analytics)
{
  GstHarness *h = new_harness (
      "ccl threshold=128 meta=ccl+analytics ! ccltrack least-way=0 confirm-frames=1 lost=true");
  GstAnalyticsTrackingMtd tracking;
  GstAnalyticsODMtd detection;
  GstClockTime first, last;
  gpointer state = NULL;
  guint n_lost = 0;
  gboolean lost;
  GstBuffer *out;
  guint64 id;

  for (guint i = 0; i < 10; i++) {
    const Rectangle objects[] = {walker (i), {200, 60, 30, 30}};
    GstAnalyticsRelationMeta *relations;
    gpointer state_of_frame = NULL;
    guint n = 0;

    out = track (h, i, objects, i < 2 ? 1 : 2);
    relations = gst_buffer_get_analytics_relation_meta (out);
    fail_unless (relations != NULL);
    while (gst_analytics_relation_meta_iterate (
        relations, &state_of_frame, gst_analytics_od_mtd_get_mtd_type (), &detection)) {
      gint x, y, width, height;

      n++;
      fail_unless (find_tracking (relations, detection.id, &tracking));
      fail_unless (gst_analytics_tracking_mtd_get_info (&tracking, &id, &first, &last, &lost));
      fail_unless (gst_analytics_od_mtd_get_location (&detection, &x, &y, &width, &height, NULL));
      fail_unless_equals_uint64 (id, n);
      assert_box (gst_buffer_get_ccl_meta (out), n - 1, x, y, width, height);
      fail_unless (first == (id == 1 ? 0 : 2 * FRAME_TIME));
      fail_unless_equals_clocktime (last, i * FRAME_TIME);
      fail_if (lost);
    }
    fail_unless_equals_int (n, i < 2 ? 1 : 2);
    gst_buffer_unref (out);
  }

  /* A lost track has no detection. */
  out = track (h, 10, NULL, 0);
  while (gst_analytics_relation_meta_iterate (gst_buffer_get_analytics_relation_meta (out), &state,
      gst_analytics_tracking_mtd_get_mtd_type (), &tracking)) {
    fail_unless (gst_analytics_tracking_mtd_get_info (&tracking, &id, &first, &last, &lost));
    fail_unless (lost);
    fail_unless_equals_clocktime (last, 9 * FRAME_TIME);
    n_lost++;
  }
  fail_unless_equals_int (n_lost, 2);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Both tracks of a shared component have a detection. */
GST_START_TEST (test_analytics_of_a_shared_component)
{
  GstHarness *h = new_harness ("ccl threshold=128 meta=ccl+analytics ! ccltrack least-way=0");
  guint n_shared = 0;

  for (guint i = 0; i < 50; i++) {
    const Rectangle objects[] = {{60 + 4 * i, 20, 20, 50}, {240 - 4 * i, 40, 20, 50}};
    GstBuffer *out = track (h, i, objects, 2);
    GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (out);
    GstAnalyticsODMtd detection;
    GstAnalyticsTrackingMtd tracking;
    gpointer state = NULL;
    guint n_detections = 0, n_relations = 0;
    gint x, y, width, height;

    while (gst_analytics_relation_meta_iterate (
        relations, &state, gst_analytics_od_mtd_get_mtd_type (), &detection)) {
      gpointer of_detection = NULL;

      gst_analytics_od_mtd_get_location (&detection, &x, &y, &width, &height, NULL);
      assert_box (gst_buffer_get_ccl_meta (out), n_detections++, x, y, width, height);
      while (gst_analytics_relation_meta_get_direct_related (relations, detection.id,
          GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_tracking_mtd_get_mtd_type (),
          &of_detection, &tracking))
        n_relations++;
    }
    fail_unless_equals_int (n_relations, i < 2 ? 0 : 2);
    fail_unless_equals_int (n_detections, n_relations);
    n_shared += n_detections == 2 &&
                gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (out), 0)->label ==
                    gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (out), 1)->label;
    gst_buffer_unref (out);
  }
  fail_unless (n_shared >= 5);
  gst_harness_teardown (h);
}
GST_END_TEST
#endif

static Suite *
ccltrack_suite (void)
{
  Suite *suite = suite_create ("ccltrack");
  TCase *tcase = tcase_create ("ccltrack");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_crossing_objects_keep_their_identities);
  tcase_add_test (tcase, test_label_map_distinguishes_objects_whose_boxes_overlap);
  tcase_add_test (tcase, test_mask_distinguishes_objects_whose_boxes_overlap);
  tcase_add_test (tcase, test_mask_is_made_where_it_is_wanted);
  tcase_add_test (tcase, test_mask_is_switched_on_and_off);
  tcase_add_test (tcase, test_mask_of_large_frames_divides_components);
  tcase_add_test (tcase, test_rows_in_another_order_than_labels);
  tcase_add_test (tcase, test_object_that_separates);
  tcase_add_test (tcase, test_regions_of_interest);
  tcase_add_test (tcase, test_row_of_a_track);
  tcase_add_test (tcase, test_object_that_leaves_vanishes);
  tcase_add_loop_test (tcase, test_times_are_those_of_the_content, 0, 3);
  tcase_add_test (tcase, test_dropped_frames);
  tcase_add_test (tcase, test_gap_event);
  tcase_add_test (tcase, test_unknown_frame_rate);
  tcase_add_test (tcase, test_empty_gap_buffer);
  tcase_add_test (tcase, test_flush_removes_the_tracks);
  tcase_add_test (tcase, test_end_of_stream);
  tcase_add_test (tcase, test_stop);
  tcase_add_test (tcase, test_segment_of_bytes);
  tcase_add_test (tcase, test_identities_are_not_used_again);
  tcase_add_test (tcase, test_labeller);
  tcase_add_test (tcase, test_properties_list_tentative_tracks);
  tcase_add_test (tcase, test_resting_object_is_static);
  tcase_add_test (tcase, test_message);
#ifdef HAVE_TRACKING
  tcase_add_test (tcase, test_analytics);
  tcase_add_test (tcase, test_analytics_of_others);
  tcase_add_test (tcase, test_analytics_of_a_shared_component);
#endif
  tcase_add_test (tcase, test_json);
  tcase_add_test (tcase, test_json_of_states_and_shared_components);
  return suite;
}

GST_CHECK_MAIN (ccltrack);
