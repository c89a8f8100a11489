/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers that follow from a plan. Layers are the rows of a frame, and the slices of a volume. */
#pragma once

#include <cudaccl/tiled.h>

static inline bool
is_frame (const CclTiledPlan *plan)
{
  return plan->connectivity == 4 || plan->connectivity == 8;
}

static inline uint64_t
layer_pixels (const CclTiledPlan *plan)
{
  return is_frame (plan) ? plan->width : plan->width * plan->height;
}

static inline uint64_t
n_layers_of (const CclTiledPlan *plan)
{
  return is_frame (plan) ? plan->height : plan->depth;
}

/* The most bytes that tiles may take. */
static inline uint64_t
memory_of (const CclTiledPlan *plan)
{
  return plan->memory ? plan->memory : (uint64_t)1 << 30;
}

/* Bytes of a value of a second plane. */
static inline size_t
value_bytes (CclPixelFormat format)
{
  return format == CUDACCL_PIXEL_FORMAT_8    ? 1
         : format == CUDACCL_PIXEL_FORMAT_16 ? sizeof (uint16_t)
                                             : sizeof (double);
}

static inline CclStatus
to_status (bool succeeded)
{
  return succeeded ? CUDACCL_OK : CUDACCL_ERROR_IO;
}
