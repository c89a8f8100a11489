/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccltrackclasses.h"

#include <math.h>

#define MIN_FIT 0.25 /* intersection over union of a track's box and its detection's */

void
gst_ccl_track_classes_init (GstCclTrackClasses *self, guint max_tracks, guint max_detections)
{
  *self = (GstCclTrackClasses){
      .now = g_new (GstCclTrackVotes, max_tracks),
      .before = g_new (GstCclTrackVotes, max_tracks),
      .max_tracks = max_tracks,
      .best_track = g_new (guint, max_detections),
      .names = g_new (const gchar *, max_tracks),
      .confidences = g_new (gdouble, max_tracks),
  };
}

void
gst_ccl_track_classes_clear (GstCclTrackClasses *self)
{
  g_free (self->now);
  g_free (self->before);
  g_free (self->best_track);
  g_free (self->names);
  g_free (self->confidences);
  *self = (GstCclTrackClasses){0};
}

void
gst_ccl_track_classes_reset (GstCclTrackClasses *self)
{
  self->n = self->n_before = 0;
}

/* Fills this frame's tracks with what was known of them. Tracks are in the order of their ids. */
static void
take_tracks (GstCclTrackClasses *self, const CclTracks *tracks)
{
  GstCclTrackVotes *now = self->before;
  guint b = 0;

  self->before = self->now;
  self->n_before = self->n;
  self->now = now;
  self->n = tracks->n_tracks;
  for (guint i = 0; i < tracks->n_tracks; i++) {
    const guint64 id = tracks->tracks[i].id;

    while (b < self->n_before && self->before[b].id < id)
      b++;
    if (b < self->n_before && self->before[b].id == id)
      now[i] = self->before[b];
    else
      now[i] = (GstCclTrackVotes){.id = id, .confidence = NAN};
    now[i].detection = GST_CCL_NO_DETECTION;
  }
}

/* Intersection over union. */
static gdouble
fit (const CclTrack *track, const CclComponent *box)
{
  const gdouble width =
      MIN (track->x + track->width, (gdouble)box->x + box->width) - MAX (track->x, box->x);
  const gdouble height =
      MIN (track->y + track->height, (gdouble)box->y + box->height) - MAX (track->y, box->y);
  const gdouble common = MAX (width, 0) * MAX (height, 0);

  return common / (track->width * track->height + (gdouble)box->width * box->height - common);
}

static guint
find_best_track (const CclTracks *tracks, const CclComponent *box)
{
  gdouble most = MIN_FIT;
  guint best = G_MAXUINT;

  for (guint i = 0; i < tracks->n_tracks; i++) {
    const gdouble found = fit (&tracks->tracks[i], box);
    if (found > most) {
      most = found;
      best = i;
    }
  }
  return best;
}

/* Gives each track the detection that fits it best, of those that it is the best track of. */
static void
match (GstCclTrackClasses *self, const CclTracks *tracks, const GstCclDetections *detections)
{
  for (guint d = 0; d < detections->n; d++)
    self->best_track[d] = find_best_track (tracks, &detections->boxes[d]);
  for (guint d = 0; d < detections->n; d++) {
    const guint i = self->best_track[d];
    guint *present = i == G_MAXUINT ? NULL : &self->now[i].detection;

    if (present && (*present == GST_CCL_NO_DETECTION ||
                       fit (&tracks->tracks[i], &detections->boxes[d]) >
                           fit (&tracks->tracks[i], &detections->boxes[*present])))
      *present = d;
  }
}

/* The place of a class among the votes; a new one takes the place of that with the fewest. */
static guint
find_vote (GstCclTrackVotes *track, GQuark name)
{
  guint least = 0;

  for (guint i = 0; i < GST_CCL_VOTED_CLASSES; i++) {
    if (track->names[i] == name)
      return i;
    if (track->votes[i] < track->votes[least])
      least = i;
  }
  track->names[least] = name;
  track->votes[least] = 0;
  return least;
}

/* The vote of a detection for its class weighs as much as its confidence; without one, 1. */
static void
vote (GstCclTrackVotes *track, const GstCclDetection *detection)
{
  const gboolean known = detection->confidence >= 0 && detection->confidence <= 1;
  guint i;

  if (detection->name == 0)
    return;
  i = find_vote (track, detection->name);
  track->votes[i] += known ? detection->confidence : 1;
  for (guint k = 0; k < GST_CCL_VOTED_CLASSES; k++)
    if (track->votes[k] > track->votes[track->best] || track->names[track->best] == 0)
      track->best = k;
  if (i == track->best)
    track->confidence = known ? detection->confidence : NAN;
}

void
gst_ccl_track_classes_update (GstCclTrackClasses *self, const CclTracks *tracks,
    const GstCclDetections *detections, gboolean are_tracked)
{
  take_tracks (self, tracks);
  if (!are_tracked)
    match (self, tracks, detections);
  for (guint i = 0; i < self->n; i++) {
    if (are_tracked && tracks->tracks[i].label > 0)
      self->now[i].detection = tracks->tracks[i].label - 1;
    if (self->now[i].detection != GST_CCL_NO_DETECTION)
      vote (&self->now[i], &detections->items[self->now[i].detection]);
  }
}

guint
gst_ccl_track_classes_get_detection (const GstCclTrackClasses *self, guint track)
{
  return track < self->n ? self->now[track].detection : GST_CCL_NO_DETECTION;
}

static const gchar *
name_of (const GstCclTrackVotes *track)
{
  return g_quark_to_string (track->names[track->best]);
}

static const GstCclTrackVotes *
find_track (const GstCclTrackVotes *tracks, guint n, guint64 id)
{
  guint low = 0, high = n;

  while (low < high) {
    const guint middle = (low + high) / 2;
    if (tracks[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && tracks[low].id == id ? &tracks[low] : NULL;
}

const gchar *
gst_ccl_track_classes_find (const GstCclTrackClasses *self, guint64 id)
{
  const GstCclTrackVotes *track = find_track (self->now, self->n, id);

  if (!track)
    track = find_track (self->before, self->n_before, id);
  return track ? name_of (track) : NULL;
}

void
gst_ccl_track_classes_attach (GstCclTrackClasses *self, const guint *listed, GstCclMeta *meta)
{
  const guint n_rows = gst_ccl_meta_get_n_rows (meta);
  gboolean any = FALSE;
  g_autoptr (GstCclClasses) classes = NULL;

  for (guint row = 0; row < n_rows; row++) {
    const GstCclTrackVotes *track = listed[row] < self->n ? &self->now[listed[row]] : NULL;

    self->names[row] = track ? name_of (track) : NULL;
    self->confidences[row] = track ? track->confidence : NAN;
    any |= self->names[row] != NULL;
  }
  if (!any)
    return;
  classes = gst_ccl_classes_new (self->names, self->confidences, n_rows);
  gst_ccl_meta_set_classes (meta, classes);
}
