/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures with many values, and their labels by flood fill. */
#pragma once

#include <cudaccl/values.h>
#include <glib.h>

/* The picture's values as doubles, which hold all values of these tests. */
typedef struct Picture {
  uint32_t width, height, depth;
  double *values;
} Picture;

/* The bytes of a value of each CclValueType. */
extern const uint32_t values_bytes_of_types[];

/* Labels by flood fill with a stack. Returns the number of components. */
uint32_t values_reference (const Picture *picture, uint32_t connectivity, bool zero_is_background,
    CclNanRule nan, uint32_t *labels);

/* Stores a value as one of the type. */
void values_store (uint8_t *to, CclValueType type, double value);

/* Draws noise of few values, of rows that repeat, of stretches, and of few pixels that are not
 * zero: what the scan of the CPU treats in different ways. */
void values_draw (GRand *random, Picture *picture, CclValueType type);
