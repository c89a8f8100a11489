/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the components of a label map: frames and volumes, whole or a tile of a larger picture.
 * Runs of a label add their sums at once; only pixels whose neighbours differ are looked at one by
 * one.
 */
#pragma once

#include "core/label/component-part.h"
#include "core/base/status.h"

/* A label map: the layers (rows of a frame, slices of a volume) to measure, and next to them as
 * many other layers of the picture as the columns need (ccl_layers_before(), ccl_layers_after()).
 * Everything outside the map is background. */
typedef struct CclPartMap {
  const uint32_t *labels; /* depth slices of height rows of width labels */
  uint32_t width, height, depth;
  size_t row_stride, slice_stride;                     /* labels */
  uint32_t first_row, end_row, first_slice, end_slice; /* that are measured */
  uint32_t columns_before, columns_after;              /* of each row, which are not measured */

  uint64_t y, z;           /* the coordinates of the first measured row in the picture */
  uint64_t picture_height; /* rows of a slice */
  bool is_volume;

  /* Neighbours that are not background belong together, whatever their labels. Otherwise those
   * belong together that have the same label. */
  bool joins_neighbours;

  /* In a frame, the second row before and the second row after the measured ones have no labels:
   * there, each number but 0 means foreground. */
  bool has_marks;

  const void *values; /* of the measured rows; NULL without CUDACCL_COLUMN_INTENSITY */
  size_t value_row_stride, value_slice_stride; /* bytes; words may have any address */
  CclPixelFormat value_format;
} CclPartMap;

/* The layers (rows of a frame, slices of a volume) around those that are measured on which columns
 * depend. */
uint32_t ccl_layers_before (uint32_t columns, bool is_volume);
uint32_t ccl_layers_after (uint32_t columns, bool is_volume);

/* Measures the labels 1…n; others are only neighbours. parts, measures: [n], filled; NULL: not
 * wanted. Allocates some rows. */
CclStatus ccl_parts_measure (const CclPartMap *map, uint32_t columns, uint32_t n, CclPart *parts,
    CclMeasures *measures, CclError *error);
