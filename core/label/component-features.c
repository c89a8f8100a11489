/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "component-features.h"

#include "ellipse.h"

#include <math.h>

CclStatus
ccl_columns_check (uint32_t columns, uint32_t width, uint32_t height, CclError *error)
{
  if (columns & ~(uint32_t)CUDACCL_ALL_COLUMNS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the columns must be flags of CclColumn, 0…%d, not %u", CUDACCL_ALL_COLUMNS, columns);
  if (columns && (width > CUDACCL_MAX_FEATURE_SIDE || height > CUDACCL_MAX_FEATURE_SIDE))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a frame of %u×%u pixels is too large for columns: its sides may have at most %d pixels",
        width, height, CUDACCL_MAX_FEATURE_SIDE);
  return CUDACCL_OK;
}

CclStatus
ccl_intensity_check (const CclIntensity *intensity, uint32_t columns, uint32_t width,
    CclLocation location, CclError *error)
{
  if (!(columns & CUDACCL_COLUMN_INTENSITY))
    return CUDACCL_OK;
  if (!intensity || !intensity->data)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the column of intensities needs a second plane: its pointer is NULL");
  if (intensity->format != CUDACCL_PIXEL_FORMAT_8 && intensity->format != CUDACCL_PIXEL_FORMAT_16)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the values of the second plane must have 8 or 16 bits");
  const CclFrame plane = {intensity->data, intensity->stride, location};
  return ccl_frame_check (&plane, width, intensity->format, error);
}

/* Inertia, ellipse and orientation. */
static void
derive_moments (uint32_t area, const CclFeatures *f, CclShape *shape)
{
  const double xx = ccl_covariance (area, f->sum_xx, f->sum_x, f->sum_x);
  const double yy = ccl_covariance (area, f->sum_yy, f->sum_y, f->sum_y);
  const double xy = ccl_covariance (area, f->sum_xy, f->sum_x, f->sum_y);
  const CclEllipse ellipse = ccl_ellipse (xx, yy, xy);

  shape->variance_x = xx;
  shape->variance_y = yy;
  shape->covariance = xy;
  shape->greater_eigenvalue = ellipse.greater_eigenvalue;
  shape->lesser_eigenvalue = ellipse.lesser_eigenvalue;
  shape->major_axis = ellipse.major_axis;
  shape->minor_axis = ellipse.minor_axis;
  shape->eccentricity = ellipse.eccentricity;
  shape->orientation = ellipse.orientation;
}

static void
derive_topology (const CclFeatures *f, CclShape *shape)
{
  const int64_t corners = (int64_t)f->n_quads_1 - f->n_quads_3;
  const int64_t diagonals = 2 * (int64_t)f->n_quads_diagonal;

  /* Gray: Local Properties of Binary Images in Two Dimensions, 1971. */
  shape->euler_number_4 = (double)((corners + diagonals) / 4);
  shape->euler_number_8 = (double)((corners - diagonals) / 4);
  shape->crack_length = (double)f->n_quads_1 + f->n_quads_2 + f->n_quads_3 + (double)diagonals;
}

static void
derive_intensity (uint32_t area, const CclFeatures *f, CclShape *shape)
{
  const double value = (double)f->sum_value;

  shape->mean_value = value / area;
  shape->standard_deviation =
      sqrt (ccl_covariance (area, f->sum_squares, f->sum_value, f->sum_value));
  shape->weighted_centroid_x = f->sum_value ? (double)f->sum_value_x / value : NAN;
  shape->weighted_centroid_y = f->sum_value ? (double)f->sum_value_y / value : NAN;
}

void
ccl_features_derive (
    const CclComponent *row, const CclFeatures *features, uint32_t columns, CclShape *shape)
{
#define UNKNOWN(column, field) shape->field = NAN;
  CUDACCL_SHAPES (UNKNOWN)
#undef UNKNOWN
  if (columns & CUDACCL_COLUMN_MOMENTS)
    derive_moments (row->area, features, shape);
  if (columns & CUDACCL_COLUMN_PERIMETER)
    shape->perimeter = features->n_straight + M_SQRT2 * features->n_diagonal +
                       (1 + M_SQRT2) / 2 * features->n_mixed;
  if (columns & CUDACCL_COLUMN_TOPOLOGY)
    derive_topology (features, shape);
  if (columns & CUDACCL_COLUMN_INTENSITY)
    derive_intensity (row->area, features, shape);
}
