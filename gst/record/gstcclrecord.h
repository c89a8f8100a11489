/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/base/gstbasesink.h>
#include <gst/gst.h>

#define GST_TYPE_CCL_RECORD (gst_ccl_record_get_type ())
G_DECLARE_FINAL_TYPE (GstCclRecord, gst_ccl_record, GST, CCL_RECORD, GstBaseSink)

GST_ELEMENT_REGISTER_DECLARE (cclrecord)
