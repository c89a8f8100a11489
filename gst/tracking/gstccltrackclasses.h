/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The classes of tracks, as detections name them. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>

#include <cudaccl/tracker.h>

#include "gstccldetections.h"

#define GST_CCL_VOTED_CLASSES 4

/* What is known of a track. */
typedef struct {
  guint64 id;
  GQuark names[GST_CCL_VOTED_CLASSES]; /* 0: none */
  gdouble votes[GST_CCL_VOTED_CLASSES];
  guint best;         /* index of the class with the most votes */
  gdouble confidence; /* of the latest detection of that class; NaN: not known */
  guint detection;    /* of this frame, index; or GST_CCL_NO_DETECTION */
} GstCclTrackVotes;

/* Begin with gst_ccl_track_classes_init(). Belongs to the streaming thread. */
typedef struct {
  GstCclTrackVotes *now, *before; /* of the tracks of this frame and of the one before */
  guint n, n_before, max_tracks;
  guint *best_track;    /* of each detection, index; or G_MAXUINT */
  const gchar **names;  /* of rows */
  gdouble *confidences; /* of rows */
} GstCclTrackClasses;

void gst_ccl_track_classes_init (GstCclTrackClasses *self, guint max_tracks, guint max_detections);
void gst_ccl_track_classes_clear (GstCclTrackClasses *self);

/* Removes all tracks. */
void gst_ccl_track_classes_reset (GstCclTrackClasses *self);

/* Finds the detections of the tracks of a frame, and with them their classes.
 *
 * are_tracked: the tracks are those of the detections themselves, whose labels they have. Otherwise
 * they are of components: a detection belongs to the track whose box it fits best, if it fits this
 * box better than other detections do. */
void gst_ccl_track_classes_update (GstCclTrackClasses *self, const CclTracks *tracks,
    const GstCclDetections *detections, gboolean are_tracked);

/* The detection of a track of this frame, index; or GST_CCL_NO_DETECTION. track: its index. */
guint gst_ccl_track_classes_get_detection (const GstCclTrackClasses *self, guint track);

/* The class of a track of this frame, or of the one before if it ended; NULL if it has none. */
const gchar *gst_ccl_track_classes_find (const GstCclTrackClasses *self, guint64 id);

/* Attaches the classes of the tracks, if any is known. Row i of the metadata is the track with the
 * index listed[i]. */
void gst_ccl_track_classes_attach (GstCclTrackClasses *self, const guint *listed, GstCclMeta *meta);
