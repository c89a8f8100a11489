/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns of neighbours in 8-connected strips of two rows, for 64 pixels at once. All pixels that
 * touch belong to one component, so labels are not needed to find them.
 *
 * Each pattern is noted at one of its pixels in the strip, so that all strips together count it
 * once.
 */
#pragma once

#include "run-measurer.h"
#include "cpu/pixels/words.h"

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

/* Stores the sums of up to three bits in the planes of a count, for word w of a group. */
static ALWAYS_INLINE void
store_sum (uint64_t *planes, uint32_t count, uint32_t w, uint64_t a, uint64_t b, uint64_t c)
{
  planes[count * GROUP + w] = a ^ b ^ c;
  planes[(N_COUNTS + count) * GROUP + w] = (a & b) | (c & (a ^ b));
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
    const Sums pairs = sum_of_four (both_t, both_b, t & a, t & b);

    planes[COUNT_FOUR_PAIRS * GROUP + w] = pairs.four;
    planes[COUNT_PAIRS * GROUP + w] = pairs.one;
    planes[(N_COUNTS + COUNT_PAIRS) * GROUP + w] = pairs.two;
    store_sum (planes, COUNT_SQUARES, w, both_a & both_t, both_t & both_b, 0);
    /* At a pixel of the top row, which a square with 3 pixels has left or right. */
    store_sum (planes, COUNT_THREES, w, (both_t & (a ^ al)) | (t & ~tl & both_a), t & ~tr & a & ar,
        (both_t & (b ^ bl)) | (both_b & (t ^ tl)));
    store_sum (planes, COUNT_DIAGONALS, w, t & al & ~tl & ~a, t & ar & ~tr & ~a,
        (t & bl & ~tl & ~b) | (tl & b & ~t & ~bl));
  }
}

/* Border pixels of a word by their kind, as ccl_border_kind(). */
typedef struct BorderKinds {
  uint64_t straight, diagonal, mixed;
} BorderKinds;

static ALWAYS_INLINE BorderKinds
border_kinds (const uint64_t *above, const uint64_t *row, const uint64_t *below)
{
  const Sums edges = sum_of_four (left_of (row), right_of (row), *above, *below);
  const Sums corners =
      sum_of_four (left_of (above), right_of (above), left_of (below), right_of (below));
  const uint64_t no_edge = ~(edges.one | edges.two | edges.four);
  const uint64_t one_edge = edges.one & ~edges.two;
  const uint64_t two_corners = corners.two & ~corners.one;
  const uint64_t three_corners = corners.two & corners.one;

  return (BorderKinds){
      .straight = *row & edges.two & ~(corners.four | three_corners),
      .diagonal = *row & ((no_edge & two_corners) | (one_edge & three_corners)),
      .mixed = *row & one_edge & (corners.one ^ corners.two),
  };
}

/* Finds the kinds of the border pixels of a group of words. borders: of the strip's rows and those
 * above and below it. */
static inline void
find_border_kinds (uint64_t *restrict planes, const uint64_t *const borders[4])
{
  const uint64_t *above = borders[0], *top = borders[1], *bottom = borders[2], *below = borders[3];

  for (uint32_t w = 0; w < GROUP; w++) {
    const BorderKinds a = border_kinds (above + w, top + w, bottom + w);
    const BorderKinds b = border_kinds (top + w, bottom + w, below + w);
    store_sum (planes, COUNT_STRAIGHT, w, a.straight, b.straight, 0);
    store_sum (planes, COUNT_DIAGONAL, w, a.diagonal, b.diagonal, 0);
    store_sum (planes, COUNT_MIXED, w, a.mixed, b.mixed, 0);
  }
}

/* Finds the planes of the strip at row y that the columns need, for a group of words from w on. */
static inline void
find_planes (const RunMeasurer *self, uint32_t y, uint32_t w)
{
  uint64_t planes[N_PLANES * GROUP] __attribute__ ((aligned (64))) = {0};

  if (self->columns & CUDACCL_COLUMN_TOPOLOGY)
    find_squares (planes, measured_row (self, (int64_t)y - 1) + w, measured_row (self, y) + w,
        measured_row (self, (int64_t)y + 1) + w);
  if (self->columns & CUDACCL_COLUMN_PERIMETER) {
    const uint64_t *borders[4];
    for (uint32_t i = 0; i < 4; i++)
      borders[i] = self->borders[(y + 3 + i) & 3] + w;
    find_border_kinds (planes, borders);
  }
  arrange_planes (planes, self->planes + (size_t)w * N_PLANES);
}
