/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums over the values of the second plane: of some pixels, and how they are added to what is
 * measured of their component. */
#pragma once

#include "core/label/component-part.h"
#include "cpu/base/lesser.h"
#include "cpu/pixels/words.h"

/* Of pixels of a row and of the one below it. Places are those in the rows from some column on. */
typedef struct ValueSums {
  uint64_t values[2]; /* in each row */
  uint64_t squares;
  uint64_t times_place;
  uint32_t least, greatest;
} ValueSums;

static const ValueSums no_value_sums = {.least = UINT32_MAX};

static ALWAYS_INLINE void
add_value (ValueSums *sums, uint32_t row, uint32_t place, uint32_t value)
{
  sums->values[row] += value;
  sums->squares += (uint64_t)value * value;
  sums->times_place += (uint64_t)value * place;
  sums->least = lesser (sums->least, value);
  sums->greatest = greater (sums->greatest, value);
}

/* Defines functions for values of a type: sums over the pixels of a word whose bits are set, in
 * both rows; and over those of a run, whose values are so many values apart. */
#define DEFINE_SUM_VALUES(type, sum_of_bits, sum_of_run)                                           \
  static inline void sum_of_bits (                                                                 \
      const uint8_t *const values[2], const uint64_t rows[2], ValueSums *sums)                     \
  {                                                                                                \
    *sums = no_value_sums;                                                                         \
    for (uint32_t row = 0; row < 2; row++)                                                         \
      for (uint64_t rest = rows[row]; rest; rest &= rest - 1) {                                    \
        const uint32_t place = lowest_bit (rest);                                                  \
        add_value (sums, row, place, ((const type *)values[row])[place]);                          \
      }                                                                                            \
  }                                                                                                \
  static ALWAYS_INLINE ValueSums sum_of_run (                                                      \
      const void *values, size_t step, uint32_t begin, uint32_t end)                               \
  {                                                                                                \
    ValueSums sums = no_value_sums;                                                                \
    for (uint32_t x = begin; x < end; x++)                                                         \
      add_value (&sums, 0, x, ((const type *)values)[x * step]);                                   \
    return sums;                                                                                   \
  }

typedef uint16_t __attribute__ ((aligned (1), may_alias)) ValueWord; /* at any address */
DEFINE_SUM_VALUES (uint8_t, sum_bytes_one_by_one, sum_bytes_of_run)
DEFINE_SUM_VALUES (ValueWord, sum_words_one_by_one, sum_words_of_run)
#undef DEFINE_SUM_VALUES

/* Sums the values of the pixels begin…end - 1 of a row, which are so many values apart. */
static ALWAYS_INLINE ValueSums
sum_values_of_run (
    const void *values, CclPixelFormat format, size_t step, uint32_t begin, uint32_t end)
{
  const bool has_bytes = format == CUDACCL_PIXEL_FORMAT_8;

  if (step > 1)
    return has_bytes ? sum_bytes_of_run (values, step, begin, end)
                     : sum_words_of_run (values, step, begin, end);
  return has_bytes ? sum_bytes_of_run (values, 1, begin, end)
                   : sum_words_of_run (values, 1, begin, end);
}

/* Adds sums over pixels of a row and of the one below it to what is measured of their component, a
 * CclFeatures or a CclMeasures; x, y: of their first column and their first row. */
#define ADD_VALUE_SUMS(measured, sums, x, y)                                                       \
  do {                                                                                             \
    const uint64_t all_values = (sums)->values[0] + (sums)->values[1];                             \
    (measured)->sum_value += all_values;                                                           \
    (measured)->sum_squares += (sums)->squares;                                                    \
    (measured)->sum_value_x += all_values * (x) + (sums)->times_place;                             \
    (measured)->sum_value_y += all_values * (y) + (sums)->values[1];                               \
    (measured)->intensity_min = lesser ((measured)->intensity_min, (sums)->least);                 \
    (measured)->intensity_max = greater ((measured)->intensity_max, (sums)->greatest);             \
  } while (0)

/* The first of n values, which are so many values apart, that equals one; there is one. */
static inline uint32_t
find_value (const uint8_t *values, CclPixelFormat format, size_t step, uint32_t value)
{
  uint32_t i = 0;

  if (format == CUDACCL_PIXEL_FORMAT_8)
    while (values[i * step] != value)
      i++;
  else
    while (((const ValueWord *)values)[i * step] != value)
      i++;
  return i;
}

/* Adds the first place of the greatest value of a run, if it can be that of the component. number:
 * of the run's first pixel, which `values` begins with. */
static ALWAYS_INLINE void
add_place_of_run (uint64_t *placed, const uint8_t *values, CclPixelFormat format, size_t step,
    uint32_t greatest, uint64_t number)
{
  if (CUDACCL_PLACED (greatest, number) <= *placed)
    return;
  number += find_value (values, format, step, greatest);
  if (CUDACCL_PLACED (greatest, number) > *placed)
    *placed = CUDACCL_PLACED (greatest, number);
}

/* Pixels of a word of a frame, in both rows of a strip. */
typedef struct ValueWordOfStrip {
  const uint8_t *values[2]; /* of the word's first column */
  uint64_t rows[2];         /* the pixels */
  CclPixelFormat format;
  uint32_t x, y; /* of the word's first column, of the first row */
} ValueWordOfStrip;

/* The place of the first pixel of a row of a word with that value; 64: there is none. */
static inline uint32_t
find_in_row (const ValueWordOfStrip *word, uint32_t row, uint32_t value)
{
  const uint8_t *values = word->values[row];
  const bool has_bytes = word->format == CUDACCL_PIXEL_FORMAT_8;

  for (uint64_t rest = word->rows[row]; rest; rest &= rest - 1) {
    const uint32_t place = lowest_bit (rest);
    if ((has_bytes ? values[place] : ((const ValueWord *)values)[place]) == value)
      return place;
  }
  return 64;
}

/* Adds the first place of the greatest value of a word, if it can be that of the component. */
static ALWAYS_INLINE void
add_place_of_word (uint64_t *placed, const ValueWordOfStrip *word, uint32_t greatest)
{
  uint64_t number = (uint64_t)word->y * CUDACCL_MAX_FEATURE_SIDE + word->x;

  if (CUDACCL_PLACED (greatest, number) <= *placed)
    return;
  uint32_t place = find_in_row (word, 0, greatest);
  if (place == 64) {
    place = find_in_row (word, 1, greatest);
    number += CUDACCL_MAX_FEATURE_SIDE;
  }
  number += place;
  if (CUDACCL_PLACED (greatest, number) > *placed)
    *placed = CUDACCL_PLACED (greatest, number);
}

/* Adds the sums over the pixels of a word. */
static ALWAYS_INLINE void
add_values_of_word (CclFeatures *features, const ValueWordOfStrip *word, const ValueSums *sums)
{
  ADD_VALUE_SUMS (features, sums, (uint64_t)word->x, (uint64_t)word->y);
  if (word->rows[0] | word->rows[1])
    add_place_of_word (&features->intensity_max_place, word, sums->greatest);
}

/* The pixels begin…end - 1 of a row. */
typedef struct ValueRun {
  const uint8_t *values; /* of the row */
  CclPixelFormat format;
  size_t step; /* values from pixel to pixel */
  uint32_t begin, end;
  uint64_t y, z;
  uint64_t number; /* of the pixel begin in its picture */
} ValueRun;

/* Adds the values of a run of a frame. */
static ALWAYS_INLINE void
add_values_of_run (CclFeatures *features, const ValueRun *run)
{
  const ValueSums sums =
      sum_values_of_run (run->values, run->format, run->step, run->begin, run->end);
  const size_t bytes = run->format == CUDACCL_PIXEL_FORMAT_8 ? 1 : 2;
  const size_t step = run->step > 1 ? run->step : 1;
  ADD_VALUE_SUMS (features, &sums, 0, run->y);
  add_place_of_run (&features->intensity_max_place, run->values + run->begin * step * bytes,
      run->format, step, sums.greatest, run->number);
}

enum { MOST_SUMMED = 1 << 16 }; /* pixels of a run whose sums have 64 bits */

/* Adds the values of a run of a picture of any size. */
static ALWAYS_INLINE void
add_values_of_long_run (CclMeasures *measures, const ValueRun *run)
{
  for (uint32_t begin = run->begin, n; begin < run->end; begin += n) {
    n = run->end - begin < MOST_SUMMED ? run->end - begin : MOST_SUMMED;
    const uint8_t *first =
        run->values + (size_t)begin * (run->format == CUDACCL_PIXEL_FORMAT_8 ? 1 : 2);
    const ValueSums sums = sum_values_of_run (first, run->format, 1, 0, n);
    ADD_VALUE_SUMS (measures, &sums, (CclWide)begin, (CclWide)run->y);
    measures->sum_value_z += (CclWide)sums.values[0] * run->z;
    add_place_of_run (&measures->intensity_max_place, first, run->format, 1, sums.greatest,
        run->number + (begin - run->begin));
  }
}
