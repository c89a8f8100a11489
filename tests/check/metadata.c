/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCclMeta without any element: what it holds, how it is shared, copied and scaled. */
#include "frames.h"
#include "leaks.h"

static const GstCclComponent three[] = {
    {1, 4, 0, 0, 2, 2, 0.5, 0.5},
    {2, 1, 7, 2, 1, 1, 7.0, 2.0},
    {3, 6, 3, 3, 3, 2, 4.0, 3.5},
};

GST_START_TEST (test_accessors)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 40 * 6, NULL);
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 5, three, 3, labels, 40);
  const GstCclComponent *components;
  gsize stride;
  guint n;

  fail_unless (gst_buffer_get_ccl_meta (buffer) == meta);
  fail_unless_equals_int (gst_ccl_meta_get_frame_width (meta), 8);
  fail_unless_equals_int (gst_ccl_meta_get_frame_height (meta), 6);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), 5);
  fail_unless (gst_ccl_meta_is_truncated (meta));
  components = gst_ccl_meta_get_components (meta, &n);
  fail_unless_equals_int (n, 3);
  fail_unless (memcmp (components, three, sizeof three) == 0);
  fail_unless (gst_ccl_meta_get_labels (meta, &stride) == labels);
  fail_unless_equals_int (stride, 40);
  ASSERT_MINI_OBJECT_REFCOUNT (labels, "labels", 2);
  gst_buffer_unref (buffer);
  ASSERT_MINI_OBJECT_REFCOUNT (labels, "labels", 1);
  gst_buffer_unref (labels);
}
GST_END_TEST

GST_START_TEST (test_buffer_without_meta)
{
  GstBuffer *buffer = gst_buffer_new ();

  fail_unless (gst_buffer_get_ccl_meta (buffer) == NULL);
  gst_buffer_unref (buffer);
}
GST_END_TEST

GST_START_TEST (test_tags)
{
  const gchar *const *tags = gst_meta_api_type_get_tags (GST_CCL_META_API_TYPE);
  const gchar *const *roi_tags =
      gst_meta_api_type_get_tags (GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);

  fail_unless_equals_string (g_type_name (GST_CCL_META_API_TYPE), "GstCclMetaAPI");
  fail_unless_equals_int (g_strv_length ((gchar **)tags), g_strv_length ((gchar **)roi_tags));
  for (guint i = 0; roi_tags[i]; i++)
    fail_unless (g_strv_contains (tags, roi_tags[i]), "no tag %s", roi_tags[i]);
}
GST_END_TEST

GST_START_TEST (test_wrong_arguments)
{
  GstBuffer *buffer = gst_buffer_new (), *labels = gst_buffer_new ();

  ASSERT_CRITICAL (gst_buffer_add_ccl_meta (buffer, 0, 6, 0, NULL, 0, NULL, 0));
  ASSERT_CRITICAL (gst_buffer_add_ccl_meta (buffer, 8, 0, 0, NULL, 0, NULL, 0));
  ASSERT_CRITICAL (gst_buffer_add_ccl_meta (buffer, 8, 6, 2, three, 3, NULL, 0));
  ASSERT_CRITICAL (gst_buffer_add_ccl_meta (buffer, 8, 6, 1, NULL, 1, NULL, 0));
  ASSERT_CRITICAL (gst_buffer_add_ccl_meta (buffer, 8, 6, 0, NULL, 0, labels, 31));
  fail_unless (gst_buffer_get_ccl_meta (buffer) == NULL);
  gst_buffer_ref (buffer);
  ASSERT_CRITICAL (gst_buffer_add_ccl_meta (buffer, 8, 6, 0, NULL, 0, NULL, 0));
  gst_buffer_unref (buffer);
  gst_buffer_unref (buffer);
  gst_buffer_unref (labels);
}
GST_END_TEST

/* A copy shares table and label map, and outlives the original. */
GST_START_TEST (test_copy)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 32 * 6, NULL);
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 3, labels, 32), *copied;
  GstBuffer *copy = gst_buffer_copy (buffer);
  const GstCclComponent *components;
  guint n;

  copied = gst_buffer_get_ccl_meta (copy);
  fail_unless (copied != NULL && copied != meta);
  components = gst_ccl_meta_get_components (copied, &n);
  fail_unless (components == gst_ccl_meta_get_components (meta, &n));
  fail_unless (gst_ccl_meta_get_labels (copied, NULL) == labels);
  gst_buffer_unref (buffer);
  gst_buffer_unref (labels);
  fail_unless_equals_int (n, 3);
  fail_unless (memcmp (components, three, sizeof three) == 0);
  gst_buffer_unref (copy);
}
GST_END_TEST

static GstBuffer *
scaled (GstBuffer *buffer, guint from_width, guint from_height, guint to_width, guint to_height)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  GstBuffer *dest = gst_buffer_new ();
  GstVideoInfo from, to;
  GstVideoMetaTransform transform = {&from, &to};

  gst_video_info_set_format (&from, GST_VIDEO_FORMAT_GRAY8, from_width, from_height);
  gst_video_info_set_format (&to, GST_VIDEO_FORMAT_GRAY8, to_width, to_height);
  fail_unless (gst_ccl_meta_get_info ()->transform_func (
      dest, (GstMeta *)meta, buffer, gst_video_meta_transform_scale_get_quark (), &transform));
  return dest;
}

/* Everything to a third: a box is never smaller than what it holds, and never leaves the frame. */
GST_START_TEST (test_scaling_down)
{
  GstBuffer *buffer = gst_buffer_new (), *dest;
  GstCclMeta *meta;

  gst_buffer_add_ccl_meta (buffer, 9, 6, 3, three, 3, NULL, 0);
  dest = scaled (buffer, 9, 6, 3, 2);
  assert_components (dest, {4, 0, 0, 1, 1, 1.0 / 3 - 0.5, 1.0 / 3 - 0.5},
      {1, 2, 0, 1, 1, 2.0, 2.5 / 3 - 0.5}, {6, 1, 1, 1, 1, 1.0, 4.0 / 3 - 0.5});
  meta = gst_buffer_get_ccl_meta (dest);
  fail_unless_equals_int (gst_ccl_meta_get_frame_width (meta), 3);
  fail_unless_equals_int (gst_ccl_meta_get_frame_height (meta), 2);
  gst_buffer_unref (dest);
  gst_buffer_unref (buffer);
}
GST_END_TEST

/* The products exceed 32 bits. */
GST_START_TEST (test_scaling_large_frames)
{
  const GstCclComponent all = {1, 1, 0, 0, 100000, 20000, 49999.5, 9999.5};
  GstBuffer *buffer = gst_buffer_new (), *dest;

  gst_buffer_add_ccl_meta (buffer, 100000, 20000, 1, &all, 1, NULL, 0);
  dest = scaled (buffer, 100000, 20000, 200000, 60000);
  assert_components (dest, {1, 0, 0, 200000, 60000, 99999.5, 29999.5});
  gst_buffer_unref (dest);
  gst_buffer_unref (buffer);
}
GST_END_TEST

GST_START_TEST (test_scaling_drops_the_label_map)
{
  GstBuffer *buffer = gst_buffer_new (), *dest;
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 32 * 6, NULL);
  GstCclMeta *meta;

  gst_buffer_add_ccl_meta (buffer, 8, 6, 30, three, 3, labels, 32);
  gst_buffer_unref (labels);
  dest = scaled (buffer, 8, 6, 16, 6);
  meta = gst_buffer_get_ccl_meta (dest);
  fail_unless (gst_ccl_meta_get_labels (meta, NULL) == NULL);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), 30);
  fail_unless (gst_ccl_meta_is_truncated (meta));
  gst_buffer_unref (dest);
  gst_buffer_unref (buffer);
}
GST_END_TEST

/* Colour conversion is scaling to the same size. */
GST_START_TEST (test_scaling_to_the_same_size_keeps_everything)
{
  GstBuffer *buffer = gst_buffer_new (), *dest;
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 32 * 6, NULL);
  GstCclMeta *meta;
  gsize stride;
  guint n;

  gst_buffer_add_ccl_meta (buffer, 8, 6, 30, three, 3, labels, 32);
  gst_buffer_unref (labels);
  dest = scaled (buffer, 8, 6, 8, 6);
  meta = gst_buffer_get_ccl_meta (dest);
  fail_unless (gst_ccl_meta_get_labels (meta, &stride) == labels);
  fail_unless_equals_int (stride, 32);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), 30);
  fail_unless (memcmp (gst_ccl_meta_get_components (meta, &n), three, sizeof three) == 0);
  gst_buffer_unref (dest);
  gst_buffer_unref (buffer);
}
GST_END_TEST

GST_START_TEST (test_unknown_transforms_are_refused)
{
  GstBuffer *buffer = gst_buffer_new (), *dest = gst_buffer_new ();
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 3, NULL, 0);

  fail_if (gst_ccl_meta_get_info ()->transform_func (
      dest, (GstMeta *)meta, buffer, g_quark_from_static_string ("some-warp"), NULL));
  fail_unless (gst_buffer_get_ccl_meta (dest) == NULL);
  gst_buffer_unref (dest);
  gst_buffer_unref (buffer);
}
GST_END_TEST

#if GST_CHECK_VERSION(1, 24, 0)
GST_START_TEST (test_serialisation)
{
  GstBuffer *buffer = gst_buffer_new (), *other = gst_buffer_new ();
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 32 * 6, NULL);
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 30, three, 3, labels, 32);
  GByteArray *data = g_byte_array_new ();
  const GstCclComponent *components;
  guint32 consumed;
  guint n;

  fail_unless (gst_meta_serialize_simple ((GstMeta *)meta, data));
  meta = (GstCclMeta *)gst_meta_deserialize (other, data->data, data->len, &consumed);
  fail_unless (meta != NULL);
  fail_unless_equals_int (consumed, data->len);
  fail_unless (gst_buffer_get_ccl_meta (other) == meta);
  fail_unless_equals_int (gst_ccl_meta_get_frame_width (meta), 8);
  fail_unless_equals_int (gst_ccl_meta_get_frame_height (meta), 6);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), 30);
  components = gst_ccl_meta_get_components (meta, &n);
  fail_unless_equals_int (n, 3);
  fail_unless (memcmp (components, three, sizeof three) == 0);
  fail_unless (gst_ccl_meta_get_labels (meta, NULL) == NULL);
  g_byte_array_unref (data);
  gst_buffer_unref (labels);
  gst_buffer_unref (other);
  gst_buffer_unref (buffer);
}
GST_END_TEST

/* Data that something else made: refused, whatever is wrong, and nothing is read past its end. */
GST_START_TEST (test_broken_serialisations)
{
  GstMetaDeserializeFunction deserialize = gst_ccl_meta_get_info ()->deserialize_func;
  guint8 data[56] = {8, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1};
  static const struct {
    gsize size;
    guint8 version;
    guint byte;
    guint8 value;
    gboolean fine;
  } cases[] = {
      {56, 1, 0, 8, TRUE},
      {56, 0, 0, 8, FALSE},
      {56, 2, 0, 8, FALSE},
      {55, 1, 0, 8, FALSE},
      {16, 1, 0, 8, FALSE},
      {15, 1, 0, 8, FALSE},
      {0, 1, 0, 8, FALSE},
      {56, 1, 0, 0, FALSE},  /* no width */
      {56, 1, 4, 0, FALSE},  /* no height */
      {56, 1, 8, 0, FALSE},  /* fewer components than rows */
      {56, 1, 12, 2, FALSE}, /* more rows than there are */
      {56, 1, 15, 255, FALSE},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *buffer = gst_buffer_new ();
    guint8 *copy = g_memdup2 (data, sizeof data);

    copy[cases[i].byte] = cases[i].value;
    fail_unless_equals_int (deserialize (gst_ccl_meta_get_info (), buffer, copy, cases[i].size,
                                cases[i].version) != NULL,
        cases[i].fine);
    fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer) != NULL, cases[i].fine);
    g_free (copy);
    gst_buffer_unref (buffer);
  }
}
GST_END_TEST
#endif

GST_START_TEST (test_component_is_a_boxed_type)
{
  GValue value = G_VALUE_INIT, copy = G_VALUE_INIT;

  g_value_init (&value, GST_TYPE_CCL_COMPONENT);
  g_value_init (&copy, GST_TYPE_CCL_COMPONENT);
  g_value_set_boxed (&value, &three[1]);
  g_value_copy (&value, &copy);
  fail_unless (memcmp (g_value_get_boxed (&copy), &three[1], sizeof three[1]) == 0);
  fail_if (g_value_get_boxed (&copy) == g_value_get_boxed (&value));
  g_value_unset (&value);
  g_value_unset (&copy);
}
GST_END_TEST

static Suite *
metadata_suite (void)
{
  Suite *suite = suite_create ("metadata");
  TCase *tcase = tcase_create ("metadata");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_accessors);
  tcase_add_test (tcase, test_buffer_without_meta);
  tcase_add_test (tcase, test_tags);
  tcase_add_test (tcase, test_wrong_arguments);
  tcase_add_test (tcase, test_copy);
  tcase_add_test (tcase, test_scaling_down);
  tcase_add_test (tcase, test_scaling_large_frames);
  tcase_add_test (tcase, test_scaling_drops_the_label_map);
  tcase_add_test (tcase, test_scaling_to_the_same_size_keeps_everything);
  tcase_add_test (tcase, test_unknown_transforms_are_refused);
  tcase_add_test (tcase, test_component_is_a_boxed_type);
#if GST_CHECK_VERSION(1, 24, 0)
  tcase_add_test (tcase, test_serialisation);
  tcase_add_test (tcase, test_broken_serialisations);
#endif
  return suite;
}

GST_CHECK_MAIN (metadata);
