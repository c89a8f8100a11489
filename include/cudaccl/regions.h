/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions and lines of a scene: named polygons that tracks enter, leave and stay in, and named
 * directed lines that tracks cross. The rules of labeller.h hold.
 *
 * Coordinates are those of CclTrack: pixels to the right and downwards, edges are between pixels,
 * so that pixel 0 spans 0 to 1. They are rounded to 1/256 pixel, and the geometry is exact in
 * integers from there on: the same tracks give the same events on every machine.
 *
 * Since: 0.2
 */
#ifndef CUDACCL_REGIONS_H
#define CUDACCL_REGIONS_H

#include <cudaccl/tracker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest number of regions and lines together, and of corners of one polygon. */
#define CUDACCL_MAX_REGIONS 256
#define CUDACCL_MAX_REGION_POINTS 1024

/* The largest coordinate of a corner in pixels; the smallest is its negative. */
#define CUDACCL_MAX_REGION_COORDINATE 1048576

typedef struct CclPoint {
  double x, y;
} CclPoint;

typedef enum CclRegionKind {
  CUDACCL_REGION_POLYGON = 0, /* A place on the border is inside. Corners may be in any order, the
                               * polygon may be concave, and where it overlaps itself twice it is
                               * outside (even-odd rule) */
  CUDACCL_REGION_LINE = 1,    /* A straight line from its first point to its second one */
} CclRegionKind;

/* The definition of a region or line. */
typedef struct CclRegion {
  const char *name; /* not empty, different from all others; UTF-8 */
  CclRegionKind kind;
  bool relative;     /* points are fractions of the frame's width and height instead of pixels */
  uint32_t n_points; /* 3…CUDACCL_MAX_REGION_POINTS for a polygon, 2 for a line */
  const CclPoint *points; /* not all on one line; those of a line are different */
  uint64_t stay; /* polygon: nanoseconds after which a track that is inside stays too long; 0: never
                  */

  /* Limits of the speed in km/h, 0…1e6; 0: none. They have an effect where speeds are known. */
  double faster_than, slower_than; /* Since: 0.3 */
} CclRegion;

/* The properties of a set of regions that are fixed when it is made. */
typedef struct CclRegionsPlan {
  size_t size;         /* of this struct in bytes, or 0 (labeller.h) */
  uint32_t width;      /* pixels, ≥ 1: of the tracker's frames */
  uint32_t height;     /* pixels, ≥ 1 */
  uint32_t max_tracks; /* 1…4096: of the tracker */
  uint32_t n_regions;  /* 0…CUDACCL_MAX_REGIONS */
  const CclRegion *regions;
} CclRegionsPlan;

/* The defaults of CclRegionsPlan: no regions. Width and height must be set. Since: 0.3 */
#define CUDACCL_REGIONS_PLAN_DEFAULT                                                               \
  {                                                                                                \
    .size = sizeof (CclRegionsPlan), .max_tracks = 1024                                            \
  }

/* The place of a track: a point of its box, moved into the frame. */
typedef enum CclAnchor {
  CUDACCL_ANCHOR_FOOT =
      0, /* the middle of the lower edge: where people and vehicles touch the ground
          */
  CUDACCL_ANCHOR_CENTER = 1, /* the middle of the box */
} CclAnchor;

/* Settings that may differ from frame to frame. */
typedef struct CclRegionsOptions {
  size_t size; /* of this struct in bytes, or 0 (labeller.h) */
  CclAnchor anchor;
  uint32_t settle_frames; /* ≥ 1: a track has entered, left or crossed when it was found on the new
                           * side in this number of successive runs. A box that trembles on a border
                           * gives no events. The same holds for a track beyond a limit of speed */
  const double *speeds; /* [n_tracks] in the tracks' order, km/h, less than 0: not known; only read
                         * during the call. NULL: none is known. Since: 0.3 */
  int reversed;         /* not 0: the pictures run backwards, so the tracks cross lines in the other
                         * direction than they seem to. Since: 0.4 */
} CclRegionsOptions;

/* The defaults of CclRegionsOptions. Since: 0.2 */
#define CUDACCL_REGIONS_OPTIONS_DEFAULT                                                            \
  {                                                                                                \
    .size = sizeof (CclRegionsOptions), .anchor = CUDACCL_ANCHOR_FOOT, .settle_frames = 3          \
  }

typedef enum CclRegionEventKind {
  CUDACCL_REGION_ENTERED = 0, /* the track is inside; also when it appeared there */
  CUDACCL_REGION_LEFT = 1,    /* the track is outside, or ended inside */
  CUDACCL_REGION_STAYED = 2,  /* the track is inside for the time `stay`; once until it leaves */
  CUDACCL_REGION_FORWARD = 3, /* the track crossed the line from its left side to its right side, as
                               * seen from the first point towards the second one */
  CUDACCL_REGION_BACKWARD = 4, /* the track crossed the line from right to left */
  CUDACCL_REGION_FASTER = 5,   /* the track is inside and faster than the limit, or crossed the line
                                * so fast; inside once until it has been below nine tenths of the
                                * limit. Since: 0.3 */
  CUDACCL_REGION_SLOWER = 6,   /* the same of slower tracks, once until it has been above eleven
                                * tenths. Since: 0.3 */
} CclRegionEventKind;

/* An event of a confirmed track. */
typedef struct CclRegionEvent {
  CclRegionEventKind kind;
  uint32_t region; /* index into CclRegionsPlan.regions */
  uint64_t id;     /* of the track */
  double
      speed;      /* km/h, less than 0: not known. Of a track that left, the mean while it was
                   * inside; of one that crossed a line, at the crossing; else of this run. Since: 0.3 */
  uint64_t dwell; /* nanoseconds that a track that left was inside; else 0. Since: 0.3 */
} CclRegionEvent;

/* The events of a region or line since it was made. */
typedef struct CclRegionCounts {
  uint64_t entered, left, stayed; /* of a region; 0 of a line */
  uint64_t forward, backward;     /* of a line; 0 of a region */
  uint32_t inside;                /* tracks that are inside the region now */
  uint64_t faster, slower;        /* Since: 0.3 */
} CclRegionCounts;

/* The result of a run. The arrays are in host memory, and valid until the next run or until the
 * regions are freed. */
typedef struct CclRegionsResult {
  uint32_t n_events;
  const CclRegionEvent *events; /* [n_events], by the tracks' identities, then by region */

  const CclRegionCounts *counts; /* one for each region and line, in the order of the plan */
} CclRegionsResult;

/* An opaque set of regions and lines with their tracks and counts. Since: 0.2 */
typedef struct CclRegions CclRegions;

/* Creates a set of regions. The plan is copied. Free it with ccl_regions_free().
 *
 * Returns the set, or NULL with the error filled: CUDACCL_ERROR_ARGUMENT, whose message names the
 * region, or CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.2 */
CUDACCL_API
CclRegions *ccl_regions_new (const CclRegionsPlan *plan, CclError *error);

/* Continues with the counts of another set, which stays as it is: a region that both sets define
 * alike keeps its counts, and its tracks do not enter it again. Of more tracks than the plan's
 * max_tracks, the oldest continue; the others are not inside any more. Call it before the first
 * run. `former` may be NULL. Since: 0.2 */
CUDACCL_API
void ccl_regions_inherit (CclRegions *regions, const CclRegions *former);

/* Finds the events of a frame. Tentative tracks have no events before they are confirmed. A lost
 * track stays at the place where it was last found. Allocates nothing.
 *
 * tracks: of ccl_tracker_run(); read only during the call.
 * elapsed: the time since the last run in nanoseconds.
 * result: filled on success.
 *
 * Returns CUDACCL_OK or CUDACCL_ERROR_ARGUMENT (nothing changed). Since: 0.2 */
CUDACCL_API
CclStatus ccl_regions_run (CclRegions *regions, const CclTracks *tracks, uint64_t elapsed,
    const CclRegionsOptions *options, CclRegionsResult *result, CclError *error);

/* Whether a track of the latest run is inside a region: from its event CUDACCL_REGION_ENTERED on,
 * until its event CUDACCL_REGION_LEFT.
 *
 * track: index into CclTracks.tracks of that run.
 * region: index into CclRegionsPlan.regions.
 *
 * Returns false for a line, and for indices that do not exist. `regions` must not be NULL. Not to
 * be called during a run. Since: 0.4 */
CUDACCL_API
bool ccl_regions_is_inside (const CclRegions *regions, uint32_t track, uint32_t region);

/* Removes all tracks without events, as ccl_tracker_reset() does; no track is inside then, and all
 * other counts stay. NULL is allowed. Since: 0.2 */
CUDACCL_API
void ccl_regions_reset (CclRegions *regions);

/* Frees a set of regions with all its memory, and sets the handle to NULL. Since: 0.2 */
CUDACCL_API
void ccl_regions_free (CclRegions **regions);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_REGIONS_H */
