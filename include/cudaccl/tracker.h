/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tracking of components: an identity for each object, from its first frame to its last, also
 * while it shares a component with other objects, is in several fragments, or is hidden for a short
 * time. Motion is used, and where there are pictures, colour. The rules of labeller.h hold.
 *
 * A tracker reads component tables in host memory, of CPU and GPU labellers alike, and label maps
 * where there are any. A run allocates nothing, except the first one with a label map. The same
 * sequence of tables and label maps gives the same tracks, bit for bit, on every machine.
 *
 * Method: the boxes of tracks are predicted and corrected by Kalman filters of constant velocity,
 * and components are assigned to tracks as a linear assignment problem, as in A. Bewley and others,
 * "Simple online and realtime tracking", ICIP 2016. Edges of boxes are measured one by one, with
 * weights of a Cauchy distribution; objects that share a component keep their sizes inside it. With
 * label maps, a component of several objects side by side is divided, and the assignment also
 * depends on the pixels that components of successive frames have in common after the predicted
 * motion. With pictures, the colours of an object by height distinguish objects that meet, part or
 * come back, as in A. Mittal and L. S. Davis, "M2Tracker: a multi-view approach to segmenting and
 * tracking people in a cluttered scene", International Journal of Computer Vision 51(3), 2003.
 *
 *   CclTrackerPlan plan = CUDACCL_TRACKER_PLAN_DEFAULT;
 *   CclTrackerOptions options = CUDACCL_TRACKER_OPTIONS_DEFAULT;
 *   CclTracks tracks;
 *   plan.width = 1920;
 *   plan.height = 1080;
 *   options.frame_rate = 25;
 *   CclTracker *tracker = ccl_tracker_new (&plan, &error);
 *   for each frame, with the table of ccl_labeller_run ():
 *     ccl_tracker_run (tracker, &table, NULL, 1, &options, &tracks, &error);
 *   ccl_tracker_free (&tracker);
 *
 * Since: 0.2
 */
#ifndef CUDACCL_TRACKER_H
#define CUDACCL_TRACKER_H

#include <cudaccl/labeller.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The properties of a tracker that are fixed when it is created. */
typedef struct CclTrackerPlan {
  size_t size;             /* of this struct in bytes, or 0 (labeller.h) */
  uint32_t width;          /* pixels, ≥ 1 */
  uint32_t height;         /* pixels, ≥ 1; width × height ≤ CUDACCL_MAX_PIXELS */
  uint32_t max_tracks;     /* 1…4096; while there are so many tracks, no new one begins */
  uint32_t max_components; /* 1…4096; of a table with more rows, only the largest components are
                            * tracked */
} CclTrackerPlan;

/* The defaults of CclTrackerPlan; width and height must be set. Since: 0.3 */
#define CUDACCL_TRACKER_PLAN_DEFAULT                                                               \
  {                                                                                                \
    .size = sizeof (CclTrackerPlan), .max_tracks = 1024, .max_components = 4096                    \
  }

/* A plane of a picture: a value of one byte for each of its pixels. Since: 0.4 */
typedef struct CclTrackerPlane {
  const uint8_t
      *data;     /* the value of the first pixel, in host memory; NULL: there is no such plane */
  size_t stride; /* bytes from a row to the next */
  uint32_t distance; /* bytes from a pixel to the next in a row, ≥ 1 */
} CclTrackerPlane;

/* The picture of a frame, or a sample of its pixels, with the colours of objects. Since: 0.4 */
typedef struct CclTrackerPicture {
  /* It has every step_x-th pixel of every step_y-th row of the frame, from the first ones on;
   * 1…4096. An object needs some six of these rows for its colours to be known. */
  uint32_t step_x, step_y;
  CclTrackerPlane
      planes[3]; /* luma, u and v, or red, green and blue; or grey alone, the first one */
} CclTrackerPicture;

/* Settings that may differ from frame to frame. */
typedef struct CclTrackerOptions {
  size_t size;             /* of this struct in bytes, or 0 (labeller.h) */
  uint32_t confirm_frames; /* ≥ 1: a track is confirmed when it was found in so many successive
                            * runs */
  uint32_t max_lost;       /* frames: a track ends when it was not found, or was hidden behind other
                            * objects, for longer; or sooner while more than 256 tracks, or more
                            * than half of max_tracks, are not found: those lost for longest end */
  uint32_t static_frames;  /* a track that stayed at its place for so many frames is static; 0:
                            * never */
  double frame_rate;   /* frames per second, 0.01…10000: how much objects can accelerate within
                        * a frame depends on it. 0: unknown, CUDACCL_TRACKER_FRAME_RATE is used */
  uint32_t label_step; /* label maps have every label_step-th pixel of every label_step-th row, from
                        * the first one on, and no others; 1…4096, 0 is 1: all pixels. A change
                        * makes the next label map a first one. Since: 0.3 */
  double least_way; /* 0…100, in sizes of the object (the square root of its box's area): a track
                     * must go at least so far before it is confirmed, with few turns and little
                     * trembling beside its way, unless it comes out of a component with an object
                     * that has done so. Where tracks end again and again that did not, such as
                     * leaves, more is asked for. 0: nothing of this. Since: 0.4 */
  uint32_t whole_objects; /* not 0: each row of the table is an object by itself, as the boxes of a
                           * detector are. Rows are neither divided nor joined, tracks share none,
                           * and sizes say nothing about what an object is. Since: 0.4 */
  const CclTrackerPicture *picture; /* of this frame, read only during the call; has an effect with
                                     * a label map. NULL: objects are distinguished by their motion
                                     * alone. Since: 0.4 */
} CclTrackerOptions;

/* The frame rate for CclTrackerOptions.frame_rate = 0. */
#define CUDACCL_TRACKER_FRAME_RATE 25

/* The defaults of CclTrackerOptions. Since: 0.2 */
#define CUDACCL_TRACKER_OPTIONS_DEFAULT                                                            \
  {                                                                                                \
    .size = sizeof (CclTrackerOptions), .confirm_frames = 3, .max_lost = 15, .static_frames = 50,  \
    .frame_rate = 0, .label_step = 1, .least_way = 0, .whole_objects = 0, .picture = NULL          \
  }

typedef enum CclTrackState {
  CUDACCL_TRACK_TENTATIVE = 0, /* new, and possibly noise */
  CUDACCL_TRACK_CONFIRMED = 1, /* found in confirm_frames successive runs, and has gone
                                  least_way */
  CUDACCL_TRACK_STATIC = 2,    /* confirmed, and at the same place for static_frames */
  CUDACCL_TRACK_LOST = 3,      /* confirmed, in no component of this frame; its box is predicted */
} CclTrackState;

/* One object. */
typedef struct CclTrack {
  uint64_t id; /* unique in the tracker's life, from 1 */
  CclTrackState state;
  uint64_t age;   /* frames since its first frame, dropped frames included */
  uint64_t lost;  /* frames since it was last found, dropped frames included; 0 unless it is lost */
  uint32_t label; /* of its component, or of its best fitting fragment where it is in several; 0
                   * when lost */
  uint32_t n_sharing; /* the number of other tracks in that component */

  /* The estimated box of the whole object in pixels: its upper left corner, and its size, ≥ 1.
   * Edges are between pixels, so pixel 0 spans 0 to 1. The box may reach out of the frame. */
  double x, y;
  double width, height;
  double velocity_x; /* pixels per frame, to the right */
  double velocity_y; /* pixels per frame, downwards */
} CclTrack;

typedef enum CclTrackEventKind {
  CUDACCL_TRACK_APPEARED = 0, /* the track was confirmed */
  CUDACCL_TRACK_VANISHED = 1, /* a confirmed track ended */
  CUDACCL_TRACK_MERGED = 2,   /* the track shares a component with another one that it did not share
                               * before */
  CUDACCL_TRACK_SPLIT = 3,    /* the track no longer shares a component with another one */
} CclTrackEventKind;

/* An event of a confirmed track in this frame. A track has at most one event of each kind per
 * frame. */
typedef struct CclTrackEvent {
  CclTrackEventKind kind;
  uint64_t id;    /* of the track */
  uint64_t other; /* merged and split: the oldest of the other tracks, which have the event, too;
                   * else 0 */
} CclTrackEvent;

/* A track that is in a component. A component of several objects has several members; an object in
 * fragments is a member of several components. */
typedef struct CclTrackMember {
  uint32_t row;   /* of the component table */
  uint32_t track; /* index into CclTracks.tracks */
} CclTrackMember;

/* The tracks of a frame. The arrays are the tracker's, in host memory; they are valid until its
 * next run or until it is freed. */
typedef struct CclTracks {
  uint32_t n_tracks;
  const CclTrack *tracks; /* [n_tracks], in the order of their ids */

  uint32_t n_members;
  const CclTrackMember *members; /* [n_members], in the order of rows */

  uint32_t n_events;
  const CclTrackEvent *events; /* [n_events] */
} CclTracks;

/* An opaque tracker. Since: 0.2 */
typedef struct CclTracker CclTracker;

/* Creates a tracker. Free it with ccl_tracker_free().
 *
 * It uses 12 bytes for each pair of a track and a component, as far as they are near each other.
 * From the first label map on, it uses 4 more bytes for each such pair, 2 for each pixel of the
 * rows that are compared, and 168 for each component.
 *
 * Returns the tracker, or NULL with the error filled: CUDACCL_ERROR_ARGUMENT or
 * CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.2 */
CUDACCL_API
CclTracker *ccl_tracker_new (const CclTrackerPlan *plan, CclError *error);

/* Tracks the components of the next frame.
 *
 * table: the components of a frame of the planned size; read only during the call. Without a label
 *   map, rows may be in any order, and their labels are only copied to the result.
 * labels: the frame's label map in host memory, or a sample of its pixels (label_step), read only
 *   during the call, or NULL. With it, rows are in the order of their labels, and pixels count
 *   whose labels are in the table, within the boxes of its rows. It has an effect if the run before
 *   had a label map, too: a track then prefers the component that has the pixels of its former one,
 *   moved by the predicted motion. This distinguishes objects whose boxes overlap. Every label map
 *   divides components of several objects side by side; their tracks share the component. Of maps
 *   of 540 rows or more, every second, third, … row is compared, at least 270 rows.
 * elapsed: the time since the last run in frames, greater than 0 and at most 1000: 1 when no frame
 *   was dropped, 2 when one was. The first run ignores it.
 * tracks: filled on success.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT, or CUDACCL_ERROR_NO_MEMORY at the first label map;
 * after an error the tracks are as before. Since: 0.2 */
CUDACCL_API
CclStatus ccl_tracker_run (CclTracker *tracker, const CclTable *table, const CclLabels *labels,
    double elapsed, const CclTrackerOptions *options, CclTracks *tracks, CclError *error);

/* The foot point of a track, the middle of its box's lower edge, with the uncertainty of the Kalman
 * filters, one for each axis, whose errors are independent of each other. Since: 0.3 */
typedef struct CclTrackFoot {
  double x, y;                   /* pixels */
  double velocity_x, velocity_y; /* of the middle of the box, pixels per frame */
  double height;                 /* of the box, pixels */
  double lag; /* frames by which the height follows late while the box grows or shrinks */

  /* Variances of the foot point and of the velocity, and their covariance. */
  double var_x, var_velocity_x, cov_x;
  double var_y, var_velocity_y, cov_y;
} CclTrackFoot;

/* The foot point of a track of the last run.
 *
 * track: index into CclTracks.tracks.
 * foot: filled on success.
 *
 * Returns CUDACCL_OK, or CUDACCL_ERROR_ARGUMENT if there is no such track. Since: 0.3 */
CUDACCL_API
CclStatus ccl_tracker_get_foot (
    const CclTracker *tracker, uint32_t track, CclTrackFoot *foot, CclError *error);

/* Removes all tracks, without events, as after a cut. Identities are not used again. NULL is
 * allowed. Since: 0.2 */
CUDACCL_API
void ccl_tracker_reset (CclTracker *tracker);

/* Frees a tracker with all its memory, and sets the handle to NULL. Since: 0.2 */
CUDACCL_API
void ccl_tracker_free (CclTracker **tracker);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_TRACKER_H */
