/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclcanvas.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

/* Blending takes time for every pixel, drawn on or not, so the canvas remembers where something was
 * drawn: an interval of columns for each band of rows. */
#define BAND_HEIGHT 16

typedef struct {
  gint left, right; /* columns [left, right); empty if left ≥ right */
} Band;

struct _GstCclCanvas {
  gint width, height;
  cairo_surface_t *surface;
  cairo_t *cairo;
  PangoLayout *layout;
  guint n_bands;
  Band *bands;
};

static void
clear_bands (GstCclCanvas *canvas)
{
  for (guint i = 0; i < canvas->n_bands; i++)
    canvas->bands[i] = (Band){canvas->width, 0};
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
  /* Readable, yet small, on frames of any size. */
  pango_font_description_set_absolute_size (font, MAX (10.0, canvas->height / 60.0) * PANGO_SCALE);
  pango_layout_set_font_description (canvas->layout, font);
  pango_font_description_free (font);

  canvas->n_bands = (height + BAND_HEIGHT - 1) / BAND_HEIGHT;
  canvas->bands = g_new (Band, canvas->n_bands);
  clear_bands (canvas);
  return canvas;
}

void
gst_ccl_canvas_free (GstCclCanvas *canvas)
{
  g_object_unref (canvas->layout);
  cairo_destroy (canvas->cairo);
  cairo_surface_destroy (canvas->surface);
  g_free (canvas->bands);
  g_free (canvas);
}

gboolean
gst_ccl_style_draws (const GstCclStyle *style, const GstCclMeta *meta)
{
  if (!meta)
    return FALSE;
  if (gst_ccl_meta_get_n_rows (meta) > 0 &&
      (style->boxes || style->labels || style->areas || style->centroids))
    return TRUE;
  if (style->mask && gst_ccl_meta_get_mask (meta, NULL))
    return TRUE;
  return style->fill && gst_ccl_meta_get_n_components (meta) > 0 &&
         gst_ccl_meta_get_labels (meta, NULL);
}

/* A coordinate of any size, or NaN, as one from 0 to most. */
static gint
clamp (gdouble coordinate, gint most)
{
  return (gint)fmax (fmin (coordinate, most), 0);
}

static void
mark (GstCclCanvas *canvas, gdouble x, gdouble y, gdouble width, gdouble height)
{
  gint left = clamp (floor (x), canvas->width), right = clamp (ceil (x + width), canvas->width);
  gint top = clamp (floor (y), canvas->height), bottom = clamp (ceil (y + height), canvas->height);

  if (left >= right)
    return;
  for (gint band = top / BAND_HEIGHT; band * BAND_HEIGHT < bottom; band++) {
    canvas->bands[band].left = MIN (canvas->bands[band].left, left);
    canvas->bands[band].right = MAX (canvas->bands[band].right, right);
  }
}

static void
set_color (cairo_t *cairo, guint argb)
{
  cairo_set_source_rgba (cairo, (argb >> 16 & 255) / 255.0, (argb >> 8 & 255) / 255.0,
      (argb & 255) / 255.0, (argb >> 24 & 255) / 255.0);
}

/* From coordinates of the metadata, whose frame may be smaller or larger, to the canvas. */
typedef struct {
  gdouble x, y;
} Scale;

/* The line is just inside the box, so that a box at the frame's edge is visible as a whole. */
static void
draw_boxes (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta, Scale scale)
{
  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_NONE);
  set_color (canvas->cairo, style->box_color);
  /* All in one path, so that a transparent colour is applied once where lines meet. */
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);
    gdouble left = floor (c->x * scale.x), right = ceil ((c->x + c->width) * scale.x);
    gdouble top = floor (c->y * scale.y), bottom = ceil ((c->y + c->height) * scale.y);
    gdouble width = right - left, height = bottom - top;
    /* A box that has no room for two lines is filled: video has colour at half resolution, so a
     * thinner line might be invisible. */
    gdouble line = MIN (style->box_width, ceil (MIN (width, height) / 2));

    cairo_rectangle (canvas->cairo, left, top, width, line);
    cairo_rectangle (canvas->cairo, left, bottom - line, width, line);
    cairo_rectangle (canvas->cairo, left, top, line, height);
    cairo_rectangle (canvas->cairo, right - line, top, line, height);
    mark (canvas, left, top, right - left, line);
    mark (canvas, left, bottom - line, right - left, line);
    mark (canvas, left, top, line, bottom - top);
    mark (canvas, right - line, top, line, bottom - top);
  }
  cairo_fill (canvas->cairo);
  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_DEFAULT);
}

static void
draw_texts (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta, Scale scale)
{
  set_color (canvas->cairo, style->text_color);
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);
    gchar text[32];
    int width, height;
    gdouble x, y;

    if (style->labels && style->areas)
      g_snprintf (text, sizeof text, "%u: %u", c->label, c->area);
    else
      g_snprintf (text, sizeof text, "%u", style->labels ? c->label : c->area);
    pango_layout_set_text (canvas->layout, text, -1);
    pango_layout_get_pixel_size (canvas->layout, &width, &height);

    /* Above the box; inside where there is no room above. */
    x = CLAMP (c->x * scale.x, 0, MAX (canvas->width - width, 0));
    y = c->y * scale.y - height;
    if (y < 0)
      y = MIN (c->y * scale.y, MAX (canvas->height - height, 0));
    cairo_move_to (canvas->cairo, floor (x), floor (y));
    pango_cairo_show_layout (canvas->cairo, canvas->layout);
    mark (canvas, x - 1, y - 1, width + 3, height + 3);
  }
}

/* A cross of which the centroid's pixel is the middle. */
static void
draw_centroids (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta, Scale scale)
{
  const gdouble arm = 3;

  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_NONE);
  set_color (canvas->cairo, style->centroid_color);
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);
    gdouble x = floor ((c->centroid_x + 0.5) * scale.x);
    gdouble y = floor ((c->centroid_y + 0.5) * scale.y);

    cairo_rectangle (canvas->cairo, x - arm, y, 2 * arm + 1, 1);
    cairo_rectangle (canvas->cairo, x, y - arm, 1, arm);
    cairo_rectangle (canvas->cairo, x, y + 1, 1, arm);
    mark (canvas, x - arm, y - arm, 2 * arm + 1, 2 * arm + 1);
  }
  cairo_fill (canvas->cairo);
  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_DEFAULT);
}

/* Consecutive labels get hues far apart: steps of the golden ratio around the colour circle. */
static guint32
premultiplied_color_of_label (guint32 label, gdouble alpha)
{
  gdouble hue = fmod (label * 0.6180339887498949, 1.0) * 6, rest = hue - floor (hue);
  gdouble rgb[3] = {0, 0, 0};
  guint sector = (guint)hue;

  rgb[(sector + 1) / 2 % 3] = 1;
  rgb[(7 - sector) % 3] = sector % 2 ? 1 - rest : rest;
  return (guint32)(alpha * 255 + 0.5) << 24 | (guint32)(alpha * rgb[0] * 255 + 0.5) << 16 |
         (guint32)(alpha * rgb[1] * 255 + 0.5) << 8 | (guint32)(alpha * rgb[2] * 255 + 0.5);
}

#define N_COLORS 256

static void
paint_labels (guint32 *pixels, const void *labels, gint width, const guint32 *colors)
{
  for (gint x = 0; x < width; x++) {
    guint32 label = ((const guint32 *)labels)[x];
    if (label)
      pixels[x] = colors[label % N_COLORS];
  }
}

static void
paint_mask (guint32 *pixels, const void *mask, gint width, const guint32 *colors)
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
  mark (canvas, 0, 0, canvas->width, canvas->height);
  gst_ccl_pixels_unmap (source);
}

/* FALSE if the label map cannot be read. One of another size is ignored, as is one that is
 * missing. */
static gboolean
fill_components (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta)
{
  guint32 colors[N_COLORS];
  GstCclPixels labels;

  if (!gst_ccl_meta_get_labels (meta, NULL) || !fits (canvas, meta))
    return TRUE;
  if (!gst_ccl_meta_map_labels (meta, &labels))
    return FALSE;
  for (guint i = 0; i < N_COLORS; i++)
    colors[i] = premultiplied_color_of_label (i, style->fill_alpha);
  paint_pixels (canvas, &labels, paint_labels, colors);
  return TRUE;
}

/* As fill_components(), for the mask. */
static gboolean
draw_mask (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta)
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
  paint_pixels (canvas, &mask, paint_mask, &color);
  return TRUE;
}

/* The layers, from the lowest to the uppermost. */
gboolean
gst_ccl_canvas_draw (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta)
{
  Scale scale = {
      (gdouble)canvas->width / gst_ccl_meta_get_frame_width (meta),
      (gdouble)canvas->height / gst_ccl_meta_get_frame_height (meta),
  };
  gboolean painted = TRUE;

  if (style->mask)
    painted = draw_mask (canvas, style, meta);
  if (style->fill)
    painted = fill_components (canvas, style, meta) && painted;
  if (style->boxes)
    draw_boxes (canvas, style, meta, scale);
  if (style->centroids)
    draw_centroids (canvas, style, meta, scale);
  if (style->labels || style->areas)
    draw_texts (canvas, style, meta, scale);
  return painted;
}

/* Pixels of the canvas that begin at an offset of a memory, as a rectangle at (x, y). */
static GstVideoOverlayRectangle *
rectangle_of (
    GstMemory *memory, gsize offset, gsize stride, gint x, gint y, gint width, gint height)
{
  gsize offsets[GST_VIDEO_MAX_PLANES] = {offset};
  gint strides[GST_VIDEO_MAX_PLANES] = {(gint)stride};
  GstBuffer *pixels = gst_buffer_new ();
  GstVideoOverlayRectangle *rectangle;

  gst_buffer_append_memory (pixels, gst_memory_ref (memory));
  gst_buffer_add_video_meta_full (pixels, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, (guint)width, (guint)height, 1, offsets, strides);
  rectangle = gst_video_overlay_rectangle_new_raw (
      pixels, x, y, (guint)width, (guint)height, GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
  gst_buffer_unref (pixels);
  return rectangle;
}

static void
clear_rows (GstCclCanvas *canvas, const Band *band, gint y, gint height)
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
    gint y = (gint)i * BAND_HEIGHT;
    if (canvas->bands[i].left < canvas->bands[i].right)
      clear_rows (canvas, &canvas->bands[i], y, MIN (BAND_HEIGHT, canvas->height - y));
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
    const Band *band = &canvas->bands[i];
    gint y = (gint)i * BAND_HEIGHT;

    if (band->left < band->right) {
      GstVideoOverlayRectangle *rectangle =
          rectangle_of (memory, (gsize)y * stride + 4 * (gsize)band->left, stride, band->left, y,
              band->right - band->left, MIN (BAND_HEIGHT, canvas->height - y));
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
    const Band *band = &canvas->bands[i];
    gint y = (gint)i * BAND_HEIGHT;

    if (band->left >= band->right)
      continue;
    left = MIN (left, band->left);
    right = MAX (right, band->right);
    top = MIN (top, y);
    bottom = MIN (y + BAND_HEIGHT, canvas->height);
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
