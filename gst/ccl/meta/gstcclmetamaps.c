/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The label map and the foreground mask of a GstCclMeta. */
#include "gstcclmeta-private.h"

/**
 * gst_ccl_meta_get_labels: (skip)
 * @meta: a #GstCclMeta
 * @stride: (out) (optional): bytes from one row to the next; 0 if none is attached
 *
 * The label map: one native-endian guint32 for each pixel of the frame, 0 for background,
 * otherwise the label of the pixel's component. It is complete also when the table is truncated.
 * From `ccl` it is system memory, from `cudaccl` CUDA memory, which gst_buffer_map() downloads
 * unless it is called with GST_MAP_CUDA. gst_ccl_meta_map_labels() maps it as rows.
 *
 * Returns: (transfer none) (nullable): the label map, or %NULL if none is attached
 *
 * Since: 0.2
 */
GstBuffer *
gst_ccl_meta_get_labels (const GstCclMeta *meta, gsize *stride)
{
  g_return_val_if_fail (meta != NULL, NULL);

  if (stride)
    *stride = meta->labels ? meta->labels_stride : 0;
  return meta->labels;
}

/**
 * gst_ccl_meta_get_mask: (skip)
 * @meta: a #GstCclMeta
 * @stride: (out) (optional): bytes from one row to the next; 0 if none is attached
 *
 * The foreground mask: one byte for each pixel of the frame, 255 for foreground, 127 for
 * marked shadow and 0 for background, before small and large components were
 * removed. The elements attach it when their property `attach-mask` is set. From `ccl` it is system
 * memory, from `cudaccl` CUDA memory, which gst_buffer_map() downloads unless it is called with
 * GST_MAP_CUDA. gst_ccl_meta_map_mask() maps it as rows.
 *
 * Returns: (transfer none) (nullable): the mask, or %NULL if none is attached
 *
 * Since: 0.2
 */
GstBuffer *
gst_ccl_meta_get_mask (const GstCclMeta *meta, gsize *stride)
{
  g_return_val_if_fail (meta != NULL, NULL);

  if (stride)
    *stride = meta->mask ? meta->mask_stride : 0;
  return meta->mask;
}

static GstBuffer *
ref_if_any (GstBuffer *buffer)
{
  return buffer ? gst_buffer_ref (buffer) : NULL;
}

/**
 * gst_ccl_meta_dup_labels: (rename-to gst_ccl_meta_get_labels)
 * @meta: a #GstCclMeta
 * @stride: (out) (optional): bytes from one row to the next; 0 if none is attached
 *
 * The label map as gst_ccl_meta_get_labels() returns it, with a reference of its own.
 * gst_ccl_meta_read_labels() copies its pixels.
 *
 * Returns: (transfer full) (nullable): the label map, or %NULL if none is attached
 *
 * Since: 0.2
 */
GstBuffer *
gst_ccl_meta_dup_labels (const GstCclMeta *meta, gsize *stride)
{
  return ref_if_any (gst_ccl_meta_get_labels (meta, stride));
}

/**
 * gst_ccl_meta_dup_mask: (rename-to gst_ccl_meta_get_mask)
 * @meta: a #GstCclMeta
 * @stride: (out) (optional): bytes from one row to the next; 0 if none is attached
 *
 * The foreground mask as gst_ccl_meta_get_mask() returns it, with a reference of its own.
 * gst_ccl_meta_read_mask() copies its pixels.
 *
 * Returns: (transfer full) (nullable): the mask, or %NULL if none is attached
 *
 * Since: 0.2
 */
GstBuffer *
gst_ccl_meta_dup_mask (const GstCclMeta *meta, gsize *stride)
{
  return ref_if_any (gst_ccl_meta_get_mask (meta, stride));
}

/**
 * gst_ccl_meta_set_mask: (skip)
 * @meta: a #GstCclMeta of a writable buffer
 * @mask: (transfer none) (nullable): one byte for each pixel of the frame, 255 for foreground,
 *   127 for marked shadow, 0 for background; a reference is kept. %NULL removes the mask
 * @stride: bytes from one row of @mask to the next, at least the frame's width
 *
 * Attaches a foreground mask, in place of the present one.
 *
 * Since: 0.2
 */
void
gst_ccl_meta_set_mask (GstCclMeta *meta, GstBuffer *mask, gsize stride)
{
  g_return_if_fail (meta != NULL);
  g_return_if_fail (mask == NULL || stride >= meta->frame_width);

  gst_buffer_replace (&meta->mask, mask);
  meta->mask_stride = stride;
}
