/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A Kalman filter for one axis of a moving box: its centre moves with constant velocity and random
 * accelerations, its extent changes slowly. Edges are measured one by one, because a box that is
 * partly hidden still has visible edges.
 *
 * R. E. Kalman, "A new approach to linear filtering and prediction problems", 1960; measurements
 * one after the other: A. H. Jazwinski, "Stochastic processes and filtering theory", 1970.
 *
 * The arithmetic is + - * / alone, so that every machine computes the same numbers where the
 * compiler does not contract it to fused multiply-adds. */
#pragma once

/* Pixels, and pixels a frame. The covariance is symmetric: cc is the centre's variance, cv its
 * covariance with the velocity, ce that with the extent, and so on. */
typedef struct CclAxis {
  double centre, velocity, extent;
  double cc, cv, ce, vv, ve, ee;
} CclAxis;

/* A place on the axis, in extents from the centre. */
#define CUDACCL_AXIS_LOW -0.5 /* left, top */
#define CUDACCL_AXIS_HIGH 0.5 /* right, bottom */

static inline double
ccl_axis_at (const CclAxis *a, double place)
{
  return a->centre + place * a->extent;
}

static inline double
ccl_axis_variance (const CclAxis *a, double place)
{
  return a->cc + place * (2 * a->ce + place * a->ee);
}

/* A box seen for the first time, of unknown velocity, whose edges have this variance. */
static inline CclAxis
ccl_axis_new (double low, double high, double edge_variance, double velocity_variance)
{
  return (CclAxis){
      .centre = 0.5 * (low + high),
      .extent = high - low,
      .cc = 0.5 * edge_variance,
      .ee = 2 * edge_variance,
      .vv = velocity_variance,
  };
}

/* Moves on by a time in frames. In one frame the velocity's variance grows by `acceleration`, the
 * extent's by `growth`. */
static inline void
ccl_axis_predict (CclAxis *a, double time, double acceleration, double growth)
{
  a->centre += time * a->velocity;
  a->cc += time * (2 * a->cv + time * a->vv) + time * time * time / 3 * acceleration;
  a->cv += time * a->vv + 0.5 * time * time * acceleration;
  a->ce += time * a->ve;
  a->vv += time * acceleration;
  a->ee += time * growth;
}

/* Adds to the variance of each edge. */
static inline void
ccl_axis_loosen (CclAxis *a, double edge_variance)
{
  a->cc += 0.5 * edge_variance;
  a->ee += 2 * edge_variance;
}

/* Corrects the axis with a measurement at a place. Beyond two standard deviations, the weight of a
 * measurement falls with its error, as for errors of a Cauchy distribution: limbs swing, feet are
 * removed with their shadow, and a component can be more than the object. */
static inline void
ccl_axis_measure (CclAxis *a, double place, double measured, double variance)
{
  const double c = a->cc + place * a->ce;
  const double v = a->cv + place * a->ve;
  const double e = a->ce + place * a->ee;
  const double predicted = c + place * e;
  const double error = measured - ccl_axis_at (a, place);
  const double surprise = error * error / (4 * (predicted + variance));
  const double gain = 1 / (predicted + (surprise > 1 ? surprise : 1) * variance);
  a->centre += gain * c * error;
  a->velocity += gain * v * error;
  a->extent += gain * e * error;
  a->cc -= gain * c * c;
  a->cv -= gain * c * v;
  a->ce -= gain * c * e;
  a->vv -= gain * v * v;
  a->ve -= gain * v * e;
  a->ee -= gain * e * e;
}
