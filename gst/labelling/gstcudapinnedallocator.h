/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Page-locked system memory, from which frames are uploaded to a GPU without a copy in between. */
#ifndef __GST_CUDA_PINNED_ALLOCATOR_H__
#define __GST_CUDA_PINNED_ALLOCATOR_H__

#include <gst/cuda/gstcudacontext.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/* A new allocator. It returns ordinary system memory where the driver has no page-locked memory
 * left, for 4 GiB or more, and for alignments above 256 bytes. Its memory is mapped, shared and
 * copied like ordinary system memory. */
GstAllocator *gst_cuda_pinned_allocator_new (GstCudaContext *context);

G_END_DECLS

#endif /* __GST_CUDA_PINNED_ALLOCATOR_H__ */
