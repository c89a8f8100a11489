/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "label-values.h"

#include "error.h"

#include <cudaccl/values.h>
#include <stdlib.h>

static CclValueType
value_type (SampleType type)
{
  if (type == SAMPLE_FLOAT32)
    return CUDACCL_VALUE_TYPE_REAL_32;
  if (type == SAMPLE_FLOAT64)
    return CUDACCL_VALUE_TYPE_REAL_64;
  switch (sample_bytes (type)) {
  case 1:
    return CUDACCL_VALUE_TYPE_8;
  case 2:
    return CUDACCL_VALUE_TYPE_16;
  case 4:
    return CUDACCL_VALUE_TYPE_32;
  default:
    return CUDACCL_VALUE_TYPE_64;
  }
}

static CclVolumeLabels
map_of (const Picture *picture, uint32_t *labels)
{
  const size_t row = 4 * picture->width;
  return (CclVolumeLabels){labels, row, row * picture->height};
}

/* Labels the samples of the picture. */
static bool
label_samples (const Picture *picture, const void *samples, uint32_t connectivity,
    ValuesLabels *result, CclError *error)
{
  const size_t row = picture->width * sample_bytes (picture->type);
  const CclValues values = {samples, row, row * picture->height};
  const CclVolumeLabels map = map_of (picture, result->labels);
  CclValuesPlan plan = CUDACCL_VALUES_PLAN_DEFAULT;

  plan.width = (uint32_t)picture->width;
  plan.height = (uint32_t)picture->height;
  plan.depth = (uint32_t)picture->depth;
  plan.connectivity = connectivity;
  plan.type = value_type (picture->type);
  CclValuesLabeller *labeller = ccl_cpu_values_labeller_new (&plan, error);
  if (!labeller)
    return false;
  const CclStatus status =
      ccl_values_labeller_run (labeller, &values, &map, &result->n_components, error);
  ccl_values_labeller_free (&labeller);
  return status == CUDACCL_OK;
}

static CclTiledComponent
tiled_row (const CclVolumeComponent *row)
{
  return (CclTiledComponent){.area = row->n_voxels,
      .x = row->x,
      .y = row->y,
      .z = row->z,
      .width = row->width,
      .height = row->height,
      .depth = row->depth,
      .centroid_x = row->centroid_x,
      .centroid_y = row->centroid_y,
      .centroid_z = row->centroid_z};
}

/* Makes the table of the components that pass the area filter, and numbers them anew in the map.
 * found, numbers: memory for the rows of all components and their new labels. */
static void
filter (const Picture *picture, uint64_t min_area, uint64_t max_area,
    const CclVolumeComponent *found, uint32_t *numbers, ValuesLabels *result)
{
  const size_t n_pixels = picture->width * picture->height * picture->depth;
  uint32_t n = 0;

  numbers[0] = 0;
  for (uint32_t i = 0; i < result->n_components; i++) {
    const uint64_t area = found[i].n_voxels;
    const bool stays = area >= min_area && (max_area == 0 || area <= max_area);
    numbers[i + 1] = stays ? n + 1 : 0;
    if (stays) {
      result->rows[n] = tiled_row (&found[i]);
      result->rows[n].label = numbers[i + 1];
      n++;
    }
  }
  for (size_t i = 0; i < n_pixels && n < result->n_components; i++)
    result->labels[i] = numbers[result->labels[i]];
  result->n_components = n;
}

static bool
measure (const Picture *picture, uint64_t min_area, uint64_t max_area, ValuesLabels *result,
    CclError *error)
{
  const size_t n = result->n_components;
  const CclVolumeLabels map = map_of (picture, result->labels);
  CclVolumeComponent *found = malloc ((n + 1) * sizeof *found);
  uint32_t *numbers = malloc ((n + 1) * sizeof *numbers);
  bool succeeded = true;

  result->rows = malloc ((n + 1) * sizeof *result->rows);
  if (!found || !numbers || !result->rows)
    succeeded = fail_without_memory (error);
  if (succeeded)
    succeeded =
        ccl_measure_volume_labels (&map, (uint32_t)picture->width, (uint32_t)picture->height,
            (uint32_t)picture->depth, NULL, 0, (uint32_t)n, found, NULL, error) == CUDACCL_OK;
  if (succeeded)
    filter (picture, min_area, max_area, found, numbers, result);
  free (found);
  free (numbers);
  return succeeded;
}

bool
values_label (Picture *picture, uint32_t connectivity, uint64_t min_area, uint64_t max_area,
    ValuesLabels *result, CclError *error)
{
  const uint64_t most = CUDACCL_MAX_PIXELS, slice = picture->width * picture->height;
  bool succeeded = true;

  *result = (ValuesLabels){0};
  if (picture->width > most || picture->height > most || slice > most ||
      picture->depth > most / slice)
    return fail (error, "a picture of %llu×%llu×%llu pixels is too large for --values, at most %d",
        (unsigned long long)picture->depth, (unsigned long long)picture->height,
        (unsigned long long)picture->width, CUDACCL_MAX_PIXELS);
  const uint64_t n_pixels = slice * picture->depth;
  void *samples = malloc (n_pixels * sample_bytes (picture->type));
  result->labels = malloc (n_pixels * sizeof *result->labels);
  if (!samples || !result->labels)
    succeeded = fail_without_memory (error);
  succeeded = succeeded &&
              picture_read_grey (picture, 0, picture->height * picture->depth, samples, error) &&
              label_samples (picture, samples, connectivity, result, error);
  free (samples);
  return succeeded && measure (picture, min_area, max_area, result, error);
}

void
values_labels_clear (ValuesLabels *result)
{
  free (result->labels);
  free (result->rows);
  *result = (ValuesLabels){0};
}
