/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters of masks, 64 columns at a time. Each bit of a word is a column. Counts of foreground
 * pixels are bit-sliced: each binary digit of the 64 counts is a word. The rows of the window are
 * added up first, then its columns. The compiler vectorises the loops over words.
 */
#pragma once

#include "core/foreground/codebook-frame.h"
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
  /* Sets each pixel that has a set pixel among the `left` columns to the left of it. */
  for (int distance = 1; distance <= left; distance++)
    for (ptrdiff_t i = 0; i <= n; i++)
      dilated[i] |= from_left (columns + i, distance);
  for (int distance = 1; distance <= right; distance++)
    for (ptrdiff_t i = -1; i < n; i++)
      dilated[i] |= from_right (columns + i, distance);
  for (ptrdiff_t i = -1; i <= n; i++)
    dilated[i] ^= complement;
}

/* A sum of up to 31, bit-sliced. */
typedef struct Count {
  uint64_t ones, twos, fours, eights, sixteens;
} Count;

/* The number of set pixels in the window of 5×5 pixels, from the digits of the columns' counts. */
static ALWAYS_INLINE Count
count_5 (const uint64_t *ones, const uint64_t *twos, const uint64_t *fours)
{
  const Digits a = count_of_columns (ones);  /* 1, 2, 4 */
  const Digits b = count_of_columns (twos);  /* 2, 4, 8 */
  const Digits c = count_of_columns (fours); /* 4, 8, 16 */

  const uint64_t carried_four = a.twos & b.ones;
  const uint64_t sum_of_fours = a.fours ^ b.twos ^ c.ones;
  const uint64_t carried_eight = at_least_two (a.fours, b.twos, c.ones);
  const uint64_t second_carried_eight = sum_of_fours & carried_four;
  const uint64_t sum_of_eights = b.fours ^ c.twos ^ carried_eight;
  return (Count){a.ones, a.twos ^ b.ones, sum_of_fours ^ carried_four,
      sum_of_eights ^ second_carried_eight,
      c.fours | at_least_two (b.fours, c.twos, carried_eight) |
          (sum_of_eights & second_carried_eight)};
}

/* The same for 3×3 pixels. */
static ALWAYS_INLINE Count
count_3 (const uint64_t *ones, const uint64_t *twos)
{
  const uint64_t left_one = from_left (ones, 1), right_one = from_right (ones, 1);
  const uint64_t left_two = from_left (twos, 1), right_two = from_right (twos, 1);
  const uint64_t carried_two = at_least_two (left_one, *ones, right_one);
  const uint64_t sum_of_twos = left_two ^ *twos ^ right_two;
  const uint64_t four = at_least_two (left_two, *twos, right_two);
  const uint64_t carried_four = sum_of_twos & carried_two;
  return (Count){left_one ^ *ones ^ right_one, sum_of_twos ^ carried_two, four ^ carried_four,
      four & carried_four, 0};
}

/* The counts of the columns of a row of windows. */
static ALWAYS_INLINE void
count_columns (const uint64_t *const rows[], bool large, ptrdiff_t n_words, uint64_t *ones,
    uint64_t *twos, uint64_t *fours)
{
  for (ptrdiff_t i = -1; i <= n_words; i++) {
    const Digits digits =
        large ? count_of_five (rows[0][i], rows[1][i], rows[2][i], rows[3][i], rows[4][i])
              : (Digits){rows[0][i] ^ rows[1][i] ^ rows[2][i],
                    at_least_two (rows[0][i], rows[1][i], rows[2][i]), 0};
    ones[i] = digits.ones;
    twos[i] = digits.twos;
    fours[i] = digits.fours;
  }
}

/* Where a count is most of a window: 5 of 9 or 13 of 25. */
static ALWAYS_INLINE uint64_t
most_of (Count count, bool large)
{
  return large ? count.sixteens | (count.eights & count.fours & (count.twos | count.ones))
               : count.eights | (count.fours & (count.twos | count.ones));
}

/* Median filter: foreground where at least 5 of 9 or 13 of 25 pixels of the window are. */
static ALWAYS_INLINE void
median (const uint64_t *const rows[], bool large, ptrdiff_t n, uint64_t *scratch, uint64_t *out)
{
  uint64_t *ones = scratch + 1, *twos = ones + n + 2, *fours = twos + n + 2;

  count_columns (rows, large, n, ones, twos, fours);
  for (ptrdiff_t i = 0; i < n; i++) {
    const Count count =
        large ? count_5 (ones + i, twos + i, fours + i) : count_3 (ones + i, twos + i);
    out[i] = most_of (count, large);
  }
}

/* Foreground where at least CUDACCL_CODEBOOK_LEAST_STRONG pixels of the window of 5×5 are. */
static ALWAYS_INLINE void
few_of_25 (const uint64_t *const rows[], ptrdiff_t n, uint64_t *scratch, uint64_t *out)
{
  uint64_t *ones = scratch + 1, *twos = ones + n + 2, *fours = twos + n + 2;

  _Static_assert(CUDACCL_CODEBOOK_LEAST_STRONG == 3, "3 of 25");
  count_columns (rows, true, n, ones, twos, fours);
  for (ptrdiff_t i = 0; i < n; i++) {
    const Count count = count_5 (ones + i, twos + i, fours + i);
    out[i] = count.sixteens | count.eights | count.fours | (count.twos & count.ones);
  }
}

/* Adds a digit and a carry to a digit; sets the carry. */
static ALWAYS_INLINE uint64_t
add_digits (uint64_t a, uint64_t b, uint64_t *carry)
{
  const uint64_t sum = a ^ b ^ *carry;
  *carry = at_least_two (a, b, *carry);
  return sum;
}

static ALWAYS_INLINE Count
add_counts (Count a, Count b)
{
  uint64_t carry = 0;
  const uint64_t ones = add_digits (a.ones, b.ones, &carry);
  const uint64_t twos = add_digits (a.twos, b.twos, &carry);
  const uint64_t fours = add_digits (a.fours, b.fours, &carry);
  const uint64_t eights = add_digits (a.eights, b.eights, &carry);
  return (Count){ones, twos, fours, eights, a.sixteens ^ b.sixteens ^ carry};
}

/* Whether a number is less than another, from whether it is in the lower digits. */
static ALWAYS_INLINE uint64_t
is_less (uint64_t digit, uint64_t of_other, uint64_t below)
{
  return (~digit & of_other) | (~(digit ^ of_other) & below);
}

/* Where 3 × a ≥ 2 × b: a + 2 × a is compared with 2 × b from the digit of two on, as the lowest
 * digit of 2 × b is 0. */
static ALWAYS_INLINE uint64_t
three_reach_two (Count a, Count b)
{
  uint64_t carry = 0;
  uint64_t less = is_less (add_digits (a.twos, a.ones, &carry), b.ones, 0);
  less = is_less (add_digits (a.fours, a.twos, &carry), b.twos, less);
  less = is_less (add_digits (a.eights, a.fours, &carry), b.fours, less);
  less = is_less (add_digits (a.sixteens, a.eights, &carry), b.eights, less);
  less = is_less (add_digits (0, a.sixteens, &carry), b.sixteens, less);
  return ~less | carry;
}

/* The compiler specialises it for each size. */
static ALWAYS_INLINE void
median_of_classes_of_size (bool large, const uint64_t *const foreground[],
    const uint64_t *const shadow[], ptrdiff_t n, uint64_t *restrict scratch, uint64_t *restrict out,
    uint64_t *restrict out_shadow)
{
  uint64_t *digits[6];
  for (int i = 0; i < 6; i++)
    digits[i] = scratch + 1 + i * (n + 2);
  count_columns (foreground, large, n, digits[0], digits[1], digits[2]);
  count_columns (shadow, large, n, digits[3], digits[4], digits[5]);
  for (ptrdiff_t i = 0; i < n; i++) {
    const Count f = large ? count_5 (digits[0] + i, digits[1] + i, digits[2] + i)
                          : count_3 (digits[0] + i, digits[1] + i);
    const Count s = large ? count_5 (digits[3] + i, digits[4] + i, digits[5] + i)
                          : count_3 (digits[3] + i, digits[4] + i);
    const uint64_t most = most_of (add_counts (f, s), large);
    const uint64_t enough = three_reach_two (f, s);
    out[i] = most & enough;
    out_shadow[i] = most & ~enough;
  }
}

static void
median_of_classes (bool large, const uint64_t *const foreground[], const uint64_t *const shadow[],
    size_t n_words, uint64_t *restrict scratch, uint64_t *restrict out,
    uint64_t *restrict out_shadow)
{
  if (large)
    median_of_classes_of_size (
        true, foreground, shadow, (ptrdiff_t)n_words, scratch, out, out_shadow);
  else
    median_of_classes_of_size (
        false, foreground, shadow, (ptrdiff_t)n_words, scratch, out, out_shadow);
}

static void
filter_row (Filter filter, const uint64_t *const rows[], size_t n_words, uint64_t *scratch,
    uint64_t *filtered)
{
  uint64_t *a = scratch + 1;
  const ptrdiff_t n = (ptrdiff_t)n_words;

  switch (filter) {
  case FILTER_MEDIAN_3:
    median (rows, false, n, scratch, filtered);
    break;
  case FILTER_MEDIAN_5:
    median (rows, true, n, scratch, filtered);
    break;
  case FILTER_STRONG_5:
    few_of_25 (rows, n, scratch, filtered);
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
