/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "component-features.h"

CclStatus
ccl_columns_check (uint32_t columns, uint32_t width, uint32_t height, CclError *error)
{
  if (columns & ~(uint32_t)CUDACCL_ALL_COLUMNS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the columns must be flags of CclColumn, 0…%d, not %u", CUDACCL_ALL_COLUMNS, columns);
  if (columns && (width > CUDACCL_MAX_FEATURE_SIDE || height > CUDACCL_MAX_FEATURE_SIDE))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a frame of %u×%u pixels is too large for columns: its sides may have at most %d pixels",
        width, height, CUDACCL_MAX_FEATURE_SIDE);
  return CUDACCL_OK;
}

CclStatus
ccl_intensity_check (const CclIntensity *intensity, uint32_t columns, uint32_t width,
    CclLocation location, CclError *error)
{
  if (!(columns & CUDACCL_COLUMN_INTENSITY))
    return CUDACCL_OK;
  if (!intensity || !intensity->data)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the column of intensities needs a second plane: its pointer is NULL");
  if (intensity->format != CUDACCL_PIXEL_FORMAT_8 && intensity->format != CUDACCL_PIXEL_FORMAT_16)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the values of the second plane must have 8 or 16 bits");
  const CclFrame plane = {intensity->data, intensity->stride, location};
  return ccl_frame_check (&plane, width, intensity->format, error);
}
