/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames.h"

guint
drawing_width (Drawing drawing)
{
  return (guint)(strchr (drawing, '\n') - drawing);
}

guint
drawing_height (Drawing drawing)
{
  guint height = 0;

  for (const char *c = drawing; *c; c++)
    height += *c == '\n';
  return height;
}

/* Draws samples of that many bytes, which are that many bytes apart. */
static void
draw_samples (Drawing drawing, guint8 *pixels, gsize stride, gsize size, gsize distance)
{
  guint width = drawing_width (drawing), height = drawing_height (drawing);

  for (guint y = 0; y < height; y++) {
    for (guint x = 0; x < width; x++) {
      char c = drawing[y * (width + 1) + x];
      const guint8 value = c == '#' ? 255 : c == '.' ? 0 : (guint8)(25 * (c - '0'));
      memset (pixels + y * stride + x * distance, value, size);
    }
  }
}

void
draw (Drawing drawing, guint8 *pixels, gsize stride)
{
  draw_samples (drawing, pixels, stride, 1, 1);
}

GstCaps *
frame_caps (const char *format, guint width, guint height)
{
  return gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, format, "width", G_TYPE_INT,
      (gint)width, "height", G_TYPE_INT, (gint)height, "framerate", GST_TYPE_FRACTION, 25, 1, NULL);
}

GstBuffer *
luma_frame (const char *format, Drawing drawing)
{
  GstCaps *caps = frame_caps (format, drawing_width (drawing), drawing_height (drawing));
  GstVideoInfo info;
  GstBuffer *buffer;
  GstMapInfo map;

  fail_unless (gst_video_info_from_caps (&info, caps));
  gst_caps_unref (caps);
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  gst_buffer_memset (buffer, 0, 255, (gsize)-1);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
  draw_samples (drawing, map.data + GST_VIDEO_INFO_COMP_OFFSET (&info, 0),
      (gsize)GST_VIDEO_INFO_COMP_STRIDE (&info, 0), info.finfo->bits > 8 ? 2 : 1,
      (gsize)GST_VIDEO_INFO_COMP_PSTRIDE (&info, 0));
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 0;
  GST_BUFFER_DURATION (buffer) = GST_SECOND / 25;
  return buffer;
}

GstBuffer *
gray8_frame (Drawing drawing)
{
  return luma_frame ("GRAY8", drawing);
}

void
assert_components_of (GstBuffer *buffer, guint n_components, const Expected *expected, guint n_rows)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);

  fail_unless (meta != NULL, "no GstCclMeta");
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), n_components);
  fail_unless_equals_int (gst_ccl_meta_is_truncated (meta), n_rows < n_components);
  fail_unless_equals_int (gst_ccl_meta_get_n_rows (meta), n_rows);
  for (guint i = 0; i < n_rows; i++) {
    const GstCclComponent *component = gst_ccl_meta_get_component (meta, i);
    fail_unless_equals_int (component->label, i + 1);
    fail_unless_equals_int (component->area, expected[i].area);
    fail_unless_equals_int (component->x, expected[i].x);
    fail_unless_equals_int (component->y, expected[i].y);
    fail_unless_equals_int (component->width, expected[i].width);
    fail_unless_equals_int (component->height, expected[i].height);
    fail_unless_equals_float (component->centroid_x, expected[i].cx);
    fail_unless_equals_float (component->centroid_y, expected[i].cy);
  }
}

void
assert_labels (GstBuffer *buffer, const guint32 *expected, guint width, guint height)
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

void
assert_count (GstBuffer *buffer, guint n_components)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);

  fail_unless (meta != NULL, "no GstCclMeta");
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), n_components);
}

void
assert_error (GstBus *bus, GQuark domain, gint code, const char *part)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error;

  fail_unless (message != NULL, "no error was posted");
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, domain, code), "unexpected error %s %d: %s",
      g_quark_to_string (error->domain), error->code, error->message);
  if (part)
    fail_unless (strstr (error->message, part) != NULL, "'%s' is not in: %s", part, error->message);
  g_error_free (error);
  gst_message_unref (message);
}

void
assert_warning (GstBus *bus, GQuark domain, gint code, const char *part)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  GError *warning = NULL;

  if (message)
    gst_message_parse_warning (message, &warning, NULL);
  if (part) {
    fail_unless (warning != NULL, "no warning was posted");
    fail_unless (g_error_matches (warning, domain, code), "unexpected warning %s %d: %s",
        g_quark_to_string (warning->domain), warning->code, warning->message);
    fail_unless (
        strstr (warning->message, part) != NULL, "'%s' is not in: %s", part, warning->message);
  } else {
    fail_unless (warning == NULL, "unexpected warning: %s", warning ? warning->message : "");
  }
  g_clear_error (&warning);
  gst_clear_message (&message);
}

GstCclContours *
new_contours (GstCclContourKind kind, const GstCclContour *rows, guint n_contours,
    const gfloat *points, guint n_points)
{
  const gsize rows_size = n_contours * sizeof *rows, points_size = n_points * 2 * sizeof *points;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, rows_size + points_size, NULL);

  gst_buffer_fill (buffer, 0, rows, rows_size);
  gst_buffer_fill (buffer, rows_size, points, points_size);
  return gst_ccl_contours_new (buffer, kind, n_contours, n_points);
}

void
assert_same_contours (GstBuffer *expected, GstBuffer *found, const char *what)
{
  GstCclContours *a = gst_ccl_meta_get_contours (gst_buffer_get_ccl_meta (expected));
  GstCclContours *b = gst_ccl_meta_get_contours (gst_buffer_get_ccl_meta (found));
  guint n;

  fail_unless (a && b, "%s: no contours", what);
  n = gst_ccl_contours_get_n_contours (a);
  fail_unless (gst_ccl_contours_get_kind (a) == gst_ccl_contours_get_kind (b));
  fail_unless (gst_ccl_contours_get_n_contours (b) == n, "%s: %u contours instead of %u", what,
      gst_ccl_contours_get_n_contours (b), n);
  for (guint i = 0; i < n; i++) {
    guint n_points[2];
    const gfloat *points[2] = {gst_ccl_contours_get_points (a, i, &n_points[0]),
        gst_ccl_contours_get_points (b, i, &n_points[1])};

    fail_unless (memcmp (gst_ccl_contours_get_contour (a, i), gst_ccl_contours_get_contour (b, i),
                     sizeof (GstCclContour)) == 0,
        "%s: contour %u", what, i);
    fail_unless (n_points[0] == n_points[1] &&
                     memcmp (points[0], points[1], n_points[0] * sizeof *points[0]) == 0,
        "%s: points of contour %u", what, i);
  }
  gst_ccl_contours_unref (a);
  gst_ccl_contours_unref (b);
}
