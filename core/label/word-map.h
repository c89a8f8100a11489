/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Maps of words of 32 bits, of frames and volumes. */
#pragma once

#include "core/base/status.h"

#include <cudaccl/distance.h>

/* The size of a picture's maps. */
typedef struct MapSize {
  uint32_t width, height, depth;
} MapSize;

static inline uint32_t *
map_row (const CclVolumeLabels *map, uint32_t y, uint32_t z)
{
  return (uint32_t *)((uint8_t *)map->data + (z ? z * map->slice_stride : 0) + y * map->row_stride);
}

/* Checks the size of maps, and that of their squared distances. */
CclStatus ccl_map_size_check (const MapSize *size, CclError *error);

/* Checks address and strides of a map. what: its name in the message. */
CclStatus ccl_map_check (
    const CclVolumeLabels *map, const MapSize *size, const char *what, CclError *error);
