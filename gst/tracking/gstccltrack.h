/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#define GST_TYPE_CCL_TRACK (gst_ccl_track_get_type ())
G_DECLARE_FINAL_TYPE (GstCclTrack, gst_ccl_track, GST, CCL_TRACK, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (ccltrack)
