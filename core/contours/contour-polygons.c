/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is computed from the points of one contour: simpler polygons, area, convex hull. */
#include "core/label/labeller-class.h"

#include <cudaccl/contours.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With coordinates up to this one, products of differences have 60 bits. */
#define MAX_COORDINATE (1 << 29)

static int64_t
cross (CclContourPoint a, CclContourPoint b, CclContourPoint c)
{
  return ((int64_t)b.x - a.x) * ((int64_t)c.y - a.y) - ((int64_t)b.y - a.y) * ((int64_t)c.x - a.x);
}

static bool
are_in_range (const CclContourPoint *points, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (points[i].x < -MAX_COORDINATE || points[i].x > MAX_COORDINATE ||
        points[i].y < -MAX_COORDINATE || points[i].y > MAX_COORDINATE)
      return false;
  return true;
}

static double
squared_distance (CclContourPoint a, CclContourPoint b)
{
  const double x = (double)b.x - a.x, y = (double)b.y - a.y;
  return x * x + y * y;
}

/* The squared distance of p from the edge from a to b. */
static double
squared_distance_to_edge (CclContourPoint p, CclContourPoint a, CclContourPoint b)
{
  const double x = (double)b.x - a.x, y = (double)b.y - a.y;
  const double length = x * x + y * y;
  const double along = x * ((double)p.x - a.x) + y * ((double)p.y - a.y);

  if (along <= 0)
    return squared_distance (p, a);
  if (along >= length)
    return squared_distance (p, b);
  const double area = (double)cross (a, b, p);
  return area * area / length;
}

int64_t
ccl_contour_area_2 (const CclContourPoint *points, uint32_t n)
{
  uint64_t area = 0; /* sums of parts may be greater than the whole and wrap */

  for (uint32_t i = 0; i + 1 < n; i++)
    area -= (uint64_t)cross (points[0], points[i], points[i + 1]);
  return (int64_t)area;
}

/* A part of a closed polygon, from a corner that stays to the next one: the indices of both, of
 * which the last may be n, for point 0. */
typedef struct Part {
  uint32_t first, last;
} Part;

/* The point of a part that is farthest from the edge between its ends; the part's first point if
 * all are within the tolerance. */
static uint32_t
farthest_of_part (const CclContourPoint *points, uint32_t n, Part part, double squared_tolerance)
{
  const CclContourPoint a = points[part.first], b = points[part.last % n];
  double greatest = squared_tolerance;
  uint32_t farthest = part.first;

  for (uint32_t i = part.first + 1; i < part.last; i++) {
    const double distance = squared_distance_to_edge (points[i], a, b);
    if (distance > greatest) {
      greatest = distance;
      farthest = i;
    }
  }
  return farthest;
}

/* Marks the points that stay. Of two parts, the smaller one is split first, so that few wait. */
static void
mark_points (
    const CclContourPoint *points, uint32_t n, double squared_tolerance, uint8_t *stays, Part part)
{
  Part waiting[33];
  uint32_t n_waiting = 0;

  for (;;) {
    const uint32_t middle = farthest_of_part (points, n, part, squared_tolerance);
    if (middle == part.first) {
      if (n_waiting == 0)
        return;
      part = waiting[--n_waiting];
      continue;
    }
    stays[middle / 8] |= (uint8_t)(1 << middle % 8);
    const Part before = {part.first, middle}, after = {middle, part.last};
    const bool before_is_smaller = middle - part.first < part.last - middle;
    waiting[n_waiting++] = before_is_smaller ? after : before;
    part = before_is_smaller ? before : after;
  }
}

uint32_t
ccl_contour_simplify (
    const CclContourPoint *points, uint32_t n, double tolerance, CclContourPoint *simplified)
{
  if (!points || !simplified || n < 1 || !(tolerance >= 0) || !are_in_range (points, n))
    return 0;
  uint8_t *stays = calloc (n / 8 + 1, 1);
  if (!stays)
    return 0;

  uint32_t farthest = 0, n_left = 0;
  for (uint32_t i = 1; i < n; i++)
    if (squared_distance (points[0], points[i]) > squared_distance (points[0], points[farthest]))
      farthest = i;
  stays[0] = 1;
  if (farthest) {
    stays[farthest / 8] |= (uint8_t)(1 << farthest % 8);
    mark_points (points, n, tolerance * tolerance, stays, (Part){0, farthest});
    mark_points (points, n, tolerance * tolerance, stays, (Part){farthest, n});
  }
  for (uint32_t i = 0; i < n; i++)
    if (stays[i / 8] >> i % 8 & 1)
      simplified[n_left++] = points[i];
  free (stays);
  return n_left;
}

static int
compare_points (const void *first, const void *second)
{
  const CclContourPoint *a = first, *b = second;
  return a->x != b->x ? (a->x > b->x) - (a->x < b->x) : (a->y > b->y) - (a->y < b->y);
}

/* Appends a point to a chain of corners that turns to one side, from corner `first` on. */
static uint32_t
append_corner (CclContourPoint *corners, uint32_t first, uint32_t n, CclContourPoint point)
{
  while (n >= first + 2 && cross (corners[n - 2], corners[n - 1], point) >= 0)
    n--;
  corners[n] = point;
  return n + 1;
}

/* Andrew's monotone chain: the lower side of the screen from the left, then the upper one back.
 * points are sorted; corners has room for n + 1. */
static uint32_t
find_corners (const CclContourPoint *points, uint32_t n, CclContourPoint *corners)
{
  uint32_t n_corners = 0;

  for (uint32_t i = 0; i < n; i++)
    n_corners = append_corner (corners, 0, n_corners, points[i]);
  const uint32_t turning = n_corners - 1;
  for (uint32_t i = n - 1; i-- > 0;)
    n_corners = append_corner (corners, turning, n_corners, points[i]);
  return n_corners > 1 ? n_corners - 1 : 1; /* the last one is the first one again */
}

static uint32_t
without_duplicates (CclContourPoint *points, uint32_t n)
{
  uint32_t n_left = 1;

  for (uint32_t i = 1; i < n; i++)
    if (compare_points (&points[i], &points[n_left - 1]) != 0)
      points[n_left++] = points[i];
  return n_left;
}

/* From edge to edge, the corner that is farthest from it moves in the same direction as the edges
 * (rotating calipers). */
static void
measure_feret (const CclContourPoint *corners, uint32_t n, CclHull *hull)
{
  double greatest = 0, least = INFINITY;
  uint32_t opposite = n > 1;

  for (uint32_t i = 0; i < n && n > 2; i++) {
    const CclContourPoint a = corners[i], b = corners[(i + 1) % n];
    while (-cross (a, b, corners[(opposite + 1) % n]) > -cross (a, b, corners[opposite]))
      opposite = (opposite + 1) % n;
    const double height = (double)-cross (a, b, corners[opposite]);
    const double width = height / sqrt (squared_distance (a, b));
    least = width < least ? width : least;
  }
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = i + 1; j < n; j++) {
      const double distance = squared_distance (corners[i], corners[j]);
      greatest = distance > greatest ? distance : greatest;
    }
  hull->feret_max = sqrt (greatest);
  hull->feret_min = n > 2 ? least : 0;
}

CclStatus
ccl_contour_hull (const CclContourPoint *points, uint32_t n, CclHull *hull,
    CclContourPoint *corners, CclError *error)
{
  if (!points || n < 1 || !hull)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a hull needs at least one point, and memory for its measures");
  if (!are_in_range (points, n))
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "a point has a coordinate beyond ±%d", MAX_COORDINATE);
  CclContourPoint *sorted = malloc ((2 * (size_t)n + 1) * sizeof *sorted);
  if (!sorted)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for the hull of %u points", n);
  memcpy (sorted, points, n * sizeof *sorted);
  qsort (sorted, n, sizeof *sorted, compare_points);
  CclContourPoint *found = sorted + n;
  hull->n_points = find_corners (sorted, without_duplicates (sorted, n), found);
  hull->area = (double)ccl_contour_area_2 (found, hull->n_points) / 2;
  measure_feret (found, hull->n_points, hull);
  if (corners)
    memcpy (corners, found, hull->n_points * sizeof *corners);
  free (sorted);
  return CUDACCL_OK;
}

/* Appends the corners of the pixels of a label in a row: those of its first and its last one. */
static uint32_t
append_row_corners (
    const CclLabels *labels, const CclComponent *row, uint32_t y, CclContourPoint *points)
{
  const uint32_t *pixels = (const uint32_t *)((const uint8_t *)labels->data + y * labels->stride);
  uint32_t first = row->x, end = row->x + row->width;

  while (first < end && pixels[first] != row->label)
    first++;
  if (first == end)
    return 0;
  while (pixels[end - 1] != row->label)
    end--;
  for (uint32_t i = 0; i < 4; i++)
    points[i] = (CclContourPoint){(int32_t)(i & 1 ? end : first), (int32_t)(y + i / 2)};
  return 4;
}

CclStatus
ccl_label_hull (const CclLabels *labels, const CclComponent *row, CclHull *hull, CclError *error)
{
  uint32_t n = 0;

  if (!labels || !labels->data || !row || !hull || row->width < 1 || row->height < 1)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "a hull needs a label map and a component in it");
  CclContourPoint *points = malloc (4 * (size_t)row->height * sizeof *points);
  if (!points)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for the hull of %u rows", row->height);
  for (uint32_t y = row->y; y < row->y + row->height; y++)
    n += append_row_corners (labels, row, y, points + n);
  const CclStatus status = ccl_contour_hull (points, n, hull, NULL, error);
  free (points);
  return status;
}
