/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:gstcclcuda
 * @title: GRAY8 frames in CUDA memory
 * @short_description: masks that an application brings along
 *
 * GStreamer's CUDA allocator knows no GRAY8, so a mask in CUDA memory needs a detour, which these
 * functions take. Their buffers fit the caps
 * `video/x-raw(memory:CUDAMemory),format=GRAY8,width=…,height=…` that `cudaccl` accepts, and
 * carry a #GstVideoMeta with the stride. gst_buffer_map() with GST_MAP_CUDA gives the device
 * pointer, without it a copy in system memory.
 *
 * Both functions may be called from any thread.
 */
#include "gstcclcuda.h"

#include <gst/video/video.h>

#include "gstcclcudamemory.h"

/* Rows of the frame are rows of the memory, from its start. */
static GstBuffer *
gray8_buffer (GstMemory *memory, gsize stride, guint width, guint height)
{
  GstBuffer *buffer = gst_buffer_new ();
  gsize offset[GST_VIDEO_MAX_PLANES] = {0};
  gint strides[GST_VIDEO_MAX_PLANES] = {(gint)stride};

  gst_buffer_append_memory (buffer, memory);
  gst_buffer_add_video_meta_full (
      buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, width, height, 1, offset, strides);
  return buffer;
}

/**
 * gst_ccl_cuda_buffer_new_gray8:
 * @context: (type GstCuda.CudaContext): the #GstCudaContext to allocate in
 * @width: pixels, at least 1
 * @height: pixels, at least 1
 *
 * Allocates a GRAY8 frame in CUDA memory. Its content is undefined.
 *
 * Returns: (transfer full) (nullable): the frame, or %NULL if the device has no memory left
 */
GstBuffer *
gst_ccl_cuda_buffer_new_gray8 (GstCudaContext *context, guint width, guint height)
{
  GstMemory *memory;
  GstVideoInfo info;

  g_return_val_if_fail (GST_IS_CUDA_CONTEXT (context), NULL);
  g_return_val_if_fail (width >= 1 && width <= G_MAXINT, NULL);
  g_return_val_if_fail (height >= 1 && height <= G_MAXINT, NULL);

  /* A one-plane format that the allocator does know, with rows at least as wide in bytes. */
  if (!gst_video_info_set_format (
          &info, GST_VIDEO_FORMAT_RGBA, width / 4 + (width % 4 != 0), height))
    return NULL;
  memory = gst_ccl_cuda_memory_new (context, &info);
  if (!memory)
    return NULL;
  return gray8_buffer (
      memory, GST_VIDEO_INFO_PLANE_STRIDE (&GST_CUDA_MEMORY_CAST (memory)->info, 0), width, height);
}

/**
 * gst_ccl_cuda_buffer_new_gray8_wrapped:
 * @context: (type GstCuda.CudaContext): the #GstCudaContext the memory is of
 * @device_pointer: the CUdeviceptr of the first pixel
 * @stride: bytes from one row to the next, at least @width, at most %G_MAXINT
 * @width: pixels, at least 1
 * @height: pixels, at least 1
 * @user_data: (nullable): what @notify is called with
 * @notify: (nullable) (scope async): called once, from any thread, when nothing uses the memory
 *   any more
 *
 * Makes a frame of device memory that the caller owns. The memory must live, and its pixels must
 * not change, until @notify is called; what writes them must have been waited for. Bytes between
 * the rows, and behind the last one, are not touched and need not be there.
 *
 * Returns: (transfer full) (nullable): the frame; %NULL when an argument is wrong, then @notify
 *   is not called
 */
GstBuffer *
gst_ccl_cuda_buffer_new_gray8_wrapped (GstCudaContext *context, guint64 device_pointer,
    gsize stride, guint width, guint height, gpointer user_data, GDestroyNotify notify)
{
  GstMemory *memory;
  GstVideoInfo info;

  g_return_val_if_fail (GST_IS_CUDA_CONTEXT (context), NULL);
  g_return_val_if_fail (device_pointer != 0, NULL);
  g_return_val_if_fail (width >= 1 && height >= 1 && height <= G_MAXINT, NULL);
  g_return_val_if_fail (stride >= width && stride <= G_MAXINT, NULL);

  if (!gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, width, height))
    return NULL;
  GST_VIDEO_INFO_PLANE_STRIDE (&info, 0) = (gint)stride;
  /* Rows are copied without what is between them, so the last one need not be padded. */
  GST_VIDEO_INFO_SIZE (&info) = stride * height;
  memory = gst_ccl_cuda_memory_new_wrapped (
      context, &info, (CUdeviceptr)device_pointer, user_data, notify);
  return memory ? gray8_buffer (memory, stride, width, height) : NULL;
}
