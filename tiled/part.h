/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The measures of a component, or of the part of one that is inside a tile or a block. */
#ifndef CUDACCL_TILED_PART_H
#define CUDACCL_TILED_PART_H

#include <cudaccl/tiled.h>

enum { X, Y, Z, N_AXES };

typedef struct Part {
  uint64_t area;
  uint64_t sum[N_AXES];   /* of the pixels' coordinates */
  uint32_t least[N_AXES]; /* coordinates */
  uint32_t greatest[N_AXES];
} Part;

static inline void
part_add (Part *part, const Part *other)
{
  part->area += other->area;
  for (int axis = 0; axis < N_AXES; axis++) {
    part->sum[axis] += other->sum[axis];
    if (other->least[axis] < part->least[axis])
      part->least[axis] = other->least[axis];
    if (other->greatest[axis] > part->greatest[axis])
      part->greatest[axis] = other->greatest[axis];
  }
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
