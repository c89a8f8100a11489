/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "gstcclbase.h"

#define GST_TYPE_CCL (gst_ccl_get_type ())
G_DECLARE_FINAL_TYPE (GstCcl, gst_ccl, GST, CCL, GstCclBase)

GST_ELEMENT_REGISTER_DECLARE (ccl)
