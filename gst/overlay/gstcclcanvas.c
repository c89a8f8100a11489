/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclcanvas.h"
#include "core/base/divide-up.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

static void
clear_bands (GstCclCanvas *canvas)
{
  for (guint i = 0; i < canvas->n_bands; i++)
    canvas->bands[i] = (GstCclBand){canvas->width, 0};
}

GstCclCanvas *
gst_ccl_canvas_new (guint width, guint height)
{
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, (int)width, (int)height);
  PangoFontDescription *font;
  GstCclCanvas *canvas;

  if (cairo_surface_status (surface) != CAIRO_STATUS_SUCCESS) {
    cairo_surface_destroy (surface);
    return NULL;
  }

  canvas = g_new0 (GstCclCanvas, 1);
  canvas->width = (gint)width;
  canvas->height = (gint)height;
  canvas->surface = surface;
  canvas->cairo = cairo_create (surface);
  cairo_set_line_join (canvas->cairo, CAIRO_LINE_JOIN_MITER);
  canvas->layout = pango_cairo_create_layout (canvas->cairo);
  font = pango_font_description_from_string ("Sans Bold");
  canvas->font_size = MAX (10.0, canvas->height / 40.0);
  pango_font_description_set_absolute_size (font, canvas->font_size * PANGO_SCALE);
  pango_layout_set_font_description (canvas->layout, font);
  pango_font_description_free (font);

  canvas->n_bands = divide_up (height, GST_CCL_BAND_HEIGHT);
  canvas->bands = g_new (GstCclBand, canvas->n_bands);
  clear_bands (canvas);
  gst_ccl_text_grid_init (
      &canvas->texts, canvas->width, canvas->height, (gint)ceil (canvas->font_size / 5));
  return canvas;
}

void
gst_ccl_canvas_free (GstCclCanvas *canvas)
{
  g_object_unref (canvas->layout);
  cairo_destroy (canvas->cairo);
  cairo_surface_destroy (canvas->surface);
  gst_ccl_text_grid_clear (&canvas->texts);
  g_free (canvas->bands);
  g_free (canvas);
}

gint
gst_ccl_canvas_clamp (gdouble coordinate, gint most)
{
  return (gint)fmax (fmin (coordinate, most), 0);
}

void
gst_ccl_canvas_mark (GstCclCanvas *canvas, gdouble x, gdouble y, gdouble width, gdouble height)
{
  gint left = gst_ccl_canvas_clamp (floor (x), canvas->width),
       right = gst_ccl_canvas_clamp (ceil (x + width), canvas->width);
  gint top = gst_ccl_canvas_clamp (floor (y), canvas->height),
       bottom = gst_ccl_canvas_clamp (ceil (y + height), canvas->height);

  if (left >= right)
    return;
  for (gint band = top / GST_CCL_BAND_HEIGHT; band * GST_CCL_BAND_HEIGHT < bottom; band++) {
    canvas->bands[band].left = MIN (canvas->bands[band].left, left);
    canvas->bands[band].right = MAX (canvas->bands[band].right, right);
  }
}

void
gst_ccl_canvas_add_rectangle (
    GstCclCanvas *canvas, gdouble x, gdouble y, gdouble width, gdouble height)
{
  cairo_rectangle (canvas->cairo, x, y, width, height);
  gst_ccl_canvas_mark (canvas, x, y, width, height);
}

void
gst_ccl_canvas_set_color (GstCclCanvas *canvas, guint argb)
{
  cairo_set_source_rgba (canvas->cairo, (argb >> 16 & 255) / 255.0, (argb >> 8 & 255) / 255.0,
      (argb & 255) / 255.0, (argb >> 24 & 255) / 255.0);
}

/* Pixels of the canvas that begin at an offset of a memory, as a rectangle at (x, y). */
static GstVideoOverlayRectangle *
rectangle_of (
    GstMemory *memory, gsize offset, gsize stride, gint x, gint y, gint width, gint height)
{
  gsize offsets[GST_VIDEO_MAX_PLANES] = {offset};
  gint strides[GST_VIDEO_MAX_PLANES] = {(gint)stride};
  g_autoptr (GstBuffer) pixels = gst_buffer_new ();

  gst_buffer_append_memory (pixels, gst_memory_ref (memory));
  gst_buffer_add_video_meta_full (pixels, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, (guint)width, (guint)height, 1, offsets, strides);
  return gst_video_overlay_rectangle_new_raw (
      pixels, x, y, (guint)width, (guint)height, GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
}

static void
clear_rows (GstCclCanvas *canvas, const GstCclBand *band, gint y, gint height)
{
  gsize stride = (gsize)cairo_image_surface_get_stride (canvas->surface);
  guint8 *pixels = cairo_image_surface_get_data (canvas->surface);

  for (gint row = y; row < y + height; row++)
    memset (pixels + (gsize)row * stride + 4 * (gsize)band->left, 0,
        4 * (gsize)(band->right - band->left));
}

static void
clear_canvas (GstCclCanvas *canvas)
{
  for (guint i = 0; i < canvas->n_bands; i++) {
    gint y = (gint)i * GST_CCL_BAND_HEIGHT;
    if (canvas->bands[i].left < canvas->bands[i].right)
      clear_rows (canvas, &canvas->bands[i], y, MIN (GST_CCL_BAND_HEIGHT, canvas->height - y));
  }
  cairo_surface_mark_dirty (canvas->surface);
  clear_bands (canvas);
}

gboolean
gst_ccl_canvas_blend (GstCclCanvas *canvas, GstVideoFrame *frame)
{
  gsize stride = (gsize)cairo_image_surface_get_stride (canvas->surface);
  gsize size = stride * (gsize)canvas->height;
  GstVideoOverlayComposition *composition = gst_video_overlay_composition_new (NULL);
  gboolean blended;
  GstMemory *memory;

  cairo_surface_flush (canvas->surface);
  memory = gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY,
      cairo_image_surface_get_data (canvas->surface), size, 0, size, NULL, NULL);
  for (guint i = 0; i < canvas->n_bands; i++) {
    const GstCclBand *band = &canvas->bands[i];
    gint y = (gint)i * GST_CCL_BAND_HEIGHT;

    if (band->left < band->right) {
      GstVideoOverlayRectangle *rectangle =
          rectangle_of (memory, (gsize)y * stride + 4 * (gsize)band->left, stride, band->left, y,
              band->right - band->left, MIN (GST_CCL_BAND_HEIGHT, canvas->height - y));
      gst_video_overlay_composition_add_rectangle (composition, rectangle);
      gst_video_overlay_rectangle_unref (rectangle);
    }
  }
  blended = gst_video_overlay_composition_blend (composition, frame);
  gst_video_overlay_composition_unref (composition);
  gst_memory_unref (memory);
  clear_canvas (canvas);
  return blended;
}

/* The smallest rectangle of whole bands that covers the drawing. FALSE if nothing was drawn. */
static gboolean
get_drawn (const GstCclCanvas *canvas, GstVideoRectangle *drawn)
{
  gint left = canvas->width, right = 0, top = canvas->height, bottom = 0;

  for (guint i = 0; i < canvas->n_bands; i++) {
    const GstCclBand *band = &canvas->bands[i];
    gint y = (gint)i * GST_CCL_BAND_HEIGHT;

    if (band->left >= band->right)
      continue;
    left = MIN (left, band->left);
    right = MAX (right, band->right);
    top = MIN (top, y);
    bottom = MIN (y + GST_CCL_BAND_HEIGHT, canvas->height);
  }
  *drawn = (GstVideoRectangle){left, top, right - left, bottom - top};
  return left < right;
}

GstVideoOverlayRectangle *
gst_ccl_canvas_take_rectangle (GstCclCanvas *canvas)
{
  gsize stride = (gsize)cairo_image_surface_get_stride (canvas->surface), row_size;
  GstVideoOverlayRectangle *rectangle;
  GstVideoRectangle drawn;
  const guint8 *source;
  GstMemory *memory;
  guint8 *pixels;

  if (!get_drawn (canvas, &drawn))
    return NULL;
  row_size = 4 * (gsize)drawn.w;
  pixels = g_malloc (row_size * (gsize)drawn.h);
  cairo_surface_flush (canvas->surface);
  source =
      cairo_image_surface_get_data (canvas->surface) + (gsize)drawn.y * stride + 4 * (gsize)drawn.x;
  for (gint y = 0; y < drawn.h; y++)
    memcpy (pixels + (gsize)y * row_size, source + (gsize)y * stride, row_size);
  memory = gst_memory_new_wrapped (
      0, pixels, row_size * (gsize)drawn.h, 0, row_size * (gsize)drawn.h, pixels, g_free);
  rectangle = rectangle_of (memory, 0, row_size, drawn.x, drawn.y, drawn.w, drawn.h);
  gst_memory_unref (memory);
  clear_canvas (canvas);
  return rectangle;
}
