/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ends confirmed tracks that turn out to follow no travelling object. A flag, a branch or a
 * pendulum moves to one side at first, and then comes back again and again; a wave has the size of
 * the other waves. A person who walked in, or has gone far, may stay at a place. */
#include "tracking/tracker-private.h"

#define SAME_SIZE 3.0        /* times the size of lost tracks: a larger track is not like them */
#define SAME_SIZE_BORDER 5.0 /* the same of one that came in at the border, by its size now */
#define YOUNG 5.0            /* seconds in which a track that is like the lost ones may end */
#define OUTLIVING 2.0        /* seconds after which a track is none of the lost ones, */
#define PER_MISTAKE 1.0    /* or so many for each mistake around its begin, or BEGUN_PER_MISTAKE, */
#define MOST_OUTLIVING 3.0 /* but at most so many, */
#define STEADILY_FOUND 0.9 /* if it was found in so many of its frames, */
#define OUTLIVING_WAY 2.0  /* and has gone so many sizes */
#define OUTLIVING_STRAIGHT 0.85 /* and that part of its path */
#define OUTLIVING_STEADY 20.0   /* and so many standard deviations of its trembling */
#define VERY_FAR 7.0            /* sizes of way after which mistakes do not count */
#define VERY_STRAIGHT 0.9       /* least part of its path then */
#define WINDING 0.5             /* of a path: the least way of a track that is like lost ones */
#define WATCHED 3.0             /* seconds, and */
#define LONG_PATH 2.0           /* sizes of its path after which a track has shown where it goes */
#define RETURNING 0.33          /* of a path: the least way of a track that begins inside */
#define FLICKERING 0.8          /* of its frames in which a track was found at least, */
#define FLICKERING_TIME 0.2     /* or it ends after so many seconds without a component, */
#define FLICKERING_FRAMES 1     /* and so many frames */
#define MIN_RESTLESS 0.5        /* where its place is restless */

/* Waves that meet become larger, so the size with which a track began counts, too. */
bool
ccl_tracker_is_like_nothing (const CclTracker *tracker, const Track *t)
{
  const double lost = ccl_tracker_size_of_lost (tracker, t->begin_x, t->begin_y);
  const double size = ccl_track_size (t), begin = sqrt (t->begin_width * t->begin_height);
  return ccl_tracker_begins_inside (tracker, t) ? ccl_min (size, begin) <= SAME_SIZE * lost
                                                : size <= SAME_SIZE_BORDER * lost;
}

/* Whether the track went so far and so straight that no mistake around its begin says otherwise. */
static bool
goes_on (const CclTracker *tracker, const Track *t)
{
  const double way = ccl_tracker_way (tracker, t);
  return way >= VERY_FAR * ccl_track_size_of_way (t) && way >= VERY_STRAIGHT * t->path;
}

/* An object among waves or in the rain is found again and again, and goes straight on; what is
 * taken for one object in waves goes to and fro. Where tracks that appeared inside the picture did
 * so and yet were mistakes, another one must do so for longer. */
bool
ccl_tracker_outlives (const CclTracker *tracker, const Track *t)
{
  const double size = ccl_track_size_of_way (t), way = ccl_tracker_way (tracker, t);
  const double mistakes = ccl_tracker_begins_inside (tracker, t) && !goes_on (tracker, t)
                              ? ccl_tracker_count_evidence (tracker, t->begin_x, t->begin_y)
                              : 0;
  const double time = ccl_max (OUTLIVING, ccl_min (PER_MISTAKE * mistakes, MOST_OUTLIVING));
  return t->age * tracker->frame_time >= time && t->n_found >= STEADILY_FOUND * t->age &&
         way >= OUTLIVING_STRAIGHT * t->path &&
         way >= ccl_max (OUTLIVING_WAY, OUTLIVING_STEADY * ccl_track_trembling (t)) * size;
}

static bool
moves_in_place (const CclTracker *tracker, const Track *t)
{
  return t->age * tracker->frame_time > WATCHED && ccl_tracker_begins_inside (tracker, t) &&
         t->farthest < CUDACCL_NEAR && t->path > LONG_PATH * ccl_track_size_of_way (t) &&
         ccl_tracker_way (tracker, t) < RETURNING * t->path;
}

static bool
comes_to_nothing (const CclTracker *tracker, const Track *t)
{
  if (!ccl_tracker_is_like_nothing (tracker, t))
    return false;
  const bool is_young = t->age * tracker->frame_time < YOUNG;
  return (is_young && ccl_tracker_begins_inside (tracker, t) &&
             !ccl_tracker_outlives (tracker, t)) ||
         (t->path > ccl_track_size_of_way (t) && ccl_tracker_way (tracker, t) < WINDING * t->path);
}

bool
ccl_tracker_is_refuted (const CclTracker *tracker, const Track *t)
{
  return t->confirmed && (moves_in_place (tracker, t) || comes_to_nothing (tracker, t));
}

bool
ccl_tracker_flickers (const CclTracker *tracker, const Track *t)
{
  return t->lost > FLICKERING_FRAMES && t->lost * tracker->frame_time > FLICKERING_TIME &&
         t->n_found < FLICKERING * t->age &&
         ccl_tracker_restlessness (tracker, t->x.centre, t->y.centre) >= MIN_RESTLESS;
}
