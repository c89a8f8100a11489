/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the label maps of volumes and frames. */
#include "core/measure/measured-map.h"

#include <stdlib.h>

CclStatus
ccl_measure_volume_labels (const CclVolumeLabels *labels, uint32_t width, uint32_t height,
    uint32_t depth, const CclVolumeIntensity *intensity, uint32_t columns, uint32_t n,
    CclVolumeComponent *rows, CclVolumeShape *shapes, CclError *error)
{
  const CclMeasuredPicture picture = {
      width, height, depth > 0, intensity && ccl_values_are_real (intensity->format)};
  CclPartMap map;
  CclStatus status =
      ccl_measured_map_init (&map, labels, width, height, depth, intensity, columns, error);

  if (status == CUDACCL_OK && columns && n && !shapes)
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "columns need memory for shapes");
  if (status != CUDACCL_OK || n == 0)
    return status;
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
