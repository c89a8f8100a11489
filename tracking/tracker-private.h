/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracker's data, and the steps of a run in their order. Each step is in a file of its own.
 *
 * A size is the square root of a box's area; standard deviations are in sizes of the object. */
#pragma once

#include <cudaccl/tracker.h>

#include "appearance.h"
#include "assignment.h"
#include "box.h"
#include "kalman.h"
#include "label-overlap.h"
#include "sizes.h"
#include "typical-size.h"

#include <math.h>
#include <string.h>

#define CUDACCL_EDGE_NOISE 0.12 /* standard deviation of a measured edge or centroid */
#define CUDACCL_LOOSE_EDGE 0.3  /* added to that of an edge that was found to be elsewhere */

#define CUDACCL_MIN_HEIGHT 0.75 /* typical heights below which a box is short, a fragment */

#define CUDACCL_TRAVEL_CELLS 32 /* of the memory of places, to the right and downwards */
#define CUDACCL_LARGE_CELLS 4   /* the same of tracks that were lost */

#define NONE UINT32_MAX

/* The number of those of `size` pixels that a sample has: 0, step, 2·step, … So this is also the
 * index of the first of them from `size` on. */
static inline uint32_t
ccl_sampled (uint32_t size, uint32_t step)
{
  return size / step + (size % step != 0);
}

/* How much the measured centre of an object trembles: second differences of its last places, while
 * it is alone and whole. */
typedef struct Tremble {
  double x[2], y[2]; /* the places before, the last one first */
  uint32_t n_places; /* in succession */
  double sum;        /* of the squares of n_differences second differences */
  uint32_t n_differences;
} Tremble;

typedef struct Track {
  uint64_t id;
  CclAxis x, y;
  CclBox box;         /* predicted, then corrected */
  uint32_t component; /* in this frame; or NONE */
  uint32_t previous;  /* row of its component in the frame before; or NONE */
  uint32_t group;     /* of the frame before, or CUDACCL_NO_GROUP */

  /* The content of the box, learnt while the object is alone and whole. */
  double fill;       /* pixels of the component per pixel of the box */
  double centroid_x; /* in extents from the box's centre */
  double centroid_y;
  uint32_t n_alone;            /* frames in succession */
  uint32_t n_misfits;          /* frames in succession */
  double sampled_x, sampled_y; /* where its size was stored last */
  bool sampled, proven;

  bool leapt;                              /* another track went on from here */
  bool leaps;                              /* it went on from another one */
  bool divided;                            /* began in a part of a divided component */
  bool confirmed, reported, ended, shared; /* shared: with another track, in the frame before */
  uint32_t n_found;                        /* runs; a tentative track ends when it is not found */
  double age, lost, hidden; /* frames since the first; since it was found; since an edge of its
                             * component was its own */
  double begin_x, begin_y;  /* where it began */
  double begin_width, begin_height; /* of its box there */
  double farthest;                  /* sizes that it was away from there */
  bool travelled;                   /* it went away from where it began */
  bool came_out;                    /* of a component with an object that had travelled */
  CclBox component_box;             /* of the component in which it was found last */
  CclBox row_box, begin_row_box;    /* of the row of the table, and of that in which it began */
  Tremble tremble;
  double last_x, last_y, path; /* where it was found last, and the length of its way to there */
  CclBox rest_box;             /* its place of rest */
  double rested;               /* frames */
  double n_larger; /* frames in succession in a component that is more than the object */
  CclAppearance appearance;
  double whole_width, whole_height; /* when its colours were learnt last; 0: not yet */
} Track;

typedef struct Component {
  CclBox box; /* box, area and centroid include its fragments */
  double area, centroid_x, centroid_y;
  uint32_t row; /* of the table; the objects that it is divided into are neighbours */
  CclBox row_box;
  uint32_t pixels;    /* its index in the overlap of label maps; NONE for a part of a row */
  uint32_t stack;     /* component that it is a part of, or NONE */
  uint32_t owner;     /* track that it is a fragment of, or NONE */
  uint32_t oldest;    /* of its members, after tracks have begun */
  uint32_t n_members; /* tracks that are in it */
  uint32_t left, top, right, bottom; /* members that are the outermost there */
  bool ignored;                      /* noise inside a track's box */
  bool whole;                        /* all of it is inside the frame */
  bool fragmented;
  bool travelled; /* of an object that has travelled */
  bool divided;   /* one of several objects that a row is divided into */
} Component;

/* A component with its fragments, and the tracks in it, in the frame before. */
typedef struct Group {
  double area;
  double motion_x, motion_y; /* sums of its tracks' predicted motions, pixels */
  uint32_t n_tracks;
} Group;

/* Tracks that were lost, or began, in the last seconds: how many, and the sum of the logarithms of
 * their sizes. */
typedef struct CclLostTracks {
  double n, logs;
} CclLostTracks;

struct CclTracker {
  CclTrackerPlan plan;
  double frame_time; /* seconds */
  double time;       /* seconds since the first frame */
  uint64_t last_id;
  CclSizes sizes;
  CclTypicalSize typical;

  /* Tracks that came to nothing, lately: in each cell, and in the whole picture. */
  double restless[CUDACCL_TRAVEL_CELLS][CUDACCL_TRAVEL_CELLS];
  double restless_picture;
  double refuted[CUDACCL_TRAVEL_CELLS][CUDACCL_TRAVEL_CELLS];

  /* The part of the last seconds in which something was in a cell that has not travelled. */
  double moving[CUDACCL_TRAVEL_CELLS][CUDACCL_TRAVEL_CELLS];
  CclLostTracks lost[CUDACCL_LARGE_CELLS][CUDACCL_LARGE_CELLS];
  CclLostTracks mistaken[CUDACCL_LARGE_CELLS][CUDACCL_LARGE_CELLS];
  CclLostTracks begun[CUDACCL_LARGE_CELLS][CUDACCL_LARGE_CELLS];

  Track *tracks;         /* in the order of their ids */
  Component *components; /* in the table's order */
  uint32_t n_tracks, n_components;

  uint32_t *first, *column; /* the assignment problem */
  double *cost;
  CclAssignmentScratch scratch;
  uint32_t *of_track; /* component assigned; later the track's new index */

  CclTrack *result;
  CclTrackMember *members;
  uint32_t *member_end; /* of each component's in the list of members */
  CclTrackEvent *events;
  uint32_t n_events;

  void *label_memory; /* of `overlap` and `groups`; NULL before the first label map */
  CclLabelOverlap overlap;
  uint32_t label_step; /* a label map has every label_step-th pixel and row of the frame */
  Group *groups;
  uint32_t *column_sums, *column_tops; /* of the component that is divided */
  double *column_likeness;             /* of a component, to a track's object */
  bool has_overlap;                    /* this frame and the one before have label maps */
  bool has_runs;                       /* this frame has one */
  CclColours *colours;                 /* of each component */
  uint32_t *first_part;                /* the first component of a row that is tracked */
  bool has_colours;                    /* this frame has them */
  const CclTrackerPicture *picture;    /* of this frame, if it has colours */
};

static inline double
ccl_track_size (const Track *t)
{
  return sqrt (t->x.extent * t->y.extent);
}

/* A variance in pixels² from a standard deviation in object sizes. */
static inline double
ccl_track_variance (const Track *t, double deviation)
{
  return deviation * deviation * t->x.extent * t->y.extent;
}

/* Whether the track's centre is farther from a point than a distance. */
static inline bool
ccl_track_is_farther (const Track *t, double x, double y, double distance)
{
  const double dx = t->x.centre - x, dy = t->y.centre - y;
  return dx * dx + dy * dy > distance * distance;
}

/* Whether the ratio of two extents is at most `ratio`, either way. */
static inline bool
ccl_are_alike (double a, double b, double ratio)
{
  return a <= ratio * b && b <= ratio * a;
}

/* Computes the box from the axes. */
static inline void
ccl_track_update_box (Track *t)
{
  t->x.extent = ccl_max (t->x.extent, 1);
  t->y.extent = ccl_max (t->y.extent, 1);
  t->box = (CclBox){ccl_axis_at (&t->x, CUDACCL_AXIS_LOW), ccl_axis_at (&t->y, CUDACCL_AXIS_LOW),
      ccl_axis_at (&t->x, CUDACCL_AXIS_HIGH), ccl_axis_at (&t->y, CUDACCL_AXIS_HIGH)};
}

/* Adds uncertainty to all edges. */
static inline void
ccl_track_loosen (Track *t)
{
  const double variance = ccl_track_variance (t, CUDACCL_LOOSE_EDGE);
  ccl_axis_loosen (&t->x, variance);
  ccl_axis_loosen (&t->y, variance);
}

/* predict.c: predicts the boxes of tracks `elapsed` frames on, and reads the component table. */
void ccl_tracker_predict (CclTracker *tracker, double elapsed);
void ccl_tracker_take_components (CclTracker *tracker, const CclTable *table);

/* stacks.c: learns the typical size of objects from components, and joins components that stand
 * one above the other. */
void ccl_tracker_learn_sizes (CclTracker *tracker, double elapsed);
void ccl_tracker_stack (CclTracker *tracker);

/* Whether a box is too short for an object at its place; false while that size is unknown. */
bool ccl_tracker_is_short (const CclTracker *tracker, const CclBox *box);

/* Whether a track is much too short for an object, and has not gone as far as a small one. */
bool ccl_tracker_is_small (const CclTracker *tracker, const Track *t);

/* side-by-side.c: divides components of several objects side by side. labels: of this frame, or
 * NULL; then nothing is divided. */
void ccl_tracker_divide (CclTracker *tracker, const CclTable *table, const CclLabels *labels);

/* Makes one object of the parts of a row, of which `first` is the first one. */
void ccl_tracker_join_row (CclTracker *tracker, uint32_t first);

/* pixels.c: label maps of successive frames. ccl_tracker_count_pixels() counts the pixels that
 * components have in common with those of the frame before; labels is NULL for a frame without a
 * label map. Memory is for label maps of that step, 0 or 1 for all pixels.
 * ccl_tracker_store_pixels() stores the frame for the next run. */
CclStatus ccl_tracker_allocate_pixels (CclTracker *tracker, uint32_t label_step, CclError *error);
void ccl_tracker_count_pixels (
    CclTracker *tracker, const CclTable *table, const CclLabels *labels, double elapsed);
void ccl_tracker_store_pixels (CclTracker *tracker, const CclLabels *labels);

/* Adds the pixels of a component to those of another one. */
void ccl_tracker_add_pixels (CclTracker *tracker, uint32_t component, uint32_t part);

/* The intersection over union of the component's pixels and those of the track's former one, where
 * they are known and belonged to this track alone; else 0. */
double ccl_tracker_pixel_overlap (const CclTracker *tracker, const Track *t, uint32_t component);

/* The part of the pixels of the track's former component that are in this one, 0…1; 1 where they
 * are not known. */
double ccl_tracker_pixel_part (const CclTracker *tracker, const Track *t, uint32_t component);

/* looks.c: measures the colours of components in a picture, or NULL. Compares those of a component
 * with those of a track: 0…1, or -1 where they cannot be compared, or, but for the first ones, were
 * learnt in less than three frames. Learns those of tracks. */
void ccl_tracker_measure_colours (CclTracker *tracker, const CclTrackerPicture *picture);
double ccl_tracker_compare_colours (const CclTracker *tracker, const Track *t, uint32_t component);
double ccl_tracker_compare_first_colours (
    const CclTracker *tracker, const Track *t, uint32_t component);
bool ccl_tracker_has_other_colours (const CclTracker *tracker, const Track *t, uint32_t component);
void ccl_tracker_learn_colours (CclTracker *tracker, double elapsed);

/* Sets the row of the frame that the picture has for a run of the label map; false: none. */
bool ccl_tracker_picture_row (const CclTracker *tracker, const CclLabelRun *run, uint32_t *row);

/* place-by-colours.c: sets the centre, on the x axis, of the track's object in a component that has
 * other objects, too. False if the colours do not tell. */
bool ccl_tracker_place_by_colours (CclTracker *tracker, const Track *t, double *centre);

/* associate.c: sets the components of tracks. */
void ccl_tracker_assign (CclTracker *tracker);
void ccl_tracker_share (CclTracker *tracker);

/* How well a box fits the predicted one of a track, 0…1. Sets `sharpness` to how certain the
 * prediction is, 0…1. */
double ccl_track_fit_box (const Track *t, const CclBox *box, double *sharpness);

/* Adds box, area and centroid of a part to a component. */
void ccl_component_add (Component *whole, const Component *part);

/* fragments.c: adds components without a track to the tracks that they are fragments of. */
void ccl_tracker_join_fragments (CclTracker *tracker);

/* Whether a track that shares the component is a fragment of another object. */
bool ccl_tracker_is_fragment (const CclTracker *tracker, const Track *t, const Component *c);

/* correct.c: corrects the boxes of tracks by their components. */
void ccl_tracker_correct (CclTracker *tracker, double elapsed);

/* travel.c: how far tracks go from where they began. ccl_track_add_step() takes the component in
 * which the track was found. ccl_tracker_way() is in pixels; ccl_track_size_of_way() is the size
 * that it is compared with. ccl_track_trembling() is in sizes. ccl_tracker_begins_inside() tells
 * whether the border of the frame did not cut the track when it began. ccl_tracker_came_out() tells
 * whether a track that begins with that box comes out of a component of the frame before with an
 * object that had travelled. */
void ccl_track_add_step (Track *t, const Component *c);
double ccl_track_size_of_way (const Track *t);
double ccl_track_trembling (const Track *t);
double ccl_tracker_way (const CclTracker *tracker, const Track *t);
bool ccl_tracker_begins_inside (const CclTracker *tracker, const Track *t);
void ccl_tracker_note_travel (const CclTracker *tracker, Track *t, double least_way);
bool ccl_tracker_may_confirm (const CclTracker *tracker, const Track *t, double least_way);
bool ccl_tracker_came_out (const CclTracker *tracker, const CclBox *box);

/* places.c: the memory of places where tracks ended. ccl_tracker_restlessness() is 0…1.
 * ccl_tracker_size_of_lost() is the typical size of tracks that were lost, or began, lately around
 * a place; 0 if they were not many. ccl_tracker_count_evidence() tells how many tracks around a
 * place say that another one comes to nothing: confirmed ones that had appeared inside the picture
 * and were lost, and those that began. ccl_tracker_stays_in_moving_place() tells whether a track
 * began where things move all the time that do not travel, and is still there.
 * ccl_tracker_remember_begin() takes a track that begins. ccl_tracker_remember_moving() takes the
 * components of a frame. ccl_tracker_remember_place() takes a track that ends because it was not
 * found, or is refuted. */
double ccl_tracker_restlessness (const CclTracker *tracker, double place_x, double place_y);
double ccl_tracker_size_of_lost (const CclTracker *tracker, double place_x, double place_y);
double ccl_tracker_count_evidence (const CclTracker *tracker, double place_x, double place_y);
bool ccl_tracker_was_refuted (const CclTracker *tracker, double place_x, double place_y);
bool ccl_tracker_stays_in_moving_place (const CclTracker *tracker, const Track *t);
void ccl_tracker_remember_refuted (CclTracker *tracker, const Track *t);
void ccl_tracker_remember_way (CclTracker *tracker, const Track *t);
void ccl_tracker_remember_begin (CclTracker *tracker, const Track *t);
void ccl_tracker_remember_place (CclTracker *tracker, const Track *t);
void ccl_tracker_forget_places (CclTracker *tracker, double elapsed);
void ccl_tracker_remember_moving (CclTracker *tracker, double elapsed);

#define CUDACCL_NEAR 2.0 /* sizes: what was farther away than this does not move in its place */

/* in-place.c: whether a track is like those that were lost around its begin; whether it lives
 * longer than they do; whether a confirmed track turns out not to be an object that travels;
 * whether a track that is not found in this frame and often was not is to end, at a restless place.
 */
bool ccl_tracker_is_like_nothing (const CclTracker *tracker, const Track *t);
bool ccl_tracker_outlives (const CclTracker *tracker, const Track *t);
bool ccl_tracker_is_refuted (const CclTracker *tracker, const Track *t);
bool ccl_tracker_flickers (const CclTracker *tracker, const Track *t);

/* leaps.c: whether the row of a component without tracks is the object of a tentative track that
 * was not found, farther away than its size. Then the row is one object, and the track's. Whether a
 * track is predicted to fill the box, too fast to be a group of people. */
bool ccl_tracker_leap (CclTracker *tracker, uint32_t component, double elapsed);
bool ccl_tracker_is_fast_object (const CclTracker *tracker, const CclBox *box);

/* reunion.c: whether a component without a track is the object of a lost track. Then it becomes its
 * component. ccl_tracker_reunite_tentative(): the same of those of tentative tracks, which end. */
bool ccl_tracker_reunite (CclTracker *tracker, uint32_t component);
void ccl_tracker_reunite_tentative (CclTracker *tracker);

/* life.c: begins tracks, counts their frames, ends them. ccl_tracker_place() puts a track into a
 * box, with unknown velocity. */
void ccl_tracker_place (const CclTracker *tracker, Track *t, const CclBox *box);
void ccl_tracker_begin (CclTracker *tracker, double elapsed);
void ccl_tracker_count (CclTracker *tracker, const CclTrackerOptions *options, double elapsed);
void ccl_tracker_end (CclTracker *tracker, const CclTrackerOptions *options);

/* report.c: events, and the result. ccl_tracker_count_in_row() counts the tracks in the row of the
 * table that a component is from. */
uint32_t ccl_tracker_count_in_row (const CclTracker *tracker, uint32_t component);
void ccl_tracker_add_event (
    CclTracker *tracker, CclTrackEventKind kind, uint64_t id, uint64_t other);
void ccl_tracker_find_events (CclTracker *tracker);
void ccl_tracker_report (CclTracker *tracker, const CclTable *table,
    const CclTrackerOptions *options, CclTracks *tracks);
