/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ground that objects stand on: four or more points of the picture whose positions are known in
 * metres give the position, velocity and speed of each track, with their uncertainty. The rules of
 * labeller.h hold.
 *
 * Picture and ground are two planes that a camera without distortion relates by a homography: a
 * 3×3 matrix that maps homogeneous coordinates (R. Hartley and A. Zisserman, "Multiple view
 * geometry in computer vision", 2nd edition, 2004, chapters 2 and 4). Its third row tells how far a
 * point is from the horizon; a point at or beyond the horizon has no position.
 *
 * Coordinates of the picture are those of CclTrack: pixels to the right and downwards, edges are
 * between pixels, so that pixel 0 spans 0 to 1. Axes and origin of the ground are the caller's.
 *
 *   CclGroundPlan plan = CUDACCL_GROUND_PLAN_DEFAULT;
 *   plan.n_points = 4;
 *   plan.points = points;
 *   CclGround *ground = ccl_ground_new (&plan, &error);
 *   for each track of ccl_tracker_run (), with its index:
 *     ccl_tracker_get_foot (tracker, index, &foot);
 *     if (ccl_ground_locate (ground, &foot, frame_rate, &motion))
 *       printf ("%g, %g m, %g km/h\n", motion.x, motion.y, motion.speed);
 *   ccl_ground_free (&ground);
 *
 * Since: 0.3
 */
#ifndef CUDACCL_GROUND_H
#define CUDACCL_GROUND_H

#include <cudaccl/tracker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest number of points, and the largest coordinate in the picture (pixels) and on the
 * ground (metres); the smallest is its negative. */
#define CUDACCL_MAX_GROUND_POINTS 256
#define CUDACCL_MAX_GROUND_COORDINATE 1e8

/* A point of the ground, in the picture and in metres. Since: 0.3 */
typedef struct CclGroundPoint {
  double x, y;               /* in the picture, pixels */
  double ground_x, ground_y; /* metres */
} CclGroundPoint;

/* The points that determine a ground. Since: 0.3 */
typedef struct CclGroundPlan {
  size_t size;       /* of this struct in bytes, or 0 (labeller.h) */
  uint32_t n_points; /* 4…CUDACCL_MAX_GROUND_POINTS, no three of four on one line */
  const CclGroundPoint *points;
} CclGroundPlan;

/* The defaults of CclGroundPlan: no points; they must be set. Since: 0.3 */
#define CUDACCL_GROUND_PLAN_DEFAULT                                                                \
  {                                                                                                \
    .size = sizeof (CclGroundPlan)                                                                 \
  }

/* An opaque ground. It does not change, so any number of threads may use it. Since: 0.3 */
typedef struct CclGround CclGround;

/* The motion of an object on the ground. Standard deviations and covariances are those that the
 * tracker states, carried over to the ground; errors of the given points are not in them. They hold
 * to first order, as long as they are small beside the distance to the horizon. Since: 0.3 */
typedef struct CclGroundMotion {
  double x, y;                   /* metres */
  double velocity_x, velocity_y; /* metres per second */
  double speed;                  /* km/h, ≥ 0 */

  double xx, xy, yy;    /* covariance of the position, m² */
  double vxx, vxy, vyy; /* covariance of the velocity, (m/s)² */

  double position_deviation; /* metres: standard deviation of the position in the direction in which
                              * it is least certain */
  double speed_deviation;    /* km/h: standard deviation of the speed along the motion; a speed that
                              * is not greater than it may be 0 */
} CclGroundMotion;

/* Computes the homography: the exact one for four points, the one of least squared distances in the
 * picture for more. Free it with ccl_ground_free().
 *
 * Returns the ground, or NULL with the error filled: CUDACCL_ERROR_ARGUMENT if the points do not
 * determine a homography, or if one of them would be beyond the horizon, as it is when points are
 * exchanged; or CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.3 */
CUDACCL_API
CclGround *ccl_ground_new (const CclGroundPlan *plan, CclError *error);

/* The root of the mean squared distance in pixels between the given points and those where the
 * homography has them: 0 for four points except for rounding. More than a few pixels mean that a
 * point is wrong, that the ground is not flat, or that the lens distorts. Since: 0.3 */
CUDACCL_API
double ccl_ground_residual (const CclGround *ground);

/* The position in metres of a point of the picture. Returns false, with x and y unchanged, for a
 * point at or beyond the horizon. Since: 0.3 */
CUDACCL_API
bool ccl_ground_map (
    const CclGround *ground, double picture_x, double picture_y, double *x, double *y);

/* The motion of a track on the ground, from its foot point.
 *
 * frame_rate: frames per second, greater than 0: of the frames that the tracker counts.
 *
 * Returns false, with `motion` unchanged, if the foot point is not certainly this side of the
 * horizon: if it is less than three standard deviations away from it. Since: 0.3 */
CUDACCL_API
bool ccl_ground_locate (
    const CclGround *ground, const CclTrackFoot *foot, double frame_rate, CclGroundMotion *motion);

/* Frees a ground, and sets the handle to NULL. Since: 0.3 */
CUDACCL_API
void ccl_ground_free (CclGround **ground);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_GROUND_H */
