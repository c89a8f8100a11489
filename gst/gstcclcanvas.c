/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclcanvas.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

#include "gstcclregionview.h"
#include "gstccltextgrid.h"

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
  gdouble font_size; /* pixels */
  GstCclTextGrid texts;
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
  canvas->font_size = MAX (10.0, canvas->height / 40.0);
  pango_font_description_set_absolute_size (font, canvas->font_size * PANGO_SCALE);
  pango_layout_set_font_description (canvas->layout, font);
  pango_font_description_free (font);

  canvas->n_bands = (height + BAND_HEIGHT - 1) / BAND_HEIGHT;
  canvas->bands = g_new (Band, canvas->n_bands);
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

static gboolean
draws_texts (const GstCclStyle *style)
{
  return style->ids || style->labels || style->areas;
}

gboolean
gst_ccl_style_draws (const GstCclStyle *style, const GstCclScene *scene)
{
  const GstCclMeta *meta = scene->meta;

  if (!meta)
    return FALSE;
  if (gst_ccl_meta_get_n_rows (meta) > 0 &&
      (style->boxes || style->labels || style->areas || style->centroids))
    return TRUE;
  if (gst_ccl_meta_get_track (meta, 0) && (style->ids || style->trail_length > 0))
    return TRUE;
  if (style->trail_length > 0 && gst_ccl_trails_get_n (scene->trails) > 0)
    return TRUE;
  if (style->regions && scene->regions && scene->regions->len > 0)
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

/* Adds a rectangle to the path. */
static void
add_rectangle (GstCclCanvas *canvas, gdouble x, gdouble y, gdouble width, gdouble height)
{
  cairo_rectangle (canvas->cairo, x, y, width, height);
  mark (canvas, x, y, width, height);
}

static void
set_color (cairo_t *cairo, guint argb)
{
  cairo_set_source_rgba (cairo, (argb >> 16 & 255) / 255.0, (argb >> 8 & 255) / 255.0,
      (argb & 255) / 255.0, (argb >> 24 & 255) / 255.0);
}

#define OUTLINE_COLOR 0xa0000000

typedef struct {
  gdouble x, y;
} Point; /* of the canvas */

/* From coordinates of the metadata, whose frame may be smaller or larger, to the canvas. */
typedef struct {
  gdouble x, y;
} Scale;

/* The unit of lines that grow with the frame, in pixels: a 576th of its height, at least 1. */
static gdouble
line_unit (const GstCclCanvas *canvas)
{
  return MAX (1, round (canvas->height / 576.0));
}

static gdouble
box_line_width (const GstCclCanvas *canvas, const GstCclStyle *style)
{
  return style->box_width > 0 ? style->box_width : MAX (2, round (canvas->height / 288.0));
}

/* Consecutive numbers get hues far apart: steps of the golden ratio around the colour circle. */
static void
color_of_number (guint64 number, gdouble rgb[3])
{
  const gdouble hue = fmod ((gdouble)(number % 100000) * 0.6180339887498949, 1.0) * 6;
  const gdouble rest = hue - floor (hue);
  const guint sector = (guint)hue;

  rgb[0] = rgb[1] = rgb[2] = 0;
  rgb[(sector + 1) / 2 % 3] = 1;
  rgb[(7 - sector) % 3] = sector % 2 ? 1 - rest : rest;
}

/* The opaque colour of a track: light, so that it is seen on a dark backdrop. */
static guint
color_of_id (guint64 id)
{
  gdouble rgb[3];
  guint color = 0xff;

  color_of_number (id, rgb);
  for (guint i = 0; i < 3; i++)
    color = color << 8 | (guint)(255 * (0.3 + 0.7 * rgb[i]) + 0.5);
  return color;
}

/* The colour of a row's box or text. */
static guint
color_of_row (const GstCclStyle *style, const GstCclMeta *meta, guint row, guint color)
{
  const GstCclTrackInfo *track = style->track_colors ? gst_ccl_meta_get_track (meta, row) : NULL;

  return track ? color_of_id (track->id) : color;
}

/* A box on the canvas. */
static GstVideoRectangle
scale_box (const GstCclComponent *c, Scale scale)
{
  const gdouble left = floor (c->x * scale.x), right = ceil (((gdouble)c->x + c->width) * scale.x);
  const gdouble top = floor (c->y * scale.y), bottom = ceil (((gdouble)c->y + c->height) * scale.y);
  const gint x = (gint)MIN (left, G_MAXINT / 4), y = (gint)MIN (top, G_MAXINT / 4);

  return (GstVideoRectangle){
      x, y, (gint)MIN (right - x, G_MAXINT / 4), (gint)MIN (bottom - y, G_MAXINT / 4)};
}

/* The line is just inside the box, so that a box at the frame's edge is visible as a whole. Boxes
 * of one colour are one path, so that a transparent colour is applied once where lines meet. */
static void
draw_boxes (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta, Scale scale)
{
  const gdouble line_width = box_line_width (canvas, style);
  guint color = 0;

  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_NONE);
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstVideoRectangle box = scale_box (gst_ccl_meta_get_component (meta, i), scale);
    const guint color_of_box = color_of_row (style, meta, i, style->box_color);
    /* A box that has no room for two lines is filled: video has colour at half resolution, so a
     * thinner line might be invisible. */
    const gdouble line = MIN (line_width, ceil (MIN (box.w, box.h) / 2.0));

    if (color_of_box != color)
      cairo_fill (canvas->cairo);
    color = color_of_box;
    set_color (canvas->cairo, color);
    add_rectangle (canvas, box.x, box.y, box.w, line);
    add_rectangle (canvas, box.x, box.y + box.h - line, box.w, line);
    add_rectangle (canvas, box.x, box.y, line, box.h);
    add_rectangle (canvas, box.x + box.w - line, box.y, line, box.h);
  }
  cairo_fill (canvas->cairo);
  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_DEFAULT);
}

/* Writes a text near a box, on a backdrop, where no other text is. */
static void
draw_text (GstCclCanvas *canvas, const GstCclStyle *style, const gchar *text,
    const GstVideoRectangle *box, guint color)
{
  const gint margin = (gint)(canvas->font_size / 10);
  gint width, height, x, y;

  pango_layout_set_text (canvas->layout, text, -1);
  pango_layout_get_pixel_size (canvas->layout, &width, &height);
  width += 2 * margin;
  if (!gst_ccl_text_grid_take (&canvas->texts, box, width, height, &x, &y))
    return;
  set_color (canvas->cairo, style->backdrop_color);
  cairo_rectangle (canvas->cairo, x, y, width, height);
  cairo_fill (canvas->cairo);
  set_color (canvas->cairo, color);
  cairo_move_to (canvas->cairo, x + margin, y);
  pango_cairo_show_layout (canvas->cairo, canvas->layout);
  mark (canvas, x - 1, y - 1, width + 3, height + 3);
}

static void
draw_texts (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta, Scale scale)
{
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);
    const GstCclTrackInfo *track = style->ids ? gst_ccl_meta_get_track (meta, i) : NULL;
    const GstVideoRectangle box = scale_box (c, scale);
    gchar text[64];
    gint n = 0;

    if (track)
      n += g_snprintf (text, sizeof text, "#%" G_GUINT64_FORMAT " ", track->id);
    if (style->labels)
      n += g_snprintf (text + n, sizeof text - (gsize)n, style->areas ? "%u: " : "%u ", c->label);
    if (style->areas)
      n += g_snprintf (text + n, sizeof text - (gsize)n, "%u ", c->area);
    if (n == 0)
      continue;
    text[n - 1] = '\0';
    draw_text (canvas, style, text, &box, color_of_row (style, meta, i, style->text_color));
  }
}

/* A cross of which the centroid's pixel is the middle. */
static void
draw_centroids (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta, Scale scale)
{
  const gdouble unit = line_unit (canvas), arm = 3 * unit;

  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_NONE);
  set_color (canvas->cairo, style->centroid_color);
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);
    const gdouble x = floor ((c->centroid_x + 0.5) * scale.x - (unit - 1) / 2);
    const gdouble y = floor ((c->centroid_y + 0.5) * scale.y - (unit - 1) / 2);

    add_rectangle (canvas, x - arm, y, 2 * arm + unit, unit);
    add_rectangle (canvas, x, y - arm, unit, arm);
    add_rectangle (canvas, x, y + unit, unit, arm);
  }
  cairo_fill (canvas->cairo);
  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_DEFAULT);
}

/* The part of the line from a to b that is near the canvas; FALSE if there is none. Cairo's
 * coordinates are limited. */
static gboolean
clip_line (const GstCclCanvas *canvas, Point *a, Point *b)
{
  const gdouble room = canvas->width + canvas->height;
  const Point start = *a, way = {b->x - a->x, b->y - a->y};
  const gdouble starts[] = {start.x + room, start.y + room}, ways[] = {way.x, way.y};
  const gdouble sizes[] = {canvas->width + 2 * room, canvas->height + 2 * room};
  gdouble first = 0, last = 1;

  for (guint i = 0; i < 2; i++) {
    const gdouble one = -starts[i] / ways[i], other = (sizes[i] - starts[i]) / ways[i];

    if (ways[i] == 0) {
      if (starts[i] < 0 || starts[i] > sizes[i])
        return FALSE;
    } else {
      first = MAX (first, MIN (one, other));
      last = MIN (last, MAX (one, other));
    }
  }
  if (first > last)
    return FALSE;
  *a = (Point){start.x + first * way.x, start.y + first * way.y};
  *b = (Point){start.x + last * way.x, start.y + last * way.y};
  return TRUE;
}

/* Adds a line to the path, and marks short pieces of it. */
static void
add_line (GstCclCanvas *canvas, Point a, Point b, gdouble line_width)
{
  gint n;

  if (!clip_line (canvas, &a, &b))
    return;
  cairo_move_to (canvas->cairo, a.x, a.y);
  cairo_line_to (canvas->cairo, b.x, b.y);
  n = 1 + (gint)(MAX (fabs (b.x - a.x), fabs (b.y - a.y)) / BAND_HEIGHT);
  for (gint i = 0; i < n; i++) {
    const gdouble x0 = a.x + (b.x - a.x) * i / n, x1 = a.x + (b.x - a.x) * (i + 1) / n;
    const gdouble y0 = a.y + (b.y - a.y) * i / n, y1 = a.y + (b.y - a.y) * (i + 1) / n;
    mark (canvas, MIN (x0, x1) - line_width, MIN (y0, y1) - line_width,
        fabs (x1 - x0) + 2 * line_width, fabs (y1 - y0) + 2 * line_width);
  }
}

/* Strokes the lines of the path with a dark outline, so that they are seen on any ground. */
static void
stroke_lines (GstCclCanvas *canvas, guint color, gdouble line_width)
{
  cairo_set_line_cap (canvas->cairo, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_width (canvas->cairo, line_width + 2 * line_unit (canvas));
  set_color (canvas->cairo, OUTLINE_COLOR);
  cairo_stroke_preserve (canvas->cairo);
  cairo_set_line_width (canvas->cairo, line_width);
  set_color (canvas->cairo, color);
  cairo_stroke (canvas->cairo);
}

static void
draw_trails (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclTrails *trails)
{
  const gdouble line_width = box_line_width (canvas, style);

  for (guint i = 0; i < gst_ccl_trails_get_n (trails); i++) {
    guint64 id;
    const guint n = gst_ccl_trails_get (trails, i, &id);
    Point from = {0, 0};

    for (guint k = 0; k < n; k++) {
      const GstCclPlace place = gst_ccl_trails_get_place (trails, i, k);
      const Point to = {place.x * canvas->width, place.y * canvas->height};
      if (k > 0)
        add_line (canvas, from, to, 2 * line_width);
      from = to;
    }
    stroke_lines (canvas, style->track_colors ? color_of_id (id) : style->box_color, line_width);
  }
}

/* An arrow from the middle of a line to its right side, the direction "forward". */
static void
add_arrow (GstCclCanvas *canvas, Point a, Point b, gdouble line_width)
{
  const gdouble length = hypot (b.x - a.x, b.y - a.y), size = 1.5 * canvas->font_size;
  const Point middle = {(a.x + b.x) / 2, (a.y + b.y) / 2};
  Point along, tip, wings[2];

  if (!(length > 0))
    return;
  along = (Point){(b.x - a.x) / length * size, (b.y - a.y) / length * size};
  tip = (Point){middle.x - along.y, middle.y + along.x};
  wings[0] =
      (Point){middle.x - 0.6 * along.y + 0.3 * along.x, middle.y + 0.6 * along.x + 0.3 * along.y};
  wings[1] =
      (Point){middle.x - 0.6 * along.y - 0.3 * along.x, middle.y + 0.6 * along.x - 0.3 * along.y};
  add_line (canvas, middle, tip, 2 * line_width);
  add_line (canvas, wings[0], tip, 2 * line_width);
  add_line (canvas, wings[1], tip, 2 * line_width);
}

static Point
scale_point (const GstCclCanvas *canvas, const GstCclRegionPoint *point)
{
  return (Point){point->x * canvas->width, point->y * canvas->height};
}

static void
draw_regions (GstCclCanvas *canvas, const GstCclStyle *style, const GArray *regions)
{
  const gdouble line_width = box_line_width (canvas, style);

  for (guint i = 0; i < regions->len; i++) {
    const GstCclRegionView *view = &g_array_index (regions, GstCclRegionView, i);
    const guint n_lines = view->is_line ? 1 : view->n_points;

    for (guint k = 0; k < n_lines; k++)
      add_line (canvas, scale_point (canvas, &view->points[k]),
          scale_point (canvas, &view->points[(k + 1) % view->n_points]), 2 * line_width);
    if (view->is_line)
      add_arrow (canvas, scale_point (canvas, &view->points[0]),
          scale_point (canvas, &view->points[1]), line_width);
    stroke_lines (canvas, style->region_color, line_width);
  }
}

/* The texts of regions begin at their first points. */
static void
draw_region_texts (GstCclCanvas *canvas, const GstCclStyle *style, const GArray *regions)
{
  for (guint i = 0; i < regions->len; i++) {
    const GstCclRegionView *view = &g_array_index (regions, GstCclRegionView, i);
    const Point first = scale_point (canvas, &view->points[0]);
    const GstVideoRectangle anchor = {
        clamp (first.x, canvas->width), clamp (first.y, canvas->height), 0, 0};

    draw_text (canvas, style, view->text, &anchor, style->region_color);
  }
}

static guint32
premultiplied_color_of_label (guint32 label, gdouble alpha)
{
  gdouble rgb[3];

  color_of_number (label, rgb);
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
gst_ccl_canvas_draw (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclScene *scene)
{
  const GstCclMeta *meta = scene->meta;
  Scale scale = {
      (gdouble)canvas->width / gst_ccl_meta_get_frame_width (meta),
      (gdouble)canvas->height / gst_ccl_meta_get_frame_height (meta),
  };
  const gboolean has_regions = style->regions && scene->regions;
  gboolean painted = TRUE;

  gst_ccl_text_grid_reset (&canvas->texts);
  if (style->mask)
    painted = draw_mask (canvas, style, meta);
  if (style->fill)
    painted = fill_components (canvas, style, meta) && painted;
  if (has_regions)
    draw_regions (canvas, style, scene->regions);
  if (style->trail_length > 0)
    draw_trails (canvas, style, scene->trails);
  if (style->boxes)
    draw_boxes (canvas, style, meta, scale);
  if (style->centroids)
    draw_centroids (canvas, style, meta, scale);
  if (has_regions)
    draw_region_texts (canvas, style, scene->regions);
  if (draws_texts (style))
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
