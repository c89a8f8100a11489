/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the parts of labels: the components of a label map whose values are labels. */
#include "core/label/labeller-class.h"

#include <cudaccl/values.h>
#include <stdlib.h>

/* Counts the parts by their first pixels: in raster order, part k + 1 begins behind part k. */
static void
count_first_pixels (const CclVolumeLabels *labels, const CclValuesPlan *plan, const uint32_t *parts,
    uint32_t n, uint32_t *n_parts)
{
  uint32_t next = 1;

  for (uint32_t z = 0; z < plan->depth; z++)
    for (uint32_t y = 0; y < plan->height; y++, parts += plan->width) {
      const uint32_t *row = (const uint32_t *)((const uint8_t *)labels->data +
                                               z * labels->slice_stride + y * labels->row_stride);
      for (uint32_t x = 0; x < plan->width; x++)
        if (parts[x] == next) {
          next++;
          if (row[x] <= n)
            n_parts[row[x] - 1]++;
        }
    }
}

CclStatus
ccl_count_parts (const CclVolumeLabels *labels, uint32_t width, uint32_t height, uint32_t depth,
    uint32_t connectivity, uint32_t n, uint32_t *n_parts, CclError *error)
{
  CclValuesPlan plan = CUDACCL_VALUES_PLAN_DEFAULT;
  uint32_t n_components;
  CclError own_error;

  error = error ? error : &own_error;
  if (!labels || (n && !n_parts))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "labels and n_parts must not be NULL");
  plan.width = width;
  plan.height = height;
  plan.depth = depth;
  plan.connectivity = connectivity;
  plan.type = CUDACCL_VALUE_TYPE_32;
  CclValuesLabeller *labeller = ccl_cpu_values_labeller_new (&plan, error);
  if (!labeller)
    return error->status;
  const size_t row = (size_t)width * sizeof (uint32_t), slice = row * height;
  const CclVolumeLabels parts = {malloc (slice * depth), row, slice};
  const CclValues values = {
      labels->data, labels->row_stride, labels->slice_stride, CUDACCL_LOCATION_HOST};
  CclStatus status =
      parts.data ? ccl_values_labeller_run (labeller, &values, &parts, &n_components, error)
                 : ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for parts");
  for (uint32_t i = 0; i < n && status == CUDACCL_OK; i++)
    n_parts[i] = 0;
  if (status == CUDACCL_OK)
    count_first_pixels (labels, &plan, parts.data, n, n_parts);
  free (parts.data);
  ccl_values_labeller_free (&labeller);
  return status;
}
