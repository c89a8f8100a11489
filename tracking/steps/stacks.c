/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stacks: components one above the other that have the height of one object together, such as head,
 * trunk and legs of a person. They become one component before tracks are assigned. */
#include "tracking/tracker-private.h"

#define MAX_PART 0.25     /* of the frame that a component may cover to be learnt */
#define LEAST_PART 0.0002 /* of the frame that it must cover */
#define MIN_PART 0.1      /* least height of a component that is stacked, typical heights */
#define MAX_STACK 1.35    /* greatest height of a stack, typical heights */
#define SMALL_HEIGHT 0.6  /* typical heights below which a track is small */
#define MIN_TRAVEL 1.0    /* own sizes after which a small track is an object */
#define MAX_ROWS 0.3      /* of the lower box that is beside a box that is not short */
#define MIN_COLUMN 0.5    /* of the narrower box's width that is above or below the other one */

/* A component that is a large part of the frame is a change of light, and a tiny one is noise,
 * which would count as much as objects in all frames without any. */
void
ccl_tracker_learn_sizes (CclTracker *tracker, double elapsed)
{
  const double frame = (double)tracker->plan.width * tracker->plan.height;
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    const Component *c = &tracker->components[j];
    const double area = ccl_box_area (&c->box);
    if (c->whole && area <= MAX_PART * frame && area >= LEAST_PART * frame)
      ccl_typical_size_learn (&tracker->typical, &c->box);
  }
  ccl_typical_size_end_frame (&tracker->typical, elapsed * tracker->frame_time);
}

bool
ccl_tracker_is_short (const CclTracker *tracker, const CclBox *box)
{
  const double height = ccl_typical_height (&tracker->typical, box->bottom);
  return box->bottom - box->top < CUDACCL_MIN_HEIGHT * height;
}

bool
ccl_tracker_is_small (const CclTracker *tracker, const Track *t)
{
  const double height = ccl_typical_height (&tracker->typical, t->box.bottom);
  return t->y.extent < SMALL_HEIGHT * height &&
         !ccl_track_is_farther (t, t->begin_x, t->begin_y, MIN_TRAVEL * ccl_track_size (t));
}

static bool
are_stacked (const CclTracker *tracker, const CclBox *a, const CclBox *b)
{
  const double common = ccl_min (a->right, b->right) - ccl_max (a->left, b->left);
  const double rows = ccl_min (a->bottom, b->bottom) - ccl_max (a->top, b->top);
  if (!ccl_tracker_is_short (tracker, b) &&
      rows > MAX_ROWS * ccl_min (a->bottom - a->top, b->bottom - b->top))
    return false;
  const CclBox both = ccl_box_union (a, b);
  return common >= MIN_COLUMN * ccl_min (a->right - a->left, b->right - b->left) &&
         both.bottom - both.top <= MAX_STACK * ccl_typical_height (&tracker->typical, both.bottom);
}

/* The component nearest above or below that is of the same object, or NONE. */
static uint32_t
find_neighbour (const CclTracker *tracker, uint32_t part)
{
  const CclBox *box = &tracker->components[part].box;
  uint32_t nearest = NONE;
  double least = 0;
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    const Component *c = &tracker->components[j];
    if (j == part || c->stack != NONE || !are_stacked (tracker, box, &c->box))
      continue;
    const double gap = ccl_max (box->top - c->box.bottom, c->box.top - box->bottom);
    if (nearest == NONE || gap < least) {
      least = gap;
      nearest = j;
    }
  }
  return nearest;
}

void
ccl_tracker_stack (CclTracker *tracker)
{
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    Component *c = &tracker->components[j];
    const double typical = ccl_typical_height (&tracker->typical, c->box.bottom);
    if (!ccl_tracker_is_short (tracker, &c->box) || c->box.bottom - c->box.top < MIN_PART * typical)
      continue;
    const uint32_t neighbour = find_neighbour (tracker, j);
    if (neighbour == NONE)
      continue;
    ccl_component_add (&tracker->components[neighbour], c);
    ccl_tracker_add_pixels (tracker, neighbour, j);
    c->stack = neighbour;
  }
}
