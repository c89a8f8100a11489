/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels pictures with many values in memory: whole ones, or tiles of one. */
#pragma once

#include <cudaccl/tiled.h>
#include <cudaccl/values.h>

/* A picture whose neighbours are connected where their values are equal, or differ by at most a
 * tolerance. */
typedef struct ValuesPicture {
  void *data; /* the first argument of read */
  /* Reads layers of values without padding. foreground: set to 0 for pixels of the background, else
   * to 1; NULL without has_foreground. Called for each layer, in order. */
  CclStatus (*read) (void *data, uint64_t first_layer, uint64_t n_layers, void *values,
      uint8_t *foreground, CclError *error);
  CclValueType type;
  bool is_signed;
  double tolerance;
  bool has_foreground;
  bool zero_is_background; /* without has_foreground */
} ValuesPicture;

typedef struct ValuesTiles ValuesTiles;

/* The bytes of a value. */
size_t values_bytes (CclValueType type);

/* Prepares for tiles. The plan's width, height, depth, connectivity and device count; with a
 * tolerance or has_foreground the CPU labels. Both must outlive the tiles. Returns NULL with the
 * error filled. */
ValuesTiles *values_tiles_new (
    const ValuesPicture *picture, const CclTiledPlan *plan, CclError *error);

/* Labels layers: 1…n in raster order of first pixels. */
CclStatus values_tiles_label (ValuesTiles *tiles, uint32_t n_layers, const void *values,
    const uint8_t *foreground, uint32_t *labels, uint32_t *n, CclError *error);

void values_tiles_free (ValuesTiles *tiles); /* NULL is allowed */
