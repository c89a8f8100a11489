/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects travel. Leaves, flags and water move, too, but in their place. So a track is confirmed
 * when its way is long beside the object's size, beside the trembling of its measured place,
 * beside the path that it took, and beside the way that as many steps go by chance. An object that
 * comes out of a component of one that has travelled need not do so again.
 *
 * How much is asked for depends on the place (places.c): where many tracks ended and went nowhere,
 * a track must go farther and straighter. */
#include "tracking/tracker-private.h"

#define RESTLESS_WAY 2.0  /* sizes that a track must go besides least_way when it has just begun */
#define RESTLESS_TIME 1.0 /* seconds, and frames, after which least_way is enough */
#define RESTLESS_FRAMES 10.0
#define STRAIGHT 0.25 /* least way from the begin, parts of the path; at a restless place twice */
#define FAR 2.0       /* sizes from which on the path does not matter */
#define STEADY 3.0    /* least way, in standard deviations of the trembling */
#define RESTLESS_STEADY 2.0  /* the same, in addition, at a restless place */
#define FIRST_TREMBLE 0.1    /* sizes; it counts as one measured difference */
#define CHANCE 3.0           /* the same of a way by chance, for what appears inside the picture */
#define WATCHED 3.0          /* seconds after which it is known that something appeared */
#define STILL 0.05           /* sizes: what trembles less is no leaf */
#define STILL_DIFFERENCES 5  /* after which this is known */
#define LIKE_NOTHING_WAY 8.0 /* sizes that a track like the lost ones must go */
#define LEAST_REACH 0.05     /* sizes that a divided component must reach out of where it was */
#define MIN_INSIDE 0.5       /* of the box of an object that came out of a component */
#define MAX_RESTLESS 0.5     /* restlessness up to which that is enough */

/* A component that the object shares, or that the border cuts, does not tell its place. */
static void
add_place (Tremble *tremble, const Component *c)
{
  if (c->n_members != 1 || !c->whole) {
    tremble->n_places = 0;
    return;
  }
  const double x = 0.5 * (c->box.left + c->box.right), y = 0.5 * (c->box.top + c->box.bottom);
  if (tremble->n_places >= 2) {
    const double dx = x - 2 * tremble->x[0] + tremble->x[1];
    const double dy = y - 2 * tremble->y[0] + tremble->y[1];
    tremble->sum += dx * dx + dy * dy;
    tremble->n_differences++;
  }
  tremble->x[1] = tremble->x[0];
  tremble->y[1] = tremble->y[0];
  tremble->x[0] = x;
  tremble->y[0] = y;
  tremble->n_places++;
}

void
ccl_track_add_step (Track *t, const Component *c)
{
  const double dx = t->x.centre - t->last_x, dy = t->y.centre - t->last_y;
  t->path += sqrt (dx * dx + dy * dy);
  t->last_x = t->x.centre;
  t->last_y = t->y.centre;
  t->component_box = c->box;
  t->row_box = c->row_box;
  add_place (&t->tremble, c);
}

/* The way on an axis. An object that comes in at the border is first seen in part; its inner edge
 * tells how far it has come. */
static double
way_on_axis (const CclAxis *now, double begin, double begin_extent, double frame)
{
  if (begin - begin_extent / 2 <= 0)
    return ccl_axis_at (now, CUDACCL_AXIS_HIGH) - (begin + begin_extent / 2);
  if (begin + begin_extent / 2 >= frame)
    return ccl_axis_at (now, CUDACCL_AXIS_LOW) - (begin - begin_extent / 2);
  return now->centre - begin;
}

double
ccl_track_size_of_way (const Track *t)
{
  return ccl_max (ccl_track_size (t), sqrt (t->begin_width * t->begin_height));
}

double
ccl_tracker_way (const CclTracker *tracker, const Track *t)
{
  const CclTrackerPlan *frame = &tracker->plan;
  const double dx = way_on_axis (&t->x, t->begin_x, t->begin_width, frame->width);
  const double dy = way_on_axis (&t->y, t->begin_y, t->begin_height, frame->height);
  return sqrt (dx * dx + dy * dy);
}

/* The standard deviation of the measured place, in sizes. The variance of a second difference is
 * six times that of a place. */
double
ccl_track_trembling (const Track *t)
{
  const double size = ccl_track_size_of_way (t), first = FIRST_TREMBLE * FIRST_TREMBLE;
  const Tremble *tremble = &t->tremble;
  return sqrt ((tremble->sum / (6 * size * size) + first) / (tremble->n_differences + 1));
}

/* The standard deviation of the way, in sizes, if each step was by chance, as that of an insect on
 * the glass or of a part of a fan. The variance of a second difference is twice that of a step. */
static double
way_by_chance (const Track *t)
{
  return sqrt (3.0 * t->n_found) * ccl_track_trembling (t);
}

bool
ccl_tracker_begins_inside (const CclTracker *tracker, const Track *t)
{
  const double x = t->begin_width / 2, y = t->begin_height / 2;
  return t->begin_x > x && t->begin_y > y && t->begin_x + x < tracker->plan.width &&
         t->begin_y + y < tracker->plan.height;
}

/* Whether a track appeared inside the picture, later than the first frame of the video. */
static bool
appeared_inside (const CclTracker *tracker, const Track *t)
{
  return tracker->time - t->age * tracker->frame_time >= WATCHED &&
         ccl_tracker_begins_inside (tracker, t);
}

static bool
is_far (const CclTracker *tracker, const Track *t, double least_way, double restless)
{
  const double size = ccl_track_size_of_way (t), way = ccl_tracker_way (tracker, t) / size;
  const double begun =
      1 - ccl_min (t->age * tracker->frame_time / RESTLESS_TIME, t->n_found / RESTLESS_FRAMES);
  const double chance = appeared_inside (tracker, t) ? CHANCE * way_by_chance (t) : 0;
  return way >= least_way + restless * RESTLESS_WAY * ccl_max (begun, 0) &&
         way >= (STEADY + restless * RESTLESS_STEADY) * ccl_track_trembling (t) &&
         (way >= FAR || (way >= chance && way >= (1 + restless) * STRAIGHT * t->path / size));
}

void
ccl_tracker_note_travel (const CclTracker *tracker, Track *t, double least_way)
{
  if (t->component != NONE)
    t->farthest = ccl_max (t->farthest, ccl_tracker_way (tracker, t) / ccl_track_size_of_way (t));
  t->travelled = t->travelled || (t->component != NONE && is_far (tracker, t, least_way, 0));
}

bool
ccl_tracker_came_out (const CclTracker *tracker, const CclBox *box)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *t = &tracker->tracks[i];
    if (t->confirmed && (t->travelled || t->came_out) && t->lost <= 0 &&
        ccl_box_overlap (&t->component_box, box) >= MIN_INSIDE * ccl_box_area (box))
      return true;
  }
  return false;
}

/* Whether a part moves only because its component is divided elsewhere, or becomes smaller. */
static bool
moves_in_row (const Track *t)
{
  return t->divided &&
         ccl_box_reach (&t->begin_row_box, &t->row_box) < LEAST_REACH * ccl_track_size (t);
}

bool
ccl_tracker_may_confirm (const CclTracker *tracker, const Track *t, double least_way)
{
  if (least_way == 0)
    return true;
  if (moves_in_row (t))
    return false;
  const double restless = ccl_tracker_restlessness (tracker, t->begin_x, t->begin_y);
  if (t->farthest < CUDACCL_NEAR && ccl_tracker_begins_inside (tracker, t) &&
      (ccl_tracker_was_refuted (tracker, t->begin_x, t->begin_y) ||
          ccl_tracker_stays_in_moving_place (tracker, t)))
    return false;
  if (ccl_tracker_is_like_nothing (tracker, t))
    return t->component != NONE &&
           (ccl_tracker_outlives (tracker, t) ||
               (!appeared_inside (tracker, t) &&
                   ccl_tracker_way (tracker, t) >= LIKE_NOTHING_WAY * ccl_track_size_of_way (t))) &&
           is_far (tracker, t, least_way, restless);
  const bool is_still =
      t->tremble.n_differences >= STILL_DIFFERENCES && ccl_track_trembling (t) < STILL;
  if ((t->came_out && restless <= MAX_RESTLESS) || ((t->came_out || t->travelled) && is_still))
    return true;
  return t->component != NONE && is_far (tracker, t, least_way, restless);
}
