/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCclMeta without an element: contents, sharing, copies, scaling and mapping. */
#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"

#include <math.h>

static const GstCclComponent three[] = {
    {1, 4, 0, 0, 2, 2, 0.5, 0.5},
    {2, 1, 7, 2, 1, 1, 7.0, 2.0},
    {3, 6, 3, 3, 3, 2, 4.0, 3.5},
};

static gboolean
has_rows (const GstCclMeta *meta, const GstCclComponent *expected, guint n_expected)
{
  guint n_rows;
  gsize row_stride;
  gconstpointer rows = gst_ccl_meta_get_rows (meta, &n_rows, &row_stride);

  fail_unless_equals_int (row_stride, sizeof *expected);
  return n_rows == n_expected && !memcmp (rows, expected, n_rows * row_stride);
}

GST_START_TEST (test_accessors)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 40 * 6, NULL);
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 5, three, 3, labels, 40);
  gsize stride;

  fail_unless (gst_buffer_get_ccl_meta (buffer) == meta);
  fail_unless_equals_int (gst_ccl_meta_get_frame_width (meta), 8);
  fail_unless_equals_int (gst_ccl_meta_get_frame_height (meta), 6);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), 5);
  fail_unless (gst_ccl_meta_is_truncated (meta));
  fail_unless_equals_int (gst_ccl_meta_get_n_rows (meta), 3);
  fail_unless (has_rows (meta, three, 3));
  for (guint i = 0; i < 3; i++)
    fail_unless (!memcmp (gst_ccl_meta_get_component (meta, i), &three[i], sizeof three[i]));
  fail_unless (gst_ccl_meta_get_component (meta, 3) == NULL);
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

  copied = gst_buffer_get_ccl_meta (copy);
  fail_unless (copied != NULL && copied != meta);
  fail_unless (gst_ccl_meta_get_component (copied, 0) == gst_ccl_meta_get_component (meta, 0));
  fail_unless (gst_ccl_meta_get_labels (copied, NULL) == labels);
  gst_buffer_unref (buffer);
  gst_buffer_unref (labels);
  fail_unless (has_rows (copied, three, 3));
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

/* Scaling to a third: a box covers its scaled component and stays inside the frame. */
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

/* A ring of component 1, and component 3 in its hole. */
static const GstCclContour ring[] = {
    {1, GST_CCL_NO_CONTOUR, 0, 2, 0}, {1, 0, 4, 1, 1}, {3, 1, 2, 2, 0}};
static const gfloat ring_points[] = {0, 0, 7, 5, 2, 2, 3, 3, 1, 2};

static GstCclContours *
new_ring (GstCclContourKind kind)
{
  return new_contours (kind, ring, 3, ring_points, 5);
}

GST_START_TEST (test_contours)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 3, NULL, 0), *copy;
  GstCclContours *contours = new_ring (GST_CCL_CONTOUR_KIND_CRACKS), *found;
  guint n;

  fail_unless (gst_ccl_meta_get_contours (meta) == NULL);
  gst_ccl_meta_set_contours (meta, contours);
  copy = gst_ccl_meta_copy (meta);
  gst_ccl_meta_set_contours (meta, NULL);
  fail_unless (gst_ccl_meta_get_contours (meta) == NULL);
  gst_buffer_unref (buffer);

  found = gst_ccl_meta_get_contours (copy);
  fail_unless (found == contours);
  fail_unless_equals_int (gst_ccl_contours_get_kind (found), GST_CCL_CONTOUR_KIND_CRACKS);
  fail_unless_equals_int (gst_ccl_contours_get_n_contours (found), 3);
  fail_unless (memcmp (gst_ccl_contours_get_contour (found, 2), &ring[2], sizeof ring[2]) == 0);
  fail_unless (gst_ccl_contours_get_contour (found, 3) == NULL);
  fail_unless_equals_float (gst_ccl_contours_get_points (found, 2, &n)[3], 3);
  fail_unless_equals_int (n, 4);
  fail_unless (gst_ccl_contours_get_points (found, 3, &n) == NULL && n == 0);
  fail_unless (gst_ccl_contours_find (found, 1, &n) == 0 && n == 2);
  fail_unless (gst_ccl_contours_find (found, 3, &n) == 2 && n == 1);
  gst_ccl_contours_find (found, 2, &n);
  fail_unless_equals_int (n, 0);
  gst_ccl_contours_find (found, 4, &n);
  fail_unless_equals_int (n, 0);
  gst_ccl_contours_unref (found);
  gst_ccl_contours_unref (contours);
  gst_ccl_meta_free (copy);
}
GST_END_TEST

/* Pixels have their centres at integer coordinates, so their points move as centroids do. */
GST_START_TEST (test_contours_are_scaled)
{
  static const gfloat corners[] = {0, 0, 3.5, 15}, pixels[] = {-0.25, 1, 3.25, 16};

  for (guint kind = 0; kind <= GST_CCL_CONTOUR_KIND_CRACKS; kind++) {
    const gfloat *expected = kind == GST_CCL_CONTOUR_KIND_CRACKS ? corners : pixels;
    GstCclContours *contours = new_ring ((GstCclContourKind)kind), *found;
    GstBuffer *buffer = gst_buffer_new (), *dest;
    GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 3, NULL, 0);
    guint n;

    gst_ccl_meta_set_contours (meta, contours);
    dest = scaled (buffer, 8, 6, 4, 18);
    found = gst_ccl_meta_get_contours (gst_buffer_get_ccl_meta (dest));
    for (guint i = 0; i < 4; i++)
      fail_unless_equals_float (gst_ccl_contours_get_points (found, 0, &n)[i], expected[i]);
    fail_unless (memcmp (gst_ccl_contours_get_contour (found, 1), &ring[1], sizeof ring[1]) == 0);
    gst_ccl_contours_unref (found);
    gst_buffer_unref (dest);
    dest = scaled (buffer, 8, 6, 8, 6);
    found = gst_ccl_meta_get_contours (gst_buffer_get_ccl_meta (dest));
    fail_unless (found == contours);
    gst_ccl_contours_unref (found);
    gst_ccl_contours_unref (contours);
    gst_buffer_unref (dest);
    gst_buffer_unref (buffer);
  }
}
GST_END_TEST

GST_START_TEST (test_unsound_contours)
{
  static const GstCclContour wrong[][2] = {
      {{0, GST_CCL_NO_CONTOUR, 0, 1, 0}, {1, GST_CCL_NO_CONTOUR, 0, 1, 0}}, /* no label */
      {{2, GST_CCL_NO_CONTOUR, 0, 1, 0}, {1, GST_CCL_NO_CONTOUR, 0, 1, 0}}, /* no order */
      {{1, GST_CCL_NO_CONTOUR, 0, 1, 1}, {2, GST_CCL_NO_CONTOUR, 0, 1, 0}}, /* a hole first */
      {{1, GST_CCL_NO_CONTOUR, 0, 1, 0}, {1, 0, 0, 1, 0}},                  /* two outer ones */
      {{1, GST_CCL_NO_CONTOUR, 0, 1, 0}, {1, 1, 0, 1, 1}},                  /* its own parent */
      {{1, GST_CCL_NO_CONTOUR, 0, 0, 0}, {2, GST_CCL_NO_CONTOUR, 0, 1, 0}}, /* no points */
      {{1, GST_CCL_NO_CONTOUR, 4, 2, 0}, {2, GST_CCL_NO_CONTOUR, 0, 1, 0}}, /* beyond the points */
      {{1, GST_CCL_NO_CONTOUR, 9, 1, 0}, {2, GST_CCL_NO_CONTOUR, 0, 1, 0}},
      {{1, GST_CCL_NO_CONTOUR, 2, G_MAXUINT32, 0}, {2, GST_CCL_NO_CONTOUR, 0, 1, 0}},
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    fail_unless (
        new_contours (GST_CCL_CONTOUR_KIND_PIXELS, wrong[i], 2, ring_points, 5) == NULL, "%u", i);
  fail_unless (gst_ccl_contours_new (gst_buffer_new (), GST_CCL_CONTOUR_KIND_PIXELS, 1, 1) == NULL);
}
GST_END_TEST

/* Two columns for a table of three rows. */
static GstCclColumns *
new_two_columns (void)
{
  static const gchar *const keys[] = {"mean_value", "é"};
  static const gdouble values[] = {1, 2, 3, -0.5, NAN, 1e300};

  return gst_ccl_columns_new (keys, 2, values, 3);
}

static void
assert_two_columns (GstCclColumns *columns)
{
  const gdouble *values;
  guint n;

  fail_unless (columns != NULL);
  fail_unless_equals_int (gst_ccl_columns_get_n_columns (columns), 2);
  fail_unless_equals_int (gst_ccl_columns_get_n_rows (columns), 3);
  fail_unless_equals_string (gst_ccl_columns_get_key (columns, 0), "mean_value");
  fail_unless_equals_string (gst_ccl_columns_get_key (columns, 1), "é");
  fail_unless (gst_ccl_columns_get_key (columns, 2) == NULL);
  fail_unless_equals_int (gst_ccl_columns_find (columns, "é"), 1);
  fail_unless_equals_int (gst_ccl_columns_find (columns, "mean"), -1);
  values = gst_ccl_columns_get_values (columns, 0, &n);
  fail_unless (n == 3 && values[0] == 1 && values[1] == 2 && values[2] == 3);
  values = gst_ccl_columns_get_values (columns, 1, &n);
  fail_unless (n == 3 && values[0] == -0.5 && isnan (values[1]) && values[2] == 1e300);
  fail_unless (gst_ccl_columns_get_values (columns, 2, &n) == NULL && n == 0);
}

/* A region and a line for a table of three rows. */
static GstCclRegionState *
new_region_state (void)
{
  static const GstCclRegionInfo regions[] = {{"yard", FALSE, 2, 0, 0}, {"gàte", TRUE, 0, 7, 1}};
  static const gint8 places[] = {1, 0, 1, 0, 1, -1};

  return gst_ccl_region_state_new (regions, 2, places, 3);
}

static void
assert_region_state (GstCclRegionState *state)
{
  const GstCclRegionInfo *line;

  fail_unless (state != NULL);
  fail_unless_equals_int (gst_ccl_region_state_get_n_regions (state), 2);
  fail_unless_equals_int (gst_ccl_region_state_get_n_rows (state), 3);
  fail_unless_equals_int (gst_ccl_region_state_find (state, "gàte"), 1);
  fail_unless_equals_int (gst_ccl_region_state_find (state, "gate"), -1);
  fail_unless_equals_int (gst_ccl_region_state_get_region (state, 0)->inside, 2);
  line = gst_ccl_region_state_get_region (state, 1);
  fail_unless (line->is_line && line->forward == 7 && line->backward == 1);
  fail_unless (gst_ccl_region_state_get_region (state, 2) == NULL);
  fail_unless (gst_ccl_region_state_is_inside (state, 0, 0));
  fail_unless (!gst_ccl_region_state_is_inside (state, 0, 1));
  fail_unless (!gst_ccl_region_state_is_inside (state, 1, 1)); /* a line */
  fail_unless_equals_int (gst_ccl_region_state_get_crossing (state, 1, 1), 1);
  fail_unless_equals_int (gst_ccl_region_state_get_crossing (state, 1, 2), -1);
  fail_unless_equals_int (gst_ccl_region_state_get_crossing (state, 0, 0), 0); /* a region */
  fail_unless_equals_int (gst_ccl_region_state_get_crossing (state, 1, 3), 0);
}

static GstCclClasses *
new_three_classes (void)
{
  static const gchar *const names[] = {"person", NULL, "vélo"};
  static const gdouble confidences[] = {0.75, 0.5, 1.5};

  return gst_ccl_classes_new (names, confidences, 3);
}

static void
assert_three_classes (GstCclClasses *classes)
{
  fail_unless (classes != NULL);
  fail_unless_equals_int (gst_ccl_classes_get_n_rows (classes), 3);
  fail_unless_equals_string (gst_ccl_classes_get_name (classes, 0), "person");
  fail_unless (gst_ccl_classes_get_confidence (classes, 0) == 0.75);
  fail_unless (gst_ccl_classes_get_name (classes, 1) == NULL);
  fail_unless (isnan (gst_ccl_classes_get_confidence (classes, 1)));
  fail_unless_equals_string (gst_ccl_classes_get_name (classes, 2), "vélo");
  fail_unless (isnan (gst_ccl_classes_get_confidence (classes, 2))); /* 1.5 is none */
  fail_unless (gst_ccl_classes_get_name (classes, 3) == NULL);
  fail_unless (isnan (gst_ccl_classes_get_confidence (classes, 3)));
}

/* A ring with a hole, a component in the hole, and one beside it. */
static GstCclMeta *
add_meta_with_all_parts (GstBuffer *buffer)
{
  static const GstCclContour contours[] = {{1, GST_CCL_NO_CONTOUR, 0, 1, 0}, {1, 0, 1, 1, 1},
      {2, 1, 2, 2, 0}, {3, GST_CCL_NO_CONTOUR, 4, 1, 0}};
  static const gfloat points[] = {0, 0, 1, 1, 2, 2, 3, 3, 7, 7};
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 5, three, 3, NULL, 0);
  guint8 *data = g_malloc (sizeof contours + sizeof points);
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 4 * 8 * 6, NULL);
  GstCclColumns *columns = new_two_columns ();
  GstCclRegionState *state = new_region_state ();
  GstCclClasses *classes = new_three_classes ();
  GstCclContours *attached;

  gst_buffer_remove_meta (buffer, (GstMeta *)meta);
  meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 5, three, 3, labels, 4 * 8);
  gst_buffer_unref (labels);
  memcpy (data, contours, sizeof contours);
  memcpy (data + sizeof contours, points, sizeof points);
  attached = gst_ccl_contours_new (gst_buffer_new_wrapped (data, sizeof contours + sizeof points),
      GST_CCL_CONTOUR_KIND_PIXELS, 4, 5);
  gst_ccl_meta_set_contours (meta, attached);
  gst_ccl_contours_unref (attached);
  gst_ccl_meta_set_columns (meta, columns);
  gst_ccl_columns_unref (columns);
  gst_ccl_meta_set_region_state (meta, state);
  gst_ccl_region_state_unref (state);
  gst_ccl_meta_set_classes (meta, classes);
  gst_ccl_classes_unref (classes);
  return meta;
}

/* "label:parent:first x", of each contour; "-" for no parent. */
static gchar *
describe_contours (const GstCclMeta *meta)
{
  GstCclContours *contours = gst_ccl_meta_get_contours (meta);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < gst_ccl_contours_get_n_contours (contours); i++) {
    const GstCclContour *contour = gst_ccl_contours_get_contour (contours, i);
    guint n;

    g_string_append_printf (text, "%s%u:", i > 0 ? " " : "", contour->label);
    if (contour->parent == GST_CCL_NO_CONTOUR)
      g_string_append_c (text, '-');
    else
      g_string_append_printf (text, "%u", contour->parent);
    g_string_append_printf (text, ":%g", gst_ccl_contours_get_points (contours, i, &n)[0]);
  }
  gst_ccl_contours_unref (contours);
  return g_string_free (text, FALSE);
}

#define ASSERT_CONTOURS(meta, expected)                                                            \
  do {                                                                                             \
    gchar *described = describe_contours (meta);                                                   \
    fail_unless_equals_string (described, expected);                                               \
    g_free (described);                                                                            \
  } while (0)

/* Rows that are removed, with all that belongs to them; the original stays as it is. */
GST_START_TEST (test_select_rows)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstCclMeta *meta = add_meta_with_all_parts (buffer), *copy = gst_ccl_meta_copy (meta);
  GstCclRegionState *state;
  GstCclColumns *columns;
  GstCclClasses *classes;
  guint n;

  gst_ccl_meta_select_rows (copy, (guint[]){2, 1}, 2);
  fail_unless_equals_int (gst_ccl_meta_get_n_rows (copy), 2);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (copy), 4);
  fail_unless (memcmp (gst_ccl_meta_get_component (copy, 0), &three[2], sizeof three[2]) == 0);
  fail_unless (memcmp (gst_ccl_meta_get_component (copy, 1), &three[1], sizeof three[1]) == 0);
  ASSERT_CONTOURS (copy, "2:-:2 3:-:7");
  fail_unless (gst_ccl_meta_get_labels (copy, NULL) == NULL);
  classes = gst_ccl_meta_get_classes (copy);
  fail_unless_equals_string (gst_ccl_classes_get_name (classes, 0), "vélo");
  gst_ccl_classes_unref (classes);
  columns = gst_ccl_meta_get_columns (copy);
  fail_unless (gst_ccl_columns_get_values (columns, 0, &n)[0] == 3);
  gst_ccl_columns_unref (columns);
  state = gst_ccl_meta_get_region_state (copy);
  fail_unless_equals_int (gst_ccl_region_state_get_crossing (state, 1, 0), -1);
  gst_ccl_region_state_unref (state);

  gst_ccl_meta_select_rows (copy, NULL, 0);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (copy), 2);
  ASSERT_CONTOURS (copy, "");
  ASSERT_CRITICAL (gst_ccl_meta_select_rows (meta, (guint[]){3}, 1));
  ASSERT_CRITICAL (gst_ccl_meta_select_rows (meta, (guint[]){0, 0, 0, 0}, 4));

  fail_unless (has_rows (meta, three, 3));
  ASSERT_CONTOURS (meta, "1:-:0 1:0:1 2:1:2 3:-:7");
  fail_unless (gst_ccl_meta_get_labels (meta, NULL) != NULL);
  gst_ccl_meta_select_rows (meta, (guint[]){1, 2, 0}, 3); /* sorted: the map stays */
  fail_unless (gst_ccl_meta_get_labels (meta, NULL) != NULL);
  ASSERT_CONTOURS (meta, "1:-:0 1:0:1 2:1:2 3:-:7");
  gst_ccl_meta_free (copy);
  gst_buffer_unref (buffer);
}
GST_END_TEST

GST_START_TEST (test_relabel)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstCclMeta *meta = add_meta_with_all_parts (buffer);
  const guint32 same[] = {three[0].label, three[1].label, three[2].label};

  gst_ccl_meta_relabel (meta, same, 3);
  fail_unless (gst_ccl_meta_get_labels (meta, NULL) != NULL);
  gst_ccl_meta_relabel (meta, (guint32[]){9, 4, 6}, 3); /* the ring comes behind what is in it */
  fail_unless_equals_int (gst_ccl_meta_get_component (meta, 0)->label, 9);
  fail_unless_equals_int (gst_ccl_meta_get_component (meta, 0)->area, three[0].area);
  ASSERT_CONTOURS (meta, "4:-:2 6:-:7 9:-:0 9:2:1");
  fail_unless (gst_ccl_meta_get_labels (meta, NULL) == NULL);
  gst_ccl_meta_relabel (meta, (guint32[]){1, 1, 0}, 3);
  ASSERT_CONTOURS (meta, "1:-:0 1:0:1");
  ASSERT_CRITICAL (gst_ccl_meta_relabel (meta, same, 2));
  gst_buffer_unref (buffer);
}
GST_END_TEST

/* Tracks that share a component have both identities, a lost one none. */
GST_START_TEST (test_set_tracks)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstCclMeta *meta = add_meta_with_all_parts (buffer);
  const GstCclTrackInfo tracks[] = {{.id = 7, .state = GST_CCL_TRACK_STATE_CONFIRMED, .n_ids = 99},
      {.id = 1ull << 40, .state = GST_CCL_TRACK_STATE_LOST},
      {.id = 9, .state = GST_CCL_TRACK_STATE_STATIC}};
  const guint64 *ids;
  guint n;

  gst_ccl_meta_relabel (meta, (guint32[]){2, 0, 2}, 3);
  gst_ccl_meta_set_tracks (meta, tracks, 3);
  fail_unless_equals_uint64 (gst_ccl_meta_get_track (meta, 1)->id, 1ull << 40);
  ids = gst_ccl_meta_get_ids (meta, 2, &n);
  fail_unless (n == 2 && ids[0] == 7 && ids[1] == 9);
  ids = gst_ccl_meta_get_ids (meta, 1, &n);
  fail_unless (n == 0 && ids == NULL);
  gst_ccl_meta_set_tracks (meta, NULL, 0);
  fail_unless (gst_ccl_meta_get_track (meta, 0) == NULL);
  ASSERT_CRITICAL (gst_ccl_meta_set_tracks (meta, tracks, 2));
  gst_buffer_unref (buffer);
}
GST_END_TEST

/* A copy that was changed takes the place of its original, not that of another labeller. */
GST_START_TEST (test_replace)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstCclLabeller *labeller = gst_ccl_labeller_new ("first", NULL);
  GstCclMeta *copy;

  gst_ccl_meta_set_labeller (add_meta_with_all_parts (buffer), labeller);
  gst_ccl_labeller_unref (labeller);
  labeller = gst_ccl_labeller_new ("second", NULL);
  gst_ccl_meta_set_labeller (
      gst_buffer_add_ccl_meta (buffer, 8, 6, 1, three, 1, NULL, 0), labeller);
  gst_ccl_labeller_unref (labeller);
  copy = gst_ccl_meta_copy (gst_buffer_get_ccl_meta_by_name (buffer, "first"));
  gst_ccl_meta_select_rows (copy, (guint[]){1}, 1);
  gst_buffer_replace_ccl_meta (buffer, copy);
  gst_buffer_replace_ccl_meta (buffer, gst_buffer_get_ccl_meta_by_name (buffer, "first"));
  gst_ccl_meta_free (copy);
  fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_CCL_META_API_TYPE), 2);
  fail_unless_equals_int (
      gst_ccl_meta_get_component (gst_buffer_get_ccl_meta_by_name (buffer, "first"), 0)->label, 2);
  fail_unless (has_rows (gst_buffer_get_ccl_meta_by_name (buffer, "second"), three, 1));
  gst_buffer_unref (buffer);
}
GST_END_TEST

/* Copies and scaled metadata share the classes, a new table removes them. */
GST_START_TEST (test_classes)
{
  static const guint rows[] = {2, 7};
  GstBuffer *buffer = gst_buffer_new (), *dest;
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 3, NULL, 0), *copy;
  GstCclClasses *classes = new_three_classes (), *found, *selected;

  fail_unless (gst_ccl_meta_get_classes (meta) == NULL);
  gst_ccl_meta_set_classes (meta, classes);
  dest = scaled (buffer, 8, 6, 16, 12);
  found = gst_ccl_meta_get_classes (gst_buffer_get_ccl_meta (dest));
  fail_unless (found == classes);
  gst_ccl_classes_unref (found);
  gst_buffer_unref (dest);
  ASSERT_CRITICAL (gst_ccl_meta_set_classes (
      gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 2, NULL, 0), classes));
  copy = gst_ccl_meta_copy (meta);
  gst_ccl_meta_set_table (meta, 3, three, 3, NULL, NULL, 0);
  fail_unless (gst_ccl_meta_get_classes (meta) == NULL);
  gst_buffer_unref (buffer);
  gst_ccl_classes_unref (classes);

  found = gst_ccl_meta_get_classes (copy);
  gst_ccl_meta_free (copy);
  assert_three_classes (found);
  selected = gst_ccl_classes_select (found, rows, 2);
  gst_ccl_classes_unref (found);
  fail_unless_equals_string (gst_ccl_classes_get_name (selected, 0), "vélo");
  fail_unless (gst_ccl_classes_get_name (selected, 1) == NULL);
  gst_ccl_classes_unref (selected);
}
GST_END_TEST

/* Copies and scaled metadata share the state of regions, a new table removes it. */
GST_START_TEST (test_region_state)
{
  static const guint rows[] = {2, 7};
  GstBuffer *buffer = gst_buffer_new (), *dest;
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 3, NULL, 0), *copy;
  GstCclRegionState *state = new_region_state (), *found, *selected;

  fail_unless (gst_ccl_meta_get_region_state (meta) == NULL);
  gst_ccl_meta_set_region_state (meta, state);
  dest = scaled (buffer, 8, 6, 16, 12);
  found = gst_ccl_meta_get_region_state (gst_buffer_get_ccl_meta (dest));
  fail_unless (found == state);
  gst_ccl_region_state_unref (found);
  gst_buffer_unref (dest);
  ASSERT_CRITICAL (gst_ccl_meta_set_region_state (
      gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 2, NULL, 0), state));
  copy = gst_ccl_meta_copy (meta);
  gst_ccl_meta_set_table (meta, 3, three, 3, NULL, NULL, 0);
  fail_unless (gst_ccl_meta_get_region_state (meta) == NULL);
  gst_buffer_unref (buffer);
  gst_ccl_region_state_unref (state);

  found = gst_ccl_meta_get_region_state (copy);
  gst_ccl_meta_free (copy);
  assert_region_state (found);
  selected = gst_ccl_region_state_select (found, rows, 2);
  gst_ccl_region_state_unref (found);
  fail_unless (gst_ccl_region_state_is_inside (selected, 0, 0));
  fail_unless_equals_int (gst_ccl_region_state_get_crossing (selected, 1, 0), -1);
  fail_unless (!gst_ccl_region_state_is_inside (selected, 0, 1));
  fail_unless_equals_int (gst_ccl_region_state_get_region (selected, 0)->inside, 2);
  gst_ccl_region_state_unref (selected);
}
GST_END_TEST

/* Copies and scaled metadata share the columns, a new table removes them. */
GST_START_TEST (test_columns)
{
  GstBuffer *buffer = gst_buffer_new (), *dest;
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 3, NULL, 0), *copy;
  GstCclColumns *columns = new_two_columns (), *found;

  fail_unless (gst_ccl_meta_get_columns (meta) == NULL);
  gst_ccl_meta_set_columns (meta, columns);
  copy = gst_ccl_meta_copy (meta);
  dest = scaled (buffer, 8, 6, 4, 18);
  found = gst_ccl_meta_get_columns (gst_buffer_get_ccl_meta (dest));
  fail_unless (found == columns);
  gst_ccl_columns_unref (found);
  gst_buffer_unref (dest);
  ASSERT_CRITICAL (gst_ccl_meta_set_columns (
      gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 2, NULL, 0), columns));

  gst_ccl_meta_set_table (meta, 3, three, 3, NULL, NULL, 0);
  fail_unless (gst_ccl_meta_get_columns (meta) == NULL);
  gst_ccl_meta_set_columns (meta, columns);
  gst_ccl_meta_set_columns (meta, NULL);
  fail_unless (gst_ccl_meta_get_columns (meta) == NULL);
  gst_buffer_unref (buffer);

  gst_ccl_columns_unref (columns);
  found = gst_ccl_meta_get_columns (copy);
  gst_ccl_meta_free (copy);
  assert_two_columns (found);
  gst_ccl_columns_unref (found);
}
GST_END_TEST

GST_START_TEST (test_columns_of_other_rows)
{
  static const guint rows[] = {2, G_MAXUINT, 0, 2};
  GstCclColumns *columns = new_two_columns ();
  GstCclColumns *selected = gst_ccl_columns_select (columns, rows, 4);
  GstCclColumns *none = gst_ccl_columns_select (columns, NULL, 0);
  const gdouble *values;
  guint n;

  gst_ccl_columns_unref (columns);
  values = gst_ccl_columns_get_values (selected, 0, &n);
  fail_unless (n == 4 && values[0] == 3 && isnan (values[1]) && values[2] == 1 && values[3] == 3);
  fail_unless (gst_ccl_columns_get_values (selected, 1, &n)[2] == -0.5);
  fail_unless_equals_string (gst_ccl_columns_get_key (selected, 1), "é");
  fail_unless_equals_int (gst_ccl_columns_get_n_columns (none), 2);
  fail_unless (gst_ccl_columns_get_values (none, 0, &n) == NULL && n == 0);
  gst_ccl_columns_unref (selected);
  gst_ccl_columns_unref (none);
}
GST_END_TEST

/* Colour conversion is scaling to the same size. */
GST_START_TEST (test_scaling_to_the_same_size_keeps_everything)
{
  GstBuffer *buffer = gst_buffer_new (), *dest;
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 32 * 6, NULL);
  GstCclMeta *meta;
  gsize stride;

  gst_buffer_add_ccl_meta (buffer, 8, 6, 30, three, 3, labels, 32);
  gst_buffer_unref (labels);
  dest = scaled (buffer, 8, 6, 8, 6);
  meta = gst_buffer_get_ccl_meta (dest);
  fail_unless (gst_ccl_meta_get_labels (meta, &stride) == labels);
  fail_unless_equals_int (stride, 32);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), 30);
  fail_unless (has_rows (meta, three, 3));
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
  GstCclLabeller *labeller = gst_ccl_labeller_new ("Häuser \"ccl0\"", NULL), *other_labeller;
  GstCclTrackInfo tracks[3] = {
      {.id = 7, .state = GST_CCL_TRACK_STATE_TENTATIVE},
      {.id = 1ull << 40,
          .parent_id = 3,
          .velocity_x = -1.5f,
          .velocity_y = 0.25f,
          .age = 77,
          .state = GST_CCL_TRACK_STATE_STATIC,
          .first_id = 1,
          .n_ids = 2,
          .position_x = -1e7 / 3,
          .position_y = 12.5,
          .position_deviation = 0.7f,
          .speed_deviation = 1.3f,
          .ground_velocity_x = -2.25f,
          .ground_velocity_y = 1.0f / 3},
      {.id = 9, .state = GST_CCL_TRACK_STATE_LOST},
  };
  const guint64 ids[] = {7, 1ull << 40, 9};
  GByteArray *data = g_byte_array_new ();
  const guint64 *found_ids;
  guint32 consumed;
  guint n;

  gst_ccl_meta_set_table (meta, 30, three, 3, tracks, ids, 3);
  gst_ccl_meta_set_labeller (meta, labeller);
  fail_unless (gst_meta_serialize_simple ((GstMeta *)meta, data));
  meta = (GstCclMeta *)gst_meta_deserialize (other, data->data, data->len, &consumed);
  fail_unless (meta != NULL);
  fail_unless_equals_int (consumed, data->len);
  fail_unless (gst_buffer_get_ccl_meta (other) == meta);
  fail_unless_equals_int (gst_ccl_meta_get_frame_width (meta), 8);
  fail_unless_equals_int (gst_ccl_meta_get_frame_height (meta), 6);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), 30);
  fail_unless (has_rows (meta, three, 3));
  for (guint i = 0; i < 3; i++)
    fail_unless (memcmp (gst_ccl_meta_get_track (meta, i), &tracks[i], sizeof tracks[i]) == 0);
  fail_unless (gst_ccl_meta_get_track (meta, 3) == NULL);
  found_ids = gst_ccl_meta_get_ids (meta, 1, &n);
  fail_unless (n == 2 && found_ids[0] == 1ull << 40 && found_ids[1] == 9);
  fail_unless (gst_ccl_meta_get_labels (meta, NULL) == NULL);
  other_labeller = gst_ccl_meta_get_labeller (meta);
  fail_unless_equals_string (
      gst_ccl_labeller_get_name (other_labeller), gst_ccl_labeller_get_name (labeller));
  fail_unless (gst_ccl_labeller_get_settings (other_labeller) == NULL);
  gst_ccl_labeller_unref (other_labeller);
  gst_ccl_labeller_unref (labeller);
  g_byte_array_unref (data);
  gst_buffer_unref (labels);
  gst_buffer_unref (other);
  gst_buffer_unref (buffer);
}
GST_END_TEST

/* The table's part of the bytes is checked below; here are the contours behind it. */
GST_START_TEST (test_serialised_contours)
{
  GstMetaDeserializeFunction deserialize = gst_ccl_meta_get_info ()->deserialize_func;
  GstBuffer *buffer = gst_buffer_new (), *other = gst_buffer_new ();
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 0, NULL, 0, NULL, 0);
  GstCclContours *contours = new_ring (GST_CCL_CONTOUR_KIND_CRACKS), *found;
  GstCclLabeller *labeller = gst_ccl_labeller_new ("abc", NULL);
  GByteArray *bytes = g_byte_array_new ();
  guint32 consumed;
  /* 8×6 pixels and no components: 28 bytes. 1 contour with 1 point as cracks: 12, 20 and 8. */
  guint8 data[68] = {8, 0, 0, 0, 6};
  static const struct {
    guint byte;
    guint8 value;
    gboolean fine;
  } cases[] = {{0, 8, TRUE}, {28, 2, FALSE}, {32, 2, FALSE}, {36, 2, FALSE}, {40, 0, FALSE},
      {52, 2, FALSE}, {67, 127, FALSE} /* not a number */};
  guint n;

  /* Its length is no multiple of four, so no number behind it is aligned. */
  gst_ccl_meta_set_labeller (meta, labeller);
  gst_ccl_labeller_unref (labeller);
  gst_ccl_meta_set_contours (meta, contours);
  gst_ccl_contours_unref (contours);
  fail_unless (gst_meta_serialize_simple ((GstMeta *)meta, bytes));
  meta = (GstCclMeta *)gst_meta_deserialize (other, bytes->data, bytes->len, &consumed);
  fail_unless (meta != NULL);
  found = gst_ccl_meta_get_contours (meta);
  fail_unless_equals_int (gst_ccl_contours_get_kind (found), GST_CCL_CONTOUR_KIND_CRACKS);
  fail_unless_equals_int (gst_ccl_contours_get_n_contours (found), 3);
  fail_unless (memcmp (gst_ccl_contours_get_contour (found, 0), ring, sizeof ring) == 0);
  fail_unless (memcmp (gst_ccl_contours_get_points (found, 0, &n), ring_points, 40) == 0);
  gst_ccl_contours_unref (found);

  data[28] = data[32] = data[36] = data[40] = data[52] = 1;
  data[44] = data[45] = data[46] = data[47] = 255;
  data[66] = 0x80;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *made = gst_buffer_new ();
    guint8 *copy = g_memdup2 (data, sizeof data);

    copy[cases[i].byte] = cases[i].value;
    fail_unless_equals_int (
        deserialize (gst_ccl_meta_get_info (), made, copy, sizeof data, 5) != NULL, cases[i].fine);
    fail_unless (deserialize (gst_ccl_meta_get_info (), made, copy, sizeof data - 1, 5) == NULL);
    fail_unless (deserialize (gst_ccl_meta_get_info (), made, copy, 39, 5) == NULL);
    g_free (copy);
    gst_buffer_unref (made);
  }
  g_byte_array_unref (bytes);
  gst_buffer_unref (other);
  gst_buffer_unref (buffer);
}
GST_END_TEST

/* Classes alone, and before regions, columns and contours, each there or not. */
GST_START_TEST (test_serialised_classes)
{
  GstMetaDeserializeFunction deserialize = gst_ccl_meta_get_info ()->deserialize_func;
  /* 8×6 pixels, 1 component in 1 row of 40 bytes at byte 28. From byte 68: 2 bytes of names,
   * nothing else; the confidence; the name. */
  guint8 data[86] = {8, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, 1};
  static const struct {
    guint byte;
    guint8 value;
    gboolean fine;
  } cases[] = {{0, 8, TRUE}, {68, 1, FALSE}, {68, 3, FALSE}, {71, 255, FALSE}, {72, 1, FALSE},
      {72, 2, FALSE}, {72, 4, FALSE}, {83, 255, TRUE} /* no confidence */, {84, 255, FALSE},
      {84, 0, FALSE}, {85, 'b', FALSE}};

  for (guint with = 0; with < 8; with++) {
    GstBuffer *buffer = gst_buffer_new (), *other = gst_buffer_new ();
    GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 5, three, 3, NULL, 0);
    GstCclContours *contours = new_ring (GST_CCL_CONTOUR_KIND_CRACKS);
    GstCclColumns *columns = new_two_columns ();
    GstCclRegionState *state = new_region_state ();
    GstCclClasses *classes = new_three_classes ();
    GByteArray *bytes = g_byte_array_new ();
    guint32 consumed;

    gst_ccl_meta_set_classes (meta, classes);
    gst_ccl_classes_unref (classes);
    gst_ccl_meta_set_region_state (meta, with & 1 ? state : NULL);
    gst_ccl_region_state_unref (state);
    gst_ccl_meta_set_columns (meta, with & 2 ? columns : NULL);
    gst_ccl_columns_unref (columns);
    gst_ccl_meta_set_contours (meta, with & 4 ? contours : NULL);
    gst_ccl_contours_unref (contours);
    fail_unless (gst_meta_serialize_simple ((GstMeta *)meta, bytes));
    meta = (GstCclMeta *)gst_meta_deserialize (other, bytes->data, bytes->len, &consumed);
    fail_unless (meta != NULL);
    fail_unless (has_rows (meta, three, 3));
    classes = gst_ccl_meta_get_classes (meta);
    assert_three_classes (classes);
    gst_ccl_classes_unref (classes);
    state = gst_ccl_meta_get_region_state (meta);
    fail_unless_equals_int (state != NULL, with & 1);
    if (state)
      assert_region_state (state);
    g_clear_pointer (&state, gst_ccl_region_state_unref);
    columns = gst_ccl_meta_get_columns (meta);
    fail_unless_equals_int (columns != NULL, (with & 2) != 0);
    if (columns)
      assert_two_columns (columns);
    g_clear_pointer (&columns, gst_ccl_columns_unref);
    contours = gst_ccl_meta_get_contours (meta);
    fail_unless_equals_int (contours != NULL, with >= 4);
    g_clear_pointer (&contours, gst_ccl_contours_unref);
    g_byte_array_unref (bytes);
    gst_buffer_unref (buffer);
    gst_buffer_unref (other);
  }

  data[68] = 2;
  data[84] = 'a';
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *made = gst_buffer_new ();
    guint8 *copy = g_memdup2 (data, sizeof data);

    copy[cases[i].byte] = cases[i].value;
    fail_unless_equals_int (
        deserialize (gst_ccl_meta_get_info (), made, copy, sizeof data, 8) != NULL, cases[i].fine);
    fail_unless (deserialize (gst_ccl_meta_get_info (), made, copy, sizeof data - 1, 8) == NULL);
    g_free (copy);
    gst_buffer_unref (made);
  }
}
GST_END_TEST

/* Regions alone, before columns, before contours, and before both. */
GST_START_TEST (test_serialised_regions)
{
  GstMetaDeserializeFunction deserialize = gst_ccl_meta_get_info ()->deserialize_func;
  /* 8×6 pixels, 1 component in 1 row of 40 bytes at byte 28. From byte 68: 1 region with a name of
   * 2 bytes, no columns; from byte 80: no line, 1 track inside, no crossings; the name, a place. */
  guint8 data[107] = {8, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, 1};
  static const struct {
    guint byte;
    guint8 value;
    gboolean fine;
  } cases[] = {{0, 8, TRUE}, {68, 0, FALSE}, {68, 2, FALSE}, {71, 255, FALSE}, {72, 1, FALSE},
      {72, 3, FALSE}, {75, 255, FALSE}, {76, 1, FALSE} /* columns */, {104, 255, FALSE},
      {105, 'b', FALSE} /* no end */, {106, 2, FALSE}, {106, 255, FALSE} /* no line */,
      {106, 0, TRUE}};

  for (guint with = 0; with < 4; with++) {
    GstBuffer *buffer = gst_buffer_new (), *other = gst_buffer_new ();
    GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 5, three, 3, NULL, 0);
    GstCclContours *contours = new_ring (GST_CCL_CONTOUR_KIND_CRACKS), *found_contours;
    GstCclColumns *columns = new_two_columns (), *found_columns;
    GstCclRegionState *state = new_region_state ();
    GByteArray *bytes = g_byte_array_new ();
    guint32 consumed;

    gst_ccl_meta_set_region_state (meta, state);
    gst_ccl_region_state_unref (state);
    if (with & 1)
      gst_ccl_meta_set_columns (meta, columns);
    gst_ccl_columns_unref (columns);
    if (with & 2)
      gst_ccl_meta_set_contours (meta, contours);
    gst_ccl_contours_unref (contours);
    fail_unless (gst_meta_serialize_simple ((GstMeta *)meta, bytes));
    meta = (GstCclMeta *)gst_meta_deserialize (other, bytes->data, bytes->len, &consumed);
    fail_unless (meta != NULL);
    fail_unless (has_rows (meta, three, 3));
    state = gst_ccl_meta_get_region_state (meta);
    assert_region_state (state);
    gst_ccl_region_state_unref (state);
    found_columns = gst_ccl_meta_get_columns (meta);
    fail_unless_equals_int (found_columns != NULL, with & 1);
    if (found_columns)
      assert_two_columns (found_columns);
    g_clear_pointer (&found_columns, gst_ccl_columns_unref);
    found_contours = gst_ccl_meta_get_contours (meta);
    fail_unless ((found_contours != NULL) == (with >= 2));
    g_clear_pointer (&found_contours, gst_ccl_contours_unref);
    g_byte_array_unref (bytes);
    gst_buffer_unref (buffer);
    gst_buffer_unref (other);
  }

  data[68] = 1;
  data[72] = 2;
  data[84] = 1;
  memcpy (data + 104, "a\0\1", 3);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *made = gst_buffer_new ();
    guint8 *copy = g_memdup2 (data, sizeof data);

    copy[cases[i].byte] = cases[i].value;
    fail_unless_equals_int (
        deserialize (gst_ccl_meta_get_info (), made, copy, sizeof data, 7) != NULL, cases[i].fine);
    fail_unless (deserialize (gst_ccl_meta_get_info (), made, copy, sizeof data - 1, 7) == NULL);
    g_free (copy);
    gst_buffer_unref (made);
  }
}
GST_END_TEST

/* Columns alone, and columns before contours. */
GST_START_TEST (test_serialised_columns)
{
  GstMetaDeserializeFunction deserialize = gst_ccl_meta_get_info ()->deserialize_func;
  /* 8×6 pixels, 1 component in 1 row of 40 bytes at byte 28. From byte 68: 2 columns with keys of 5
   * bytes, then 2 numbers. */
  guint8 data[97] = {8, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, 1};
  static const struct {
    guint byte;
    guint8 value;
    gboolean fine;
  } cases[] = {{0, 8, TRUE}, {68, 1, FALSE}, {68, 3, FALSE}, {71, 255, FALSE}, {72, 4, FALSE},
      {72, 6, FALSE}, {75, 255, FALSE}, {76, 255, FALSE} /* no UTF-8 */,
      {80, 'c', FALSE} /* no end */, {77, 'c', FALSE} /* one key */, {96, 0x3f, TRUE}};

  for (guint with_contours = 0; with_contours < 2; with_contours++) {
    GstBuffer *buffer = gst_buffer_new (), *other = gst_buffer_new ();
    GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 5, three, 3, NULL, 0);
    GstCclContours *contours = new_ring (GST_CCL_CONTOUR_KIND_CRACKS), *found_contours;
    GstCclColumns *columns = new_two_columns (), *found;
    GstCclLabeller *labeller = gst_ccl_labeller_new ("abc", NULL);
    GByteArray *bytes = g_byte_array_new ();
    guint32 consumed;

    gst_ccl_meta_set_labeller (meta, labeller);
    gst_ccl_labeller_unref (labeller);
    gst_ccl_meta_set_columns (meta, columns);
    gst_ccl_columns_unref (columns);
    if (with_contours)
      gst_ccl_meta_set_contours (meta, contours);
    gst_ccl_contours_unref (contours);
    fail_unless (gst_meta_serialize_simple ((GstMeta *)meta, bytes));
    meta = (GstCclMeta *)gst_meta_deserialize (other, bytes->data, bytes->len, &consumed);
    fail_unless (meta != NULL);
    fail_unless (has_rows (meta, three, 3));
    found = gst_ccl_meta_get_columns (meta);
    assert_two_columns (found);
    gst_ccl_columns_unref (found);
    found_contours = gst_ccl_meta_get_contours (meta);
    fail_unless ((found_contours != NULL) == with_contours);
    if (found_contours) {
      fail_unless (!memcmp (gst_ccl_contours_get_contour (found_contours, 0), ring, sizeof ring));
      gst_ccl_contours_unref (found_contours);
    }
    g_byte_array_unref (bytes);
    gst_buffer_unref (buffer);
    gst_buffer_unref (other);
  }

  data[68] = 2;
  data[72] = 5;
  memcpy (data + 76, "a\0bc", 5);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *made = gst_buffer_new ();
    guint8 *copy = g_memdup2 (data, sizeof data);

    copy[cases[i].byte] = cases[i].value;
    fail_unless_equals_int (
        deserialize (gst_ccl_meta_get_info (), made, copy, sizeof data, 6) != NULL, cases[i].fine);
    fail_unless (deserialize (gst_ccl_meta_get_info (), made, copy, sizeof data - 1, 6) == NULL);
    fail_unless (deserialize (gst_ccl_meta_get_info (), made, copy, 75, 6) == NULL);
    fail_unless (deserialize (gst_ccl_meta_get_info (), made, copy, 68, 6) == NULL);
    fail_unless (deserialize (gst_ccl_meta_get_info (), made, copy, sizeof data, 7) == NULL);
    g_free (copy);
    gst_buffer_unref (made);
  }
}
GST_END_TEST

/* Data from another source: every invalid form is refused, and no byte beyond its end is read. */
GST_START_TEST (test_broken_serialisations)
{
  GstMetaDeserializeFunction deserialize = gst_ccl_meta_get_info ()->deserialize_func;
  /* 8×6 pixels, 2 components, 1 row, 1 track, 1 identity, a name of 1 byte. The row begins at byte
   * 28, the track at 68, the identity at 140, the name at 148. */
  guint8 data[149] = {8, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const struct {
    gsize size;
    guint8 version;
    guint byte;
    guint8 value;
    gboolean fine;
  } cases[] = {
      {149, 4, 0, 8, TRUE}, {149, 3, 0, 8, FALSE}, {149, 5, 0, 8, FALSE}, {148, 4, 0, 8, FALSE},
      {28, 4, 0, 8, FALSE}, {27, 4, 0, 8, FALSE}, {0, 4, 0, 8, FALSE},
      {149, 4, 0, 0, FALSE},                              /* no width */
      {149, 4, 4, 0, FALSE},                              /* no height */
      {149, 4, 8, 0, FALSE},                              /* fewer components than rows */
      {149, 4, 12, 2, FALSE},                             /* more rows than there are */
      {149, 4, 15, 255, FALSE}, {149, 4, 16, 2, FALSE},   /* more tracks than rows */
      {149, 4, 16, 0, FALSE},                             /* a track too many */
      {149, 4, 20, 2, FALSE},                             /* more identities than there are */
      {149, 4, 24, 2, FALSE},                             /* a longer name than there is */
      {149, 4, 27, 255, FALSE}, {149, 4, 96, 4, TRUE},    /* state lost */
      {149, 4, 96, 5, FALSE}, {149, 4, 96, 0, FALSE},     /* no such state */
      {149, 4, 104, 1, TRUE},                             /* the identity */
      {149, 4, 104, 2, FALSE},                            /* identities beyond the end */
      {149, 4, 100, 2, FALSE}, {149, 4, 148, 255, FALSE}, /* a name that is not UTF-8 */
      {149, 4, 115, 127, FALSE},                          /* an infinite position */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *buffer = gst_buffer_new ();
    guint8 *copy = g_memdup2 (data, sizeof data);

    copy[sizeof data - 1] = 'c';
    copy[96] = GST_CCL_TRACK_STATE_CONFIRMED;
    copy[114] = 0xf0; /* the position: almost 0 */
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

/* A copy outlives the buffer and shares its contents. */
GST_START_TEST (test_copies_outlive_the_buffer)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 32 * 6, NULL);
  GstCclMeta *copy, *copy_of_copy;

  fail_unless (gst_buffer_dup_ccl_meta (buffer) == NULL);
  gst_buffer_add_ccl_meta (buffer, 8, 6, 30, three, 3, labels, 32);
  copy = gst_buffer_dup_ccl_meta (buffer);
  fail_unless (copy != gst_buffer_get_ccl_meta (buffer));
  gst_buffer_unref (buffer);
  copy_of_copy = gst_ccl_meta_copy (copy);
  gst_ccl_meta_free (copy);
  fail_unless (has_rows (copy_of_copy, three, 3));
  fail_unless_equals_int (gst_ccl_meta_get_n_components (copy_of_copy), 30);
  fail_unless (gst_ccl_meta_get_labels (copy_of_copy, NULL) == labels);
  ASSERT_MINI_OBJECT_REFCOUNT (labels, "labels", 2);
  gst_ccl_meta_free (copy_of_copy);
  ASSERT_MINI_OBJECT_REFCOUNT (labels, "labels", 1);
  gst_buffer_unref (labels);
}
GST_END_TEST

static void
assert_name (GstCclMeta *meta, const char *name)
{
  GstCclLabeller *labeller = gst_ccl_meta_get_labeller (meta);

  fail_unless_equals_string (labeller ? gst_ccl_labeller_get_name (labeller) : NULL, name);
  g_clear_pointer (&labeller, gst_ccl_labeller_unref);
}

/* Metadata of several labellers: told apart by name, the last one is the default. */
GST_START_TEST (test_labellers)
{
  GstStructure *settings = gst_structure_new (
      "ccl", "threshold", G_TYPE_UINT, 7, "connectivity", G_TYPE_STRING, "8", NULL);
  GstCclLabeller *coarse = gst_ccl_labeller_new ("coarse", settings);
  GstCclLabeller *fine = gst_ccl_labeller_new ("fine", NULL);
  GstBuffer *buffer = gst_buffer_new (), *copy;
  GstStructure *found;
  GstCclMeta *meta;

  meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 1, three, 1, NULL, 0);
  gst_ccl_meta_set_labeller (meta, coarse);
  meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 3, NULL, 0);
  gst_ccl_meta_set_labeller (meta, fine);
  gst_ccl_labeller_unref (fine);
  copy = gst_buffer_copy (buffer);
  gst_buffer_unref (buffer);

  assert_name (gst_buffer_get_ccl_meta (copy), "fine");
  assert_name (gst_buffer_get_ccl_meta_by_name (copy, NULL), "fine");
  assert_name (gst_buffer_get_ccl_meta_by_name (copy, "fine"), "fine");
  meta = gst_buffer_get_ccl_meta_by_name (copy, "coarse");
  assert_name (meta, "coarse");
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), 1);
  fail_unless (gst_buffer_get_ccl_meta_by_name (copy, "other") == NULL);
  fail_unless (gst_buffer_dup_ccl_meta_by_name (copy, "other") == NULL);
  meta = gst_buffer_dup_ccl_meta_by_name (copy, "coarse");
  gst_buffer_unref (copy);
  assert_name (meta, "coarse");
  gst_ccl_meta_free (meta);

  found = gst_ccl_labeller_get_settings (coarse);
  fail_unless (found != settings && gst_structure_is_equal (found, settings));
  gst_structure_free (found);
  gst_structure_free (settings);
  gst_ccl_labeller_unref (coarse);
}
GST_END_TEST

GST_START_TEST (test_components_are_found_by_label)
{
  const GstCclComponent cropped[] = {{2, 1, 7, 2, 1, 1, 7, 2}, {9, 6, 3, 3, 3, 2, 4, 3.5}};
  GstBuffer *buffer = gst_buffer_new ();
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 3, NULL, 0);

  for (guint i = 0; i < 3; i++)
    fail_unless (gst_ccl_meta_find_component (meta, i + 1) == gst_ccl_meta_get_component (meta, i));
  fail_unless (gst_ccl_meta_find_component (meta, 0) == NULL);
  fail_unless (gst_ccl_meta_find_component (meta, 4) == NULL);
  gst_ccl_meta_set_table (meta, 2, cropped, 2, NULL, NULL, 0);
  fail_unless_equals_int (gst_ccl_meta_find_component (meta, 9)->area, 6);
  fail_unless_equals_int (gst_ccl_meta_find_component (meta, 2)->area, 1);
  fail_unless (gst_ccl_meta_find_component (meta, 1) == NULL);
  gst_buffer_unref (buffer);
}
GST_END_TEST

GST_START_TEST (test_identities_of_tracks)
{
  const guint64 ids[] = {5, 6, 7};
  GstCclTrackInfo tracks[3] = {
      {.n_ids = 1},
      {.n_ids = 0},
      {.first_id = 1, .n_ids = 2, .velocity_x = 3, .velocity_y = -1},
  };
  GstBuffer *buffer = gst_buffer_new (), *dest;
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 3, NULL, 0);
  const guint64 *found;
  guint n;

  fail_unless (gst_ccl_meta_get_ids (meta, 0, &n) == NULL);
  fail_unless_equals_int (n, 0);
  fail_unless (gst_ccl_meta_get_track (meta, 0) == NULL);
  gst_ccl_meta_set_table (meta, 3, three, 3, tracks, ids, 3);
  tracks[2].n_ids = 3;
  ASSERT_CRITICAL (gst_ccl_meta_set_table (meta, 3, three, 3, tracks, ids, 3));

  dest = scaled (buffer, 8, 6, 16, 24);
  gst_buffer_unref (buffer);
  meta = gst_buffer_get_ccl_meta (dest);
  found = gst_ccl_meta_get_ids (meta, 0, &n);
  fail_unless (n == 1 && found[0] == 5);
  fail_unless (gst_ccl_meta_get_ids (meta, 1, &n) == NULL && n == 0);
  found = gst_ccl_meta_get_ids (meta, 2, &n);
  fail_unless (n == 2 && found[0] == 6 && found[1] == 7);
  fail_unless (gst_ccl_meta_get_ids (meta, 3, &n) == NULL && n == 0);
  fail_unless_equals_float (gst_ccl_meta_get_track (meta, 2)->velocity_x, 6);
  fail_unless_equals_float (gst_ccl_meta_get_track (meta, 2)->velocity_y, -4);
  gst_buffer_unref (dest);
}
GST_END_TEST

/* Rows with a stride, and the same packed. */
GST_START_TEST (test_maps_are_read_as_rows)
{
  enum { WIDTH = 5, HEIGHT = 3, LABELS_STRIDE = 28, MASK_STRIDE = 9 };
  /* The last rows are not padded. */
  gsize labels_size = LABELS_STRIDE * (HEIGHT - 1) + 4 * WIDTH;
  gsize mask_size = MASK_STRIDE * (HEIGHT - 1) + WIDTH;
  GstBuffer *labels = gst_buffer_new_allocate (NULL, labels_size, NULL);
  GstBuffer *mask = gst_buffer_new_allocate (NULL, mask_size, NULL);
  GstBuffer *buffer = gst_buffer_new ();
  const guint32 *packed_labels;
  const guint8 *packed_mask;
  GstCclPixels pixels;
  GBytes *bytes;
  GstCclMeta *meta;

  gst_buffer_memset (labels, 0, 0xff, (gsize)-1);
  gst_buffer_memset (mask, 0, 0x77, (gsize)-1);
  for (guint y = 0; y < HEIGHT; y++) {
    for (guint x = 0; x < WIDTH; x++) {
      guint32 label = 10 * y + x;
      gst_buffer_fill (labels, y * LABELS_STRIDE + 4 * x, &label, 4);
      gst_buffer_memset (mask, y * MASK_STRIDE + x, label % 3 ? 255 : 0, 1);
    }
  }
  meta = gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 0, NULL, 0, labels, LABELS_STRIDE);
  fail_if (gst_ccl_meta_map_mask (meta, &pixels));
  fail_unless (gst_ccl_meta_read_mask (meta) == NULL);
  gst_ccl_meta_set_mask (meta, mask, MASK_STRIDE);

  fail_unless (gst_ccl_meta_map_labels (meta, &pixels));
  fail_unless (pixels.width == WIDTH && pixels.height == HEIGHT);
  fail_unless (pixels.pixel_size == 4 && pixels.stride == LABELS_STRIDE);
  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++)
      fail_unless_equals_int (((const guint32 *)GST_CCL_PIXELS_ROW (&pixels, y))[x], 10 * y + x);
  gst_ccl_pixels_unmap (&pixels);

  bytes = gst_ccl_meta_read_labels (meta);
  fail_unless_equals_int (g_bytes_get_size (bytes), 4 * WIDTH * HEIGHT);
  packed_labels = g_bytes_get_data (bytes, NULL);
  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    fail_unless_equals_int (packed_labels[i], i / WIDTH * 10 + i % WIDTH);
  g_bytes_unref (bytes);

  /* It stays mapped after the frame was freed. */
  fail_unless (gst_ccl_meta_map_mask (meta, &pixels));
  bytes = gst_ccl_meta_read_mask (meta);
  gst_buffer_unref (buffer);
  gst_buffer_unref (mask);
  fail_unless_equals_int (g_bytes_get_size (bytes), WIDTH * HEIGHT);
  packed_mask = g_bytes_get_data (bytes, NULL);
  fail_unless (pixels.pixel_size == 1 && pixels.stride == MASK_STRIDE);
  for (guint i = 0; i < WIDTH * HEIGHT; i++) {
    guint8 expected = (i / WIDTH * 10 + i % WIDTH) % 3 ? 255 : 0;
    const guint8 *row = GST_CCL_PIXELS_ROW (&pixels, i / WIDTH);
    fail_unless_equals_int (packed_mask[i], expected);
    fail_unless_equals_int (row[i % WIDTH], expected);
  }
  gst_ccl_pixels_unmap (&pixels);
  g_bytes_unref (bytes);
  gst_buffer_unref (labels);
}
GST_END_TEST

GST_START_TEST (test_maps_that_are_too_small)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 32 * 6 - 1, NULL);
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 0, NULL, 0, labels, 32);
  GstCclPixels pixels;

  fail_if (gst_ccl_meta_map_labels (meta, &pixels));
  fail_unless (gst_ccl_meta_read_labels (meta) == NULL);
  gst_buffer_unref (labels);
  gst_buffer_unref (buffer);
}
GST_END_TEST

/* Copies of the rows, which outlive the metadata. */
GST_START_TEST (test_list_of_components)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 3, NULL, 0);
  GList *list = gst_ccl_meta_get_components (meta);
  guint i = 0;

  gst_buffer_unref (buffer);
  for (GList *item = list; item; item = item->next, i++)
    fail_unless (memcmp (item->data, &three[i], sizeof three[i]) == 0);
  fail_unless_equals_int (i, 3);
  g_list_free_full (list, (GDestroyNotify)gst_ccl_component_free);
}
GST_END_TEST

#if GST_CHECK_VERSION(1, 28, 0)
/* A region of interest beside the metadata: the matrix transforms both in the same way. */
static GstBuffer *
transformed (const GstVideoMetaTransformMatrix *transform)
{
  GstBuffer *buffer = gst_buffer_new (), *dest = gst_buffer_new ();
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 32 * 6, NULL);
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 30, three, 3, labels, 32);
  GstCclColumns *columns = new_two_columns ();
  GstCclRegionState *state = new_region_state ();

  gst_ccl_meta_set_columns (meta, columns);
  gst_ccl_columns_unref (columns);
  gst_ccl_meta_set_region_state (meta, state);
  gst_ccl_region_state_unref (state);
  gst_buffer_unref (labels);
  fail_unless (gst_ccl_meta_get_info ()->transform_func (dest, (GstMeta *)meta, buffer,
      gst_video_meta_transform_matrix_get_quark (), (gpointer)transform));
  gst_buffer_unref (buffer);
  return dest;
}

static void
init_matrix (GstVideoMetaTransformMatrix *transform, GstVideoInfo infos[2], GstVideoRectangle from,
    GstVideoRectangle to, guint width, guint height)
{
  gst_video_info_set_format (&infos[0], GST_VIDEO_FORMAT_GRAY8, 8, 6);
  gst_video_info_set_format (&infos[1], GST_VIDEO_FORMAT_GRAY8, width, height);
  gst_video_meta_transform_matrix_init (transform, &infos[0], &from, &infos[1], &to);
}

static void
assert_row (GstBuffer *buffer, guint row, guint label, Expected expected)
{
  const GstCclComponent *c = gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (buffer), row);

  fail_unless (c != NULL);
  fail_unless_equals_int (c->label, label);
  fail_unless_equals_int (c->area, expected.area);
  fail_unless_equals_int (c->x, expected.x);
  fail_unless_equals_int (c->y, expected.y);
  fail_unless_equals_int (c->width, expected.width);
  fail_unless_equals_int (c->height, expected.height);
  fail_unless (ABS (c->centroid_x - expected.cx) < 1e-4);
  fail_unless (ABS (c->centroid_y - expected.cy) < 1e-4);
}

/* Crops to the columns from 4 and the rows from 2: one component outside, one cut, one whole. */
GST_START_TEST (test_matrix_crops)
{
  GstVideoMetaTransformMatrix transform;
  GstVideoInfo infos[2];
  GstCclMeta *meta;
  GstCclColumns *columns;
  GstCclRegionState *state;
  GstBuffer *dest;
  guint n;

  init_matrix (
      &transform, infos, (GstVideoRectangle){4, 2, 4, 4}, (GstVideoRectangle){0, 0, 4, 4}, 4, 4);
  dest = transformed (&transform);
  meta = gst_buffer_get_ccl_meta (dest);
  fail_unless_equals_int (gst_ccl_meta_get_n_rows (meta), 2);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), 29);
  fail_unless (gst_ccl_meta_is_truncated (meta));
  fail_unless_equals_int (gst_ccl_meta_get_frame_width (meta), 4);
  fail_unless_equals_int (gst_ccl_meta_get_frame_height (meta), 4);
  fail_unless (gst_ccl_meta_get_labels (meta, NULL) == NULL);
  columns = gst_ccl_meta_get_columns (meta);
  fail_unless_equals_float (gst_ccl_columns_get_values (columns, 0, &n)[1], 3);
  fail_unless_equals_int (n, 2);
  gst_ccl_columns_unref (columns);
  state = gst_ccl_meta_get_region_state (meta);
  fail_unless_equals_int (gst_ccl_region_state_get_crossing (state, 1, 1), -1);
  fail_unless_equals_int (gst_ccl_region_state_get_n_rows (state), 2);
  gst_ccl_region_state_unref (state);
  assert_row (dest, 0, 2, (Expected){1, 3, 0, 1, 1, 3, 0});
  assert_row (dest, 1, 3, (Expected){6, 0, 1, 2, 2, 0, 1.5});
  gst_buffer_unref (dest);
}
GST_END_TEST

/* Offset 8 reflects the pixels' edges, offset 7 the pixels' positions. */
GST_START_TEST (test_matrix_flips)
{
  GstVideoMetaTransformMatrix transform;
  GstVideoInfo infos[2];
  GstBuffer *dest;

  init_matrix (
      &transform, infos, (GstVideoRectangle){0, 0, 8, 6}, (GstVideoRectangle){0, 0, 8, 6}, 8, 6);
  transform.matrix[0][0] = -1;
  transform.matrix[0][2] = 8 - __i__;
  dest = transformed (&transform);
  assert_row (dest, 0, 1, (Expected){4, 6, 0, 2, 2, 6.5, 0.5});
  assert_row (dest, 1, 2, (Expected){1, 0, 2, 1, 1, 0, 2});
  assert_row (dest, 2, 3, (Expected){6, 2, 3, 3, 2, 3, 3.5});
  gst_buffer_unref (dest);
}
GST_END_TEST

/* A quarter turn clockwise: (x, y) becomes (6 − y, x). */
GST_START_TEST (test_matrix_turns)
{
  GstVideoMetaTransformMatrix transform;
  GstVideoInfo infos[2];
  GstBuffer *dest;

  init_matrix (
      &transform, infos, (GstVideoRectangle){0, 0, 8, 6}, (GstVideoRectangle){0, 0, 6, 8}, 6, 8);
  transform.matrix[0][0] = transform.matrix[1][1] = 0;
  transform.matrix[0][1] = -1;
  transform.matrix[0][2] = 6;
  transform.matrix[1][0] = 1;
  dest = transformed (&transform);
  fail_unless_equals_int (gst_ccl_meta_get_frame_width (gst_buffer_get_ccl_meta (dest)), 6);
  assert_row (dest, 0, 1, (Expected){4, 4, 0, 2, 2, 4.5, 0.5});
  assert_row (dest, 1, 2, (Expected){1, 3, 7, 1, 1, 3, 7});
  assert_row (dest, 2, 3, (Expected){6, 1, 3, 2, 3, 1.5, 4});
  gst_buffer_unref (dest);
}
GST_END_TEST

/* Twice as large, between bars. */
GST_START_TEST (test_matrix_places_on_a_larger_frame)
{
  GstVideoMetaTransformMatrix transform;
  GstVideoInfo infos[2];
  GstBuffer *dest;

  init_matrix (&transform, infos, (GstVideoRectangle){0, 0, 8, 6},
      (GstVideoRectangle){10, 0, 16, 12}, 36, 12);
  dest = transformed (&transform);
  fail_unless_equals_int (gst_ccl_meta_get_frame_width (gst_buffer_get_ccl_meta (dest)), 36);
  assert_row (dest, 0, 1, (Expected){4, 10, 0, 4, 4, 11.5, 1.5});
  assert_row (dest, 1, 2, (Expected){1, 24, 4, 2, 2, 24.5, 4.5});
  assert_row (dest, 2, 3, (Expected){6, 16, 6, 6, 4, 18.5, 7.5});
  gst_buffer_unref (dest);
}
GST_END_TEST

GST_START_TEST (test_matrix_without_effect_keeps_everything)
{
  GstVideoMetaTransformMatrix transform;
  GstVideoInfo infos[2];
  GstCclMeta *meta;
  GstBuffer *dest;

  init_matrix (
      &transform, infos, (GstVideoRectangle){0, 0, 8, 6}, (GstVideoRectangle){0, 0, 8, 6}, 8, 6);
  dest = transformed (&transform);
  meta = gst_buffer_get_ccl_meta (dest);
  fail_unless (has_rows (meta, three, 3));
  fail_unless (gst_ccl_meta_get_labels (meta, NULL) != NULL);
  gst_buffer_unref (dest);
}
GST_END_TEST

GST_START_TEST (test_matrix_of_another_angle_is_refused)
{
  GstVideoMetaTransformMatrix transform;
  GstBuffer *buffer = gst_buffer_new (), *dest = gst_buffer_new ();
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 8, 6, 3, three, 3, NULL, 0);
  GstVideoInfo infos[2];

  init_matrix (
      &transform, infos, (GstVideoRectangle){0, 0, 8, 6}, (GstVideoRectangle){0, 0, 8, 6}, 8, 6);
  transform.matrix[0][1] = 0.5;
  fail_if (gst_ccl_meta_get_info ()->transform_func (
      dest, (GstMeta *)meta, buffer, gst_video_meta_transform_matrix_get_quark (), &transform));
  fail_unless (gst_buffer_get_ccl_meta (dest) == NULL);
  gst_buffer_unref (dest);
  gst_buffer_unref (buffer);
}
GST_END_TEST
#endif

static void
add_reference_timestamp (GstBuffer *buffer, const char *caps_name, GstClockTime time)
{
  GstCaps *caps = gst_caps_new_empty_simple (caps_name);

  gst_buffer_add_reference_timestamp_meta (buffer, caps, time, GST_CLOCK_TIME_NONE);
  gst_caps_unref (caps);
}

/* 31 January 2026, 23:59:59.12 in Unix time; NTP's time begins 2,208,988,800 s earlier. */
GST_START_TEST (test_time_of_day)
{
  const gint64 utc = G_GINT64_CONSTANT (1769903999120000), before = g_get_real_time ();
  const GstClockTime arrival = g_get_monotonic_time () * GST_USECOND;
  GstBuffer *buffer = gst_buffer_new (), *copy;
  gboolean from_sender = TRUE;
  gchar *text = gst_ccl_utc_format (utc);

  fail_unless_equals_string (text, "2026-01-31T23:59:59.120000Z");
  g_free (text);

  fail_if (GST_CLOCK_TIME_IS_VALID (gst_ccl_utc_get_arrival (buffer)));
  fail_unless (gst_ccl_utc_of_buffer (buffer, &from_sender) >= before);
  fail_if (from_sender);

  gst_ccl_utc_mark_arrival (buffer);
  copy = gst_buffer_copy (buffer);
  fail_unless (gst_ccl_utc_get_arrival (copy) >= arrival);
  g_usleep (2000);
  fail_unless (gst_ccl_utc_of_buffer (copy, &from_sender) < g_get_real_time () - 1000);
  fail_if (from_sender);
  gst_buffer_unref (copy);

  add_reference_timestamp (buffer, "timestamp/x-unix", utc * GST_USECOND);
  fail_unless (gst_ccl_utc_of_buffer (buffer, &from_sender) == utc);
  fail_unless (from_sender);
  add_reference_timestamp (
      buffer, "timestamp/x-ntp", utc * GST_USECOND + 2208988800 * GST_SECOND + GST_SECOND);
  fail_unless (gst_ccl_utc_of_buffer (buffer, NULL) == utc + G_USEC_PER_SEC);
  gst_buffer_unref (buffer);
}
GST_END_TEST

GST_START_TEST (test_times_before_1970)
{
  const struct {
    gint64 utc;
    const gchar *text;
  } times[] = {
      {-1000, "1969-12-31T23:59:59.999000Z"},
      {-1500000, "1969-12-31T23:59:58.500000Z"},
      {-G_USEC_PER_SEC, "1969-12-31T23:59:59.000000Z"},
      {G_GINT64_CONSTANT (-2208988800) * G_USEC_PER_SEC + 1, "1900-01-01T00:00:00.000001Z"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    g_autofree gchar *text = gst_ccl_utc_format (times[i].utc);

    fail_unless_equals_string (text, times[i].text);
  }
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
  tcase_add_test (tcase, test_contours);
  tcase_add_test (tcase, test_contours_are_scaled);
  tcase_add_test (tcase, test_unsound_contours);
  tcase_add_test (tcase, test_columns);
  tcase_add_test (tcase, test_columns_of_other_rows);
  tcase_add_test (tcase, test_region_state);
  tcase_add_test (tcase, test_classes);
  tcase_add_test (tcase, test_select_rows);
  tcase_add_test (tcase, test_relabel);
  tcase_add_test (tcase, test_set_tracks);
  tcase_add_test (tcase, test_replace);
  tcase_add_test (tcase, test_unknown_transforms_are_refused);
  tcase_add_test (tcase, test_component_is_a_boxed_type);
  tcase_add_test (tcase, test_copies_outlive_the_buffer);
  tcase_add_test (tcase, test_labellers);
  tcase_add_test (tcase, test_components_are_found_by_label);
  tcase_add_test (tcase, test_identities_of_tracks);
  tcase_add_test (tcase, test_maps_are_read_as_rows);
  tcase_add_test (tcase, test_maps_that_are_too_small);
  tcase_add_test (tcase, test_list_of_components);
  tcase_add_test (tcase, test_time_of_day);
  tcase_add_test (tcase, test_times_before_1970);
#if GST_CHECK_VERSION(1, 28, 0)
  tcase_add_test (tcase, test_matrix_crops);
  tcase_add_loop_test (tcase, test_matrix_flips, 0, 2);
  tcase_add_test (tcase, test_matrix_turns);
  tcase_add_test (tcase, test_matrix_places_on_a_larger_frame);
  tcase_add_test (tcase, test_matrix_without_effect_keeps_everything);
  tcase_add_test (tcase, test_matrix_of_another_angle_is_refused);
#endif
#if GST_CHECK_VERSION(1, 24, 0)
  tcase_add_test (tcase, test_serialisation);
  tcase_add_test (tcase, test_serialised_contours);
  tcase_add_test (tcase, test_serialised_columns);
  tcase_add_test (tcase, test_serialised_regions);
  tcase_add_test (tcase, test_serialised_classes);
  tcase_add_test (tcase, test_broken_serialisations);
#endif
  return suite;
}

GST_CHECK_MAIN (metadata);
