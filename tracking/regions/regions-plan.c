/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions-plan.h"

#include "core/base/status.h"
#include "core/base/struct-size.h"

#include <string.h>

#define MAX_CAPACITY 4096
#define MAX_LIMIT 1e6 /* km/h */

static double
scale_x (const CclRegion *region, const CclRegionsPlan *plan)
{
  return region->relative ? plan->width : 1;
}

static double
scale_y (const CclRegion *region, const CclRegionsPlan *plan)
{
  return region->relative ? plan->height : 1;
}

Place
ccl_region_corner (const CclRegion *region, const CclRegionsPlan *plan, uint32_t corner)
{
  const CclPoint point = region->points[corner];
  return ccl_round_place (point.x * scale_x (region, plan), point.y * scale_y (region, plan));
}

/* Whether all corners, whose coordinates are in range, are on one straight line. */
static bool
is_flat (const CclRegion *region, const CclRegionsPlan *plan)
{
  const Place first = ccl_region_corner (region, plan, 0);
  Place other = first;
  for (uint32_t i = 1; i < region->n_points; i++) {
    const Place corner = ccl_region_corner (region, plan, i);
    if (ccl_place_area (first, other, corner) != 0)
      return false;
    if (other.x == first.x && other.y == first.y)
      other = corner;
  }
  return true;
}

static bool
are_same (Place a, Place b)
{
  return a.x == b.x && a.y == b.y;
}

static CclStatus
check_corners (const CclRegion *region, const CclRegionsPlan *plan, CclError *error)
{
  for (uint32_t i = 0; i < region->n_points; i++)
    if (!(fabs (region->points[i].x * scale_x (region, plan)) <= CUDACCL_MAX_REGION_COORDINATE) ||
        !(fabs (region->points[i].y * scale_y (region, plan)) <= CUDACCL_MAX_REGION_COORDINATE))
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
          "point %u of region \"%s\" is outside of the possible coordinates, -%d to %d pixels",
          i + 1, region->name, CUDACCL_MAX_REGION_COORDINATE, CUDACCL_MAX_REGION_COORDINATE);
  if (region->kind == CUDACCL_REGION_LINE &&
      are_same (ccl_region_corner (region, plan, 0), ccl_region_corner (region, plan, 1)))
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "both points of line \"%s\" are the same", region->name);
  if (region->kind == CUDACCL_REGION_POLYGON && is_flat (region, plan))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "all corners of region \"%s\" are on one line", region->name);
  return CUDACCL_OK;
}

static bool
is_limit (double speed)
{
  return speed >= 0 && speed <= MAX_LIMIT;
}

static CclStatus
check_region (const CclRegionsPlan *plan, uint32_t index, CclError *error)
{
  const CclRegion *region = &plan->regions[index];
  if (!region->name || !region->name[0])
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "region %u has no name", index + 1);
  for (uint32_t i = 0; i < index; i++)
    if (strcmp (plan->regions[i].name, region->name) == 0)
      return ccl_error_set (
          error, CUDACCL_ERROR_ARGUMENT, "two regions have the name \"%s\"", region->name);
  if (region->kind != CUDACCL_REGION_POLYGON && region->kind != CUDACCL_REGION_LINE)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "region \"%s\" is of the unknown kind %d",
        region->name, (int)region->kind);
  if (region->kind == CUDACCL_REGION_LINE && region->n_points != 2)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "line \"%s\" has %u points instead of 2",
        region->name, region->n_points);
  if (region->kind == CUDACCL_REGION_POLYGON &&
      (region->n_points < 3 || region->n_points > CUDACCL_MAX_REGION_POINTS))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "region \"%s\" has %u corners; 3 to %d are possible", region->name, region->n_points,
        CUDACCL_MAX_REGION_POINTS);
  if (!region->points)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "region \"%s\" has no points", region->name);
  if (!is_limit (region->faster_than) || !is_limit (region->slower_than))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the limits of speed of region \"%s\" must be 0…%g km/h", region->name, MAX_LIMIT);
  return check_corners (region, plan, error);
}

CclStatus
ccl_regions_check_plan (const CclRegionsPlan *plan, CclError *error)
{
  CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->width < 1 || plan->height < 1 ||
      (uint64_t)plan->width * plan->height > CUDACCL_MAX_PIXELS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a frame of %u×%u pixels is not possible",
        plan->width, plan->height);
  if (plan->max_tracks < 1 || plan->max_tracks > MAX_CAPACITY)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "max_tracks must be 1…%d, not %u",
        MAX_CAPACITY, plan->max_tracks);
  if (plan->n_regions > CUDACCL_MAX_REGIONS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "%u regions and lines are more than the possible %d", plan->n_regions, CUDACCL_MAX_REGIONS);
  if (plan->n_regions > 0 && !plan->regions)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "there are no regions: their pointer is NULL");
  for (uint32_t i = 0; i < plan->n_regions; i++) {
    const CclStatus status = check_region (plan, i, error);
    if (status != CUDACCL_OK)
      return status;
  }
  return CUDACCL_OK;
}
