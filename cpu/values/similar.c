/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels pictures whose neighbours are connected where their values are similar. That a pixel is
 * similar to two neighbours does not make these similar to each other, so every pixel is compared
 * with each neighbour before it. */
#include <cudaccl/values.h>

#include "core/base/interruption.h"
#include "core/values/similar-values.h"
#include "cpu/label/equivalences.h"

#include <stdlib.h>

typedef struct Similar {
  const CclValues *values;
  const CclValuesPlan *plan;
  CclSimilarity similarity;
  uint32_t *parents; /* of the pixels in raster order, from entry 1 on (equivalences.h); 0:
                      * background */
} Similar;

static const void *
value_at (const Similar *self, uint32_t x, uint32_t y, uint32_t z)
{
  return (const char *)self->values->data + z * self->values->slice_stride +
         y * self->values->row_stride + x * self->similarity.bytes;
}

/* Unites a pixel with the neighbours before it that are similar. */
static void
unite_pixel (Similar *self, uint32_t x, uint32_t y, uint32_t z)
{
  const CclValuesPlan *plan = self->plan;
  const uint32_t width = plan->width, height = plan->height, c = plan->connectivity;
  const int most_axes = c == 4 || c == 6 ? 1 : c == 8 || c == 18 ? 2 : 3;
  const uint32_t pixel = (z * height + y) * width + x + 1;
  const void *value = value_at (self, x, y, z);

  for (int dz = z > 0 ? -1 : 0; dz <= 0; dz++)
    for (int dy = y > 0 ? -1 : 0; dy <= (dz < 0 && y + 1 < height ? 1 : 0); dy++)
      for (int dx = x > 0 ? -1 : 0; dx <= (x + 1 < width ? 1 : 0); dx++) {
        if (dz == 0 && (dy > 0 || (dy == 0 && dx >= 0)))
          continue;
        if ((dx != 0) + (dy != 0) + (dz != 0) > most_axes)
          continue;
        const uint32_t other =
            ((z + (uint32_t)dz) * height + y + (uint32_t)dy) * width + x + (uint32_t)dx + 1;
        if (self->parents[other] &&
            ccl_are_similar (&self->similarity, value,
                value_at (self, x + (uint32_t)dx, y + (uint32_t)dy, z + (uint32_t)dz)))
          unite (self->parents, self->parents[pixel], self->parents[other]);
      }
}

/* Replaces parents by labels. Returns the number of components. */
static uint32_t
write_numbers (Similar *self, const CclVolumeLabels *labels)
{
  const uint32_t width = self->plan->width, height = self->plan->height;
  uint32_t n = 0, i = 1;

  for (uint32_t z = 0; z < self->plan->depth; z++)
    for (uint32_t y = 0; y < height; y++) {
      uint32_t *row =
          (uint32_t *)((char *)labels->data + z * labels->slice_stride + y * labels->row_stride);
      for (uint32_t x = 0; x < width; x++, i++) {
        const uint32_t parent = self->parents[i];
        self->parents[i] = parent == 0 ? 0 : parent == i ? ++n : self->parents[parent];
        row[x] = self->parents[i];
      }
    }
  return n;
}

CclStatus
ccl_label_similar_values (const CclValuesPlan *plan, const CclValues *values, bool is_signed,
    double tolerance, const uint8_t *foreground, const CclVolumeLabels *labels,
    uint32_t *n_components, CclError *error)
{
  CclStatus status = ccl_values_plan_check (plan, error);

  if (status != CUDACCL_OK)
    return status;
  if (!values || !labels || !n_components || !(tolerance >= 0))
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "values, labels and a tolerance of 0 or more are needed");
  status = ccl_values_check (plan, CUDACCL_LOCATION_HOST, values, labels, error);
  if (status != CUDACCL_OK)
    return status;
  const uint64_t n = (uint64_t)plan->width * plan->height * plan->depth;
  Similar self = {.values = values,
      .plan = plan,
      .similarity = ccl_similarity (plan->type, is_signed, tolerance),
      .parents = malloc ((n + 1) * sizeof *self.parents)};
  if (!self.parents)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to label a picture with a tolerance");
  uint32_t i = 1;
  for (uint32_t z = 0; z < plan->depth; z++)
    for (uint32_t y = 0; y < plan->height && !ccl_is_interrupted (plan->width); y++)
      for (uint32_t x = 0; x < plan->width; x++, i++) {
        self.parents[i] = foreground && !foreground[i - 1] ? 0 : i;
        if (self.parents[i])
          unite_pixel (&self, x, y, z);
      }
  status = ccl_interruption_status (error);
  if (status == CUDACCL_OK)
    *n_components = write_numbers (&self, labels);
  free (self.parents);
  return status;
}
