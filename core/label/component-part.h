/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The measures of a component, or of the part of one that is inside a tile or a slab. They are
 * exact integers, so that parts can be combined in any order; CclReals alone are rounded.
 * Coordinates are those of the whole picture.
 */
#pragma once

#include <cudaccl/columns.h>
#include <cudaccl/labeller.h>

typedef unsigned __int128 CclWide;

/* Expands FIELD (type, field, combine) for each number that a row of the table is computed from;
 * combine is as in CUDACCL_FEATURES(). Sums are those of the pixels' coordinates. */
#define CCL_PART_FIELDS(FIELD)                                                                     \
  FIELD (uint64_t, area, SUM)                                                                      \
  FIELD (uint64_t, sum_x, SUM)                                                                     \
  FIELD (uint64_t, sum_y, SUM)                                                                     \
  FIELD (uint64_t, sum_z, SUM)                                                                     \
  FIELD (uint32_t, least_x, MIN)                                                                   \
  FIELD (uint32_t, least_y, MIN)                                                                   \
  FIELD (uint32_t, least_z, MIN)                                                                   \
  FIELD (uint32_t, greatest_x, MAX)                                                                \
  FIELD (uint32_t, greatest_y, MAX)                                                                \
  FIELD (uint32_t, greatest_z, MAX)

typedef struct CclPart {
#define CCL_PART_FIELD(type, field, combine) type field;
  CCL_PART_FIELDS (CCL_PART_FIELD)
#undef CCL_PART_FIELD
} CclPart;

/* A part without pixels. */
#define CCL_EMPTY_PART                                                                             \
  ((CclPart){.least_x = UINT32_MAX, .least_y = UINT32_MAX, .least_z = UINT32_MAX})

/* FIELD (column, type, field, combine): the same for the measures on request, those of
 * CUDACCL_MEASURES() for large pictures. In a frame, z is 0.
 *
 * The Euler numbers and the crack length are sums of what each pixel adds to those of the pixels
 * that precede it, so they need no memory of squares or cubes of pixels. */
#define CCL_MEASURE_FIELDS(FIELD) CUDACCL_MEASURES (CCL_MEASURE_ROW, CUDACCL_NO_REAL, FIELD)

#define CCL_MEASURE_ROW(FIELD, column, field, former, combine, frame, large)                       \
  CCL_MEASURE_##large (FIELD, column, field, combine)
#define CCL_MEASURE_U32(FIELD, column, field, combine) FIELD (column, uint32_t, field, combine)
#define CCL_MEASURE_U64(FIELD, column, field, combine) FIELD (column, uint64_t, field, combine)
#define CCL_MEASURE_I64(FIELD, column, field, combine) FIELD (column, int64_t, field, combine)
#define CCL_MEASURE_WIDE(FIELD, column, field, combine) FIELD (column, CclWide, field, combine)
#define CCL_MEASURE_NONE(FIELD, column, field, combine)

/* What is measured of values that are real numbers, instead of the integers of the column
 * INTENSITY. */
typedef struct CclReals {
  double n;                        /* values; with 0, the other fields have no meaning */
  double sum, sum_x, sum_y, sum_z; /* of the values, and of their products with coordinates */
  double squares;                  /* the sum of squared differences from the mean */
  double least, greatest;          /* NaN if a value is */
  uint64_t place;                  /* the number of the first pixel with the greatest value */
} CclReals;

typedef struct CclMeasures {
  union {
    struct {
#define CCL_MEASURE_FIELD(column, type, field, combine) type field;
      CCL_MEASURE_FIELDS (CCL_MEASURE_FIELD)
#undef CCL_MEASURE_FIELD
    };
    struct {
      CclWide of_moments[6];
      CclReals
          reals; /* with CclMeasuredPicture.has_reals, in the place of sum_value and the next */
    };
  };
} CclMeasures;

/* Of no pixel. */
#define CCL_EMPTY_MEASURES ((CclMeasures){.first = UINT64_MAX, .intensity_min = UINT32_MAX})

static inline bool
ccl_values_are_real (CclPixelFormat format)
{
  return format == CUDACCL_PIXEL_FORMAT_REAL || format == CUDACCL_PIXEL_FORMAT_REAL_OR_NAN;
}

/* Bytes of a value of the second plane; 0 of formats that it cannot have. */
static inline size_t
ccl_value_bytes (CclPixelFormat format)
{
  if (ccl_values_are_real (format))
    return sizeof (double);
  return format == CUDACCL_PIXEL_FORMAT_16 ? 2 : format == CUDACCL_PIXEL_FORMAT_8 ? 1 : 0;
}

#define CCL_PART_SUM(a, b) ((a) + (b))
#define CCL_PART_MIN(a, b) ((a) < (b) ? (a) : (b))
#define CCL_PART_MAX(a, b) ((a) > (b) ? (a) : (b))
#define CCL_PART_COMBINE(type, field, combine)                                                     \
  part->field = CCL_PART_##combine (part->field, other->field);

static inline void
ccl_part_add (CclPart *part, const CclPart *other)
{
  CCL_PART_FIELDS (CCL_PART_COMBINE)
}

/* Adds values whose means may differ (Chan, Golub and LeVeque, "Updating formulae and a pairwise
 * algorithm for computing sample variances", 1979). */
void ccl_reals_add (CclReals *part, const CclReals *other);

static inline void
ccl_measures_add (CclMeasures *part, const CclMeasures *other, bool has_reals)
{
  CclReals reals = part->reals;

#define CCL_MEASURE_COMBINE(column, type, field, combine) CCL_PART_COMBINE (type, field, combine)
  CCL_MEASURE_FIELDS (CCL_MEASURE_COMBINE)
#undef CCL_MEASURE_COMBINE
  if (has_reals) {
    ccl_reals_add (&reals, &other->reals);
    part->reals = reals;
  }
}

#undef CCL_PART_COMBINE
#undef CCL_PART_MAX
#undef CCL_PART_MIN
#undef CCL_PART_SUM

/* What ccl_measures_derive() has to know of the picture. */
typedef struct CclMeasuredPicture {
  uint64_t width, height; /* pixels */
  bool is_volume;
  bool has_reals; /* the values of the second plane are real numbers */
} CclMeasuredPicture;

/* Computes what follows from the measures of a component. Values of other columns are not a number.
 */
void ccl_measures_derive (const CclPart *part, const CclMeasures *measures, uint32_t columns,
    const CclMeasuredPicture *picture, CclVolumeShape *shape);
