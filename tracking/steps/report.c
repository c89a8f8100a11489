/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The result of a frame: tracks, their components, and events. */
#include "core/base/status.h"
#include "tracking/tracker-private.h"

#define MEASURED 0.6    /* how far a reported box is the component's */
#define MAX_WIDTHS 2.0  /* ratio of the widths of the component and of the track's box */
#define MAX_HEIGHTS 1.3 /* the same of the heights */

void
ccl_tracker_add_event (CclTracker *tracker, CclTrackEventKind kind, uint64_t id, uint64_t other)
{
  tracker->events[tracker->n_events++] = (CclTrackEvent){.kind = kind, .id = id, .other = other};
}

uint32_t
ccl_tracker_count_in_row (const CclTracker *tracker, uint32_t component)
{
  const Component *c = tracker->components;
  uint32_t first = component, n = 0;
  while (first > 0 && c[first - 1].row == c[component].row)
    first--;
  for (uint32_t j = first; j < tracker->n_components && c[j].row == c[component].row; j++)
    n += c[j].n_members;
  return n;
}

/* The row of the table that a track is in; NONE if it is in none. */
static uint32_t
row_of (const CclTracker *tracker, const Track *t)
{
  return t->component == NONE ? NONE : tracker->components[t->component].row;
}

/* The oldest confirmed track that shared a row with t in the frame before and no longer does
 * (before), or does so now and did not before (!before); 0 if there is none. */
static uint64_t
find_other (const CclTracker *tracker, const Track *t, bool before)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *o = &tracker->tracks[i];
    const bool together = o->component != NONE && row_of (tracker, o) == row_of (tracker, t);
    const bool were_together = o->previous != NONE && o->previous == t->previous;
    if (o != t && o->confirmed && o->component != NONE && together != before &&
        were_together == before)
      return o->id;
  }
  return 0;
}

void
ccl_tracker_find_events (CclTracker *tracker)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *t = &tracker->tracks[i];
    const bool shares =
        t->component != NONE && ccl_tracker_count_in_row (tracker, t->component) > 1;
    if (t->confirmed && !t->reported)
      ccl_tracker_add_event (tracker, CUDACCL_TRACK_APPEARED, t->id, 0);
    t->reported = t->confirmed;
    const uint64_t met = shares && t->reported ? find_other (tracker, t, false) : 0;
    const uint64_t left = t->shared && t->component != NONE ? find_other (tracker, t, true) : 0;
    if (met)
      ccl_tracker_add_event (tracker, CUDACCL_TRACK_MERGED, t->id, met);
    if (left)
      ccl_tracker_add_event (tracker, CUDACCL_TRACK_SPLIT, t->id, left);
    t->shared = shares;
  }
}

/* Counting sort by component. */
static uint32_t
list_members (CclTracker *tracker)
{
  uint32_t n = 0;
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    Component *c = &tracker->components[j];
    if (c->owner != NONE)
      c->owner = tracker->of_track[c->owner];
    tracker->member_end[j] = n;
    n += c->n_members + (c->owner != NONE);
    if (c->owner != NONE)
      tracker->members[tracker->member_end[j]++] = (CclTrackMember){c->row, c->owner};
  }
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const uint32_t j = tracker->tracks[i].component;
    if (j != NONE)
      tracker->members[tracker->member_end[j]++] = (CclTrackMember){tracker->components[j].row, i};
  }
  return n;
}

static CclTrackState
state_of (const Track *t, const CclTrackerOptions *options)
{
  if (!t->confirmed)
    return CUDACCL_TRACK_TENTATIVE;
  if (t->component == NONE)
    return CUDACCL_TRACK_LOST;
  return options->static_frames && t->rested >= options->static_frames ? CUDACCL_TRACK_STATIC
                                                                       : CUDACCL_TRACK_CONFIRMED;
}

/* Limbs swing faster than the box of a track changes its size. So what is reported is a box between
 * it and that of a component that is the object, whole and alone. */
static CclBox
box_of (const CclTracker *tracker, const Track *t)
{
  const Component *c = t->component == NONE ? NULL : &tracker->components[t->component];
  CclBox box = t->box;
  if (!c || c->n_members != 1 || !c->whole || c->fragmented ||
      !ccl_are_alike (t->x.extent, c->box.right - c->box.left, MAX_WIDTHS) ||
      !ccl_are_alike (t->y.extent, c->box.bottom - c->box.top, MAX_HEIGHTS))
    return box;
  box.left += MEASURED * (c->box.left - box.left);
  box.top += MEASURED * (c->box.top - box.top);
  box.right += MEASURED * (c->box.right - box.right);
  box.bottom += MEASURED * (c->box.bottom - box.bottom);
  return box;
}

void
ccl_tracker_report (
    CclTracker *tracker, const CclTable *table, const CclTrackerOptions *options, CclTracks *tracks)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *t = &tracker->tracks[i];
    const Component *c = t->component == NONE ? NULL : &tracker->components[t->component];
    const CclBox box = box_of (tracker, t);
    tracker->result[i] = (CclTrack){
        .id = t->id,
        .state = state_of (t, options),
        .age = (uint64_t)(t->age + 0.5),
        .lost = (uint64_t)(t->lost + 0.5),
        .label = c ? table->rows[c->row].label : 0,
        .n_sharing = c ? ccl_tracker_count_in_row (tracker, t->component) - 1 : 0,
        .x = box.left,
        .y = box.top,
        .width = box.right - box.left,
        .height = box.bottom - box.top,
        .velocity_x = t->x.velocity,
        .velocity_y = t->y.velocity,
    };
  }
  *tracks = (CclTracks){
      .n_tracks = tracker->n_tracks,
      .tracks = tracker->result,
      .n_members = list_members (tracker),
      .members = tracker->members,
      .n_events = tracker->n_events,
      .events = tracker->events,
  };
}

CclStatus
ccl_tracker_get_foot (
    const CclTracker *tracker, uint32_t track, CclTrackFoot *foot, CclError *error)
{
  if (!tracker || !foot || track >= tracker->n_tracks)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "there is no track %u, or nothing to be filled", track);
  const Track *t = &tracker->tracks[track];
  const CclAxis *x = &t->x, *y = &t->y;
  *foot = (CclTrackFoot){
      .x = x->centre,
      .y = ccl_axis_at (y, CUDACCL_AXIS_HIGH),
      .velocity_x = x->velocity,
      .velocity_y = y->velocity,
      .height = y->extent,
      /* The gain of the extent in a frame is its variance divided by that of a measured extent, the
       * difference of two edges. A filter that follows a ramp lags by the inverse of its gain. */
      .lag = 2 * ccl_track_variance (t, CUDACCL_EDGE_NOISE) / y->ee,
      .var_x = x->cc,
      .var_velocity_x = x->vv,
      .cov_x = x->cv,
      .var_y = ccl_axis_variance (y, CUDACCL_AXIS_HIGH),
      .var_velocity_y = y->vv,
      .cov_y = y->cv + CUDACCL_AXIS_HIGH * y->ve,
  };
  return CUDACCL_OK;
}
