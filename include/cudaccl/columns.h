/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The columns of the component table, in one list. What writes or reads tables is derived from it:
 * text, JSON, files of NumPy, metadata, Python.
 *
 *   #define PRINT_COUNT(field, key) printf (key "=%u ", row->field);
 *   #define PRINT_REAL(field, key) printf (key "=%g ", row->field);
 *   CUDACCL_COLUMNS (PRINT_COUNT, PRINT_REAL, CUDACCL_NO_COLUMN, CUDACCL_NO_COLUMN)
 *
 * Since: 0.3
 */
#ifndef CUDACCL_COLUMNS_H
#define CUDACCL_COLUMNS_H

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

#endif /* CUDACCL_COLUMNS_H */
