/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The measures of a component, or of the part of one that is inside a tile or a block. */
#ifndef CUDACCL_TILED_PART_H
#define CUDACCL_TILED_PART_H

#include <cudaccl/tiled.h>

/* Expands FIELD (type, field, combine) for each number that a row of the table is computed from;
 * combine is as in CUDACCL_FEATURES(). Sums are those of the pixels' coordinates. */
#define PART_FIELDS(FIELD)                                                                         \
  FIELD (uint64_t, area, SUM)                                                                      \
  FIELD (uint64_t, sum_x, SUM)                                                                     \
  FIELD (uint64_t, sum_y, SUM)                                                                     \
  FIELD (uint64_t, sum_z, SUM)                                                                     \
  FIELD (uint32_t, least_x, MIN)                                                                   \
  FIELD (uint32_t, least_y, MIN)                                                                   \
  FIELD (uint32_t, least_z, MIN)                                                                   \
  FIELD (uint32_t, greatest_x, MAX)                                                                \
  FIELD (uint32_t, greatest_y, MAX)                                                                \
  FIELD (uint32_t, greatest_z, MAX)

typedef struct Part {
#define PART_FIELD(type, field, combine) type field;
  PART_FIELDS (PART_FIELD)
#undef PART_FIELD
} Part;

/* A part without pixels. */
#define EMPTY_PART ((Part){.least_x = UINT32_MAX, .least_y = UINT32_MAX, .least_z = UINT32_MAX})

static inline void
part_add (Part *part, const Part *other)
{
#define PART_SUM(a, b) ((a) + (b))
#define PART_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PART_MAX(a, b) ((a) > (b) ? (a) : (b))
#define PART_COMBINE(type, field, combine) part->field = PART_##combine (part->field, other->field);
  PART_FIELDS (PART_COMBINE)
#undef PART_COMBINE
#undef PART_MAX
#undef PART_MIN
#undef PART_SUM
}

/* The row of a component, from all of it. */
static inline CclTiledComponent
part_row (const Part *part, uint64_t label)
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

/* Whether a component of this area gets a label. */
static inline bool
area_passes (const CclTiledPlan *plan, uint64_t area)
{
  return area >= plan->min_area && (plan->max_area == 0 || area <= plan->max_area);
}

static inline bool
is_frame (const CclTiledPlan *plan)
{
  return plan->connectivity == 4 || plan->connectivity == 8;
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

#endif /* CUDACCL_TILED_PART_H */
