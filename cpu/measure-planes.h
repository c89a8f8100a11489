/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns of neighbours in 8-connected strips of two rows, for 64 pixels at once. All pixels that
 * touch belong to one component, so labels are not needed to find them.
 *
 * Each pattern is noted at one of its pixels in the strip, so that all strips together count it
 * once.
 */
#ifndef CUDACCL_CPU_MEASURE_PLANES_H
#define CUDACCL_CPU_MEASURE_PLANES_H

#include "run-measurer.h"
#include "words.h"

#include <string.h>

/* The pixels left and right of those of a word, at their places. */
static ALWAYS_INLINE uint64_t
left_of (const uint64_t *word)
{
  return word[0] << 1 | word[-1] >> 63;
}

static ALWAYS_INLINE uint64_t
right_of (const uint64_t *word)
{
  return word[0] >> 1 | word[1] << 63;
}

/* Finds the border pixels of a row. */
static inline void
find_border (const RunMeasurer *self, uint32_t n_words, int64_t y)
{
  const uint64_t *above = measured_row (self, y - 1), *row = measured_row (self, y),
                 *below = measured_row (self, y + 1);
  uint64_t *restrict border = self->borders[y & 3];

  for (uint32_t w = 0; w < n_words; w++)
    border[w] = row[w] & ~(above[w] & below[w] & left_of (row + w) & right_of (row + w));
}

/* Finds pairs and squares of a group of words, between the rows of a strip and with the row above
 * it. Squares are those of a pixel, its left neighbour and the two above these. */
static inline void
find_squares (
    uint64_t *restrict planes, const uint64_t *above, const uint64_t *top, const uint64_t *bottom)
{
  for (uint32_t w = 0; w < GROUP; w++) {
    const uint64_t a = above[w], t = top[w], b = bottom[w];
    const uint64_t al = left_of (above + w), tl = left_of (top + w), bl = left_of (bottom + w);
    const uint64_t ar = right_of (above + w), tr = right_of (top + w);
    const uint64_t both_a = a & al, both_t = t & tl, both_b = b & bl;

    planes[(PLANE_PAIRS + 0) * GROUP + w] = both_t;
    planes[(PLANE_PAIRS + 1) * GROUP + w] = both_b;
    planes[(PLANE_PAIRS + 2) * GROUP + w] = t & a;
    planes[(PLANE_PAIRS + 3) * GROUP + w] = t & b;
    planes[(PLANE_SQUARES + 0) * GROUP + w] = both_a & both_t;
    planes[(PLANE_SQUARES + 1) * GROUP + w] = both_t & both_b;
    /* At a pixel of the top row, which a square with 3 pixels has left or right. */
    planes[(PLANE_THREES + 0) * GROUP + w] = (both_t & (a ^ al)) | (t & ~tl & both_a);
    planes[(PLANE_THREES + 1) * GROUP + w] = t & ~tr & a & ar;
    planes[(PLANE_THREES + 2) * GROUP + w] = (both_t & (b ^ bl)) | (both_b & (t ^ tl));
    planes[(PLANE_DIAGONALS + 0) * GROUP + w] = t & al & ~tl & ~a;
    planes[(PLANE_DIAGONALS + 1) * GROUP + w] = t & ar & ~tr & ~a;
    planes[(PLANE_DIAGONALS + 2) * GROUP + w] = (t & bl & ~tl & ~b) | (tl & b & ~t & ~bl);
  }
}

/* Whether 1, 2 and 4 are in the sums of four bits. */
typedef struct Sums {
  uint64_t one, two, four;
} Sums;

static ALWAYS_INLINE Sums
sum_of_four (uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
  const uint64_t ab = a ^ b, cd = c ^ d, two_ab = a & b, two_cd = c & d;
  return (Sums){ab ^ cd, two_ab ^ two_cd ^ (ab & cd), two_ab & two_cd};
}

/* Finds the kinds of the border pixels of a group of words of a row, as ccl_border_kind(). The
 * planes of the bottom row are one behind those of the top row. */
static inline void
find_border_kinds (uint64_t *restrict planes, const uint64_t *above, const uint64_t *row,
    const uint64_t *below, uint32_t is_bottom)
{
  for (uint32_t w = 0; w < GROUP; w++) {
    const Sums edges = sum_of_four (left_of (row + w), right_of (row + w), above[w], below[w]);
    const Sums corners = sum_of_four (
        left_of (above + w), right_of (above + w), left_of (below + w), right_of (below + w));
    const uint64_t no_edge = ~(edges.one | edges.two | edges.four);
    const uint64_t one_edge = edges.one & ~edges.two;
    const uint64_t two_corners = corners.two & ~corners.one;
    const uint64_t three_corners = corners.two & corners.one;

    planes[(PLANE_STRAIGHT + is_bottom) * GROUP + w] =
        row[w] & edges.two & ~(corners.four | three_corners);
    planes[(PLANE_DIAGONAL + is_bottom) * GROUP + w] =
        row[w] & ((no_edge & two_corners) | (one_edge & three_corners));
    planes[(PLANE_MIXED + is_bottom) * GROUP + w] = row[w] & one_edge & (corners.one ^ corners.two);
  }
}

/* Finds the planes of the strip at row y that the columns need, for a group of words from w on. */
static inline void
find_planes (const RunMeasurer *self, int64_t y, uint32_t w)
{
  uint64_t *planes = self->planes + (size_t)w * PLANES_STRIDE;
  uint64_t *const *borders = self->borders;

  if (self->columns & CUDACCL_COLUMN_TOPOLOGY)
    find_squares (planes, measured_row (self, y - 1) + w, measured_row (self, y) + w,
        measured_row (self, y + 1) + w);
  if (!(self->columns & CUDACCL_COLUMN_PERIMETER))
    return;
  for (int64_t row = y; row < y + 2; row++)
    find_border_kinds (planes, borders[(row - 1) & 3] + w, borders[row & 3] + w,
        borders[(row + 1) & 3] + w, (uint32_t)(row - y));
}

#endif /* CUDACCL_CPU_MEASURE_PLANES_H */
