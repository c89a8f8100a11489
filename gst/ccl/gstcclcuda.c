/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:gstcclcuda
 * @title: GRAY8 frames in CUDA memory
 * @short_description: frames for masks that an application makes itself
 *
 * GStreamer's CUDA allocator does not support GRAY8. These functions allocate or wrap such frames
 * all the same. Their buffers fit the caps
 * `video/x-raw(memory:CUDAMemory),format=GRAY8,width=…,height=…` that `cudaccl` accepts, and
 * carry a #GstVideoMeta with the stride. gst_buffer_map() with GST_MAP_CUDA returns the device
 * pointer, without it a copy in system memory.
 *
 * Both functions may be called from any thread. Where the library was built without CUDA, both
 * fail with %GST_CORE_ERROR_DISABLED.
 */
#include "gstcclcuda.h"

#if HAVE_CUDA

#include <gst/video/video.h>

#include "gstcclcudamemory.h"

/* The memory begins with the first row. */
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

static GstBuffer *
fail (GError **error, gint code, const gchar *problem, guint width, guint height)
{
  g_set_error (error, GST_RESOURCE_ERROR, code, "%s for a frame of %u×%u pixels in CUDA memory",
      problem, width, height);
  return NULL;
}

#endif

/**
 * gst_ccl_cuda_buffer_new_gray8:
 * @context: (type Gst.Object): the #GstCudaContext to allocate in
 * @width: pixels, at least 1
 * @height: pixels, at least 1
 * @error: where to store an error
 *
 * Allocates a GRAY8 frame in CUDA memory. Its content is undefined.
 *
 * Returns: (transfer full): the frame; %NULL with @error set if the device has no memory left
 *   (%GST_RESOURCE_ERROR_NO_SPACE_LEFT), the frame is too large (%GST_RESOURCE_ERROR_SETTINGS), or
 *   the library was built without CUDA (%GST_CORE_ERROR_DISABLED)
 *
 * Since: 0.2
 */
GstBuffer *
gst_ccl_cuda_buffer_new_gray8 (
    struct _GstCudaContext *context, guint width, guint height, GError **error)
{
#if HAVE_CUDA
  GstMemory *memory;
  GstVideoInfo info;

  g_return_val_if_fail (GST_IS_CUDA_CONTEXT (context), NULL);
  g_return_val_if_fail (width >= 1 && width <= G_MAXINT, NULL);
  g_return_val_if_fail (height >= 1 && height <= G_MAXINT, NULL);

  /* A one-plane format that the allocator supports, with rows at least as wide in bytes. */
  if (!gst_video_info_set_format (
          &info, GST_VIDEO_FORMAT_RGBA, width / 4 + (width % 4 != 0), height))
    return fail (error, GST_RESOURCE_ERROR_SETTINGS, "Too many pixels", width, height);
  memory = gst_ccl_cuda_memory_new (context, &info);
  if (!memory)
    return fail (error, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "No memory", width, height);
  return gray8_buffer (
      memory, GST_VIDEO_INFO_PLANE_STRIDE (&GST_CUDA_MEMORY_CAST (memory)->info, 0), width, height);
#else
  g_set_error_literal (error, GST_CORE_ERROR, GST_CORE_ERROR_DISABLED,
      "The library gstccl-1.0 was built without CUDA");
  return NULL;
#endif
}

/**
 * gst_ccl_cuda_buffer_new_gray8_wrapped:
 * @context: (type Gst.Object): the #GstCudaContext that the memory belongs to
 * @device_pointer: the CUdeviceptr of the first pixel
 * @stride: bytes from one row to the next, at least @width, at most %G_MAXINT
 * @width: pixels, at least 1
 * @height: pixels, at least 1
 * @user_data: (nullable): argument of @notify
 * @notify: (nullable) (scope async) (closure user_data): called once, from any thread, when the
 *   memory is no longer used
 * @error: where to store an error
 *
 * Wraps the caller's device memory as a frame, without a copy. The memory must live, and its
 * pixels must not change, until @notify is called; work that writes the pixels must be complete
 * before the call. Padding between the rows is not read, and need not be there after the last row.
 *
 * Returns: (transfer full): the frame; %NULL with @error set if it cannot be described
 *   (%GST_RESOURCE_ERROR_SETTINGS) or the library was built without CUDA
 *   (%GST_CORE_ERROR_DISABLED); then @notify is not called
 *
 * Since: 0.2
 */
GstBuffer *
gst_ccl_cuda_buffer_new_gray8_wrapped (struct _GstCudaContext *context, guint64 device_pointer,
    gsize stride, guint width, guint height, gpointer user_data, GDestroyNotify notify,
    GError **error)
{
#if HAVE_CUDA
  GstMemory *memory;
  GstVideoInfo info;

  g_return_val_if_fail (GST_IS_CUDA_CONTEXT (context), NULL);
  g_return_val_if_fail (device_pointer != 0, NULL);
  g_return_val_if_fail (width >= 1 && height >= 1 && height <= G_MAXINT, NULL);
  g_return_val_if_fail (stride >= width && stride <= G_MAXINT, NULL);

  if (!gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, width, height))
    return fail (error, GST_RESOURCE_ERROR_SETTINGS, "Too many pixels", width, height);
  GST_VIDEO_INFO_PLANE_STRIDE (&info, 0) = (gint)stride;
  /* Rows are copied without the padding between them, so the last one need not be padded. */
  GST_VIDEO_INFO_SIZE (&info) = stride * height;
  memory = gst_ccl_cuda_memory_new_wrapped (
      context, &info, (CUdeviceptr)device_pointer, user_data, notify);
  if (!memory)
    return fail (error, GST_RESOURCE_ERROR_SETTINGS, "No description", width, height);
  return gray8_buffer (memory, stride, width, height);
#else
  g_set_error_literal (error, GST_CORE_ERROR, GST_CORE_ERROR_DISABLED,
      "The library gstccl-1.0 was built without CUDA");
  return NULL;
#endif
}
