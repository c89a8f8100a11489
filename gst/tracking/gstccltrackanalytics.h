/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracks as analytics metadata, with GStreamer 1.24 and later. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>

#include <cudaccl/tracker.h>

#include "gstccldetections.h"
#include "gstccltrackclasses.h"
#include "gstccltrackreport.h"

/* Where the frame has analytics metadata, replaces the detections of components by one for each
 * track of the table that is not lost, with the track's box. From GStreamer 1.26 on, each is
 * related to a GstAnalyticsTrackingMtd, which a lost track has alone, and a segmentation mask is
 * related to the detections of the tracks. Times are running times, as those of ioutracker; without
 * a running time there is no tracking metadata.
 *
 * GStreamer cannot remove single items of analytics metadata. Where some are not of components, the
 * detections of components stay, and those of the tracks are added.
 *
 * A detection of another element stays, and is related to the tracking metadata of its track.
 *
 * meta: with the table of the tracks, of which row i is tracks->tracks[listed[i]]. detections,
 * classes: of the frame. are_tracked: the tracks are those of the detections, so there are none of
 * components. frame_rate turns the tracker's frames into times. */
void gst_ccl_track_analytics_replace (GstBuffer *frame, const GstCclMeta *meta,
    const CclTracks *tracks, const guint *listed, const GstCclDetections *detections,
    const GstCclTrackClasses *classes, gboolean are_tracked, const GstCclMoment *moment,
    gdouble frame_rate);
