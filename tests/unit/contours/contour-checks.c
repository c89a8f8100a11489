/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/contours/contour-checks.h"
#include "tests/unit/label/reference.h"

#include <stdlib.h>
#include <string.h>

static const ContourBackend *backend; /* of the present test */

/* The contours of a label by itself. */
typedef struct ExpectedContour {
  uint32_t label;
  ContourReference *reference;
} ExpectedContour;

static const CclContourKind kinds[] = {CUDACCL_CONTOUR_PIXELS, CUDACCL_CONTOUR_CRACKS};
static const CclConnectivity connectivities[] = {CUDACCL_CONNECTIVITY_4, CUDACCL_CONNECTIVITY_8};

static CclContours *
make (uint32_t width, uint32_t height, CclContourKind kind, CclConnectivity connectivity)
{
  CclContoursPlan plan = CUDACCL_CONTOURS_PLAN_DEFAULT;
  CclError error = {CUDACCL_OK};

  plan.width = width;
  plan.height = height;
  plan.kind = kind;
  plan.connectivity = connectivity;
  CclContours *contours = backend->contours_new (&plan, &error);
  g_assert_cmpstr (error.message, ==, "");
  g_assert_nonnull (contours);
  return contours;
}

static CclContourTable
run (CclContours *contours, const Mask *mask)
{
  const CclFrame frame = {.data = mask->pixels, .stride = mask->width};
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclContourTable table;
  CclError error = {CUDACCL_OK};

  backend->of_frame (contours, &frame, &options, &table, &error);
  g_assert_cmpstr (error.message, ==, "");
  return table;
}

static void
assert_same (const CclContourTable *table, const ContourReference *expected)
{
  g_assert_cmpuint (table->n_contours, ==, expected->contours->len);
  g_assert_cmpuint (table->n_points, ==, expected->points->len);
  if (table->n_contours == 0)
    return;
  g_assert_cmpmem (table->rows, table->n_contours * sizeof *table->rows, expected->contours->data,
      expected->contours->len * sizeof (CclContour));
  g_assert_cmpmem (table->points, table->n_points * sizeof *table->points, expected->points->data,
      expected->points->len * sizeof (CclContourPoint));
}

/* Flips the pixels to the right of each vertical edge of a polygon. */
static void
flip_inside (const CclContourPoint *points, uint32_t n, uint32_t width, uint8_t *inside)
{
  for (uint32_t i = 0; i < n; i++) {
    const CclContourPoint a = points[i], b = points[(i + 1) % n];
    g_assert_true ((a.x == b.x) != (a.y == b.y));
    if (a.x == b.x)
      for (int y = MIN (a.y, b.y); y < MAX (a.y, b.y); y++)
        for (uint32_t x = (uint32_t)a.x; x < width; x++)
          inside[(size_t)y * width + x] ^= 1;
  }
}

uint32_t *
contour_checks_draw (const CclContourTable *cracks, uint32_t width, uint32_t height)
{
  const size_t n = (size_t)width * height;
  uint32_t *labels = g_new0 (uint32_t, n);
  g_autofree uint8_t *inside = g_new (uint8_t, n);

  for (uint32_t component = 1; component <= cracks->n_components; component++) {
    memset (inside, 0, n);
    for (uint32_t i = 0; i < cracks->n_contours; i++)
      if (cracks->rows[i].component == component)
        flip_inside (
            cracks->points + cracks->rows[i].first_point, cracks->rows[i].n_points, width, inside);
    for (size_t i = 0; i < n; i++)
      if (inside[i]) {
        g_assert_cmpuint (labels[i], ==, 0);
        labels[i] = component;
      }
  }
  return labels;
}

/* Compares contours of both kinds with the references, and the drawn ones with the labels. */
static void
check_mask (const Mask *mask, CclConnectivity connectivity, CclContours *const objects[2])
{
  for (uint32_t kind = 0; kind < 2; kind++) {
    const CclContourTable table = run (objects[kind], mask);
    g_autoptr (ContourReference) edges =
        contour_reference_by_edges (mask, kinds[kind], connectivity);
    assert_same (&table, edges);
    if (kind == CUDACCL_CONTOUR_PIXELS && connectivity == CUDACCL_CONNECTIVITY_8) {
      g_autoptr (ContourReference) borders = contour_reference_by_borders (mask);
      assert_same (&table, borders);
    }
    if (kind == CUDACCL_CONTOUR_CRACKS && mask->width * mask->height <= 4096) {
      const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
      Reference *labelled = reference_new ((const uint8_t *)mask->pixels, mask->width, mask->height,
          mask->width, connectivity, &options);
      g_autofree uint32_t *drawn = contour_checks_draw (&table, mask->width, mask->height);
      const size_t size = (size_t)mask->width * mask->height * sizeof *drawn;
      g_assert_cmpuint (table.n_components, ==, labelled->n_components);
      g_assert_cmpmem (drawn, size, labelled->labels, size);
      reference_free (labelled);
    }
  }
}

static void
check_masks (Mask *(*next) (uint32_t i), uint32_t n)
{
  for (uint32_t c = 0; c < 2; c++) {
    CclContours *objects[2] = {NULL, NULL};
    uint32_t width = 0, height = 0;
    for (uint32_t i = 0; i < n; i++) {
      Mask *mask = next (i);
      for (uint32_t kind = 0; kind < 2 && (mask->width != width || mask->height != height);
           kind++) {
        ccl_contours_free (&objects[kind]);
        objects[kind] = make (mask->width, mask->height, kinds[kind], connectivities[c]);
      }
      width = mask->width;
      height = mask->height;
      check_mask (mask, connectivities[c], objects);
      mask_free (mask);
    }
    for (uint32_t kind = 0; kind < 2; kind++)
      ccl_contours_free (&objects[kind]);
  }
}

static bool
is_set (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return true;
}

static Mask *
mask_of_bits (uint32_t bits)
{
  static const Shape full = {"bits", is_set};
  Mask *mask = mask_new_from_shape (&full, 4, 4);
  bits *= backend->mask_step;
  for (uint32_t i = 0; i < 16; i++)
    mask->pixels[i] = bits >> i & 1;
  return mask;
}

static void
test_all_masks_of_16_pixels (const void *data)
{
  backend = data;
  check_masks (mask_of_bits, (1u << 16) / backend->mask_step);
}

enum { N_SIZES = 6 };
static const uint32_t sizes[N_SIZES][2] = {{1, 1}, {1, 40}, {63, 5}, {64, 31}, {65, 30}, {200, 20}};

static Mask *
mask_of_shape (uint32_t i)
{
  return mask_new_from_shape (&shapes[i / N_SIZES], sizes[i % N_SIZES][0], sizes[i % N_SIZES][1]);
}

static void
test_shapes (const void *data)
{
  backend = data;
  uint32_t n = 0;
  while (shapes[n].name)
    n++;
  check_masks (mask_of_shape, n * N_SIZES);
}

/* Squares in squares, a ring every second pixel. */
static bool
nested_rings (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  const uint32_t left = MIN (x, width - 1 - x), above = MIN (y, height - 1 - y);
  return MIN (left, above) % 2 == 0;
}

/* Squares of 3×3 pixels that touch at corners, with holes of one pixel. */
static bool
touching_corners (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return (x / 3 + y / 3) % 2 == 0 && !(x % 3 == 1 && y % 3 == 1);
}

static Mask *
mask_of_nested_shape (uint32_t i)
{
  static const Shape nested[] = {{"nested rings", nested_rings}, {"corners", touching_corners}};
  return mask_new_from_shape (&nested[i % 2], 5 + i, 9 + i % 7);
}

static void
test_nested (const void *data)
{
  backend = data;
  check_masks (mask_of_nested_shape, 40);
}

static Mask *
mask_of_noise (uint32_t i)
{
  static const uint32_t densities[] = {10, 35, 50, 60, 80, 95};
  return mask_new_from_noise (
      40 + 13 * (i % 7), 30 + i % 5, 1 + i % 3, densities[i % G_N_ELEMENTS (densities)], i);
}

static void
test_noise (const void *data)
{
  backend = data;
  check_masks (mask_of_noise, 60);
}

/* Label maps give the contours of the mask that they were made from, with strides. */
static void
test_label_maps (const void *data)
{
  backend = data;
  enum { WIDTH = 70, HEIGHT = 33, STRIDE = 80 };
  Mask *mask = mask_new_from_noise (WIDTH, HEIGHT, 2, 45, 9);
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  Reference *labelled = reference_new (
      (const uint8_t *)mask->pixels, WIDTH, HEIGHT, WIDTH, CUDACCL_CONNECTIVITY_8, &options);
  g_autofree uint32_t *map = g_new (uint32_t, STRIDE * HEIGHT);
  CclContours *contours = make (WIDTH, HEIGHT, CUDACCL_CONTOUR_CRACKS, CUDACCL_CONNECTIVITY_8);
  CclContourTable table;

  memset (map, 0xa5, STRIDE * HEIGHT * sizeof *map);
  for (uint32_t y = 0; y < HEIGHT; y++)
    memcpy (map + y * STRIDE, labelled->labels + y * WIDTH, WIDTH * sizeof *map);
  const CclLabels labels = {map, STRIDE * sizeof *map};
  g_assert_cmpint (backend->of_labels (contours, &labels, &table, NULL), ==, CUDACCL_OK);
  g_autofree uint32_t *drawn = contour_checks_draw (&table, WIDTH, HEIGHT);
  g_assert_cmpmem (drawn, WIDTH * HEIGHT * 4, labelled->labels, WIDTH * HEIGHT * 4);
  ccl_contours_free (&contours);
  reference_free (labelled);
  mask_free (mask);
}

/* The contours of a label by itself, as the reference finds them in its mask. */
static void
append_reference (GArray *all, const uint32_t *map, Mask *mask, uint32_t label, CclContourKind kind,
    CclConnectivity connectivity)
{
  for (uint32_t i = 0; i < mask->width * mask->height; i++)
    mask->pixels[i] = map[i] == label;
  ContourReference *reference = contour_reference_by_edges (mask, kind, connectivity);
  const ExpectedContour expected = {label, reference};
  g_array_append_val (all, expected);
}

/* Whether a contour of the table is contour i of a reference; also its parent, if it is a hole. */
static void
assert_same_contour (
    const CclContourTable *table, uint32_t found, const ExpectedContour *expected, uint32_t i)
{
  const CclContour *row = &table->rows[found];
  const CclContour *reference = &g_array_index (expected->reference->contours, CclContour, i);

  g_assert_cmpuint (row->component, ==, expected->label);
  g_assert_cmpuint (row->is_hole, ==, reference->is_hole);
  g_assert_cmpmem (table->points + row->first_point, row->n_points * sizeof *table->points,
      &g_array_index (expected->reference->points, CclContourPoint, reference->first_point),
      reference->n_points * sizeof *table->points);
}

/* Compares the contours of a map with those that the reference finds in the mask of each label. */
static void
check_map (uint32_t *map, uint32_t width, uint32_t height, const uint32_t *values,
    uint32_t n_values, CclContourKind kind, CclConnectivity connectivity)
{
  static const Shape full = {"full", is_set};
  Mask *mask = mask_new_from_shape (&full, width, height);
  CclContours *contours = make (width, height, kind, connectivity);
  const CclLabels labels = {map, width * sizeof *map};
  CclContourTable table;
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (ExpectedContour));
  uint32_t n_contours = 0;

  for (uint32_t i = 0; i < n_values; i++)
    append_reference (all, map, mask, values[i], kind, connectivity);
  g_assert_cmpint (backend->of_labels (contours, &labels, &table, NULL), ==, CUDACCL_OK);
  for (uint32_t i = 0; i < all->len; i++) {
    const ExpectedContour *expected = &g_array_index (all, ExpectedContour, i);
    g_autofree uint32_t *found = g_new (uint32_t, expected->reference->contours->len + 1);
    uint32_t n = 0;
    for (uint32_t j = 0; j < table.n_contours; j++) {
      if (table.rows[j].component != expected->label)
        continue;
      g_assert_cmpuint (n, <, expected->reference->contours->len);
      assert_same_contour (&table, j, expected, n);
      found[n] = j;
      const uint32_t parent = g_array_index (expected->reference->contours, CclContour, n).parent;
      if (table.rows[j].is_hole)
        g_assert_cmpuint (table.rows[j].parent, ==, found[parent]);
      n++;
    }
    g_assert_cmpuint (n, ==, expected->reference->contours->len);
    n_contours += n;
    contour_reference_free (expected->reference);
  }
  g_assert_cmpuint (n_contours, ==, table.n_contours);
  mask_free (mask);
  ccl_contours_free (&contours);
}

/* Labels that touch, cross at corners, are in parts and in each other. Those of the last maps begin
 * and end at almost every pixel. */
static void
test_touching_labels (const void *data)
{
  static const uint32_t values[] = {7, 1, UINT32_MAX, 300, 2};
  backend = data;
  for (uint32_t i = 0; i < 120; i++) {
    g_autoptr (GRand) random = g_rand_new_with_seed (i);
    const uint32_t width = 1 + i % 37 * 2, height = 1 + i % 11 * 2, size = 1 + i % 3;
    const uint32_t n_values = 1 + i % G_N_ELEMENTS (values);
    g_autofree uint32_t *map = g_new (uint32_t, width * height);

    for (uint32_t y = 0; y < height; y++)
      for (uint32_t x = 0; x < width; x++) {
        const uint32_t value = (uint32_t)g_rand_int_range (random, i < 90 ? -1 : 0, (int)n_values);
        map[y * width + x] = y % size              ? map[(y - 1) * width + x]
                             : x % size            ? map[y * width + x - 1]
                             : value == UINT32_MAX ? 0
                                                   : values[value];
      }
    check_map (map, width, height, values, n_values, kinds[i / 2 % 2], connectivities[i % 2]);
  }
}

/* The ring of 3 is in the hole of 9, 5 fills the hole of 3, and 4 fills the one of 9 beside 3. */
static void
test_parents_of_labels (const void *data)
{
  static uint32_t map[] = {9, 9, 9, 9, 9, 9, /**/ 9, 3, 3, 3, 4, 9, /**/ 9, 3, 5, 3, 4, 9, /**/ 9,
      3, 3, 3, 4, 9, /**/
      9, 9, 9, 9, 9, 9};
  static const uint32_t expected[][3] = {/* component, hole, parent */
      {9, 0, CUDACCL_NO_CONTOUR}, {9, 1, 0}, {3, 0, 1}, {4, 0, 1}, {3, 1, 2}, {5, 0, 4}};
  const CclLabels labels = {map, 6 * sizeof *map};
  CclContourTable table;
  backend = data;

  for (uint32_t c = 0; c < 2; c++) {
    CclContours *contours = make (6, 5, CUDACCL_CONTOUR_CRACKS, connectivities[c]);
    g_assert_cmpint (backend->of_labels (contours, &labels, &table, NULL), ==, CUDACCL_OK);
    g_assert_cmpuint (table.n_contours, ==, G_N_ELEMENTS (expected));
    g_assert_cmpuint (table.n_components, ==, 4);
    for (uint32_t i = 0; i < table.n_contours; i++) {
      g_assert_cmpuint (table.rows[i].component, ==, expected[i][0]);
      g_assert_cmpuint (table.rows[i].is_hole, ==, expected[i][1]);
      g_assert_cmpuint (table.rows[i].parent, ==, expected[i][2]);
    }
    ccl_contours_free (&contours);
  }
}

/* One object takes frames and maps in turns; a map with a label for each pixel needs more memory.
 */
static void
test_frames_and_maps (const void *data)
{
  backend = data;
  enum { WIDTH = 37, HEIGHT = 9, N_PIXELS = WIDTH * HEIGHT };
  static const uint32_t n_labels[] = {1, N_PIXELS, 1};
  uint32_t map[N_PIXELS];
  const CclLabels labels = {map, WIDTH * sizeof *map};
  Mask *mask = mask_new_from_noise (WIDTH, HEIGHT, 1, 40, 4);
  g_autoptr (ContourReference) expected =
      contour_reference_by_edges (mask, CUDACCL_CONTOUR_CRACKS, CUDACCL_CONNECTIVITY_8);
  CclContours *contours = make (WIDTH, HEIGHT, CUDACCL_CONTOUR_CRACKS, CUDACCL_CONNECTIVITY_8);

  for (uint32_t i = 0; i < G_N_ELEMENTS (n_labels); i++) {
    CclContourTable table = run (contours, mask);
    assert_same (&table, expected);
    for (uint32_t j = 0; j < N_PIXELS; j++)
      map[j] = j % n_labels[i] + 1;
    g_assert_cmpint (backend->of_labels (contours, &labels, &table, NULL), ==, CUDACCL_OK);
    g_assert_cmpuint (table.n_contours, ==, n_labels[i]);
    g_assert_cmpuint (table.n_points, ==, 4 * n_labels[i]);
    for (uint32_t j = 0; j < table.n_contours; j++)
      g_assert_cmpuint (table.rows[j].component, ==, j + 1);
  }
  ccl_contours_free (&contours);
  mask_free (mask);
}

/* Frames of two bytes per pixel, thresholds, and inverted frames. */
static void
test_formats (const void *data)
{
  backend = data;
  enum { WIDTH = 67, HEIGHT = 9 };
  Mask *mask = mask_new_from_noise (WIDTH, HEIGHT, 1, 30, 4);
  g_autoptr (ContourReference) expected =
      contour_reference_by_edges (mask, CUDACCL_CONTOUR_PIXELS, CUDACCL_CONNECTIVITY_8);
  for (uint32_t i = 0; i < 8; i++) {
    CclContoursPlan plan = CUDACCL_CONTOURS_PLAN_DEFAULT;
    CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
    g_autofree uint16_t *words = g_new (uint16_t, WIDTH * HEIGHT);
    g_autofree uint8_t *bytes = g_new (uint8_t, WIDTH * HEIGHT);
    CclFrame frame = {.data = words, .stride = 2 * WIDTH};
    CclContourTable table;

    plan.width = WIDTH;
    plan.height = HEIGHT;
    plan.format = (CclPixelFormat)(i / 2);
    options.invert = i % 2;
    options.threshold = 77;
    for (uint32_t j = 0; j < WIDTH * HEIGHT; j++) {
      const uint8_t value = mask->pixels[j] != options.invert ? 78 : 77;
      bytes[j] = value;
      words[j] = plan.format == CUDACCL_PIXEL_FORMAT_16        ? value
                 : plan.format == CUDACCL_PIXEL_FORMAT_8_FIRST ? value | 0xee00
                                                               : (uint16_t)(value << 8 | 0xee);
    }
    if (plan.format == CUDACCL_PIXEL_FORMAT_8)
      frame = (CclFrame){.data = bytes, .stride = WIDTH};
    CclContours *contours = backend->contours_new (&plan, NULL);
    g_assert_cmpint (backend->of_frame (contours, &frame, &options, &table, NULL), ==, CUDACCL_OK);
    assert_same (&table, expected);
    ccl_contours_free (&contours);
  }
  mask_free (mask);
}

static void
add (const ContourBackend *checked, const char *name, GTestDataFunc test)
{
  g_autofree char *path = g_strdup_printf ("/%s/contours/%s", checked->name, name);
  g_test_add_data_func (path, checked, test);
}

void
contour_checks_register (const ContourBackend *checked)
{
  add (checked, "all-masks-of-16-pixels", test_all_masks_of_16_pixels);
  add (checked, "shapes", test_shapes);
  add (checked, "nested", test_nested);
  add (checked, "noise", test_noise);
  add (checked, "label-maps", test_label_maps);
  add (checked, "touching-labels", test_touching_labels);
  add (checked, "parents-of-labels", test_parents_of_labels);
  add (checked, "frames-and-maps", test_frames_and_maps);
  add (checked, "formats", test_formats);
}
