/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/label/feature-checks.h"

#include "tests/unit/guarded-memory.h"
#include "tests/unit/label/masks.h"
#include "tests/unit/label/reference.h"

#include <glib.h>
#include <string.h>

/* The label of a pixel, 0 outside the map. */
static uint32_t
label_at (const uint32_t *labels, int64_t width, int64_t height, int64_t x, int64_t y)
{
  return x < 0 || y < 0 || x >= width || y >= height ? 0 : labels[y * width + x];
}

static void
add_pixel (CclFeatures *f, uint64_t x, uint64_t y, const CclIntensity *intensity)
{
  f->sum_x += x;
  f->sum_y += y;
  f->sum_xx += x * x;
  f->sum_yy += y * y;
  f->sum_xy += x * y;
  if (!intensity)
    return;
  const uint8_t *row = (const uint8_t *)intensity->data + y * intensity->stride;
  const uint64_t v = intensity->format == CUDACCL_PIXEL_FORMAT_8
                         ? row[x]
                         : (uint64_t)(row[2 * x] | row[2 * x + 1] << 8);
  f->sum_value += v;
  f->sum_squares += v * v;
  f->sum_value_x += v * x;
  f->sum_value_y += v * y;
  if (!f->intensity_max_place || v > f->intensity_max) /* pixels come in raster order */
    f->intensity_max_place = v << 48 | (0xffffffffffff - (y << 16 | x));
  f->intensity_min = (uint32_t)MIN (f->intensity_min, v);
  f->intensity_max = (uint32_t)MAX (f->intensity_max, v);
}

/* Counts a square for each label in it. */
static void
add_square (CclFeatures *features, uint32_t n, const uint32_t labels[4])
{
  for (int i = 0; i < 4; i++) {
    int n_equal = 0;
    bool is_first = true;
    for (int k = 0; k < 4; k++) {
      n_equal += labels[k] == labels[i];
      is_first &= k >= i || labels[k] != labels[i];
    }
    if (!labels[i] || labels[i] > n || !is_first)
      continue;
    CclFeatures *f = &features[labels[i] - 1];
    const bool is_diagonal = n_equal == 2 && labels[3 - i] == labels[i];
    f->n_quads_1 += n_equal == 1;
    f->n_quads_2 += n_equal == 2 && !is_diagonal;
    f->n_quads_3 += n_equal == 3;
    f->n_quads_diagonal += is_diagonal;
  }
}

/* The label of a border pixel, 0 for others. */
static uint32_t
border_at (const uint32_t *labels, int64_t width, int64_t height, int64_t x, int64_t y)
{
  const uint32_t label = label_at (labels, width, height, x, y);
  const bool is_inside = label_at (labels, width, height, x - 1, y) == label &&
                         label_at (labels, width, height, x + 1, y) == label &&
                         label_at (labels, width, height, x, y - 1) == label &&
                         label_at (labels, width, height, x, y + 1) == label;
  return is_inside ? 0 : label;
}

/* The numbers are those of scikit-image's perimeter(). */
static void
add_border_pixel (CclFeatures *f, const uint32_t *labels, int64_t width, int64_t height, int64_t x,
    int64_t y, uint32_t label)
{
  static const int weights[3][3] = {{10, 2, 10}, {2, 1, 2}, {10, 2, 10}};
  static const uint8_t kinds[50] = {[5] = 1,
      [7] = 1,
      [15] = 1,
      [17] = 1,
      [25] = 1,
      [27] = 1,
      [21] = 2,
      [33] = 2,
      [13] = 3,
      [23] = 3};
  int sum = 0;

  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (border_at (labels, width, height, x + dx, y + dy) == label)
        sum += weights[dy + 1][dx + 1];
  f->n_straight += kinds[sum] == 1;
  f->n_diagonal += kinds[sum] == 2;
  f->n_mixed += kinds[sum] == 3;
}

void
reference_features (const uint32_t *labels, uint32_t width, uint32_t height,
    const CclIntensity *intensity, uint32_t n, CclFeatures *features)
{
  const int64_t w = width, h = height;

  memset (features, 0, n * sizeof *features);
  for (uint32_t i = 0; i < n; i++)
    features[i].intensity_min = UINT32_MAX;
  for (int64_t y = -1; y < h; y++) {
    for (int64_t x = -1; x < w; x++) {
      const uint32_t label = label_at (labels, w, h, x, y);
      add_square (features, n,
          (uint32_t[4]){label, label_at (labels, w, h, x + 1, y), label_at (labels, w, h, x, y + 1),
              label_at (labels, w, h, x + 1, y + 1)});
      if (!label || label > n)
        continue;
      add_pixel (&features[label - 1], (uint64_t)x, (uint64_t)y, intensity);
      if (border_at (labels, w, h, x, y))
        add_border_pixel (&features[label - 1], labels, w, h, x, y, label);
    }
  }
}

void
assert_same_features (
    const CclFeatures *features, const CclFeatures *expected, uint32_t n, uint32_t columns)
{
  for (uint32_t i = 0; i < n; i++) {
#define ASSERT_SAME(column, type, field, combine)                                                  \
  if (columns & CUDACCL_COLUMN_##column)                                                           \
    g_assert_cmpuint (features[i].field, ==, expected[i].field);
    CUDACCL_FEATURES (ASSERT_SAME)
#undef ASSERT_SAME
  }
}

typedef struct Subject {
  const LabellerBackend *backend;
  const char *algorithm;
  CclConnectivity connectivity;
} Subject;

typedef struct Case {
  uint32_t width, height, granularity, density;
  uint32_t columns, most_rows, min_area;
  CclPixelFormat values;
  bool has_map, is_bright;
} Case;

static CclStatus
run (const Subject *subject, CclLabeller *labeller, const CclFrame *frame,
    const CclLabellerOptions *options, const CclLabels *labels, CclTable *table)
{
  const LabellerBackend *backend = subject->backend;
  CclError error = {CUDACCL_OK};
  const CclStatus status =
      backend->run ? backend->run (backend->data, labeller, frame, options, labels, table, &error)
                   : ccl_labeller_run (labeller, frame, options, labels, table, &error);
  g_assert_cmpstr (error.message, ==, "");
  return status;
}

/* Labels noise and compares the features of its components. The second plane ends at a guard page;
 * with values of 16 bits it has an odd address. */
static void
check_case (const Subject *subject, const Case *c, uint32_t seed)
{
  const uint32_t bytes = c->values == CUDACCL_PIXEL_FORMAT_16 ? 2 : 1;
  const CclLabellerPlan plan = {.width = c->width,
      .height = c->height,
      .connectivity = subject->connectivity,
      .max_components = c->most_rows,
      .algorithm = subject->algorithm,
      .columns = c->columns};
  const CclLabellerOptions options = {.min_area = c->min_area};
  const size_t n_pixels = (size_t)c->width * c->height,
               stride = bytes * (c->width + 1u) + 2 - bytes;
  Mask *mask = mask_new_from_noise (c->width, c->height, c->granularity, c->density, seed);
  GuardedMemory values = {0};
  g_autofree uint32_t *map = g_new (uint32_t, n_pixels);
  CclError error = {CUDACCL_OK};

  guarded_memory_resize (&values, stride * (c->height - 1) + bytes * c->width + bytes - 1, true);
  for (size_t i = 0; i < values.size; i++)
    values.data[i] = c->is_bright ? UINT8_MAX : (uint8_t)(i * 2654435761u >> 13);
  const CclFrame frame = {
      .data = mask->pixels, .stride = c->width, .intensity = {values.data, stride, c->values}};
  const CclLabels labels = {map, 4 * (size_t)c->width};
  CclLabeller *labeller = subject->backend->labeller_new (subject->backend->data, &plan, &error);
  g_assert_cmpstr (error.message, ==, "");
  Reference *reference = reference_new ((const uint8_t *)mask->pixels, c->width, c->height,
      c->width, subject->connectivity, &options);
  const uint32_t n = MIN (reference->n_components, c->most_rows);
  g_autofree CclFeatures *expected = g_new (CclFeatures, n + 1);
  reference_features (reference->labels, c->width, c->height, &frame.intensity, n, expected);
  for (int again = 0; again < 3; again++) { /* what a frame leaves behind must not count */
    CclTable table = {0};
    g_assert_cmpint (
        run (subject, labeller, &frame, &options, c->has_map ? &labels : NULL, &table), ==, 0);
    g_assert_cmpuint (table.n_components, ==, reference->n_components);
    g_assert_cmpuint (table.n_rows, ==, n);
    g_assert_cmpmem (table.rows, n * sizeof *table.rows, reference->rows, n * sizeof *table.rows);
    g_assert_nonnull (table.features);
    assert_same_features (table.features, expected, n, c->columns);
    if (c->has_map)
      g_assert_cmpmem (map, n_pixels * sizeof *map, reference->labels, n_pixels * sizeof *map);
  }
  reference_free (reference);
  mask_free (mask);
  guarded_memory_clear (&values);
  ccl_labeller_free (&labeller);
}

static void
test_noise (const void *data)
{
  static const uint32_t sizes[][2] = {
      {1, 1}, {1, 37}, {41, 1}, {2, 2}, {33, 7}, {64, 64}, {130, 67}, {257, 19}, {600, 5}};
  uint32_t seed = 1;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (uint32_t density = 20; density <= 100; density += 20, seed++)
      check_case (data,
          &(Case){sizes[i][0], sizes[i][1], 1 + seed % 3, density, CUDACCL_ALL_COLUMNS, 100000, 0,
              seed % 2 ? CUDACCL_PIXEL_FORMAT_8 : CUDACCL_PIXEL_FORMAT_16, seed / 2 % 2},
          seed);
}

/* The greatest values, of which sums of a vector must have room, in rows of several vectors. */
static void
test_greatest_values (const void *data)
{
  for (uint32_t width = 30; width < 260; width += 37)
    check_case (data,
        &(Case){
            width, 9, 8, 95, CUDACCL_ALL_COLUMNS, 100000, 0, CUDACCL_PIXEL_FORMAT_8, false, true},
        width);
}

/* Each column alone, components that the filter removes, and more components than rows. */
static void
test_columns_filters_and_few_rows (const void *data)
{
  for (uint32_t column = 1; column < CUDACCL_ALL_COLUMNS; column *= 2)
    check_case (data, &(Case){97, 61, 2, 50, column, 100000, 0, CUDACCL_PIXEL_FORMAT_8, false}, 7);
  check_case (data,
      &(Case){97, 61, 1, 40, CUDACCL_ALL_COLUMNS, 100000, 4, CUDACCL_PIXEL_FORMAT_8, true}, 8);
  check_case (
      data, &(Case){97, 61, 1, 40, CUDACCL_ALL_COLUMNS, 5, 0, CUDACCL_PIXEL_FORMAT_16, true}, 9);
}

/* A resized labeller measures frames of its new size. */
static void
test_resized_frames (const void *data)
{
  const Subject *subject = data;
  static const uint32_t sizes[][2] = {{20, 30}, {70, 90}, {5, 3}, {64, 64}};
  const CclLabellerPlan plan = {.width = 40,
      .height = 40,
      .connectivity = subject->connectivity,
      .max_components = 100000,
      .algorithm = subject->algorithm,
      .columns = CUDACCL_ALL_COLUMNS & ~CUDACCL_COLUMN_INTENSITY};
  const CclLabellerOptions options = {0};
  CclError error = {CUDACCL_OK};
  CclLabeller *labeller = subject->backend->labeller_new (subject->backend->data, &plan, &error);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const uint32_t width = sizes[i][0], height = sizes[i][1];
    Mask *mask = mask_new_from_noise (width, height, 1, 50, i);
    const CclFrame frame = {.data = mask->pixels, .stride = width};
    CclTable table;
    g_assert_cmpint (ccl_labeller_resize (labeller, width, height, &error), ==, CUDACCL_OK);
    g_assert_cmpint (run (subject, labeller, &frame, &options, NULL, &table), ==, CUDACCL_OK);
    Reference *reference = reference_new (
        (const uint8_t *)mask->pixels, width, height, width, subject->connectivity, &options);
    g_autofree CclFeatures *expected = g_new (CclFeatures, reference->n_components + 1);
    reference_features (reference->labels, width, height, NULL, reference->n_components, expected);
    g_assert_cmpuint (table.n_rows, ==, reference->n_components);
    assert_same_features (table.features, expected, table.n_rows, plan.columns);
    reference_free (reference);
    mask_free (mask);
  }
  ccl_labeller_free (&labeller);
}

/* What a frame leaves in parts of the memory that are empty in the next frame must not count: the
 * second mask has the columns 90…127 of the first one only. */
static void
test_emptied_frames (const void *data)
{
  enum { WIDTH = 300, HEIGHT = 140 };
  const Subject *subject = data;
  const CclLabellerPlan plan = {.width = WIDTH,
      .height = HEIGHT,
      .connectivity = subject->connectivity,
      .max_components = 100000,
      .algorithm = subject->algorithm,
      .columns = CUDACCL_ALL_COLUMNS & ~CUDACCL_COLUMN_INTENSITY};
  const CclLabellerOptions options = {0};
  CclError error = {CUDACCL_OK};
  CclLabeller *labeller = subject->backend->labeller_new (subject->backend->data, &plan, &error);
  Mask *mask = mask_new_from_noise (WIDTH, HEIGHT, 1, 60, 5);
  uint8_t *pixels = (uint8_t *)mask->pixels;
  const CclFrame frame = {.data = pixels, .stride = WIDTH};

  for (int is_emptied = 0; is_emptied < 2; is_emptied++) {
    CclTable table;
    for (int i = 0; is_emptied && i < WIDTH * HEIGHT; i++)
      if (i % WIDTH < 90 || i % WIDTH > 127)
        pixels[i] = 0;
    g_assert_cmpint (run (subject, labeller, &frame, &options, NULL, &table), ==, CUDACCL_OK);
    Reference *reference =
        reference_new (pixels, WIDTH, HEIGHT, WIDTH, subject->connectivity, &options);
    g_autofree CclFeatures *expected = g_new (CclFeatures, reference->n_components + 1);
    reference_features (reference->labels, WIDTH, HEIGHT, NULL, reference->n_components, expected);
    g_assert_cmpuint (table.n_rows, ==, reference->n_components);
    assert_same_features (table.features, expected, table.n_rows, plan.columns);
    reference_free (reference);
  }
  mask_free (mask);
  ccl_labeller_free (&labeller);
}

/* Without columns, the table has none. */
static void
test_no_columns (const void *data)
{
  const Subject *subject = data;
  const CclLabellerPlan plan = {.width = 4,
      .height = 1,
      .connectivity = subject->connectivity,
      .max_components = 4,
      .algorithm = subject->algorithm};
  const CclFrame frame = {.data = (const uint8_t[]){1, 0, 1, 1}, .stride = 4};
  CclError error = {CUDACCL_OK};
  CclTable table = {.features = (const CclFeatures *)&plan};
  CclLabeller *labeller = subject->backend->labeller_new (subject->backend->data, &plan, &error);

  g_assert_cmpint (run (subject, labeller, &frame, &(CclLabellerOptions){0}, NULL, &table), ==, 0);
  g_assert_cmpuint (table.n_rows, ==, 2);
  g_assert_null (table.features);
  ccl_labeller_free (&labeller);
}

void
feature_checks_register (const LabellerBackend *backend)
{
  static const struct {
    const char *name;
    GTestDataFunc check;
  } checks[] = {
      {"noise", test_noise},
      {"greatest-values", test_greatest_values},
      {"columns-filters-and-few-rows", test_columns_filters_and_few_rows},
      {"resized-frames", test_resized_frames},
      {"emptied-frames", test_emptied_frames},
      {"no-columns", test_no_columns},
  };

  for (const char *const *name = backend->algorithms; *name; name++) {
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
      if (backend->offers && !backend->offers (*name, (CclConnectivity)connectivity))
        continue;
      for (guint i = 0; i < G_N_ELEMENTS (checks); i++) {
        Subject *subject = g_new (Subject, 1);
        *subject = (Subject){backend, *name, (CclConnectivity)connectivity};
        g_autofree char *path = g_strdup_printf (
            "/%s/columns/%s/%d/%s", backend->name, *name, connectivity, checks[i].name);
        g_test_add_data_func_full (path, subject, checks[i].check, g_free);
      }
    }
  }
}
