/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pixels of a label map or mask, wherever their memory is. */
#ifndef __GST_CCL_PIXELS_H__
#define __GST_CCL_PIXELS_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/ccl/gstcclmeta.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstCclPixels GstCclPixels;

/**
 * GstCclPixels: (skip)
 * @data: the first row: of a label map one native-endian #guint32 a pixel, 0 for background; of a
 *   mask one #guint8 a pixel, 255 for foreground, 127 for marked shadow, 0 for background
 * @stride: bytes from one row to the next
 * @pixel_size: bytes of a pixel: 4 of a label map, 1 of a mask
 * @width: pixels in a row, the width of the frame
 * @height: rows, the height of the frame
 *
 * A label map or mask that is mapped for reading in system memory.
 *
 * Since: 0.2
 */
struct _GstCclPixels {
  gconstpointer data;
  gsize stride;
  guint pixel_size;
  guint width;
  guint height;

  /*< private >*/
  GstBuffer *buffer;
  GstMapInfo map;
  gpointer _gst_reserved[GST_PADDING];
};

/**
 * GST_CCL_PIXELS_ROW: (skip)
 * @pixels: a #GstCclPixels
 * @y: a row, below the height
 *
 * The address of the first pixel of a row.
 *
 * Since: 0.2
 */
#define GST_CCL_PIXELS_ROW(pixels, y)                                                              \
  ((gconstpointer)((const guint8 *)(pixels)->data + (gsize)(y) * (pixels)->stride))

GST_CCL_API
gboolean gst_ccl_meta_map_labels (const GstCclMeta *meta, GstCclPixels *pixels);

GST_CCL_API
gboolean gst_ccl_meta_map_mask (const GstCclMeta *meta, GstCclPixels *pixels);

GST_CCL_API
void gst_ccl_pixels_unmap (GstCclPixels *pixels);

GST_CCL_API
GBytes *gst_ccl_meta_read_labels (const GstCclMeta *meta);

GST_CCL_API
GBytes *gst_ccl_meta_read_mask (const GstCclMeta *meta);

G_END_DECLS

#endif /* __GST_CCL_PIXELS_H__ */
