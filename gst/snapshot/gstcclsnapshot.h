/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#define GST_TYPE_CCL_SNAPSHOT (gst_ccl_snapshot_get_type ())
G_DECLARE_FINAL_TYPE (GstCclSnapshot, gst_ccl_snapshot, GST, CCL_SNAPSHOT, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (cclsnapshot)
