/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Positions and velocities on the ground, with their uncertainty.
 *
 * With u, v and w of homography.h, a position P = (u, v) / w has the derivative
 * J = ((row u, row v) − P row w) / w: the quotient rule. A foot point that moves by (vx, vy) moves
 * by V = J (vx, vy) on the ground. V itself changes with the foot point: by K = −(J w' + V row w) /
 * w, where w' is the change of w with time; that follows from V = ((u', v') − P w') / w in the same
 * way. A linear map A turns a covariance C into A C Aᵀ; here it is applied to both, foot point and
 * velocity, with the covariance between them.
 *
 * The tracker's velocity is that of the middle of the box. While an object comes nearer, its box
 * grows, and its foot moves faster than its middle. The height in the picture of an upright object
 * is proportional to w at its foot, where the camera does not look steeply down. Its growth is
 * therefore height w' / w, half of which is added to the velocity of the middle. The tracker's
 * height follows this growth late; by how much the foot point is too high for that counts as a
 * further error. */
#include "homography.h"
#include "core/base/status.h"
#include "core/base/struct-size.h"

#include <math.h>
#include <stdlib.h>

#define KMH 3.6          /* of 1 m/s */
#define MIN_DEVIATIONS 3 /* from the horizon */
#define MIN_MIDDLE                                                                                 \
  0.1 /* w of a box's middle, in those of its foot; less where the camera is as                    \
       * low as the middle of the object, whose motion then tells nothing */

struct CclGround {
  CclHomography homography;
};

static bool
is_possible (double coordinate)
{
  return fabs (coordinate) <= CUDACCL_MAX_GROUND_COORDINATE;
}

static CclStatus
check_plan (const CclGroundPlan *plan, CclError *error)
{
  CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->n_points < 4 || plan->n_points > CUDACCL_MAX_GROUND_POINTS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the ground needs 4 to %d points, not %u",
        CUDACCL_MAX_GROUND_POINTS, plan->n_points);
  if (!plan->points)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the points must not be NULL");
  for (uint32_t i = 0; i < plan->n_points; i++) {
    const CclGroundPoint *point = &plan->points[i];
    if (!is_possible (point->x) || !is_possible (point->y) || !is_possible (point->ground_x) ||
        !is_possible (point->ground_y))
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
          "point %u of the ground is outside of the possible coordinates, ±%g", i + 1,
          CUDACCL_MAX_GROUND_COORDINATE);
  }
  return CUDACCL_OK;
}

CclGround *
ccl_ground_new (const CclGroundPlan *plan, CclError *error)
{
  if (check_plan (plan, error) != CUDACCL_OK)
    return NULL;
  CclHomography homography;
  if (!ccl_homography_fit (plan->points, plan->n_points, &homography)) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "no camera sees the points of the ground like this: three of four are on one line, or two "
        "are exchanged");
    return NULL;
  }
  CclGround *ground = malloc (sizeof *ground);
  if (ground)
    *ground = (CclGround){homography};
  else
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for the ground");
  return ground;
}

double
ccl_ground_residual (const CclGround *ground)
{
  return ground ? ground->homography.residual : NAN;
}

static double
times (const double *row, double x, double y)
{
  return row[0] * x + row[1] * y + row[2];
}

bool
ccl_ground_map (const CclGround *ground, double picture_x, double picture_y, double *x, double *y)
{
  if (!ground || !x || !y)
    return false;
  const CclHomography *h = &ground->homography;
  const double w = times (h->row[2], picture_x, picture_y);
  const double ground_x = h->origin_x + times (h->row[0], picture_x, picture_y) / w;
  const double ground_y = h->origin_y + times (h->row[1], picture_x, picture_y) / w;
  if (!(w > 0) || !isfinite (ground_x) || !isfinite (ground_y))
    return false;
  *x = ground_x;
  *y = ground_y;
  return true;
}

/* The derivatives of position and velocity, and by how much the box grows, pixels per frame. */
typedef struct Derivatives {
  double position[2][2];         /* J: position by foot point */
  double velocity[2][2];         /* velocity by that of the middle of the box */
  double velocity_by_foot[2][2]; /* K */
  double growth;
} Derivatives;

/* Fills position, velocity (metres per frame) and their derivatives. False: see MIN_MIDDLE. */
static bool
map_foot (const CclHomography *h, const CclTrackFoot *foot, CclGroundMotion *motion, Derivatives *d)
{
  const double *horizon = h->row[2], w = times (horizon, foot->x, foot->y);
  const double half = 0.5 * foot->height / w, middle = 1 - half * horizon[1];
  if (!(middle >= MIN_MIDDLE))
    return false;
  /* vy = middle's velocity + half (horizon · (vx, vy)), solved for vy */
  const double vy_by_vx = half * horizon[0] / middle, vy_by_vy = 1 / middle;
  const double vx = foot->velocity_x;
  const double vy = vy_by_vx * foot->velocity_x + vy_by_vy * foot->velocity_y;
  const double change = horizon[0] * vx + horizon[1] * vy;
  double position[2], velocity[2];
  d->growth = 2 * half * change;
  for (int i = 0; i < 2; i++) {
    double *j = d->position[i];
    position[i] = times (h->row[i], foot->x, foot->y) / w;
    for (int k = 0; k < 2; k++)
      j[k] = (h->row[i][k] - position[i] * horizon[k]) / w;
    velocity[i] = j[0] * vx + j[1] * vy;
    for (int k = 0; k < 2; k++)
      d->velocity_by_foot[i][k] = -(j[k] * change + velocity[i] * horizon[k]) / w;
    d->velocity[i][0] = j[0] + j[1] * vy_by_vx;
    d->velocity[i][1] = j[1] * vy_by_vy;
  }
  motion->x = h->origin_x + position[0];
  motion->y = h->origin_y + position[1];
  motion->velocity_x = velocity[0];
  motion->velocity_y = velocity[1];
  return true;
}

/* An entry of A C Aᵀ, where C has no covariances between the axes. */
static double
covariance_of_position (const Derivatives *d, const CclTrackFoot *foot, int i, int j)
{
  return d->position[i][0] * d->position[j][0] * foot->var_x +
         d->position[i][1] * d->position[j][1] * foot->var_y;
}

static double
covariance_of_velocity (const Derivatives *d, const CclTrackFoot *foot, int i, int j)
{
  const double var_foot[2] = {foot->var_x, foot->var_y}, cov[2] = {foot->cov_x, foot->cov_y};
  const double var_velocity[2] = {foot->var_velocity_x, foot->var_velocity_y};
  double sum = 0;
  for (int k = 0; k < 2; k++) {
    const double ki = d->velocity_by_foot[i][k], kj = d->velocity_by_foot[j][k];
    const double mi = d->velocity[i][k], mj = d->velocity[j][k];
    sum += ki * kj * var_foot[k] + mi * mj * var_velocity[k] + (ki * mj + mi * kj) * cov[k];
  }
  return sum;
}

/* The larger eigenvalue of a covariance. */
static double
largest_variance (double xx, double xy, double yy)
{
  const double half_difference = 0.5 * (xx - yy);
  return 0.5 * (xx + yy) + sqrt (half_difference * half_difference + xy * xy);
}

/* Computes speed and deviations from the other fields. */
static void
summarise (CclGroundMotion *m)
{
  const double x = m->velocity_x, y = m->velocity_y, square = x * x + y * y;
  const double along = square > 0 ? (x * x * m->vxx + 2 * x * y * m->vxy + y * y * m->vyy) / square
                                  : largest_variance (m->vxx, m->vxy, m->vyy);
  m->speed = KMH * sqrt (square);
  m->speed_deviation = KMH * sqrt (fmax (along, 0));
  m->position_deviation = sqrt (largest_variance (m->xx, m->xy, m->yy));
}

/* Whether a foot point is certainly this side of the horizon. */
static bool
is_this_side (const CclHomography *h, const CclTrackFoot *foot)
{
  const double *horizon = h->row[2], w = times (horizon, foot->x, foot->y);
  const double variance =
      horizon[0] * horizon[0] * foot->var_x + horizon[1] * horizon[1] * foot->var_y;
  return w > 0 && w > MIN_DEVIATIONS * sqrt (variance);
}

bool
ccl_ground_locate (
    const CclGround *ground, const CclTrackFoot *foot, double frame_rate, CclGroundMotion *motion)
{
  if (!ground || !foot || !motion || !(frame_rate > 0))
    return false;
  CclGroundMotion m;
  Derivatives d;
  if (!is_this_side (&ground->homography, foot) || !map_foot (&ground->homography, foot, &m, &d))
    return false;
  const double square = frame_rate * frame_rate, behind = 0.5 * d.growth * foot->lag;
  CclTrackFoot late = *foot;
  late.var_y += behind * behind;
  m.velocity_x *= frame_rate;
  m.velocity_y *= frame_rate;
  m.xx = covariance_of_position (&d, &late, 0, 0);
  m.xy = covariance_of_position (&d, &late, 0, 1);
  m.yy = covariance_of_position (&d, &late, 1, 1);
  m.vxx = square * covariance_of_velocity (&d, &late, 0, 0);
  m.vxy = square * covariance_of_velocity (&d, &late, 0, 1);
  m.vyy = square * covariance_of_velocity (&d, &late, 1, 1);
  summarise (&m);
  if (!isfinite (m.x) || !isfinite (m.y) || !isfinite (m.speed_deviation) ||
      !isfinite (m.position_deviation))
    return false;
  *motion = m;
  return true;
}

void
ccl_ground_free (CclGround **ground)
{
  if (!ground)
    return;
  free (*ground);
  *ground = NULL;
}
