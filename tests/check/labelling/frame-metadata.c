/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metadata that ccl and cudaccl attach to frames, and the messages that they post. The components
 * of the drawings are counted by hand.
 */
#include "blobs.h"
#include "tests/check/shared/elements.h"
#include "tests/check/shared/leaks.h"

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

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

  assert_count (out, 0);
  fail_unless_equals_int (gst_ccl_meta_get_n_rows (gst_buffer_get_ccl_meta (out)), 0);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Components that the area filter removes are background in the label map, and have no label. */
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
  assert_labels (out, &expected[0][0], 8, 6);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Label maps come from a pool, which reuses a map that is no longer in use. */
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
  assert_labels (first, &blobs_labels[0][0], 8, 6);
  gst_buffer_unref (second);
  gst_harness_teardown (h);
  /* Also after the element was freed. */
  assert_labels (first, &blobs_labels[0][0], 8, 6);
  gst_buffer_unref (first);
}
GST_END_TEST

static GstCclContours *
contours_of (GstBuffer *buffer)
{
  return gst_ccl_meta_get_contours (gst_buffer_get_ccl_meta (buffer));
}

/* One component with a hole, and one that min-area removes. */
TEST (test_contours)
{
  static const char ring[] = "........\n.###....\n.#.#....\n.###...#\n........\n";
  static const gfloat pixels[] = {1, 1, 1, 2, 1, 3, 2, 3, 3, 3, 3, 2, 3, 1, 2, 1};
  static const gfloat cracks[] = {1, 1, 1, 4, 4, 4, 4, 1}, hole[] = {2, 2, 3, 2, 3, 3, 2, 3};
  GstHarness *h = new_gray8_harness (ring);

  for (guint is_cracks = 0; is_cracks < 2; is_cracks++) {
    GstCclContours *contours;
    GstBuffer *out;
    guint n;

    g_object_set (h->element, "attach-contours", 1 + is_cracks, "min-area", 2, NULL);
    out = label (h, gray8_frame (ring));
    fail_unless (gst_ccl_meta_get_labels (gst_buffer_get_ccl_meta (out), NULL) == NULL);
    contours = contours_of (out);
    gst_buffer_unref (out);
    fail_unless_equals_int (gst_ccl_contours_get_kind (contours), is_cracks);
    fail_unless_equals_int (gst_ccl_contours_get_n_contours (contours), 2);
    fail_unless_equals_int (gst_ccl_contours_get_contour (contours, 0)->label, 1);
    fail_unless_equals_int (gst_ccl_contours_get_contour (contours, 1)->parent, 0);
    if (is_cracks) {
      fail_unless (!memcmp (gst_ccl_contours_get_points (contours, 0, &n), cracks, sizeof cracks));
      fail_unless (!memcmp (gst_ccl_contours_get_points (contours, 1, &n), hole, sizeof hole));
    } else {
      fail_unless (!memcmp (gst_ccl_contours_get_points (contours, 0, &n), pixels, sizeof pixels));
      fail_unless_equals_int (n, 16);
    }
    gst_ccl_contours_unref (contours);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_contour_tolerance)
{
  GstHarness *h = new_gray8_harness ("####\n####\n####\n");
  static const gfloat corners[] = {0, 0, 0, 2, 3, 2, 3, 0};
  GstCclContours *contours;
  GstBuffer *out;
  guint n;

  g_object_set (h->element, "attach-contours", 1, "contour-tolerance", 0.0, NULL);
  out = label (h, gray8_frame ("####\n####\n####\n"));
  contours = contours_of (out);
  fail_unless (!memcmp (gst_ccl_contours_get_points (contours, 0, &n), corners, sizeof corners));
  fail_unless_equals_int (n, 8);
  gst_ccl_contours_unref (contours);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Even in the first frame, for which there is no memory yet. */
TEST (test_no_contours)
{
  static const char empty[] = "........\n........\n";
  GstHarness *h = new_gray8_harness (empty);
  GstCclContours *contours;
  GstBuffer *out;

  g_object_set (h->element, "attach-contours", 1, NULL);
  out = label (h, gray8_frame (empty));
  contours = contours_of (out);
  fail_unless_equals_int (gst_ccl_contours_get_n_contours (contours), 0);
  gst_ccl_contours_unref (contours);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* The memory of contours is reused, unless it is in use downstream. */
TEST (test_memory_of_contours)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstCclContours *kept = NULL;
  gconstpointer first = NULL;
  guint n;

  g_object_set (h->element, "attach-contours", 1, NULL);
  for (guint i = 0; i < 10; i++) {
    GstBuffer *out = label (h, gray8_frame (blobs));
    GstCclContours *contours = contours_of (out);
    gconstpointer memory = gst_ccl_contours_get_contour (contours, 0);

    if (!first)
      first = memory;
    fail_unless ((memory == first) == (i < 5), "frame %u", i);
    if (i == 4)
      kept = gst_ccl_contours_ref (contours);
    gst_ccl_contours_unref (contours);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
  /* Also after the element was freed. */
  for (guint i = 0; i < gst_ccl_contours_get_n_contours (kept); i++)
    fail_unless (gst_ccl_contours_get_points (kept, i, &n)[0] < 8);
  gst_ccl_contours_unref (kept);
}
GST_END_TEST

TEST (test_contours_while_playing)
{
  static const char empty[] = "........\n........\n........\n........\n........\n........\n";
  static const guint kinds[] = {0, 1, 2, 0, 2};
  GstHarness *h = new_gray8_harness (blobs);

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    GstCclContours *contours;
    GstBuffer *out;

    g_object_set (h->element, "attach-contours", kinds[i], "connectivity", i % 2 ? 4 : 8, NULL);
    out = label (h, gray8_frame (i == 4 ? empty : blobs));
    contours = contours_of (out);
    fail_unless_equals_int (contours != NULL, kinds[i] > 0);
    if (i == 4)
      fail_unless_equals_int (gst_ccl_contours_get_n_contours (contours), 0);
    g_clear_pointer (&contours, gst_ccl_contours_unref);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_frames_too_wide_for_contours)
{
  GstHarness *h = new_harness ();
  GstBus *bus = gst_bus_new ();
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 65540, NULL);

  gst_buffer_memset (frame, 0, 0, 65540);
  gst_element_set_bus (h->element, bus);
  g_object_set (h->element, "attach-contours", 1, NULL);
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 65537, 1));
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_ERROR);
  assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "too large for contours");
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
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
/* The label map as an image of 8 bits; its values are the labels of the detections, in order. */
TEST (test_analytics_segmentation)
{
  static const guint8 expected[6][8] = {
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
  fail_unless_equals_int (meta->format, GST_VIDEO_FORMAT_GRAY8);
  for (guint row = 0; row < 6; row++) {
    guint8 got[8];
    gst_buffer_extract (mask, meta->offset[0] + row * (gsize)meta->stride[0], got, sizeof got);
    fail_unless (memcmp (got, expected[row], sizeof got) == 0, "row %u is wrong", row);
  }
  gst_buffer_unref (mask);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* More than 255 labels take 16 bits. */
TEST (test_analytics_segmentation_of_many_components)
{
  for (guint n_columns = 15; n_columns <= 16; n_columns++) {
    const guint n = 16 * n_columns + (n_columns == 15 ? 15 : 0); /* 255 and 256 */
    GString *drawing = g_string_new (NULL);
    GstAnalyticsSegmentationMtd segmentation;
    GstAnalyticsRelationMeta *relations;
    gpointer state = NULL;
    GstBuffer *out, *mask;
    GstVideoMeta *meta;
    guint16 last = 0;
    GstHarness *h;

    for (guint row = 0; row < n / n_columns; row++)
      for (guint k = 0; k < 2; k++) {
        for (guint column = 0; column < n_columns; column++)
          g_string_append (drawing, k ? ".." : "#.");
        g_string_append_c (drawing, '\n');
      }
    h = new_gray8_harness (drawing->str);
    gst_util_set_object_arg (G_OBJECT (h->element), "meta", "ccl+analytics");
    g_object_set (h->element, "attach-labels", TRUE, NULL);
    out = label (h, gray8_frame (drawing->str));
    assert_count (out, n);
    relations = gst_buffer_get_analytics_relation_meta (out);
    fail_unless (gst_analytics_relation_meta_iterate (
        relations, &state, gst_analytics_segmentation_mtd_get_mtd_type (), &segmentation));
    mask = gst_analytics_segmentation_mtd_get_mask (&segmentation, NULL, NULL, NULL, NULL);
    meta = gst_buffer_get_video_meta (mask);
    fail_unless_equals_int (
        GST_VIDEO_FORMAT_INFO_BITS (gst_video_format_get_info (meta->format)), n > 255 ? 16 : 8);
    gst_buffer_extract (mask,
        (n / n_columns - 1) * 2 * (gsize)meta->stride[0] +
            (n_columns - 1) * 2 * (gsize)(n > 255 ? 2 : 1),
        &last, n > 255 ? 2 : 1);
    fail_unless_equals_int (n > 255 ? last : ((guint8 *)&last)[0], n);
    gst_buffer_unref (mask);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
    g_string_free (drawing, TRUE);
  }
}
GST_END_TEST
#endif
#endif

/* A labeller replaces its own metadata, and no other, whatever the name of its labeller is. */
TEST (test_earlier_meta_is_replaced)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstCclLabeller *same = gst_ccl_labeller_new (GST_OBJECT_NAME (h->element), NULL);
  GstBuffer *frame = gray8_frame (blobs), *out;

  gst_ccl_meta_set_labeller (gst_buffer_add_ccl_meta (frame, 8, 6, 0, NULL, 0, NULL, 0), same);
  gst_ccl_labeller_unref (same);
  gst_buffer_add_ccl_meta (frame, 8, 6, 9, NULL, 0, NULL, 0);
  out = label (h, frame);
  fail_unless_equals_int (count_metas (out, GST_CCL_META_API_TYPE), 3);
  assert_components (out, BLOBS_8);
  out = label (h, out);
  fail_unless_equals_int (count_metas (out, GST_CCL_META_API_TYPE), 3);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

#if GST_CHECK_VERSION(1, 28, 0)
static gboolean
has_component_like (const GstCclMeta *meta, const GstCclComponent *wanted)
{
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);
    if (c->area == wanted->area && c->x == wanted->x && c->y == wanted->y &&
        c->width == wanted->width && c->height == wanted->height &&
        ABS (c->centroid_x - wanted->centroid_x) < 1e-3 &&
        ABS (c->centroid_y - wanted->centroid_y) < 1e-3)
      return TRUE;
  }
  return FALSE;
}

/* Elements that move pixels without mixing them. */
static const char *const movers[] = {"videoflip method=horizontal-flip",
    "videoflip method=vertical-flip", "videoflip method=clockwise",
    "videoflip method=counterclockwise", "videoflip method=rotate-180",
    "videoflip method=upper-left-diagonal", "videoflip method=upper-right-diagonal",
    "videobox left=-5 top=-3 fill=black", "videocrop left=1"};

/* After a geometric transform the metadata equals a labeller's result for the transformed frame. */
TEST (test_metadata_follows_moved_pixels)
{
  static const char drawing[] = "........\n"
                                "..##....\n"
                                "..##....\n"
                                "......#.\n"
                                ".#....#.\n"
                                "......#.\n";
  gchar *line = g_strdup_printf ("%s name=before ! %s ! %s name=after threshold=128",
      element_name (), movers[__i__], element_name ());
  GstHarness *h = gst_harness_new_parse (line);
  GstCclMeta *before, *after;
  GstBuffer *out;

  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
  out = label (h, gray8_frame (drawing));
  before = gst_buffer_get_ccl_meta_by_name (out, "before");
  after = gst_buffer_get_ccl_meta_by_name (out, "after");
  fail_unless (before != NULL && after != NULL);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (before), 3);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (after), 3);
  for (guint i = 0; i < 3; i++)
    fail_unless (has_component_like (after, gst_ccl_meta_get_component (before, i)),
        "component %u of %s", i, movers[__i__]);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  g_free (line);
}
GST_END_TEST
#endif

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
  assert_labels (copy, &blobs_labels[0][0], 8, 6);
  gst_buffer_unref (copy);
  assert_components (deep_copy, BLOBS_8);
  assert_labels (deep_copy, &blobs_labels[0][0], 8, 6);
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
  assert_labels (out, &blobs_labels[0][0], 8, 6);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  g_free (line);
}
GST_END_TEST

#if !GST_CHECK_VERSION(1, 28, 0)
/* Before 1.28, videoflip does not say how it moves pixels, so the coordinates would be wrong. */
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
#endif

/* No element asks for cropping metadata. One that names the area of the caps changes nothing; any
 * other area is an error, as the pixels from 0,0 on are not it. */
TEST (test_crop_metadata)
{
  static const struct {
    guint x, y, width, height;
    const char *error;
  } cases[] = {
      {0, 0, 8, 6, NULL},
      {1, 1, 2, 2, "2×2 pixels at 1,1"},
      {0, 0, 4, 6, "4×6 pixels at 0,0"},
      {0, 2, 8, 6, "8×6 pixels at 0,2"},
  };
  GstHarness *h = new_gray8_harness (blobs);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *frame = gray8_frame (blobs);
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (frame);

    crop->x = cases[i].x;
    crop->y = cases[i].y;
    crop->width = cases[i].width;
    crop->height = cases[i].height;
    fail_unless_equals_int (
        gst_harness_push (h, frame), cases[i].error ? GST_FLOW_ERROR : GST_FLOW_OK);
    if (cases[i].error)
      assert_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, cases[i].error);
    else
      gst_buffer_unref (gst_harness_pull (h));
    fail_unless (gst_bus_peek (bus) == NULL);
  }
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* The boxes of the regions of interest, as text. */
static gchar *
list_regions (GstBuffer *buffer)
{
  GString *text = g_string_new (NULL);
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  guint64 id;

  while ((roi = (GstVideoRegionOfInterestMeta *)gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstStructure *identity = gst_video_region_of_interest_meta_get_param (roi, "object_id");

    g_string_append_printf (text, "%s:%d:%u,%u,%u,%u:%" G_GUINT64_FORMAT " ",
        g_quark_to_string (roi->roi_type), roi->id, roi->x, roi->y, roi->w, roi->h,
        identity && gst_structure_get_uint64 (identity, "track", &id) ? id : 0);
  }
  return g_string_free (text, FALSE);
}

static void
assert_regions (GstBuffer *buffer, const gchar *expected)
{
  gchar *found = list_regions (buffer);

  fail_unless_equals_string (found, expected);
  g_free (found);
}

/* The number of object detections; -1 if there is no analytics metadata. */
static gint
count_detections (GstBuffer *buffer)
{
#if HAVE_ANALYTICS
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd mtd;
  gpointer state = NULL;
  gint n = 0;

  while (relations && gst_analytics_relation_meta_iterate (
                          relations, &state, gst_analytics_od_mtd_get_mtd_type (), &mtd))
    n++;
  return relations ? n : -1;
#else
  return -1;
#endif
}

/* Regions of interest and detections are those of the rows after an edited copy was put back, and
 * after a change in place; those of others stay. */
TEST (test_other_metadata_follows_editing)
{
  static const char two[] = "##....\n##....\n....##\n";
  const GstCclTrackInfo track = {.id = 5, .state = GST_CCL_TRACK_STATE_CONFIRMED};
  GstHarness *h = new_gray8_harness (two);
  GstCclMeta *copy;
  GstBuffer *out;

  gst_util_set_object_arg (
      G_OBJECT (h->element), "meta", HAVE_ANALYTICS ? "ccl+roi+analytics" : "ccl+roi");
  out = gst_buffer_make_writable (label (h, gray8_frame (two)));
  gst_buffer_add_video_region_of_interest_meta (out, "face", 1, 1, 2, 2);
  copy = gst_ccl_meta_copy (gst_buffer_get_ccl_meta (out));
  gst_ccl_meta_select_rows (copy, (guint[]){1}, 1);
  gst_ccl_meta_relabel (copy, (guint32[]){9}, 1);
  gst_ccl_meta_set_tracks (copy, &track, 1);
  gst_buffer_replace_ccl_meta (out, copy);
  gst_ccl_meta_free (copy);
  assert_regions (out, "face:0:1,1,2,2:0 component:9:4,2,2,1:5 ");
  fail_unless_equals_int (count_detections (out), HAVE_ANALYTICS ? 1 : -1);
  gst_ccl_meta_select_rows (gst_buffer_get_ccl_meta (out), NULL, 0);
  gst_buffer_replace_ccl_meta (out, gst_buffer_get_ccl_meta (out));
  assert_regions (out, "face:0:1,1,2,2:0 ");
  fail_unless_equals_int (count_detections (out), HAVE_ANALYTICS ? 0 : -1);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

static Suite *
frame_metadata_suite (void)
{
  Suite *suite = suite_create ("frame-metadata");
  TCase *tcase = tcase_create (element_name ());

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_other_metadata_follows_editing);
  tcase_add_test (tcase, test_components);
  tcase_add_test (tcase, test_empty_frame);
  tcase_add_test (tcase, test_crop_metadata);
  tcase_add_test (tcase, test_label_map_of_filtered_components);
  tcase_add_test (tcase, test_label_maps_are_reused);
  tcase_add_test (tcase, test_label_maps_in_use_stay);
  tcase_add_test (tcase, test_contours);
  tcase_add_test (tcase, test_no_contours);
  tcase_add_test (tcase, test_contour_tolerance);
  tcase_add_test (tcase, test_memory_of_contours);
  tcase_add_test (tcase, test_contours_while_playing);
  tcase_add_test (tcase, test_frames_too_wide_for_contours);
  tcase_add_test (tcase, test_meta_kinds_while_playing);
  tcase_add_test (tcase, test_roi_metas);
#if HAVE_ANALYTICS
  tcase_add_test (tcase, test_analytics);
#if GST_CHECK_VERSION(1, 26, 0)
  tcase_add_test (tcase, test_analytics_segmentation);
  tcase_add_test (tcase, test_analytics_segmentation_of_many_components);
#endif
#endif
  tcase_add_test (tcase, test_earlier_meta_is_replaced);
#if GST_CHECK_VERSION(1, 28, 0)
  tcase_add_loop_test (tcase, test_metadata_follows_moved_pixels, 0, G_N_ELEMENTS (movers));
#endif
  tcase_add_test (tcase, test_messages_while_playing);
  tcase_add_test (tcase, test_meta_survives_copy);
  tcase_add_test (tcase, test_meta_survives_videoscale);
  tcase_add_test (tcase, test_meta_survives_videoconvertscale);
  tcase_add_test (tcase, test_meta_survives_videoconvert);
#if !GST_CHECK_VERSION(1, 28, 0)
  tcase_add_test (tcase, test_meta_does_not_survive_videoflip);
#endif
  return suite;
}

GST_CHECK_MAIN (frame_metadata);
