/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fragments of objects: a component without a track inside the box of a track is a part of that
 * object, a separate object, or noise. The sizes of objects seen nearby decide.
 */
#include "tracker-private.h"

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

static void
add_fragment (Component *whole, Component *fragment, uint32_t owner)
{
  const double part = fragment->area / (whole->area + fragment->area);
  whole->box = ccl_box_union (&whole->box, &fragment->box);
  whole->centroid_x += part * (fragment->centroid_x - whole->centroid_x);
  whole->centroid_y += part * (fragment->centroid_y - whole->centroid_y);
  whole->area += fragment->area;
  whole->whole = whole->whole && fragment->whole;
  whole->fragmented = true;
  fragment->owner = owner;
}

/* Classifies a component without a track inside the box of a track. It is a fragment, unless the
 * track's component has the size of an object. Then it is an object if it has the size of one, and
 * the box was too large; else it is noise. */
static void
decide_fragment (CclTracker *tracker, Component *c, uint32_t owner)
{
  Track *t = &tracker->tracks[owner];
  if (t->component == NONE) {
    t->component = (uint32_t)(c - tracker->components);
    c->n_members = 1;
    return;
  }
  Component *main = &tracker->components[t->component];
  if (main->n_members > 1 || !ccl_sizes_contain (&tracker->sizes, &main->box))
    add_fragment (main, c, owner);
  else if (ccl_sizes_contain (&tracker->sizes, &c->box))
    ccl_track_loosen (t);
  else
    c->ignored = true;
}

void
ccl_tracker_join_fragments (CclTracker *tracker)
{
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    Component *c = &tracker->components[j];
    const uint32_t owner = c->n_members == 0 ? find_owner (tracker, &c->box) : NONE;
    if (owner != NONE)
      decide_fragment (tracker, c, owner);
  }
}

/* A track that shares its component is a fragment of another object if it was never alone for
 * PROVEN_FRAMES, and lacks the size of an object while the component has it. */
bool
ccl_tracker_is_fragment (const CclTracker *tracker, const Track *t, const Component *c)
{
  return !t->proven && ccl_sizes_contain (&tracker->sizes, &c->box) &&
         !ccl_sizes_contain (&tracker->sizes, &t->box);
}
