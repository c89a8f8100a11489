/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Leaps: at a low frame rate a fast object is farther from its last place than its own size, and
 * no component is assigned to its track. Then a component without a track can be that object, if it
 * has its width and height, and colours that are not others. The track gets the velocity that leads
 * from one place to the other, so the third place decides: a component is there, or the track ends.
 *
 * Rows of the component table are compared, because side-by-side.c may have divided a car in one
 * frame and not in the next. */
#include "tracking/tracker-private.h"

#define WATCHED 3.0     /* seconds; in the first ones all that moves is new */
#define MAX_SPEED 40.0  /* sizes per second */
#define MAX_LEAP 8.0    /* sizes */
#define MAX_RATIO 1.5   /* of extents before and after */
#define MIN_ALIKE 0.4   /* colours that are less alike are those of another object */
#define MAX_TURN 0.5    /* of a leap: how far from where the leap before leads to it may end */
#define FAST 5.0        /* sizes per second: so fast are cars, and no people who walk in a group */
#define WHOLE_FIT 0.8   /* how well the box of a fast object fits a row that is not divided */
#define SURE_ALIKE 0.7  /* colours, and */
#define SURE_RATIO 1.25 /* extents of what is surely one object, */
#define SURE_LEAP 2.0   /* if it went so many sizes */
#define SURE_AREA 0.005 /* and covers this part of the frame */

/* Whether the border of the frame cuts the box on an axis. */
static bool
is_cut (double low, double high, double extent)
{
  return low <= 0 || high >= extent;
}

/* An object that enters or leaves is cut by the border on one axis. */
static bool
have_one_shape (const CclTracker *tracker, const CclBox *a, const CclBox *b, double ratio)
{
  const CclTrackerPlan *frame = &tracker->plan;
  return (is_cut (a->left, a->right, frame->width) || is_cut (b->left, b->right, frame->width) ||
             ccl_are_alike (a->right - a->left, b->right - b->left, ratio)) &&
         (is_cut (a->top, a->bottom, frame->height) || is_cut (b->top, b->bottom, frame->height) ||
             ccl_are_alike (a->bottom - a->top, b->bottom - b->top, ratio));
}

static double
distance (const CclBox *a, const CclBox *b)
{
  const double dx = a->left + a->right - b->left - b->right;
  const double dy = a->top + a->bottom - b->top - b->bottom;
  return 0.5 * sqrt (dx * dx + dy * dy);
}

/* Whether the box is where the leap before leads to; true if there was none. */
static bool
goes_on (const Track *t, const CclBox *box, double elapsed)
{
  const double step =
      elapsed * sqrt (t->x.velocity * t->x.velocity + t->y.velocity * t->y.velocity);
  return !t->leaps || distance (&t->box, box) <= MAX_TURN * step;
}

static bool
has_other_colours (const CclTracker *tracker, const Track *t, uint32_t component)
{
  if (tracker->components[component].divided)
    return false;
  const double colours = ccl_tracker_compare_first_colours (tracker, t, component);
  return colours >= 0 && colours < MIN_ALIKE;
}

static bool
can_leap (const CclTracker *tracker, const Track *t, uint32_t component, double elapsed)
{
  const CclBox *box = &tracker->components[component].row_box;
  return t->component == NONE && !t->confirmed && !t->leapt && t->lost <= 0 && t->n_found > 0 &&
         goes_on (t, box, elapsed) && have_one_shape (tracker, &t->row_box, box, MAX_RATIO) &&
         !has_other_colours (tracker, t, component);
}

/* The tentative track that was found in the frame before and can be the object of this row, if
 * there is one row of which this is true; else NULL. */
static Track *
find_origin (const CclTracker *tracker, uint32_t component, double elapsed)
{
  const CclBox *box = &tracker->components[component].row_box;
  const double x = 0.5 * (box->left + box->right), y = 0.5 * (box->top + box->bottom);
  const double quiet = 1 - ccl_tracker_restlessness (tracker, x, y);
  const double reach =
      quiet * ccl_box_size (box) * ccl_min (MAX_SPEED * tracker->frame_time * elapsed, MAX_LEAP);
  Track *found = NULL;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *t = &tracker->tracks[i];
    if (distance (&t->row_box, box) > reach || !can_leap (tracker, t, component, elapsed))
      continue;
    if (found && found->previous != t->previous)
      return NULL;
    found = t;
  }
  return found;
}

/* Whether two places of a large object are enough: where nothing else moves, it is there again, far
 * away, with the same shape and colours. */
static bool
is_sure (const CclTracker *tracker, const Track *t, uint32_t component)
{
  const CclBox *box = &tracker->components[component].row_box;
  const double x = 0.5 * (box->left + box->right), y = 0.5 * (box->top + box->bottom);
  return ccl_box_area (box) >= SURE_AREA * tracker->plan.width * tracker->plan.height &&
         distance (&t->row_box, box) >= SURE_LEAP * ccl_box_size (box) &&
         have_one_shape (tracker, &t->row_box, box, SURE_RATIO) &&
         ccl_tracker_restlessness (tracker, x, y) == 0 &&
         ccl_tracker_compare_first_colours (tracker, t, component) >= SURE_ALIKE;
}

/* Another track replaces this one and the tracks of other parts of its row. They end without being
 * counted as lost. */
static void
leave_behind (CclTracker *tracker, Track *t)
{
  t->leapt = true;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *other = &tracker->tracks[i];
    if (other->component == NONE && !other->confirmed && other->lost <= 0 &&
        other->previous != NONE && other->previous == t->previous)
      other->leapt = true;
  }
}

bool
ccl_tracker_leap (CclTracker *tracker, uint32_t component, double elapsed)
{
  Track *from = tracker->time >= WATCHED ? find_origin (tracker, component, elapsed) : NULL;
  if (!from || tracker->n_tracks == tracker->plan.max_tracks)
    return false;
  leave_behind (tracker, from);
  ccl_tracker_join_row (tracker, component);
  Component *c = &tracker->components[component];
  Track *t = &tracker->tracks[tracker->n_tracks++];
  *t = *from;
  t->id = ++tracker->last_id;
  ccl_tracker_place (tracker, t, &c->box);
  t->x.velocity =
      0.5 * (c->box.left + c->box.right - from->row_box.left - from->row_box.right) / elapsed;
  t->y.velocity =
      0.5 * (c->box.top + c->box.bottom - from->row_box.top - from->row_box.bottom) / elapsed;
  t->leapt = t->divided = false;
  t->leaps = true;
  t->component = component;
  t->n_found += is_sure (tracker, from, component);
  c->n_members = 1;
  return true;
}

bool
ccl_tracker_is_fast_object (const CclTracker *tracker, const CclBox *box)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *t = &tracker->tracks[i];
    const double least = FAST * tracker->frame_time * ccl_track_size (t);
    const double vx = t->x.velocity, vy = t->y.velocity;
    double sharpness;
    if (vx * vx + vy * vy >= least * least && ccl_track_fit_box (t, box, &sharpness) >= WHOLE_FIT)
      return true;
  }
  return false;
}
