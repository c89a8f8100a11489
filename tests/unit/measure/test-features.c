/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The columns of components on the CPU: every algorithm against the reference, label maps of other
 * origin, values that are derived, all masks of 4×4 pixels, and arguments. */
#include "research/cpu/research.h"
#include "tests/unit/label/feature-checks.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* Instructions and threads that the columns of runs are measured with; others than those of the
 * processor's choice. */
static const struct Way {
  const char *name;
  CclCpuTuning tuning;
  uint32_t n_threads;
} ways[] = {
    {"cpu-portable", {.instructions = "portable"}, 1},
    {"cpu-avx2", {.instructions = "avx2"}, 1},
    {"cpu-avx512", {.instructions = "avx512"}, 1},
    {"cpu-neon", {.instructions = "neon"}, 1},
    {"cpu-3-threads", {.pixels_per_thread = 1000}, 3},
};

/* data: the way, or NULL for that of the library's choice. */
static CclLabeller *
labeller_new (void *data, const CclLabellerPlan *plan, CclError *error)
{
  const struct Way *way = data;
  CclLabellerPlan own_plan = *plan;

  if (!way)
    return ccl_research_cpu_labeller_new (plan, NULL, error);
  own_plan.n_threads = way->n_threads;
  return ccl_research_cpu_labeller_new (&own_plan, &way->tuning, error);
}

static void
skip_way (gconstpointer data)
{
  const struct Way *way = data;
  g_test_skip_printf ("this processor has no %s", way->tuning.instructions);
}

/* Checks the columns of runs with each way that this processor offers. */
static void
register_ways (void)
{
  static const char *const algorithms[] = {"runs", NULL};
  static LabellerBackend backends[G_N_ELEMENTS (ways)];

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    const CclLabellerPlan plan = {.width = 1, .height = 1, .connectivity = 8, .max_components = 1};
    void *way = (void *)&ways[i];
    CclLabeller *labeller = labeller_new (way, &plan, NULL);
    if (!labeller) {
      g_autofree char *path = g_strdup_printf ("/%s/columns", ways[i].name);
      g_test_add_data_func (path, way, skip_way);
      continue;
    }
    ccl_labeller_free (&labeller);
    backends[i] = (LabellerBackend){
        .name = ways[i].name, .algorithms = algorithms, .labeller_new = labeller_new, .data = way};
    feature_checks_register (&backends[i]);
  }
}

enum { SIDE = 4, PADDED = SIDE + 2 };

/* Fills a connected part of a mask of 6×6 pixels. diagonals: whether pixels touch at corners. */
static void
fill (uint8_t *mask, int x, int y, uint8_t from, uint8_t to, bool diagonals)
{
  if (x < 0 || y < 0 || x >= PADDED || y >= PADDED || mask[y * PADDED + x] != from)
    return;
  mask[y * PADDED + x] = to;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (diagonals || !dx || !dy)
        fill (mask, x + dx, y + dy, from, to, diagonals);
}

static int
count_parts (const uint8_t *mask, uint8_t value, bool diagonals)
{
  uint8_t rest[PADDED * PADDED];
  int n = 0;

  memcpy (rest, mask, sizeof rest);
  for (int i = 0; i < PADDED * PADDED; i++)
    if (rest[i] == value) {
      fill (rest, i % PADDED, i / PADDED, value, 2, diagonals);
      n++;
    }
  return n;
}

/* The edges between pixels of the mask and others. */
static int
count_edges (const uint8_t *mask)
{
  int n = 0;
  for (int y = 0; y < PADDED; y++)
    for (int x = 0; x < PADDED; x++) {
      n += x > 0 && mask[y * PADDED + x] != mask[y * PADDED + x - 1];
      n += y > 0 && mask[y * PADDED + x] != mask[(y - 1) * PADDED + x];
    }
  return n;
}

/* Euler numbers and crack length of each mask as one label, by counting parts, holes and edges. */
static void
test_all_masks_of_16_pixels (void)
{
  for (uint32_t bits = 1; bits < 1u << SIDE * SIDE; bits++) {
    uint32_t map[SIDE * SIDE];
    uint8_t mask[PADDED * PADDED] = {0};
    for (int i = 0; i < SIDE * SIDE; i++) {
      map[i] = bits >> i & 1;
      mask[(i / SIDE + 1) * PADDED + i % SIDE + 1] = (uint8_t)map[i];
    }
    const CclLabels labels = {map, SIDE * sizeof *map};
    const uint32_t columns = CUDACCL_COLUMN_TOPOLOGY | CUDACCL_COLUMN_PERIMETER;
    CclComponent row;
    CclFeatures features, expected;
    CclShape shape;
    CclError error = {CUDACCL_OK};
    g_assert_cmpint (
        ccl_measure_labels (&labels, SIDE, SIDE, NULL, columns, 1, &row, &features, &error), ==, 0);
    reference_features (map, SIDE, SIDE, NULL, 1, &expected);
    assert_same_features (&features, &expected, 1, columns);
    ccl_features_derive (&row, &features, columns, &shape);
    g_assert_cmpfloat (
        shape.euler_number_4, ==, count_parts (mask, 1, false) - (count_parts (mask, 0, true) - 1));
    g_assert_cmpfloat (
        shape.euler_number_8, ==, count_parts (mask, 1, true) - (count_parts (mask, 0, false) - 1));
    g_assert_cmpfloat (shape.crack_length, ==, count_edges (mask));
    g_assert_true (isnan (shape.intensity_mean) && isnan (shape.axis_major_length));
  }
}

static void
assert_near (double value, long double expected, double scale)
{
  g_assert_cmpfloat (fabs (value - (double)expected), <=, 0x1p-50 * scale);
}

/* An upright rectangle in the far corner of the largest frame: closed forms that squares of its
 * coordinates in double precision would miss. */
static void
test_moments_far_from_the_origin (void)
{
  enum { WIDTH = 65536, HEIGHT = 40, W = 300, H = 7 };
  g_autofree uint32_t *map = g_new0 (uint32_t, (size_t)WIDTH * HEIGHT);
  const CclLabels labels = {map, WIDTH * sizeof *map};
  CclComponent row;
  CclFeatures features;
  CclShape shape;
  CclError error = {CUDACCL_OK};

  for (int y = HEIGHT - H; y < HEIGHT; y++)
    for (int x = WIDTH - W; x < WIDTH; x++)
      map[(size_t)y * WIDTH + x] = 1;
  g_assert_cmpint (ccl_measure_labels (&labels, WIDTH, HEIGHT, NULL, CUDACCL_COLUMN_MOMENTS, 1,
                       &row, &features, &error),
      ==, CUDACCL_OK);
  g_assert_cmpuint (row.area, ==, W * H);
  g_assert_cmpuint (row.x, ==, WIDTH - W);
  g_assert_cmpuint (row.y, ==, HEIGHT - H);
  g_assert_cmpuint (row.width, ==, W);
  g_assert_cmpuint (row.height, ==, H);
  g_assert_cmpfloat (row.centroid_x, ==, WIDTH - W / 2 - 0.5);
  ccl_features_derive (&row, &features, CUDACCL_COLUMN_MOMENTS, &shape);
  assert_near (shape.variance_x, ((long double)W * W - 1) / 12, 2 * W * W);
  assert_near (shape.variance_y, ((long double)H * H - 1) / 12, 2 * H * H);
  g_assert_cmpfloat (shape.covariance_xy, ==, 0);
  assert_near (shape.axis_major_length, 4 * sqrtl (((long double)W * W - 1) / 12), 4 * W);
  g_assert_cmpfloat (fabs (shape.orientation), ==, G_PI_2);
}

/* The bounds of all sums: a full frame of the most pixels with the greatest values. */
static void
test_sums_of_the_largest_frame_fit (void)
{
  const uint64_t side = CUDACCL_MAX_FEATURE_SIDE, pixels = CUDACCL_MAX_PIXELS, value = UINT16_MAX;
  uint64_t sum;
  g_assert_false (__builtin_mul_overflow (pixels * (side - 1), side - 1, &sum));
  g_assert_false (__builtin_mul_overflow (pixels * value, value, &sum));
  g_assert_false (__builtin_mul_overflow (pixels * value, side - 1, &sum));
  g_assert_cmpuint ((side + 1) * (pixels / side + 2), <, UINT32_MAX);
}

/* Labels that are in several parts, absent or beyond n. */
static void
test_label_maps_of_other_origin (void)
{
  const uint32_t map[3][6] = {{3, 0, 7, 3, 3, 0}, {0, 0, 7, 7, 0, 1}, {3, 0, 5, 0, 9, 1}};
  const CclLabels labels = {(void *)map, sizeof map[0]};
  const uint8_t values[3][6] = {{5, 6, 7, 8, 9, 1}, {0}, {2}};
  const CclIntensity intensity = {values, 6, CUDACCL_PIXEL_FORMAT_8};
  CclComponent rows[5];
  CclFeatures features[5], expected[4], untouched;
  CclError error = {CUDACCL_OK};

  memset (rows, 0xa5, sizeof rows);
  memset (features, 0xa5, sizeof features);
  memset (&untouched, 0xa5, sizeof untouched);

  g_assert_cmpint (ccl_measure_labels (
                       &labels, 6, 3, &intensity, CUDACCL_ALL_COLUMNS, 4, rows, features, &error),
      ==, CUDACCL_OK);
  reference_features (&map[0][0], 6, 3, &intensity, 4, expected);
  assert_same_features (features, expected, 4, CUDACCL_ALL_COLUMNS);
  g_assert_cmpuint (rows[0].area, ==, 2);
  g_assert_cmpuint (rows[1].label + rows[1].area + rows[1].width, ==, 0);
  g_assert_cmpuint (rows[2].area, ==, 4);
  g_assert_cmpuint (rows[2].x, ==, 0);
  g_assert_cmpuint (rows[2].width, ==, 5);
  g_assert_cmpuint (rows[2].height, ==, 3);
  g_assert_cmpfloat (rows[2].centroid_x, ==, 7 / 4.);
  g_assert_cmpuint (features[2].sum_value, ==, 5 + 8 + 9 + 2);
  g_assert_cmpmem (&features[4], sizeof untouched, &untouched, sizeof untouched);
  g_assert_cmpmem (&rows[4], sizeof rows[4], &untouched, sizeof rows[4]);
}

/* Each channel of an interleaved picture has the features that it has as a plane of its own. */
static void
test_channels (void)
{
  enum { WIDTH = 37, HEIGHT = 19, N = 5, MOST = 4 };
  uint32_t map[HEIGHT][WIDTH];
  uint8_t interleaved[1 + HEIGHT * (WIDTH * MOST * 2 + 3)], plane[HEIGHT * WIDTH * 2];
  const CclLabels labels = {map, sizeof map[0]};
  CclFeatures features[MOST * N + 1], expected[N], untouched;

  for (int i = 0; i < HEIGHT * WIDTH; i++)
    map[i / WIDTH][i % WIDTH] = (uint32_t)g_random_int_range (0, N + 2);
  for (gsize i = 0; i < sizeof interleaved; i++)
    interleaved[i] = (uint8_t)g_random_int_range (0, 256);
  memset (&untouched, 0xa5, sizeof untouched);
  for (uint32_t k = 1; k <= 2 * MOST; k++) {
    const uint32_t n_channels = (k + 1) / 2, bytes = 1 + k % 2;
    const CclPixelFormat format = bytes == 1 ? CUDACCL_PIXEL_FORMAT_8 : CUDACCL_PIXEL_FORMAT_16;
    const size_t stride = WIDTH * n_channels * bytes + 3;
    const CclIntensity intensity = {interleaved + 1, stride, format};
    memset (features, 0xa5, sizeof features);
    g_assert_cmpint (
        ccl_measure_channels (&labels, WIDTH, HEIGHT, &intensity, n_channels, N, features, NULL),
        ==, CUDACCL_OK);
    for (uint32_t c = 0; c < n_channels; c++) {
      const CclIntensity alone = {plane, WIDTH * bytes, format};
      for (uint32_t i = 0; i < HEIGHT * WIDTH; i++)
        memcpy (plane + i * bytes,
            interleaved + 1 + i / WIDTH * stride + (i % WIDTH * n_channels + c) * bytes, bytes);
      reference_features (&map[0][0], WIDTH, HEIGHT, &alone, N, expected);
      assert_same_features (features + c * N, expected, N, CUDACCL_COLUMN_INTENSITY);
    }
    g_assert_cmpmem (&features[n_channels * N], sizeof untouched, &untouched, sizeof untouched);
  }
}

static void
test_channels_that_are_refused (void)
{
  const uint32_t pixel = 1;
  const CclLabels labels = {(void *)&pixel, 4};
  const CclIntensity three = {&pixel, 3, CUDACCL_PIXEL_FORMAT_8};
  const uint32_t most = CUDACCL_MAX_CHANNELS;
  CclFeatures features[4];

  g_assert_cmpint (ccl_measure_channels (&labels, 1, 1, &three, 3, 1, features, NULL), ==, 0);
  g_assert_cmpint (ccl_measure_channels (&labels, 1, 1, &three, 3, 0, features, NULL), ==, 0);
  g_assert_cmpint (ccl_measure_channels (&labels, 1, 1, &three, 4, 1, features, NULL), ==, 1);
  g_assert_cmpint (ccl_measure_channels (&labels, 1, 1, &three, 0, 1, features, NULL), ==, 1);
  g_assert_cmpint (
      ccl_measure_channels (&labels, 1, 1, &three, most + 1, 1, features, NULL), ==, 1);
  g_assert_cmpint (ccl_measure_channels (&labels, 1, 1, &three, 3, 1, NULL, NULL), ==, 1);
  g_assert_cmpint (ccl_measure_channels (&labels, 1, 1, NULL, 3, 1, features, NULL), ==, 1);
  g_assert_cmpint (ccl_measure_channels (NULL, 1, 1, &three, 3, 1, features, NULL), ==, 1);
}

static void
test_arguments (void)
{
  const uint32_t pixel = 1;
  const CclLabels labels = {(void *)&pixel, 4};
  CclLabellerPlan plan = CUDACCL_LABELLER_PLAN_DEFAULT;
  const CclFrame frame = {.data = &pixel, .stride = 4};
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclComponent row;
  CclFeatures features;
  CclTable table;

  g_assert_cmpint (ccl_measure_labels (NULL, 1, 1, NULL, 0, 1, &row, NULL, NULL), ==, 1);
  g_assert_cmpint (ccl_measure_labels (&labels, 0, 1, NULL, 0, 1, &row, NULL, NULL), ==, 1);
  g_assert_cmpint (ccl_measure_labels (&labels, 2, 1, NULL, 0, 1, &row, NULL, NULL), ==, 1);
  g_assert_cmpint (ccl_measure_labels (&labels, 1, 1, NULL, 32, 1, &row, &features, NULL), ==, 1);
  g_assert_cmpint (ccl_measure_labels (&labels, 1, 1, NULL, 16, 1, &row, &features, NULL), ==, 1);
  g_assert_cmpint (ccl_measure_labels (&labels, 1, 1, NULL, 1, 1, &row, NULL, NULL), ==, 1);
  g_assert_cmpint (ccl_measure_labels (&labels, 1, 1, NULL, 0, 1, &row, NULL, NULL), ==, 0);
  g_assert_cmpuint (row.area, ==, 1);
  plan.width = plan.height = 1;
  plan.columns = CUDACCL_ALL_COLUMNS + 1;
  g_assert_null (ccl_cpu_labeller_new (&plan, NULL));
  plan.columns = CUDACCL_COLUMN_INTENSITY;
  CclLabeller *labeller = ccl_cpu_labeller_new (&plan, NULL);
  g_assert_cmpint (ccl_labeller_run (labeller, &frame, &options, NULL, &table, NULL), ==, 1);
  g_assert_cmpint (ccl_labeller_resize (labeller, CUDACCL_MAX_FEATURE_SIDE + 1, 1, NULL), ==, 1);
  ccl_labeller_free (&labeller);
  plan.width = CUDACCL_MAX_FEATURE_SIDE + 1;
  g_assert_null (ccl_cpu_labeller_new (&plan, NULL));
  plan.columns = 0;
  labeller = ccl_cpu_labeller_new (&plan, NULL);
  g_assert_nonnull (labeller);
  ccl_labeller_free (&labeller);
}

int
main (int argc, char **argv)
{
  static LabellerBackend backend = {
      .name = "cpu", .offers = ccl_research_cpu_offers, .labeller_new = labeller_new};

  g_test_init (&argc, &argv, NULL);
  backend.algorithms = ccl_research_cpu_algorithms ();
  feature_checks_register (&backend);
  register_ways ();
  g_test_add_func ("/features/all-masks-of-16-pixels", test_all_masks_of_16_pixels);
  g_test_add_func ("/features/moments-far-from-the-origin", test_moments_far_from_the_origin);
  g_test_add_func ("/features/sums-of-the-largest-frame-fit", test_sums_of_the_largest_frame_fit);
  g_test_add_func ("/features/label-maps-of-other-origin", test_label_maps_of_other_origin);
  g_test_add_func ("/features/channels", test_channels);
  g_test_add_func ("/features/channels-that-are-refused", test_channels_that_are_refused);
  g_test_add_func ("/features/arguments", test_arguments);
  return g_test_run ();
}
