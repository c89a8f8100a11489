/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclpixels.h"

#include <string.h>

static gboolean
map_pixels (
    const GstCclMeta *meta, GstBuffer *buffer, gsize stride, guint pixel_size, GstCclPixels *pixels)
{
  guint width = gst_ccl_meta_get_frame_width (meta);
  guint height = gst_ccl_meta_get_frame_height (meta);

  *pixels = (GstCclPixels){NULL};
  if (!buffer || !gst_buffer_map (buffer, &pixels->map, GST_MAP_READ))
    return FALSE;
  if (pixels->map.size / stride < height - 1 ||
      pixels->map.size - stride * (height - 1) < (gsize)pixel_size * width) {
    gst_buffer_unmap (buffer, &pixels->map);
    return FALSE;
  }
  pixels->data = pixels->map.data;
  pixels->stride = stride;
  pixels->pixel_size = pixel_size;
  pixels->width = width;
  pixels->height = height;
  pixels->buffer = gst_buffer_ref (buffer);
  return TRUE;
}

/**
 * gst_ccl_meta_map_labels: (skip)
 * @meta: a #GstCclMeta
 * @pixels: (out caller-allocates): filled in; undefined when the function fails
 *
 * Maps the label map for reading, and downloads it if it is in CUDA memory. Any number of threads
 * may map it at the same time. It stays mapped when the metadata is freed.
 *
 * |[<!-- language="C" -->
 * GstCclPixels labels;
 * if (gst_ccl_meta_map_labels (meta, &labels)) {
 *   const guint32 *row = GST_CCL_PIXELS_ROW (&labels, y);
 *   g_print ("pixel %u, %u belongs to component %u\n", x, y, row[x]);
 *   gst_ccl_pixels_unmap (&labels);
 * }
 * ]|
 *
 * Returns: whether it is mapped; %FALSE if none is attached, it cannot be read, or it is smaller
 *   than the frame
 *
 * Since: 0.2
 */
gboolean
gst_ccl_meta_map_labels (const GstCclMeta *meta, GstCclPixels *pixels)
{
  GstBuffer *labels;
  gsize stride;

  g_return_val_if_fail (meta != NULL, FALSE);
  g_return_val_if_fail (pixels != NULL, FALSE);

  labels = gst_ccl_meta_get_labels (meta, &stride);
  return map_pixels (meta, labels, stride, sizeof (guint32), pixels);
}

/**
 * gst_ccl_meta_map_mask: (skip)
 * @meta: a #GstCclMeta
 * @pixels: (out caller-allocates): filled in; undefined when the function fails
 *
 * Maps the foreground mask for reading, as gst_ccl_meta_map_labels() maps the label map.
 *
 * Returns: whether it is mapped; %FALSE if none is attached, it cannot be read, or it is smaller
 *   than the frame
 *
 * Since: 0.2
 */
gboolean
gst_ccl_meta_map_mask (const GstCclMeta *meta, GstCclPixels *pixels)
{
  GstBuffer *mask;
  gsize stride;

  g_return_val_if_fail (meta != NULL, FALSE);
  g_return_val_if_fail (pixels != NULL, FALSE);

  mask = gst_ccl_meta_get_mask (meta, &stride);
  return map_pixels (meta, mask, stride, sizeof (guint8), pixels);
}

/**
 * gst_ccl_pixels_unmap: (skip)
 * @pixels: what gst_ccl_meta_map_labels() or gst_ccl_meta_map_mask() filled in
 *
 * Ends the mapping. The data must not be read any more.
 *
 * Since: 0.2
 */
void
gst_ccl_pixels_unmap (GstCclPixels *pixels)
{
  g_return_if_fail (pixels != NULL && pixels->buffer != NULL);

  gst_buffer_unmap (pixels->buffer, &pixels->map);
  gst_buffer_unref (pixels->buffer);
  *pixels = (GstCclPixels){NULL};
}

/* Copies mapped pixels without the padding between rows, and ends the mapping. */
static GBytes *
take_pixels (GstCclPixels *pixels)
{
  gsize row_size = (gsize)pixels->pixel_size * pixels->width;
  guint8 *packed = g_malloc (row_size * pixels->height);
  gsize size = row_size * pixels->height;

  for (guint y = 0; y < pixels->height; y++)
    memcpy (packed + y * row_size, GST_CCL_PIXELS_ROW (pixels, y), row_size);
  gst_ccl_pixels_unmap (pixels);
  return g_bytes_new_take (packed, size);
}

/**
 * gst_ccl_meta_read_labels:
 * @meta: a #GstCclMeta
 *
 * Copies the label map into system memory: row after row without padding, one native-endian
 * #guint32 a pixel, 0 for background. In Python,
 * `numpy.frombuffer (meta.read_labels ().get_data (), numpy.uint32)` is the array, to be reshaped
 * to (frame height, frame width). In C, gst_ccl_meta_map_labels() does without the copy.
 *
 * Returns: (transfer full) (nullable): the pixels; %NULL if no label map is attached or it cannot
 *   be read
 *
 * Since: 0.2
 */
GBytes *
gst_ccl_meta_read_labels (const GstCclMeta *meta)
{
  GstCclPixels pixels;

  return gst_ccl_meta_map_labels (meta, &pixels) ? take_pixels (&pixels) : NULL;
}

/**
 * gst_ccl_meta_read_mask:
 * @meta: a #GstCclMeta
 *
 * Copies the foreground mask into system memory: row after row without padding, one byte a pixel,
 * 255 for foreground, 127 for marked shadow and 0 for background.
 *
 * Returns: (transfer full) (nullable): the pixels; %NULL if no mask is attached or it cannot be
 *   read
 *
 * Since: 0.2
 */
GBytes *
gst_ccl_meta_read_mask (const GstCclMeta *meta)
{
  GstCclPixels pixels;

  return gst_ccl_meta_map_mask (meta, &pixels) ? take_pixels (&pixels) : NULL;
}
