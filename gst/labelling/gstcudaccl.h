/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "gstcclbase.h"

#define GST_TYPE_CUDA_CCL (gst_cuda_ccl_get_type ())
G_DECLARE_FINAL_TYPE (GstCudaCcl, gst_cuda_ccl, GST, CUDA_CCL, GstCclBase)

GST_ELEMENT_REGISTER_DECLARE (cudaccl)
