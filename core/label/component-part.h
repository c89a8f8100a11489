/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The measures of a component, or of the part of one that is inside a tile or a slab. They are
 * exact integers, so that parts can be combined in any order. Coordinates are those of the whole
 * picture.
 */
#ifndef CUDACCL_COMPONENT_PART_H
#define CUDACCL_COMPONENT_PART_H

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
} CclPart;

/* A part without pixels. */
#define CCL_EMPTY_PART                                                                             \
  ((CclPart){.least_x = UINT32_MAX, .least_y = UINT32_MAX, .least_z = UINT32_MAX})

/* The same for the measures on request: the columns of CclColumn. In a frame, z is 0.
 *
 * The Euler numbers and the crack length are sums of what each pixel adds to those of the pixels
 * that precede it, so they need no memory of squares or cubes of pixels. */
#define CCL_MEASURE_FIELDS(FIELD)                                                                  \
  FIELD (CclWide, sum_xx, SUM)                                                                     \
  FIELD (CclWide, sum_yy, SUM)                                                                     \
  FIELD (CclWide, sum_zz, SUM)                                                                     \
  FIELD (CclWide, sum_xy, SUM)                                                                     \
  FIELD (CclWide, sum_xz, SUM)                                                                     \
  FIELD (CclWide, sum_yz, SUM)                                                                     \
  FIELD (CclWide, sum_squares, SUM) /* of the values of the second plane */                        \
  FIELD (CclWide, sum_value_x, SUM)                                                                \
  FIELD (CclWide, sum_value_y, SUM)                                                                \
  FIELD (CclWide, sum_value_z, SUM)                                                                \
  FIELD (uint64_t, sum_value, SUM)                                                                 \
  FIELD (uint64_t, first, MIN)      /* the number of the first pixel in raster order */            \
  FIELD (uint64_t, n_straight, SUM) /* border pixels */                                            \
  FIELD (uint64_t, n_diagonal, SUM)                                                                \
  FIELD (uint64_t, n_mixed, SUM)                                                                   \
  FIELD (int64_t, crack_length, SUM)                                                               \
  FIELD (int64_t, euler_number_4, SUM)                                                             \
  FIELD (int64_t, euler_number_8, SUM)                                                             \
  FIELD (uint32_t, least_value, MIN)                                                               \
  FIELD (uint32_t, greatest_value, MAX)

typedef struct CclMeasures {
  CCL_MEASURE_FIELDS (CCL_PART_FIELD)
#undef CCL_PART_FIELD
} CclMeasures;

/* Of no pixel. */
#define CCL_EMPTY_MEASURES ((CclMeasures){.first = UINT64_MAX, .least_value = UINT32_MAX})

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

static inline void
ccl_measures_add (CclMeasures *part, const CclMeasures *other)
{
  CCL_MEASURE_FIELDS (CCL_PART_COMBINE)
}

#undef CCL_PART_COMBINE
#undef CCL_PART_MAX
#undef CCL_PART_MIN
#undef CCL_PART_SUM

/* What ccl_measures_derive() has to know of the picture. */
typedef struct CclMeasuredPicture {
  uint64_t width, height; /* pixels */
  bool is_volume;
} CclMeasuredPicture;

/* Computes what follows from the measures of a component. Values of other columns are not a number.
 */
void ccl_measures_derive (const CclPart *part, const CclMeasures *measures, uint32_t columns,
    const CclMeasuredPicture *picture, CclVolumeShape *shape);

#endif /* CUDACCL_COMPONENT_PART_H */
