/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Components are assigned to tracks: one to one where they fit best; then a track without a
 * component shares the one that covers its box. */
#include "tracking/tracker-private.h"

#include <math.h>

#define PIXEL_FIT 0.5   /* weight of the overlap of pixels in the cost of a component */
#define PIXEL_COVER 0.3 /* its weight where a track shares a component */
#define COLOUR_FIT 0.8
#define MIN_FIT 0.45   /* a component that fits less is not assigned to the track */
#define MIN_COVER 0.35 /* least part of a track's box inside a component that it shares */

/* How well a measured edge fits the predicted one, 0…1. Adds to `sharpness` how much of its
 * variance is that of the measurement, 0…1. */
static inline double
fit_edge (const CclAxis *a, double place, double measured, double variance, double *sharpness)
{
  const double error = measured - ccl_axis_at (a, place);
  const double total = ccl_axis_variance (a, place) + variance;
  *sharpness += 0.25 * variance / total;
  return 0.25 / (1 + error * error / (4 * total));
}

/* Each edge is compared alone: a component that contains the object and more, or only a part of it,
 * still fits at some edges. */
double
ccl_track_fit_box (const Track *t, const CclBox *box, double *sharpness)
{
  const double variance = ccl_track_variance (t, CUDACCL_EDGE_NOISE);
  *sharpness = 0;
  return fit_edge (&t->x, CUDACCL_AXIS_LOW, box->left, variance, sharpness) +
         fit_edge (&t->x, CUDACCL_AXIS_HIGH, box->right, variance, sharpness) +
         fit_edge (&t->y, CUDACCL_AXIS_LOW, box->top, variance, sharpness) +
         fit_edge (&t->y, CUDACCL_AXIS_HIGH, box->bottom, variance, sharpness);
}

/* Whether a component is farther from where the track is expected than the size of the larger of
 * the two: it is another object, however little is known of the track's motion. */
static bool
is_jump (const Track *t, const CclBox *box)
{
  const double size = ccl_max (ccl_box_size (&t->box), ccl_box_size (box));
  return ccl_track_is_farther (t, (box->left + box->right) / 2, (box->top + box->bottom) / 2, size);
}

/* The entries of one track. The cost of a component falls with its fit, with the certainty of the
 * prediction, and with the overlap of pixels. */
static uint32_t
add_entries (CclTracker *tracker, const Track *t, uint32_t n)
{
  const double variance = ccl_track_variance (t, CUDACCL_EDGE_NOISE);
  const double x = 3 * sqrt (t->x.cc + variance), y = 3 * sqrt (t->y.cc + variance);
  const CclBox near = {t->box.left - x, t->box.top - y, t->box.right + x, t->box.bottom + y};
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    const CclBox *box = &tracker->components[j].box;
    if (tracker->components[j].stack != NONE || box->left > near.right || box->right < near.left ||
        box->top > near.bottom || box->bottom < near.top || is_jump (t, box))
      continue;
    double sharpness;
    const double fit = ccl_track_fit_box (t, box, &sharpness);
    if (fit < MIN_FIT || (t->lost > 0 && ccl_tracker_has_other_colours (tracker, t, j)))
      continue;
    const double cost = 1 - fit * (0.5 + 0.5 * sqrt (sharpness));
    const double colours = ccl_tracker_compare_colours (tracker, t, j);
    const double pixels = cost * (1 - PIXEL_FIT * ccl_tracker_pixel_overlap (tracker, t, j));
    tracker->column[n] = j;
    tracker->cost[n++] =
        colours < 0 ? pixels : 1 - (1 - pixels) * (1 - COLOUR_FIT + COLOUR_FIT * colours);
  }
  return n;
}

void
ccl_tracker_assign (CclTracker *tracker)
{
  tracker->first[0] = 0;
  for (uint32_t i = 0; i < tracker->n_tracks; i++)
    tracker->first[i + 1] = add_entries (tracker, &tracker->tracks[i], tracker->first[i]);
  const CclAssignmentProblem problem = {
      .n_rows = tracker->n_tracks,
      .n_columns = tracker->n_components,
      .first = tracker->first,
      .column = tracker->column,
      .cost = tracker->cost,
      .unassigned = 1,
  };
  ccl_assign (&problem, &tracker->scratch, tracker->of_track);
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    tracker->tracks[i].component = tracker->of_track[i];
    if (tracker->of_track[i] != NONE)
      tracker->components[tracker->of_track[i]].n_members = 1;
  }
}

/* How much of a track's box a component covers, in pixels. With label maps, this is reduced where
 * the pixels of the track's former component are elsewhere. */
static double
cover_track (const CclTracker *tracker, const Track *t, uint32_t component)
{
  const double cover = ccl_box_overlap (&t->box, &tracker->components[component].box);
  const double part = ccl_tracker_pixel_part (tracker, t, component);
  return cover * (1 - PIXEL_COVER + PIXEL_COVER * part);
}

/* A track without a component that was found in the frame before is in the component that covers
 * most of its box. */
void
ccl_tracker_share (CclTracker *tracker)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *t = &tracker->tracks[i];
    if (t->component != NONE || t->lost > 0)
      continue;
    double most = MIN_COVER * ccl_box_area (&t->box);
    for (uint32_t j = 0; j < tracker->n_components; j++) {
      if (tracker->components[j].stack != NONE)
        continue;
      const double cover = cover_track (tracker, t, j);
      if (cover > most) {
        most = cover;
        t->component = j;
      }
    }
    if (t->component != NONE)
      tracker->components[t->component].n_members++;
  }
}
