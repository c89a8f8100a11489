/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sums of a label of a map, for kernels and hosts. */
#pragma once

#include <stdint.h>

/* All fields begin with 0, so that memory is set to it: minima are maxima of the complement. */
typedef struct CclMapSum {
  uint64_t area, sum_x, sum_y, sum_z;
  uint32_t least_complement[3], greatest[3]; /* x, y, z */
  uint32_t first_complement;                 /* of the number of the first pixel, in raster order */
  uint32_t other; /* the greatest label that another map has at the pixels */
} CclMapSum;

/* The sums of two weights of 64 bits with a sign: of their lower 32 bits, and of the upper ones. */
typedef struct CclMapTurn {
  uint64_t low[2], high[2];
} CclMapTurn;
