/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "measured-map.h"
#include "core/base/strides.h"
#include "core/label/labeller-class.h"

CclStatus
ccl_measured_columns_check (uint32_t columns, bool is_volume, CclError *error)
{
  const uint32_t known =
      CUDACCL_ALL_COLUMNS & ~(is_volume ? (uint32_t)CUDACCL_COLUMN_PERIMETER : 0);

  if (columns & ~known)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the columns%s must be flags of CclColumn%s, not %u", is_volume ? " of a volume" : "",
        is_volume ? " without CUDACCL_COLUMN_PERIMETER" : "", columns);
  return CUDACCL_OK;
}

CclStatus
ccl_measured_intensity_check (const CclVolumeIntensity *intensity, const CclVolumePlan *plan,
    uint32_t columns, CclError *error)
{
  if (!(columns & CUDACCL_COLUMN_INTENSITY))
    return CUDACCL_OK;
  if (!intensity || !intensity->data)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the column of intensities needs a second volume: its pointer is NULL");
  const size_t bytes = ccl_value_bytes (intensity->format), row = plan->width * bytes;
  if (bytes == 0)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the values of the second volume must have 8 or 16 bits or be doubles");
  if (bytes == sizeof (double) &&
      ((uintptr_t)intensity->data | intensity->row_stride | intensity->slice_stride) % bytes)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "doubles of the second volume must have addresses that are multiples of %zu", bytes);
  if (!strides_fit (row, plan->height, intensity->row_stride, intensity->slice_stride))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the second volume must have a row stride of at least %zu bytes and slices that do not "
        "overlap",
        row);
  return CUDACCL_OK;
}

/* Checks strides, of frames, too. */
static CclStatus
check_map (const CclVolumePlan *plan, bool is_volume, const CclVolumeLabels *labels,
    const CclVolumeIntensity *intensity, uint32_t columns, CclError *error)
{
  CclStatus status = ccl_volume_plan_check (plan, error);

  if (status == CUDACCL_OK)
    status = ccl_measured_columns_check (columns, is_volume, error);
  if (status == CUDACCL_OK)
    status = ccl_measured_intensity_check (intensity, plan, columns, error);
  return status == CUDACCL_OK ? ccl_volume_labels_check (labels, plan, error) : status;
}

CclStatus
ccl_measured_map_init (CclPartMap *map, const CclVolumeLabels *labels, uint32_t width,
    uint32_t height, uint32_t depth, const CclVolumeIntensity *intensity, uint32_t columns,
    CclError *error)
{
  const bool is_volume = depth > 0;
  const CclVolumePlan plan = {.width = width,
      .height = height,
      .depth = is_volume ? depth : 1,
      .connectivity = CUDACCL_CONNECTIVITY_26,
      .max_components = 1};
  CclVolumeLabels pixels = labels ? *labels : (CclVolumeLabels){0};
  CclVolumeIntensity values = intensity ? *intensity : (CclVolumeIntensity){0};

  if (!labels)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the label map must not be NULL");
  if (!is_volume) {
    pixels.slice_stride = pixels.row_stride * height;
    values.slice_stride = values.row_stride * height;
  }
  *map = (CclPartMap){
      .labels = pixels.data,
      .width = width,
      .height = height,
      .depth = plan.depth,
      .row_stride = pixels.row_stride / sizeof (uint32_t),
      .slice_stride = pixels.slice_stride / sizeof (uint32_t),
      .end_row = height,
      .end_slice = plan.depth,
      .picture_height = height,
      .is_volume = is_volume,
      .values = values.data,
      .value_row_stride = values.row_stride,
      .value_slice_stride = values.slice_stride,
      .value_format = values.format,
  };
  return check_map (&plan, is_volume, &pixels, intensity ? &values : NULL, columns, error);
}

CclVolumeComponent
ccl_measured_row (const CclPart *part, uint32_t label)
{
  const double n_voxels = (double)part->area;

  if (part->area == 0)
    return (CclVolumeComponent){0};
  return (CclVolumeComponent){
      .label = label,
      .n_voxels = (uint32_t)part->area,
      .x = part->least_x,
      .y = part->least_y,
      .z = part->least_z,
      .width = part->greatest_x - part->least_x + 1,
      .height = part->greatest_y - part->least_y + 1,
      .depth = part->greatest_z - part->least_z + 1,
      .centroid_x = (double)part->sum_x / n_voxels,
      .centroid_y = (double)part->sum_y / n_voxels,
      .centroid_z = (double)part->sum_z / n_voxels,
  };
}
