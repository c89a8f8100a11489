/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fragments of objects: a component without a track inside the box of a track is a part of that
 * object, a separate object, or noise. The sizes of objects seen nearby decide. */
#include "tracking/tracker-private.h"

#define MAX_COMMON 0.3     /* of the narrower box's width that objects side by side share */
#define FRAGMENT_SLACK 0.2 /* sizes that a fragment may reach out of its track's box */

/* The track whose box contains the component and has the largest part covered by it, or NONE. */
static uint32_t
find_owner (const CclTracker *tracker, const CclBox *fragment)
{
  uint32_t owner = NONE;
  double most = 0;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *t = &tracker->tracks[i];
    if (!ccl_box_holds (&t->box, fragment, FRAGMENT_SLACK * ccl_track_size (t)))
      continue;
    const double part = ccl_box_overlap (&t->box, fragment) / ccl_box_area (&t->box);
    if (part > most) {
      most = part;
      owner = i;
    }
  }
  return owner;
}

void
ccl_component_add (Component *whole, const Component *part)
{
  const double share = part->area / (whole->area + part->area);
  whole->box = ccl_box_union (&whole->box, &part->box);
  whole->centroid_x += share * (part->centroid_x - whole->centroid_x);
  whole->centroid_y += share * (part->centroid_y - whole->centroid_y);
  whole->area += part->area;
  whole->whole = whole->whole && part->whole;
  whole->fragmented = true;
}

/* Whether two components are objects side by side by their heights. */
static bool
are_separate (const CclTracker *tracker, const CclBox *a, const CclBox *b)
{
  const double common = ccl_min (a->right, b->right) - ccl_max (a->left, b->left);
  return ccl_typical_height (&tracker->typical, a->bottom) > 0 &&
         !ccl_tracker_is_short (tracker, a) && !ccl_tracker_is_short (tracker, b) &&
         common < MAX_COMMON * ccl_min (a->right - a->left, b->right - b->left);
}

/* Classifies a component `c` that has no track and lies inside the box of a track:
 *
 *   - the track has no component: c becomes its component, unless it has the colours of another
 *     object;
 *   - both have the height of an object and stand side by side: c is another object;
 *   - the track's component is smaller than an object: c is a fragment and joins it;
 *   - else c is another object if it has the size of one, and noise if it has not.
 *
 * Where c is another object, the track's box was too large. */
static void
decide_fragment (CclTracker *tracker, Component *c, uint32_t owner)
{
  Track *t = &tracker->tracks[owner];
  const uint32_t component = (uint32_t)(c - tracker->components);
  if (t->component == NONE && ccl_tracker_has_other_colours (tracker, t, component))
    return;
  if (t->component == NONE) {
    t->component = component;
    c->n_members = 1;
    return;
  }
  Component *main = &tracker->components[t->component];
  if (are_separate (tracker, &main->box, &c->box))
    ccl_track_loosen (t);
  else if (main->n_members > 1 || !ccl_sizes_contain (&tracker->sizes, &main->box)) {
    ccl_component_add (main, c);
    c->owner = owner;
  } else if (ccl_sizes_contain (&tracker->sizes, &c->box)) {
    ccl_track_loosen (t);
  } else {
    c->ignored = true;
  }
}

void
ccl_tracker_join_fragments (CclTracker *tracker)
{
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    Component *c = &tracker->components[j];
    const uint32_t owner =
        c->n_members == 0 && c->stack == NONE ? find_owner (tracker, &c->box) : NONE;
    if (owner != NONE)
      decide_fragment (tracker, c, owner);
  }
}

/* A track that shares its component is a fragment of another object if it is short and has not gone
 * as far as its own size by itself, or if it was never alone for PROVEN_FRAMES and lacks the size
 * of an object while the component has it. */
bool
ccl_tracker_is_fragment (const CclTracker *tracker, const Track *t, const Component *c)
{
  if (ccl_tracker_is_short (tracker, &t->box) &&
      !(t->proven && ccl_track_is_farther (t, t->begin_x, t->begin_y, ccl_track_size (t))))
    return true;
  return !t->proven && ccl_sizes_contain (&tracker->sizes, &c->box) &&
         !ccl_sizes_contain (&tracker->sizes, &t->box);
}
