/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values that are derived from exact sums, in the same steps wherever the sums come from. */
#pragma once

#include <math.h>
#include <stdint.h>

/* The covariance of a and b over n pixels, from their sums: (n Σab - Σa Σb) / n². The products are
 * below 2^127 if n times the longest side of the picture is below 2^63. */
static inline double
ccl_covariance (uint64_t n, unsigned __int128 sum_ab, uint64_t sum_a, uint64_t sum_b)
{
  const double scale = (double)n * (double)n;
  return (double)((__int128)(n * sum_ab) - (__int128)sum_a * sum_b) / scale;
}

/* The ellipse with given moments. */
typedef struct CclEllipse {
  double greater_eigenvalue, lesser_eigenvalue; /* of the inertia tensor */
  double major_axis, minor_axis, eccentricity, orientation;
} CclEllipse;

/* xx, yy, xy: variances and covariance of the coordinates. */
static inline CclEllipse
ccl_ellipse (double xx, double yy, double xy)
{
  const double root = sqrt ((xx - yy) * (xx - yy) + 4 * xy * xy);
  const double greater = (xx + yy + root) / 2, lesser = (xx + yy - root) / 2;
  CclEllipse ellipse;

  ellipse.greater_eigenvalue = greater;
  ellipse.lesser_eigenvalue = lesser > 0 ? lesser : 0;
  ellipse.major_axis = 4 * sqrt (ellipse.greater_eigenvalue);
  ellipse.minor_axis = 4 * sqrt (ellipse.lesser_eigenvalue);
  ellipse.eccentricity = greater > 0 ? sqrt (1 - ellipse.lesser_eigenvalue / greater) : 0;
  ellipse.orientation = xx == yy ? (xy > 0 ? M_PI / 4 : -M_PI / 4) : atan2 (2 * xy, yy - xx) / 2;
  return ellipse;
}
