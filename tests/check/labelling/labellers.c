/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several labellers in one chain: each has metadata of its own, and replaces only that. */
#include "tests/check/shared/elements.h"
#include "tests/check/shared/leaks.h"

/* One component of value 50 and two of value 255. */
static const char levels[] = "22.##...\n"
                             "22.##...\n"
                             "........\n"
                             "..###...\n";

/* Two elements in a row: the first finds the components of value 255, the second all. */
static GstHarness *
new_chain (const char *properties)
{
  gchar *line = g_strdup_printf ("%s name=coarse threshold=100 %s ! %s name=fine threshold=20 %s",
      element_name (), properties, element_name (), properties);
  GstHarness *h = gst_harness_new_parse (line);

  g_free (line);
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 4));
  return h;
}

static void
assert_n_components (GstBuffer *buffer, const char *name, guint n_components)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta_by_name (buffer, name);

  fail_unless (meta != NULL, "no GstCclMeta of %s", name);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), n_components);
}

/* The number of regions of interest whose parameters name this labeller; NULL: of all. */
static guint
count_regions (GstBuffer *buffer, const char *name)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  guint n = 0;

  while ((roi = (GstVideoRegionOfInterestMeta *)gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstStructure *parameters = gst_video_region_of_interest_meta_get_param (roi, "ccl");

    n += !name ||
         (parameters && !g_strcmp0 (gst_structure_get_string (parameters, "labeller"), name));
  }
  return n;
}

static void
assert_both (GstBuffer *buffer)
{
  fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_CCL_META_API_TYPE), 2);
  assert_n_components (buffer, "coarse", 2);
  assert_n_components (buffer, "fine", 3);
  fail_unless_equals_int (count_regions (buffer, NULL), 5);
  fail_unless_equals_int (count_regions (buffer, "coarse"), 2);
  fail_unless_equals_int (count_regions (buffer, "fine"), 3);
  /* The default is the nearest one upstream. */
  assert_count (buffer, 3);
}

TEST (test_metadata_of_both)
{
  GstHarness *h = new_chain ("meta=ccl+roi");
  GstBuffer *out = label (h, gray8_frame (levels));

  assert_both (out);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A frame that passes the same elements again, with another element's regions on it. */
TEST (test_no_metadata_of_the_former_pass_stays)
{
  GstHarness *h = new_chain ("meta=ccl+roi");
  GstBuffer *frame = gray8_frame (levels);

  gst_buffer_add_video_region_of_interest_meta (frame, "face", 1, 1, 2, 2);
  frame = label (h, label (h, frame));
  fail_unless_equals_int (count_regions (frame, NULL), 6);
  fail_unless_equals_int (count_regions (frame, "coarse"), 2);
  fail_unless_equals_int (count_regions (frame, "fine"), 3);
  fail_unless_equals_int (gst_buffer_get_n_meta (frame, GST_CCL_META_API_TYPE), 2);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Elements in two bins may have the same name. */
TEST (test_same_name_in_two_bins)
{
  gchar *line = g_strdup_printf ("bin.( %s name=same threshold=100 meta=ccl+roi ) ! "
                                 "bin.( %s name=same threshold=20 meta=ccl+roi )",
      element_name (), element_name ());
  GstHarness *h = gst_harness_new_parse (line);
  GstBuffer *out;

  g_free (line);
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 4));
  out = label (h, label (h, gray8_frame (levels)));
  fail_unless_equals_int (gst_buffer_get_n_meta (out, GST_CCL_META_API_TYPE), 2);
  fail_unless_equals_int (count_regions (out, "same"), 5);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

static void
assert_settings (GstBuffer *buffer, const char *name, guint threshold, const char *connectivity)
{
  GstCclLabeller *labeller =
      gst_ccl_meta_get_labeller (gst_buffer_get_ccl_meta_by_name (buffer, name));
  GstStructure *settings = gst_ccl_labeller_get_settings (labeller);
  guint found, min_area;

  fail_unless_equals_string (gst_ccl_labeller_get_name (labeller), name);
  fail_unless_equals_string (gst_structure_get_name (settings), element_name ());
  fail_unless (gst_structure_get (
      settings, "threshold", G_TYPE_UINT, &found, "min-area", G_TYPE_UINT, &min_area, NULL));
  fail_unless_equals_int (found, threshold);
  fail_unless_equals_int (min_area, 1);
  fail_unless_equals_string (gst_structure_get_string (settings, "connectivity"), connectivity);
  fail_unless_equals_string (gst_structure_get_string (settings, "foreground"), "threshold");
  fail_unless_equals_string (gst_structure_get_string (settings, "algorithm"), "auto");
  gst_structure_free (settings);
  gst_ccl_labeller_unref (labeller);
}

TEST (test_settings)
{
  GstHarness *h = new_chain ("");
  GstElement *coarse = gst_bin_get_by_name (GST_BIN (h->element), "coarse");
  GstBuffer *out = label (h, gray8_frame (levels));

  assert_settings (out, "coarse", 100, "8");
  assert_settings (out, "fine", 20, "8");
  gst_buffer_unref (out);

  g_object_set (coarse, "threshold", 33, NULL);
  gst_util_set_object_arg (G_OBJECT (coarse), "connectivity", "4");
  out = label (h, gray8_frame (levels));
  assert_settings (out, "coarse", 33, "4");
  assert_settings (out, "fine", 20, "8");
  gst_buffer_unref (out);
  gst_object_unref (coarse);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Frames with the same settings share one description. */
TEST (test_descriptions_are_shared)
{
  GstHarness *h = new_gray8_harness (levels);
  GstBuffer *first = label (h, gray8_frame (levels)), *second = label (h, gray8_frame (levels));
  GstCclLabeller *labellers[] = {gst_ccl_meta_get_labeller (gst_buffer_get_ccl_meta (first)),
      gst_ccl_meta_get_labeller (gst_buffer_get_ccl_meta (second))};

  fail_unless (labellers[0] != NULL && labellers[0] == labellers[1]);
  gst_ccl_labeller_unref (labellers[0]);
  gst_ccl_labeller_unref (labellers[1]);
  gst_buffer_unref (first);
  gst_buffer_unref (second);
  gst_harness_teardown (h);
}
GST_END_TEST

/* ccljson writes the components of the last labeller before it, or of the one set by a property. */
TEST (test_ccljson_of_either)
{
  static const struct {
    const char *property, *labeller, *count;
  } cases[] = {
      {NULL, "\"labeller\":\"fine\"", "\"count\":3,"},
      {"fine", "\"labeller\":\"fine\"", "\"count\":3,"},
      {"coarse", "\"labeller\":\"coarse\"", "\"count\":2,"},
  };
  GstHarness *h = new_chain ("");
  GstBuffer *out = label (h, gray8_frame (levels));

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *json = gst_harness_new ("ccljson");
    GstBuffer *line;
    GstMapInfo map;
    gchar *text;

    g_object_set (json->element, "labeller", cases[i].property, NULL);
    gst_harness_set_src_caps (json, frame_caps ("GRAY8", 8, 4));
    line = gst_harness_push_and_pull (json, gst_buffer_ref (out));
    fail_unless (gst_buffer_map (line, &map, GST_MAP_READ));
    text = g_strndup ((const gchar *)map.data, map.size);
    fail_unless (strstr (text, cases[i].labeller) && strstr (text, cases[i].count), "%s", text);
    g_free (text);
    gst_buffer_unmap (line, &map);
    gst_buffer_unref (line);
    gst_harness_teardown (json);
  }
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A labeller that does not exist: each element that reads metadata warns once and names it. */
TEST (test_warnings_of_missing_labellers)
{
  static const char *const readers[] = {"ccljson", "ccltrack", "ccloverlay"};
  GstHarness *h = new_chain ("");
  GstBuffer *frame = label (h, gray8_frame (levels));

  for (guint i = 0; i < G_N_ELEMENTS (readers); i++) {
    GstHarness *reader = gst_harness_new (readers[i]);
    GstBus *bus = gst_bus_new ();

    g_object_set (reader->element, "labeller", "missing", NULL);
    gst_element_set_bus (reader->element, bus);
    gst_harness_set_src_caps (reader, frame_caps ("GRAY8", 8, 4));
    gst_buffer_unref (gst_harness_push_and_pull (reader, gst_buffer_ref (frame)));
    assert_warning (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "named missing upstream");
    gst_buffer_unref (gst_harness_push_and_pull (reader, gst_buffer_ref (frame)));
    assert_warning (bus, 0, 0, NULL);
    gst_element_set_bus (reader->element, NULL);
    gst_object_unref (bus);
    gst_harness_teardown (reader);
  }
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}
GST_END_TEST

static Suite *
labellers_suite (void)
{
  Suite *suite = suite_create ("labellers");
  TCase *tcase = tcase_create (element_name ());

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_metadata_of_both);
  tcase_add_test (tcase, test_no_metadata_of_the_former_pass_stays);
  tcase_add_test (tcase, test_same_name_in_two_bins);
  tcase_add_test (tcase, test_settings);
  tcase_add_test (tcase, test_descriptions_are_shared);
  tcase_add_test (tcase, test_ccljson_of_either);
  tcase_add_test (tcase, test_warnings_of_missing_labellers);
  return suite;
}

GST_CHECK_MAIN (labellers);
