/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that register the elements. */
#pragma once

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (ccl)
GST_ELEMENT_REGISTER_DECLARE (cclcombiner)
GST_ELEMENT_REGISTER_DECLARE (ccljson)
GST_ELEMENT_REGISTER_DECLARE (ccljsonparse)
GST_ELEMENT_REGISTER_DECLARE (ccloverlay)
GST_ELEMENT_REGISTER_DECLARE (cclrecord)
GST_ELEMENT_REGISTER_DECLARE (cclsnapshot)
GST_ELEMENT_REGISTER_DECLARE (ccltrack)
GST_ELEMENT_REGISTER_DECLARE (cudaccl)
