/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "component-part.h"

#include "ellipse.h"

/* One rotation of Jacobi's method: makes the entry p, q of a symmetric matrix 0. */
static void
rotate (double m[3][3], int p, int q)
{
  const int r = 3 - p - q;

  if (m[p][q] == 0)
    return;
  const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
  const double t = (theta < 0 ? -1 : 1) / (fabs (theta) + sqrt (theta * theta + 1));
  const double c = 1 / sqrt (t * t + 1), s = t * c;
  const double rp = m[r][p], rq = m[r][q];

  m[p][p] -= t * m[p][q];
  m[q][q] += t * m[p][q];
  m[p][q] = m[q][p] = 0;
  m[r][p] = m[p][r] = c * rp - s * rq;
  m[r][q] = m[q][r] = s * rp + c * rq;
}

/* The eigenvalues of a symmetric matrix, the greatest first. Each sweep squares the relative size
 * of the entries off the diagonal, so eight are more than enough. */
static void
find_eigenvalues (double m[3][3], double values[3])
{
  for (int sweep = 0; sweep < 8; sweep++) {
    rotate (m, 0, 1);
    rotate (m, 0, 2);
    rotate (m, 1, 2);
  }
  for (int i = 0; i < 3; i++)
    values[i] = m[i][i] > 0 ? m[i][i] : 0;
  for (int i = 0; i < 3; i++) {
    for (int j = i + 1; j < 3; j++) {
      if (values[j] > values[i]) {
        const double greater = values[j];
        values[j] = values[i];
        values[i] = greater;
      }
    }
  }
}

static void
derive_ellipse (CclVolumeShape *shape)
{
  const CclEllipse ellipse =
      ccl_ellipse (shape->variance_x, shape->variance_y, shape->covariance_xy);

  shape->eigenvalue_0 = ellipse.greater_eigenvalue;
  shape->eigenvalue_1 = ellipse.lesser_eigenvalue;
  shape->major_axis = ellipse.major_axis;
  shape->minor_axis = ellipse.minor_axis;
  shape->eccentricity = ellipse.eccentricity;
  shape->orientation = ellipse.orientation;
}

/* The inertia tensor has the trace of the covariances minus each of them, so its eigenvalues are
 * sums of two of theirs. The semi-axes of a solid ellipsoid are √5 times the standard deviations.
 */
static void
derive_ellipsoid (CclVolumeShape *shape)
{
  const double xy = shape->covariance_xy, xz = shape->covariance_xz, yz = shape->covariance_yz;
  double matrix[3][3] = {
      {shape->variance_x, xy, xz}, {xy, shape->variance_y, yz}, {xz, yz, shape->variance_z}};
  double values[3];

  find_eigenvalues (matrix, values);
  shape->eigenvalue_0 = values[0] + values[1];
  shape->eigenvalue_1 = values[0] + values[2];
  shape->eigenvalue_2 = values[1] + values[2];
  shape->major_axis = 2 * sqrt (5 * values[0]);
  shape->minor_axis = 2 * sqrt (5 * values[2]);
}

static void
derive_moments (const CclPart *part, const CclMeasures *m, bool is_volume, CclVolumeShape *shape)
{
  const uint64_t n = part->area;

  shape->variance_x = ccl_covariance (n, m->sum_xx, part->sum_x, part->sum_x);
  shape->variance_y = ccl_covariance (n, m->sum_yy, part->sum_y, part->sum_y);
  shape->covariance_xy = ccl_covariance (n, m->sum_xy, part->sum_x, part->sum_y);
  if (!is_volume) {
    derive_ellipse (shape);
    return;
  }
  shape->variance_z = ccl_covariance (n, m->sum_zz, part->sum_z, part->sum_z);
  shape->covariance_xz = ccl_covariance (n, m->sum_xz, part->sum_x, part->sum_z);
  shape->covariance_yz = ccl_covariance (n, m->sum_yz, part->sum_y, part->sum_z);
  derive_ellipsoid (shape);
}

static void
derive_intensity (const CclPart *part, const CclMeasures *m, bool is_volume, CclVolumeShape *shape)
{
  const double value = (double)m->sum_value;

  shape->least_value = m->least_value;
  shape->greatest_value = m->greatest_value;
  shape->mean_value = value / (double)part->area;
  shape->standard_deviation =
      sqrt (ccl_covariance (part->area, m->sum_squares, m->sum_value, m->sum_value));
  if (!m->sum_value)
    return;
  shape->weighted_centroid_x = (double)m->sum_value_x / value;
  shape->weighted_centroid_y = (double)m->sum_value_y / value;
  if (is_volume)
    shape->weighted_centroid_z = (double)m->sum_value_z / value;
}

void
ccl_measures_derive (const CclPart *part, const CclMeasures *measures, uint32_t columns,
    const CclMeasuredPicture *picture, CclVolumeShape *shape)
{
  const uint64_t slice = picture->width * picture->height;

#define UNKNOWN(column, field) shape->field = NAN;
  CUDACCL_VOLUME_SHAPES (UNKNOWN)
#undef UNKNOWN
  shape->first_x = (double)(measures->first % picture->width);
  shape->first_y = (double)(measures->first / picture->width % picture->height);
  if (picture->is_volume)
    shape->first_z = (double)(measures->first / slice);
  if (columns & CUDACCL_COLUMN_MOMENTS)
    derive_moments (part, measures, picture->is_volume, shape);
  if (columns & CUDACCL_COLUMN_PERIMETER && !picture->is_volume)
    shape->perimeter = (double)measures->n_straight + M_SQRT2 * (double)measures->n_diagonal +
                       (1 + M_SQRT2) / 2 * (double)measures->n_mixed;
  if (columns & CUDACCL_COLUMN_TOPOLOGY) {
    shape->crack_length = (double)measures->crack_length;
    shape->euler_number_4 = (double)measures->euler_number_4;
    shape->euler_number_8 = (double)measures->euler_number_8;
  }
  if (columns & CUDACCL_COLUMN_INTENSITY)
    derive_intensity (part, measures, picture->is_volume, shape);
}
