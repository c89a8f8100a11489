/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of the table from the parts of components, and what follows from a plan. */
#pragma once

#include "core/label/component-part.h"

#include <cudaccl/tiled.h>

/* The row of a component, from all of it. */
static inline CclTiledComponent
part_row (const CclPart *part, uint64_t label)
{
  const double area = (double)part->area;

  return (CclTiledComponent){
      .label = label,
      .area = part->area,
      .x = part->least_x,
      .y = part->least_y,
      .z = part->least_z,
      .width = (uint64_t)part->greatest_x - part->least_x + 1,
      .height = (uint64_t)part->greatest_y - part->least_y + 1,
      .depth = (uint64_t)part->greatest_z - part->least_z + 1,
      .centroid_x = (double)part->sum_x / area,
      .centroid_y = (double)part->sum_y / area,
      .centroid_z = (double)part->sum_z / area,
  };
}

static inline bool
is_frame (const CclTiledPlan *plan)
{
  return plan->connectivity == 4 || plan->connectivity == 8;
}

/* Whether a component of this area gets a label. */
static inline bool
area_passes (const CclTiledPlan *plan, uint64_t area)
{
  return area >= plan->min_area && (plan->max_area == 0 || area <= plan->max_area);
}

static inline bool
touches_border (const CclTiledPlan *plan, const CclPart *part)
{
  const bool in_plane = part->least_x == 0 || part->least_y == 0 ||
                        part->greatest_x + (uint64_t)1 == plan->width ||
                        part->greatest_y + (uint64_t)1 == plan->height;
  return in_plane || (!is_frame (plan) &&
                         (part->least_z == 0 || part->greatest_z + (uint64_t)1 == plan->depth));
}

/* Whether a component gets a label. */
static inline bool
part_passes (const CclTiledPlan *plan, const CclPart *part)
{
  return area_passes (plan, part->area) && !(plan->clears_border && touches_border (plan, part));
}

/* The pixels of a layer. */
static inline uint64_t
layer_size (const CclTiledPlan *plan)
{
  return is_frame (plan) ? plan->width : plan->width * plan->height;
}

/* The layers of the whole picture. */
static inline uint64_t
all_layers (const CclTiledPlan *plan)
{
  return is_frame (plan) ? plan->height : plan->depth;
}

/* Whether pixels that touch at a corner are of one component. Otherwise they may still be, by a way
 * through other tiles. */
static inline bool
joins_corners (const CclTiledPlan *plan)
{
  return plan->connectivity == 8 || plan->connectivity == 26;
}

/* Whether components at seams can be measured only when they are known. */
static inline bool
depends_on_corners (const CclTiledPlan *plan)
{
  return !joins_corners (plan) &&
         plan->columns & (CUDACCL_COLUMN_PERIMETER | CUDACCL_COLUMN_TOPOLOGY);
}

/* What measures need to know of the picture. */
static inline CclMeasuredPicture
measured_picture (const CclTiledPlan *plan)
{
  return (CclMeasuredPicture){
      plan->width, plan->height, !is_frame (plan), ccl_values_are_real (plan->intensity_format)};
}
