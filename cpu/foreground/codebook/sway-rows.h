/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The luma that a shaking camera (core/foreground/sway.h) may bring to the pixels of a row, on the
 * CPU. */
#pragma once

#include "cpu/pixels/pixels.h"

/* The luma of a background. */
typedef struct SwayPlane {
  const uint8_t *luma;
  uint32_t width, height;
  size_t stride;
  uint32_t distance; /* to all sides; at most CUDACCL_CAMERA_MOST_SWAY */
} SwayPlane;

/* Finds the least and the greatest luma within the distance of each pixel of row y. low and high
 * get one value more than the row has pixels, a copy of the last one. scratch: width + 2 × distance
 * bytes. */
void sway_find_range (
    const SwayPlane *plane, uint32_t y, uint8_t *scratch, uint8_t *low, uint8_t *high);

/* Makes those pixels of a row background that the range explains. */
void sway_clear_row (const CodebookRow *row, const uint8_t *low, const uint8_t *high);
