/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plan of a set of regions: its checks, and its corners in the integers of the geometry. */
#pragma once

#include <cudaccl/regions.h>

#include <math.h>

#define CUDACCL_UNITS_PER_PIXEL 256

/* Coordinates are less than 2^29, so that products of two differences and sums of two products fit
 * into 64 bits. */
typedef struct Place {
  int64_t x, y;
} Place;

/* Twice the signed area of the triangle: positive if c is on the right of the way from a to b. */
static inline int64_t
ccl_place_area (Place a, Place b, Place c)
{
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static inline Place
ccl_round_place (double x, double y)
{
  return (Place){llround (x * CUDACCL_UNITS_PER_PIXEL), llround (y * CUDACCL_UNITS_PER_PIXEL)};
}

/* Checks a plan with all its regions. */
CclStatus ccl_regions_check_plan (const CclRegionsPlan *plan, CclError *error);

/* A corner of a region. */
Place ccl_region_corner (const CclRegion *region, const CclRegionsPlan *plan, uint32_t corner);
