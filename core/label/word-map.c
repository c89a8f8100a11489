/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "word-map.h"

#include "core/base/strides.h"

CclStatus
ccl_map_size_check (const MapSize *size, CclError *error)
{
  const uint64_t sides[3] = {size->width, size->height, size->depth};
  uint64_t n_pixels = 1, diagonal = 0;

  for (uint32_t i = 0; i < 3; i++) {
    if (sides[i] < 1 || sides[i] > CUDACCL_MAX_PIXELS / n_pixels)
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
          "a map of %u×%u×%u pixels is empty or too large: at most %d are allowed", size->width,
          size->height, size->depth, CUDACCL_MAX_PIXELS);
    n_pixels *= sides[i];
    diagonal += (sides[i] - 1) * (sides[i] - 1);
  }
  if (diagonal >= CUDACCL_NO_DISTANCE)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the squared distances in a map of %u×%u×%u pixels exceed 32 bits", size->width,
        size->height, size->depth);
  return CUDACCL_OK;
}

CclStatus
ccl_map_check (const CclVolumeLabels *map, const MapSize *size, const char *what, CclError *error)
{
  if (!map || !elements_fit (map->data, 4, size->width, size->height, size->depth > 1,
                  map->row_stride, map->slice_stride))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the map of %s must have rows and slices that do not overlap, and an address and strides "
        "that are multiples of 4",
        what);
  return CUDACCL_OK;
}
