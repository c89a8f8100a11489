/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracks as analytics metadata, with GStreamer 1.26 and later. */
#ifndef __GST_CCL_TRACK_ANALYTICS_H__
#define __GST_CCL_TRACK_ANALYTICS_H__

#include <gst/gst.h>

#include <cudaccl/tracker.h>

#include "gstccltrackreport.h"
#include "gstccltracksettings.h"

G_BEGIN_DECLS

/* Adds a GstAnalyticsTrackingMtd for each track that the settings list, where the frame has
 * analytics metadata and a running time, and relates the detections of its components to it. Times
 * are running times, as those of ioutracker. id_offset is added to the identities of the tracker,
 * and frame_rate turns its frames into times. detections: an array of guint, for use inside.
 * Without GStreamer 1.26 it does nothing. */
void gst_ccl_track_analytics_relate (GstBuffer *frame, const CclTable *table,
    const CclTracks *tracks, const GstCclTrackSettings *settings, guint64 id_offset,
    const GstCclMoment *moment, gdouble frame_rate, GArray *detections);

G_END_DECLS

#endif /* __GST_CCL_TRACK_ANALYTICS_H__ */
