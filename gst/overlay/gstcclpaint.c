/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclpaint.h"

#include "gstcclcolors.h"

static guint32
premultiplied_color_of_label (guint32 label, gdouble alpha)
{
  gdouble rgb[3];

  gst_ccl_color_of_number (label, rgb);
  return (guint32)(alpha * 255 + 0.5) << 24 | (guint32)(alpha * rgb[0] * 255 + 0.5) << 16 |
         (guint32)(alpha * rgb[1] * 255 + 0.5) << 8 | (guint32)(alpha * rgb[2] * 255 + 0.5);
}

#define N_COLORS 256

static void
paint_label_row (guint32 *pixels, const void *labels, gint width, const guint32 *colors)
{
  for (gint x = 0; x < width; x++) {
    guint32 label = ((const guint32 *)labels)[x];
    if (label)
      pixels[x] = colors[label % N_COLORS];
  }
}

static void
paint_mask_row (guint32 *pixels, const void *mask, gint width, const guint32 *colors)
{
  for (gint x = 0; x < width; x++) {
    if (((const guint8 *)mask)[x])
      pixels[x] = colors[0];
  }
}

static gboolean
fits (const GstCclCanvas *canvas, const GstCclMeta *meta)
{
  return (gint)gst_ccl_meta_get_frame_width (meta) == canvas->width &&
         (gint)gst_ccl_meta_get_frame_height (meta) == canvas->height;
}

/* Paints the pixels that a label map or mask is not 0 for, straight into the surface: Cairo would
 * be slow for so many pixels. Unmaps the label map or mask. */
static void
paint_pixels (GstCclCanvas *canvas, GstCclPixels *source,
    void (*paint_row) (guint32 *, const void *, gint, const guint32 *), const guint32 *colors)
{
  guint8 *pixels;
  gsize stride;

  cairo_surface_flush (canvas->surface);
  pixels = cairo_image_surface_get_data (canvas->surface);
  stride = (gsize)cairo_image_surface_get_stride (canvas->surface);
  for (gint y = 0; y < canvas->height; y++)
    paint_row ((guint32 *)(gpointer)(pixels + (gsize)y * stride), GST_CCL_PIXELS_ROW (source, y),
        canvas->width, colors);
  cairo_surface_mark_dirty (canvas->surface);
  gst_ccl_canvas_mark (canvas, 0, 0, canvas->width, canvas->height);
  gst_ccl_pixels_unmap (source);
}

gboolean
gst_ccl_paint_components (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta)
{
  guint32 colors[N_COLORS];
  GstCclPixels labels;

  if (!gst_ccl_meta_get_labels (meta, NULL) || !fits (canvas, meta))
    return TRUE;
  if (!gst_ccl_meta_map_labels (meta, &labels))
    return FALSE;
  for (guint i = 0; i < N_COLORS; i++)
    colors[i] = premultiplied_color_of_label (i, style->fill_alpha);
  paint_pixels (canvas, &labels, paint_label_row, colors);
  return TRUE;
}

gboolean
gst_ccl_paint_mask (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta)
{
  guint alpha = style->mask_color >> 24;
  guint32 color = alpha << 24;
  GstCclPixels mask;

  if (!gst_ccl_meta_get_mask (meta, NULL) || !fits (canvas, meta))
    return TRUE;
  if (!gst_ccl_meta_map_mask (meta, &mask))
    return FALSE;
  for (guint shift = 0; shift < 24; shift += 8)
    color |= ((style->mask_color >> shift & 255) * alpha + 127) / 255 << shift;
  paint_pixels (canvas, &mask, paint_mask_row, &color);
  return TRUE;
}
