/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/gst.h>

#define GST_TYPE_CCL_JSON_PARSE (gst_ccl_json_parse_get_type ())
G_DECLARE_FINAL_TYPE (GstCclJsonParse, gst_ccl_json_parse, GST, CCL_JSON_PARSE, GstElement)

GST_ELEMENT_REGISTER_DECLARE (ccljsonparse)
