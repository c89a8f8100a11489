/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclcanvas.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

/* Blending costs time for every pixel it looks at, so the canvas remembers where something was
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
  /* Readable and yet small on frames of any size. */
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
  guint n = 0;

  if (meta)
    gst_ccl_meta_get_components (meta, &n);
  if (n > 0 && (style->boxes || style->labels || style->areas || style->centroids))
    return TRUE;
  if (meta && style->mask && gst_ccl_meta_get_mask (meta, NULL))
    return TRUE;
  return meta && style->fill && gst_ccl_meta_get_n_components (meta) > 0 &&
         gst_ccl_meta_get_labels (meta, NULL);
}

/* A coordinate of any size, or none at all, as one from 0 to most. */
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

/* Where a component is in the frame: what the metadata was made for may be smaller or larger. */
typedef struct {
  gdouble x, y;
} Scale;

/* The line runs just inside the box, so that a box at the frame's edge is seen whole. */
static void
draw_boxes (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclComponent *components,
    guint n, Scale scale)
{
  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_NONE);
  set_color (canvas->cairo, style->box_color);
  /* All in one path, so that a transparent colour is laid on once where lines meet. */
  for (guint i = 0; i < n; i++) {
    const GstCclComponent *c = &components[i];
    gdouble left = floor (c->x * scale.x), right = ceil ((c->x + c->width) * scale.x);
    gdouble top = floor (c->y * scale.y), bottom = ceil ((c->y + c->height) * scale.y);
    gdouble width = right - left, height = bottom - top;
    /* A box that has no room for two lines is filled: video keeps colour at half resolution, so a
     * thinner line might not be seen. */
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
draw_texts (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclComponent *components,
    guint n, Scale scale)
{
  set_color (canvas->cairo, style->text_color);
  for (guint i = 0; i < n; i++) {
    const GstCclComponent *c = &components[i];
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
draw_centroids (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclComponent *components,
    guint n, Scale scale)
{
  const gdouble arm = 3;

  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_NONE);
  set_color (canvas->cairo, style->centroid_color);
  for (guint i = 0; i < n; i++) {
    gdouble x = floor ((components[i].centroid_x + 0.5) * scale.x);
    gdouble y = floor ((components[i].centroid_y + 0.5) * scale.y);

    cairo_rectangle (canvas->cairo, x - arm, y, 2 * arm + 1, 1);
    cairo_rectangle (canvas->cairo, x, y - arm, 1, arm);
    cairo_rectangle (canvas->cairo, x, y + 1, 1, arm);
    mark (canvas, x - arm, y - arm, 2 * arm + 1, 2 * arm + 1);
  }
  cairo_fill (canvas->cairo);
  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_DEFAULT);
}

/* Neighbouring numbers get hues far apart: steps of the golden ratio around the colour circle. */
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

/* Paints the pixels that a label map or mask has values for, straight into the surface: of all
 * pixels, Cairo would be slow. A map of another size is left out. */
static gboolean
paint_map (GstCclCanvas *canvas, const GstCclMeta *meta, GstBuffer *buffer, gsize stride,
    gsize pixel_size, void (*paint_row) (guint32 *, const void *, gint, const guint32 *),
    const guint32 *colors)
{
  guint8 *pixels;
  gint pixels_stride;
  GstMapInfo map;

  if (!buffer || (gint)gst_ccl_meta_get_frame_width (meta) != canvas->width ||
      (gint)gst_ccl_meta_get_frame_height (meta) != canvas->height)
    return TRUE;
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  if (map.size < stride * (gsize)(canvas->height - 1) + pixel_size * (gsize)canvas->width) {
    gst_buffer_unmap (buffer, &map);
    return FALSE;
  }

  cairo_surface_flush (canvas->surface);
  pixels = cairo_image_surface_get_data (canvas->surface);
  pixels_stride = cairo_image_surface_get_stride (canvas->surface);
  for (gint y = 0; y < canvas->height; y++)
    paint_row ((guint32 *)(pixels + y * (gsize)pixels_stride), map.data + (gsize)y * stride,
        canvas->width, colors);
  cairo_surface_mark_dirty (canvas->surface);
  mark (canvas, 0, 0, canvas->width, canvas->height);
  gst_buffer_unmap (buffer, &map);
  return TRUE;
}

static gboolean
fill_components (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta)
{
  guint32 colors[N_COLORS];
  gsize stride;
  GstBuffer *labels = gst_ccl_meta_get_labels (meta, &stride);

  for (guint i = 0; i < N_COLORS; i++)
    colors[i] = premultiplied_color_of_label (i, style->fill_alpha);
  return paint_map (canvas, meta, labels, stride, sizeof (guint32), paint_labels, colors);
}

static gboolean
draw_mask (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta)
{
  guint alpha = style->mask_color >> 24;
  guint32 color = alpha << 24;
  gsize stride;
  GstBuffer *mask = gst_ccl_meta_get_mask (meta, &stride);

  for (guint shift = 0; shift < 24; shift += 8)
    color |= ((style->mask_color >> shift & 255) * alpha + 127) / 255 << shift;
  return paint_map (canvas, meta, mask, stride, sizeof (guint8), paint_mask, &color);
}

gboolean
gst_ccl_canvas_draw (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta)
{
  Scale scale = {
      (gdouble)canvas->width / gst_ccl_meta_get_frame_width (meta),
      (gdouble)canvas->height / gst_ccl_meta_get_frame_height (meta),
  };
  gboolean painted = TRUE;
  guint n;
  const GstCclComponent *components = gst_ccl_meta_get_components (meta, &n);

  if (style->mask)
    painted = draw_mask (canvas, style, meta);
  if (style->fill)
    painted = fill_components (canvas, style, meta) && painted;
  if (style->boxes)
    draw_boxes (canvas, style, components, n, scale);
  if (style->centroids)
    draw_centroids (canvas, style, components, n, scale);
  if (style->labels || style->areas)
    draw_texts (canvas, style, components, n, scale);
  return painted;
}

/* One part of the canvas as a rectangle of the composition. */
static GstVideoOverlayRectangle *
rectangle_of (GstCclCanvas *canvas, GstMemory *memory, gint x, gint y, gint width, gint height)
{
  gsize stride = (gsize)cairo_image_surface_get_stride (canvas->surface);
  gsize offsets[GST_VIDEO_MAX_PLANES] = {(gsize)y * stride + 4 * (gsize)x};
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

gboolean
gst_ccl_canvas_blend (GstCclCanvas *canvas, GstVideoFrame *frame)
{
  gsize size = (gsize)cairo_image_surface_get_stride (canvas->surface) * (gsize)canvas->height;
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
      GstVideoOverlayRectangle *rectangle = rectangle_of (canvas, memory, band->left, y,
          band->right - band->left, MIN (BAND_HEIGHT, canvas->height - y));
      gst_video_overlay_composition_add_rectangle (composition, rectangle);
      gst_video_overlay_rectangle_unref (rectangle);
    }
  }
  blended = gst_video_overlay_composition_blend (composition, frame);
  gst_video_overlay_composition_unref (composition);
  gst_memory_unref (memory);

  for (guint i = 0; i < canvas->n_bands; i++) {
    gint y = (gint)i * BAND_HEIGHT;
    if (canvas->bands[i].left < canvas->bands[i].right)
      clear_rows (canvas, &canvas->bands[i], y, MIN (BAND_HEIGHT, canvas->height - y));
  }
  cairo_surface_mark_dirty (canvas->surface);
  clear_bands (canvas);
  return blended;
}
