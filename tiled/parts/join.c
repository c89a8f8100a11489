/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "join.h"

#include "core/values/similar-values.h"

typedef struct Joint {
  const CclSeam *seam;
  void (*unite) (void *data, uint32_t a, uint32_t b);
  void *data;
  uint32_t a, b; /* the latest pair */
  CclSimilarity similarity;
} Joint;

/* Whether the values of the pixels u and l are equal, or differ by at most the tolerance. */
static bool
have_similar_values (const Joint *joint, uint64_t u, uint64_t l)
{
  const uint8_t *upper = joint->seam->upper_values, *lower = joint->seam->lower_values;
  const size_t bytes = joint->similarity.bytes;
  return ccl_are_similar (&joint->similarity, upper + u * bytes, lower + l * bytes);
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
          (seam->upper_values && !have_similar_values (joint, upper_start + u, lower_start + x)))
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
  const uint32_t connectivity = seam->connectivity;
  Joint joint = {.seam = seam, .unite = unite, .data = data};

  if (seam->upper_values)
    joint.similarity = ccl_similarity (seam->value_type, seam->is_signed, seam->tolerance);

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
