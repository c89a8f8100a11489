/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#define GST_TYPE_CCL_JSON (gst_ccl_json_get_type ())
G_DECLARE_FINAL_TYPE (GstCclJson, gst_ccl_json, GST, CCL_JSON, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (ccljson)
