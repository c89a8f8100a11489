/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Test masks: drawn shapes with difficult connections, and noise. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A mask of foreground (true) and background, without padding. */
typedef struct Mask {
  const char *name;
  uint32_t width, height;
  bool *pixels; /* width × height */
} Mask;

/* A shape: for frames of any size, a function that tells whether a pixel is foreground. */
typedef struct Shape {
  const char *name;
  bool (*is_foreground) (uint32_t x, uint32_t y, uint32_t width, uint32_t height);
} Shape;

/* All shapes; the last one has no name. */
extern const Shape shapes[];

Mask *mask_new_from_shape (const Shape *shape, uint32_t width, uint32_t height);

/* Blocks of granularity × granularity pixels, each foreground with a probability of
 * density per cent. The same seed gives the same mask. */
Mask *mask_new_from_noise (
    uint32_t width, uint32_t height, uint32_t granularity, uint32_t density, uint32_t seed);

void mask_free (Mask *mask);
