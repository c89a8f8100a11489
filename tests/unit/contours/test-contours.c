/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Contours on the CPU, simplified polygons, hulls, and arguments. */
#include "tests/unit/contours/contour-checks.h"
#include "tests/unit/label/reference.h"

#include <math.h>
#include <string.h>

/* The distance of a point from the edge between two others. */
static double
distance_to_edge (CclContourPoint p, CclContourPoint a, CclContourPoint b)
{
  const double x = b.x - a.x, y = b.y - a.y, length = x * x + y * y;
  double t = length > 0 ? ((p.x - a.x) * x + (p.y - a.y) * y) / length : 0;
  t = CLAMP (t, 0, 1);
  return hypot (p.x - a.x - t * x, p.y - a.y - t * y);
}

static CclContourTable
find (CclContours **contours, const Mask *mask, CclContourKind kind)
{
  CclContoursPlan plan = CUDACCL_CONTOURS_PLAN_DEFAULT;
  const CclFrame frame = {.data = mask->pixels, .stride = mask->width};
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclContourTable table;

  plan.width = mask->width;
  plan.height = mask->height;
  plan.kind = kind;
  *contours = ccl_cpu_contours_new (&plan, NULL);
  g_assert_cmpint (
      ccl_contours_of_frame (*contours, &frame, &options, &table, NULL), ==, CUDACCL_OK);
  return table;
}

/* Every point that is left out is near the edge that replaces it. */
static void
check_simplified (const CclContourPoint *points, uint32_t n, double tolerance)
{
  g_autofree CclContourPoint *simplified = g_new (CclContourPoint, n);
  const uint32_t n_left = ccl_contour_simplify (points, n, tolerance, simplified);
  uint32_t corner = 0;

  g_assert_cmpuint (n_left, >=, 1);
  g_assert_cmpmem (simplified, sizeof *points, points, sizeof *points);
  for (uint32_t i = 0; i < n; i++) {
    const CclContourPoint *next = &simplified[(corner + 1) % n_left];
    if (corner + 1 < n_left && memcmp (&points[i], next, sizeof *next) == 0)
      corner++;
    else
      g_assert_cmpfloat (
          distance_to_edge (points[i], simplified[corner], *next), <=, tolerance + 1e-9);
  }
  g_assert_cmpuint (corner, ==, n_left - 1);
}

static void
test_simplify (void)
{
  for (uint32_t seed = 0; seed < 8; seed++) {
    Mask *mask = mask_new_from_noise (90, 60, 3 + seed, 55, seed);
    CclContours *contours;
    const CclContourTable table = find (&contours, mask, (CclContourKind)(seed % 2));
    for (uint32_t i = 0; i < table.n_contours; i++)
      for (uint32_t tolerance = 0; tolerance < 4; tolerance++)
        check_simplified (
            table.points + table.rows[i].first_point, table.rows[i].n_points, 0.75 * tolerance);
    ccl_contours_free (&contours);
    mask_free (mask);
  }
}

/* A rectangle as pixels keeps its corners, and a staircase becomes a line. */
static void
test_simplified_shapes (void)
{
  CclContourPoint rectangle[] = {
      {2, 1}, {2, 2}, {2, 3}, {3, 3}, {4, 3}, {5, 3}, {5, 2}, {5, 1}, {4, 1}, {3, 1}};
  const CclContourPoint corners[] = {{2, 1}, {2, 3}, {5, 3}, {5, 1}};
  const CclContourPoint stairs[] = {{0, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 2}, {2, 3}, {3, 3}};
  CclContourPoint simplified[7];

  g_assert_cmpuint (ccl_contour_simplify (rectangle, 10, 0, rectangle), ==, 4);
  g_assert_cmpmem (rectangle, sizeof corners, corners, sizeof corners);
  g_assert_cmpuint (ccl_contour_simplify (stairs, 7, 1, simplified), ==, 2);
  g_assert_cmpuint (ccl_contour_simplify (stairs, 7, 0.2, simplified), ==, 7);
  g_assert_cmpuint (ccl_contour_simplify (stairs, 1, 5, simplified), ==, 1);
  g_assert_cmpuint (ccl_contour_simplify (stairs, 7, -1, simplified), ==, 0);
  g_assert_cmpuint (ccl_contour_simplify (stairs, 7, NAN, simplified), ==, 0);
  g_assert_cmpuint (ccl_contour_simplify (NULL, 7, 0, simplified), ==, 0);
}

/* Whether all points are on the inner side of the line through two corners, or on it. */
static bool
is_edge_of_hull (const CclContourPoint *points, uint32_t n, CclContourPoint a, CclContourPoint b)
{
  for (uint32_t i = 0; i < n; i++)
    if ((int64_t)(b.x - a.x) * (points[i].y - a.y) > (int64_t)(b.y - a.y) * (points[i].x - a.x))
      return false;
  return true;
}

/* Every edge of the hull has all points on one side; the measures are those of all pairs. */
static void
check_hull (const CclContourPoint *points, uint32_t n)
{
  g_autofree CclContourPoint *corners = g_new (CclContourPoint, n);
  CclHull hull;
  double greatest = 0, least = INFINITY;

  g_assert_cmpint (ccl_contour_hull (points, n, &hull, corners, NULL), ==, CUDACCL_OK);
  g_assert_cmpfloat (hull.area, ==, ccl_contour_area_2 (corners, hull.n_points) / 2.0);
  for (uint32_t i = 0; i < hull.n_points; i++) {
    const CclContourPoint a = corners[i], b = corners[(i + 1) % hull.n_points];
    double width = 0;
    g_assert_true (is_edge_of_hull (points, n, a, b));
    for (uint32_t j = 0; j < n; j++)
      width = MAX (width, fabs ((double)(b.x - a.x) * (points[j].y - a.y) -
                                (double)(b.y - a.y) * (points[j].x - a.x)) /
                              hypot (b.x - a.x, b.y - a.y));
    least = MIN (least, width);
  }
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < i; j++)
      greatest = MAX (greatest, hypot (points[i].x - points[j].x, points[i].y - points[j].y));
  g_assert_cmpfloat_with_epsilon (hull.feret_max, greatest, 1e-9);
  g_assert_cmpfloat_with_epsilon (hull.feret_min, least, 1e-9);
}

/* The hulls of labels are those of their outer contours. */
static void
check_label_hulls (const Mask *mask, const CclContourTable *cracks)
{
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  Reference *labelled = reference_new ((const uint8_t *)mask->pixels, mask->width, mask->height,
      mask->width, CUDACCL_CONNECTIVITY_8, &options);
  const CclLabels labels = {labelled->labels, 4 * (size_t)mask->width};
  uint32_t n = 0;

  for (uint32_t i = 0; i < cracks->n_contours; i++) {
    CclHull of_label = {0}, of_contour = {0};
    if (cracks->rows[i].is_hole)
      continue;
    g_assert_cmpint (
        ccl_label_hull (&labels, &labelled->rows[n++], &of_label, NULL), ==, CUDACCL_OK);
    ccl_contour_hull (cracks->points + cracks->rows[i].first_point, cracks->rows[i].n_points,
        &of_contour, NULL, NULL);
    g_assert_cmpmem (&of_label, sizeof of_label, &of_contour, sizeof of_contour);
  }
  g_assert_cmpuint (n, ==, labelled->n_components);
  reference_free (labelled);
}

static void
test_hulls (void)
{
  for (uint32_t seed = 0; seed < 6; seed++) {
    Mask *mask = mask_new_from_noise (70, 50, 2 + seed, 40, seed);
    CclContours *contours;
    const CclContourTable table = find (&contours, mask, CUDACCL_CONTOUR_CRACKS);
    for (uint32_t i = 0; i < table.n_contours; i++)
      check_hull (table.points + table.rows[i].first_point, table.rows[i].n_points);
    check_label_hulls (mask, &table);
    ccl_contours_free (&contours);
    mask_free (mask);
  }
}

static void
test_hulls_of_points_and_lines (void)
{
  const CclContourPoint line[] = {{1, 1}, {4, 5}, {1, 1}, {7, 9}};
  const CclContourPoint far = {1 << 30, 0};
  const CclComponent nothing = {.label = 1};
  CclHull hull = {0};

  g_assert_cmpint (ccl_label_hull (NULL, &nothing, &hull, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  const CclLabels no_data = {NULL, 4};
  const CclComponent pixel = {.label = 1, .area = 1, .width = 1, .height = 1};
  g_assert_cmpint (ccl_label_hull (&no_data, &pixel, &hull, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_contour_hull (line, 1, &hull, NULL, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (hull.n_points, ==, 1);
  g_assert_cmpfloat (hull.area + hull.feret_max + hull.feret_min, ==, 0);
  g_assert_cmpint (ccl_contour_hull (line, 4, &hull, NULL, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (hull.n_points, ==, 2);
  g_assert_cmpfloat (hull.feret_max, ==, 10);
  g_assert_cmpfloat (hull.area + hull.feret_min, ==, 0);
  g_assert_cmpint (ccl_contour_hull (line, 0, &hull, NULL, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_contour_hull (&far, 1, &hull, NULL, NULL), ==, CUDACCL_ERROR_ARGUMENT);
}

/* The polygons of a component and its holes have its area. */
static void
test_areas (void)
{
  Mask *mask = mask_new_from_noise (60, 60, 2, 60, 3);
  CclContours *contours;
  const CclContourTable table = find (&contours, mask, CUDACCL_CONTOUR_CRACKS);
  int64_t area = 0, n_pixels = 0;

  for (uint32_t i = 0; i < table.n_contours; i++) {
    const int64_t own =
        ccl_contour_area_2 (table.points + table.rows[i].first_point, table.rows[i].n_points);
    g_assert_true ((own < 0) == (table.rows[i].is_hole == 1));
    area += own;
  }
  for (uint32_t i = 0; i < 3600; i++)
    n_pixels += mask->pixels[i];
  g_assert_cmpint (area, ==, 2 * n_pixels);
  ccl_contours_free (&contours);
  mask_free (mask);
}

static void
test_arguments (void)
{
  CclContoursPlan plan = CUDACCL_CONTOURS_PLAN_DEFAULT;
  CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  const uint8_t pixels[2] = {1, 0};
  CclFrame frame = {.data = pixels, .stride = 2};
  CclContourTable table;
  CclError error = {CUDACCL_OK};

  g_assert_null (ccl_cpu_contours_new (NULL, NULL));
  g_assert_null (ccl_cpu_contours_new (&plan, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
  plan.width = CUDACCL_MAX_FEATURE_SIDE;
  plan.height = CUDACCL_MAX_FEATURE_SIDE;
  g_assert_null (ccl_cpu_contours_new (&plan, NULL));
  plan.width = 2;
  plan.height = 1;
  plan.kind = (CclContourKind)2;
  g_assert_null (ccl_cpu_contours_new (&plan, NULL));
  plan.kind = CUDACCL_CONTOUR_PIXELS;
  plan.connectivity = (CclConnectivity)6;
  g_assert_null (ccl_cpu_contours_new (&plan, NULL));
  plan.connectivity = CUDACCL_CONNECTIVITY_8;
  CclContours *contours = ccl_cpu_contours_new (&plan, NULL);
  g_assert_cmpint (ccl_contours_of_frame (contours, &frame, &options, &table, NULL), ==, 0);
  g_assert_cmpuint (table.n_points, ==, 1);
  g_assert_cmpint (ccl_contours_of_frame (contours, &frame, NULL, &table, NULL), ==, 1);
  options.min_area = 2;
  g_assert_cmpint (ccl_contours_of_frame (contours, &frame, &options, &table, NULL), ==, 1);
  options.min_area = 0;
  frame.stride = 1;
  g_assert_cmpint (ccl_contours_of_frame (contours, &frame, &options, &table, NULL), ==, 1);
  frame.stride = 2;
  frame.location = CUDACCL_LOCATION_DEVICE;
  g_assert_cmpint (ccl_contours_of_frame (contours, &frame, &options, &table, NULL), ==, 1);
  const CclLabels labels = {(void *)&plan, 6};
  g_assert_cmpint (ccl_contours_of_labels (contours, &labels, &table, NULL), ==, 1);
  ccl_contours_free (&contours);
  ccl_contours_free (&contours);
  ccl_contours_free (NULL);
}

int
main (int argc, char **argv)
{
  static const ContourBackend cpu = {
      "cpu", ccl_cpu_contours_new, ccl_contours_of_frame, ccl_contours_of_labels, 1};

  g_test_init (&argc, &argv, NULL);
  contour_checks_register (&cpu);
  g_test_add_func ("/contours/simplify", test_simplify);
  g_test_add_func ("/contours/simplified-shapes", test_simplified_shapes);
  g_test_add_func ("/contours/hulls", test_hulls);
  g_test_add_func ("/contours/hulls-of-points-and-lines", test_hulls_of_points_and_lines);
  g_test_add_func ("/contours/areas", test_areas);
  g_test_add_func ("/contours/arguments", test_arguments);
  return g_test_run ();
}
