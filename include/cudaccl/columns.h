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

/* Everything that is measured, a row each: INTEGER (EACH, column, field, combine, frame, large) for
 * the sums over the pixels of a component, and REAL (EACH, column, field, pictures) for what
 * follows from them. The structs below, the sums that the library keeps, and the keys and names of
 * columns in metadata, JSON, CSV and Python are derived from this table. EACH is handed on to the
 * rows.
 *
 * column: the last part of the name of its flag in CclColumn.
 * field: the name of the struct's member.
 * combine: how the values of two parts of a component make that of the whole: SUM, MIN or MAX.
 * frame: the type in CclFeatures: U32, U64; NONE: it has no such field.
 * large: the type for volumes and frames of any size, inside the library: U32, U64, I64, WIDE (128
 *   bits); NONE: it has no such field, or the row of the component has it.
 * pictures: which have it: FRAMES (CclShape alone), LARGE (CclVolumeShape alone), ALL.
 *
 * A sum over the pixels is written with x, y and z for their coordinates and v for their values in
 * the second plane. A border pixel of a component is one of its pixels that has a neighbour by an
 * edge outside the component; straight, diagonal and mixed ones have in scikit-image's definition
 * of the perimeter the weights 1, √2 and (1 + √2) / 2. n_quads_1… count the squares of 2×2 pixels,
 * also those that are partly outside the frame, in which the component has 1 pixel, 2 side by side,
 * 3, and 2 that touch at a corner only.
 *
 * The ellipse, in volumes an ellipsoid, has the same moments; its axes are in pixels. The crack
 * length counts the edges between the component's pixels and others, in volumes the faces. Pixels
 * touch at edges only (voxels at faces) for euler_number_4, at corners, too, for euler_number_8.
 *
 * Rows of later versions may stand between others. Since: 0.4 */
#define CUDACCL_MEASURES(INTEGER, REAL, EACH)                                                      \
  INTEGER (EACH, SUMS, sum_x, SUM, U64, NONE)             /* Σ x */                               \
  INTEGER (EACH, SUMS, sum_y, SUM, U64, NONE)             /* Σ y */                               \
  INTEGER (EACH, MOMENTS, sum_xx, SUM, U64, WIDE)         /* Σ x² */                             \
  INTEGER (EACH, MOMENTS, sum_yy, SUM, U64, WIDE)         /* Σ y² */                             \
  INTEGER (EACH, MOMENTS, sum_zz, SUM, NONE, WIDE)        /* Σ z² */                             \
  INTEGER (EACH, MOMENTS, sum_xy, SUM, U64, WIDE)         /* Σ xy */                              \
  INTEGER (EACH, MOMENTS, sum_xz, SUM, NONE, WIDE)        /* Σ xz */                              \
  INTEGER (EACH, MOMENTS, sum_yz, SUM, NONE, WIDE)        /* Σ yz */                              \
  INTEGER (EACH, INTENSITY, sum_value, SUM, U64, U64)     /* Σ v */                               \
  INTEGER (EACH, INTENSITY, sum_squares, SUM, U64, WIDE)  /* Σ v² */                             \
  INTEGER (EACH, INTENSITY, sum_value_x, SUM, U64, WIDE)  /* Σ vx */                              \
  INTEGER (EACH, INTENSITY, sum_value_y, SUM, U64, WIDE)  /* Σ vy */                              \
  INTEGER (EACH, INTENSITY, sum_value_z, SUM, NONE, WIDE) /* Σ vz */                              \
  INTEGER (EACH, INTENSITY, least_value, MIN, U32, U32)                                            \
  INTEGER (EACH, INTENSITY, greatest_value, MAX, U32, U32)                                         \
  INTEGER (EACH, PERIMETER, n_straight, SUM, U32, U64) /* border pixels */                         \
  INTEGER (EACH, PERIMETER, n_diagonal, SUM, U32, U64)                                             \
  INTEGER (EACH, PERIMETER, n_mixed, SUM, U32, U64)                                                \
  INTEGER (EACH, TOPOLOGY, n_quads_1, SUM, U32, NONE) /* squares of 2×2 pixels */                 \
  INTEGER (EACH, TOPOLOGY, n_quads_2, SUM, U32, NONE)                                              \
  INTEGER (EACH, TOPOLOGY, n_quads_3, SUM, U32, NONE)                                              \
  INTEGER (EACH, TOPOLOGY, n_quads_diagonal, SUM, U32, NONE)                                       \
  INTEGER (EACH, TOPOLOGY, crack_length, SUM, NONE, I64)                                           \
  INTEGER (EACH, TOPOLOGY, euler_number_4, SUM, NONE, I64)                                         \
  INTEGER (EACH, TOPOLOGY, euler_number_8, SUM, NONE, I64)                                         \
  INTEGER (EACH, SUMS, first, MIN, NONE, U64) /* the number of the first pixel in raster order */  \
  REAL (EACH, SUMS, first_x, LARGE)           /* the first pixel in raster order */                \
  REAL (EACH, SUMS, first_y, LARGE)                                                                \
  REAL (EACH, SUMS, first_z, LARGE)                                                                \
  REAL (EACH, MOMENTS, variance_x, ALL) /* mean of (x - centroid_x)² */                           \
  REAL (EACH, MOMENTS, variance_y, ALL)                                                            \
  REAL (EACH, MOMENTS, variance_z, LARGE)                                                          \
  REAL (EACH, MOMENTS, covariance, FRAMES)   /* mean of (x - centroid_x) (y - centroid_y) */       \
  REAL (EACH, MOMENTS, covariance_xy, LARGE) /* the same */                                        \
  REAL (EACH, MOMENTS, covariance_xz, LARGE)                                                       \
  REAL (EACH, MOMENTS, covariance_yz, LARGE)                                                       \
  REAL (EACH, MOMENTS, greater_eigenvalue, FRAMES) /* of the inertia tensor */                     \
  REAL (EACH, MOMENTS, lesser_eigenvalue, FRAMES)                                                  \
  REAL (EACH, MOMENTS, eigenvalue_0, LARGE) /* of the inertia tensor, the greatest first */        \
  REAL (EACH, MOMENTS, eigenvalue_1, LARGE)                                                        \
  REAL (EACH, MOMENTS, eigenvalue_2, LARGE)                                                        \
  REAL (EACH, MOMENTS, major_axis, ALL) /* of the ellipse with the same moments */                 \
  REAL (EACH, MOMENTS, minor_axis, ALL)                                                            \
  REAL (EACH, MOMENTS, eccentricity, ALL)    /* of that ellipse, 0 (a circle)…1 */               \
  REAL (EACH, MOMENTS, orientation, ALL)     /* of its major axis from the y axis, -π/2…π/2 */ \
  REAL (EACH, PERIMETER, perimeter, ALL)     /* pixels, by scikit-image's definition */            \
  REAL (EACH, TOPOLOGY, crack_length, ALL)   /* edges (faces) to others */                         \
  REAL (EACH, TOPOLOGY, euler_number_4, ALL) /* parts minus holes */                               \
  REAL (EACH, TOPOLOGY, euler_number_8, ALL) /* the same */                                        \
  REAL (EACH, INTENSITY, least_value, LARGE)                                                       \
  REAL (EACH, INTENSITY, greatest_value, LARGE)                                                    \
  REAL (EACH, INTENSITY, mean_value, ALL)                                                          \
  REAL (EACH, INTENSITY, standard_deviation, ALL)  /* of the values, over all pixels */            \
  REAL (EACH, INTENSITY, weighted_centroid_x, ALL) /* not a number where all values are 0 */       \
  REAL (EACH, INTENSITY, weighted_centroid_y, ALL)                                                 \
  REAL (EACH, INTENSITY, weighted_centroid_z, LARGE)

/* Expands FEATURE (column, type, field, combine) for each field of CclFeatures, as in
 * CUDACCL_MEASURES(). Since: 0.3 */
#define CUDACCL_FEATURES(FEATURE) CUDACCL_MEASURES (CUDACCL_FEATURE_ROW, CUDACCL_NO_REAL, FEATURE)

/* Parts of the lists. */
#define CUDACCL_FEATURE_ROW(FEATURE, column, field, combine, frame, large)                         \
  CUDACCL_FEATURE_##frame (FEATURE, column, field, combine)
#define CUDACCL_FEATURE_U32(FEATURE, column, field, combine)                                       \
  FEATURE (column, uint32_t, field, combine)
#define CUDACCL_FEATURE_U64(FEATURE, column, field, combine)                                       \
  FEATURE (column, uint64_t, field, combine)
#define CUDACCL_FEATURE_NONE(FEATURE, column, field, combine)
#define CUDACCL_NO_INTEGER(EACH, column, field, combine, frame, large)
#define CUDACCL_NO_REAL(EACH, column, field, pictures)

/* What is measured of one component, in integers, so that it is exact and the same on CPU and GPU.
 * Fields whose column is not in the plan are undefined. Since: 0.3 */
typedef struct CclFeatures {
#define CUDACCL_FEATURE_FIELD(column, type, field, combine) type field;
  CUDACCL_FEATURES (CUDACCL_FEATURE_FIELD)
#undef CUDACCL_FEATURE_FIELD
} CclFeatures;

/* Expands SHAPE (column, field) for each field of CclShape, as in CUDACCL_MEASURES(). Since: 0.3 */
#define CUDACCL_SHAPES(SHAPE) CUDACCL_MEASURES (CUDACCL_NO_INTEGER, CUDACCL_SHAPE_ROW, SHAPE)

/* Parts of the lists. */
#define CUDACCL_SHAPE_ROW(SHAPE, column, field, pictures)                                          \
  CUDACCL_SHAPE_OF_##pictures (SHAPE, column, field)
#define CUDACCL_SHAPE_OF_ALL(SHAPE, column, field) SHAPE (column, field)
#define CUDACCL_SHAPE_OF_FRAMES(SHAPE, column, field) SHAPE (column, field)
#define CUDACCL_SHAPE_OF_LARGE(SHAPE, column, field)

/* What follows from the features of a component. A component that is labelled with 4 neighbours has
 * 1 - euler_number_4 holes, one with 8 neighbours 1 - euler_number_8. Since: 0.3 */
typedef struct CclShape {
#define CUDACCL_SHAPE_FIELD(column, field) double field;
  CUDACCL_SHAPES (CUDACCL_SHAPE_FIELD)
#undef CUDACCL_SHAPE_FIELD
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
#define CUDACCL_VOLUME_SHAPE_ROW(SHAPE, column, field, pictures)                                   \
  CUDACCL_VOLUME_SHAPE_OF_##pictures (SHAPE, column, field)
#define CUDACCL_VOLUME_SHAPE_OF_ALL(SHAPE, column, field) SHAPE (column, field)
#define CUDACCL_VOLUME_SHAPE_OF_FRAMES(SHAPE, column, field)
#define CUDACCL_VOLUME_SHAPE_OF_LARGE(SHAPE, column, field) SHAPE (column, field)

/* What follows from the measures of a component of a volume, or of a frame of any size (tiled.h).
 * The sums behind it are exact integers of up to 128 bits; values are rounded as those of
 * ccl_features_derive(), and those of a frame are the same bits. The Euler number of a volume is
 * its parts minus its tunnels plus its cavities. Since: 0.3 */
typedef struct CclVolumeShape {
#define CUDACCL_VOLUME_SHAPE_FIELD(column, field) double field;
  CUDACCL_VOLUME_SHAPES (CUDACCL_VOLUME_SHAPE_FIELD)
#undef CUDACCL_VOLUME_SHAPE_FIELD
} CclVolumeShape;

#endif /* CUDACCL_COLUMNS_H */
