/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All of the library's headers. */
#ifndef __GST_CCL_LIBRARY_H__
#define __GST_CCL_LIBRARY_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/ccl/gstcclclasses.h>
#include <gst/ccl/gstcclcolumns.h>
#include <gst/ccl/gstcclcomponent.h>
#include <gst/ccl/gstcclcontours.h>
#include <gst/ccl/gstcclcuda.h>
#include <gst/ccl/gstccllabeller.h>
#include <gst/ccl/gstcclmeta.h>
#include <gst/ccl/gstcclpixels.h>
#include <gst/ccl/gstcclregionstate.h>
#include <gst/ccl/gstcclutc.h>

#endif /* __GST_CCL_LIBRARY_H__ */
