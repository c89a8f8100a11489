/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* With pictures: the colours of components, and of the objects that they belong to. Colours are
 * learnt while an object is alone and has its size, and compared with components of its height
 * alone, because the bands of others are those of other parts of an object. */
#include "tracking/tracker-private.h"

#define MAX_RATIO 1.3  /* of the extents of box and component */
#define MIN_FRAMES 3   /* in which the colours of a track were learnt */
#define MIN_ALIKE 0.4  /* colours that are less alike are those of another object */
#define MEMORY 2.0     /* seconds over which colours are averaged */
#define MIN_MEMORY 5.0 /* frames */

static void
add_pixels (CclColours *colours, uint32_t band, const CclTrackerPicture *picture, uint32_t y,
    uint32_t begin, uint32_t end)
{
  if (begin >= end)
    return;
  colours->n_pixels[band] += end - begin;
  for (uint32_t i = 0; i < CUDACCL_COLOURS && picture->planes[i].data; i++) {
    const CclTrackerPlane *plane = &picture->planes[i];
    const uint8_t *row = plane->data + y * plane->stride;
    uint32_t sum = 0;
    for (uint32_t x = begin; x < end; x++)
      sum += row[(size_t)x * plane->distance];
    colours->sums[band][i] += sum;
  }
}

bool
ccl_tracker_picture_row (const CclTracker *tracker, const CclLabelRun *run, uint32_t *row)
{
  const uint32_t step = tracker->label_step, step_y = tracker->picture->step_y;
  *row = ccl_sampled (run->y * step, step_y) * step_y;
  return *row < (run->y + tracker->overlap.step) * step && *row < tracker->plan.height;
}

/* Adds the pixels from begin to before end of a row of the frame to the colours of a component. */
static void
add_run (CclTracker *tracker, const CclTrackerPicture *picture, uint32_t component, uint32_t row,
    double begin, double end)
{
  const Component *part = &tracker->components[component];
  const double left = ccl_max (begin, part->box.left), right = ccl_min (end, part->box.right);
  if (left >= right || row < part->box.top || row >= part->box.bottom)
    return;
  while (tracker->components[component].stack != NONE)
    component = tracker->components[component].stack;
  const CclBox *box = &tracker->components[component].box;
  const double place = (row - box->top) / (box->bottom - box->top);
  const uint32_t band = (uint32_t)ccl_min (CUDACCL_BANDS * place, CUDACCL_BANDS - 1);
  add_pixels (&tracker->colours[component], band, picture, row / picture->step_y,
      ccl_sampled ((uint32_t)left, picture->step_x),
      ccl_sampled ((uint32_t)right, picture->step_x));
}

/* The first component of each row of the table; a row of several objects is followed by others. */
static void
find_first_parts (CclTracker *tracker)
{
  uint32_t n = 0;
  for (uint32_t j = 0; j < tracker->n_components; j++)
    if (j == 0 || tracker->components[j].row != tracker->components[j - 1].row)
      tracker->first_part[n++] = j;
}

void
ccl_tracker_measure_colours (CclTracker *tracker, const CclTrackerPicture *picture)
{
  tracker->has_colours = picture != NULL && tracker->has_runs;
  tracker->picture = picture;
  if (!tracker->has_colours)
    return;
  memset (tracker->colours, 0, tracker->n_components * sizeof *tracker->colours);
  find_first_parts (tracker);
  const CclLabelOverlap *o = &tracker->overlap;
  const uint32_t step = tracker->label_step;
  for (uint32_t i = 0; i < o->n_runs; i++) {
    const CclLabelRun *run = &o->runs[i];
    uint32_t row;
    if (!ccl_tracker_picture_row (tracker, run, &row))
      continue;
    const uint32_t first = tracker->first_part[run->component];
    for (uint32_t j = first;
         j < tracker->n_components && tracker->components[j].row == tracker->components[first].row;
         j++)
      add_run (tracker, picture, j, row, run->begin * step, run->end * step);
  }
}

static bool
is_comparable (const Track *t, const CclBox *box)
{
  return ccl_are_alike (t->y.extent, box->bottom - box->top, MAX_RATIO);
}

static double
compare_colours (
    const CclTracker *tracker, const Track *t, uint32_t component, uint32_t least_frames)
{
  if (!tracker->has_colours || !is_comparable (t, &tracker->components[component].box))
    return -1;
  return ccl_appearance_compare (&t->appearance, &tracker->colours[component], least_frames);
}

double
ccl_tracker_compare_colours (const CclTracker *tracker, const Track *t, uint32_t component)
{
  return compare_colours (tracker, t, component, MIN_FRAMES);
}

double
ccl_tracker_compare_first_colours (const CclTracker *tracker, const Track *t, uint32_t component)
{
  return compare_colours (tracker, t, component, 1);
}

bool
ccl_tracker_has_other_colours (const CclTracker *tracker, const Track *t, uint32_t component)
{
  const double colours = ccl_tracker_compare_colours (tracker, t, component);
  return colours >= 0 && colours < MIN_ALIKE;
}

void
ccl_tracker_learn_colours (CclTracker *tracker, double elapsed)
{
  if (!tracker->has_colours)
    return;
  const double most = ccl_max (MEMORY / (tracker->frame_time * elapsed), MIN_MEMORY);
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *t = &tracker->tracks[i];
    const Component *c = t->component == NONE ? NULL : &tracker->components[t->component];
    if (c && c->n_members == 1 && !t->shared && c->whole && is_comparable (t, &c->box) &&
        ccl_are_alike (t->x.extent, c->box.right - c->box.left, MAX_RATIO)) {
      ccl_appearance_learn (&t->appearance, &tracker->colours[t->component], most);
      t->whole_width = t->x.extent;
      t->whole_height = t->y.extent;
    }
  }
}
