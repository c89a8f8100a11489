/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccllabelpool.h"

/* A stock pool cannot do this: its sizes end at 4 GiB, which a label map may exceed, and it
 * aborts the process when memory is short. */
struct _GstCclLabelPool {
  GstBufferPool parent;
  gsize size; /* bytes */
};

#define GST_TYPE_CCL_LABEL_POOL (gst_ccl_label_pool_get_type ())
G_DECLARE_FINAL_TYPE (GstCclLabelPool, gst_ccl_label_pool, GST, CCL_LABEL_POOL, GstBufferPool)
G_DEFINE_TYPE (GstCclLabelPool, gst_ccl_label_pool, GST_TYPE_BUFFER_POOL)

static GstFlowReturn
gst_ccl_label_pool_alloc_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  gsize size = GST_CCL_LABEL_POOL (pool)->size;
  gpointer data = g_try_malloc (size);

  if (!data)
    return GST_FLOW_ERROR;
  *buffer = gst_buffer_new_wrapped (data, size);
  return GST_FLOW_OK;
}

static void
gst_ccl_label_pool_class_init (GstCclLabelPoolClass *klass)
{
  GST_BUFFER_POOL_CLASS (klass)->alloc_buffer = gst_ccl_label_pool_alloc_buffer;
}

static void
gst_ccl_label_pool_init (GstCclLabelPool *self)
{
}

GstBufferPool *
gst_ccl_label_pool_new (guint width, guint height)
{
  GstCclLabelPool *self = g_object_new (GST_TYPE_CCL_LABEL_POOL, NULL);
  GstBufferPool *pool = GST_BUFFER_POOL (gst_object_ref_sink (self));
  GstStructure *config = gst_buffer_pool_get_config (pool);

  self->size = sizeof (guint32) * (gsize)width * height;
  /* Buffers beyond 4 GiB do not match the size in the configuration and so are freed, not
   * reused, when they come back. */
  gst_buffer_pool_config_set_params (config, NULL, (guint)self->size, 0, 0);
  gst_buffer_pool_set_config (pool, config);
  gst_buffer_pool_set_active (pool, TRUE);
  return pool;
}
