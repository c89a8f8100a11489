/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How cudaccl labels frames, makes foreground masks and finds contours on the GPU of a site. */
#pragma once

#include "labelling/frame/gstcclbackend.h"

/* All methods but choose_site. Their sites are of the type GstCudaCclSite. */
extern const GstCclMethods gst_cuda_ccl_methods;
