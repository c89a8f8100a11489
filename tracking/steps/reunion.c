/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reunions: an object that was hidden need not come back where its track was predicted, because it
 * may have stopped or turned meanwhile. A component without a track is that object if it has its
 * width and height, if it can have come there from where the object was last, and if no other lost
 * track comes into question. */
#include "tracking/tracker-private.h"

#define MAX_RATIO 1.3 /* of extents before and after */
#define MAX_SPEED 1.0 /* sizes per second */
#define MIN_REACH 0.5 /* sizes */
#define FAR 3.0       /* times as far, where the colours are the object's */
#define UNKNOWN 0.5   /* how much colours that are not known are the object's */
#define SURE 0.7      /* colours that are the object's */
#define MARGIN 0.15   /* by which those of one object must be better than those of another one */

/* Whether a track may have left the component that it shares, or is lost. */
static bool
is_missed (const CclTracker *tracker, const Track *t)
{
  if (!t->confirmed || !t->travelled)
    return false;
  return t->component == NONE ? t->lost > 0 : tracker->components[t->component].n_members > 1;
}

/* How much the component is the track's object, 0…1. */
static double
likeness (const CclTracker *tracker, const Track *t, uint32_t component)
{
  const CclBox *box = &tracker->components[component].box;
  const double width = t->whole_width > 0 ? t->whole_width : t->x.extent;
  const double height = t->whole_width > 0 ? t->whole_height : t->y.extent;
  if (!is_missed (tracker, t) || !ccl_are_alike (width, box->right - box->left, MAX_RATIO) ||
      !ccl_are_alike (height, box->bottom - box->top, MAX_RATIO))
    return 0;
  const double known = ccl_tracker_compare_colours (tracker, t, component);
  const double colours = known < 0 ? UNKNOWN : known;
  const double reach =
      (colours >= SURE ? FAR : 1) * (MIN_REACH + MAX_SPEED * t->lost * tracker->frame_time);
  const double dx = 0.5 * (box->left + box->right) - t->last_x;
  const double dy = 0.5 * (box->top + box->bottom) - t->last_y;
  if (dx * dx + dy * dy > reach * reach * width * height ||
      (t->component != NONE && colours < SURE))
    return 0;
  return colours;
}

/* The lost track whose object the component can be: the only one, or the one whose colours it has,
 * if they are alike enough; or NULL. */
static Track *
find_missed (const CclTracker *tracker, uint32_t component, double enough)
{
  Track *found = NULL;
  double best = enough, second = 0;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const double like = likeness (tracker, &tracker->tracks[i], component);
    if (like > best) {
      second = found ? best : second;
      best = like;
      found = &tracker->tracks[i];
    } else {
      second = ccl_max (second, like);
    }
  }
  return found && second <= best - MARGIN ? found : NULL;
}

static void
take (CclTracker *tracker, Track *t, uint32_t component)
{
  Component *c = &tracker->components[component];
  if (t->component != NONE)
    tracker->components[t->component].n_members--;
  ccl_tracker_place (tracker, t, &c->box);
  t->component = component;
  c->n_members = 1;
}

bool
ccl_tracker_reunite (CclTracker *tracker, uint32_t component)
{
  Track *t = find_missed (tracker, component, UNKNOWN - MARGIN);
  if (t)
    take (tracker, t, component);
  return t != NULL;
}

/* An object that comes out from behind another one is seen in part at first: a narrow component
 * begins a new track. While this track is tentative, its colours can show that it is the hidden
 * object. */
void
ccl_tracker_reunite_tentative (CclTracker *tracker)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *young = &tracker->tracks[i];
    const uint32_t component = young->component;
    if (young->confirmed || component == NONE || tracker->components[component].n_members != 1)
      continue;
    Track *t = find_missed (tracker, component, SURE);
    if (!t)
      continue;
    take (tracker, t, component);
    young->component = NONE;
    young->travelled = true; /* so its end does not make the place restless */
  }
}
