/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "join.h"

typedef struct Joint {
  void (*unite) (void *data, uint32_t a, uint32_t b);
  void *data;
  uint32_t a, b; /* the latest pair */
} Joint;

/* Joins a row of the lower layer to one of the upper layer. reach: 1 if pixels at neighbouring x
 * touch, too. */
static void
join_rows (
    Joint *joint, const uint32_t *upper, const uint32_t *lower, uint64_t width, uint32_t reach)
{
  for (uint64_t x = 0; x < width; x++) {
    if (!lower[x])
      continue;
    const uint64_t begin = x >= reach ? x - reach : 0;
    const uint64_t end = x + reach < width ? x + reach : width - 1;
    for (uint64_t u = begin; u <= end; u++) {
      if (!upper[u] || (upper[u] == joint->a && lower[x] == joint->b))
        continue;
      joint->a = upper[u];
      joint->b = lower[x];
      joint->unite (joint->data, joint->a, joint->b);
    }
  }
}

void
join_layers (const CclTiledPlan *plan, const uint32_t *upper, const uint32_t *lower,
    void (*unite) (void *data, uint32_t a, uint32_t b), void *data)
{
  Joint joint = {.unite = unite, .data = data};
  const uint64_t width = plan->width;

  if (is_frame (plan)) {
    join_rows (&joint, upper, lower, width, plan->connectivity == 8);
    return;
  }
  for (uint64_t y = 0; y < plan->height; y++) {
    const uint32_t *row = lower + y * width;
    join_rows (&joint, upper + y * width, row, width, plan->connectivity != 6);
    if (plan->connectivity == 6)
      continue;
    const uint32_t reach = plan->connectivity == 26;
    if (y > 0)
      join_rows (&joint, upper + (y - 1) * width, row, width, reach);
    if (y + 1 < plan->height)
      join_rows (&joint, upper + (y + 1) * width, row, width, reach);
  }
}
