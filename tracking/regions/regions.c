/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A track has a state for each region. The states of the run before and the tracks of this run are
 * both in the order of identities, so one pass over both finds the tracks that go on, begin and
 * end. */
#include "regions-plan.h"
#include "speed-limit.h"
#include "core/base/status.h"
#include "core/base/struct-size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN -1.0

typedef struct Region {
  CclRegion definition; /* name and points are copies */
  Place *corners;
} Region;

/* The state of a track in a region or at a line. */
typedef struct Visit {
  bool inside;          /* since an event reported it */
  bool stayed;          /* as reported */
  int8_t crossed;       /* line: 1 forward or -1 backward, not reported yet; else 0 */
  uint32_t n_changed;   /* successive runs in which the track was found on the new side */
  uint64_t time_inside; /* since it was found inside first */
  uint64_t dwell;       /* the same until it was found inside last */
  double speed;         /* line: at the crossing; less than 0: not known */
  double speed_sum;     /* of the runs in which it was found inside */
  uint32_t n_speeds;
  CclSpeedLimit faster, slower;
} Visit;

typedef struct Visitor {
  uint64_t id;
  Place place;
  bool confirmed;
  double speed;    /* km/h, less than 0: not known */
  uint32_t visits; /* index of its first visit, one for each region */
} Visitor;

/* The tracks of a run. Each uses its own part of the visits. */
typedef struct Visitors {
  uint32_t n;
  Visitor *visitors;
  Visit *visits;
} Visitors;

struct CclRegions {
  CclRegionsPlan plan; /* regions: not used */
  Region *regions;
  Visitors now, before;
  CclRegionCounts *counts;
  CclRegionEvent *events;
  uint32_t n_events;
  bool reversed; /* in the present run */
};

static bool
is_between (int64_t value, int64_t a, int64_t b)
{
  return a < b ? a <= value && value <= b : b <= value && value <= a;
}

/* Counts the edges that a ray from the place to the right meets. */
static bool
is_inside (const Region *polygon, Place place)
{
  bool inside = false;
  for (uint32_t i = 0; i < polygon->definition.n_points; i++) {
    const Place a = polygon->corners[i];
    const Place b = polygon->corners[(i + 1) % polygon->definition.n_points];
    const int64_t side = ccl_place_area (a, b, place);
    if (side == 0 && is_between (place.x, a.x, b.x) && is_between (place.y, a.y, b.y))
      return true;
    if ((a.y > place.y) != (b.y > place.y) && (side > 0) == (b.y > a.y))
      inside = !inside;
  }
  return inside;
}

/* 1 if the movement crosses the line from left to right, -1 from right to left, else 0. A place on
 * the line counts as left of it, so a track that stops on the line and then goes on crosses it
 * once. */
static int8_t
find_crossing (const Region *line, Place from, Place to)
{
  const Place a = line->corners[0], b = line->corners[1];
  const bool from_right = ccl_place_area (a, b, from) > 0, to_right = ccl_place_area (a, b, to) > 0;
  if (from_right == to_right ||
      (ccl_place_area (from, to, a) > 0) == (ccl_place_area (from, to, b) > 0))
    return 0;
  return to_right ? 1 : -1;
}

static double
clamp (double value, double most)
{
  return fmax (0, fmin (value, fmin (most, CUDACCL_MAX_REGION_COORDINATE)));
}

static Place
place_of (const CclTrack *track, CclAnchor anchor, const CclRegionsPlan *plan)
{
  const double down = anchor == CUDACCL_ANCHOR_FOOT ? 1 : 0.5;
  return ccl_round_place (clamp (track->x + 0.5 * track->width, plan->width),
      clamp (track->y + down * track->height, plan->height));
}

static CclRegionEvent *
add_event (CclRegions *regions, uint32_t region, uint64_t id, CclRegionEventKind kind, double speed)
{
  CclRegionCounts *counts = &regions->counts[region];
  CclRegionEvent *event = &regions->events[regions->n_events++];
  *event = (CclRegionEvent){.kind = kind, .region = region, .id = id, .speed = speed};
  switch (kind) {
  case CUDACCL_REGION_ENTERED:
    counts->entered++;
    counts->inside++;
    break;
  case CUDACCL_REGION_LEFT:
    counts->left++;
    counts->inside--;
    break;
  case CUDACCL_REGION_STAYED:
    counts->stayed++;
    break;
  case CUDACCL_REGION_FORWARD:
    counts->forward++;
    break;
  case CUDACCL_REGION_BACKWARD:
    counts->backward++;
    break;
  case CUDACCL_REGION_FASTER:
    counts->faster++;
    break;
  case CUDACCL_REGION_SLOWER:
    counts->slower++;
    break;
  }
  return event;
}

static void
report_crossing (CclRegions *regions, uint32_t region, uint64_t id, Visit *visit)
{
  const CclRegion *line = &regions->regions[region].definition;
  const double speed = visit->speed;
  add_event (regions, region, id,
      (visit->crossed > 0) != regions->reversed ? CUDACCL_REGION_FORWARD : CUDACCL_REGION_BACKWARD,
      speed);
  if (line->faster_than > 0 && speed > line->faster_than)
    add_event (regions, region, id, CUDACCL_REGION_FASTER, speed);
  if (speed >= 0 && speed < line->slower_than)
    add_event (regions, region, id, CUDACCL_REGION_SLOWER, speed);
  visit->crossed = 0;
}

static void
report_leaving (CclRegions *regions, uint32_t region, uint64_t id, const Visit *visit)
{
  const double speed = visit->n_speeds > 0 ? visit->speed_sum / visit->n_speeds : UNKNOWN;
  add_event (regions, region, id, CUDACCL_REGION_LEFT, speed)->dwell = visit->dwell;
}

static void
update_line (CclRegions *regions, uint32_t region, const Visitor *visitor, Place from,
    uint32_t settle_frames, Visit *visit)
{
  const int8_t crossing = find_crossing (&regions->regions[region], from, visitor->place);
  if (crossing) { /* a crossing back cancels one that was not reported */
    visit->crossed = visit->crossed ? 0 : crossing;
    visit->n_changed = 0;
    visit->speed = visitor->speed;
  }
  if (visit->crossed && ++visit->n_changed >= settle_frames && visitor->confirmed)
    report_crossing (regions, region, visitor->id, visit);
}

/* Times and speeds of a track that is inside, or was before. */
static void
measure_visit (Visit *visit, const Visitor *visitor, bool inside)
{
  if (!visit->inside && visit->n_changed <= 1) {
    visit->time_inside = 0;
    visit->speed_sum = 0;
    visit->n_speeds = 0;
  }
  if (!inside)
    return;
  visit->dwell = visit->time_inside;
  if (visitor->speed >= 0) {
    visit->speed_sum += visitor->speed;
    visit->n_speeds++;
  }
}

/* The events of a track that is inside. */
static void
watch_visit (CclRegions *regions, uint32_t region, const Visitor *visitor, uint32_t settle_frames,
    Visit *visit)
{
  const CclRegion *r = &regions->regions[region].definition;
  const double speed = visitor->speed;
  if (r->stay > 0 && visit->time_inside >= r->stay && !visit->stayed) {
    add_event (regions, region, visitor->id, CUDACCL_REGION_STAYED, speed);
    visit->stayed = true;
  }
  if (ccl_speed_limit_exceeded (&visit->faster, speed, r->faster_than, true, settle_frames))
    add_event (regions, region, visitor->id, CUDACCL_REGION_FASTER, speed);
  if (ccl_speed_limit_exceeded (&visit->slower, speed, r->slower_than, false, settle_frames))
    add_event (regions, region, visitor->id, CUDACCL_REGION_SLOWER, speed);
}

static void
update_polygon (CclRegions *regions, uint32_t region, const Visitor *visitor,
    uint32_t settle_frames, Visit *visit)
{
  const bool inside = is_inside (&regions->regions[region], visitor->place);

  visit->n_changed = inside == visit->inside ? 0 : visit->n_changed + 1;
  measure_visit (visit, visitor, inside);
  if (visit->n_changed >= settle_frames && visitor->confirmed) {
    if (inside)
      add_event (regions, region, visitor->id, CUDACCL_REGION_ENTERED, visitor->speed);
    else
      report_leaving (regions, region, visitor->id, visit);
    visit->inside = inside;
    visit->n_changed = 0;
    visit->stayed = false;
    visit->faster = visit->slower = (CclSpeedLimit){0};
  }
  if (visit->inside)
    watch_visit (regions, region, visitor, settle_frames, visit);
}

/* A track that goes on; `before` is NULL for a new one. */
static void
update_visitor (CclRegions *regions, const CclTrack *track, double speed, const Visitor *before,
    uint64_t elapsed, const CclRegionsOptions *options)
{
  const uint32_t n_regions = regions->plan.n_regions;
  Visitor *visitor = &regions->now.visitors[regions->now.n];
  Visit *visits = &regions->now.visits[regions->now.n * n_regions];
  const bool is_found = track->state != CUDACCL_TRACK_LOST;
  const Place place = place_of (track, options->anchor, &regions->plan);

  visitor->id = track->id;
  visitor->confirmed = track->state != CUDACCL_TRACK_TENTATIVE;
  visitor->place = is_found || !before ? place : before->place;
  visitor->speed = speed;
  visitor->visits = regions->now.n * n_regions;
  regions->now.n++;
  if (before)
    memcpy (visits, &regions->before.visits[before->visits], n_regions * sizeof *visits);
  else
    memset (visits, 0, n_regions * sizeof *visits);
  for (uint32_t i = 0; i < n_regions; i++) {
    visits[i].time_inside += elapsed;
    if (!is_found)
      continue;
    if (regions->regions[i].definition.kind == CUDACCL_REGION_LINE)
      update_line (
          regions, i, visitor, before ? before->place : place, options->settle_frames, &visits[i]);
    else
      update_polygon (regions, i, visitor, options->settle_frames, &visits[i]);
  }
}

/* A track that ended leaves the regions that it was in, and has crossed the line that it passed
 * last. */
static void
end_visitor (CclRegions *regions, const Visitor *visitor)
{
  if (!visitor->confirmed)
    return;
  for (uint32_t i = 0; i < regions->plan.n_regions; i++) {
    Visit *visit = &regions->before.visits[visitor->visits + i];
    if (visit->crossed)
      report_crossing (regions, i, visitor->id, visit);
    if (visit->inside)
      report_leaving (regions, i, visitor->id, visit);
  }
}

static CclStatus
check_run (const CclRegions *regions, const CclTracks *tracks, const CclRegionsOptions *options,
    const CclRegionsResult *result, CclError *error)
{
  if (!regions || !tracks || !options || !result)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "regions, tracks, options and result must not be NULL");
  CclStatus status = ccl_struct_size_check (options, sizeof *options, error);
  if (status != CUDACCL_OK)
    return status;
  if (tracks->n_tracks > regions->plan.max_tracks)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "%u tracks are more than the %u that the regions were made for", tracks->n_tracks,
        regions->plan.max_tracks);
  if (tracks->n_tracks > 0 && !tracks->tracks)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "there are no tracks: their pointer is NULL");
  if (options->anchor != CUDACCL_ANCHOR_FOOT && options->anchor != CUDACCL_ANCHOR_CENTER)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "unknown anchor %d", (int)options->anchor);
  if (options->settle_frames < 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "settle_frames must be at least 1");
  for (uint32_t i = 1; i < tracks->n_tracks; i++)
    if (tracks->tracks[i].id <= tracks->tracks[i - 1].id)
      return ccl_error_set (
          error, CUDACCL_ERROR_ARGUMENT, "tracks must be in the order of their identities");
  return CUDACCL_OK;
}

CclStatus
ccl_regions_run (CclRegions *regions, const CclTracks *tracks, uint64_t elapsed,
    const CclRegionsOptions *options, CclRegionsResult *result, CclError *error)
{
  const CclStatus status = check_run (regions, tracks, options, result, error);
  if (status != CUDACCL_OK)
    return status;

  const Visitors former = regions->now;
  regions->now = regions->before;
  regions->before = former;
  regions->now.n = 0;
  regions->n_events = 0;
  regions->reversed = options->reversed;
  uint32_t b = 0;
  for (uint32_t i = 0; i < tracks->n_tracks; i++) {
    const CclTrack *track = &tracks->tracks[i];
    while (b < former.n && former.visitors[b].id < track->id)
      end_visitor (regions, &former.visitors[b++]);
    const bool goes_on = b < former.n && former.visitors[b].id == track->id;
    update_visitor (regions, track, options->speeds ? options->speeds[i] : UNKNOWN,
        goes_on ? &former.visitors[b++] : NULL, elapsed, options);
  }
  while (b < former.n)
    end_visitor (regions, &former.visitors[b++]);
  *result = (CclRegionsResult){regions->n_events, regions->events, regions->counts};
  return CUDACCL_OK;
}

bool
ccl_regions_is_inside (const CclRegions *regions, uint32_t track, uint32_t region)
{
  return track < regions->now.n && region < regions->plan.n_regions &&
         regions->now.visits[regions->now.visitors[track].visits + region].inside;
}

static bool
are_alike (const CclRegion *a, const CclRegion *b)
{
  return strcmp (a->name, b->name) == 0 && a->kind == b->kind && a->relative == b->relative &&
         a->stay == b->stay && a->faster_than == b->faster_than &&
         a->slower_than == b->slower_than && a->n_points == b->n_points &&
         memcmp (a->points, b->points, a->n_points * sizeof *a->points) == 0;
}

static void
inherit_region (CclRegions *regions, uint32_t region, const CclRegions *former, uint32_t source)
{
  CclRegionCounts *counts = &regions->counts[region];

  *counts = former->counts[source];
  /* Tracks that did not fit are not inside: nothing would report that they leave. */
  counts->inside = 0;
  for (uint32_t i = 0; i < regions->now.n; i++) {
    Visit *visit = &regions->now.visits[i * regions->plan.n_regions + region];
    *visit = former->now.visits[former->now.visitors[i].visits + source];
    counts->inside += visit->inside;
  }
}

void
ccl_regions_inherit (CclRegions *regions, const CclRegions *former)
{
  if (!regions || !former)
    return;
  regions->now.n =
      former->now.n < regions->plan.max_tracks ? former->now.n : regions->plan.max_tracks;
  for (uint32_t i = 0; i < regions->now.n; i++) {
    regions->now.visitors[i] = former->now.visitors[i];
    regions->now.visitors[i].visits = i * regions->plan.n_regions;
  }
  for (uint32_t i = 0; i < regions->plan.n_regions; i++)
    for (uint32_t j = 0; j < former->plan.n_regions; j++)
      if (are_alike (&regions->regions[i].definition, &former->regions[j].definition))
        inherit_region (regions, i, former, j);
}

void
ccl_regions_reset (CclRegions *regions)
{
  if (!regions)
    return;
  regions->now.n = 0;
  for (uint32_t i = 0; i < regions->plan.n_regions; i++)
    regions->counts[i].inside = 0;
}

/* FALSE if memory is short; then the region is free to be cleared. */
static bool
copy_region (Region *region, const CclRegion *from, const CclRegionsPlan *plan)
{
  const size_t size = from->n_points * sizeof *from->points;
  CclPoint *points = malloc (size);

  region->definition = *from;
  region->definition.name = strdup (from->name);
  region->definition.points = points;
  region->corners = calloc (from->n_points, sizeof *region->corners);
  if (!region->definition.name || !points || !region->corners)
    return false;
  memcpy (points, from->points, size);
  for (uint32_t i = 0; i < from->n_points; i++)
    region->corners[i] = ccl_region_corner (from, plan, i);
  return true;
}

static bool
allocate_visitors (Visitors *visitors, const CclRegionsPlan *plan)
{
  visitors->visitors = calloc (plan->max_tracks, sizeof *visitors->visitors);
  visitors->visits = calloc ((size_t)plan->max_tracks * (plan->n_regions + 1), sizeof (Visit));
  return visitors->visitors && visitors->visits;
}

CclRegions *
ccl_regions_new (const CclRegionsPlan *plan, CclError *error)
{
  if (ccl_regions_check_plan (plan, error) != CUDACCL_OK)
    return NULL;
  CclRegions *regions = calloc (1, sizeof *regions);
  /* In one run, max_tracks tracks may end and others begin: one that ends has at most three events,
   * those of a line that it has crossed, and one that begins in a region has four. */
  const size_t max_events = 7 * (size_t)plan->max_tracks * plan->n_regions + 1;
  bool complete = regions != NULL;
  if (complete) {
    regions->plan = *plan;
    regions->plan.regions = NULL;
    regions->regions = calloc (plan->n_regions + 1, sizeof *regions->regions);
    regions->counts = calloc (plan->n_regions + 1, sizeof *regions->counts);
    regions->events = calloc (max_events, sizeof *regions->events);
    complete = regions->regions && regions->counts && regions->events &&
               allocate_visitors (&regions->now, plan) &&
               allocate_visitors (&regions->before, plan);
  }
  for (uint32_t i = 0; complete && i < plan->n_regions; i++)
    complete = copy_region (&regions->regions[i], &plan->regions[i], plan);
  if (!complete) {
    ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for %u regions", plan->n_regions);
    ccl_regions_free (&regions);
  }
  return regions;
}

void
ccl_regions_free (CclRegions **regions)
{
  CclRegions *r = regions ? *regions : NULL;
  if (!r)
    return;
  for (uint32_t i = 0; r->regions && i < r->plan.n_regions; i++) {
    free ((char *)r->regions[i].definition.name);
    free ((CclPoint *)r->regions[i].definition.points);
    free (r->regions[i].corners);
  }
  free (r->regions);
  free (r->counts);
  free (r->events);
  free (r->now.visitors);
  free (r->now.visits);
  free (r->before.visitors);
  free (r->before.visits);
  free (r);
  *regions = NULL;
}
