/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reunions: an object that was hidden need not come back where its track was predicted, because it
 * may have stopped or turned meanwhile. A component without a track is that object if it has its
 * width and height, if it can have come there from where the object was last, and if no other lost
 * track comes into question.
 */
#include "tracker-private.h"

#define MAX_RATIO 1.3 /* of extents before and after */
#define MAX_SPEED 1.0 /* sizes per second */
#define MIN_REACH 0.5 /* sizes */

static bool
can_be (const CclTracker *tracker, const Track *t, const CclBox *box)
{
  const double reach = MIN_REACH + MAX_SPEED * t->lost * tracker->frame_time;
  const double dx = 0.5 * (box->left + box->right) - t->last_x;
  const double dy = 0.5 * (box->top + box->bottom) - t->last_y;
  return t->confirmed && t->travelled && t->component == NONE && t->lost > 0 &&
         ccl_are_alike (t->x.extent, box->right - box->left, MAX_RATIO) &&
         ccl_are_alike (t->y.extent, box->bottom - box->top, MAX_RATIO) &&
         dx * dx + dy * dy <= reach * reach * t->x.extent * t->y.extent;
}

/* The only lost track that can be in the box, or NULL. */
static Track *
find_lost (const CclTracker *tracker, const CclBox *box)
{
  Track *found = NULL;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    if (!can_be (tracker, &tracker->tracks[i], box))
      continue;
    if (found)
      return NULL;
    found = &tracker->tracks[i];
  }
  return found;
}

bool
ccl_tracker_reunite (CclTracker *tracker, uint32_t component)
{
  Component *c = &tracker->components[component];
  Track *t = find_lost (tracker, &c->box);
  if (!t)
    return false;
  ccl_tracker_place (tracker, t, &c->box);
  t->component = component;
  c->n_members = 1;
  return true;
}
