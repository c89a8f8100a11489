/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclmappool.h"

/* GstBufferPool cannot be used as it is: its sizes are below 4 GiB, which a label map may exceed,
 * and it aborts the process when memory is short. */
struct _GstCclMapPool {
  GstBufferPool parent;
  gsize size; /* bytes */
};

#define GST_TYPE_CCL_MAP_POOL (gst_ccl_map_pool_get_type ())
G_DECLARE_FINAL_TYPE (GstCclMapPool, gst_ccl_map_pool, GST, CCL_MAP_POOL, GstBufferPool)
G_DEFINE_TYPE (GstCclMapPool, gst_ccl_map_pool, GST_TYPE_BUFFER_POOL)

static GstFlowReturn
gst_ccl_map_pool_alloc_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  gsize size = GST_CCL_MAP_POOL (pool)->size;
  gpointer data = g_try_malloc (size);

  if (!data)
    return GST_FLOW_ERROR;
  *buffer = gst_buffer_new_wrapped (data, size);
  return GST_FLOW_OK;
}

static void
gst_ccl_map_pool_class_init (GstCclMapPoolClass *klass)
{
  GST_BUFFER_POOL_CLASS (klass)->alloc_buffer = gst_ccl_map_pool_alloc_buffer;
}

static void
gst_ccl_map_pool_init (GstCclMapPool *self)
{
}

GstBufferPool *
gst_ccl_map_pool_new (gsize size)
{
  GstCclMapPool *self = g_object_new (GST_TYPE_CCL_MAP_POOL, NULL);
  GstBufferPool *pool = GST_BUFFER_POOL (gst_object_ref_sink (self));
  GstStructure *config = gst_buffer_pool_get_config (pool);

  self->size = size;
  /* The size of the configuration has 32 bits: buffers of 4 GiB or more do not match it, and are
   * freed instead of reused. */
  gst_buffer_pool_config_set_params (config, NULL, (guint)self->size, 0, 0);
  if (!gst_buffer_pool_set_config (pool, config) || !gst_buffer_pool_set_active (pool, TRUE))
    gst_clear_object (&pool);
  return pool;
}
