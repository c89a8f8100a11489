/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes are corrected with the measured edges and centroids of their components.
 *
 * A box that shares its component keeps its size and its velocity. Only the component's own edges
 * correct it: each one is the edge of the track that is predicted to be the outermost there. With
 * pictures, the colours of its object correct its place. An object alone in a component that is
 * much larger, as with leaves behind it, keeps its size for a while, too, if its colours are found
 * there. */
#include "tracking/tracker-private.h"

#define SHARED_NOISE 2.0    /* factor for the edges of a component that tracks share */
#define BORDER_GROWTH 0.316 /* of the extent, a second, while the border cuts the box */
#define GOOD_FIT 0.85       /* a component that fits less casts doubt on the track's box */
#define SHAPE_RATE 0.1      /* learning rate of fill and centroid */
#define COLOUR_NOISE 2.0    /* factor for a place that is found by colours */
#define LARGER 1.3          /* times its extent: such a component is more than the object */
#define LARGER_TIME 0.5     /* seconds after which it is the object, seen in part before */
#define NEAR 0.3            /* sizes from its edge: there the component's edge is its own */
#define MAX_MISFITS 3       /* successive frames that a box may fit badly */

static void
find_outermost (CclTracker *tracker)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *tracks = tracker->tracks, *t = &tracks[i];
    if (t->component == NONE)
      continue;
    Component *c = &tracker->components[t->component];
    if (c->left == NONE || t->box.left < tracks[c->left].box.left)
      c->left = i;
    if (c->top == NONE || t->box.top < tracks[c->top].box.top)
      c->top = i;
    if (c->right == NONE || t->box.right > tracks[c->right].box.right)
      c->right = i;
    if (c->bottom == NONE || t->box.bottom > tracks[c->bottom].box.bottom)
      c->bottom = i;
  }
}

/* An edge of a component belongs to its outermost track, and no other box reaches beyond it. At the
 * frame's border the object's edge is not visible, but the box reaches the border. */
static void
correct_edge (
    CclAxis *a, double place, double measured, double border, bool outermost, double variance)
{
  const bool is_border = place < 0 ? measured <= border : measured >= border;
  const double predicted = ccl_axis_at (a, place);
  const bool beyond = place < 0 ? predicted < measured : predicted > measured;
  if (is_border ? !beyond : outermost || beyond)
    ccl_axis_measure (a, place, measured, variance);
}

static void
correct_edges (const CclTracker *tracker, uint32_t i, double variance)
{
  Track *t = &tracker->tracks[i];
  const Component *c = &tracker->components[t->component];
  const CclTrackerPlan *frame = &tracker->plan;
  correct_edge (&t->x, CUDACCL_AXIS_LOW, c->box.left, 0, c->left == i, variance);
  correct_edge (&t->x, CUDACCL_AXIS_HIGH, c->box.right, frame->width, c->right == i, variance);
  correct_edge (&t->y, CUDACCL_AXIS_LOW, c->box.top, 0, c->top == i, variance);
  correct_edge (&t->y, CUDACCL_AXIS_HIGH, c->box.bottom, frame->height, c->bottom == i, variance);
}

/* Corrects a box with the centroid of a component of this object alone, and learns the centroid's
 * place in the box. Returns the variance of the edges. It is greater where the component fills less
 * of its box than the object does, because then a part of the component, such as a shadow, is not
 * the object. */
static double
correct_centroid (Track *t, const Component *c, double variance)
{
  const double width = c->box.right - c->box.left, height = c->box.bottom - c->box.top;
  const double fill = c->area / (width * height), thinner = t->fill / fill;
  const double x = (c->centroid_x - 0.5 * (c->box.left + c->box.right)) / width;
  const double y = (c->centroid_y - 0.5 * (c->box.top + c->box.bottom)) / height;
  ccl_axis_measure (&t->x, t->centroid_x, c->centroid_x, variance);
  ccl_axis_measure (&t->y, t->centroid_y, c->centroid_y, variance);
  t->fill += SHAPE_RATE * (fill - t->fill);
  t->centroid_x += SHAPE_RATE * (x - t->centroid_x);
  t->centroid_y += SHAPE_RATE * (y - t->centroid_y);
  return thinner > 1 ? thinner * thinner * variance : variance;
}

/* A box that fits badly in several frames is measured anew, unless it has the size of an object and
 * the component has not. */
static void
doubt_box (CclTracker *tracker, Track *t, const Component *c)
{
  double sharpness;
  if (ccl_track_fit_box (t, &c->box, &sharpness) > GOOD_FIT) {
    t->n_misfits = 0;
  } else if (++t->n_misfits >= MAX_MISFITS && (ccl_sizes_contain (&tracker->sizes, &c->box) ||
                                                  !ccl_sizes_contain (&tracker->sizes, &t->box))) {
    ccl_track_loosen (t);
    t->n_misfits = 0;
  }
}

/* Whether a component in which the track is alone is more than its object. */
static bool
is_larger (const CclTracker *tracker, const Track *t, const Component *c)
{
  return !c->divided && !ccl_tracker_is_short (tracker, &t->box) &&
         (c->box.right - c->box.left > LARGER * t->x.extent ||
             c->box.bottom - c->box.top > LARGER * t->y.extent);
}

static void
correct_near_edge (
    CclAxis *a, double place, double measured, double border, double near, double variance)
{
  if (fabs (measured - ccl_axis_at (a, place)) < near)
    correct_edge (a, place, measured, border, true, variance);
}

/* Corrects a box in a component that is more than its object: with those edges alone that can be
 * the object's. */
static void
correct_in_larger (const CclTracker *tracker, Track *t, const CclBox *box, double variance)
{
  const double near = NEAR * ccl_track_size (t);
  const CclTrackerPlan *frame = &tracker->plan;
  correct_near_edge (&t->x, CUDACCL_AXIS_LOW, box->left, 0, near, variance);
  correct_near_edge (&t->x, CUDACCL_AXIS_HIGH, box->right, frame->width, near, variance);
  correct_near_edge (&t->y, CUDACCL_AXIS_LOW, box->top, 0, near, variance);
  correct_near_edge (&t->y, CUDACCL_AXIS_HIGH, box->bottom, frame->height, near, variance);
  ccl_track_update_box (t);
  t->hidden = 0;
}

static void
correct_track (CclTracker *tracker, uint32_t i, double elapsed)
{
  Track *t = &tracker->tracks[i];
  const Component *c = &tracker->components[t->component];
  const bool alone = c->n_members == 1;
  const double shared_variance = ccl_track_variance (t, SHARED_NOISE * CUDACCL_EDGE_NOISE);
  const double colour_variance = ccl_track_variance (t, COLOUR_NOISE * CUDACCL_EDGE_NOISE);
  double centre;
  t->n_larger = alone && is_larger (tracker, t, c) ? t->n_larger + elapsed : 0;
  const bool is_more = t->n_larger > 0 && t->n_larger * tracker->frame_time <= LARGER_TIME;
  const bool is_placed = (!alone || is_more) && ccl_tracker_place_by_colours (tracker, t, &centre);
  if (is_placed)
    ccl_axis_measure (&t->x, 0, centre, colour_variance);
  if (alone && is_placed) {
    correct_in_larger (tracker, t, &c->box, shared_variance);
    return;
  }
  double variance = alone ? ccl_track_variance (t, CUDACCL_EDGE_NOISE) : shared_variance;
  if (alone) {
    doubt_box (tracker, t, c);
    if (c->whole)
      variance = correct_centroid (t, c, variance);
  }
  const double growth = ccl_track_variance (t, BORDER_GROWTH) * tracker->frame_time * elapsed;
  if (c->box.left <= 0 || c->box.right >= tracker->plan.width)
    t->x.ee += growth;
  if (c->box.top <= 0 || c->box.bottom >= tracker->plan.height)
    t->y.ee += growth;
  correct_edges (tracker, i, variance);
  ccl_track_update_box (t);
  const bool hidden = c->left != i && c->top != i && c->right != i && c->bottom != i;
  t->hidden = hidden ? t->hidden + elapsed : 0;
}

void
ccl_tracker_correct (CclTracker *tracker, double elapsed)
{
  find_outermost (tracker);
  for (uint32_t i = 0; i < tracker->n_tracks; i++)
    if (tracker->tracks[i].component != NONE)
      correct_track (tracker, i, elapsed);
}
