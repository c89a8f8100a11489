/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tracks begin with components that have no track, are confirmed, rest, and end when they are lost.
 */
#include "tracking/tracker-private.h"

#define FIRST_VELOCITY 2.5 /* standard deviation of a new track's velocity, sizes per second */
#define PROVEN_FRAMES 10   /* frames alone in a component after which a track is one object */
#define DIVIDED_FRAMES 5   /* in which an object was found, if it began in a divided component */
#define REST_RADIUS 0.25   /* sizes that an object at rest may move */
#define MAX_LOST 256       /* tracks that are lost at a time */
#define MIN_VISIBLE 0.4    /* least part of a lost track's box inside the frame */

void
ccl_tracker_place (const CclTracker *tracker, Track *t, const CclBox *box)
{
  const double area = ccl_box_area (box);
  const double edge = CUDACCL_EDGE_NOISE * CUDACCL_EDGE_NOISE * area;
  const double deviation = FIRST_VELOCITY * tracker->frame_time;
  const double velocity = deviation * deviation * area;
  t->x = ccl_axis_new (box->left, box->right, edge, velocity);
  t->y = ccl_axis_new (box->top, box->bottom, edge, velocity);
  ccl_track_update_box (t);
}

static void
begin_track (CclTracker *tracker, uint32_t component)
{
  if (tracker->n_tracks == tracker->plan.max_tracks)
    return;
  Component *c = &tracker->components[component];
  const bool came_out = ccl_tracker_came_out (tracker, &c->box);
  Track *t = &tracker->tracks[tracker->n_tracks++];
  *t = (Track){
      .id = ++tracker->last_id,
      .component = component,
      .previous = NONE,
      .group = CUDACCL_NO_GROUP,
      .fill = c->area / ccl_box_area (&c->box),
      .divided = c->divided,
      .came_out = came_out,
      .begin_row_box = c->row_box,
  };
  ccl_tracker_place (tracker, t, &c->box);
  t->begin_x = t->last_x = t->x.centre;
  t->begin_y = t->last_y = t->y.centre;
  t->rest_box = t->box;
  t->begin_width = t->x.extent;
  t->begin_height = t->y.extent;
  ccl_tracker_remember_begin (tracker, t);
  c->n_members = 1;
}

/* A part of a stack belongs to the oldest track of the stack. */
static void
set_owners_of_parts (CclTracker *tracker)
{
  for (uint32_t i = tracker->n_tracks; i-- > 0;)
    if (tracker->tracks[i].component != NONE)
      tracker->components[tracker->tracks[i].component].oldest = i;
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    uint32_t k = j;
    while (tracker->components[k].stack != NONE)
      k = tracker->components[k].stack;
    if (k == j)
      continue;
    const Component *whole = &tracker->components[k];
    tracker->components[j].owner = whole->n_members > 0 ? whole->oldest : whole->owner;
  }
}

static bool
is_new (const Component *c)
{
  return c->n_members == 0 && c->owner == NONE && c->stack == NONE && !c->ignored;
}

/* Whether a component is the first part of its row, and no part of it has a track. */
static bool
begins_new_row (const CclTracker *tracker, uint32_t component)
{
  const Component *components = tracker->components;
  const uint32_t row = components[component].row;
  if (component > 0 && components[component - 1].row == row)
    return false;
  uint32_t j = component;
  while (j < tracker->n_components && components[j].row == row && is_new (&components[j]))
    j++;
  return j == tracker->n_components || components[j].row != row;
}

void
ccl_tracker_begin (CclTracker *tracker, double elapsed)
{
  for (uint32_t j = 0; j < tracker->n_components; j++)
    if (is_new (&tracker->components[j]) && !ccl_tracker_reunite (tracker, j) &&
        !(begins_new_row (tracker, j) && ccl_tracker_leap (tracker, j, elapsed)))
      begin_track (tracker, j);
  set_owners_of_parts (tracker);
}

static void
count_frames (CclTracker *tracker, Track *t, const CclTrackerOptions *options, double elapsed)
{
  if (t->component == NONE) {
    t->lost += elapsed;
  } else {
    t->n_found++;
    t->lost = 0;
    ccl_track_add_step (t, &tracker->components[t->component]);
  }
  ccl_tracker_note_travel (tracker, t, options->least_way);
  const uint32_t least = t->divided && options->confirm_frames < DIVIDED_FRAMES
                             ? DIVIDED_FRAMES
                             : options->confirm_frames;
  t->confirmed = t->confirmed || (t->n_found >= least && !ccl_tracker_is_small (tracker, t) &&
                                     ccl_tracker_may_confirm (tracker, t, options->least_way));
  /* The box of an object that the background model learns little by little shrinks: no motion. */
  if (ccl_box_reach (&t->rest_box, &t->box) > REST_RADIUS * ccl_track_size (t)) {
    t->rest_box = t->box;
    t->rested = 0;
  } else {
    t->rested += elapsed;
  }
}

/* Stores the size of an object that was alone and whole for PROVEN_FRAMES, once at each place. */
static void
store_size (CclTracker *tracker, Track *t)
{
  const Component *c = t->component == NONE ? NULL : &tracker->components[t->component];
  t->n_alone = c && c->n_members == 1 && !c->fragmented ? t->n_alone + 1 : 0;
  if (t->n_alone < PROVEN_FRAMES)
    return;
  t->proven = true;
  if (!t->confirmed || !c->whole ||
      (t->sampled && !ccl_track_is_farther (t, t->sampled_x, t->sampled_y, ccl_track_size (t))))
    return;
  ccl_sizes_add (&tracker->sizes, &t->box);
  t->sampled = true;
  t->sampled_x = t->x.centre;
  t->sampled_y = t->y.centre;
}

void
ccl_tracker_count (CclTracker *tracker, const CclTrackerOptions *options, double elapsed)
{
  ccl_tracker_forget_places (tracker, elapsed);
  ccl_tracker_remember_moving (tracker, elapsed);
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    count_frames (tracker, &tracker->tracks[i], options, elapsed);
    store_size (tracker, &tracker->tracks[i]);
    ccl_tracker_remember_way (tracker, &tracker->tracks[i]);
  }
}

/* Whether a confirmed track turns out to follow no travelling object. Never without a least way. */
static bool
is_refuted (const CclTracker *tracker, const Track *t, const CclTrackerOptions *options)
{
  return options->least_way > 0 && ccl_tracker_is_refuted (tracker, t);
}

static bool
has_ended (const CclTracker *tracker, const Track *t, const CclTrackerOptions *options)
{
  if (is_refuted (tracker, t, options))
    return true;
  if (t->component != NONE) {
    const Component *c = &tracker->components[t->component];
    return c->n_members > 1 && (!t->confirmed || t->hidden > options->max_lost ||
                                   ccl_tracker_is_fragment (tracker, t, c));
  }
  const CclBox frame = {0, 0, tracker->plan.width, tracker->plan.height};
  return !t->confirmed || t->lost > options->max_lost ||
         (options->least_way > 0 && ccl_tracker_flickers (tracker, t)) ||
         ccl_box_overlap (&t->box, &frame) < MIN_VISIBLE * ccl_box_area (&t->box);
}

/* The greatest number of tracks that are lost, at most half of all. */
static uint32_t
most_lost (const CclTrackerPlan *plan)
{
  const uint32_t half = (plan->max_tracks + 1) / 2;
  return half < MAX_LOST ? half : MAX_LOST;
}

static bool
is_lost (const Track *t)
{
  return t->component == NONE && !t->ended;
}

/* Ends the tracks that are lost for longest, so that what flickers at a high frame rate neither
 * takes the place of new tracks nor makes each frame slower. */
static void
limit_lost (CclTracker *tracker)
{
  uint32_t n_lost = 0;
  for (uint32_t i = 0; i < tracker->n_tracks; i++)
    n_lost += is_lost (&tracker->tracks[i]);
  for (const uint32_t most = most_lost (&tracker->plan); n_lost > most; n_lost--) {
    Track *longest = NULL;
    for (uint32_t i = 0; i < tracker->n_tracks; i++) {
      Track *t = &tracker->tracks[i];
      if (is_lost (t) && (!longest || t->lost > longest->lost))
        longest = t;
    }
    longest->ended = true;
  }
}

/* From the latest to the oldest: of two tracks in one component, the older one stays. */
void
ccl_tracker_end (CclTracker *tracker, const CclTrackerOptions *options)
{
  for (uint32_t i = tracker->n_tracks; i-- > 0;) {
    Track *t = &tracker->tracks[i];
    t->ended = has_ended (tracker, t, options);
    if (t->ended && t->component != NONE)
      tracker->components[t->component].n_members--;
  }
  limit_lost (tracker);
  uint32_t n = 0;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *t = &tracker->tracks[i];
    tracker->of_track[i] = t->ended ? NONE : n;
    if (!t->ended)
      tracker->tracks[n++] = *t;
    else if (t->reported)
      ccl_tracker_add_event (tracker, CUDACCL_TRACK_VANISHED, t->id, 0);
    const bool refuted = t->ended && is_refuted (tracker, t, options);
    if (refuted)
      ccl_tracker_remember_refuted (tracker, t);
    if (t->ended && (t->component == NONE || refuted))
      ccl_tracker_remember_place (tracker, t);
  }
  tracker->n_tracks = n;
}
