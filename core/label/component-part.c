/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "component-part.h"

#include <cudaccl/volume.h>
#include <stddef.h>

#include "ellipse.h"

#define ALWAYS_INLINE inline __attribute__ ((always_inline))

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

static ALWAYS_INLINE void
derive_ellipse (CclVolumeShape *shape)
{
  const CclEllipse ellipse =
      ccl_ellipse (shape->variance_x, shape->variance_y, shape->covariance_xy);

  shape->eigenvalue_0 = ellipse.greater_eigenvalue;
  shape->eigenvalue_1 = ellipse.lesser_eigenvalue;
  shape->axis_major_length = ellipse.major_axis;
  shape->axis_minor_length = ellipse.minor_axis;
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
  shape->axis_major_length = 2 * sqrt (5 * values[0]);
  shape->axis_minor_length = 2 * sqrt (5 * values[2]);
}

static ALWAYS_INLINE void
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

/* Computes the coordinates of a pixel from its number in the picture. */
static ALWAYS_INLINE void
derive_place (uint64_t number, const CclMeasuredPicture *picture, double *x, double *y, double *z)
{
  const uint64_t row = number / picture->width; /* of all slices */

  *x = (double)(number - row * picture->width);
  *y = (double)row;
  if (picture->is_volume) {
    *y = (double)(row % picture->height);
    *z = (double)(row / picture->height);
  }
}

_Static_assert(offsetof (CclMeasures, reals) == offsetof (CclMeasures, sum_value) &&
                   offsetof (CclMeasures, sum_value) + sizeof (CclReals) <=
                       offsetof (CclMeasures, intensity_max_place),
    "real values take the place of sums of integers");

/* fmin() and fmax() would pass over NaN. */
static double
least_of (double a, double b)
{
  return isnan (a) || a < b ? a : b;
}

static double
greatest_of (double a, double b)
{
  return isnan (a) || a > b ? a : b;
}

void
ccl_reals_add (CclReals *part, const CclReals *other)
{
  const double n = part->n + other->n;

  if (other->n == 0)
    return;
  if (part->n == 0) {
    *part = *other;
    return;
  }
  const double distance = other->sum / other->n - part->sum / part->n;
  part->squares += other->squares + distance * distance * (part->n * other->n / n);
  part->n = n;
  part->sum += other->sum;
  part->sum_x += other->sum_x;
  part->sum_y += other->sum_y;
  part->sum_z += other->sum_z;
  part->least = least_of (part->least, other->least);
  if (other->greatest > part->greatest ||
      (other->greatest == part->greatest && other->place < part->place))
    part->place = other->place;
  part->greatest = greatest_of (part->greatest, other->greatest);
}

/* With a sum of 0, the weighted centroid is infinite or not a number. */
static void
derive_reals (const CclReals *r, const CclMeasuredPicture *picture, CclVolumeShape *shape)
{
  if (r->n == 0 || isnan (r->greatest)) { /* the column is of integers: -1 for an unknown place */
    shape->intensity_max_position_x = shape->intensity_max_position_y = -1;
    shape->intensity_max_position_z = picture->is_volume ? -1 : NAN;
  } else {
    derive_place (r->place, picture, &shape->intensity_max_position_x,
        &shape->intensity_max_position_y, &shape->intensity_max_position_z);
  }
  if (r->n == 0)
    return;
  shape->intensity_min = r->least;
  shape->intensity_max = r->greatest;
  shape->intensity_mean = r->sum / r->n;
  shape->intensity_std = sqrt (r->squares / r->n);
  shape->centroid_weighted_x = r->sum_x / r->sum;
  shape->centroid_weighted_y = r->sum_y / r->sum;
  if (picture->is_volume)
    shape->centroid_weighted_z = r->sum_z / r->sum;
}

static ALWAYS_INLINE void
derive_intensity (const CclPart *part, const CclMeasures *m, const CclMeasuredPicture *picture,
    CclVolumeShape *shape)
{
  const double value = (double)m->sum_value;

  shape->intensity_min = m->intensity_min;
  shape->intensity_max = m->intensity_max;
  derive_place (CUDACCL_PLACE_OF (m->intensity_max_place), picture,
      &shape->intensity_max_position_x, &shape->intensity_max_position_y,
      &shape->intensity_max_position_z);
  shape->intensity_mean = value / (double)part->area;
  shape->intensity_std =
      sqrt (ccl_covariance (part->area, m->sum_squares, m->sum_value, m->sum_value));
  if (!m->sum_value)
    return;
  shape->centroid_weighted_x = (double)m->sum_value_x / value;
  shape->centroid_weighted_y = (double)m->sum_value_y / value;
  if (picture->is_volume)
    shape->centroid_weighted_z = (double)m->sum_value_z / value;
}

static ALWAYS_INLINE void
derive (const CclPart *part, const CclMeasures *m, uint32_t columns,
    const CclMeasuredPicture *picture, CclVolumeShape *shape)
{
  const bool is_volume = picture->is_volume;

#define UNKNOWN(column, field) shape->field = NAN;
  CUDACCL_VOLUME_SHAPES (UNKNOWN)
#undef UNKNOWN
  derive_place (m->first, picture, &shape->first_x, &shape->first_y, &shape->first_z);
  if (columns & CUDACCL_COLUMN_MOMENTS)
    derive_moments (part, m, is_volume, shape);
  if (columns & CUDACCL_COLUMN_PERIMETER && !is_volume)
    shape->perimeter = (double)m->n_straight + M_SQRT2 * (double)m->n_diagonal +
                       (1 + M_SQRT2) / 2 * (double)m->n_mixed;
  if (columns & CUDACCL_COLUMN_TOPOLOGY) {
    shape->crack_length = (double)m->crack_length;
    shape->euler_number_4 = (double)m->euler_number_4;
    shape->euler_number_8 = (double)m->euler_number_8;
  }
  if (columns & CUDACCL_COLUMN_INTENSITY)
    derive_intensity (part, m, picture, shape);
}

void
ccl_measures_derive (const CclPart *part, const CclMeasures *measures, uint32_t columns,
    const CclMeasuredPicture *picture, CclVolumeShape *shape)
{
  const uint32_t real = picture->has_reals ? columns & CUDACCL_COLUMN_INTENSITY : 0;

  derive (part, measures, columns & ~real, picture, shape);
  if (real)
    derive_reals (&measures->reals, picture, shape);
}

/* Of sides of pixels; not a number where these differ. */
static double
scale_sides (double number, double x, double y, double z, bool is_volume)
{
  if (x != y || (is_volume && y != z))
    return NAN;
  return is_volume ? number * x * x : number * x;
}

void
ccl_volume_shape_scale (CclVolumeShape *shape, double x, double y, double z)
{
  const bool is_volume = z > 0;

  shape->variance_x *= x * x;
  shape->variance_y *= y * y;
  shape->covariance_xy *= x * y;
  shape->centroid_weighted_x *= x;
  shape->centroid_weighted_y *= y;
  shape->perimeter *= x == y ? x : NAN;
  shape->crack_length = scale_sides (shape->crack_length, x, y, z, is_volume);
  if (!is_volume) {
    derive_ellipse (shape);
    return;
  }
  shape->variance_z *= z * z;
  shape->covariance_xz *= x * z;
  shape->covariance_yz *= y * z;
  shape->centroid_weighted_z *= z;
  derive_ellipsoid (shape);
}

/* Gray: Local Properties of Binary Images in Two Dimensions, 1971. */
static void
count_topology (const CclFeatures *f, CclMeasures *m)
{
  const int64_t corners = (int64_t)f->n_quads_1 - f->n_quads_3;
  const int64_t diagonals = 2 * (int64_t)f->n_quads_diagonal;

  m->euler_number_4 = (corners + diagonals) / 4;
  m->euler_number_8 = (corners - diagonals) / 4;
  m->crack_length = (int64_t)f->n_quads_1 + f->n_quads_2 + f->n_quads_3 + diagonals;
}

/* The measures that features have, too; the others are undefined, but for the first pixel. */
static CclMeasures
measures_of (const CclFeatures *features)
{
  CclMeasures measures;

  measures.first = 0;
#define COPY(EACH, column, field, former, combine, frame, large)                                   \
  COPY_##large (COPY_FROM_##frame (field))
#define COPY_FROM_U32(field) measures.field = features->field;
#define COPY_FROM_U64(field) measures.field = features->field;
#define COPY_FROM_NONE(field)
#define COPY_U32(copy) copy
#define COPY_U64(copy) copy
#define COPY_WIDE(copy) copy
#define COPY_I64(copy)
#define COPY_NONE(copy)
  CUDACCL_MEASURES (COPY, CUDACCL_NO_REAL, )
  return measures;
}

/* The number of a pixel of a frame, in features, is 65536 y + x. */
static const CclMeasuredPicture largest_frame = {
    CUDACCL_MAX_FEATURE_SIDE, CUDACCL_MAX_FEATURE_SIDE, false};

void
ccl_features_derive (
    const CclComponent *row, const CclFeatures *features, uint32_t columns, CclShape *shape)
{
  const CclPart part = {.area = row->area, .sum_x = features->sum_x, .sum_y = features->sum_y};
  CclMeasures measures = measures_of (features);
  CclVolumeShape of_measures;

  if (columns & CUDACCL_COLUMN_TOPOLOGY)
    count_topology (features, &measures);
  derive (&part, &measures, columns, &largest_frame, &of_measures);
#define COPY_SHAPE(column, field) shape->field = of_measures.field;
  CUDACCL_SHAPES (COPY_SHAPE)
}
