/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Page-locked system memory, from which a GPU fetches frames without a copy in between. */
#ifndef __GST_CUDA_PINNED_ALLOCATOR_H__
#define __GST_CUDA_PINNED_ALLOCATOR_H__

#include <gst/cuda/gstcudacontext.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/* A new allocator. Where the driver has no page-locked memory left, and for more than 4 GiB or
 * unusual alignments, it gives ordinary system memory. The memory is mapped, shared and copied
 * like ordinary system memory. */
GstAllocator *gst_cuda_pinned_allocator_new (GstCudaContext *context);

G_END_DECLS

#endif /* __GST_CUDA_PINNED_ALLOCATOR_H__ */
