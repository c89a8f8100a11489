/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chunks of pictures: what seams connect, and the sums of their labels, beside those of the whole.
 */
#include <cudaccl/chunks.h>
#include <cudaccl/contacts.h>
#include <cudaccl/periodic.h>

#include <glib.h>
#include <math.h>

#define LABEL(chunk, label) ((guint64)(chunk) << 32 | (label))

static const CclLabelPair *
pairs_of (CclForest *forest, gsize n_expected)
{
  const CclLabelPair *pairs = NULL;
  gsize n = 0;

  g_assert_cmpint (ccl_forest_pairs (forest, &pairs, &n, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (n, ==, n_expected);
  return pairs;
}

static void
assert_pair (CclLabelPair pair, guint64 label, guint64 root)
{
  g_assert_cmphex (pair.label, ==, label);
  g_assert_cmphex (pair.root, ==, root);
}

/* Two rows with 1 0 2 2 above 0 5 0 6: only the last pixels are opposite each other. */
static void
test_rows (void)
{
  static const guint32 upper[4] = {1, 0, 2, 2}, lower[4] = {0, 5, 0, 6};
  CclSeam seam = {.width = 4, .height = 1, .connectivity = 4, .upper = upper, .lower = lower};
  CclForest *forest = ccl_forest_new (NULL);

  g_assert_cmpint (ccl_forest_add_seam (forest, &seam, 3, 7, NULL), ==, CUDACCL_OK);
  assert_pair (pairs_of (forest, 1)[0], LABEL (7, 6), LABEL (3, 2));
  /* Label 5 is beside 1 and 2, which it joins, and 2 has joined 6. */
  seam.connectivity = 8;
  g_assert_cmpint (ccl_forest_add_seam (forest, &seam, 3, 7, NULL), ==, CUDACCL_OK);
  const CclLabelPair *pairs = pairs_of (forest, 3);
  assert_pair (pairs[0], LABEL (3, 2), LABEL (3, 1));
  assert_pair (pairs[1], LABEL (7, 5), LABEL (3, 1));
  assert_pair (pairs[2], LABEL (7, 6), LABEL (3, 1));
  ccl_forest_free (&forest);
  g_assert_null (forest);
}

/* Of two pixels in opposite corners of layers of 2×2 only 26 neighbours touch, of two that are
 * beside each other along one axis 18, too. */
static void
test_layers (void)
{
  static const guint32 upper[4] = {1, 0, 0, 0}, corner[4] = {0, 0, 0, 1}, beside[4] = {0, 0, 1, 0};
  static const struct {
    const guint32 *lower;
    guint32 connectivity;
    gsize n;
  } cases[] = {{corner, 6, 0}, {corner, 18, 0}, {corner, 26, 1}, {beside, 6, 0}, {beside, 18, 1},
      {beside, 26, 1}, {upper, 6, 1}};

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    const CclSeam seam = {.width = 2,
        .height = 2,
        .connectivity = cases[i].connectivity,
        .upper = upper,
        .lower = cases[i].lower};
    CclForest *forest = ccl_forest_new (NULL);
    g_assert_cmpint (ccl_forest_add_seam (forest, &seam, 0, 1, NULL), ==, CUDACCL_OK);
    pairs_of (forest, cases[i].n);
    ccl_forest_free (&forest);
  }
}

/* 0 and -0 are equal, and a value that is not a number is equal to none. */
static void
test_values (void)
{
  static const guint32 labels[4] = {1, 2, 3, 4};
  static const double upper[4] = {0.0, 2, NAN, 5}, lower[4] = {-0.0, 3, NAN, 5};
  const CclSeam seam = {4, 1, 4, labels, labels, upper, lower, CUDACCL_VALUE_TYPE_REAL_64};
  CclForest *forest = ccl_forest_new (NULL);

  g_assert_cmpint (ccl_forest_add_seam (forest, &seam, 0, 1, NULL), ==, CUDACCL_OK);
  const CclLabelPair *pairs = pairs_of (forest, 2);
  assert_pair (pairs[0], LABEL (1, 1), LABEL (0, 1));
  assert_pair (pairs[1], LABEL (1, 4), LABEL (0, 4));
  ccl_forest_free (&forest);
}

/* Signed values that differ by at most 2, beside the same bits without a sign. */
static void
test_similar_values (void)
{
  static const guint32 labels[4] = {1, 2, 3, 4};
  static const gint8 upper[4] = {-1, 5, -128, 100}, lower[4] = {1, 8, 127, 98};
  CclSeam seam = {4, 1, 4, labels, labels, upper, lower, CUDACCL_VALUE_TYPE_8, TRUE, 2};

  for (guint i = 0; i < 2; i++) {
    CclForest *forest = ccl_forest_new (NULL);
    seam.is_signed = i == 0;
    g_assert_cmpint (ccl_forest_add_seam (forest, &seam, 0, 1, NULL), ==, CUDACCL_OK);
    const CclLabelPair *pairs = pairs_of (forest, 2);
    assert_pair (pairs[0], i ? LABEL (1, 3) : LABEL (1, 1), i ? LABEL (0, 3) : LABEL (0, 1));
    assert_pair (pairs[1], LABEL (1, 4), LABEL (0, 4));
    ccl_forest_free (&forest);
  }
}

/* A chain of 1,000 chunks in random order, by forests of ten pairs. */
static void
test_forests_of_forests (void)
{
  enum { N = 1000 };
  CclForest *whole = ccl_forest_new (NULL);
  GRand *random = g_rand_new_with_seed (39);
  guint32 order[N];
  guint64 counts[N + 1], roots[N + 1];

  for (guint32 i = 0; i < N; i++)
    order[i] = i;
  for (guint32 i = N - 1; i > 0; i--) {
    const guint32 j = (guint32)g_rand_int_range (random, 0, (gint32)i + 1), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  for (guint32 begin = 0; begin < N; begin += 10) {
    CclForest *part = ccl_forest_new (NULL);
    const CclLabelPair *pairs;
    gsize n;
    for (guint32 i = begin; i < begin + 10; i++) {
      const CclLabelPair pair = {LABEL (order[i], 1), LABEL (order[i] + 1, 1)};
      g_assert_cmpint (ccl_forest_add_pairs (part, &pair, 1, NULL), ==, CUDACCL_OK);
    }
    g_assert_cmpint (ccl_forest_pairs (part, &pairs, &n, NULL), ==, CUDACCL_OK);
    g_assert_cmpint (ccl_forest_add_pairs (whole, pairs, n, NULL), ==, CUDACCL_OK);
    ccl_forest_free (&part);
  }
  for (guint32 i = 0; i <= N; i++)
    counts[i] = 1;
  g_assert_cmpint (ccl_forest_roots (whole, counts, N + 1, roots, NULL), ==, CUDACCL_OK);
  for (guint32 i = 0; i <= N; i++)
    g_assert_cmpuint (roots[i], ==, 0);
  counts[N] = 0; /* the label of the last chunk is not there */
  g_assert_cmpint (
      ccl_forest_roots (whole, counts, N + 1, roots, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  ccl_forest_free (&whole);
  g_rand_free (random);
}

enum { WIDTH = 23, HEIGHT = 17, DEPTH = 5, N_LABELS = 9 };

/* Tells how many pixels of a chunk along an axis, the first and the last ones, are neighbours. */
static void
set_around (CclSumsPlan *plan, guint axis, guint32 before, guint32 after)
{
  if (axis == 0) {
    plan->pixels_before = before;
    plan->pixels_after = after;
  } else if (axis == 1 && plan->depth) {
    plan->rows_before = before;
    plan->rows_after = after;
  } else {
    plan->layers_before = before;
    plan->layers_after = after;
  }
}

/* Rows and shapes of a picture in two chunks, which are cut along an axis, beside those of the
 * whole. */
static void
check_sums (const guint32 *labels, const guint16 *values, guint32 depth, guint axis, guint cut)
{
  const guint32 sides[3] = {WIDTH, HEIGHT, depth ? depth : 1};
  const guint32 most_before = depth ? 1 : 2, most_after = depth ? axis != 2 : 2;
  CclSumsPlan plan = {.width = WIDTH,
      .height = HEIGHT,
      .depth = depth,
      .columns = CUDACCL_ALL_COLUMNS & ~(depth ? (guint32)CUDACCL_COLUMN_PERIMETER : 0),
      .intensity_format = CUDACCL_PIXEL_FORMAT_16};
  const CclVolumeLabels map = {(guint32 *)labels, 4 * WIDTH, 4 * WIDTH * HEIGHT};
  const CclVolumeIntensity plane = {values, 2 * WIDTH, 2 * WIDTH * HEIGHT, CUDACCL_PIXEL_FORMAT_16};
  CclVolumeComponent rows[N_LABELS];
  CclTiledComponent found[N_LABELS];
  CclVolumeShape shapes[N_LABELS] = {0}, found_shapes[N_LABELS] = {0};
  g_autofree guint8 *sums = g_malloc (1 + N_LABELS * ccl_sums_bytes ());
  g_autofree guint8 *total = g_malloc (1 + N_LABELS * ccl_sums_bytes ());
  guint64 owners[N_LABELS];

  g_assert_cmpint (ccl_measure_volume_labels (&map, WIDTH, HEIGHT, depth, &plane, plan.columns,
                       N_LABELS, rows, shapes, NULL),
      ==, CUDACCL_OK);
  ccl_sums_clear (total + 1, N_LABELS);
  for (guint64 i = 0; i < N_LABELS; i++)
    owners[i] = i;
  for (guint part = 0; part < 2; part++) {
    guint32 size[3] = {sides[0], sides[1], sides[2]};
    guint64 place[3] = {0};
    const guint32 before = part ? MIN (most_before, cut) : 0;
    const guint32 after = part ? 0 : MIN (most_after, sides[axis] - cut);
    set_around (&plan, axis, before, after);
    size[axis] = (part ? sides[axis] - cut : cut) + before + after;
    place[axis] = part ? cut - before : 0;
    const gsize first = (place[2] * HEIGHT + place[1]) * WIDTH + place[0];
    const CclVolumeLabels chunk = {(guint32 *)labels + first, map.row_stride, map.slice_stride};
    const CclVolumeIntensity of_chunk = {
        values + first, plane.row_stride, plane.slice_stride, plane.format};
    g_assert_cmpint (ccl_sums_measure (&plan, &chunk, size[0], size[1], size[2], place[0], place[1],
                         place[2], &of_chunk, N_LABELS, sums + 1, NULL),
        ==, CUDACCL_OK);
    ccl_sums_add (&plan, total + 1, sums + 1, owners, N_LABELS);
  }
  ccl_sums_derive (&plan, total + 1, N_LABELS, found, found_shapes);
  for (guint i = 0; i < N_LABELS; i++) {
    g_assert_cmpuint (found[i].label, ==, rows[i].label);
    g_assert_cmpuint (found[i].area, ==, rows[i].n_voxels);
    g_assert_cmpuint (found[i].x + found[i].width, ==, rows[i].x + rows[i].width);
    g_assert_cmpuint (found[i].x, ==, rows[i].x);
    g_assert_cmpuint (found[i].y, ==, rows[i].y);
    g_assert_cmpuint (found[i].z, ==, rows[i].z);
    g_assert_cmpfloat (found[i].centroid_x, ==, rows[i].centroid_x);
    g_assert_cmpmem (&found_shapes[i], sizeof *shapes, &shapes[i], sizeof *shapes);
  }
}

static void
test_sums (void)
{
  GRand *random = g_rand_new_with_seed (40);
  guint32 labels[WIDTH * HEIGHT * DEPTH];
  guint16 values[WIDTH * HEIGHT * DEPTH];

  for (guint round = 0; round < 40; round++) {
    for (gsize i = 0; i < G_N_ELEMENTS (labels); i++) {
      labels[i] = (guint32)g_rand_int_range (random, 0, round % 4 ? N_LABELS + 1 : 3);
      values[i] = (guint16)g_rand_int_range (random, 0, round % 3 ? 65536 : 2);
    }
    check_sums (labels, values, 0, 0, 1 + round % (WIDTH - 1));
    check_sums (labels, values, 0, 1, 1 + round % (HEIGHT - 1));
    check_sums (labels, values, DEPTH, round % 3, 1 + round % (DEPTH - 1));
  }
  g_rand_free (random);
}

/* Four pixels in the last column of a picture of 2^30 columns: doubles would round the sum of the
 * squares of their columns, and their variance is 0. */
static void
test_far_places (void)
{
  enum { LAST = (1 << 30) - 1 };
  guint32 labels[4] = {1, 1, 1, 1};
  const CclVolumeLabels map = {labels, 4, 16};
  const CclSumsPlan plan = {
      .width = LAST + 1, .height = 4, .columns = CUDACCL_COLUMN_MOMENTS | CUDACCL_COLUMN_SUMS};
  g_autofree guint8 *sums = g_malloc (ccl_sums_bytes ());
  CclTiledComponent row;
  CclVolumeShape shape;

  g_assert_cmpint (
      ccl_sums_measure (&plan, &map, 1, 4, 1, LAST, 0, 0, NULL, 1, sums, NULL), ==, CUDACCL_OK);
  ccl_sums_derive (&plan, sums, 1, &row, &shape);
  g_assert_cmpuint (row.x, ==, LAST);
  g_assert_cmpfloat (row.centroid_x, ==, (double)LAST);
  g_assert_cmpfloat (shape.variance_x, ==, 0);
  g_assert_cmpfloat (shape.variance_y, ==, 1.25);
  g_assert_cmpfloat (shape.first_x, ==, (double)LAST);
}

#define ASSERT_REFUSED(call) g_assert_cmpint (call, ==, CUDACCL_ERROR_ARGUMENT)

static void
test_wrong_arguments (void)
{
  guint32 labels[4] = {1, 1, 1, 1};
  const CclSeam good = {
      .width = 2, .height = 2, .connectivity = 6, .upper = labels, .lower = labels};
  const CclVolumeLabels map = {labels, 8, 16};
  const CclSumsPlan plan = {.width = 3, .height = 2};
  CclSumsPlan other = plan;
  g_autofree guint8 *sums = g_malloc (ccl_sums_bytes ());
  CclForest *forest = ccl_forest_new (NULL);
  CclSeam seam = good;

  ASSERT_REFUSED (ccl_forest_add_seam (NULL, &seam, 0, 1, NULL));
  ASSERT_REFUSED (ccl_forest_add_seam (forest, NULL, 0, 1, NULL));
  seam.connectivity = 8; /* of rows */
  ASSERT_REFUSED (ccl_forest_add_seam (forest, &seam, 0, 1, NULL));
  seam.connectivity = 7;
  ASSERT_REFUSED (ccl_forest_add_seam (forest, &seam, 0, 1, NULL));
  seam = good;
  seam.upper_values = labels;
  ASSERT_REFUSED (ccl_forest_add_seam (forest, &seam, 0, 1, NULL));
  seam.lower_values = labels;
  seam.tolerance = -1;
  ASSERT_REFUSED (ccl_forest_add_seam (forest, &seam, 0, 1, NULL));
  ASSERT_REFUSED (ccl_forest_add_pairs (forest, NULL, 1, NULL));
  pairs_of (forest, 0);
  ccl_forest_free (&forest);
  ASSERT_REFUSED (ccl_sums_measure (NULL, &map, 2, 2, 1, 0, 0, 0, NULL, 1, sums, NULL));
  ASSERT_REFUSED (ccl_sums_measure (&plan, NULL, 2, 2, 1, 0, 0, 0, NULL, 1, sums, NULL));
  ASSERT_REFUSED (ccl_sums_measure (&plan, &map, 2, 2, 1, 2, 0, 0, NULL, 1, sums, NULL));
  ASSERT_REFUSED (ccl_sums_measure (&plan, &map, 2, 2, 1, 0, 0, 0, NULL, 1, NULL, NULL));
  other.columns = CUDACCL_COLUMN_TOPOLOGY; /* without the pixels after */
  ASSERT_REFUSED (ccl_sums_measure (&other, &map, 2, 2, 1, 0, 0, 0, NULL, 1, sums, NULL));
  other.pixels_after = 1;
  g_assert_cmpint (
      ccl_sums_measure (&other, &map, 2, 2, 1, 0, 0, 0, NULL, 1, sums, NULL), ==, CUDACCL_OK);
  other.rows_before = 1; /* of a frame */
  ASSERT_REFUSED (ccl_sums_measure (&other, &map, 2, 2, 1, 0, 0, 0, NULL, 1, sums, NULL));
  other.pixels_after = other.rows_before = 0;
  other.width = 2;
  g_assert_cmpint (
      ccl_sums_measure (&other, &map, 2, 2, 1, 0, 0, 0, NULL, 1, sums, NULL), ==, CUDACCL_OK);
  ASSERT_REFUSED (ccl_sums_measure (&other, &map, 2, 1, 1, 0, 1, 0, NULL, 1, sums, NULL));
  other.layers_before = 1;
  g_assert_cmpint (
      ccl_sums_measure (&other, &map, 2, 2, 1, 0, 0, 0, NULL, 1, sums, NULL), ==, CUDACCL_OK);
  ASSERT_REFUSED (ccl_sums_measure (&other, &map, 2, 1, 1, 0, 0, 0, NULL, 1, sums, NULL));
  other.columns |= CUDACCL_COLUMN_PERIMETER;
  other.height = 3;
  ASSERT_REFUSED (ccl_sums_measure (&other, &map, 2, 2, 1, 0, 0, 0, NULL, 1, sums, NULL));
  other = plan;
  other.columns = CUDACCL_COLUMN_INTENSITY;
  ASSERT_REFUSED (ccl_sums_measure (&other, &map, 2, 2, 1, 0, 0, 0, NULL, 1, sums, NULL));
  other = (CclSumsPlan){.width = G_MAXUINT32, .height = G_MAXUINT32};
  g_assert_cmpint (ccl_sums_measure (&other, &map, 2, 2, 1, 0, 0, 0, NULL, 1, sums, NULL), ==,
      CUDACCL_ERROR_UNSUPPORTED);
}

/* 1 1 2 above 3 3 2 and, in labels of 64 bits, a third row that follows later. */
static void
test_contacts (void)
{
  static const guint64 labels[9] = {1, 1, 2, 3, 3, 2, 0, 2, 0};
  CclContacts *contacts = ccl_contacts_new (3, 1, 4, 8, NULL);
  const CclContact *rows = NULL;
  gsize n = 0;

  g_assert_cmpint (ccl_contacts_add (contacts, labels, 2, NULL), ==, CUDACCL_OK);
  g_assert_cmpint (ccl_contacts_add (contacts, labels + 6, 1, NULL), ==, CUDACCL_OK);
  g_assert_cmpint (ccl_contacts_rows (contacts, &rows, &n, NULL), ==, CUDACCL_OK);
  static const CclContact expected[3] = {{1, 2, 1}, {1, 3, 2}, {2, 3, 2}};
  g_assert_cmpmem (rows, n * sizeof *rows, expected, sizeof expected);
  ASSERT_REFUSED (ccl_contacts_add (contacts, NULL, 1, NULL));
  ccl_contacts_free (&contacts);
  g_assert_null (ccl_contacts_new (3, 2, 4, 4, NULL));
  g_assert_null (ccl_contacts_new (3, 1, 5, 4, NULL));
  g_assert_null (ccl_contacts_new (3, 1, 4, 2, NULL));
}

static void
test_borders (void)
{
  guint32 labels[4] = {1, 0, 0, 2};
  const CclVolumeLabels map = {labels, 16, 16};
  CclVolumeComponent rows[2];
  guint32 n = 1; /* the map has 2 */

  ASSERT_REFUSED (ccl_join_borders (&map, 4, 1, 1, 4, CUDACCL_AXIS_X, &n, rows, NULL));
  n = 3;
  ASSERT_REFUSED (ccl_join_borders (&map, 4, 1, 1, 4, CUDACCL_AXIS_X, &n, rows, NULL));
  n = 2;
  ASSERT_REFUSED (ccl_join_borders (&map, 4, 1, 1, 4, CUDACCL_AXIS_Z, &n, rows, NULL));
  ASSERT_REFUSED (ccl_join_borders (&map, 4, 1, 1, 5, CUDACCL_AXIS_X, &n, rows, NULL));
  ASSERT_REFUSED (ccl_join_borders (&map, 4, 1, 1, 4, CUDACCL_AXIS_X, &n, NULL, NULL));
  g_assert_cmpint (
      ccl_join_borders (&map, 4, 1, 1, 4, CUDACCL_AXIS_X, &n, rows, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpuint (labels[3], ==, 1);
  g_assert_cmpuint (rows[0].x, ==, 3);
  g_assert_cmpuint (rows[0].width, ==, 2);
  g_assert_cmpfloat_with_epsilon (rows[0].centroid_x, 3.5, 1e-12);
}

/* A ring around a ring around a pixel, in patches: 1 and 4 are background, 2 and 3 of one label. */
static void
test_patches (void)
{
  static const CclPatch patches[] = {
      {0, 40, {0, 0, 0}, {10, 10, 0}, 1}, {7, 32, {1, 1, 0}, {9, 9, 0}, 0},
      {0, 24, {2, 2, 0}, {8, 8, 0}, 0}, {9, 16, {3, 3, 0}, {7, 7, 0}, 0},
      {0, 8, {4, 4, 0}, {6, 6, 0}, 0},
      {7, 1, {5, 5, 0}, {5, 5, 0}, 0}, /* of the outer ring's label */
  };
  static const CclPatchPair pairs[] = {{0, 1}, {2, 1}, {2, 3}, {4, 3}, {5, 4}};
  static const guint64 all[] = {0, 7, 7, 9, 9, 7}, small[] = {0, 7, 0, 9, 9, 7};
  guint64 labels[6];
  CclPatchPair wrong = {0, 6};

  g_assert_cmpint (ccl_fill_patches (patches, 6, pairs, 5, 0, labels, NULL), ==, CUDACCL_OK);
  g_assert_cmpmem (labels, sizeof labels, all, sizeof all);
  /* The hole of the outer ring has 24 + 16 + 8 pixels: the pixel inside is not of another label. */
  g_assert_cmpint (ccl_fill_patches (patches, 6, pairs, 5, 48, labels, NULL), ==, CUDACCL_OK);
  g_assert_cmpmem (labels, sizeof labels, all, sizeof all);
  g_assert_cmpint (ccl_fill_patches (patches, 6, pairs, 5, 47, labels, NULL), ==, CUDACCL_OK);
  g_assert_cmpmem (labels, sizeof labels, small, sizeof small);
  g_assert_cmpint (ccl_fill_patches (NULL, 0, NULL, 0, 0, NULL, NULL), ==, CUDACCL_OK);
  ASSERT_REFUSED (ccl_fill_patches (patches, 6, &wrong, 1, 0, labels, NULL));
  ASSERT_REFUSED (ccl_fill_patches (NULL, 6, pairs, 5, 0, labels, NULL));
  ASSERT_REFUSED (ccl_fill_patches (patches, 6, NULL, 5, 0, labels, NULL));
}

/* Layer by layer: a row that goes over the border of x, and one that touches it over that of y. */
static void
test_borders_of_layers (void)
{
  static const guint32 labels[3][4] = {{1, 0, 0, 2}, {0, 0, 0, 0}, {0, 3, 0, 4}};
  static const guint32 late[4] = {0, 2, 0, 1};
  CclBorders *borders = ccl_borders_new (4, 3, 1, 8, CUDACCL_AXIS_X | CUDACCL_AXIS_Y, NULL);
  const guint32 *numbers = NULL;
  const CclTiledComponent *rows = NULL;
  guint32 n = 0, n_joined = 0;

  g_assert_cmpint (ccl_borders_add (borders, labels[0], 1, NULL), ==, CUDACCL_OK);
  ASSERT_REFUSED (ccl_borders_join (borders, &n, &numbers, &n_joined, &rows, NULL));
  ASSERT_REFUSED (ccl_borders_add (borders, labels[0], 3, NULL));
  g_assert_cmpint (ccl_borders_add (borders, labels[1], 2, NULL), ==, CUDACCL_OK);
  g_assert_cmpint (
      ccl_borders_join (borders, &n, &numbers, &n_joined, &rows, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (n, ==, 4);
  g_assert_cmpuint (n_joined, ==, 1);
  static const guint32 expected[5] = {0, 1, 1, 1, 1};
  g_assert_cmpmem (numbers, sizeof expected, expected, sizeof expected);
  g_assert_cmpuint (rows[0].area, ==, 4);
  g_assert_cmpuint (rows[0].x, ==, 3);
  g_assert_cmpuint (rows[0].width, ==, 3);
  g_assert_cmpuint (rows[0].y, ==, 2);
  g_assert_cmpuint (rows[0].height, ==, 2);
  ccl_borders_free (&borders);
  g_assert_null (borders);
  borders = ccl_borders_new (4, 1, 1, 4, CUDACCL_AXIS_X, NULL);
  ASSERT_REFUSED (ccl_borders_add (borders, late, 1, NULL));
  ccl_borders_free (&borders);
  g_assert_null (ccl_borders_new (4, 2, 2, 4, CUDACCL_AXIS_X, NULL));
  g_assert_null (ccl_borders_new (4, 2, 1, 8, CUDACCL_AXIS_Z, NULL));
  g_assert_null (ccl_borders_new (0, 2, 1, 8, CUDACCL_AXIS_X, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/chunks/rows", test_rows);
  g_test_add_func ("/chunks/layers", test_layers);
  g_test_add_func ("/chunks/values", test_values);
  g_test_add_func ("/chunks/similar-values", test_similar_values);
  g_test_add_func ("/chunks/forests-of-forests", test_forests_of_forests);
  g_test_add_func ("/chunks/sums", test_sums);
  g_test_add_func ("/chunks/far-places", test_far_places);
  g_test_add_func ("/chunks/contacts", test_contacts);
  g_test_add_func ("/chunks/borders", test_borders);
  g_test_add_func ("/chunks/borders-of-layers", test_borders_of_layers);
  g_test_add_func ("/chunks/patches", test_patches);
  g_test_add_func ("/chunks/wrong-arguments", test_wrong_arguments);
  return g_test_run ();
}
