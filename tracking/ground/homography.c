/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The homography from the ground to the picture is fitted, because errors are in the points of the
 * picture, and then inverted. Both planes are scaled to unit variance first, as in R. Hartley, "In
 * defense of the eight-point algorithm", 1997.
 *
 * Eight of its nine numbers are unknown, the last one is 1: that is the distance from the horizon
 * of the points' mean, which is this side of it. A point gives an equation for each coordinate of
 * the picture, such as  x (g6 X + g7 Y + 1) = g0 X + g1 Y + g2.  The equations are linear in g;
 * their solution is where the Gauss-Newton method begins, which minimises distances in the picture.
 */
#include "homography.h"

#include <math.h>
#include <string.h>

#define N 8
#define MAX_STEPS 50
#define MIN_PIVOT 1e-10 /* of the normal equations, whose diagonal is about n_points */
#define MIN_DETERMINANT 1e-6
#define MIN_DISTANCE 1e-6 /* from the horizon; 1: that of the points' mean */

/* A plane's coordinates are (original − mean) / scale. */
typedef struct Frame {
  double mean_x, mean_y, scale_x, scale_y;
} Frame;

typedef struct Fit {
  const CclGroundPoint *points;
  uint32_t n_points;
  Frame picture, ground;
  double g[N + 1];
} Fit;

/* One equation, in the scaled coordinates. */
typedef struct Equation {
  double factor[N], value;
} Equation;

static double
scale_of (double sum_of_squares, uint32_t n)
{
  return sum_of_squares > 0 ? sqrt (sum_of_squares / n) : 1;
}

static void
find_frames (Fit *fit)
{
  Frame *p = &fit->picture, *g = &fit->ground;
  double pxx = 0, pyy = 0, gxx = 0, gyy = 0;
  const uint32_t n = fit->n_points;
  for (uint32_t i = 0; i < n; i++) {
    const CclGroundPoint *point = &fit->points[i];
    p->mean_x += point->x / n;
    p->mean_y += point->y / n;
    g->mean_x += point->ground_x / n;
    g->mean_y += point->ground_y / n;
  }
  for (uint32_t i = 0; i < n; i++) {
    const CclGroundPoint *point = &fit->points[i];
    pxx += (point->x - p->mean_x) * (point->x - p->mean_x);
    pyy += (point->y - p->mean_y) * (point->y - p->mean_y);
    gxx += (point->ground_x - g->mean_x) * (point->ground_x - g->mean_x);
    gyy += (point->ground_y - g->mean_y) * (point->ground_y - g->mean_y);
  }
  p->scale_x = scale_of (pxx, n);
  p->scale_y = scale_of (pyy, n);
  g->scale_x = scale_of (gxx, n);
  g->scale_y = scale_of (gyy, n);
}

static CclGroundPoint
scale_point (const Fit *fit, uint32_t i)
{
  const CclGroundPoint *point = &fit->points[i];
  return (CclGroundPoint){(point->x - fit->picture.mean_x) / fit->picture.scale_x,
      (point->y - fit->picture.mean_y) / fit->picture.scale_y,
      (point->ground_x - fit->ground.mean_x) / fit->ground.scale_x,
      (point->ground_y - fit->ground.mean_y) / fit->ground.scale_y};
}

/* The distance from the horizon of a scaled point of the ground. */
static double
distance_of (const double *g, const CclGroundPoint *point)
{
  return g[6] * point->ground_x + g[7] * point->ground_y + g[8];
}

/* The equation for x (axis 0) or y (axis 1) of a point. Linear: for g itself. Else for the change
 * of g that moves the point from where g has it, `from`, to where it was given. */
static Equation
make_equation (const Fit *fit, const CclGroundPoint *point, int axis, bool linear)
{
  const double *g = fit->g, *row = &g[3 * axis];
  const double X = point->ground_x, Y = point->ground_y, given = axis ? point->y : point->x;
  const double w = linear ? 1 : distance_of (g, point);
  const double from = linear ? given : (row[0] * X + row[1] * Y + row[2]) / w;
  /* Squared distances are in pixels, so that both coordinates count alike. */
  const double weight = axis ? fit->picture.scale_y : fit->picture.scale_x;
  const double unit = weight / (fit->picture.scale_x + fit->picture.scale_y);
  Equation e = {{0}, unit * (linear ? given : given - from)};
  e.factor[3 * axis] = unit * X / w;
  e.factor[3 * axis + 1] = unit * Y / w;
  e.factor[3 * axis + 2] = unit / w;
  e.factor[6] = -unit * from * X / w;
  e.factor[7] = -unit * from * Y / w;
  return e;
}

/* Solves the normal equations by Cholesky decomposition; false if they are singular. */
static bool
solve (double a[N][N], double *b)
{
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++) {
      for (int k = 0; k < j; k++)
        a[i][j] -= a[i][k] * a[j][k];
      if (j < i)
        a[i][j] /= a[j][j];
    }
    if (!(a[i][i] > MIN_PIVOT))
      return false;
    a[i][i] = sqrt (a[i][i]);
  }
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < i; k++)
      b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (int i = N - 1; i >= 0; i--) {
    for (int k = i + 1; k < N; k++)
      b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return true;
}

/* The least-squares solution of the equations of all points. */
static bool
solve_equations (const Fit *fit, bool linear, double *solution)
{
  double a[N][N] = {{0}};
  memset (solution, 0, N * sizeof *solution);
  for (uint32_t i = 0; i < fit->n_points; i++) {
    const CclGroundPoint point = scale_point (fit, i);
    for (int axis = 0; axis < 2; axis++) {
      const Equation e = make_equation (fit, &point, axis, linear);
      for (int k = 0; k < N; k++) {
        solution[k] += e.factor[k] * e.value / fit->n_points;
        for (int l = 0; l <= k; l++)
          a[k][l] += e.factor[k] * e.factor[l] / fit->n_points;
      }
    }
  }
  return solve (a, solution);
}

/* The mean of squared distances in pixels; infinite if a point is beyond the horizon. */
static double
mean_square (const Fit *fit)
{
  const double *g = fit->g;
  double sum = 0;
  for (uint32_t i = 0; i < fit->n_points; i++) {
    const CclGroundPoint point = scale_point (fit, i);
    const double X = point.ground_x, Y = point.ground_y, w = distance_of (g, &point);
    if (!(w > MIN_DISTANCE))
      return INFINITY;
    const double x = (g[0] * X + g[1] * Y + g[2]) / w, y = (g[3] * X + g[4] * Y + g[5]) / w;
    const double dx = (x - point.x) * fit->picture.scale_x;
    const double dy = (y - point.y) * fit->picture.scale_y;
    sum += dx * dx + dy * dy;
  }
  return sum / fit->n_points;
}

/* Steps as long as they bring the points nearer. Returns the mean square. */
static double
refine (Fit *fit)
{
  double best = mean_square (fit);
  for (int step = 0; step < MAX_STEPS && best > 0 && isfinite (best); step++) {
    const Fit before = *fit;
    double change[N];
    if (!solve_equations (fit, false, change))
      break;
    for (int k = 0; k < N; k++)
      fit->g[k] += change[k];
    const double now = mean_square (fit);
    if (!(now < best)) {
      *fit = before;
      break;
    }
    best = now;
  }
  return best;
}

/* Inverts a matrix; false if it is singular. */
static bool
invert (const double *m, double inverse[3][3])
{
  double cofactor[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
      cofactor[i][j] = m[3 * a + c] * m[3 * b + d] - m[3 * a + d] * m[3 * b + c];
    }
  const double determinant = m[0] * cofactor[0][0] + m[1] * cofactor[0][1] + m[2] * cofactor[0][2];
  if (!(fabs (determinant) > MIN_DETERMINANT))
    return false;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      inverse[i][j] = cofactor[j][i] / determinant;
  return true;
}

bool
ccl_homography_fit (const CclGroundPoint *points, uint32_t n_points, CclHomography *homography)
{
  Fit fit = {.points = points, .n_points = n_points};
  find_frames (&fit);
  if (!solve_equations (&fit, true, fit.g))
    return false;
  fit.g[N] = 1;
  const double square = refine (&fit);
  double inverse[3][3];
  if (!isfinite (square) || !invert (fit.g, inverse))
    return false;
  const Frame *p = &fit.picture, *g = &fit.ground;
  const double scale[3] = {g->scale_x, g->scale_y, 1};
  for (int i = 0; i < 3; i++) {
    double *row = homography->row[i];
    row[0] = scale[i] * inverse[i][0] / p->scale_x;
    row[1] = scale[i] * inverse[i][1] / p->scale_y;
    row[2] = scale[i] * inverse[i][2] - row[0] * p->mean_x - row[1] * p->mean_y;
  }
  homography->origin_x = g->mean_x;
  homography->origin_y = g->mean_y;
  homography->residual = sqrt (square);
  return true;
}
