/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches of GStreamer 1.28: buffers with a GstAnalyticsBatchMeta, whose frames are labelled each.
 */
#include "blobs.h"
#include "tests/check/shared/elements.h"
#include "tests/check/shared/leaks.h"

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 28, 0)

#define BATCH_CAPS "multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)"

static const char bar[] = "..........\n"
                          ".########.\n"
                          "..........\n";

#define BAR                                                                                        \
  {                                                                                                \
    8, 1, 1, 8, 1, 4.5, 1.0                                                                        \
  }

static GstHarness *
new_batch_harness (const char *properties)
{
  gchar *line = g_strdup_printf ("%s %s", element_name (), properties);
  GstHarness *h = gst_harness_new_parse (line);

  g_free (line);
  gst_harness_set_src_caps_str (h, BATCH_CAPS);
  return h;
}

/* A batch of streams without objects. */
static GstBuffer *
new_batch (guint n_streams)
{
  GstBuffer *batch = gst_buffer_new ();
  GstAnalyticsBatchMeta *meta = gst_buffer_add_analytics_batch_meta (batch);

  meta->n_streams = n_streams;
  meta->streams = g_new0 (GstAnalyticsBatchStream, n_streams);
  for (guint i = 0; i < n_streams; i++)
    meta->streams[i].index = i;
  return batch;
}

static GstAnalyticsBatchStream *
stream_of (GstBuffer *batch, guint stream)
{
  return &gst_buffer_get_analytics_batch_meta (batch)->streams[stream];
}

/* Takes the caps. */
static void
set_caps (GstBuffer *batch, guint stream, GstCaps *caps)
{
  GstAnalyticsBatchStream *s = stream_of (batch, stream);

  s->n_sticky_events = 1;
  s->sticky_events = g_new (GstEvent *, 1);
  s->sticky_events[0] = gst_event_new_caps (caps);
  gst_caps_unref (caps);
}

/* Takes the object: a buffer, a buffer list or an event. */
static void
add_object (GstBuffer *batch, guint stream, gpointer object)
{
  GstAnalyticsBatchStream *s = stream_of (batch, stream);

  s->objects = g_renew (GstMiniObject *, s->objects, s->n_objects + 1);
  s->objects[s->n_objects++] = GST_MINI_OBJECT_CAST (object);
}

static GstBuffer *
buffer_of (GstBuffer *batch, guint stream, guint object)
{
  return GST_BUFFER_CAST (stream_of (batch, stream)->objects[object]);
}

static GstCaps *
gray8_caps (Drawing drawing)
{
  return frame_caps ("GRAY8", drawing_width (drawing), drawing_height (drawing));
}

/* Streams of different sizes and formats, with one frame each. */
TEST (test_streams_of_a_batch)
{
  GstHarness *h = new_batch_harness ("attach-labels=true");

  for (guint turn = 0; turn < 3; turn++) {
    GstBuffer *batch = new_batch (3);

    set_caps (batch, 0, gray8_caps (blobs));
    add_object (batch, 0, gray8_frame (blobs));
    set_caps (batch, 1, gray8_caps (bar));
    add_object (batch, 1, gray8_frame (bar));
    set_caps (batch, 2, frame_caps ("I420", 8, 6));
    add_object (batch, 2, luma_frame ("I420", blobs));
    batch = label (h, batch);
    fail_unless (gst_buffer_get_ccl_meta (batch) == NULL);
    assert_components (buffer_of (batch, 0, 0), BLOBS_8);
    assert_components (buffer_of (batch, 1, 0), BAR);
    assert_components (buffer_of (batch, 2, 0), BLOBS_8);
    for (guint i = 0; i < 3; i++)
      fail_unless (gst_ccl_meta_get_labels (
                       gst_buffer_get_ccl_meta (buffer_of (batch, i, 0)), NULL) != NULL);
    gst_buffer_unref (batch);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* Several frames of a stream, one by one and in a list, with changes of the caps in between;
 * without and with a foreground mask, with which frames have to wait for each other. */
TEST (test_frames_of_a_stream)
{
  static const char *const uses[] = {"", "attach-mask=true", "foreground=otsu attach-labels=true"};

  for (guint i = 0; i < G_N_ELEMENTS (uses); i++) {
    GstHarness *h = new_batch_harness (uses[i]);
    GstBuffer *batch = new_batch (2);
    GstBufferList *list = gst_buffer_list_new ();
    GstCaps *caps = gray8_caps (bar);

    for (guint stream = 0; stream < 2; stream++) {
      set_caps (batch, stream, gray8_caps (blobs));
      for (guint k = 0; k < 3; k++)
        add_object (batch, stream, gray8_frame (blobs));
    }
    for (guint k = 0; k < 3; k++)
      gst_buffer_list_add (list, gray8_frame (bar));
    add_object (batch, 1, gst_event_new_caps (caps));
    add_object (batch, 1, list);
    add_object (batch, 1, gray8_frame (bar));
    gst_caps_unref (caps);

    batch = label (h, batch);
    for (guint stream = 0; stream < 2; stream++)
      for (guint k = 0; k < 3; k++)
        assert_components (buffer_of (batch, stream, k), BLOBS_8);
    list = GST_BUFFER_LIST_CAST (stream_of (batch, 1)->objects[4]);
    for (guint k = 0; k < 3; k++)
      assert_components (gst_buffer_list_get (list, k), BAR);
    assert_components (buffer_of (batch, 1, 5), BAR);
    gst_buffer_unref (batch);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* Streams of one size and of another one, with two frames each. */
TEST (test_contours_of_a_batch)
{
  static const char rings[] = "#####.##\n"
                              "#...#..#\n"
                              "#.#.#.##\n"
                              "#...#...\n"
                              "#####.#.\n"
                              "........\n";
  static const Drawing drawings[] = {blobs, bar, rings};
  GstHarness *h = new_batch_harness ("attach-contours=cracks");
  GstBuffer *batch = new_batch (3);

  for (guint i = 0; i < 3; i++) {
    set_caps (batch, i, gray8_caps (drawings[i]));
    add_object (batch, i, gray8_frame (drawings[i]));
    add_object (batch, i, gray8_frame (drawings[2 - i]));
  }
  batch = label (h, batch);
  for (guint i = 0; i < 6; i++) {
    const Drawing drawing = drawings[i % 2 ? 2 - i / 2 : i / 2];
    GstHarness *single = new_gray8_harness (drawing);
    GstBuffer *expected;

    g_object_set (single->element, "attach-contours", 2, NULL);
    expected = label (single, gray8_frame (drawing));
    assert_same_contours (expected, buffer_of (batch, i / 2, i % 2), "batch");
    gst_buffer_unref (expected);
    gst_harness_teardown (single);
  }
  gst_buffer_unref (batch);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A frame of luma 100 with noise, and a bright square that moves with its number. */
static GstBuffer *
new_scene (guint stream, guint number)
{
  const guint width = 64, height = 48;
  GstBuffer *frame = gst_buffer_new_allocate (NULL, width * height, NULL);
  guint32 noise = 7 * stream + number;
  GstMapInfo map;

  fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  for (guint i = 0; i < width * height; i++) {
    noise = noise * 1664525 + 1013904223;
    map.data[i] = (guint8)(100 + (noise >> 30));
  }
  for (guint y = 10; number > 8 && y < 20 + 5 * stream; y++)
    memset (map.data + y * width + 2 * number, 220, 10);
  gst_buffer_unmap (frame, &map);
  GST_BUFFER_PTS (frame) = number * GST_SECOND / 25;
  return frame;
}

/* Each stream has a background model of its own: results are those of an element for each. */
TEST (test_streams_have_models_of_their_own)
{
  static const char properties[] = "foreground=mog2 denoise=median-3x3";
  GstHarness *h = new_batch_harness (properties), *single[2];
  guint n_components = 0;

  for (guint i = 0; i < 2; i++) {
    gchar *line = g_strdup_printf ("%s %s", element_name (), properties);
    single[i] = gst_harness_new_parse (line);
    gst_harness_set_src_caps (single[i], frame_caps ("GRAY8", 64, 48));
    g_free (line);
  }
  for (guint number = 0; number < 20; number += 2) {
    GstBuffer *batch = new_batch (2);

    for (guint i = 0; i < 2; i++) {
      set_caps (batch, i, frame_caps ("GRAY8", 64, 48));
      for (guint k = 0; k < 2; k++)
        add_object (batch, i, new_scene (i, number + k));
    }
    batch = label (h, batch);
    for (guint i = 0; i < 2; i++) {
      for (guint k = 0; k < 2; k++) {
        GstBuffer *expected = label (single[i], new_scene (i, number + k));
        GstCclMeta *metas[] = {
            gst_buffer_get_ccl_meta (expected), gst_buffer_get_ccl_meta (buffer_of (batch, i, k))};
        const guint n = gst_ccl_meta_get_n_components (metas[0]);

        fail_unless_equals_int (gst_ccl_meta_get_n_components (metas[1]), n);
        for (guint c = 0; c < n; c++) {
          const GstCclComponent *a = gst_ccl_meta_get_component (metas[0], c);
          const GstCclComponent *b = gst_ccl_meta_get_component (metas[1], c);
          fail_unless_equals_int (a->area, b->area);
          fail_unless_equals_int (a->x, b->x);
          fail_unless_equals_int (a->y, b->y);
        }
        n_components += n;
        gst_buffer_unref (expected);
      }
    }
    gst_buffer_unref (batch);
  }
  fail_unless (n_components >= 20, "only %u components", n_components);
  for (guint i = 0; i < 2; i++)
    gst_harness_teardown (single[i]);
  gst_harness_teardown (h);
}
GST_END_TEST

/* What is no frame passes: other streams, gaps, events, and batches without streams or metadata. */
TEST (test_other_objects_pass)
{
  GstHarness *h = new_batch_harness ("");
  GstBuffer *gap = gst_buffer_new (), *batch = new_batch (3), *audio = gst_buffer_new ();

  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  set_caps (batch, 0, gray8_caps (blobs));
  add_object (batch, 0, gap);
  add_object (batch, 0, gst_event_new_gap (0, GST_SECOND));
  add_object (batch, 0, gray8_frame (blobs));
  set_caps (batch, 1, gst_caps_new_empty_simple ("audio/x-raw"));
  add_object (batch, 1, audio);
  add_object (batch, 2, gst_buffer_new ()); /* of a stream without caps */
  batch = label (h, batch);
  assert_components (buffer_of (batch, 0, 2), BLOBS_8);
  fail_unless (buffer_of (batch, 1, 0) == audio);
  gst_buffer_unref (batch);

  gst_buffer_unref (label (h, new_batch (0)));
  gst_buffer_unref (label (h, gst_buffer_new ()));
  gst_harness_teardown (h);
}
GST_END_TEST

/* A batch that others use, too, and frames that others use, stay as they are. */
TEST (test_shared_batches)
{
  GstHarness *h = new_batch_harness ("");
  GstBuffer *batch = new_batch (1), *frame = gray8_frame (blobs), *out;

  set_caps (batch, 0, gray8_caps (blobs));
  add_object (batch, 0, gst_buffer_ref (frame));
  out = label (h, gst_buffer_ref (batch));
  fail_unless (out != batch);
  assert_components (buffer_of (out, 0, 0), BLOBS_8);
  fail_unless (buffer_of (batch, 0, 0) == frame);
  fail_unless (gst_buffer_get_ccl_meta (frame) == NULL);
  gst_buffer_unref (out);
  gst_buffer_unref (batch);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Messages name the stream; times are those of its segment. */
TEST (test_messages_name_the_stream)
{
  GstHarness *h = new_batch_harness ("post-messages=true");
  GstBus *bus = gst_bus_new ();
  GstBuffer *batch = new_batch (2);

  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < 2; i++) {
    set_caps (batch, i, gray8_caps (blobs));
    stream_of (batch, i)->index = 5 + i;
    add_object (batch, i, gray8_frame (blobs));
  }
  gst_buffer_unref (label (h, batch));
  for (guint i = 0; i < 2; i++) {
    GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
    guint stream = 0;

    fail_unless (message != NULL);
    fail_unless (gst_structure_get_uint (gst_message_get_structure (message), "stream", &stream));
    fail_unless_equals_int (stream, 5 + i);
    gst_message_unref (message);
  }
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A frame that is too small, and a format that cannot be labelled; frames of other streams are
 * waited for. */
TEST (test_bad_frames_are_errors)
{
  for (guint i = 0; i < 2; i++) {
    GstHarness *h = new_batch_harness ("");
    GstBus *bus = gst_bus_new ();
    GstBuffer *batch = new_batch (2);
    GstMessage *message;

    gst_element_set_bus (h->element, bus);
    set_caps (batch, 0, gray8_caps (blobs));
    add_object (batch, 0, gray8_frame (blobs));
    set_caps (batch, 1, frame_caps (i ? "GRAY8" : "RGB16", 8, 6));
    add_object (batch, 1, gst_buffer_new_allocate (NULL, i ? 20 : 8 * 6 * 3, NULL));
    fail_unless_equals_int (gst_harness_push (h, batch), GST_FLOW_ERROR);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    fail_unless (message != NULL);
    gst_message_unref (message);
    gst_element_set_bus (h->element, NULL);
    gst_object_unref (bus);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

#else

GST_START_TEST (test_no_batches)
{
  skip ("batches", "GStreamer 1.28 has them first");
}
GST_END_TEST

#endif

static Suite *
batches_suite (void)
{
  Suite *suite = suite_create ("batches");
  TCase *tcase = tcase_create ("batches");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 28, 0)
  tcase_add_test (tcase, test_streams_of_a_batch);
  tcase_add_test (tcase, test_frames_of_a_stream);
  tcase_add_test (tcase, test_contours_of_a_batch);
  tcase_add_test (tcase, test_streams_have_models_of_their_own);
  tcase_add_test (tcase, test_other_objects_pass);
  tcase_add_test (tcase, test_shared_batches);
  tcase_add_test (tcase, test_messages_name_the_stream);
  tcase_add_test (tcase, test_bad_frames_are_errors);
#else
  tcase_add_test (tcase, test_no_batches);
#endif
  return suite;
}

GST_CHECK_MAIN (batches);
