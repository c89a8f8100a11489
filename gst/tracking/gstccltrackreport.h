/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages and events of ccltrack. Each event of a track, a region or a line is an element
 * message, and a custom downstream event of the same content. */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include <cudaccl/tracker.h>

#include "gstcclparents.h"
#include "tracking/regions/gstcclregions.h"
#include "gstccltrackclasses.h"

/* When something happened: the time stamp of a frame, and its segment. */
typedef struct {
  GstClockTime pts;
  GstSegment segment;
} GstCclMoment;

/* What all events of a frame have in common. */
typedef struct {
  const GstCclMoment *moment;
  const GstCclTrackClasses *classes;
  guint64 id_offset; /* added to the identities of the tracker */
} GstCclTrackReport;

/* The object lock must not be held. */

/* Reports the events of tracks. Returns the number of tracks that appeared. */
guint gst_ccl_track_report_tracks (GstBaseTransform *trans, const CclTracks *tracks,
    const GstCclParents *parents, const GstCclTrackReport *common);

/* Reports the events of regions and lines. */
void gst_ccl_track_report_regions (GstBaseTransform *trans, const GstCclRegionStage *stage,
    const CclRegionsResult *result, const GstCclTrackReport *common);

/* Announces new regions and counts to the elements downstream. Returns a copy of what it announced,
 * or NULL if nothing is new. */
GstStructure *gst_ccl_track_announce_regions (
    GstBaseTransform *trans, GstCclRegionStage *stage, const CclRegionsResult *result);
