/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The distance transform of a line of pixels along an axis, after those of other axes. Pixels of
 * one label that follow each other are a stretch. Each of its pixels x has from the axes before a
 * squared distance f(x), at first none, and the pixels beside the stretch have 0. The new one of u
 * is the least (u - x)² + f(x): the lower envelope of parabolas.
 */
#ifndef CUDACCL_DISTANCE_LINE_H
#define CUDACCL_DISTANCE_LINE_H

#include <stddef.h>
#include <stdint.h>

/* No pixel with another label is known. */
#define LINE_NO_DISTANCE UINT64_MAX

typedef struct DistanceLine {
  const uint32_t *labels; /* of its pixels; 0: background */
  uint64_t *squared;      /* of its pixels; those of the background are 0 and stay */
  int64_t *sites;         /* pixels whose parabolas are parts of the envelope */
  int64_t *begins;        /* where these parts begin */
} DistanceLine;

/* The numbers of sites and begins together for lines of `length` pixels: begins follow after
 * length + 2 sites. */
static inline size_t
distance_line_numbers (size_t length)
{
  return 3 * (length + 2);
}

/* Transforms a line. Squared distances, also those of the result, are less than 2⁶². */
void distance_line_transform (DistanceLine *line, int64_t length);

#endif /* CUDACCL_DISTANCE_LINE_H */
