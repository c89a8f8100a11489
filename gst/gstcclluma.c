/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclluma.h"

#include "gstcclerror.h"

void
gst_ccl_luma_init (GstCclLuma *luma, const GstVideoInfo *info)
{
  *luma = (GstCclLuma){
      .offset = GST_VIDEO_INFO_PLANE_OFFSET (info, 0),
      .stride = GST_VIDEO_INFO_PLANE_STRIDE (info, 0),
      .width = GST_VIDEO_INFO_WIDTH (info),
      .height = GST_VIDEO_INFO_HEIGHT (info),
      .map_flags = GST_MAP_READ,
      .location = CCL_LOCATION_HOST,
  };
}

/* Checks that a layout holds width × height pixels and ends inside the buffer. Sets length to the
 * distance in bytes from the first pixel to the end of the last one. */
static gboolean
check_layout (const GstCclLuma *luma, guint width, guint height, gsize buffer_size, gsize *length,
    CclError *error)
{
  if (luma->width < width || luma->height < height) {
    gst_ccl_error_set (error, CCL_ERROR_ARGUMENT,
        "The frame has %u×%u pixels where its caps say %u×%u", luma->width, luma->height, width,
        height);
    return FALSE;
  }
  if (luma->stride < 0 || (guint)luma->stride < width) {
    gst_ccl_error_set (error, CCL_ERROR_ARGUMENT,
        "The frame's stride of %d bytes is too small for rows of %u pixels", luma->stride, width);
    return FALSE;
  }
  *length = (gsize)luma->stride * (height - 1) + width;
  if (luma->offset > buffer_size || *length > buffer_size - luma->offset) {
    gst_ccl_error_set (error, CCL_ERROR_ARGUMENT,
        "The frame is smaller than its caps say: %u×%u pixels with a stride of %d bytes from "
        "byte %" G_GSIZE_FORMAT " on do not fit in %" G_GSIZE_FORMAT " bytes",
        width, height, luma->stride, luma->offset, buffer_size);
    return FALSE;
  }
  return TRUE;
}

gboolean
gst_ccl_luma_map (const GstCclLuma *luma, const GstVideoInfo *info, GstBuffer *buffer,
    GstMapInfo *map, CclFrame *frame, CclError *error)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  GstCclLuma layout = *luma;
  guint first_memory, n_memories;
  gsize length, skip;

  if (meta) {
    layout.offset = meta->offset[0];
    layout.stride = meta->stride[0];
    layout.width = meta->width;
    layout.height = meta->height;
  }
  if (!check_layout (&layout, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
          gst_buffer_get_size (buffer), &length, error))
    return FALSE;

  if (!gst_buffer_find_memory (buffer, layout.offset, length, &first_memory, &n_memories, &skip)) {
    gst_ccl_error_set (error, CCL_ERROR_ARGUMENT, "The frame's memory ends before its pixels");
    return FALSE;
  }
  /* Mapping several memories as one would merge them in system memory. */
  if (layout.location == CCL_LOCATION_DEVICE && n_memories != 1) {
    gst_ccl_error_set (
        error, CCL_ERROR_ARGUMENT, "The frame's luma is spread over %u memories", n_memories);
    return FALSE;
  }
  if (!gst_buffer_map_range (buffer, first_memory, (gint)n_memories, map, layout.map_flags)) {
    gst_ccl_error_set (error, CCL_ERROR_DEVICE, "The frame's memory cannot be mapped for reading");
    return FALSE;
  }
  frame->data = map->data + skip;
  frame->stride = (gsize)layout.stride;
  frame->location = layout.location;
  return TRUE;
}
