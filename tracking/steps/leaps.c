/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Leaps: at a low frame rate a fast object is farther from its last place than its own size, and
 * no component is assigned to its track. The new track that begins gets the velocity that leads
 * from one place to the other, so the third place decides: a component is there, or the track ends.
 */
#include "tracking/tracker-private.h"

#define MAX_SPEED 20.0 /* sizes per second */
#define MAX_LEAP 4.0   /* sizes */
#define MAX_RATIO 1.5  /* of extents before and after */

/* Whether the border of the frame cuts the box. */
static bool
is_cut (double low, double high, double extent)
{
  return low <= 0 || high >= extent;
}

/* An object that enters or leaves is cut by the border on one axis. */
static bool
have_one_shape (const CclTracker *tracker, const Track *a, const Track *b)
{
  const CclTrackerPlan *frame = &tracker->plan;
  const bool cut_x =
      is_cut (a->last_x - a->x.extent / 2, a->last_x + a->x.extent / 2, frame->width) ||
      is_cut (b->box.left, b->box.right, frame->width);
  const bool cut_y =
      is_cut (a->last_y - a->y.extent / 2, a->last_y + a->y.extent / 2, frame->height) ||
      is_cut (b->box.top, b->box.bottom, frame->height);
  return (cut_x || ccl_are_alike (a->x.extent, b->x.extent, MAX_RATIO)) &&
         (cut_y || ccl_are_alike (a->y.extent, b->y.extent, MAX_RATIO));
}

/* The nearest tentative track that was found in the frame before and can be the same object; or
 * NULL. */
static Track *
find_origin (const CclTracker *tracker, const Track *t, uint32_t n_before, double elapsed)
{
  const double quiet = 1 - ccl_tracker_restlessness (tracker, t->x.centre, t->y.centre);
  const double sizes = quiet * ccl_min (MAX_SPEED * tracker->frame_time * elapsed, MAX_LEAP);
  Track *nearest = NULL;
  double least = sizes * ccl_track_size (t);
  for (uint32_t i = 0; i < n_before; i++) {
    Track *from = &tracker->tracks[i];
    if (from->component != NONE || from->confirmed || from->leapt || from->lost > 0 ||
        ccl_track_is_farther (t, from->last_x, from->last_y, least) ||
        !have_one_shape (tracker, from, t))
      continue;
    const double dx = t->x.centre - from->last_x, dy = t->y.centre - from->last_y;
    least = sqrt (dx * dx + dy * dy);
    nearest = from;
  }
  return nearest;
}

void
ccl_tracker_leap (CclTracker *tracker, Track *t, uint32_t n_before, double elapsed)
{
  Track *from = find_origin (tracker, t, n_before, elapsed);
  if (!from)
    return;
  from->leapt = true;
  t->x.velocity = (t->x.centre - from->last_x) / elapsed;
  t->y.velocity = (t->y.centre - from->last_y) / elapsed;
  t->begin_x = t->last_x = from->last_x;
  t->begin_y = t->last_y = from->last_y;
  t->n_found = 1;
  t->age = elapsed;
}
