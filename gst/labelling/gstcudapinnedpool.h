/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Page-locked system memory, from which frames are uploaded to a GPU without a copy in between. */
#pragma once

#include <gst/cuda/gstcudacontext.h>
#include <gst/gst.h>

/* A new, inactive pool of buffers of that size, of video frames if there are caps; NULL if the caps
 * or the parameters do not suit a pool. Its allocator returns ordinary system memory where the
 * driver has no page-locked memory left, for 4 GiB or more, and for alignments above 256 bytes. Its
 * memory is mapped, shared and copied like ordinary system memory. */
GstBufferPool *gst_cuda_pinned_pool_new (
    GstCudaContext *context, GstCaps *caps, guint size, const GstAllocationParams *params);
