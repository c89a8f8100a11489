/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shape-reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A volume. */
typedef struct Source {
  const CclTiledPlan *plan;
  const uint32_t *labels;
  const void *values;
} Source;

static uint32_t
label_at (const Source *s, int64_t x, int64_t y, int64_t z)
{
  const int64_t width = (int64_t)s->plan->width, height = (int64_t)s->plan->height;
  if (x < 0 || y < 0 || z < 0 || x >= width || y >= height || z >= (int64_t)s->plan->depth)
    return 0;
  return s->labels[(z * height + y) * width + x];
}

static double
value_at (const Source *s, uint64_t i)
{
  return s->plan->intensity_format == CUDACCL_PIXEL_FORMAT_8 ? ((const uint8_t *)s->values)[i]
                                                             : ((const uint16_t *)s->values)[i];
}

/* How many of the voxels in a box of sides 1 or 2 that begins at x, y, z have a label. */
static int
count (const Source *s, uint32_t label, const int64_t at[3], const int sides[3])
{
  int n = 0;
  for (int dz = 0; dz < sides[2]; dz++)
    for (int dy = 0; dy < sides[1]; dy++)
      for (int dx = 0; dx < sides[0]; dx++)
        n += label_at (s, at[0] + dx, at[1] + dy, at[2] + dz) == label;
  return n;
}

/* Both Euler numbers and the surface: cells of all dimensions around which there is a voxel of the
 * component, or nothing but voxels of it. */
static void
count_cells (const Source *s, uint32_t label, CclVolumeShape *shape)
{
  int64_t at[3];

  shape->euler_number_4 = shape->euler_number_8 = shape->crack_length = 0;
  for (int kind = 0; kind < 8; kind++) {
    const int sides[3] = {1 + (kind & 1), 1 + (kind >> 1 & 1), 1 + (kind >> 2 & 1)};
    const int n_long = (kind & 1) + (kind >> 1 & 1) + (kind >> 2 & 1);
    const int all = sides[0] * sides[1] * sides[2];
    for (at[2] = -1; at[2] < (int64_t)s->plan->depth; at[2]++)
      for (at[1] = -1; at[1] < (int64_t)s->plan->height; at[1]++)
        for (at[0] = -1; at[0] < (int64_t)s->plan->width; at[0]++) {
          const int n = count (s, label, at, sides);
          shape->euler_number_8 += n ? (n_long % 2 ? 1 : -1) : 0;
          shape->euler_number_4 += n == all ? (n_long % 2 ? -1 : 1) : 0;
          shape->crack_length += n_long == 1 && n == 1;
        }
  }
}

/* Means, variances and the like, in two passes. */
static void
measure_voxels (const Source *s, uint32_t label, CclVolumeShape *shape)
{
  const uint64_t width = s->plan->width, height = s->plan->height;
  const uint64_t n_voxels = width * height * s->plan->depth;
  long double n = 0, mean[3] = {0}, covariance[3][3] = {{0}}, sum = 0, squares = 0, places[3] = {0};

  shape->intensity_min = INFINITY;
  shape->intensity_max = 0;
  for (uint64_t i = n_voxels; i-- > 0;) {
    const double place[3] = {
        (double)(i % width), (double)(i / width % height), (double)(i / width / height)};
    if (s->labels[i] != label)
      continue;
    const double value = s->values ? value_at (s, i) : 0;
    shape->first_x = place[0], shape->first_y = place[1], shape->first_z = place[2];
    if (value >= shape->intensity_max) { /* the last one in reverse order */
      shape->intensity_max_position_x = place[0];
      shape->intensity_max_position_y = place[1];
      shape->intensity_max_position_z = place[2];
    }
    shape->intensity_min = fmin (shape->intensity_min, value);
    shape->intensity_max = fmax (shape->intensity_max, value);
    for (int k = 0; k < 3; k++)
      mean[k] += place[k], places[k] += place[k] * value;
    sum += value;
    squares += value * value;
    n++;
  }
  for (uint64_t i = 0; i < n_voxels; i++) {
    const long double place[3] = {(long double)(i % width) - mean[0] / n,
        (long double)(i / width % height) - mean[1] / n,
        (long double)(i / width / height) - mean[2] / n};
    for (int k = 0; k < 9 && s->labels[i] == label; k++)
      covariance[k / 3][k % 3] += place[k / 3] * place[k % 3] / n;
  }
  shape->variance_x = (double)covariance[0][0];
  shape->variance_y = (double)covariance[1][1];
  shape->variance_z = (double)covariance[2][2];
  shape->covariance_xy = (double)covariance[0][1];
  shape->covariance_xz = (double)covariance[0][2];
  shape->covariance_yz = (double)covariance[1][2];
  shape->intensity_mean = (double)(sum / n);
  shape->intensity_std = (double)sqrtl (squares / n - sum / n * (sum / n));
  shape->centroid_weighted_x = sum > 0 ? (double)(places[0] / sum) : NAN;
  shape->centroid_weighted_y = sum > 0 ? (double)(places[1] / sum) : NAN;
  shape->centroid_weighted_z = sum > 0 ? (double)(places[2] / sum) : NAN;
}

/* Makes values of columns that are not in the plan unknown. The eigenvalues of volumes are tested
 * against scikit-image (tests/label). */
static void
forget (const CclTiledPlan *plan, CclVolumeShape *shape)
{
  const uint32_t columns = plan->columns | CUDACCL_COLUMN_SUMS;
#define FORGET(column, field)                                                                      \
  if (!(columns & CUDACCL_COLUMN_##column))                                                        \
    shape->field = NAN;
  CUDACCL_VOLUME_SHAPES (FORGET)
#undef FORGET
}

static void
measure_frame (const Source *s, uint32_t n, CclVolumeShape *shapes)
{
  const CclTiledPlan *plan = s->plan;
  const CclLabels map = {(void *)s->labels, 4 * plan->width};
  const CclIntensity plane = {s->values,
      plan->width * (plan->intensity_format == CUDACCL_PIXEL_FORMAT_8 ? 1 : 2),
      plan->intensity_format};
  CclComponent *rows = calloc (n + 1, sizeof *rows);
  CclFeatures *features = calloc (n + 1, sizeof *features);

  ccl_measure_labels (&map, (uint32_t)plan->width, (uint32_t)plan->height, &plane, plan->columns, n,
      rows, features, NULL);
  for (uint32_t i = 0; i < n; i++) {
    CclShape f;
    ccl_features_derive (&rows[i], &features[i], plan->columns, &f);
    const uint32_t *first = s->labels + rows[i].y * plan->width;
    while (rows[i].area && *first != i + 1)
      first++;
#define UNKNOWN(column, field) shapes[i].field = NAN;
    CUDACCL_VOLUME_SHAPES (UNKNOWN)
#define COPY(column, field) shapes[i].field = f.field;
    CUDACCL_SHAPES (COPY)
    shapes[i].first_x = (double)(first - s->labels - rows[i].y * (int64_t)plan->width);
    shapes[i].first_y = rows[i].y;
    forget (plan, &shapes[i]);
  }
  free (rows);
  free (features);
}

CclVolumeShape *
shapes_new (const CclTiledPlan *plan, const uint32_t *labels, const void *values, uint32_t n)
{
  const Source s = {plan, labels, values};
  CclVolumeShape *shapes = calloc (n + 1, sizeof *shapes);

  if (plan->connectivity == 4 || plan->connectivity == 8)
    measure_frame (&s, n, shapes);
  for (uint32_t i = 0; i < n && plan->connectivity != 4 && plan->connectivity != 8; i++) {
    measure_voxels (&s, i + 1, &shapes[i]);
    count_cells (&s, i + 1, &shapes[i]);
    shapes[i].eccentricity = shapes[i].orientation = shapes[i].perimeter = NAN;
    forget (plan, &shapes[i]);
  }
  return shapes;
}

bool
shapes_are_equal (const CclVolumeShape *a, const CclVolumeShape *b, bool is_volume)
{
  CclVolumeShape left = *a, right = *b;

  if (is_volume) { /* not in the reference */
    left.eigenvalue_0 = left.eigenvalue_1 = left.eigenvalue_2 = 0;
    right.eigenvalue_0 = right.eigenvalue_1 = right.eigenvalue_2 = 0;
    left.axis_major_length = left.axis_minor_length = 0;
    right.axis_major_length = right.axis_minor_length = 0;
  }
#define COMPARE(column, field)                                                                     \
  if (isnan (left.field) != isnan (right.field) ||                                                 \
      fabs (left.field - right.field) > (is_volume ? 1e-9 * (1 + fabs (right.field)) : 0))         \
    return false;
  CUDACCL_VOLUME_SHAPES (COMPARE)
#undef COMPARE
  return true;
}
