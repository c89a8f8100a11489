/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame-pool.h"

#include <gst/video/gstvideopool.h>
#include <gst/video/video.h>

/* The memory of a frame is freed with its last user, not reused by the pool. Larger memory would
 * come from the system anew for each frame (main.c), which takes longer than a copy. */
#define MOST_BYTES (4 << 20)

typedef struct {
  GstVideoBufferPool parent;
} WatchFramePool;

typedef struct {
  GstVideoBufferPoolClass parent;
} WatchFramePoolClass;

GType watch_frame_pool_get_type (void);
G_DEFINE_TYPE (WatchFramePool, watch_frame_pool, GST_TYPE_VIDEO_BUFFER_POOL)

typedef gboolean (*MapFunction) (GstVideoMeta *meta, guint plane, GstMapInfo *info, gpointer *data,
    gint *stride, GstMapFlags flags);

/* GStreamer's, the same for all frames. */
static MapFunction map_plane;

static gboolean
map_for_reading (GstVideoMeta *meta, guint plane, GstMapInfo *info, gpointer *data, gint *stride,
    GstMapFlags flags)
{
  const MapFunction map = g_atomic_pointer_get (&map_plane);

  return map (meta, plane, info, data, stride, (flags & ~GST_MAP_WRITE) | GST_MAP_READ);
}

static GstFlowReturn
watch_frame_pool_alloc_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  const GstFlowReturn flow =
      GST_BUFFER_POOL_CLASS (watch_frame_pool_parent_class)->alloc_buffer (pool, buffer, params);
  GstVideoMeta *meta = flow == GST_FLOW_OK ? gst_buffer_get_video_meta (*buffer) : NULL;

  if (meta) {
    g_atomic_pointer_set (&map_plane, meta->map);
    meta->map = map_for_reading;
  }
  return flow;
}

static void
watch_frame_pool_class_init (WatchFramePoolClass *klass)
{
  GST_BUFFER_POOL_CLASS (klass)->alloc_buffer = watch_frame_pool_alloc_buffer;
}

static void
watch_frame_pool_init (WatchFramePool *self)
{
}

void
watch_frame_pool_offer (GstQuery *query)
{
  g_autoptr (GstBufferPool) pool = NULL;
  GstVideoInfo info;
  gboolean needs_pool;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, &needs_pool);
  if (!needs_pool || !caps || !gst_video_info_from_caps (&info, caps) ||
      GST_VIDEO_INFO_SIZE (&info) > MOST_BYTES ||
      !gst_caps_features_is_equal (
          gst_caps_get_features (caps, 0), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
    return;
  pool = gst_object_ref_sink (g_object_new (watch_frame_pool_get_type (), NULL));
  gst_query_add_allocation_pool (query, pool, (guint)GST_VIDEO_INFO_SIZE (&info), 0, 0);
}
