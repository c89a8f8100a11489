/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pool of label maps in system memory. */
#ifndef __GST_CCL_LABEL_POOL_H__
#define __GST_CCL_LABEL_POOL_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* A new, active pool whose buffers hold width × height guint32 without padding. Acquiring fails
 * when memory is short. Deactivate it before the last unref. */
GstBufferPool *gst_ccl_label_pool_new (guint width, guint height);

G_END_DECLS

#endif /* __GST_CCL_LABEL_POOL_H__ */
