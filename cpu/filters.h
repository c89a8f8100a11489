/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters of masks, 64 columns at a time. Each bit of a word is a column. Counts of foreground
 * pixels are bit-sliced: each binary digit of the 64 counts is a word. The rows of the window are
 * added up first, then its columns. The compiler vectorises the loops over words.
 */
#ifndef CCL_CPU_FILTERS_H
#define CCL_CPU_FILTERS_H

#include "pixels.h"
#include "words.h"

/* For each column of a word, the column that lies `distance` to the left or right of it. */
static ALWAYS_INLINE uint64_t
from_left (const uint64_t *word, int distance)
{
  return word[0] << distance | word[-1] >> (64 - distance);
}

static ALWAYS_INLINE uint64_t
from_right (const uint64_t *word, int distance)
{
  return word[0] >> distance | word[1] << (64 - distance);
}

static ALWAYS_INLINE uint64_t
at_least_two (uint64_t a, uint64_t b, uint64_t c)
{
  return (a & b) | (c & (a | b));
}

/* A sum of up to seven, bit-sliced. */
typedef struct Digits {
  uint64_t ones, twos, fours;
} Digits;

static ALWAYS_INLINE Digits
count_of_five (uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
  const uint64_t sum = a ^ b ^ c;
  const uint64_t carry = at_least_two (a, b, c);
  const uint64_t second_carry = at_least_two (sum, d, e);
  return (Digits){sum ^ d ^ e, carry ^ second_carry, carry & second_carry};
}

static ALWAYS_INLINE Digits
count_of_columns (const uint64_t *word)
{
  return count_of_five (
      from_left (word, 2), from_left (word, 1), *word, from_right (word, 1), from_right (word, 2));
}

/* Foreground where at least 5 of the 9 pixels of the window are. */
static ALWAYS_INLINE void
median_3 (
    const uint64_t *const rows[], ptrdiff_t n_words, uint64_t *ones, uint64_t *twos, uint64_t *out)
{
  for (ptrdiff_t i = -1; i <= n_words; i++) {
    ones[i] = rows[0][i] ^ rows[1][i] ^ rows[2][i];
    twos[i] = at_least_two (rows[0][i], rows[1][i], rows[2][i]);
  }
  for (ptrdiff_t i = 0; i < n_words; i++) {
    const uint64_t left_one = from_left (ones + i, 1), right_one = from_right (ones + i, 1);
    const uint64_t left_two = from_left (twos + i, 1), right_two = from_right (twos + i, 1);
    const uint64_t one = left_one ^ ones[i] ^ right_one;
    const uint64_t carried_two = at_least_two (left_one, ones[i], right_one);
    const uint64_t sum_of_twos = left_two ^ twos[i] ^ right_two;
    const uint64_t four = at_least_two (left_two, twos[i], right_two);
    const uint64_t two = sum_of_twos ^ carried_two;
    const uint64_t carried_four = sum_of_twos & carried_two;
    out[i] = (four & carried_four) | ((four ^ carried_four) & (two | one));
  }
}

/* Foreground where at least 13 of the 25 pixels of the window are. */
static ALWAYS_INLINE void
median_5 (const uint64_t *const rows[], ptrdiff_t n_words, uint64_t *ones, uint64_t *twos,
    uint64_t *fours, uint64_t *out)
{
  for (ptrdiff_t i = -1; i <= n_words; i++) {
    const Digits digits =
        count_of_five (rows[0][i], rows[1][i], rows[2][i], rows[3][i], rows[4][i]);
    ones[i] = digits.ones;
    twos[i] = digits.twos;
    fours[i] = digits.fours;
  }
  for (ptrdiff_t i = 0; i < n_words; i++) {
    const Digits a = count_of_columns (ones + i);  /* 1, 2, 4 */
    const Digits b = count_of_columns (twos + i);  /* 2, 4, 8 */
    const Digits c = count_of_columns (fours + i); /* 4, 8, 16 */

    const uint64_t two = a.twos ^ b.ones;
    const uint64_t carried_four = a.twos & b.ones;
    const uint64_t sum_of_fours = a.fours ^ b.twos ^ c.ones;
    const uint64_t four = sum_of_fours ^ carried_four;
    const uint64_t carried_eight = at_least_two (a.fours, b.twos, c.ones);
    const uint64_t second_carried_eight = sum_of_fours & carried_four;
    const uint64_t sum_of_eights = b.fours ^ c.twos ^ carried_eight;
    const uint64_t eight = sum_of_eights ^ second_carried_eight;
    const uint64_t sixteen = c.fours | at_least_two (b.fours, c.twos, carried_eight) |
                             (sum_of_eights & second_carried_eight);
    out[i] = sixteen | (eight & four & (two | a.ones));
  }
}

/* Erosion: foreground where all pixels of the window are. With complement UINT64_MAX, dilation:
 * background where all pixels of the window are. */
static ALWAYS_INLINE void
erode (const uint64_t *const rows[], int size, ptrdiff_t n_words, uint64_t complement,
    uint64_t *columns, uint64_t *out)
{
  for (ptrdiff_t i = -1; i <= n_words; i++) {
    uint64_t all = rows[0][i] ^ complement;
    for (int row = 1; row < size; row++)
      all &= rows[row][i] ^ complement;
    columns[i] = all;
  }
  for (ptrdiff_t i = 0; i < n_words; i++) {
    uint64_t all = columns[i] & from_left (columns + i, 1) & from_right (columns + i, 1);
    if (size == 5)
      all &= from_left (columns + i, 2) & from_right (columns + i, 2);
    out[i] = all ^ complement;
  }
}

static void
dilate_row (const uint64_t *const rows[], int n_rows, int left, int right, size_t n_words,
    uint64_t complement, uint64_t *scratch, uint64_t *dilated)
{
  uint64_t *columns = scratch + 1;
  const ptrdiff_t n = (ptrdiff_t)n_words;

  for (ptrdiff_t i = -1; i <= n; i++)
    columns[i] = rows[0][i] ^ complement;
  for (int row = 1; row < n_rows; row++)
    for (ptrdiff_t i = -1; i <= n; i++)
      columns[i] |= rows[row][i] ^ complement;
  for (ptrdiff_t i = -1; i <= n; i++)
    dilated[i] = columns[i];
  /* A pixel takes over what is up to `left` columns to the left of it. */
  for (int distance = 1; distance <= left; distance++)
    for (ptrdiff_t i = 0; i <= n; i++)
      dilated[i] |= from_left (columns + i, distance);
  for (int distance = 1; distance <= right; distance++)
    for (ptrdiff_t i = -1; i < n; i++)
      dilated[i] |= from_right (columns + i, distance);
  for (ptrdiff_t i = -1; i <= n; i++)
    dilated[i] ^= complement;
}

static void
filter_row (Filter filter, const uint64_t *const rows[], size_t n_words, uint64_t *scratch,
    uint64_t *filtered)
{
  uint64_t *a = scratch + 1, *b = a + n_words + 2, *c = b + n_words + 2;
  const ptrdiff_t n = (ptrdiff_t)n_words;

  switch (filter) {
  case FILTER_MEDIAN_3:
    median_3 (rows, n, a, b, filtered);
    break;
  case FILTER_MEDIAN_5:
    median_5 (rows, n, a, b, c, filtered);
    break;
  case FILTER_ERODE_3:
    erode (rows, 3, n, 0, a, filtered);
    break;
  case FILTER_ERODE_5:
    erode (rows, 5, n, 0, a, filtered);
    break;
  case FILTER_DILATE_3:
    erode (rows, 3, n, UINT64_MAX, a, filtered);
    break;
  case FILTER_DILATE_5:
    erode (rows, 5, n, UINT64_MAX, a, filtered);
    break;
  }
}

#endif /* CCL_CPU_FILTERS_H */
