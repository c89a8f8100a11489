/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ranges of all properties of all elements. */
#include <gst/check/gstcheck.h>

#include "tests/check/shared/leaks.h"

/* GStreamer reads a negative text for an unsigned property as a very large number. */
static gboolean
may_be_negative (const GParamSpec *property)
{
  /* -1 is white, the conventional "no limit" of a time, and the default where another property
   * decides. */
  return g_str_has_suffix (property->name, "-color") || g_str_equal (property->name, "max-age") ||
         (G_IS_PARAM_SPEC_UINT (property) &&
             G_PARAM_SPEC_UINT (property)->default_value == G_MAXUINT);
}

static void
assert_refuses_negative (GstElement *element, const GParamSpec *property)
{
  GValue before = G_VALUE_INIT, after = G_VALUE_INIT;

  g_value_init (&before, property->value_type);
  g_value_init (&after, property->value_type);
  g_object_get_property (G_OBJECT (element), property->name, &before);
  _gst_check_expecting_log = TRUE;
  _gst_check_raised_warning = _gst_check_raised_critical = FALSE;
  gst_util_set_object_arg (G_OBJECT (element), property->name, "-1");
  _gst_check_expecting_log = FALSE;
  fail_unless (
      _gst_check_raised_warning || _gst_check_raised_critical, "%s=-1: no warning", property->name);
  g_object_get_property (G_OBJECT (element), property->name, &after);
  fail_unless (
      gst_value_compare (&before, &after) == GST_VALUE_EQUAL, "%s=-1 is taken", property->name);
  g_value_unset (&before);
  g_value_unset (&after);
}

static guint
check_properties (GstElement *element)
{
  guint n, n_checked = 0;
  GParamSpec **properties = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  for (guint i = 0; i < n; i++) {
    const GParamSpec *property = properties[i];
    const gboolean is_ours = strstr (g_type_name (property->owner_type), "Ccl") != NULL;
    const gboolean is_unsigned =
        G_IS_PARAM_SPEC_UINT (property) || G_IS_PARAM_SPEC_UINT64 (property);

    if (is_ours && is_unsigned && (property->flags & G_PARAM_WRITABLE) &&
        !may_be_negative (property)) {
      assert_refuses_negative (element, property);
      n_checked++;
    }
  }
  g_free (properties);
  return n_checked;
}

/* A negative number is refused with a warning, or with later versions of GLib a critical one, which
 * names the property. */
GST_START_TEST (test_negative_numbers_are_refused)
{
  GList *features = gst_registry_get_feature_list_by_plugin (gst_registry_get (), "ccl");
  guint n_checked = 0;

  for (GList *link = features; link; link = link->next) {
    GstElement *element = gst_element_factory_create (link->data, NULL);

    n_checked += check_properties (element);
    gst_object_unref (element);
  }
  fail_unless (n_checked >= 10, "only %u properties were checked", n_checked);
  gst_plugin_feature_list_free (features);
}
GST_END_TEST

static Suite *
ranges_suite (void)
{
  Suite *suite = suite_create ("ranges");
  TCase *tcase = tcase_create ("ranges");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_negative_numbers_are_refused);
  return suite;
}

GST_CHECK_MAIN (ranges);
