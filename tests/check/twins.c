/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `ccl` and `cudaccl` have in common, which is nearly everything: the environment variable
 * CCL_ELEMENT says which of them is tested. The components of the drawings are counted by hand.
 */
#include "frames.h"
#include "leaks.h"
#include "skips.h"
#include "twins.h"

#include <sys/mman.h>
#include <unistd.h>
#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

/* Four components, one of which falls apart under 4-connectivity. */
static const char blobs[] = "##....#.\n"
                            "##...#..\n"
                            "........\n"
                            ".#.#....\n"
                            ".###...#\n"
                            ".......#\n";

#define BLOBS_8                                                                                    \
  {4, 0, 0, 2, 2, 0.5, 0.5}, {2, 5, 0, 2, 2, 5.5, 0.5}, {5, 1, 3, 3, 2, 2.0, 3.6},                 \
  {                                                                                                \
    2, 7, 4, 1, 2, 7.0, 4.5                                                                        \
  }

#define BLOBS_4                                                                                    \
  {4, 0, 0, 2, 2, 0.5, 0.5}, {1, 6, 0, 1, 1, 6.0, 0.0}, {1, 5, 1, 1, 1, 5.0, 1.0},                 \
      {5, 1, 3, 3, 2, 2.0, 3.6},                                                                   \
  {                                                                                                \
    2, 7, 4, 1, 2, 7.0, 4.5                                                                        \
  }

static const guint32 blobs_labels[6][8] = {
    {1, 1, 0, 0, 0, 0, 2, 0},
    {1, 1, 0, 0, 0, 2, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0},
    {0, 3, 0, 3, 0, 0, 0, 0},
    {0, 3, 3, 3, 0, 0, 0, 4},
    {0, 0, 0, 0, 0, 0, 0, 4},
};

static void
assert_labels_are (GstBuffer *buffer, const guint32 *expected, guint width, guint height)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  GstBuffer *labels;
  GstMapInfo map;
  gsize stride;

  fail_unless (meta != NULL);
  labels = gst_ccl_meta_get_labels (meta, &stride);
  fail_unless (labels != NULL, "no label map");
  fail_unless (stride >= 4 * width && stride % 4 == 0);
  fail_unless (gst_buffer_map (labels, &map, GST_MAP_READ));
  for (guint y = 0; y < height; y++) {
    const guint32 *row = (const guint32 *)(map.data + y * stride);
    for (guint x = 0; x < width; x++)
      fail_unless_equals_int (row[x], expected[y * width + x]);
  }
  gst_buffer_unmap (labels, &map);
}

TEST_OF_DESCRIPTION (test_inspection)
{
  GstElementFactory *factory = gst_element_factory_find (element_name ());
  GstElement *element = gst_element_factory_create (factory, NULL);
  guint n;
  GParamSpec **properties = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  static const char *const keys[] = {
      GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_DESCRIPTION, GST_ELEMENT_METADATA_AUTHOR};
  static const char *const names[] = {"connectivity", "threshold", "invert", "min-area", "max-area",
      "max-components", "attach-labels", "meta", "post-messages", "algorithm"};

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    const gchar *text = gst_element_factory_get_metadata (factory, keys[i]);
    fail_unless (text && *text, "no %s", keys[i]);
  }
  fail_unless (
      gst_element_factory_list_is_type (factory, GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO) ||
      strstr (gst_element_factory_get_metadata (factory, GST_ELEMENT_METADATA_KLASS), "Video"));
  for (guint i = 0; i < n; i++) {
    const gchar *blurb = g_param_spec_get_blurb (properties[i]);
    fail_unless (blurb && *blurb, "%s has no blurb", g_param_spec_get_name (properties[i]));
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GParamSpec *property = g_object_class_find_property (G_OBJECT_GET_CLASS (element), names[i]);
    fail_unless (property != NULL, "no property %s", names[i]);
    fail_unless (property->flags & GST_PARAM_MUTABLE_PLAYING, "%s cannot change", names[i]);
  }
  fail_unless (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "stats") != NULL);
  g_free (properties);
  gst_object_unref (element);
  gst_object_unref (factory);
}
GST_END_TEST

TEST_OF_DESCRIPTION (test_defaults)
{
  GstElement *element = gst_element_factory_make (element_name (), NULL);
  gint connectivity, algorithm;
  guint threshold, min_area, max_area, max_components, meta;
  gboolean invert, attach_labels, post_messages;

  g_object_get (element, "connectivity", &connectivity, "algorithm", &algorithm, "threshold",
      &threshold, "min-area", &min_area, "max-area", &max_area, "max-components", &max_components,
      "meta", &meta, "invert", &invert, "attach-labels", &attach_labels, "post-messages",
      &post_messages, NULL);
  fail_unless_equals_int (connectivity, 8);
  fail_unless_equals_int (algorithm, 0);
  fail_unless_equals_int (threshold, 0);
  fail_unless_equals_int (min_area, 1);
  fail_unless_equals_int (max_area, 0);
  fail_unless_equals_int (max_components, 4096);
  fail_unless_equals_int (meta, 1);
  fail_if (invert || attach_labels || post_messages);
  gst_object_unref (element);
}
GST_END_TEST

TEST_OF_DESCRIPTION (test_caps_templates)
{
  static const char *const formats[] = {"GRAY8", "NV12", "NV21", "I420", "YV12", "Y42B", "Y444"};
  GstElement *element = gst_element_factory_make (element_name (), NULL);
  gboolean cuda = g_str_equal (element_name (), "cudaccl");

  for (guint p = 0; p < 2; p++) {
    GstPad *pad = gst_element_get_static_pad (element, p ? "src" : "sink");
    GstCaps *template = gst_pad_get_pad_template_caps (pad);
    GstCaps *rgb = frame_caps ("RGB", 8, 8);

    for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
      GstCaps *caps = frame_caps (formats[i], 1, 1);
      fail_unless (gst_caps_is_subset (caps, template), "%s is missing", formats[i]);
      gst_caps_set_features_simple (caps, gst_caps_features_from_string ("memory:CUDAMemory"));
      fail_unless_equals_int (gst_caps_is_subset (caps, template), cuda);
      gst_caps_unref (caps);
    }
    fail_if (gst_caps_can_intersect (rgb, template));
    gst_caps_unref (rgb);
    gst_caps_unref (template);
    gst_object_unref (pad);
  }
  gst_object_unref (element);
}
GST_END_TEST

/* In a format with chroma planes, only the luma counts: the chroma is all 255 here. */
TEST (test_every_format)
{
  static const char *const formats[] = {"GRAY8", "NV12", "NV21", "I420", "YV12", "Y42B", "Y444"};
  GstHarness *h = new_harness ();

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstBuffer *out;
    gst_harness_set_src_caps (h, frame_caps (formats[i], 8, 6));
    out = label (h, luma_frame (formats[i], blobs));
    assert_components (out, BLOBS_8);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* What becomes of a frame with those caps. A pad keeps the events that come before it, whatever
 * its peer says to them, so only a frame shows. */
static GstFlowReturn
push_with_caps (GstHarness *h, GstCaps *caps, GstBuffer *frame)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (h->srcpad, gst_event_new_stream_start ("test"));
  gst_pad_push_event (h->srcpad, gst_event_new_caps (caps));
  gst_pad_push_event (h->srcpad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  return gst_pad_push (h->srcpad, frame);
}

TEST (test_refuses_other_caps)
{
  static const char *const formats[] = {"RGB", "GRAY16_LE", "P010_10LE", "RGBA"};

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstHarness *h = new_harness ();
    GstPad *sink = gst_element_get_static_pad (h->element, "sink");
    GstCaps *caps = frame_caps (formats[i], 8, 6);

    fail_if (gst_pad_query_accept_caps (sink, caps));
    fail_unless_equals_int (push_with_caps (h, caps, gray8_frame (blobs)), GST_FLOW_NOT_NEGOTIATED);
    gst_object_unref (sink);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

TEST (test_components)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *out = label (h, gray8_frame (blobs));
  GstCclMeta *meta = gst_buffer_get_ccl_meta (out);

  assert_components (out, BLOBS_8);
  fail_unless_equals_int (gst_ccl_meta_get_frame_width (meta), 8);
  fail_unless_equals_int (gst_ccl_meta_get_frame_height (meta), 6);
  fail_unless (gst_ccl_meta_get_labels (meta, NULL) == NULL);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_empty_frame)
{
  static const char empty[] = "...\n...\n";
  GstHarness *h = new_gray8_harness (empty);
  GstBuffer *out = label (h, gray8_frame (empty));
  guint n;

  assert_count (out, 0);
  gst_ccl_meta_get_components (gst_buffer_get_ccl_meta (out), &n);
  fail_unless_equals_int (n, 0);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* In place: the frame that comes out is the one that went in, to the last byte. */
TEST (test_pixels_are_untouched)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *in = gray8_frame (blobs), *out;
  guint8 before[8 * 6], after[8 * 6];

  fail_unless_equals_int (gst_buffer_extract (in, 0, before, sizeof before), sizeof before);
  out = label (h, in);
  fail_unless (out == in);
  fail_unless_equals_int (gst_buffer_extract (out, 0, after, sizeof after), sizeof after);
  fail_unless (memcmp (before, after, sizeof before) == 0);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Every change holds from the next frame on. */
TEST (test_connectivity_while_playing)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *out;

  for (guint round = 0; round < 2; round++) {
    gst_util_set_object_arg (G_OBJECT (h->element), "connectivity", "8");
    out = label (h, gray8_frame (blobs));
    assert_components (out, BLOBS_8);
    gst_buffer_unref (out);

    gst_util_set_object_arg (G_OBJECT (h->element), "connectivity", "4");
    out = label (h, gray8_frame (blobs));
    assert_components (out, BLOBS_4);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_threshold_and_invert_while_playing)
{
  static const char levels[] = "4.8\n"; /* 100, 0, 200 */
  static const struct {
    guint threshold;
    gboolean invert;
    guint count;
    guint first_area;
  } cases[] = {
      {0, FALSE, 2, 1},
      {99, FALSE, 2, 1},
      {100, FALSE, 1, 1},
      {200, FALSE, 0, 0},
      {255, FALSE, 0, 0},
      {0, TRUE, 1, 1},
      {100, TRUE, 1, 2},
      {200, TRUE, 1, 3},
      {255, TRUE, 1, 3},
      {0, FALSE, 2, 1},
  };
  GstHarness *h = new_gray8_harness (levels);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *out;
    const GstCclComponent *components;
    guint n;

    g_object_set (h->element, "threshold", cases[i].threshold, "invert", cases[i].invert, NULL);
    out = label (h, gray8_frame (levels));
    assert_count (out, cases[i].count);
    components = gst_ccl_meta_get_components (gst_buffer_get_ccl_meta (out), &n);
    if (n)
      fail_unless_equals_int (components[0].area, cases[i].first_area);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_area_filter_while_playing)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *out;

  g_object_set (h->element, "min-area", 3, NULL);
  out = label (h, gray8_frame (blobs));
  assert_components (out, {4, 0, 0, 2, 2, 0.5, 0.5}, {5, 1, 3, 3, 2, 2.0, 3.6});
  gst_buffer_unref (out);

  g_object_set (h->element, "max-area", 4, NULL);
  out = label (h, gray8_frame (blobs));
  assert_components (out, {4, 0, 0, 2, 2, 0.5, 0.5});
  gst_buffer_unref (out);

  g_object_set (h->element, "min-area", 0, "max-area", 0, NULL);
  out = label (h, gray8_frame (blobs));
  assert_components (out, BLOBS_8);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* The table ends, but N and the label map do not. */
TEST (test_max_components_while_playing)
{
  const Expected expected[] = {BLOBS_8};
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *out;

  g_object_set (h->element, "max-components", 2, "attach-labels", TRUE, NULL);
  out = label (h, gray8_frame (blobs));
  assert_components_of (out, 4, expected, 2);
  assert_labels_are (out, &blobs_labels[0][0], 8, 6);
  gst_buffer_unref (out);

  g_object_set (h->element, "max-components", 4, NULL);
  out = label (h, gray8_frame (blobs));
  assert_components_of (out, 4, expected, 4);
  gst_buffer_unref (out);

  g_object_set (h->element, "max-components", G_MAXINT, NULL);
  out = label (h, gray8_frame (blobs));
  assert_components_of (out, 4, expected, 4);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_attach_labels_while_playing)
{
  GstHarness *h = new_gray8_harness (blobs);

  for (guint round = 0; round < 4; round++) {
    gboolean attach = round % 2 == 0;
    GstBuffer *out;

    g_object_set (h->element, "attach-labels", attach, NULL);
    out = label (h, gray8_frame (blobs));
    if (attach)
      assert_labels_are (out, &blobs_labels[0][0], 8, 6);
    else
      fail_unless (gst_ccl_meta_get_labels (gst_buffer_get_ccl_meta (out), NULL) == NULL);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* Filtered components are background in the label map, and the others move up. */
TEST (test_label_map_of_filtered_components)
{
  static const guint32 expected[6][8] = {
      {1, 1, 0, 0, 0, 0, 0, 0},
      {1, 1, 0, 0, 0, 0, 0, 0},
      {0, 0, 0, 0, 0, 0, 0, 0},
      {0, 2, 0, 2, 0, 0, 0, 0},
      {0, 2, 2, 2, 0, 0, 0, 0},
      {0, 0, 0, 0, 0, 0, 0, 0},
  };
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *out;

  g_object_set (h->element, "attach-labels", TRUE, "min-area", 3, NULL);
  out = label (h, gray8_frame (blobs));
  assert_labels_are (out, &expected[0][0], 8, 6);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Label maps come from a pool: one at a time in use is one allocated. */
TEST (test_label_maps_are_reused)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *first = NULL;

  g_object_set (h->element, "attach-labels", TRUE, NULL);
  for (guint i = 0; i < 10; i++) {
    GstBuffer *out = label (h, gray8_frame (blobs));
    GstBuffer *labels = gst_ccl_meta_get_labels (gst_buffer_get_ccl_meta (out), NULL);

    if (!first)
      first = labels;
    fail_unless (labels == first, "frame %u has a label map of its own", i);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* A label map that is still in use downstream is not written again. */
TEST (test_label_maps_in_use_stay)
{
  static const char dot[] = "........\n........\n........\n........\n........\n#.......\n";
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *first, *second;

  g_object_set (h->element, "attach-labels", TRUE, NULL);
  first = label (h, gray8_frame (blobs));
  second = label (h, gray8_frame (dot));
  assert_labels_are (first, &blobs_labels[0][0], 8, 6);
  gst_buffer_unref (second);
  gst_harness_teardown (h);
  /* Also after the element is gone. */
  assert_labels_are (first, &blobs_labels[0][0], 8, 6);
  gst_buffer_unref (first);
}
GST_END_TEST

static guint
count_metas (GstBuffer *buffer, GType api)
{
  return gst_buffer_get_n_meta (buffer, api);
}

TEST (test_meta_kinds_while_playing)
{
  GType roi_api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *out;

  gst_util_set_object_arg (G_OBJECT (h->element), "meta", "roi");
  out = label (h, gray8_frame (blobs));
  fail_unless_equals_int (count_metas (out, GST_CCL_META_API_TYPE), 0);
  fail_unless_equals_int (count_metas (out, roi_api), 4);
  gst_buffer_unref (out);

  gst_util_set_object_arg (G_OBJECT (h->element), "meta", "ccl+roi");
  out = label (h, gray8_frame (blobs));
  fail_unless_equals_int (count_metas (out, GST_CCL_META_API_TYPE), 1);
  fail_unless_equals_int (count_metas (out, roi_api), 4);
  gst_buffer_unref (out);

  g_object_set (h->element, "meta", 0, NULL);
  out = label (h, gray8_frame (blobs));
  fail_unless_equals_int (count_metas (out, GST_CCL_META_API_TYPE), 0);
  fail_unless_equals_int (count_metas (out, roi_api), 0);
  gst_buffer_unref (out);

  gst_util_set_object_arg (G_OBJECT (h->element), "meta", "ccl");
  out = label (h, gray8_frame (blobs));
  assert_components (out, BLOBS_8);
  fail_unless_equals_int (count_metas (out, roi_api), 0);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_roi_metas)
{
  static const guint boxes[4][4] = {{0, 0, 2, 2}, {5, 0, 2, 2}, {1, 3, 3, 2}, {7, 4, 1, 2}};
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *out;

  gst_util_set_object_arg (G_OBJECT (h->element), "meta", "roi");
  out = label (h, gray8_frame (blobs));
  for (gint i = 0; i < 4; i++) {
    GstVideoRegionOfInterestMeta *roi =
        gst_buffer_get_video_region_of_interest_meta_id (out, i + 1);
    fail_unless (roi != NULL, "no region %d", i + 1);
    fail_unless_equals_string (g_quark_to_string (roi->roi_type), "component");
    fail_unless_equals_int (roi->x, boxes[i][0]);
    fail_unless_equals_int (roi->y, boxes[i][1]);
    fail_unless_equals_int (roi->w, boxes[i][2]);
    fail_unless_equals_int (roi->h, boxes[i][3]);
  }
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

#if HAVE_ANALYTICS
TEST (test_analytics)
{
  static const gint boxes[4][4] = {{0, 0, 2, 2}, {5, 0, 2, 2}, {1, 3, 3, 2}, {7, 4, 1, 2}};
  GstHarness *h = new_gray8_harness (blobs);
  GstAnalyticsRelationMeta *relations;
  GstAnalyticsODMtd detection;
  gpointer state = NULL;
  GstBuffer *out;
  guint n = 0;

  gst_util_set_object_arg (G_OBJECT (h->element), "meta", "ccl+analytics");
  out = label (h, gray8_frame (blobs));
  assert_components (out, BLOBS_8);
  relations = gst_buffer_get_analytics_relation_meta (out);
  fail_unless (relations != NULL);
  while (gst_analytics_relation_meta_iterate (
      relations, &state, gst_analytics_od_mtd_get_mtd_type (), &detection)) {
    gint box[4];
    gfloat confidence;

    fail_unless (n < 4);
    fail_unless (gst_analytics_od_mtd_get_location (
        &detection, &box[0], &box[1], &box[2], &box[3], &confidence));
    fail_unless (memcmp (box, boxes[n], sizeof box) == 0, "box %u is wrong", n);
    fail_unless_equals_float (confidence, 1.0);
    fail_unless_equals_string (
        g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&detection)), "component");
    n++;
  }
  fail_unless_equals_int (n, 4);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

#if GST_CHECK_VERSION(1, 26, 0)
/* The label map as an image of 16 bits, whose values are the labels of the detections in order. */
TEST (test_analytics_segmentation)
{
  static const guint16 expected[6][8] = {
      {1, 1, 0, 0, 0, 0, 2, 0},
      {1, 1, 0, 0, 0, 2, 0, 0},
      {0, 0, 0, 0, 0, 0, 0, 0},
      {0, 3, 0, 3, 0, 0, 0, 0},
      {0, 3, 3, 3, 0, 0, 0, 4},
      {0, 0, 0, 0, 0, 0, 0, 4},
  };
  GstHarness *h = new_gray8_harness (blobs);
  GstAnalyticsRelationMeta *relations;
  GstAnalyticsSegmentationMtd segmentation;
  gpointer state = NULL;
  GstBuffer *out, *mask;
  GstVideoMeta *meta;
  gint x, y;
  guint width, height;

  gst_util_set_object_arg (G_OBJECT (h->element), "meta", "ccl+analytics");
  g_object_set (h->element, "attach-labels", TRUE, NULL);
  out = label (h, gray8_frame (blobs));
  relations = gst_buffer_get_analytics_relation_meta (out);
  fail_unless (gst_analytics_relation_meta_iterate (
      relations, &state, gst_analytics_segmentation_mtd_get_mtd_type (), &segmentation));
  fail_unless_equals_int (gst_analytics_segmentation_mtd_get_region_count (&segmentation), 5);
  for (guint i = 0; i < 5; i++)
    fail_unless_equals_int (gst_analytics_segmentation_mtd_get_region_id (&segmentation, i), i);
  fail_unless_equals_int (gst_analytics_relation_get_length (relations), 5);
  for (guint i = 0; i < 4; i++)
    fail_unless (gst_analytics_relation_meta_exist (
        relations, segmentation.id, i, 1, GST_ANALYTICS_REL_TYPE_RELATE_TO, NULL));

  mask = gst_analytics_segmentation_mtd_get_mask (&segmentation, &x, &y, &width, &height);
  fail_unless (x == 0 && y == 0 && width == 8 && height == 6);
  meta = gst_buffer_get_video_meta (mask);
  fail_unless (meta->width == 8 && meta->height == 6);
  for (guint row = 0; row < 6; row++) {
    guint16 got[8];
    gst_buffer_extract (mask, meta->offset[0] + row * (gsize)meta->stride[0], got, sizeof got);
    fail_unless (memcmp (got, expected[row], sizeof got) == 0, "row %u is wrong", row);
  }
  gst_buffer_unref (mask);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST
#endif
#endif

/* A second labeller's metadata takes the place of the first's. */
TEST (test_earlier_meta_is_replaced)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *frame = gray8_frame (blobs), *out;

  gst_buffer_add_ccl_meta (frame, 8, 6, 0, NULL, 0, NULL, 0);
  out = label (h, frame);
  fail_unless_equals_int (count_metas (out, GST_CCL_META_API_TYPE), 1);
  assert_components (out, BLOBS_8);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

static void
check_message (GstStructure *structure, GstClockTime timestamp)
{
  const GValue *components = gst_structure_get_value (structure, "components");
  const GstStructure *third;
  GstClockTime time;
  gboolean truncated;
  guint value;
  gdouble centroid;

  fail_unless (gst_structure_has_name (structure, element_name ()));
  fail_unless (gst_structure_get_clock_time (structure, "timestamp", &time));
  fail_unless_equals_uint64 (time, timestamp);
  fail_unless (gst_structure_get_clock_time (structure, "running-time", &time));
  fail_unless_equals_uint64 (time, timestamp);
  fail_unless (gst_structure_get_clock_time (structure, "stream-time", &time));
  fail_unless_equals_uint64 (time, timestamp);
  fail_unless (gst_structure_get_uint (structure, "count", &value));
  fail_unless_equals_int (value, 4);
  fail_unless (gst_structure_get_boolean (structure, "truncated", &truncated));
  fail_if (truncated);
  fail_unless_equals_int (gst_value_array_get_size (components), 4);
  third = gst_value_get_structure (gst_value_array_get_value (components, 2));
  fail_unless (gst_structure_get_uint (third, "label", &value));
  fail_unless_equals_int (value, 3);
  fail_unless (gst_structure_get_uint (third, "area", &value));
  fail_unless_equals_int (value, 5);
  fail_unless (gst_structure_get_uint (third, "width", &value));
  fail_unless_equals_int (value, 3);
  fail_unless (gst_structure_get_double (third, "cy", &centroid));
  fail_unless_equals_float (centroid, 3.6);
}

TEST (test_messages_while_playing)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < 4; i++) {
    gboolean post = i % 2 == 1;
    GstBuffer *frame = gray8_frame (blobs);
    GstMessage *message;

    GST_BUFFER_PTS (frame) = i * GST_SECOND;
    g_object_set (h->element, "post-messages", post, NULL);
    gst_buffer_unref (label (h, frame));
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
    fail_unless_equals_int (message != NULL, post);
    if (message) {
      check_message ((GstStructure *)gst_message_get_structure (message), i * GST_SECOND);
      gst_message_unref (message);
    }
  }
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

static GEnumClass *
algorithm_class (GstHarness *h)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (h->element), "algorithm");

  return G_PARAM_SPEC_ENUM (pspec)->enum_class;
}

/* Every algorithm gives the same result; one that lacks the connectivity says so, and the
 * element can go on with another. */
static void
check_every_algorithm (const char *connectivity, const Expected *expected, guint n)
{
  GstHarness *h = new_gray8_harness (blobs);
  GEnumClass *algorithms = algorithm_class (h);
  GstBus *bus = gst_bus_new ();
  guint n_offered = 0;

  gst_element_set_bus (h->element, bus);
  gst_util_set_object_arg (G_OBJECT (h->element), "connectivity", connectivity);
  fail_unless_equals_string (algorithms->values[0].value_nick, "auto");
  fail_unless (algorithms->n_values >= 2);
  for (guint i = 0; i < algorithms->n_values; i++) {
    GstFlowReturn ret;

    GST_INFO ("algorithm %s", algorithms->values[i].value_nick);
    g_object_set (h->element, "algorithm", algorithms->values[i].value, NULL);
    ret = gst_harness_push (h, gray8_frame (blobs));
    if (ret == GST_FLOW_OK) {
      GstBuffer *out = gst_harness_pull (h);
      assert_components_of (out, n, expected, n);
      gst_buffer_unref (out);
      n_offered++;
    } else {
      fail_unless_equals_int (ret, GST_FLOW_ERROR);
      assert_error (
          bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, algorithms->values[i].value_nick);
    }
    if (i == 0)
      fail_unless_equals_int (ret, GST_FLOW_OK);
  }
  fail_unless (n_offered >= 2);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

TEST (test_algorithms_8_connected)
{
  const Expected expected[] = {BLOBS_8};
  check_every_algorithm ("8", expected, G_N_ELEMENTS (expected));
}
GST_END_TEST

TEST (test_algorithms_4_connected)
{
  const Expected expected[] = {BLOBS_4};
  check_every_algorithm ("4", expected, G_N_ELEMENTS (expected));
}
GST_END_TEST

/* Other sizes mid-stream: labeller and label maps follow. */
TEST (test_renegotiation)
{
  static const char wide[] = "#.#.#.#.#.#.#.#.#\n";
  static const char tall[] = "#\n.\n#\n.\n#\n";
  static const char dot[] = "#\n";
  static const char *const drawings[] = {blobs, wide, dot, tall, blobs};
  static const guint counts[] = {4, 9, 1, 3, 4};
  GstHarness *h = new_harness ();

  g_object_set (h->element, "attach-labels", TRUE, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (drawings); i++) {
    guint width = drawing_width (drawings[i]), height = drawing_height (drawings[i]);

    gst_harness_set_src_caps (h, frame_caps ("GRAY8", width, height));
    for (guint frame = 0; frame < 3; frame++) {
      GstBuffer *out = label (h, gray8_frame (drawings[i]));
      GstCclMeta *meta = gst_buffer_get_ccl_meta (out);
      gsize stride;

      assert_count (out, counts[i]);
      fail_unless_equals_int (gst_ccl_meta_get_frame_width (meta), width);
      fail_unless_equals_int (gst_ccl_meta_get_frame_height (meta), height);
      fail_unless (gst_buffer_get_size (gst_ccl_meta_get_labels (meta, &stride)) >=
                   stride * (height - 1) + 4 * width);
      gst_buffer_unref (out);
    }
  }
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_state_cycles)
{
  GstElement *element = gst_element_factory_make (element_name (), NULL);

  for (guint round = 0; round < 3; round++) {
    GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
    GstStructure *stats;
    guint64 frames;
    GstBuffer *out;

    gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
    out = label (h, gray8_frame (blobs));
    assert_components (out, BLOBS_8);
    gst_buffer_unref (out);
    g_object_get (element, "stats", &stats, NULL);
    fail_unless (gst_structure_get_uint64 (stats, "frames", &frames));
    fail_unless_equals_uint64 (frames, 1);
    gst_structure_free (stats);
    /* Sets the element to NULL. */
    gst_harness_teardown (h);
  }
  gst_object_unref (element);
}
GST_END_TEST

TEST (test_states_without_data)
{
  GstElement *element = gst_element_factory_make (element_name (), NULL);
  static const GstState states[] = {GST_STATE_READY, GST_STATE_NULL, GST_STATE_PAUSED,
      GST_STATE_READY, GST_STATE_PLAYING, GST_STATE_NULL, GST_STATE_PLAYING, GST_STATE_NULL};

  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    fail_unless_equals_int (gst_element_set_state (element, states[i]), GST_STATE_CHANGE_SUCCESS);
  gst_object_unref (element);
}
GST_END_TEST

TEST (test_eos)
{
  GstHarness *h = new_gray8_harness (blobs);

  gst_buffer_unref (label (h, gray8_frame (blobs)));
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  for (;;) {
    GstEvent *event = gst_harness_pull_event (h);
    gboolean eos;

    fail_unless (event != NULL);
    eos = GST_EVENT_TYPE (event) == GST_EVENT_EOS;
    gst_event_unref (event);
    if (eos)
      break;
  }
  fail_unless_equals_int (gst_harness_push (h, gray8_frame (blobs)), GST_FLOW_EOS);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_flush)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstSegment segment;
  GstBuffer *out;

  gst_buffer_unref (label (h, gray8_frame (blobs)));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless_equals_int (gst_harness_push (h, gray8_frame (blobs)), GST_FLOW_FLUSHING);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  out = label (h, gray8_frame (blobs));
  assert_components (out, BLOBS_8);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_empty_gap_buffer_passes)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *gap = gst_buffer_new (), *out;

  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  out = label (h, gap);
  fail_unless (gst_buffer_get_ccl_meta (out) == NULL);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_gap_with_pixels_is_labelled)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *gap = gray8_frame (blobs), *out;

  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  out = label (h, gap);
  assert_components (out, BLOBS_8);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A frame inside a larger picture: what is around it, all foreground, does not count. */
TEST (test_stride_and_offset_of_video_meta)
{
  const gsize stride = 8 + 13, offset = 2 * stride + 5;
  gsize offsets[GST_VIDEO_MAX_PLANES] = {offset};
  gint strides[GST_VIDEO_MAX_PLANES] = {(gint)stride};
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *frame = gst_buffer_new_allocate (NULL, stride * 10, NULL), *out;
  GstMapInfo map;

  gst_buffer_memset (frame, 0, 255, stride * 10);
  fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  draw (blobs, map.data + offset, stride);
  gst_buffer_unmap (frame, &map);
  gst_buffer_add_video_meta_full (
      frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 6, 1, offsets, strides);
  out = label (h, frame);
  assert_components (out, BLOBS_8);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* The luma in a memory of its own, and in two pieces. */
TEST (test_several_memories)
{
  gsize offsets[GST_VIDEO_MAX_PLANES] = {3};
  gint strides[GST_VIDEO_MAX_PLANES] = {8};
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *whole = gray8_frame (blobs), *frame = gst_buffer_new (), *out;
  guint8 pixels[48];

  gst_buffer_extract (whole, 0, pixels, sizeof pixels);
  gst_buffer_unref (whole);
  gst_buffer_append_memory (frame, gst_allocator_alloc (NULL, 3, NULL));
  gst_buffer_append_memory (frame, gst_allocator_alloc (NULL, 20, NULL));
  gst_buffer_append_memory (frame, gst_allocator_alloc (NULL, 28, NULL));
  fail_unless_equals_int (gst_buffer_fill (frame, 3, pixels, sizeof pixels), sizeof pixels);
  gst_buffer_add_video_meta_full (
      frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 6, 1, offsets, strides);
  out = label (h, frame);
  assert_components (out, BLOBS_8);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

typedef struct {
  guint8 *start;
  gsize size;
} Mapping;

static void
unmap_guarded (gpointer data)
{
  Mapping *mapping = data;

  munmap (mapping->start, mapping->size);
  g_free (mapping);
}

/* A buffer behind whose last byte any access is a crash. */
static GstBuffer *
guarded_buffer (gsize size)
{
  gsize page = (gsize)sysconf (_SC_PAGESIZE);
  gsize usable = (size + page - 1) / page * page;
  Mapping *mapping = g_new (Mapping, 1);

  mapping->size = usable + page;
  mapping->start =
      mmap (NULL, mapping->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  fail_unless (mapping->start != MAP_FAILED);
  fail_unless (mprotect (mapping->start + usable, page, PROT_NONE) == 0);
  return gst_buffer_new_wrapped_full (
      0, mapping->start + usable - size, size, 0, size, mapping, unmap_guarded);
}

/* The last row need not have padding. */
TEST (test_nothing_is_read_past_the_end)
{
  for (guint padding = 0; padding < 40; padding += 13) {
    const gsize stride = 8 + padding, size = stride * 5 + 8;
    gsize offsets[GST_VIDEO_MAX_PLANES] = {0};
    gint strides[GST_VIDEO_MAX_PLANES] = {(gint)stride};
    GstHarness *h = new_gray8_harness (blobs);
    GstBuffer *frame = guarded_buffer (size), *out;
    GstMapInfo map;

    fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
    draw (blobs, map.data, stride);
    gst_buffer_unmap (frame, &map);
    gst_buffer_add_video_meta_full (
        frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 6, 1, offsets, strides);
    out = label (h, frame);
    assert_components (out, BLOBS_8);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* What does not fit its caps or its GstVideoMeta is refused, and the next good frame is fine. */
TEST (test_frames_smaller_than_their_caps)
{
  static const struct {
    gsize size;
    gboolean meta;
    guint width, height;
    gsize offset;
    gint stride;
  } cases[] = {
      {0, FALSE, 0, 0, 0, 0}, {47, FALSE, 0, 0, 0, 0}, {1, FALSE, 0, 0, 0, 0},
      {47, TRUE, 8, 6, 0, 8},                                 /* one byte short */
      {48, TRUE, 8, 6, 1, 8},                                 /* starts too late */
      {48, TRUE, 8, 6, 1000, 8},                              /* starts behind the end */
      {48, TRUE, 8, 6, G_MAXSIZE, 8}, {48, TRUE, 8, 6, 0, 9}, /* rows too far apart */
      {48, TRUE, 8, 6, 0, 7},                                 /* rows overlap */
      {48, TRUE, 8, 6, 0, 0}, {48, TRUE, 8, 6, 0, -8}, {48, TRUE, 8, 6, 0, G_MAXINT},
      {48, TRUE, 7, 6, 0, 8}, /* not as wide as the caps say */
      {48, TRUE, 8, 5, 0, 8}, /* not as high */
  };
  GstHarness *h = new_gray8_harness (blobs);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gsize offsets[GST_VIDEO_MAX_PLANES] = {cases[i].offset};
    gint strides[GST_VIDEO_MAX_PLANES] = {cases[i].stride};
    GstBuffer *frame = cases[i].size ? guarded_buffer (cases[i].size) : gst_buffer_new (), *out;

    if (cases[i].meta)
      gst_buffer_add_video_meta_full (frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8,
          cases[i].width, cases[i].height, 1, offsets, strides);
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_ERROR);
    assert_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "The frame");

    out = label (h, gray8_frame (blobs));
    assert_components (out, BLOBS_8);
    gst_buffer_unref (out);
  }
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_frames_too_large_are_not_negotiated)
{
  static const guint sizes[][2] = {{65536, 32768}, {G_MAXINT, 2}, {46341, 46341}};

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    GstHarness *h = new_harness ();
    GstBus *bus = gst_bus_new ();

    gst_element_set_bus (h->element, bus);
    fail_unless_equals_int (
        push_with_caps (h, frame_caps ("GRAY8", sizes[i][0], sizes[i][1]), gray8_frame (blobs)),
        GST_FLOW_NOT_NEGOTIATED);
    assert_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "too large");
    gst_element_set_bus (h->element, NULL);
    gst_object_unref (bus);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* An empty gap needs no memory, just caps that were taken. Wider rows than these have no stride
 * that fits GStreamer's gint. */
TEST (test_largest_frame_is_negotiated)
{
  GstHarness *h = new_harness ();
  GstBuffer *gap = gst_buffer_new ();

  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  fail_unless_equals_int (
      push_with_caps (h, frame_caps ("GRAY8", G_MAXINT - 3, 1), gap), GST_FLOW_OK);
  gst_harness_teardown (h);
}
GST_END_TEST

static GstStructure *
get_stats (GstHarness *h)
{
  GstStructure *stats;

  g_object_get (h->element, "stats", &stats, NULL);
  return stats;
}

static guint64
get_count (const GstStructure *stats, const char *field)
{
  guint64 value;

  fail_unless (gst_structure_get_uint64 (stats, field, &value), "no %s", field);
  return value;
}

TEST (test_stats)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstStructure *stats = get_stats (h);

  fail_unless_equals_uint64 (get_count (stats, "frames"), 0);
  fail_unless_equals_uint64 (get_count (stats, "label-time-mean"), 0);
  fail_unless_equals_uint64 (get_count (stats, "label-time-p99"), 0);
  gst_structure_free (stats);

  for (guint i = 0; i < 20; i++)
    gst_buffer_unref (label (h, gray8_frame (blobs)));
  stats = get_stats (h);
  fail_unless_equals_uint64 (get_count (stats, "frames"), 20);
  fail_unless_equals_uint64 (get_count (stats, "components"), 80);
  fail_unless_equals_uint64 (get_count (stats, "dropped"), 0);
  fail_unless (get_count (stats, "label-time-mean") > 0);
  fail_unless (get_count (stats, "label-time-mean") < 10 * GST_SECOND);
  /* Of twenty frames it is the slowest one. */
  fail_unless (get_count (stats, "label-time-p99") >= get_count (stats, "label-time-mean"));
  gst_structure_free (stats);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_late_frames_are_dropped_and_counted)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *frame;
  GstStructure *stats;

  gst_buffer_unref (label (h, gray8_frame (blobs)));
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND, GST_SECOND));

  frame = gray8_frame (blobs);
  GST_BUFFER_PTS (frame) = GST_SECOND;
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  fail_unless (gst_harness_try_pull (h) == NULL);

  frame = gray8_frame (blobs);
  GST_BUFFER_PTS (frame) = 10 * GST_SECOND;
  gst_buffer_unref (label (h, frame));

  stats = get_stats (h);
  fail_unless_equals_uint64 (get_count (stats, "frames"), 2);
  fail_unless_equals_uint64 (get_count (stats, "dropped"), 1);
  gst_structure_free (stats);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_proposes_video_meta)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstPad *sink = gst_element_get_static_pad (h->element, "sink");
  GstCaps *caps = frame_caps ("GRAY8", 8, 6);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  fail_unless (gst_pad_query (sink, query));
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_object_unref (sink);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_meta_survives_copy)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *out, *copy, *deep_copy;

  g_object_set (h->element, "attach-labels", TRUE, NULL);
  out = label (h, gray8_frame (blobs));
  copy = gst_buffer_copy (out);
  deep_copy = gst_buffer_copy_deep (out);
  gst_buffer_unref (out);
  gst_harness_teardown (h);

  assert_components (copy, BLOBS_8);
  assert_labels_are (copy, &blobs_labels[0][0], 8, 6);
  gst_buffer_unref (copy);
  assert_components (deep_copy, BLOBS_8);
  assert_labels_are (deep_copy, &blobs_labels[0][0], 8, 6);
  gst_buffer_unref (deep_copy);
}
GST_END_TEST

/* Twice the width, three halves of the height. */
static void
check_scaling (const char *scaler)
{
  gchar *line =
      g_strdup_printf ("%s attach-labels=true ! %s ! capsfilter caps=video/x-raw,width=16,height=9",
          element_name (), scaler);
  GstHarness *h = gst_harness_new_parse (line);
  GstCaps *sink_caps = frame_caps ("GRAY8", 16, 9);
  GstBuffer *out;
  GstCclMeta *meta;

  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
  out = label (h, gray8_frame (blobs));
  /* Boxes: rows 0…2 become 0…3, rows 3…5 become 4.5…7.5, so 4…8, rows 4…6 become 6…9.
   * Centroids: (c + 0.5) × factor - 0.5. */
  assert_components (out, {4, 0, 0, 4, 3, 1.5, 1.0}, {2, 10, 0, 4, 3, 11.5, 1.0},
      {5, 2, 4, 6, 4, 4.5, 5.65}, {2, 14, 6, 2, 3, 14.5, 7.0});
  meta = gst_buffer_get_ccl_meta (out);
  fail_unless_equals_int (gst_ccl_meta_get_frame_width (meta), 16);
  fail_unless_equals_int (gst_ccl_meta_get_frame_height (meta), 9);
  fail_unless (gst_ccl_meta_get_labels (meta, NULL) == NULL);
  gst_buffer_unref (out);
  gst_caps_unref (sink_caps);
  gst_harness_teardown (h);
  g_free (line);
}

TEST (test_meta_survives_videoscale)
{
  check_scaling ("videoscale");
}
GST_END_TEST

TEST (test_meta_survives_videoconvertscale)
{
  check_scaling ("videoconvertscale");
}
GST_END_TEST

TEST (test_meta_survives_videoconvert)
{
  gchar *line = g_strdup_printf (
      "%s attach-labels=true ! videoconvert ! capsfilter caps=video/x-raw,format=RGB",
      element_name ());
  GstHarness *h = gst_harness_new_parse (line);
  GstBuffer *out;

  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
  out = label (h, gray8_frame (blobs));
  assert_components (out, BLOBS_8);
  assert_labels_are (out, &blobs_labels[0][0], 8, 6);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  g_free (line);
}
GST_END_TEST

/* Coordinates of a turned frame would be wrong. */
TEST (test_meta_does_not_survive_videoflip)
{
  gchar *line = g_strdup_printf ("%s ! videoflip video-direction=90r", element_name ());
  GstHarness *h = gst_harness_new_parse (line);
  GstBuffer *out;

  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
  out = label (h, gray8_frame (blobs));
  fail_unless (gst_buffer_get_ccl_meta (out) == NULL);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  g_free (line);
}
GST_END_TEST

typedef struct {
  guint n_frames, n_labelled;
} Seen;

static void
count_frame (GstElement *sink, GstBuffer *buffer, GstPad *pad, Seen *seen)
{
  seen->n_frames++;
  seen->n_labelled += gst_buffer_get_ccl_meta (buffer) != NULL;
}

static void
run_to_eos (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  fail_if (gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "no end of stream within a minute");
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static void
connect_sink (GstElement *pipeline, const char *name, Seen *seen)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), name);

  g_object_set (sink, "signal-handoffs", TRUE, NULL);
  g_signal_connect (sink, "handoff", G_CALLBACK (count_frame), seen);
  gst_object_unref (sink);
}

/* Behind a tee both branches get the metadata; before it, only the branch that asked for it. */
TEST (test_tees)
{
  gchar *line = g_strdup_printf (
      "videotestsrc num-buffers=10 ! video/x-raw,format=GRAY8,width=64,height=48 ! tee name=before "
      "before. ! queue ! fakesink name=plain "
      "before. ! queue ! %s ! tee name=behind "
      "behind. ! queue ! fakesink name=one behind. ! queue ! fakesink name=two",
      element_name ());
  GstElement *pipeline = gst_parse_launch (line, NULL);
  Seen plain = {0}, one = {0}, two = {0};

  fail_unless (pipeline != NULL);
  connect_sink (pipeline, "plain", &plain);
  connect_sink (pipeline, "one", &one);
  connect_sink (pipeline, "two", &two);
  run_to_eos (pipeline);
  fail_unless_equals_int (plain.n_frames, 10);
  fail_unless_equals_int (plain.n_labelled, 0);
  fail_unless_equals_int (one.n_frames, 10);
  fail_unless_equals_int (one.n_labelled, 10);
  fail_unless_equals_int (two.n_frames, 10);
  fail_unless_equals_int (two.n_labelled, 10);
  gst_object_unref (pipeline);
  g_free (line);
}
GST_END_TEST

static gpointer
turn_properties (gpointer data)
{
  GstElement *element = data;

  for (guint i = 0; i < 2000; i++) {
    GstStructure *stats;
    g_object_set (element, "connectivity", i % 2 ? 4 : 8, "threshold", i % 256, "invert",
        i % 3 == 0, "min-area", i % 5, "max-area", i % 7 * 100, "max-components", 1 + i % 100,
        "attach-labels", i % 2, "meta", i % 4, NULL);
    g_object_get (element, "stats", &stats, NULL);
    gst_structure_free (stats);
    if (i % 50 == 0)
      g_usleep (100);
  }
  return NULL;
}

/* Properties change in another thread while frames flow. */
TEST (test_properties_from_another_thread)
{
  gchar *line = g_strdup_printf (
      "videotestsrc pattern=snow num-buffers=300 ! video/x-raw,format=GRAY8,width=65,height=33 ! "
      "%s name=labeller ! fakesink name=sink",
      element_name ());
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *labeller = gst_bin_get_by_name (GST_BIN (pipeline), "labeller");
  Seen seen = {0};
  GThread *thread;

  connect_sink (pipeline, "sink", &seen);
  thread = g_thread_new ("properties", turn_properties, labeller);
  run_to_eos (pipeline);
  g_thread_join (thread);
  fail_unless_equals_int (seen.n_frames, 300);
  gst_object_unref (labeller);
  gst_object_unref (pipeline);
  g_free (line);
}
GST_END_TEST

/* Several labellers at work in one process do not disturb each other. */
TEST (test_streams_side_by_side)
{
  GString *line = g_string_new (NULL);
  GstElement *pipeline;
  Seen seen[4] = {{0}};

  for (guint i = 0; i < G_N_ELEMENTS (seen); i++)
    g_string_append_printf (line,
        "videotestsrc pattern=snow num-buffers=40 ! "
        "video/x-raw,format=NV12,width=%u,height=60 ! queue ! %s ! fakesink name=sink%u ",
        100 + i, element_name (), i);
  pipeline = gst_parse_launch (line->str, NULL);
  fail_unless (pipeline != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (seen); i++) {
    gchar *name = g_strdup_printf ("sink%u", i);
    connect_sink (pipeline, name, &seen[i]);
    g_free (name);
  }
  run_to_eos (pipeline);
  for (guint i = 0; i < G_N_ELEMENTS (seen); i++)
    fail_unless_equals_int (seen[i].n_labelled, 40);
  gst_object_unref (pipeline);
  g_string_free (line, TRUE);
}
GST_END_TEST

static Suite *
twins_suite (void)
{
  Suite *suite = suite_create (element_name ());
  TCase *tcase = tcase_create ("twins");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_inspection);
  tcase_add_test (tcase, test_defaults);
  tcase_add_test (tcase, test_caps_templates);
  tcase_add_test (tcase, test_every_format);
  tcase_add_test (tcase, test_refuses_other_caps);
  tcase_add_test (tcase, test_components);
  tcase_add_test (tcase, test_empty_frame);
  tcase_add_test (tcase, test_pixels_are_untouched);
  tcase_add_test (tcase, test_connectivity_while_playing);
  tcase_add_test (tcase, test_threshold_and_invert_while_playing);
  tcase_add_test (tcase, test_area_filter_while_playing);
  tcase_add_test (tcase, test_max_components_while_playing);
  tcase_add_test (tcase, test_attach_labels_while_playing);
  tcase_add_test (tcase, test_label_map_of_filtered_components);
  tcase_add_test (tcase, test_label_maps_are_reused);
  tcase_add_test (tcase, test_label_maps_in_use_stay);
  tcase_add_test (tcase, test_meta_kinds_while_playing);
  tcase_add_test (tcase, test_roi_metas);
#if HAVE_ANALYTICS
  tcase_add_test (tcase, test_analytics);
#if GST_CHECK_VERSION(1, 26, 0)
  tcase_add_test (tcase, test_analytics_segmentation);
#endif
#endif
  tcase_add_test (tcase, test_earlier_meta_is_replaced);
  tcase_add_test (tcase, test_messages_while_playing);
  tcase_add_test (tcase, test_algorithms_8_connected);
  tcase_add_test (tcase, test_algorithms_4_connected);
  tcase_add_test (tcase, test_renegotiation);
  tcase_add_test (tcase, test_state_cycles);
  tcase_add_test (tcase, test_states_without_data);
  tcase_add_test (tcase, test_eos);
  tcase_add_test (tcase, test_flush);
  tcase_add_test (tcase, test_empty_gap_buffer_passes);
  tcase_add_test (tcase, test_gap_with_pixels_is_labelled);
  tcase_add_test (tcase, test_stride_and_offset_of_video_meta);
  tcase_add_test (tcase, test_several_memories);
  tcase_add_test (tcase, test_nothing_is_read_past_the_end);
  tcase_add_test (tcase, test_frames_smaller_than_their_caps);
  tcase_add_test (tcase, test_frames_too_large_are_not_negotiated);
  tcase_add_test (tcase, test_largest_frame_is_negotiated);
  tcase_add_test (tcase, test_stats);
  tcase_add_test (tcase, test_late_frames_are_dropped_and_counted);
  tcase_add_test (tcase, test_proposes_video_meta);
  tcase_add_test (tcase, test_meta_survives_copy);
  tcase_add_test (tcase, test_meta_survives_videoscale);
  tcase_add_test (tcase, test_meta_survives_videoconvertscale);
  tcase_add_test (tcase, test_meta_survives_videoconvert);
  tcase_add_test (tcase, test_meta_does_not_survive_videoflip);
  tcase_add_test (tcase, test_tees);
  tcase_add_test (tcase, test_properties_from_another_thread);
  tcase_add_test (tcase, test_streams_side_by_side);
  return suite;
}

GST_CHECK_MAIN (twins);
