/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#define GST_TYPE_CCL_OVERLAY (gst_ccl_overlay_get_type ())
G_DECLARE_FINAL_TYPE (GstCclOverlay, gst_ccl_overlay, GST, CCL_OVERLAY, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (ccloverlay)
