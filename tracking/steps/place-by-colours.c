/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* With pictures: where in a component of more than one object a track's object is. The component's
 * pixels that have the colours of the object at their height are counted in each column, those that
 * have other colours are subtracted, and the box is where the columns have most. */
#include "tracking/tracker-private.h"

#include <string.h>

#define MIN_FRAMES 3      /* in which the colours of a band were learnt */
#define NOISE 50.0        /* standard deviation of a pixel of the object, luma */
#define CHROMA_NOISE 16.0 /* the same, other planes */
#define NEITHER 0.5       /* likeness of a pixel that is neither the object's nor another one's */
#define REACH 0.5         /* widths from the predicted place within which the object is searched */
#define FARTHER 0.1       /* what a place a whole width away must have more of, parts of the box */
#define MAX_OTHERS 16     /* objects that are compared */
#define ENOUGH 0.13       /* least that the object's place has, parts of the box */

typedef struct Search {
  const CclTracker *tracker;
  const Track *t;
  uint32_t begin, end;             /* columns of the label map in which the object is searched */
  const Track *others[MAX_OTHERS]; /* in the component, there */
  uint32_t n_others;
  double *sums; /* of the columns of the label map before each one */
} Search;

/* How much a pixel is the object's, from NEITHER - 1 to NEITHER; 0 where its height is unknown. */
static double
pixel_likeness (const Search *s, const Track *t, uint32_t x, uint32_t row)
{
  const CclTrackerPicture *picture = s->tracker->picture;
  const double place = (row - t->box.top) / t->y.extent;
  if (place < 0 || place >= 1)
    return 0;
  const uint32_t band = (uint32_t)ccl_min (CUDACCL_BANDS * place, CUDACCL_BANDS - 1);
  if (t->appearance.n[band] < MIN_FRAMES)
    return 0;
  double sum = 0, n = 0;
  for (uint32_t i = 0; i < CUDACCL_COLOURS && picture->planes[i].data; i++, n++) {
    const CclTrackerPlane *plane = &picture->planes[i];
    const double noise = i == 0 ? NOISE : CHROMA_NOISE;
    const uint8_t pixel =
        plane->data[row / picture->step_y * plane->stride + (size_t)x * plane->distance];
    const double error = pixel - t->appearance.mean[band][i];
    sum += error * error / (noise * noise + t->appearance.variance[band][i]);
  }
  return 1 / (1 + sum / n) - 1 + NEITHER;
}

/* The greatest likeness of a pixel to the other objects in the component. */
static double
likeness_to_others (const Search *s, uint32_t x, uint32_t row)
{
  const double column = (double)x * s->tracker->picture->step_x;
  double most = 0;
  for (uint32_t i = 0; i < s->n_others; i++) {
    const Track *other = s->others[i];
    if (column >= other->box.left && column < other->box.right)
      most = ccl_max (most, pixel_likeness (s, other, x, row));
  }
  return most;
}

static void
add_run (const Search *s, const CclLabelRun *run, uint32_t row)
{
  const uint32_t step = s->tracker->label_step, step_x = s->tracker->picture->step_x;
  const uint32_t begin = run->begin > s->begin ? run->begin : s->begin;
  const uint32_t last = (run->end < s->end ? run->end : s->end) * step;
  const uint32_t width = s->tracker->plan.width;
  const uint32_t end = ccl_sampled (last < width ? last : width, step_x);
  for (uint32_t x = ccl_sampled (begin * step, step_x); x < end; x++)
    s->sums[x * step_x / step + 1] +=
        pixel_likeness (s, s->t, x, row) - likeness_to_others (s, x, row);
}

static void
sum_columns (const Search *s)
{
  const CclLabelOverlap *o = &s->tracker->overlap;
  const Component *components = s->tracker->components;
  const uint32_t table_row = components[s->t->component].row;
  memset (s->sums, 0, (o->width + 1) * sizeof *s->sums);
  for (uint32_t i = 0; i < o->n_runs; i++) {
    uint32_t row;
    if (components[s->tracker->first_part[o->runs[i].component]].row == table_row &&
        ccl_tracker_picture_row (s->tracker, &o->runs[i], &row))
      add_run (s, &o->runs[i], row);
  }
  for (uint32_t x = 0; x < o->width; x++)
    s->sums[x + 1] += s->sums[x];
}

/* The columns in which the object can be, and the other objects of the component there. */
static Search
search_of (CclTracker *tracker, const Track *t)
{
  const double width = tracker->overlap.width, step = tracker->label_step;
  const double far = REACH * t->x.extent + 2 * step;
  const CclBox near = {t->box.left - far, t->box.top, t->box.right + far, t->box.bottom};
  Search s = {.tracker = tracker, .t = t, .sums = tracker->column_likeness};
  s.begin = (uint32_t)ccl_min (ccl_max (near.left / step, 0), width);
  s.end = (uint32_t)ccl_min (ccl_max (near.right / step, 0), width);
  for (uint32_t i = 0; i < tracker->n_tracks && s.n_others < MAX_OTHERS; i++) {
    const Track *other = &tracker->tracks[i];
    if (other != t && other->component == t->component && ccl_box_overlap (&other->box, &near) > 0)
      s.others[s.n_others++] = other;
  }
  return s;
}

/* The sum of the columns that a box covers which is moved by so many columns. */
static double
sum_at (const Search *s, int32_t moved)
{
  const double step = s->tracker->label_step, most = s->tracker->overlap.width;
  const double left = s->t->box.left / step + moved + 0.5, right = left + s->t->x.extent / step;
  return s->sums[(uint32_t)ccl_min (ccl_max (right, 0), most)] -
         s->sums[(uint32_t)ccl_min (ccl_max (left, 0), most)];
}

bool
ccl_tracker_place_by_colours (CclTracker *tracker, const Track *t, double *centre)
{
  if (!tracker->has_colours || t->whole_width <= 0)
    return false;
  const Search s = search_of (tracker, t);
  sum_columns (&s);
  const CclTrackerPicture *picture = tracker->picture;
  const double width = t->x.extent / tracker->label_step;
  const double row_step =
      ccl_max (picture->step_y, (double)tracker->overlap.step * tracker->label_step);
  const double pixels = t->x.extent * t->y.extent / (picture->step_x * row_step);
  const int32_t reach = (int32_t)(ccl_min (REACH * width, tracker->overlap.width) + 0.5);
  double best = ENOUGH;
  bool found = false;
  for (int32_t moved = -reach; moved <= reach; moved++) {
    const double way = moved / width, value = sum_at (&s, moved) / pixels - FARTHER * way * way;
    if (value <= best)
      continue;
    best = value;
    found = true;
    *centre = t->x.centre + (double)moved * tracker->label_step;
  }
  return found;
}
