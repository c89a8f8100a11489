/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ground of ccltrack: where tracks are in metres, and how fast they are. */
#pragma once

#include <gst/gst.h>

#include <cudaccl/ground.h>
#include <cudaccl/tracker.h>

/* Belongs to the streaming thread. Zero is one without a ground. */
typedef struct {
  GArray *points;    /* CclGroundPoint, as they were written; NULL: no ground */
  gboolean relative; /* to the frame's size */
  CclGround *ground; /* for frames of this size; NULL: there was no frame yet */
  guint frame_width, frame_height;

  /* The motions of the tracks of the latest frame, in their order. */
  guint max_tracks;
  CclGroundMotion *motions; /* NULL: no ground */
  gdouble *speeds;          /* km/h; -1: the track has no motion */
} GstCclGround;

/* Replaces the ground by that of a text; NULL or "" is none. The text consists of points that are
 * separated by semicolons or newlines, at least four:
 *
 *   X,Y METRES,METRES
 *
 * X and Y are a place in the picture in pixels, or parts of the frame where all of them end with %.
 * On failure the former ground stays, and the error names the place in the text. */
gboolean gst_ccl_ground_load (
    GstCclGround *self, const gchar *text, guint max_tracks, GError **error);

/* Computes the motions of the tracks, at most max_tracks, that the tracker found in a frame. */
gboolean gst_ccl_ground_run (GstCclGround *self, guint frame_width, guint frame_height,
    const CclTracker *tracker, guint n_tracks, gdouble frame_rate, CclError *error);

/* The motion of a track of the latest frame; NULL: not known. */
const CclGroundMotion *gst_ccl_ground_get (const GstCclGround *self, guint track);

/* Frees everything. */
void gst_ccl_ground_close (GstCclGround *self);
