/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclscene.h"

#include <math.h>

#include "gstcclcolors.h"
#include "gstcclpaint.h"
#include "gstcclregionview.h"

static gboolean
draws_texts (const GstCclStyle *style)
{
  return style->ids || style->speeds || style->labels || style->areas;
}

static gboolean
has_speeds (const GstCclMeta *meta)
{
  gdouble speed, deviation;

  for (guint i = 0; gst_ccl_meta_get_track (meta, i); i++)
    if (gst_ccl_track_info_get_speed (gst_ccl_meta_get_track (meta, i), &speed, &deviation))
      return TRUE;
  return FALSE;
}

gboolean
gst_ccl_scene_has_drawing (const GstCclScene *scene, const GstCclStyle *style)
{
  const GstCclMeta *meta = scene->meta;

  if (!meta)
    return FALSE;
  if (gst_ccl_meta_get_n_rows (meta) > 0 &&
      (style->boxes || style->labels || style->areas || style->centroids))
    return TRUE;
  if (gst_ccl_meta_get_track (meta, 0) && (style->ids || style->trail_length > 0))
    return TRUE;
  if (style->speeds && has_speeds (meta))
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

/* The colour of a row's box or text. */
static guint
color_of_row (const GstCclStyle *style, const GstCclMeta *meta, guint row, guint color)
{
  const GstCclTrackInfo *track = style->track_colors ? gst_ccl_meta_get_track (meta, row) : NULL;

  return track ? gst_ccl_color_of_id (track->id) : color;
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

static gboolean
has_contours (const GstCclContours *contours, guint32 label)
{
  guint n = 0;

  if (contours)
    gst_ccl_contours_find (contours, label, &n);
  return n > 0;
}

/* The line is just inside the box, so that a box at the frame's edge is visible as a whole. Boxes
 * of one colour are one path, so that a transparent colour is applied once where lines meet.
 * Components that have one of the contours get no box. */
static void
draw_boxes (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta, Scale scale,
    const GstCclContours *contours)
{
  const gdouble line_width = box_line_width (canvas, style);
  guint color = 0;

  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_NONE);
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *component = gst_ccl_meta_get_component (meta, i);
    const GstVideoRectangle box = scale_box (component, scale);
    const guint color_of_box = color_of_row (style, meta, i, style->box_color);
    /* A box that has no room for two lines is filled: video has colour at half resolution, so a
     * thinner line might be invisible. */
    const gdouble line = MIN (line_width, ceil (MIN (box.w, box.h) / 2.0));

    if (has_contours (contours, component->label))
      continue;
    if (color_of_box != color)
      cairo_fill (canvas->cairo);
    color = color_of_box;
    gst_ccl_canvas_set_color (canvas, color);
    gst_ccl_canvas_add_rectangle (canvas, box.x, box.y, box.w, line);
    gst_ccl_canvas_add_rectangle (canvas, box.x, box.y + box.h - line, box.w, line);
    gst_ccl_canvas_add_rectangle (canvas, box.x, box.y, line, box.h);
    gst_ccl_canvas_add_rectangle (canvas, box.x + box.w - line, box.y, line, box.h);
  }
  cairo_fill (canvas->cairo);
  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_DEFAULT);
}

/* A coordinate of an application's contours, near the canvas: Cairo's are limited. */
static gdouble
near_canvas (gdouble coordinate, gdouble size)
{
  return fmin (fmax (coordinate, -size), 2 * size);
}

/* Adds a closed polygon to the path, and marks the rectangle around it. */
static void
add_contour (GstCclCanvas *canvas, const GstCclContours *contours, guint index, Scale scale,
    gdouble line_width)
{
  const gboolean is_pixels = gst_ccl_contours_get_kind (contours) == GST_CCL_CONTOUR_KIND_PIXELS;
  const gdouble middle = is_pixels ? 0.5 : 0;
  guint n_numbers;
  const gfloat *points = gst_ccl_contours_get_points (contours, index, &n_numbers);
  Point low = {G_MAXDOUBLE, G_MAXDOUBLE}, high = {-G_MAXDOUBLE, -G_MAXDOUBLE};

  for (guint i = 0; i < n_numbers; i += 2) {
    const gdouble x = near_canvas ((points[i] + middle) * scale.x, canvas->width);
    const gdouble y = near_canvas ((points[i + 1] + middle) * scale.y, canvas->height);

    if (i == 0)
      cairo_move_to (canvas->cairo, x, y);
    else
      cairo_line_to (canvas->cairo, x, y);
    low = (Point){MIN (low.x, x), MIN (low.y, y)};
    high = (Point){MAX (high.x, x), MAX (high.y, y)};
  }
  cairo_close_path (canvas->cairo);
  gst_ccl_canvas_mark (canvas, low.x - line_width, low.y - line_width,
      high.x - low.x + 2 * line_width, high.y - low.y + 2 * line_width);
}

/* Outlines of one colour are one path, as boxes are. */
static void
draw_outlines (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta, Scale scale,
    const GstCclContours *contours)
{
  const gdouble line_width = box_line_width (canvas, style);
  guint color = 0;

  cairo_set_line_width (canvas->cairo, line_width);
  cairo_set_line_cap (canvas->cairo, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join (canvas->cairo, CAIRO_LINE_JOIN_ROUND);
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *component = gst_ccl_meta_get_component (meta, i);
    const guint color_of_outline = color_of_row (style, meta, i, style->box_color);
    guint n, first = gst_ccl_contours_find (contours, component->label, &n);

    if (color_of_outline != color)
      cairo_stroke (canvas->cairo);
    color = color_of_outline;
    gst_ccl_canvas_set_color (canvas, color);
    for (guint k = first; k < first + n; k++)
      add_contour (canvas, contours, k, scale, line_width);
  }
  cairo_stroke (canvas->cairo);
  cairo_set_line_join (canvas->cairo, CAIRO_LINE_JOIN_MITER);
}

/* Shows where the components are, by boxes, by outlines, or both. */
static void
draw_shapes (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta, Scale scale)
{
  g_autoptr (GstCclContours) contours =
      style->shape == GST_CCL_SHAPE_BOXES ? NULL : gst_ccl_meta_get_contours (meta);

  draw_boxes (canvas, style, meta, scale, style->shape == GST_CCL_SHAPE_OUTLINE ? contours : NULL);
  if (contours)
    draw_outlines (canvas, style, meta, scale, contours);
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
  gst_ccl_canvas_set_color (canvas, style->backdrop_color);
  cairo_rectangle (canvas->cairo, x, y, width, height);
  cairo_fill (canvas->cairo);
  gst_ccl_canvas_set_color (canvas, color);
  cairo_move_to (canvas->cairo, x + margin, y);
  pango_cairo_show_layout (canvas->cairo, canvas->layout);
  gst_ccl_canvas_mark (canvas, x - 1, y - 1, width + 3, height + 3);
}

#define TEXT_SIZE 192
#define MAX_NAME 24 /* characters of a class, of at most 4 bytes */

/* Writes the identity of a row's track and its class, where they are known. Returns the length. */
static gint
compose_identity (gchar *text, const GstCclMeta *meta, const GstCclClasses *classes, guint row)
{
  const GstCclTrackInfo *track = gst_ccl_meta_get_track (meta, row);
  const gchar *name = classes ? gst_ccl_classes_get_name (classes, row) : NULL;
  gint n = 0;

  if (track)
    n = g_snprintf (text, TEXT_SIZE, "#%" G_GUINT64_FORMAT " ", track->id);
  if (name)
    n += g_snprintf (text + n, TEXT_SIZE - (gsize)n, "%.*s ",
        (gint)(g_utf8_offset_to_pointer (name, MIN (g_utf8_strlen (name, -1), MAX_NAME)) - name),
        name);
  return n;
}

/* Writes the text of a row. Returns FALSE if it has none. */
static gboolean
compose_text (gchar *text, const GstCclStyle *style, const GstCclMeta *meta,
    const GstCclClasses *classes, guint row)
{
  const GstCclComponent *c = gst_ccl_meta_get_component (meta, row);
  const GstCclTrackInfo *track = gst_ccl_meta_get_track (meta, row);
  gdouble speed, deviation;
  gint n = 0;

  if (style->ids)
    n += compose_identity (text, meta, classes, row);
  if (track && style->speeds && gst_ccl_track_info_get_speed (track, &speed, &deviation))
    n += g_snprintf (text + n, TEXT_SIZE - (gsize)n, "%.0f km/h ", MIN (speed, 1e6));
  if (style->labels)
    n += g_snprintf (text + n, TEXT_SIZE - (gsize)n, style->areas ? "%u: " : "%u ", c->label);
  if (style->areas)
    n += g_snprintf (text + n, TEXT_SIZE - (gsize)n, "%u ", c->area);
  if (n > 0)
    text[n - 1] = '\0';
  return n > 0;
}

static void
draw_texts (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta, Scale scale)
{
  g_autoptr (GstCclClasses) classes = gst_ccl_meta_get_classes (meta);

  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstVideoRectangle box = scale_box (gst_ccl_meta_get_component (meta, i), scale);
    gchar text[TEXT_SIZE];

    if (compose_text (text, style, meta, classes, i))
      draw_text (canvas, style, text, &box, color_of_row (style, meta, i, style->text_color));
  }
}

/* A cross of which the centroid's pixel is the middle. */
static void
draw_centroids (GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta, Scale scale)
{
  const gdouble unit = line_unit (canvas), arm = 3 * unit;

  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_NONE);
  gst_ccl_canvas_set_color (canvas, style->centroid_color);
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);
    const gdouble x = floor ((c->centroid_x + 0.5) * scale.x - (unit - 1) / 2);
    const gdouble y = floor ((c->centroid_y + 0.5) * scale.y - (unit - 1) / 2);

    gst_ccl_canvas_add_rectangle (canvas, x - arm, y, 2 * arm + unit, unit);
    gst_ccl_canvas_add_rectangle (canvas, x, y - arm, unit, arm);
    gst_ccl_canvas_add_rectangle (canvas, x, y + unit, unit, arm);
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

/* Adds a line to the path, and marks short parts of it. */
static void
add_line (GstCclCanvas *canvas, Point a, Point b, gdouble line_width)
{
  gint n;

  if (!clip_line (canvas, &a, &b))
    return;
  cairo_move_to (canvas->cairo, a.x, a.y);
  cairo_line_to (canvas->cairo, b.x, b.y);
  n = 1 + (gint)(MAX (fabs (b.x - a.x), fabs (b.y - a.y)) / GST_CCL_BAND_HEIGHT);
  for (gint i = 0; i < n; i++) {
    const gdouble x0 = a.x + (b.x - a.x) * i / n, x1 = a.x + (b.x - a.x) * (i + 1) / n;
    const gdouble y0 = a.y + (b.y - a.y) * i / n, y1 = a.y + (b.y - a.y) * (i + 1) / n;
    gst_ccl_canvas_mark (canvas, MIN (x0, x1) - line_width, MIN (y0, y1) - line_width,
        fabs (x1 - x0) + 2 * line_width, fabs (y1 - y0) + 2 * line_width);
  }
}

/* Strokes the lines of the path with a dark outline, so that they are seen on any ground. */
static void
stroke_lines (GstCclCanvas *canvas, guint color, gdouble line_width)
{
  cairo_set_line_cap (canvas->cairo, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_width (canvas->cairo, line_width + 2 * line_unit (canvas));
  gst_ccl_canvas_set_color (canvas, OUTLINE_COLOR);
  cairo_stroke_preserve (canvas->cairo);
  cairo_set_line_width (canvas->cairo, line_width);
  gst_ccl_canvas_set_color (canvas, color);
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
    stroke_lines (
        canvas, style->track_colors ? gst_ccl_color_of_id (id) : style->box_color, line_width);
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
    const GstVideoRectangle anchor = {gst_ccl_canvas_clamp (first.x, canvas->width),
        gst_ccl_canvas_clamp (first.y, canvas->height), 0, 0};

    draw_text (canvas, style, view->text, &anchor, style->region_color);
  }
}

/* The layers, from the lowest to the uppermost. */
gboolean
gst_ccl_scene_draw (const GstCclScene *scene, const GstCclStyle *style, GstCclCanvas *canvas)
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
    painted = gst_ccl_paint_mask (canvas, style, meta);
  if (style->fill)
    painted = gst_ccl_paint_components (canvas, style, meta) && painted;
  if (has_regions)
    draw_regions (canvas, style, scene->regions);
  if (style->trail_length > 0)
    draw_trails (canvas, style, scene->trails);
  if (style->boxes)
    draw_shapes (canvas, style, meta, scale);
  if (style->centroids)
    draw_centroids (canvas, style, meta, scale);
  if (has_regions)
    draw_region_texts (canvas, style, scene->regions);
  if (draws_texts (style))
    draw_texts (canvas, style, meta, scale);
  return painted;
}
