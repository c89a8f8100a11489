/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The columns that attach-columns measures, on `ccl` and `cudaccl`, compared with sums over the
 * attached label map and the pixels of the frame. */
#include "tests/check/shared/component-data.h"
#include "tests/check/shared/elements.h"
#include "tests/check/shared/leaks.h"

#include <cudaccl/columns.h>
#include <math.h>
#include <string.h>

/* Columns of CclShape; those that have a name of 0.3, too; 2 sums and 6 such columns of luma. */
#define COUNT(column, field) +1
#define COUNT_LUMA(column, field) +(CUDACCL_COLUMN_##column == CUDACCL_COLUMN_INTENSITY)
enum {
  N_LUMA = 2 + 6 CUDACCL_SHAPES (COUNT_LUMA),
  N_SHAPES = 0 CUDACCL_SHAPES (COUNT),
  N_FORMER = 11
};

#define ALL "moments+perimeter+topology+luma+color"

/* Bytes at random, in blocks of 3×3 samples, so that there are components with holes. */
static GstBuffer *
new_frame (const GstVideoInfo *info, guint seed)
{
  GRand *random = g_rand_new_with_seed (seed);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8)g_rand_int_range (random, 0, 256);
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES (info); plane++) {
    const gsize stride = (gsize)GST_VIDEO_INFO_PLANE_STRIDE (info, plane);
    guint8 *pixels = map.data + GST_VIDEO_INFO_PLANE_OFFSET (info, plane);
    const gsize end = plane + 1 < GST_VIDEO_INFO_N_PLANES (info)
                          ? GST_VIDEO_INFO_PLANE_OFFSET (info, plane + 1)
                          : map.size;
    for (gsize i = 0; i < end - GST_VIDEO_INFO_PLANE_OFFSET (info, plane); i++)
      if (i % stride % 9 > 2 || i / stride % 3 > 0)
        pixels[i] =
            pixels[i] % 8 + (pixels[i / stride / 3 * 3 * stride + i % stride / 6 * 6] & 0xf8);
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = seed * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  g_rand_free (random);
  return buffer;
}

/* A sample of a component of the format that covers a pixel. */
static guint
sample_at (const GstVideoFrame *frame, guint component, guint x, guint y)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  const guint8 *sample = component_data (frame, component) +
                         (y >> GST_VIDEO_FORMAT_INFO_H_SUB (format, component)) *
                             GST_VIDEO_FRAME_COMP_STRIDE (frame, component) +
                         (x >> GST_VIDEO_FORMAT_INFO_W_SUB (format, component)) *
                             GST_VIDEO_FRAME_COMP_PSTRIDE (frame, component);

  /* Byte by byte: a plane may begin at an odd address. */
  return format->bits > 8 ? sample[0] | sample[1] << 8 : sample[0];
}

typedef struct {
  const guint32 *labels;
  gsize stride; /* pixels */
  gint width, height;
  guint32 label;
} Part;

static gboolean
has_pixel (const Part *part, gint x, gint y)
{
  return x >= 0 && y >= 0 && x < part->width && y < part->height &&
         part->labels[(gsize)y * part->stride + (gsize)x] == part->label;
}

/* Whether a pixel of the component has a neighbour by an edge outside of it. */
static gboolean
has_border (const Part *part, gint x, gint y)
{
  return has_pixel (part, x, y) && !(has_pixel (part, x - 1, y) && has_pixel (part, x + 1, y) &&
                                       has_pixel (part, x, y - 1) && has_pixel (part, x, y + 1));
}

/* scikit-image's perimeter: border pixels by the numbers of those beside and diagonal to them. */
static gdouble
find_perimeter (const Part *part)
{
  gdouble perimeter = 0;

  for (gint y = 0; y < part->height; y++) {
    for (gint x = 0; x < part->width; x++) {
      const gint beside = has_border (part, x - 1, y) + has_border (part, x + 1, y) +
                          has_border (part, x, y - 1) + has_border (part, x, y + 1);
      const gint diagonal = has_border (part, x - 1, y - 1) + has_border (part, x + 1, y - 1) +
                            has_border (part, x - 1, y + 1) + has_border (part, x + 1, y + 1);
      const gint sum = 1 + 2 * beside + 10 * diagonal;

      if (!has_border (part, x, y))
        continue;
      if (sum == 5 || sum == 7 || sum == 15 || sum == 17 || sum == 25 || sum == 27)
        perimeter += 1;
      else if (sum == 21 || sum == 33)
        perimeter += sqrt (2);
      else if (sum == 13 || sum == 23)
        perimeter += (1 + sqrt (2)) / 2;
    }
  }
  return perimeter;
}

/* Corners minus edges plus faces: of the graph of neighbours by edges, with its squares, and of the
 * union of the closed pixels. */
static void
find_topology (const Part *part, gint *cracks, gint *euler_4, gint *euler_8)
{
  *cracks = *euler_4 = *euler_8 = 0;
  for (gint y = 0; y <= part->height; y++) {
    for (gint x = 0; x <= part->width; x++) {
      const gboolean here = has_pixel (part, x, y), left = has_pixel (part, x - 1, y);
      const gboolean above = has_pixel (part, x, y - 1);
      const gboolean corner = has_pixel (part, x - 1, y - 1);

      *cracks += (here != left) + (here != above);
      *euler_4 += here - (here && left) - (here && above) + (here && left && above && corner);
      *euler_8 += (here || left || above || corner) - (here || left) - (here || above) + here;
    }
  }
}

typedef struct {
  gdouble n, x, y, value, squares, value_x, value_y, least, greatest, u, v;
} Sums;

static Sums
add_up (const GstVideoFrame *frame, const Part *part)
{
  const gboolean has_chroma = GST_VIDEO_FRAME_N_COMPONENTS (frame) > 1;
  Sums sums = {.least = G_MAXDOUBLE};

  for (gint y = 0; y < part->height; y++) {
    for (gint x = 0; x < part->width; x++) {
      const gdouble value = sample_at (frame, 0, (guint)x, (guint)y);

      if (!has_pixel (part, x, y))
        continue;
      sums.n++;
      sums.x += x;
      sums.y += y;
      sums.value += value;
      sums.squares += value * value;
      sums.value_x += value * x;
      sums.value_y += value * y;
      sums.least = MIN (sums.least, value);
      sums.greatest = MAX (sums.greatest, value);
      sums.u += has_chroma ? sample_at (frame, 1, (guint)x, (guint)y) : 0;
      sums.v += has_chroma ? sample_at (frame, 2, (guint)x, (guint)y) : 0;
    }
  }
  return sums;
}

/* Means of squared distances from the means, in a pass of its own. */
static void
find_moments (const GstVideoFrame *frame, const Part *part, const Sums *sums, gdouble moments[4])
{
  memset (moments, 0, 4 * sizeof *moments);
  for (gint y = 0; y < part->height; y++) {
    for (gint x = 0; x < part->width; x++) {
      const gdouble dx = x - sums->x / sums->n, dy = y - sums->y / sums->n;
      const gdouble dv = sample_at (frame, 0, (guint)x, (guint)y) - sums->value / sums->n;

      if (!has_pixel (part, x, y))
        continue;
      moments[0] += dx * dx / sums->n;
      moments[1] += dy * dy / sums->n;
      moments[2] += dx * dy / sums->n;
      moments[3] += dv * dv / sums->n;
    }
  }
}

/* Fails unless the column has the value in that row. Removes the key from the ones to be checked.
 */
static void
assert_value (GstCclColumns *columns, guint row, const char *key, gdouble expected)
{
  const gint index = gst_ccl_columns_find (columns, key);
  const gdouble *values;
  guint n_rows;

  fail_unless (index >= 0, "no column %s", key);
  fail_unless_equals_string (gst_ccl_columns_get_key (columns, (guint)index), key);
  values = gst_ccl_columns_get_values (columns, (guint)index, &n_rows);
  fail_unless (row < n_rows);
  fail_unless (isnan (expected) ? isnan (values[row])
                                : fabs (values[row] - expected) <= 1e-9 * (1 + fabs (expected)),
      "%s of row %u is %.17g, not %.17g", key, row, values[row], expected);
}

static void
assert_shape (GstCclColumns *columns, guint row, const gdouble moments[4], const Part *part)
{
  const gdouble half = (moments[0] + moments[1]) / 2;
  const gdouble root = hypot ((moments[0] - moments[1]) / 2, moments[2]);
  gint cracks, euler_4, euler_8;

  find_topology (part, &cracks, &euler_4, &euler_8);
  assert_value (columns, row, "variance_x", moments[0]);
  assert_value (columns, row, "variance_y", moments[1]);
  assert_value (columns, row, "covariance_xy", moments[2]);
  assert_value (columns, row, "covariance", moments[2]); /* the name of 0.3 */
  assert_value (columns, row, "eigenvalue_0", half + root);
  assert_value (columns, row, "axis_major_length", 4 * sqrt (half + root));
  assert_value (columns, row, "perimeter", find_perimeter (part));
  assert_value (columns, row, "crack_length", cracks);
  assert_value (columns, row, "euler_number_4", euler_4);
  assert_value (columns, row, "euler_number_8", euler_8);
}

static void
assert_values (GstCclColumns *columns, guint row, const GstVideoFrame *frame, const Part *part)
{
  const Sums sums = add_up (frame, part);
  gdouble moments[4];

  find_moments (frame, part, &sums, moments);
  assert_shape (columns, row, moments, part);
  assert_value (columns, row, "sum_value", sums.value);
  assert_value (columns, row, "sum_squares", sums.squares);
  assert_value (columns, row, "intensity_min", sums.least);
  assert_value (columns, row, "intensity_max", sums.greatest);
  assert_value (columns, row, "intensity_mean", sums.value / sums.n);
  assert_value (columns, row, "intensity_std", sqrt (moments[3]));
  assert_value (
      columns, row, "centroid_weighted_x", sums.value > 0 ? sums.value_x / sums.value : NAN);
  assert_value (
      columns, row, "centroid_weighted_y", sums.value > 0 ? sums.value_y / sums.value : NAN);
  assert_value (columns, row, "weighted_centroid_y", /* the name of 0.3 */
      sums.value > 0 ? sums.value_y / sums.value : NAN);
  assert_value (columns, row, "mean_y", sums.value / sums.n);
  if (GST_VIDEO_FRAME_N_COMPONENTS (frame) > 1) {
    assert_value (columns, row, "mean_u", sums.u / sums.n);
    assert_value (columns, row, "mean_v", sums.v / sums.n);
  } else {
    fail_unless_equals_int (gst_ccl_columns_find (columns, "mean_u"), -1);
  }
}

static GstCclColumns *
columns_of (GstBuffer *buffer)
{
  return gst_ccl_meta_get_columns (gst_buffer_get_ccl_meta (buffer));
}

/* Fails unless all columns of a labelled frame are right. Returns the number of its rows. */
static guint
assert_columns (GstBuffer *buffer, GstVideoInfo *info)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  GstCclColumns *columns = columns_of (buffer);
  const guint n_rows = gst_ccl_meta_get_n_rows (meta);
  GstCclPixels labels;
  GstVideoFrame frame;

  fail_unless (columns != NULL, "no columns");
  fail_unless_equals_int (gst_ccl_columns_get_n_rows (columns), n_rows);
  fail_unless_equals_int (gst_ccl_columns_get_n_columns (columns),
      2 + N_SHAPES + N_FORMER + (GST_VIDEO_INFO_N_COMPONENTS (info) > 1 ? 3 : 1));
  fail_unless (gst_ccl_meta_map_labels (meta, &labels));
  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  for (guint row = 0; row < n_rows; row++) {
    const Part part = {GST_CCL_PIXELS_ROW (&labels, 0), labels.stride / 4,
        GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
        gst_ccl_meta_get_component (meta, row)->label};
    assert_values (columns, row, &frame, &part);
  }
  gst_video_frame_unmap (&frame);
  gst_ccl_pixels_unmap (&labels);
  gst_ccl_columns_unref (columns);
  return n_rows;
}

/* Fails unless each column of the first frame is one of the second, bit for bit. */
static void
assert_part_of (GstBuffer *buffer, GstBuffer *whole)
{
  GstCclColumns *columns = columns_of (buffer), *all = columns_of (whole);

  for (guint i = 0; i < gst_ccl_columns_get_n_columns (columns); i++) {
    const char *key = gst_ccl_columns_get_key (columns, i);
    const gint index = gst_ccl_columns_find (all, key);
    guint n_rows, n_all;
    const gdouble *values = gst_ccl_columns_get_values (columns, i, &n_rows);
    const gdouble *of_all = gst_ccl_columns_get_values (all, (guint)index, &n_all);

    fail_unless_equals_int (n_rows, n_all);
    fail_unless (n_rows == 0 || !memcmp (values, of_all, n_rows * sizeof *values), "%s", key);
  }
  gst_ccl_columns_unref (columns);
  gst_ccl_columns_unref (all);
}

/* An element for frames of that format, with these properties. */
static GstHarness *
new_line (const char *format, guint width, guint height, const char *properties, GstVideoInfo *info)
{
  gchar *line = g_strdup_printf ("%s %s", element_name (), properties);
  GstHarness *h = gst_harness_new_parse (line);
  GstCaps *caps = frame_caps (format, width, height);

  fail_unless (gst_video_info_from_caps (info, caps));
  gst_harness_set_src_caps (h, caps);
  g_free (line);
  return h;
}

static const char *const formats[] = {"GRAY8", "NV12", "NV21", "I420", "Y42B", "Y41B", "Y444",
    "YUY2", "VYUY", "GRAY16_LE", "P010_10LE"};

TEST (test_values)
{
  static const guint sizes[][2] = {{1, 1}, {37, 23}, {24, 16}};

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
      GstVideoInfo info;
      GstHarness *h = new_line (formats[i], sizes[k][0], sizes[k][1],
          k == 1 ? "threshold=190 connectivity=4 attach-labels=true attach-columns=" ALL
                 : "threshold=180 attach-labels=true attach-columns=" ALL,
          &info);

      for (guint seed = 0; seed < 2; seed++) {
        GstBuffer *out = label (h, new_frame (&info, 2 * i + seed));
        const guint n_rows = assert_columns (out, &info);

        fail_unless (k == 0 || info.finfo->bits > 8 || n_rows > 1, "%s: %u", formats[i], n_rows);
        gst_buffer_unref (out);
      }
      gst_harness_teardown (h);
    }
  }
}
GST_END_TEST

/* The labeller reads a mask, and the luma is the frame's. A background model that works at a
 * reduced size does not make the columns less exact, with and without a label map. */
TEST (test_values_with_masks)
{
  static const char *const some[] = {"NV12", "GRAY16_LE", "UYVY", "GRAY8"};
  static const char *const properties[] = {
      "threshold=128 denoise=median-3x3", "foreground=otsu", "foreground=codebook reduction=2"};

  for (guint i = 0; i < G_N_ELEMENTS (properties) * G_N_ELEMENTS (some); i++) {
    const gboolean is_model = i % 3 == 2;
    gchar *line = g_strconcat (properties[i % 3], " min-area=3 attach-columns=" ALL, NULL);
    gchar *line_with_labels = g_strconcat (line, " attach-labels=true", NULL);
    GstVideoInfo info;
    GstHarness *h = new_line (some[i / 3], 52, 32, line_with_labels, &info);
    GstHarness *without_labels = new_line (some[i / 3], 52, 32, line, &info);
    guint n_rows = 0;

    for (guint number = 0; number < (is_model ? 30 : 2); number++) {
      GstBuffer *frame = new_frame (&info, !is_model || number >= 25 ? number + 1 : 0);
      GstBuffer *out = label (h, gst_buffer_copy (frame)), *other = label (without_labels, frame);

      n_rows += assert_columns (out, &info);
      assert_part_of (other, out);
      gst_buffer_unref (out);
      gst_buffer_unref (other);
    }
    fail_unless (n_rows > 0, "%s, %s", some[i / 3], properties[i % 3]);
    g_free (line);
    g_free (line_with_labels);
    gst_harness_teardown (h);
    gst_harness_teardown (without_labels);
  }
}
GST_END_TEST

/* Of a frame with a stride and planes of its own. */
TEST (test_layout_of_video_meta)
{
  GstVideoInfo info;
  GstHarness *h =
      new_line ("NV12", 10, 6, "threshold=200 attach-labels=true attach-columns=" ALL, &info);
  gsize offsets[GST_VIDEO_MAX_PLANES] = {7, 7 + 6 * 13};
  gint strides[GST_VIDEO_MAX_PLANES] = {13, 11};
  GstVideoInfo large;
  GstBuffer *frame, *out;

  gst_video_info_set_format (&large, GST_VIDEO_FORMAT_GRAY8, 40, 3);
  frame = new_frame (&large, 1);
  gst_buffer_add_video_meta_full (
      frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 10, 6, 2, offsets, strides);
  out = label (h, frame);
  fail_unless (assert_columns (out, &info) > 1);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Each setting has its own columns, from the next frame on; without one there are none. */
TEST (test_columns_while_playing)
{
  static const struct {
    const char *columns;
    guint n;
    const char *first;
  } cases[] = {{"0", 0, NULL}, {"luma", N_LUMA, "sum_value"}, {"moments", 9 + 5, "variance_x"},
      {"0", 0, NULL}, {"color", 3, "mean_y"}, {"perimeter", 1, "perimeter"},
      {"topology", 3, "crack_length"}, {"luma+perimeter", N_LUMA + 1, "sum_value"}, {"0", 0, NULL}};
  GstVideoInfo info;
  GstHarness *h = new_line ("I420", 37, 23, "threshold=190", &info);
  GstHarness *all =
      new_line ("I420", 37, 23, "threshold=190 attach-labels=true attach-columns=" ALL, &info);
  GstElement *element = gst_harness_find_element (h, element_name ());

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstCclColumns *columns;
    GstBuffer *out, *whole;

    gst_util_set_object_arg (G_OBJECT (element), "attach-columns", cases[i].columns);
    out = label (h, new_frame (&info, i));
    columns = columns_of (out);
    fail_unless ((columns != NULL) == (cases[i].n > 0));
    fail_unless (gst_ccl_meta_get_labels (gst_buffer_get_ccl_meta (out), NULL) == NULL);
    if (columns) {
      fail_unless_equals_int (gst_ccl_columns_get_n_columns (columns), cases[i].n);
      fail_unless_equals_string (gst_ccl_columns_get_key (columns, 0), cases[i].first);
      gst_ccl_columns_unref (columns);
      whole = label (all, new_frame (&info, i));
      fail_unless (assert_columns (whole, &info) > 1);
      assert_part_of (out, whole);
      gst_buffer_unref (whole);
    }
    gst_buffer_unref (out);
  }
  gst_object_unref (element);
  gst_harness_teardown (h);
  gst_harness_teardown (all);
}
GST_END_TEST

/* The label map has more labels than the table has rows, and a frame may have no component. */
TEST (test_truncated_and_empty_tables)
{
  for (guint i = 0; i < 2; i++) {
    GstVideoInfo info;
    GstHarness *h = new_line (i == 0 ? "NV12" : "YUY2", 37, 23,
        "threshold=190 max-components=3 attach-labels=true attach-columns=" ALL, &info);
    GstBuffer *out = label (h, new_frame (&info, 1)), *black = new_frame (&info, 1);

    fail_unless (gst_ccl_meta_is_truncated (gst_buffer_get_ccl_meta (out)));
    fail_unless_equals_int (assert_columns (out, &info), 3);
    gst_buffer_unref (out);
    gst_buffer_memset (black, 0, 0, (gsize)-1);
    out = label (h, black);
    fail_unless_equals_int (assert_columns (out, &info), 0);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* Rows of tracks have the columns of their components; a lost track has none. */
TEST (test_columns_of_tracks)
{
  static const char two[] = "........\n.88.....\n.88.##..\n....##..\n........\n";
  static const char one[] = "........\n........\n....##..\n....##..\n........\n";
  gchar *line =
      g_strdup_printf ("%s attach-columns=luma ! ccltrack least-way=0 confirm-frames=1 lost=true "
                       "use-mask=false",
          element_name ());
  GstHarness *h = gst_harness_new_parse (line);
  GstBuffer *out = NULL;

  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 5));
  for (guint i = 0; i < 6; i++) {
    GstBuffer *frame = gray8_frame (i < 5 ? two : one);
    GstCclMeta *meta;
    GstCclColumns *columns;

    GST_BUFFER_PTS (frame) = i * 40 * GST_MSECOND;
    out = label (h, frame);
    meta = gst_buffer_get_ccl_meta (out);
    columns = columns_of (out);
    for (guint row = 0; row < gst_ccl_meta_get_n_rows (meta); row++)
      assert_value (columns, row, "intensity_mean",
          gst_ccl_meta_get_component (meta, row)->x > 2 ? 255
          : i < 5                                       ? 200
                                                        : NAN);
    if (i >= 4)
      fail_unless_equals_int (gst_ccl_meta_get_n_rows (meta), 2);
    gst_ccl_columns_unref (columns);
    gst_buffer_unref (out);
  }
  g_free (line);
  gst_harness_teardown (h);
}
GST_END_TEST

/* They are in the GstCclMeta, and are not measured without it. */
TEST (test_other_metadata)
{
  GstVideoInfo info;
  GstHarness *h = new_line ("NV12", 37, 23, "threshold=128 meta=roi attach-columns=" ALL, &info);
  GstBuffer *out = label (h, new_frame (&info, 1));

  fail_unless (gst_buffer_get_ccl_meta (out) == NULL);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* An error that names the frames; without columns they are labelled. */
TEST (test_frames_that_are_too_wide)
{
  GstVideoInfo info;
  GstHarness *h = new_line ("GRAY8", 65537, 1, "attach-columns=moments", &info);
  GstElement *element = gst_harness_find_element (h, element_name ());
  GstBus *bus = gst_bus_new ();
  GstBuffer *frame = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);

  gst_buffer_memset (frame, 0, 255, (gsize)-1);
  gst_element_set_bus (h->element, bus);
  fail_unless_equals_int (gst_harness_push (h, gst_buffer_ref (frame)), GST_FLOW_ERROR);
  assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "Frames of 65537×1 pixels are too large for columns");
  gst_util_set_object_arg (G_OBJECT (element), "attach-columns", "0");
  frame = label (h, frame);
  assert_count (frame, 1);
  gst_buffer_unref (frame);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  gst_harness_teardown (h);
}
GST_END_TEST

static Suite *
columns_suite (void)
{
  Suite *suite = suite_create ("columns");
  TCase *tcase = tcase_create (element_name ());

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_values);
  tcase_add_test (tcase, test_values_with_masks);
  tcase_add_test (tcase, test_layout_of_video_meta);
  tcase_add_test (tcase, test_columns_while_playing);
  tcase_add_test (tcase, test_truncated_and_empty_tables);
  tcase_add_test (tcase, test_columns_of_tracks);
  tcase_add_test (tcase, test_other_metadata);
  tcase_add_test (tcase, test_frames_that_are_too_wide);
  return suite;
}

GST_CHECK_MAIN (columns);
