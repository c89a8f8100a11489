/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/base/gstaggregator.h>
#include <gst/gst.h>

#define GST_TYPE_CCL_COMBINER (gst_ccl_combiner_get_type ())
G_DECLARE_FINAL_TYPE (GstCclCombiner, gst_ccl_combiner, GST, CCL_COMBINER, GstAggregator)

GST_ELEMENT_REGISTER_DECLARE (cclcombiner)
