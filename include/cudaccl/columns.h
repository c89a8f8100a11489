/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The columns of the component table, in lists: those that every table has, and those that are
 * chosen by CclLabellerPlan.columns. What writes or reads tables is derived from the lists: text,
 * JSON, files of NumPy, metadata, Python.
 *
 *   #define PRINT_COUNT(field, key) printf (key "=%u ", row->field);
 *   #define PRINT_REAL(field, key) printf (key "=%g ", row->field);
 *   CUDACCL_COLUMNS (PRINT_COUNT, PRINT_REAL, CUDACCL_NO_COLUMN, CUDACCL_NO_COLUMN)
 *
 * Since: 0.3
 */
#ifndef CUDACCL_COLUMNS_H
#define CUDACCL_COLUMNS_H

#include <stdint.h>

/* Expands COUNT (field, key) for each column of unsigned integers and REAL (field, key) for each
 * one of doubles, in the order of the fields of CclComponent. The arguments with VOLUME_ are for
 * the columns that only CclVolumeComponent and CclTiledComponent have; with them, it is the order
 * of the fields of those two. All counts come before all reals.
 *
 * field: the name of the struct's member; CclVolumeComponent calls its area n_voxels.
 * key: a string literal, the name of the column in JSON, CSV and NPY files.
 *
 * Since: 0.3 */
#define CUDACCL_COLUMNS(COUNT, REAL, VOLUME_COUNT, VOLUME_REAL)                                    \
  COUNT (label, "label")                                                                           \
  COUNT (area, "area")                                                                             \
  COUNT (x, "x")                                                                                   \
  COUNT (y, "y")                                                                                   \
  VOLUME_COUNT (z, "z")                                                                            \
  COUNT (width, "width")                                                                           \
  COUNT (height, "height")                                                                         \
  VOLUME_COUNT (depth, "depth")                                                                    \
  REAL (centroid_x, "cx")                                                                          \
  REAL (centroid_y, "cy")                                                                          \
  VOLUME_REAL (centroid_z, "cz")

/* Leaves a kind of columns out. Since: 0.3 */
#define CUDACCL_NO_COLUMN(field, key)

/* The columns that a labeller measures on request, as flags of CclLabellerPlan.columns. In frames
 * they are the fields of CclFeatures, and ccl_features_derive() computes CclShape from them.
 * Since: 0.3 */
typedef enum CclColumn {
  CUDACCL_COLUMN_SUMS = 1 << 0,      /* sums of the coordinates */
  CUDACCL_COLUMN_MOMENTS = 1 << 1,   /* sums of the squares and products of the coordinates */
  CUDACCL_COLUMN_PERIMETER = 1 << 2, /* border pixels by their neighbours, for the perimeter */
  CUDACCL_COLUMN_TOPOLOGY = 1 << 3, /* squares of 2×2 pixels, for Euler numbers and crack length */
  CUDACCL_COLUMN_INTENSITY = 1 << 4, /* sums and extremes of the values of a second plane */
} CclColumn;

/* All flags of CclColumn. Since: 0.3 */
#define CUDACCL_ALL_COLUMNS 0x1f

/* The greatest width and height of frames with columns of CclColumn: with them, no sum exceeds 64
 * bits. Since: 0.3 */
#define CUDACCL_MAX_FEATURE_SIDE 65536

/* Everything that is measured, a row each: INTEGER (EACH, column, field, former, combine, frame,
 * large) for the sums over the pixels of a component, and REAL (EACH, column, field, former,
 * pictures, name, place, kind) for what follows from them. The structs below, the sums that the
 * library keeps, the code that combines them, the keys of metadata and JSON, and the columns of CSV
 * and NPY files and of Python are derived from this table. EACH is handed on to the rows.
 *
 * column: the last part of the name of its flag in CclColumn.
 * field: the name of the struct's member, and the key in metadata and JSON.
 * former: SAME, or FORMERLY (name) with the name until 0.3, which the struct keeps for 0.4.
 * combine: how the values of two parts of a component make that of the whole: SUM, MIN or MAX.
 * frame: the type in CclFeatures: U32, U64; NONE: it has no such field.
 * large: the type for volumes and frames of any size, inside the library: U32, U64, I64, WIDE (128
 *   bits); NONE: it has no such field, or the row of the component has it.
 * pictures: which have it. ALL; FRAMES: not a number in volumes; VOLUMES: CclVolumeShape alone, not
 *   a number in frames; LARGE: CclVolumeShape alone.
 * name: of the property in CSV and NPY files and in Python, scikit-image's where it has one; "".
 * place: the column of the property: ONE, the only one; ONE_OF_FRAMES, the same, but volumes do not
 *   offer it; FIRST, SECOND, THIRD; X, Y, Z, that of an axis, x being the last; NONE: no name.
 * kind: of the property: DOUBLE, or COUNT for integers.
 *
 * A sum over the pixels is written with x, y and z for their coordinates and v for their values in
 * the second plane. A border pixel of a component is one of its pixels that has a neighbour by an
 * edge outside the component; straight, diagonal and mixed ones have in scikit-image's definition
 * of the perimeter the weights 1, √2 and (1 + √2) / 2. n_quads_1… count the squares of 2×2 pixels,
 * also those that are partly outside the frame, in which the component has 1 pixel, 2 side by side,
 * 3, and 2 that touch at a corner only.
 *
 * Rows of later versions may stand between others. Since: 0.4 */
/* clang-format off */
#define CUDACCL_MEASURES(INTEGER, REAL, EACH)                                                      \
  /* Σ x */                                                                                        \
  INTEGER (EACH, SUMS, sum_x, SAME, SUM, U64, NONE)                                                \
  INTEGER (EACH, SUMS, sum_y, SAME, SUM, U64, NONE)                                                \
  /* Σ x² */                                                                                       \
  INTEGER (EACH, MOMENTS, sum_xx, SAME, SUM, U64, WIDE)                                            \
  INTEGER (EACH, MOMENTS, sum_yy, SAME, SUM, U64, WIDE)                                            \
  INTEGER (EACH, MOMENTS, sum_zz, SAME, SUM, NONE, WIDE)                                           \
  INTEGER (EACH, MOMENTS, sum_xy, SAME, SUM, U64, WIDE)                                            \
  INTEGER (EACH, MOMENTS, sum_xz, SAME, SUM, NONE, WIDE)                                           \
  INTEGER (EACH, MOMENTS, sum_yz, SAME, SUM, NONE, WIDE)                                           \
  /* Σ v */                                                                                        \
  INTEGER (EACH, INTENSITY, sum_value, SAME, SUM, U64, U64)                                        \
  /* Σ v² */                                                                                       \
  INTEGER (EACH, INTENSITY, sum_squares, SAME, SUM, U64, WIDE)                                     \
  /* Σ vx */                                                                                       \
  INTEGER (EACH, INTENSITY, sum_value_x, SAME, SUM, U64, WIDE)                                     \
  INTEGER (EACH, INTENSITY, sum_value_y, SAME, SUM, U64, WIDE)                                     \
  INTEGER (EACH, INTENSITY, sum_value_z, SAME, SUM, NONE, WIDE)                                    \
  /* the greatest value and its first pixel: CUDACCL_PLACED() */                                   \
  INTEGER (EACH, INTENSITY, intensity_max_place, SAME, MAX, U64, U64)                              \
  INTEGER (EACH, INTENSITY, intensity_min, FORMERLY (least_value), MIN, U32, U32)                  \
  INTEGER (EACH, INTENSITY, intensity_max, FORMERLY (greatest_value), MAX, U32, U32)               \
  /* border pixels */                                                                              \
  INTEGER (EACH, PERIMETER, n_straight, SAME, SUM, U32, U64)                                       \
  INTEGER (EACH, PERIMETER, n_diagonal, SAME, SUM, U32, U64)                                       \
  INTEGER (EACH, PERIMETER, n_mixed, SAME, SUM, U32, U64)                                          \
  /* squares of 2×2 pixels */                                                                      \
  INTEGER (EACH, TOPOLOGY, n_quads_1, SAME, SUM, U32, NONE)                                        \
  INTEGER (EACH, TOPOLOGY, n_quads_2, SAME, SUM, U32, NONE)                                        \
  INTEGER (EACH, TOPOLOGY, n_quads_3, SAME, SUM, U32, NONE)                                        \
  INTEGER (EACH, TOPOLOGY, n_quads_diagonal, SAME, SUM, U32, NONE)                                 \
  INTEGER (EACH, TOPOLOGY, crack_length, SAME, SUM, NONE, I64)                                     \
  INTEGER (EACH, TOPOLOGY, euler_number_4, SAME, SUM, NONE, I64)                                   \
  INTEGER (EACH, TOPOLOGY, euler_number_8, SAME, SUM, NONE, I64)                                   \
  /* number of the first pixel */                                                                  \
  INTEGER (EACH, SUMS, first, SAME, MIN, NONE, U64)                                                \
  /* the first pixel in raster order */                                                            \
  REAL (EACH, SUMS, first_x, SAME, LARGE, "first_pixel", X, COUNT)                                 \
  REAL (EACH, SUMS, first_y, SAME, LARGE, "first_pixel", Y, COUNT)                                 \
  REAL (EACH, SUMS, first_z, SAME, VOLUMES, "first_pixel", Z, COUNT)                               \
  /* mean of (x - centroid_x)² */                                                                  \
  REAL (EACH, MOMENTS, variance_x, SAME, ALL, "", NONE, DOUBLE)                                    \
  REAL (EACH, MOMENTS, variance_y, SAME, ALL, "", NONE, DOUBLE)                                    \
  REAL (EACH, MOMENTS, variance_z, SAME, VOLUMES, "", NONE, DOUBLE)                                \
  /* mean of (x - centroid_x) (y - centroid_y) */                                                  \
  REAL (EACH, MOMENTS, covariance_xy, FORMERLY (covariance), ALL, "", NONE, DOUBLE)                \
  REAL (EACH, MOMENTS, covariance_xz, SAME, VOLUMES, "", NONE, DOUBLE)                             \
  REAL (EACH, MOMENTS, covariance_yz, SAME, VOLUMES, "", NONE, DOUBLE)                             \
  /* of the inertia tensor, the greatest first */                                                  \
  REAL (EACH, MOMENTS, eigenvalue_0, FORMERLY (greater_eigenvalue), ALL,                           \
      "inertia_tensor_eigvals", FIRST, DOUBLE)                                                     \
  REAL (EACH, MOMENTS, eigenvalue_1, FORMERLY (lesser_eigenvalue), ALL,                            \
      "inertia_tensor_eigvals", SECOND, DOUBLE)                                                    \
  REAL (EACH, MOMENTS, eigenvalue_2, SAME, VOLUMES, "inertia_tensor_eigvals", THIRD, DOUBLE)       \
  /* of the ellipse with the same moments, pixels */                                               \
  REAL (EACH, MOMENTS, axis_major_length, FORMERLY (major_axis), ALL,                              \
      "axis_major_length", ONE, DOUBLE)                                                            \
  REAL (EACH, MOMENTS, axis_minor_length, FORMERLY (minor_axis), ALL,                              \
      "axis_minor_length", ONE, DOUBLE)                                                            \
  /* of that ellipse, 0 (a circle)…1 */                                                            \
  REAL (EACH, MOMENTS, eccentricity, SAME, FRAMES, "eccentricity", ONE, DOUBLE)                    \
  /* of its major axis from the y axis, -π/2…π/2 */                                                \
  REAL (EACH, MOMENTS, orientation, SAME, FRAMES, "orientation", ONE, DOUBLE)                      \
  /* pixels, by scikit-image's definition */                                                       \
  REAL (EACH, PERIMETER, perimeter, SAME, FRAMES, "perimeter", ONE, DOUBLE)                        \
  /* edges, in volumes faces, between its pixels and others */                                     \
  REAL (EACH, TOPOLOGY, crack_length, SAME, ALL, "crack_length", ONE_OF_FRAMES, COUNT)             \
  /* if pixels touch at edges only, voxels at faces only */                                        \
  REAL (EACH, TOPOLOGY, euler_number_4, SAME, ALL, "", NONE, COUNT)                                \
  /* if they touch at corners, too */                                                              \
  REAL (EACH, TOPOLOGY, euler_number_8, SAME, ALL, "euler_number", ONE, COUNT)                     \
  REAL (EACH, INTENSITY, intensity_min, FORMERLY (least_value), ALL, "intensity_min", ONE, DOUBLE) \
  REAL (EACH, INTENSITY, intensity_max, FORMERLY (greatest_value), ALL,                            \
      "intensity_max", ONE, DOUBLE)                                                                \
  /* the first pixel in raster order that has it */                                                \
  REAL (EACH, INTENSITY, intensity_max_position_x, SAME, ALL, "intensity_max_position", X, COUNT)  \
  REAL (EACH, INTENSITY, intensity_max_position_y, SAME, ALL, "intensity_max_position", Y, COUNT)  \
  REAL (EACH, INTENSITY, intensity_max_position_z, SAME, VOLUMES,                                  \
      "intensity_max_position", Z, COUNT)                                                          \
  REAL (EACH, INTENSITY, intensity_mean, FORMERLY (mean_value), ALL, "intensity_mean", ONE, DOUBLE) \
  /* over all pixels */                                                                            \
  REAL (EACH, INTENSITY, intensity_std, FORMERLY (standard_deviation), ALL,                        \
      "intensity_std", ONE, DOUBLE)                                                                \
  /* not a number where all values are 0 */                                                        \
  REAL (EACH, INTENSITY, centroid_weighted_x, FORMERLY (weighted_centroid_x), ALL,                 \
      "centroid_weighted", X, DOUBLE)                                                              \
  REAL (EACH, INTENSITY, centroid_weighted_y, FORMERLY (weighted_centroid_y), ALL,                 \
      "centroid_weighted", Y, DOUBLE)                                                              \
  REAL (EACH, INTENSITY, centroid_weighted_z, FORMERLY (weighted_centroid_z), VOLUMES, "centroid_weighted", Z, DOUBLE)
/* clang-format on */

/* A value of 16 bits and the number of a pixel that has it, below 2⁴⁸: in CclFeatures 65536 y + x.
 * Such integers are in the order of values; of equal values, the first pixel has the greatest.
 * Since: 0.4 */
#define CUDACCL_PLACED(value, number) ((uint64_t)(value) << 48 | ((UINT64_MAX >> 16) - (number)))

/* The number of the pixel. Since: 0.4 */
#define CUDACCL_PLACE_OF(placed) ((UINT64_MAX >> 16) - ((placed)&UINT64_MAX >> 16))

/* Leaves a kind of rows out. Since: 0.4 */
#define CUDACCL_NO_INTEGER(EACH, column, field, former, combine, frame, large)
#define CUDACCL_NO_REAL(EACH, column, field, former, pictures, name, place, kind)

/* Expands FEATURE (column, type, field, combine) for each field of CclFeatures, as in
 * CUDACCL_MEASURES(). Since: 0.3 */
#define CUDACCL_FEATURES(FEATURE) CUDACCL_MEASURES (CUDACCL_FEATURE_ROW, CUDACCL_NO_REAL, FEATURE)

/* Parts of the lists. */
#define CUDACCL_FEATURE_ROW(FEATURE, column, field, former, combine, frame, large)                 \
  CUDACCL_FEATURE_##frame (FEATURE, column, field, combine)
#define CUDACCL_FEATURE_U32(FEATURE, column, field, combine)                                       \
  FEATURE (column, uint32_t, field, combine)
#define CUDACCL_FEATURE_U64(FEATURE, column, field, combine)                                       \
  FEATURE (column, uint64_t, field, combine)
#define CUDACCL_FEATURE_NONE(FEATURE, column, field, combine)
#define CUDACCL_FEATURE_MEMBER(EACH, column, field, former, combine, frame, large)                 \
  CUDACCL_MEMBER_##frame (field, former)
#define CUDACCL_MEMBER_U64(field, former) uint64_t field;
#define CUDACCL_MEMBER_U32(field, former)                                                          \
  union {                                                                                          \
    uint32_t field;                                                                                \
    CUDACCL_U32_##former                                                                           \
  };
#define CUDACCL_MEMBER_NONE(field, former)
#define CUDACCL_U32_SAME
#define CUDACCL_U32_FORMERLY(name) uint32_t name;
#define CUDACCL_MEMBER_DOUBLE(field, former)                                                       \
  union {                                                                                          \
    double field;                                                                                  \
    CUDACCL_DOUBLE_##former                                                                        \
  };
#define CUDACCL_DOUBLE_SAME
#define CUDACCL_DOUBLE_FORMERLY(name) double name;

/* What is measured of one component, in integers, so that it is exact and the same on CPU and GPU.
 * Fields whose column is not in the plan are undefined. Since: 0.3 */
typedef struct CclFeatures {
  CUDACCL_MEASURES (CUDACCL_FEATURE_MEMBER, CUDACCL_NO_REAL, )
} CclFeatures;

/* Expands SHAPE (column, field) for each field of CclShape, as in CUDACCL_MEASURES(). Since: 0.3 */
#define CUDACCL_SHAPES(SHAPE) CUDACCL_MEASURES (CUDACCL_NO_INTEGER, CUDACCL_SHAPE_ROW, SHAPE)

/* Parts of the lists. */
#define CUDACCL_SHAPE_ROW(SHAPE, column, field, former, pictures, name, place, kind)               \
  CUDACCL_OF_SHAPE_##pictures (SHAPE (column, field))
#define CUDACCL_SHAPE_MEMBER(EACH, column, field, former, pictures, name, place, kind)             \
  CUDACCL_OF_SHAPE_##pictures (CUDACCL_MEMBER_DOUBLE (field, former))
#define CUDACCL_OF_SHAPE_ALL(row) row
#define CUDACCL_OF_SHAPE_FRAMES(row) row
#define CUDACCL_OF_SHAPE_VOLUMES(row)
#define CUDACCL_OF_SHAPE_LARGE(row)

/* What follows from the features of a component. A component that is labelled with 4 neighbours has
 * 1 - euler_number_4 holes, one with 8 neighbours 1 - euler_number_8. Since: 0.3 */
typedef struct CclShape {
  CUDACCL_MEASURES (CUDACCL_NO_INTEGER, CUDACCL_SHAPE_MEMBER, )
} CclShape;

/* Expands SHAPE (column, field) for each field of CclVolumeShape, as in CUDACCL_MEASURES().
 *
 * Values of one dimension more than a frame has are not a number for components of frames, and so
 * are eccentricity, orientation and perimeter for those of volumes.
 *
 * Since: 0.3 */
#define CUDACCL_VOLUME_SHAPES(SHAPE)                                                               \
  CUDACCL_MEASURES (CUDACCL_NO_INTEGER, CUDACCL_VOLUME_SHAPE_ROW, SHAPE)

/* Parts of the lists. */
#define CUDACCL_VOLUME_SHAPE_ROW(SHAPE, column, field, former, pictures, name, place, kind)        \
  SHAPE (column, field)
#define CUDACCL_VOLUME_SHAPE_MEMBER(EACH, column, field, former, pictures, name, place, kind)      \
  CUDACCL_MEMBER_DOUBLE (field, former)

/* What follows from the measures of a component of a volume, or of a frame of any size (tiled.h).
 * The sums behind it are exact integers of up to 128 bits; values are rounded as those of
 * ccl_features_derive(), and those of a frame are the same bits. The Euler number of a volume is
 * its parts minus its tunnels plus its cavities. Since: 0.3 */
typedef struct CclVolumeShape {
  CUDACCL_MEASURES (CUDACCL_NO_INTEGER, CUDACCL_VOLUME_SHAPE_MEMBER, )
} CclVolumeShape;

#endif /* CUDACCL_COLUMNS_H */
