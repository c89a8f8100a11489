/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects travel. Leaves, flags and water move, too, but in their place. So places are remembered
 * where tracks end that never went away from where they began. The more of them a place has seen,
 * the farther and the straighter a track must go from there before it is confirmed. At a place
 * without them a track is confirmed at once: people who meet would otherwise have no track while
 * they are in each other's way.
 */
#include "tracker-private.h"

#define RESTLESS_WAY 2.0  /* sizes that a track must go besides least_way when it has just begun */
#define RESTLESS_TIME 1.0 /* seconds, and frames, after which least_way is enough */
#define RESTLESS_FRAMES 10.0
#define STRAIGHT 0.7  /* least way from the begin there, parts of the whole way */
#define CALM 3.0      /* so many tracks that went nowhere do not make a place restless */
#define RESTLESS 13.0 /* so many make it fully restless */
#define MEMORY 60.0   /* seconds, the time constant of forgetting them */

static uint32_t
cell_at (double place, uint32_t extent)
{
  const double cell = place * CUDACCL_TRAVEL_CELLS / extent;
  return cell <= 0 ? 0 : cell >= CUDACCL_TRAVEL_CELLS ? CUDACCL_TRAVEL_CELLS - 1 : (uint32_t)cell;
}

/* The cell of the place and the cells beside it count. */
double
ccl_tracker_restlessness (const CclTracker *tracker, double place_x, double place_y)
{
  const uint32_t x = cell_at (place_x, tracker->plan.width);
  const uint32_t y = cell_at (place_y, tracker->plan.height);
  double sum = 0;
  for (uint32_t v = y - (y > 0); v <= y + 1 && v < CUDACCL_TRAVEL_CELLS; v++)
    for (uint32_t u = x - (x > 0); u <= x + 1 && u < CUDACCL_TRAVEL_CELLS; u++)
      sum += tracker->restless[v][u];
  return ccl_min (ccl_max (sum - CALM, 0) / (RESTLESS - CALM), 1);
}

void
ccl_tracker_forget_places (CclTracker *tracker, double elapsed)
{
  const double kept = 1 / (1 + elapsed * tracker->frame_time / MEMORY);
  for (uint32_t v = 0; v < CUDACCL_TRAVEL_CELLS; v++)
    for (uint32_t u = 0; u < CUDACCL_TRAVEL_CELLS; u++)
      tracker->restless[v][u] *= kept;
}

void
ccl_tracker_remember_place (CclTracker *tracker, const Track *t)
{
  const uint32_t x = cell_at (t->x.centre, tracker->plan.width);
  const uint32_t y = cell_at (t->y.centre, tracker->plan.height);
  tracker->restless[y][x] += !t->travelled;
}

void
ccl_track_add_step (Track *t)
{
  const double dx = t->x.centre - t->last_x, dy = t->y.centre - t->last_y;
  t->path += sqrt (dx * dx + dy * dy);
  t->last_x = t->x.centre;
  t->last_y = t->y.centre;
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

static double
size_of_way (const Track *t)
{
  return ccl_max (ccl_track_size (t), sqrt (t->begin_width * t->begin_height));
}

static double
way_from_begin (const CclTracker *tracker, const Track *t)
{
  const CclTrackerPlan *frame = &tracker->plan;
  const double dx = way_on_axis (&t->x, t->begin_x, t->begin_width, frame->width);
  const double dy = way_on_axis (&t->y, t->begin_y, t->begin_height, frame->height);
  return sqrt (dx * dx + dy * dy);
}

void
ccl_tracker_note_travel (const CclTracker *tracker, Track *t, double least_way)
{
  t->travelled = t->travelled || way_from_begin (tracker, t) >= least_way * size_of_way (t);
}

bool
ccl_tracker_may_confirm (const CclTracker *tracker, const Track *t, double least_way)
{
  if (least_way == 0)
    return true;
  const double way = way_from_begin (tracker, t);
  const double restless = ccl_tracker_restlessness (tracker, t->begin_x, t->begin_y);
  const double begun =
      1 - ccl_min (t->age * tracker->frame_time / RESTLESS_TIME, t->n_found / RESTLESS_FRAMES);
  return way >= restless * (least_way + RESTLESS_WAY * ccl_max (begun, 0)) * size_of_way (t) &&
         way >= restless * STRAIGHT * t->path;
}
