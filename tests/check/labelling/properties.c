/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Properties of ccl and cudaccl: their definitions, and that changes hold from the next frame on.
 */
#include "blobs.h"
#include "tests/check/shared/elements.h"
#include "tests/check/shared/leaks.h"

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

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

/* Each change holds from the next frame on. */
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
    const GstCclComponent *component;

    g_object_set (h->element, "threshold", cases[i].threshold, "invert", cases[i].invert, NULL);
    out = label (h, gray8_frame (levels));
    assert_count (out, cases[i].count);
    component = gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (out), 0);
    if (component)
      fail_unless_equals_int (component->area, cases[i].first_area);
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

/* A truncated table changes neither N nor the label map. */
TEST (test_max_components_while_playing)
{
  const Expected expected[] = {BLOBS_8};
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *out;

  g_object_set (h->element, "max-components", 2, "attach-labels", TRUE, NULL);
  out = label (h, gray8_frame (blobs));
  assert_components_of (out, 4, expected, 2);
  assert_labels (out, &blobs_labels[0][0], 8, 6);
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
      assert_labels (out, &blobs_labels[0][0], 8, 6);
    else
      fail_unless (gst_ccl_meta_get_labels (gst_buffer_get_ccl_meta (out), NULL) == NULL);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* Applications store these numbers. */
TEST_OF_DESCRIPTION (test_enum_values)
{
  static const struct {
    const char *property, *values;
  } cases[] = {
      {"foreground", "0=threshold 1=otsu 2=mog2 3=codebook "},
      {"denoise", "0=none 1=median-3x3 2=median-5x5 3=opening-3x3 4=opening-5x5 "},
      {"connectivity", "4=4 8=8 "},
  };
  GstElement *element = gst_element_factory_make (element_name (), NULL);
  const gboolean is_cpu = g_str_equal (element_name (), "ccl");

  for (guint i = 0; i <= G_N_ELEMENTS (cases); i++) {
    const gboolean is_last = i == G_N_ELEMENTS (cases);
    GParamSpec *spec = g_object_class_find_property (
        G_OBJECT_GET_CLASS (element), is_last ? "algorithm" : cases[i].property);
    GEnumClass *values = G_PARAM_SPEC_ENUM (spec)->enum_class;
    GString *text = g_string_new (NULL);

    for (guint k = 0; k < values->n_values; k++)
      g_string_append_printf (
          text, "%d=%s ", values->values[k].value, values->values[k].value_nick);
    fail_unless_equals_string (text->str, !is_last ? cases[i].values
                                          : is_cpu ? "0=auto 1=runs 2=bbdt 3=drag 4=sauf "
                                                   : "0=auto 1=strips 2=bke 3=ke ");
    g_string_free (text, TRUE);
  }
  gst_object_unref (element);
}
GST_END_TEST

/* A control source sets the threshold for the stream time of each frame. */
TEST (test_controlled_property)
{
  static const char levels[] = "4.8\n"; /* 100, 0, 200 */
  GstHarness *h = new_gray8_harness (levels);
  GstControlSource *source = gst_interpolation_control_source_new ();
  static const guint thresholds[] = {0, 150, 250, 0}, counts[] = {2, 1, 0, 2};

  for (guint i = 0; i < G_N_ELEMENTS (thresholds); i++)
    fail_unless (gst_timed_value_control_source_set (
        GST_TIMED_VALUE_CONTROL_SOURCE (source), i * GST_SECOND, thresholds[i]));
  fail_unless (gst_object_add_control_binding (GST_OBJECT (h->element),
      gst_direct_control_binding_new_absolute (GST_OBJECT (h->element), "threshold", source)));
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    GstBuffer *frame = gray8_frame (levels), *out;

    GST_BUFFER_PTS (frame) = i * GST_SECOND;
    out = label (h, frame);
    assert_count (out, counts[i]);
    gst_buffer_unref (out);
  }
  gst_object_unref (source);
  gst_harness_teardown (h);
}
GST_END_TEST

static void
assert_settings_warning (GstBus *bus, const char *part)
{
  assert_warning (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, part);
}

TEST (test_warning_about_areas)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  g_object_set (h->element, "min-area", 5, "max-area", 5, NULL);
  gst_buffer_unref (label (h, gray8_frame (blobs)));
  g_object_set (h->element, "max-area", 0, NULL);
  gst_buffer_unref (label (h, gray8_frame (blobs)));
  assert_settings_warning (bus, NULL);

  g_object_set (h->element, "max-area", 4, NULL);
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (label (h, gray8_frame (blobs)));
  assert_settings_warning (bus, "min-area=5");
  assert_settings_warning (bus, NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A camera image has hardly any black pixel, so with the default threshold it is one component. */
TEST (test_warning_about_the_default_threshold)
{
  static const char image[] = "99999\n92459\n98129\n99999\n";
  static const char half[] = "99999\n92459\n.....\n.....\n";
  GstHarness *h = new_gray8_harness (image);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_buffer_unref (label (h, gray8_frame (half)));
  g_object_set (h->element, "threshold", 1, NULL);
  gst_buffer_unref (label (h, gray8_frame (image)));
  g_object_set (h->element, "threshold", 0, NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "otsu");
  gst_buffer_unref (label (h, gray8_frame (image)));
  assert_settings_warning (bus, NULL);

  gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "threshold");
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (label (h, gray8_frame (image)));
  assert_settings_warning (bus, "threshold");
  assert_settings_warning (bus, NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* The number of threads of this process. */
static guint
count_threads (void)
{
  GDir *tasks = g_dir_open ("/proc/self/task", 0, NULL);
  guint n = 0;

  fail_unless (tasks != NULL);
  while (g_dir_read_name (tasks))
    n++;
  g_dir_close (tasks);
  return n;
}

/* Clang announces ThreadSanitizer by a feature, GCC by a macro. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

/* Labelling and the background model of a large frame share n-threads threads each, of which the
 * streaming thread is one. A mask that is not attached has the model's size, for which the labeller
 * needs no other thread. */
TEST (test_n_threads)
{
  static const guint n_threads[] = {1, 2, 5};
  const guint width = 4096, height = 4096;

  if (!g_str_equal (element_name (), "ccl"))
    return;
#ifdef __SANITIZE_THREAD__
  skip ("test_n_threads", "ThreadSanitizer has a thread of its own");
  return;
#endif
  for (guint i = 0; i < G_N_ELEMENTS (n_threads); i++) {
    GstElement *element = gst_element_factory_make ("ccl", NULL);
    GstBuffer *frame = gst_buffer_new_allocate (NULL, width * height, NULL);
    guint n_before;
    GstHarness *h;

    g_object_set (element, "n-threads", n_threads[i], "attach-mask", TRUE, NULL);
    gst_util_set_object_arg (G_OBJECT (element), "foreground", "mog2");
    h = gst_harness_new_with_element (element, "sink", "src");
    gst_harness_set_src_caps (h, frame_caps ("GRAY8", width, height));
    gst_buffer_memset (frame, 0, 99, (gsize)-1);
    n_before = count_threads ();
    gst_buffer_unref (label (h, frame));
    fail_unless_equals_int (count_threads () - n_before, 2 * (n_threads[i] - 1));
    gst_harness_teardown (h);
    gst_object_unref (element);
  }
}
GST_END_TEST

static GEnumClass *
algorithm_class (GstHarness *h)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (h->element), "algorithm");

  return G_PARAM_SPEC_ENUM (pspec)->enum_class;
}

/* All algorithms give the same result. Where one lacks the connectivity, the former one stays. */
static void
check_every_algorithm (const char *connectivity, const Expected *expected, guint n)
{
  GstHarness *h = new_gray8_harness (blobs);
  GEnumClass *algorithms = algorithm_class (h);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_util_set_object_arg (G_OBJECT (h->element), "connectivity", connectivity);
  fail_unless_equals_string (algorithms->values[0].value_nick, "auto");
  fail_unless (algorithms->n_values >= 2);
  for (guint i = 0; i < algorithms->n_values; i++) {
    GstFlowReturn ret;
    GstBuffer *out;

    GST_INFO ("algorithm %s", algorithms->values[i].value_nick);
    g_object_set (h->element, "algorithm", algorithms->values[i].value, NULL);
    ret = gst_harness_push (h, gray8_frame (blobs));
    fail_unless_equals_int (ret, GST_FLOW_OK);
    out = gst_harness_pull (h);
    assert_components_of (out, n, expected, n);
    gst_buffer_unref (out);
  }
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

/* Programs store the numbers of algorithms, whatever order `auto` prefers. */
TEST_OF_DESCRIPTION (test_numbers_of_algorithms)
{
  static const char *const cpu[] = {"auto", "runs", "bbdt", "drag", "sauf"};
  static const char *const gpu[] = {"auto", "strips", "bke", "ke"};
  const gboolean is_cpu = !strcmp (element_name (), "ccl");
  GstElement *element = gst_element_factory_make (element_name (), NULL);
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "algorithm");
  GEnumClass *algorithms = G_PARAM_SPEC_ENUM (pspec)->enum_class;

  for (guint i = 0; i < (is_cpu ? G_N_ELEMENTS (cpu) : G_N_ELEMENTS (gpu)); i++)
    fail_unless_equals_int (
        g_enum_get_value_by_nick (algorithms, is_cpu ? cpu[i] : gpu[i])->value, i);
  gst_object_unref (element);
}
GST_END_TEST

/* A threshold beyond the format leaves no foreground, and is told once; so is a binding that goes
 * through all values of the property. */
TEST (test_threshold_beyond_the_format)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  for (guint denoise = 0; denoise < 2; denoise++) {
    gst_util_set_object_arg (G_OBJECT (h->element), "denoise", denoise ? "median-3" : "none");
    for (guint i = 0; i < 2; i++) {
      GstBuffer *out;

      g_object_set (h->element, "threshold", i ? 65535 : 300, NULL);
      fail_unless_equals_int (gst_harness_push (h, gray8_frame (blobs)), GST_FLOW_OK);
      out = gst_harness_pull (h);
      assert_count (out, 0);
      gst_buffer_unref (out);
    }
  }
  assert_warning (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "threshold=300");
  assert_warning (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

static GstFlowReturn
push_wide_frame (GstHarness *h)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 65540, NULL);

  gst_buffer_memset (frame, 0, 0, 65540);
  gst_buffer_memset (frame, 100, 255, 1);
  return gst_harness_push (h, frame);
}

/* Columns are measured in frames of at most 65536 pixels a side. While playing, the former settings
 * stay, with one warning for each impossible combination. */
TEST (test_impossible_combination)
{
  GstHarness *h = new_harness ();
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 65540, 1));
  fail_unless_equals_int (push_wide_frame (h), GST_FLOW_OK);
  gst_util_set_object_arg (G_OBJECT (h->element), "attach-columns", "moments");
  for (guint i = 0; i < 3; i++) {
    g_object_set (h->element, "threshold", i, NULL);
    fail_unless_equals_int (push_wide_frame (h), GST_FLOW_OK);
  }
  assert_warning (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "the former settings stay");
  assert_warning (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, NULL);
  while (gst_harness_buffers_in_queue (h) > 0) {
    GstBuffer *out = gst_harness_pull (h);
    assert_count (out, 1);
    gst_buffer_unref (out);
  }
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A former algorithm labels as auto does, and is told once. */
TEST (test_former_algorithms)
{
  if (!g_str_equal (element_name (), "ccl"))
    return;
  const Expected expected[] = {BLOBS_4};
  GstHarness *h = new_gray8_harness (blobs);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_util_set_object_arg (G_OBJECT (h->element), "connectivity", "4");
  gst_util_set_object_arg (G_OBJECT (h->element), "algorithm", "bbdt");
  for (guint i = 0; i < 3; i++) {
    GstBuffer *out;
    fail_unless_equals_int (gst_harness_push (h, gray8_frame (blobs)), GST_FLOW_OK);
    out = gst_harness_pull (h);
    assert_components_of (out, G_N_ELEMENTS (expected), expected, G_N_ELEMENTS (expected));
    gst_buffer_unref (out);
  }
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  GError *warning = NULL;
  gst_message_parse_warning (message, &warning, NULL);
  fail_unless (
      strstr (warning->message, "algorithm=bbdt is no longer offered"), "%s", warning->message);
  g_error_free (warning);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

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

static Suite *
properties_suite (void)
{
  Suite *suite = suite_create ("properties");
  TCase *tcase = tcase_create (element_name ());

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_inspection);
  tcase_add_test (tcase, test_defaults);
  tcase_add_test (tcase, test_enum_values);
  tcase_add_test (tcase, test_connectivity_while_playing);
  tcase_add_test (tcase, test_threshold_and_invert_while_playing);
  tcase_add_test (tcase, test_area_filter_while_playing);
  tcase_add_test (tcase, test_max_components_while_playing);
  tcase_add_test (tcase, test_attach_labels_while_playing);
  tcase_add_test (tcase, test_numbers_of_algorithms);
  tcase_add_test (tcase, test_threshold_beyond_the_format);
  tcase_add_test (tcase, test_impossible_combination);
  tcase_add_test (tcase, test_former_algorithms);
  tcase_add_test (tcase, test_algorithms_8_connected);
  tcase_add_test (tcase, test_algorithms_4_connected);
  tcase_add_test (tcase, test_controlled_property);
  tcase_add_test (tcase, test_warning_about_areas);
  tcase_add_test (tcase, test_warning_about_the_default_threshold);
  tcase_add_test (tcase, test_n_threads);
  return suite;
}

GST_CHECK_MAIN (properties);
