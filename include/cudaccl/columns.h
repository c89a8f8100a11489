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

/* Expands FEATURE (column, type, field, combine) for each field of CclFeatures.
 *
 * column: the last part of the name of its flag in CclColumn.
 * combine: how the values of two parts of a component make that of the whole: SUM, MIN or MAX.
 *
 * A sum over the pixels is written with x and y for their coordinates and v for their values in the
 * second plane. A border pixel of a component is one of its pixels that has a neighbour by an edge
 * outside the component; straight, diagonal and mixed ones have in scikit-image's definition of the
 * perimeter the weights 1, √2 and (1 + √2) / 2. n_quads_1… count the squares of 2×2 pixels,
 * also those that are partly outside the frame, in which the component has 1 pixel, 2 side by side,
 * 3, and 2 that touch at a corner only.
 *
 * Since: 0.3 */
#define CUDACCL_FEATURES(FEATURE)                                                                  \
  FEATURE (SUMS, uint64_t, sum_x, SUM)            /* Σ x */                                       \
  FEATURE (SUMS, uint64_t, sum_y, SUM)            /* Σ y */                                       \
  FEATURE (MOMENTS, uint64_t, sum_xx, SUM)        /* Σ x² */                                     \
  FEATURE (MOMENTS, uint64_t, sum_yy, SUM)        /* Σ y² */                                     \
  FEATURE (MOMENTS, uint64_t, sum_xy, SUM)        /* Σ xy */                                      \
  FEATURE (INTENSITY, uint64_t, sum_value, SUM)   /* Σ v */                                       \
  FEATURE (INTENSITY, uint64_t, sum_squares, SUM) /* Σ v² */                                     \
  FEATURE (INTENSITY, uint64_t, sum_value_x, SUM) /* Σ vx */                                      \
  FEATURE (INTENSITY, uint64_t, sum_value_y, SUM) /* Σ vy */                                      \
  FEATURE (INTENSITY, uint32_t, least_value, MIN)                                                  \
  FEATURE (INTENSITY, uint32_t, greatest_value, MAX)                                               \
  FEATURE (PERIMETER, uint32_t, n_straight, SUM) /* border pixels */                               \
  FEATURE (PERIMETER, uint32_t, n_diagonal, SUM)                                                   \
  FEATURE (PERIMETER, uint32_t, n_mixed, SUM)                                                      \
  FEATURE (TOPOLOGY, uint32_t, n_quads_1, SUM) /* squares of 2×2 pixels */                        \
  FEATURE (TOPOLOGY, uint32_t, n_quads_2, SUM)                                                     \
  FEATURE (TOPOLOGY, uint32_t, n_quads_3, SUM)                                                     \
  FEATURE (TOPOLOGY, uint32_t, n_quads_diagonal, SUM)

/* What is measured of one component, in integers, so that it is exact and the same on CPU and GPU.
 * Fields whose column is not in the plan are undefined. Since: 0.3 */
typedef struct CclFeatures {
#define CUDACCL_FEATURE_FIELD(column, type, field, combine) type field;
  CUDACCL_FEATURES (CUDACCL_FEATURE_FIELD)
#undef CUDACCL_FEATURE_FIELD
} CclFeatures;

/* Expands SHAPE (column, field) for each field of CclShape.
 *
 * column: as in CUDACCL_FEATURES(), the flag of what it is computed from.
 *
 * Since: 0.3 */
#define CUDACCL_SHAPES(SHAPE)                                                                      \
  SHAPE (MOMENTS, variance_x)         /* mean of (x - centroid_x)² */                             \
  SHAPE (MOMENTS, variance_y)         /* mean of (y - centroid_y)² */                             \
  SHAPE (MOMENTS, covariance)         /* mean of (x - centroid_x) (y - centroid_y) */              \
  SHAPE (MOMENTS, greater_eigenvalue) /* of the inertia tensor */                                  \
  SHAPE (MOMENTS, lesser_eigenvalue)                                                               \
  SHAPE (MOMENTS, major_axis) /* of the ellipse with the same moments, pixels */                   \
  SHAPE (MOMENTS, minor_axis)                                                                      \
  SHAPE (MOMENTS, eccentricity)    /* of that ellipse, 0 (a circle)…1 */                         \
  SHAPE (MOMENTS, orientation)     /* of its major axis from the y axis, -π/2…π/2 */           \
  SHAPE (PERIMETER, perimeter)     /* pixels, by scikit-image's definition */                      \
  SHAPE (TOPOLOGY, crack_length)   /* edges between its pixels and all others */                   \
  SHAPE (TOPOLOGY, euler_number_4) /* parts minus holes, if pixels touch at edges only */          \
  SHAPE (TOPOLOGY, euler_number_8) /* the same, if they touch at corners, too */                   \
  SHAPE (INTENSITY, mean_value)                                                                    \
  SHAPE (INTENSITY, standard_deviation)  /* of the values, over all pixels */                      \
  SHAPE (INTENSITY, weighted_centroid_x) /* not a number where all values are 0 */                 \
  SHAPE (INTENSITY, weighted_centroid_y)

/* What follows from the features of a component. A component that is labelled with 4 neighbours has
 * 1 - euler_number_4 holes, one with 8 neighbours 1 - euler_number_8. Since: 0.3 */
typedef struct CclShape {
#define CUDACCL_SHAPE_FIELD(column, field) double field;
  CUDACCL_SHAPES (CUDACCL_SHAPE_FIELD)
#undef CUDACCL_SHAPE_FIELD
} CclShape;

/* Expands SHAPE (column, field) for each field of CclVolumeShape; column as in CUDACCL_SHAPES().
 *
 * Values of one dimension more than a frame has are not a number for components of frames, and so
 * are eccentricity, orientation and perimeter for those of volumes.
 *
 * Since: 0.3 */
#define CUDACCL_VOLUME_SHAPES(SHAPE)                                                               \
  SHAPE (SUMS, first_x) /* the first pixel in raster order */                                      \
  SHAPE (SUMS, first_y)                                                                            \
  SHAPE (SUMS, first_z)                                                                            \
  SHAPE (MOMENTS, variance_x) /* mean of (x - centroid_x)² */                                     \
  SHAPE (MOMENTS, variance_y)                                                                      \
  SHAPE (MOMENTS, variance_z)                                                                      \
  SHAPE (MOMENTS, covariance_xy) /* mean of (x - centroid_x) (y - centroid_y) */                   \
  SHAPE (MOMENTS, covariance_xz)                                                                   \
  SHAPE (MOMENTS, covariance_yz)                                                                   \
  SHAPE (MOMENTS, eigenvalue_0) /* of the inertia tensor, the greatest first */                    \
  SHAPE (MOMENTS, eigenvalue_1)                                                                    \
  SHAPE (MOMENTS, eigenvalue_2)                                                                    \
  SHAPE (MOMENTS, major_axis) /* of the ellipse or ellipsoid with the same moments, pixels */      \
  SHAPE (MOMENTS, minor_axis)                                                                      \
  SHAPE (MOMENTS, eccentricity)                                                                    \
  SHAPE (MOMENTS, orientation)                                                                     \
  SHAPE (PERIMETER, perimeter)                                                                     \
  SHAPE (TOPOLOGY, crack_length)   /* edges, in volumes faces, between its pixels and others */    \
  SHAPE (TOPOLOGY, euler_number_4) /* if pixels touch at edges only, voxels at faces only */       \
  SHAPE (TOPOLOGY, euler_number_8) /* if they touch at corners, too */                             \
  SHAPE (INTENSITY, least_value)                                                                   \
  SHAPE (INTENSITY, greatest_value)                                                                \
  SHAPE (INTENSITY, mean_value)                                                                    \
  SHAPE (INTENSITY, standard_deviation)                                                            \
  SHAPE (INTENSITY, weighted_centroid_x) /* not a number where all values are 0 */                 \
  SHAPE (INTENSITY, weighted_centroid_y)                                                           \
  SHAPE (INTENSITY, weighted_centroid_z)

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
