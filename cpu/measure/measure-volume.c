/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the label maps of volumes and frames. */
#include "core/measure/measure-parts.h"
#include "core/measure/measured-map.h"

#include <stdlib.h>

static CclStatus
check (const CclVolumePlan *plan, bool is_volume, const CclVolumeLabels *labels,
    const CclVolumeIntensity *intensity, uint32_t columns, CclError *error)
{
  CclStatus status = ccl_volume_plan_check (plan, error);

  if (status != CUDACCL_OK)
    return status;
  if (!labels)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the label map must not be NULL");
  status = ccl_measured_columns_check (columns, is_volume, error);
  if (status == CUDACCL_OK)
    status = ccl_measured_intensity_check (intensity, plan, columns, error);
  return status == CUDACCL_OK ? ccl_volume_labels_check (labels, plan, error) : status;
}

static CclPartMap
map_of (const CclVolumePlan *plan, bool is_volume, const CclVolumeLabels *labels,
    const CclVolumeIntensity *intensity)
{
  CclPartMap map = {
      .labels = labels->data,
      .width = plan->width,
      .height = plan->height,
      .depth = plan->depth,
      .row_stride = labels->row_stride / sizeof (uint32_t),
      .slice_stride = labels->slice_stride / sizeof (uint32_t),
      .end_row = plan->height,
      .end_slice = plan->depth,
      .picture_height = plan->height,
      .is_volume = is_volume,
  };

  if (intensity) {
    map.values = intensity->data;
    map.value_row_stride = intensity->row_stride;
    map.value_slice_stride = intensity->slice_stride;
    map.value_format = intensity->format;
  }
  return map;
}

/* The slice strides of frames do not matter. */
static void
set_slice_strides (uint32_t height, CclVolumeLabels *labels, CclVolumeIntensity *intensity)
{
  labels->slice_stride = labels->row_stride * height;
  intensity->slice_stride = intensity->row_stride * height;
}

CclStatus
ccl_measure_volume_labels (const CclVolumeLabels *labels, uint32_t width, uint32_t height,
    uint32_t depth, const CclVolumeIntensity *intensity, uint32_t columns, uint32_t n,
    CclVolumeComponent *rows, CclVolumeShape *shapes, CclError *error)
{
  const bool is_volume = depth > 0;
  const CclVolumePlan plan = {.width = width,
      .height = height,
      .depth = is_volume ? depth : 1,
      .connectivity = CUDACCL_CONNECTIVITY_26,
      .max_components = 1};
  const CclMeasuredPicture picture = {
      width, height, is_volume, intensity && ccl_values_are_real (intensity->format)};
  CclVolumeLabels map_labels = labels ? *labels : (CclVolumeLabels){0};
  CclVolumeIntensity values = intensity ? *intensity : (CclVolumeIntensity){0};

  if (!is_volume)
    set_slice_strides (height, &map_labels, &values);
  CclStatus status = check (
      &plan, is_volume, labels ? &map_labels : NULL, intensity ? &values : NULL, columns, error);

  if (status == CUDACCL_OK && columns && n && !shapes)
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "columns need memory for shapes");
  if (status != CUDACCL_OK || n == 0)
    return status;
  const CclPartMap map = map_of (&plan, is_volume, &map_labels, intensity ? &values : NULL);
  CclPart *parts = malloc (n * sizeof *parts);
  CclMeasures *measures = columns ? malloc (n * sizeof *measures) : NULL;
  if (!parts || (columns && !measures))
    status =
        ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to measure %u labels", n);
  else
    status = ccl_parts_measure (&map, columns, n, parts, measures, error);
  for (uint32_t i = 0; i < n && status == CUDACCL_OK; i++) {
    if (rows)
      rows[i] = ccl_measured_row (&parts[i], i + 1);
    if (columns && parts[i].area)
      ccl_measures_derive (&parts[i], &measures[i], columns, &picture, &shapes[i]);
  }
  free (parts);
  free (measures);
  return status;
}
