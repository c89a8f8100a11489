/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracks of the detections of other elements, beside and instead of components. The detections are
 * drawn: their boxes are those of objects whose ways are known. */
#include "tests/check/shared/leaks.h"

#include <glib/gstdio.h>
#include <math.h>

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define WIDTH 320
#define HEIGHT 240
#include "tracks.h"
/* As DL Streamer attaches detections. confidence: negative for none. */
static GstVideoRegionOfInterestMeta *
detect (GstBuffer *frame, const char *name, gdouble confidence, Rectangle r)
{
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta (frame, name, r.x, r.y, r.width, r.height);

  if (confidence >= 0)
    gst_video_region_of_interest_meta_add_param (
        roi, gst_structure_new ("detection", "label_id", G_TYPE_INT, 1, "confidence", G_TYPE_DOUBLE,
                 confidence, NULL));
  return roi;
}

/* An object that walks to the right, and how a detector sees it: up to a pixel off. */
static Rectangle
walker (guint index)
{
  return (Rectangle){20 + 4 * index, 100 + index % 2, 20 + index % 3, 50 - index % 2};
}

/* The identity that a region of interest has; 0 if it has none. */
static guint64
identity_of (GstVideoRegionOfInterestMeta *roi)
{
  GstStructure *s = gst_video_region_of_interest_meta_get_param (roi, "object_id");
  guint64 track = 0;
  gint id = 0;

  if (!s)
    return 0;
  fail_unless (gst_structure_get_uint64 (s, "track", &track));
  fail_unless (gst_structure_get_int (s, "id", &id));
  fail_unless_equals_uint64 (track, (guint64)id);
  return track;
}

static GstVideoRegionOfInterestMeta *
first_roi (GstBuffer *frame)
{
  return gst_buffer_get_video_region_of_interest_meta (frame);
}

/* "1 person 0.900" of each row; "-" for what is not known. */
static gchar *
describe (GstBuffer *frame)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (frame);
  GstCclClasses *classes = meta ? gst_ccl_meta_get_classes (meta) : NULL;
  GString *text = g_string_new (NULL);

  for (guint row = 0; meta && row < gst_ccl_meta_get_n_rows (meta); row++) {
    const gchar *name = classes ? gst_ccl_classes_get_name (classes, row) : NULL;
    const gdouble confidence = classes ? gst_ccl_classes_get_confidence (classes, row) : NAN;

    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT " %s ", row > 0 ? ", " : "",
        gst_ccl_meta_get_track (meta, row)->id, name ? name : "-");
    if (isnan (confidence))
      g_string_append_c (text, '-');
    else
      g_string_append_printf (text, "%.2f", confidence);
  }
  g_clear_pointer (&classes, gst_ccl_classes_unref);
  return g_string_free (text, FALSE);
}

static void
assert_rows (GstBuffer *frame, const char *expected)
{
  gchar *rows = describe (frame);

  fail_unless_equals_string (rows, expected);
  g_free (rows);
}

/* A detector misses the object in a seventh of the frames, once for five frames, calls it a dog in
 * a sixth, and sees a chair in places where none is. */
GST_START_TEST (test_misses_and_false_detections)
{
  GstHarness *h = new_harness ("ccltrack input=detections regions=\"line gate 160,239 160,0; "
                               "region end 200,0 319,0 319,239 200,239\"");
  guint n_identified = 0;

  for (guint i = 0; i < 60; i++) {
    GstBuffer *frame = frame_at (i, NULL, 0), *out;
    const gboolean missed = i % 7 == 6 || (i >= 25 && i < 30);

    if (!missed)
      detect (frame, i % 6 == 5 ? "dog" : "person", 0.8, walker (i));
    if (i % 4 == 0)
      detect (frame, "chair", 0.9, (Rectangle){(37 * i) % 300, (53 * i) % 60, 15, 20});
    out = push (h, frame);
    if (i >= 2 && !missed) {
      const GstCclComponent *c = gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (out), 0);

      assert_rows (out, "1 person 0.80");
      fail_unless (ABS ((gint)c->x - (gint)walker (i).x) <= 2);
      fail_unless (ABS ((gint)c->width - (gint)walker (i).width) <= 2);
      n_identified += identity_of (first_roi (out)) == 1;
    } else {
      fail_unless_equals_int (gst_ccl_meta_get_n_rows (gst_buffer_get_ccl_meta (out)), 0);
      fail_unless (!first_roi (out) || identity_of (first_roi (out)) == 0);
    }
    gst_buffer_unref (out);
  }
  fail_unless (n_identified > 40, "%u regions of interest have the identity", n_identified);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  assert_events (h, "appeared 1 person, crossed 1 person gate, entered 1 person end, "
                    "vanished 1 person, left 1 person end");
  gst_harness_teardown (h);
}
GST_END_TEST

/* Boxes of detections that overlap are of two objects: no track shares one, none vanishes. */
GST_START_TEST (test_detections_that_cross)
{
  GstHarness *h = new_harness ("ccltrack");

  for (guint i = 0; i < 60; i++) {
    const Rectangle right = {20 + 4 * i, 100, 20, 50}, left = {270 - 4 * i, 110, 24, 60};
    GstBuffer *frame = frame_at (i, NULL, 0), *out;

    detect (frame, "person", 0.5, right);
    detect (frame, "car", -1, left);
    out = push (h, frame);
    if (i >= 2) {
      GstCclMeta *meta = gst_buffer_get_ccl_meta (out);

      assert_rows (out, "1 person 0.50, 2 car -");
      fail_unless (ABS ((gint)gst_ccl_meta_get_component (meta, 0)->x - (gint)right.x) <= 2);
      fail_unless (ABS ((gint)gst_ccl_meta_get_component (meta, 1)->x - (gint)left.x) <= 2);
    }
    gst_buffer_unref (out);
  }
  assert_events (h, "appeared 1 person, appeared 2 car");
  gst_harness_teardown (h);
}
GST_END_TEST

/* A bag in a person's box, and a head above a trunk, are objects of their own, and what stands
 * still is one, too. */
GST_START_TEST (test_detections_are_whole_objects)
{
  GstHarness *h = new_harness ("ccltrack");
  static const Rectangle boxes[] = {
      {100, 60, 40, 100}, {110, 100, 15, 20}, {200, 60, 20, 20}, {190, 82, 40, 80}};
  static const char *const names[] = {"person", "bag", "head", "trunk"};

  for (guint i = 0; i < 30; i++) {
    GstBuffer *frame = frame_at (i, NULL, 0), *out;

    for (guint k = 0; k < G_N_ELEMENTS (boxes); k++)
      detect (frame, names[k], 1, boxes[k]);
    out = push (h, frame);
    if (i >= 2)
      assert_rows (out, "1 person 1.00, 2 bag 1.00, 3 head 1.00, 4 trunk 1.00");
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* Motion is found in each frame; the detector names it every fifth frame, and sees a parked car
 * that does not move. */
GST_START_TEST (test_detector_names_what_motion_found)
{
  GstHarness *h = new_harness ("ccl threshold=128 meta=ccl+roi ! ccltrack least-way=0");

  for (guint i = 0; i < 40; i++) {
    const Rectangle other = {300 - 4 * i, 20, 16, 40};
    GstBuffer *frame = frame_at (i, NULL, 0), *out;
    GstVideoRegionOfInterestMeta *roi;
    gpointer state = NULL;
    guint n_named = 0;

    draw_rectangle (frame, walker (i));
    draw_rectangle (frame, other);
    if (i >= 10 && i % 5 == 0) {
      const Rectangle r = walker (i);

      detect (frame, i == 20 ? "dog" : "person", 0.7 + i / 1000., /* wider and lower: with a bag */
          (Rectangle){r.x - 3, r.y, r.width + 6, r.height - 5});
      detect (frame, "car", 0.9, (Rectangle){20, 180, 60, 40});
    }
    out = push (h, frame);
    if (i >= 2 && i < 10)
      assert_rows (out, "1 - -, 2 - -");
    if (i == 13)
      assert_rows (out, "1 - -, 2 person 0.71");
    if (i == 22) /* one vote for a dog against two */
      assert_rows (out, "1 - -, 2 person 0.71");
    if (i == 39)
      assert_rows (out, "1 - -, 2 person 0.73");
    while ((roi = (GstVideoRegionOfInterestMeta *)gst_buffer_iterate_meta_filtered (
                out, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)))
      if (roi->roi_type != g_quark_from_string ("component") && identity_of (roi) > 0) {
        fail_unless_equals_uint64 (identity_of (roi), 2);
        n_named++;
      }
    fail_unless_equals_int (n_named, i >= 10 && i % 5 == 0);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* Components alone: detections of others stay as they are. */
GST_START_TEST (test_components_alone)
{
  GstHarness *h = new_harness ("ccl threshold=128 ! ccltrack least-way=0 input=components");

  for (guint i = 0; i < 5; i++) {
    GstBuffer *frame = frame_at (i, NULL, 0), *out;

    draw_rectangle (frame, walker (i));
    detect (frame, "person", 0.7, walker (i));
    out = push (h, frame);
    if (i >= 2)
      assert_rows (out, "1 - -");
    fail_unless_equals_uint64 (identity_of (first_roi (out)), 0);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* Detections alone where components are there, too: a metadata of its own, which elements
 * downstream find by the name of the tracker. */
GST_START_TEST (test_detections_beside_components)
{
  GstHarness *h =
      new_harness ("ccl name=labeller threshold=128 ! ccltrack name=tracker input=detections");
  GstBuffer *out = NULL;

  for (guint i = 0; i < 5; i++) {
    GstBuffer *frame = frame_at (i, NULL, 0);

    draw_rectangle (frame, (Rectangle){10, 10, 10, 10});
    detect (frame, "person", 0.7, walker (i));
    gst_clear_buffer (&out);
    out = push (h, frame);
  }
  assert_rows (out, "1 person 0.70");
  fail_unless (gst_buffer_get_ccl_meta_by_name (out, "tracker") == gst_buffer_get_ccl_meta (out));
  fail_unless_equals_int (
      gst_ccl_meta_get_n_rows (gst_buffer_get_ccl_meta_by_name (out, "labeller")), 1);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Another input is another scene: the tracks end, and identities go on. */
GST_START_TEST (test_input_changes_while_playing)
{
  GstHarness *h = new_harness ("ccl threshold=128 ! ccltrack least-way=0 name=tracker");
  GstElement *tracker = gst_harness_find_element (h, "ccltrack");
  static const char *const inputs[] = {"components", "detections", "both", "auto"};
  GstBuffer *out = NULL;

  for (guint i = 0; i < 40; i++) {
    GstBuffer *frame = frame_at (i, NULL, 0);

    if (i % 10 == 0)
      gst_util_set_object_arg (G_OBJECT (tracker), "input", inputs[i / 10]);
    draw_rectangle (frame, walker (i));
    detect (frame, "person", 0.7, walker (i));
    gst_clear_buffer (&out);
    out = push (h, frame);
  }
  assert_rows (out, "3 person 0.70");
  assert_events (
      h, "appeared 1, vanished 1, appeared 2 person, vanished 2 person, appeared 3 person");
  gst_clear_buffer (&out);
  gst_object_unref (tracker);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Boxes outside the frame, without pixels, larger than any frame, with confidences that are none,
 * and with names that are no text. */
GST_START_TEST (test_boxes_outside_the_frame)
{
  GstHarness *h = new_harness ("ccltrack");
  GstBuffer *out = NULL;

  for (guint i = 0; i < 4; i++) {
    GstBuffer *frame = frame_at (i, NULL, 0);

    detect (frame, "person", NAN, (Rectangle){300, 100, G_MAXUINT, 50});
    detect (frame, "person", 7, (Rectangle){WIDTH, 0, 10, 10});
    detect (frame, "person", 0.1, (Rectangle){0, HEIGHT, 10, 10});
    detect (frame, "person", 0.1, (Rectangle){G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT});
    detect (frame, "person", 0.1, (Rectangle){10, 10, 0, 10});
    detect (frame, i % 2 ? "\xff\xfe" : "", G_MAXDOUBLE, (Rectangle){0, 0, G_MAXUINT, G_MAXUINT});
    gst_clear_buffer (&out);
    out = push (h, frame);
  }
  assert_rows (out, "1 person -, 2 - -");
  fail_unless_equals_int (gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (out), 0)->width, 20);
  fail_unless_equals_int (
      gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (out), 1)->width, WIDTH);
  gst_clear_buffer (&out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* More detections than rows that are read, and more than tracks. */
GST_START_TEST (test_limits)
{
  GstHarness *h = new_harness ("ccltrack max-components=3 max-tracks=2");
  GstBuffer *out = NULL;

  for (guint i = 0; i < 4; i++) {
    GstBuffer *frame = frame_at (i, NULL, 0);

    for (guint k = 0; k < 5; k++)
      detect (frame, "person", 1, (Rectangle){60 * k, 100, 20, 50});
    gst_clear_buffer (&out);
    out = push (h, frame);
  }
  assert_rows (out, "1 person 1.00, 2 person 1.00");
  fail_unless (gst_ccl_meta_is_truncated (gst_buffer_get_ccl_meta (out)));
  fail_unless_equals_int (gst_ccl_meta_get_n_components (gst_buffer_get_ccl_meta (out)), 5);
  gst_clear_buffer (&out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* The identity of another tracker is replaced. */
GST_START_TEST (test_identity_of_another_tracker)
{
  GstHarness *h = new_harness ("ccltrack confirm-frames=1");
  GstBuffer *frame = frame_at (0, NULL, 0), *out;
  GstVideoRegionOfInterestMeta *roi = detect (frame, "person", 1, walker (0));

  for (guint i = 0; i < 2; i++)
    gst_video_region_of_interest_meta_add_param (
        roi, gst_structure_new ("object_id", "id", G_TYPE_INT, 77, NULL));
  out = push (h, frame);
  roi = first_roi (out);
  fail_unless_equals_uint64 (identity_of (roi), 1);
  fail_unless_equals_int (g_list_length (roi->params), 2);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A detector that runs every fourth frame and no labeller: lost tracks are listed between. */
GST_START_TEST (test_detector_with_an_interval)
{
  GstHarness *h = new_harness ("ccltrack confirm-frames=1 lost=true");
  GstBuffer *out = NULL;

  for (guint i = 0; i < 48; i++) {
    GstBuffer *frame = frame_at (i, NULL, 0);

    if (i % 4 == 0)
      detect (frame, "person", 1, walker (i));
    gst_clear_buffer (&out);
    out = push (h, frame);
    assert_rows (out, "1 person 1.00");
    if (i >= 8) {
      const GstCclComponent *c = gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (out), 0);
      fail_unless (ABS ((gint)c->x - (gint)walker (i).x) <= 5);
    }
  }
  gst_clear_buffer (&out);
  assert_events (h, "appeared 1 person");
  gst_harness_teardown (h);
}
GST_END_TEST

/* What stands on the ground has a place on it in metres: half the frame's width is a metre. */
GST_START_TEST (test_metres)
{
  GstHarness *h = new_harness (
      "ccltrack ground=\"0,0 0,0; 320,0 2,0; 320,240 2,2; 0,240 0,2\" confirm-frames=1");
  GstBuffer *frame = frame_at (0, NULL, 0), *out;
  gdouble x, y, deviation;

  detect (frame, "person", 1, (Rectangle){150, 70, 20, 50});
  out = push (h, frame);
  fail_unless (gst_ccl_track_info_get_position (
      gst_ccl_meta_get_track (gst_buffer_get_ccl_meta (out), 0), &x, &y, &deviation));
  fail_unless (fabs (x - 1) < 0.01 && fabs (y - 1) < 0.01, "%g, %g", x, y);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_json)
{
  GstHarness *h = new_harness ("ccltrack confirm-frames=1 ! ccljson");
  GstBuffer *frame = frame_at (0, NULL, 0), *out;
  gchar *line;

  detect (frame, "a \"bag\"", 0.25, walker (0));
  detect (frame, "tree", -1, (Rectangle){200, 10, 20, 90});
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  for (guint i = 0; i < 2; i++) {
    out = gst_harness_pull (h);
    line = g_strndup ("", gst_buffer_get_size (out));
    gst_buffer_extract (out, 0, line, gst_buffer_get_size (out));
    fail_unless (
        strstr (line, i == 0 ? "\"event\":\"appeared\",\"id\":1,\"class\":\"a \\\"bag\\\"\""
                             : "\"event\":\"appeared\",\"id\":2,\"class\":\"tree\"") != NULL,
        "%s", line);
    g_free (line);
    gst_buffer_unref (out);
  }
  out = gst_harness_pull (h);
  line = g_strndup ("", gst_buffer_get_size (out));
  gst_buffer_extract (out, 0, line, gst_buffer_get_size (out));
  fail_unless (
      strstr (line, ",\"class\":\"a \\\"bag\\\"\",\"confidence\":0.250}") != NULL, "%s", line);
  fail_unless (strstr (line, ",\"class\":\"tree\",\"confidence\":null}") != NULL, "%s", line);
  g_free (line);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

#if HAVE_ANALYTICS

static void
detect_in_analytics (GstBuffer *frame, const char *name, gfloat confidence, Rectangle r)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  GstAnalyticsODMtd mtd;

  if (!relations)
    relations = gst_buffer_add_analytics_relation_meta (frame);
  fail_unless (gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_string (name),
      (gint)r.x, (gint)r.y, (gint)r.width, (gint)r.height, confidence, &mtd));
}

/* How many detections the frame has, and the identities that they are related to, as text. */
static gchar *
describe_analytics (GstBuffer *frame)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  GString *text = g_string_new (NULL);
  GstAnalyticsODMtd mtd;
  gpointer state = NULL;

  while (gst_analytics_relation_meta_iterate (
      relations, &state, gst_analytics_od_mtd_get_mtd_type (), &mtd)) {
    g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "",
        g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&mtd)));
#if GST_CHECK_VERSION(1, 26, 0)
    GstAnalyticsTrackingMtd tracking;
    gpointer relation = NULL;

    while (gst_analytics_relation_meta_get_direct_related (relations, mtd.id,
        GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_tracking_mtd_get_mtd_type (), &relation,
        &tracking)) {
      GstClockTime first, last;
      gboolean lost;
      guint64 id;

      fail_unless (gst_analytics_tracking_mtd_get_info (&tracking, &id, &first, &last, &lost));
      g_string_append_printf (text, " %" G_GUINT64_FORMAT, id);
    }
#endif
  }
  return g_string_free (text, FALSE);
}

#if GST_CHECK_VERSION(1, 26, 0)
#define TRACKED_AS(id) " " #id
#else
#define TRACKED_AS(id)
#endif

/* Detections in analytics metadata stay and are related to tracks. One that is a region of interest
 * as well, as DL Streamer's are, is one. */
GST_START_TEST (test_analytics)
{
  GstHarness *h = new_harness ("ccltrack");

  for (guint i = 0; i < 20; i++) {
    GstBuffer *frame = frame_at (i, NULL, 0), *out;
    gchar *text;

    detect_in_analytics (frame, "person", 0.75f, walker (i));
    detect_in_analytics (frame, "car", 0.5f, (Rectangle){10, 10, 40, 30});
    detect (frame, "person", 0.75, walker (i));
    out = push (h, frame);
    text = describe_analytics (out);
    if (i >= 2) {
      assert_rows (out, "1 person 0.75, 2 car 0.50");
      fail_unless_equals_string (text, "person" TRACKED_AS (1) ", car" TRACKED_AS (2));
      fail_unless_equals_uint64 (identity_of (first_roi (out)), 1);
    } else {
      fail_unless_equals_string (text, "person, car");
    }
    g_free (text);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* Components, whose detections are replaced by those of the tracks, and a detector's, which stays.
 */
GST_START_TEST (test_analytics_beside_components)
{
  GstHarness *h = new_harness ("ccl threshold=128 meta=ccl+analytics ! ccltrack least-way=0");
  GstBuffer *out = NULL;
  gchar *text;

  for (guint i = 0; i < 4; i++) {
    GstBuffer *frame = frame_at (i, NULL, 0);

    draw_rectangle (frame, walker (i));
    detect_in_analytics (frame, "person", 0.75f, walker (i));
    gst_clear_buffer (&out);
    out = push (h, frame);
  }
  assert_rows (out, "1 person 0.75");
  text = describe_analytics (out);
  fail_unless_equals_string (text, "person" TRACKED_AS (1) ", component, component" TRACKED_AS (1));
  g_free (text);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

#if GST_CHECK_VERSION(1, 26, 0)

/* Since 1.28 the decoder has another name, tensors have other ones, caps tell them, and classes
 * begin with 1. */
static gboolean
has_tensor_caps (void)
{
  return gst_registry_check_feature_version (gst_registry_get (), "ssdtensordec", 1, 28, 0);
}

/* A harness whose frames have the tensors that the decoder takes. */
static GstHarness *
new_tensor_harness (const gchar *line, const gchar *decoder)
{
  GstHarness *h = new_harness (line);
  GstElement *element = gst_element_factory_make (decoder, NULL);
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  GstCaps *taken = gst_pad_get_pad_template_caps (pad);
  GstCaps *sent = gst_pad_get_current_caps (h->srcpad);

  gst_harness_set_src_caps (h, gst_caps_fixate (gst_caps_intersect (sent, taken)));
  gst_caps_unref (sent);
  gst_caps_unref (taken);
  gst_object_unref (pad);
  gst_object_unref (element);
  return h;
}

static GstTensor *
new_tensor (const char *id, const gfloat *values, gsize n_dims, gsize *dims)
{
  gsize n = 1;

  for (gsize i = 0; i < n_dims; i++)
    n *= dims[i];
  return gst_tensor_new_simple (g_quark_from_string (id), GST_TENSOR_DATA_TYPE_FLOAT32,
      gst_buffer_new_memdup (values, n * sizeof *values), GST_TENSOR_DIM_ORDER_ROW_MAJOR, n_dims,
      dims);
}

/* What a network of the SSD kind puts out for two boxes. */
static void
attach_tensors (GstBuffer *frame, Rectangle person, Rectangle bicycle)
{
  const gfloat boxes[] = {person.y / (gfloat)HEIGHT, person.x / (gfloat)WIDTH,
      (person.y + person.height) / (gfloat)HEIGHT, (person.x + person.width) / (gfloat)WIDTH,
      bicycle.y / (gfloat)HEIGHT, bicycle.x / (gfloat)WIDTH,
      (bicycle.y + bicycle.height) / (gfloat)HEIGHT, (bicycle.x + bicycle.width) / (gfloat)WIDTH};
  const gfloat scores[] = {0.875f, 0.75f}, n[] = {2};
  const gfloat first = has_tensor_caps (), classes[] = {first, first + 1};
  static const gchar *const names[][4] = {
      {"Gst.Model.ObjectDetector.Boxes", "Gst.Model.ObjectDetector.Scores",
          "Gst.Model.ObjectDetector.Classes", "Gst.Model.ObjectDetector.NumDetections"},
      {"ssd-mobilenet-v1-variant-1-out-boxes", "ssd-mobilenet-v1-variant-1-out-scores",
          "ssd-mobilenet-v1-variant-1-out-classes", "generic-variant-1-out-count"}};
  const gchar *const *ids = names[has_tensor_caps ()];
  GstTensor **tensors = g_new (GstTensor *, 4);

  tensors[0] = new_tensor (ids[0], boxes, 3, (gsize[]){1, 2, 4});
  tensors[1] = new_tensor (ids[1], scores, 2, (gsize[]){1, 2});
  tensors[2] = new_tensor (ids[2], classes, 2, (gsize[]){1, 2});
  tensors[3] = new_tensor (ids[3], n, 1, (gsize[]){1});
  gst_tensor_meta_set (gst_buffer_add_tensor_meta (frame), 4, tensors);
}

/* GStreamer's own decoder of a network's output, in front of the tracker, and motion before it. */
GST_START_TEST (test_detector_of_gstreamer)
{
  const gboolean with_motion = __i__;
  const gchar *decoder = has_tensor_caps () ? "ssdtensordec" : "ssdobjectdetector";
  GstBuffer *out = NULL;
  GstHarness *h;
  gchar *labels, *line;

  if (!gst_registry_check_feature_version (gst_registry_get (), decoder, 1, 26, 0))
    return;
  fail_unless (g_close (g_file_open_tmp (NULL, &labels, NULL), NULL));
  fail_unless (g_file_set_contents (labels, "person\nbicycle\n", -1, NULL));
  line = g_strdup_printf ("%s %s label-file=%s ! ccltrack least-way=0",
      with_motion ? "ccl threshold=128 !" : "", decoder, labels);
  h = new_tensor_harness (line, decoder);
  for (guint i = 0; i < 20; i++) {
    GstBuffer *frame = frame_at (i, NULL, 0);
    const Rectangle bicycle = {200, 20 + 4 * i, 40, 20};

    draw_rectangle (frame, walker (i));
    draw_rectangle (frame, bicycle);
    if (!with_motion || i % 5 == 0)
      attach_tensors (frame, walker (i), bicycle);
    gst_clear_buffer (&out);
    out = push (h, frame);
  }
  if (with_motion) /* the upper one is labelled first */
    assert_rows (out, "1 bicycle 0.75, 2 person 0.88");
  else
    assert_rows (out, "1 person 0.88, 2 bicycle 0.75");
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  g_remove (labels);
  g_free (labels);
  g_free (line);
}
GST_END_TEST

#endif
#endif

static Suite *
detections_suite (void)
{
  Suite *s = suite_create ("ccltrack-detections");
  TCase *tc = tcase_create ("general");

  tcase_add_checked_fixture (tc, NULL, assert_no_leaks);
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_misses_and_false_detections);
  tcase_add_test (tc, test_detections_that_cross);
  tcase_add_test (tc, test_detections_are_whole_objects);
  tcase_add_test (tc, test_detector_names_what_motion_found);
  tcase_add_test (tc, test_components_alone);
  tcase_add_test (tc, test_detections_beside_components);
  tcase_add_test (tc, test_input_changes_while_playing);
  tcase_add_test (tc, test_boxes_outside_the_frame);
  tcase_add_test (tc, test_limits);
  tcase_add_test (tc, test_identity_of_another_tracker);
  tcase_add_test (tc, test_detector_with_an_interval);
  tcase_add_test (tc, test_metres);
  tcase_add_test (tc, test_json);
#if HAVE_ANALYTICS
  tcase_add_test (tc, test_analytics);
  tcase_add_test (tc, test_analytics_beside_components);
#if GST_CHECK_VERSION(1, 26, 0)
  tcase_add_loop_test (tc, test_detector_of_gstreamer, 0, 2);
#endif
#endif
  return s;
}

GST_CHECK_MAIN (detections);
