/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks in CUDA memory for `cudaccl`. Only where the library was built with CUDA. */
#ifndef __GST_CCL_CUDA_H__
#define __GST_CCL_CUDA_H__

#include <gst/ccl/gstcclmeta.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/* As in <gst/cuda/gstcudacontext.h>, which would need CUDA's own headers. */
typedef struct _GstCudaContext GstCudaContext;

GST_CCL_API
GstBuffer *gst_ccl_cuda_buffer_new_gray8 (GstCudaContext *context, guint width, guint height);

GST_CCL_API
GstBuffer *gst_ccl_cuda_buffer_new_gray8_wrapped (GstCudaContext *context, guint64 device_pointer,
    gsize stride, guint width, guint height, gpointer user_data, GDestroyNotify notify);

G_END_DECLS

#endif /* __GST_CCL_CUDA_H__ */
