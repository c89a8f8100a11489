/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks in CUDA memory for `cudaccl`. The functions exist also where the library was built without
 * CUDA; then they fail. */
#ifndef __GST_CCL_CUDA_H__
#define __GST_CCL_CUDA_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/* GstCudaContext of <gst/cuda/gstcudacontext.h>, a header that needs CUDA's own headers. */
struct _GstCudaContext;

GST_CCL_API
GstBuffer *gst_ccl_cuda_buffer_new_gray8 (
    struct _GstCudaContext *context, guint width, guint height, GError **error);

GST_CCL_API
GstBuffer *gst_ccl_cuda_buffer_new_gray8_wrapped (struct _GstCudaContext *context,
    guint64 device_pointer, gsize stride, guint width, guint height, gpointer user_data,
    GDestroyNotify notify, GError **error);

G_END_DECLS

#endif /* __GST_CCL_CUDA_H__ */
