/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "join.h"

typedef struct Joint {
  const CclSeam *seam;
  void (*unite) (void *data, uint32_t a, uint32_t b);
  void *data;
  uint32_t a, b; /* the latest pair */
} Joint;

#define ARE_EQUAL(type)                                                                            \
  (((const type *)seam->upper_values)[u] == ((const type *)seam->lower_values)[l])

/* Whether the values of the pixels u and l are equal. */
static bool
have_equal_values (const CclSeam *seam, uint64_t u, uint64_t l)
{
  switch (seam->value_type) {
  case CUDACCL_VALUE_TYPE_8:
    return ARE_EQUAL (uint8_t);
  case CUDACCL_VALUE_TYPE_16:
    return ARE_EQUAL (uint16_t);
  case CUDACCL_VALUE_TYPE_32:
    return ARE_EQUAL (uint32_t);
  case CUDACCL_VALUE_TYPE_64:
    return ARE_EQUAL (uint64_t);
  case CUDACCL_VALUE_TYPE_REAL_32:
    return ARE_EQUAL (float);
  default:
    return ARE_EQUAL (double);
  }
}

/* Joins a row of the lower layer to one of the upper layer. reach: 1 if pixels at neighbouring x
 * touch, too. */
static void
join_rows (Joint *joint, uint64_t upper_y, uint64_t lower_y, uint32_t reach)
{
  const CclSeam *seam = joint->seam;
  const uint64_t width = seam->width, upper_start = upper_y * width, lower_start = lower_y * width;
  const uint32_t *upper = seam->upper + upper_start, *lower = seam->lower + lower_start;

  for (uint64_t x = 0; x < width; x++) {
    if (!lower[x])
      continue;
    const uint64_t begin = x >= reach ? x - reach : 0;
    const uint64_t end = x + reach < width ? x + reach : width - 1;
    for (uint64_t u = begin; u <= end; u++) {
      if (!upper[u] || (upper[u] == joint->a && lower[x] == joint->b) ||
          (seam->upper_values && !have_equal_values (seam, upper_start + u, lower_start + x)))
        continue;
      joint->a = upper[u];
      joint->b = lower[x];
      joint->unite (joint->data, joint->a, joint->b);
    }
  }
}

void
join_seam (const CclSeam *seam, void (*unite) (void *data, uint32_t a, uint32_t b), void *data)
{
  Joint joint = {.seam = seam, .unite = unite, .data = data};
  const uint32_t connectivity = seam->connectivity;

  if (connectivity == 4 || connectivity == 8) {
    join_rows (&joint, 0, 0, connectivity == 8);
    return;
  }
  for (uint64_t y = 0; y < seam->height; y++) {
    join_rows (&joint, y, y, connectivity != 6);
    if (connectivity == 6)
      continue;
    if (y > 0)
      join_rows (&joint, y - 1, y, connectivity == 26);
    if (y + 1 < seam->height)
      join_rows (&joint, y + 1, y, connectivity == 26);
  }
}

void
join_layers (const CclTiledPlan *plan, const uint32_t *upper, const uint32_t *lower,
    void (*unite) (void *data, uint32_t a, uint32_t b), void *data)
{
  const CclSeam seam = {.width = (uint32_t)plan->width,
      .height = is_frame (plan) ? 1 : (uint32_t)plan->height,
      .connectivity = plan->connectivity,
      .upper = upper,
      .lower = lower};
  join_seam (&seam, unite, data);
}
