/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracks as regions of interest. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <gst/video/video.h>

/* Replaces the regions of interest that the labeller of the metadata has attached by one for each
 * row of its table, which is that of the tracks, with the identity as the parameter `object_id`.
 *
 * attached: whether the labeller attaches them, as far as former frames have shown; zero at first.
 * A frame without components does not show it. */
void gst_ccl_track_roi_replace (GstBuffer *frame, const GstCclMeta *meta, gboolean *attached);
