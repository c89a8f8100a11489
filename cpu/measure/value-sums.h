/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums over the values of the second plane: of some pixels, and how they are added to what is
 * measured of their component. */
#ifndef CUDACCL_CPU_VALUE_SUMS_H
#define CUDACCL_CPU_VALUE_SUMS_H

#include "core/label/component-part.h"
#include "cpu/pixels/words.h"

/* Of pixels of a row and of the one below it. Places are those in the rows from some column on. */
typedef struct ValueSums {
  uint64_t values[2]; /* in each row */
  uint64_t squares;
  uint64_t times_place;
  uint32_t least, greatest;
} ValueSums;

static ALWAYS_INLINE uint32_t
lesser (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

static ALWAYS_INLINE uint32_t
greater (uint32_t a, uint32_t b)
{
  return a > b ? a : b;
}

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

/* Pixels of a word of a frame, in both rows of a strip. */
typedef struct ValueWordOfStrip {
  const uint8_t *values[2]; /* of the word's first column */
  uint64_t rows[2];         /* the pixels */
  CclPixelFormat format;
  uint32_t x, y; /* of the word's first column, of the first row */
} ValueWordOfStrip;

/* Adds the sums over the pixels of a word. */
static ALWAYS_INLINE void
add_values_of_word (CclFeatures *features, const ValueWordOfStrip *word, const ValueSums *sums)
{
  ADD_VALUE_SUMS (features, sums, (uint64_t)word->x, (uint64_t)word->y);
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
  ADD_VALUE_SUMS (features, &sums, 0, run->y);
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
  }
}

#endif /* CUDACCL_CPU_VALUE_SUMS_H */
