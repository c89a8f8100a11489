/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the coordinates of a GstCclMeta follow a frame that is copied, scaled, cropped or turned. */
#include "gstcclmeta-private.h"
#include "core/base/divide-up.h"

#include <gst/video/video.h>
#include <math.h>

/* The smallest whole-pixel interval that covers [start, start + length) after scaling. */
static void
scale_interval (guint32 *start, guint32 *length, guint from, guint to)
{
  guint64 first = (guint64)*start * to / from;
  guint64 end = divide_up (((guint64)*start + *length) * to, from);

  *start = (guint32)first;
  *length = (guint32)(end - first);
}

/* Pixel centres are at integer coordinates, so pixel edges, which scaling keeps in proportion, are
 * at halves. */
static gdouble
scale_centre (gdouble centre, guint from, guint to)
{
  return (centre + 0.5) * to / from - 0.5;
}

static GstCclComponent
scale_component (
    const GstCclComponent *component, const GstVideoInfo *from_info, const GstVideoInfo *to_info)
{
  guint from_width = GST_VIDEO_INFO_WIDTH (from_info), to_width = GST_VIDEO_INFO_WIDTH (to_info);
  guint from_height = GST_VIDEO_INFO_HEIGHT (from_info);
  guint to_height = GST_VIDEO_INFO_HEIGHT (to_info);
  GstCclComponent scaled = *component;

  scale_interval (&scaled.x, &scaled.width, from_width, to_width);
  scale_interval (&scaled.y, &scaled.height, from_height, to_height);
  scaled.centroid_x = scale_centre (component->centroid_x, from_width, to_width);
  scaled.centroid_y = scale_centre (component->centroid_y, from_height, to_height);
  return scaled;
}

/* The tracks of scaled components; NULL if there are none. */
static GstCclTrackInfo *
scale_tracks (const GstCclMeta *meta, const GstVideoInfo *from, const GstVideoInfo *to)
{
  const gdouble factor_x = (gdouble)GST_VIDEO_INFO_WIDTH (to) / GST_VIDEO_INFO_WIDTH (from);
  const gdouble factor_y = (gdouble)GST_VIDEO_INFO_HEIGHT (to) / GST_VIDEO_INFO_HEIGHT (from);
  GstCclTrackInfo *scaled;

  if (!meta->tracks)
    return NULL;
  scaled = gst_ccl_tracks_new (meta->n_rows);
  for (guint i = 0; i < meta->n_rows; i++) {
    scaled[i] = meta->tracks[i];
    scaled[i].velocity_x = (gfloat)(meta->tracks[i].velocity_x * factor_x);
    scaled[i].velocity_y = (gfloat)(meta->tracks[i].velocity_y * factor_y);
  }
  return scaled;
}

static gboolean
scale_meta (GstBuffer *dest, const GstCclMeta *meta, const GstVideoMetaTransform *scale)
{
  const GstVideoInfo *from = scale->in_info, *to = scale->out_info;
  GstCclComponent *rows;
  GstCclMeta *scaled;

  if (GST_VIDEO_INFO_WIDTH (from) == 0 || GST_VIDEO_INFO_HEIGHT (from) == 0)
    return FALSE;
  /* Elements that convert colours ask for scaling, too. */
  if (GST_VIDEO_INFO_WIDTH (from) == GST_VIDEO_INFO_WIDTH (to) &&
      GST_VIDEO_INFO_HEIGHT (from) == GST_VIDEO_INFO_HEIGHT (to)) {
    gst_ccl_meta_share (gst_ccl_meta_add (dest, 0, 0, 0, NULL, 0), meta);
    return TRUE;
  }
  rows = gst_ccl_rows_new (meta->n_rows);
  for (guint i = 0; i < meta->n_rows; i++)
    rows[i] = scale_component (&meta->rows[i], from, to);
  scaled = gst_ccl_meta_add (dest, GST_VIDEO_INFO_WIDTH (to), GST_VIDEO_INFO_HEIGHT (to),
      meta->n_components, rows, meta->n_rows);
  gst_ccl_meta_share_origin (scaled, meta, scale_tracks (meta, from, to));
  gst_ccl_meta_set_columns (scaled, meta->columns);
  gst_ccl_meta_set_region_state (scaled, meta->region_state);
  gst_ccl_meta_set_classes (scaled, meta->classes);
  if (meta->contours)
    scaled->contours = gst_ccl_contours_scale (meta->contours,
        (gdouble)GST_VIDEO_INFO_WIDTH (to) / GST_VIDEO_INFO_WIDTH (from),
        (gdouble)GST_VIDEO_INFO_HEIGHT (to) / GST_VIDEO_INFO_HEIGHT (from));
  return TRUE;
}

#if GST_CHECK_VERSION(1, 28, 0)

typedef struct {
  gdouble x, y;
} Point;

/* A reflection of pixels' edges maps 0…size to size…0. Elements that reflect pixels' positions, as
 * videoflip does, map it to size − 1…−1 instead, which is one pixel too low. */
static gint
reflection_shift (gfloat coefficient, gint size, gfloat offset)
{
  return coefficient < 0 && fabs ((gdouble)coefficient * size + offset + 1) < 1e-3;
}

/* Moves a point, with the pixels' edges at integer coordinates. */
static Point
map_point (const GstVideoMetaTransformMatrix *transform, gdouble x, gdouble y)
{
  const gfloat (*matrix)[3] = transform->matrix;
  const GstVideoRectangle *in = &transform->in_rectangle, *out = &transform->out_rectangle;
  gint shift_x = reflection_shift (matrix[0][0], in->w, matrix[0][2]) +
                 reflection_shift (matrix[0][1], in->h, matrix[0][2]);
  gint shift_y = reflection_shift (matrix[1][0], in->w, matrix[1][2]) +
                 reflection_shift (matrix[1][1], in->h, matrix[1][2]);

  x -= in->x;
  y -= in->y;
  return (Point){
      matrix[0][0] * x + matrix[0][1] * y + matrix[0][2] + out->x + shift_x,
      matrix[1][0] * x + matrix[1][1] * y + matrix[1][2] + out->y + shift_y,
  };
}

/* Whether boxes stay boxes: scaling, moving, flipping, and turning by multiples of 90 degrees. */
static gboolean
is_axis_aligned (const GstVideoMetaTransformMatrix *transform)
{
  const gfloat (*matrix)[3] = transform->matrix;

  return matrix[2][0] == 0 && matrix[2][1] == 0 && matrix[2][2] == 1 &&
         ((matrix[0][1] == 0 && matrix[1][0] == 0) || (matrix[0][0] == 0 && matrix[1][1] == 0));
}

static gboolean
is_whole_frame (const GstVideoRectangle *rectangle, const GstVideoInfo *info)
{
  return rectangle->x == 0 && rectangle->y == 0 && rectangle->w == GST_VIDEO_INFO_WIDTH (info) &&
         rectangle->h == GST_VIDEO_INFO_HEIGHT (info);
}

/* Whether every pixel stays where it is. */
static gboolean
is_identity (const GstVideoMetaTransformMatrix *transform)
{
  for (guint i = 0; i < 3; i++)
    for (guint j = 0; j < 3; j++)
      if (transform->matrix[i][j] != (i == j))
        return FALSE;
  return is_whole_frame (&transform->in_rectangle, transform->in_info) &&
         is_whole_frame (&transform->out_rectangle, transform->out_info) &&
         transform->in_rectangle.w == transform->out_rectangle.w &&
         transform->in_rectangle.h == transform->out_rectangle.h;
}

/* The matrix has single precision: an edge that misses a pixel's edge by less is meant to be on
 * it. */
static gdouble
snap (gdouble edge)
{
  gdouble nearest = round (edge);

  return fabs (edge - nearest) < 1e-3 ? nearest : edge;
}

/* The smallest interval of whole pixels that covers the space between two edges, inside
 * [low, high). FALSE if it is empty. */
static gboolean
cover_interval (
    gdouble edge, gdouble other_edge, gint low, gint high, guint32 *start, guint32 *length)
{
  gdouble first = MAX (floor (snap (MIN (edge, other_edge))), low);
  gdouble end = MIN (ceil (snap (MAX (edge, other_edge))), high);

  if (!(first < end))
    return FALSE;
  *start = (guint32)first;
  *length = (guint32)(end - first);
  return TRUE;
}

/* FALSE if the component is outside the frame. */
static gboolean
map_component (const GstVideoMetaTransformMatrix *transform, const GstCclComponent *component,
    GstCclComponent *mapped)
{
  const GstVideoRectangle *out = &transform->out_rectangle;
  gint right = MIN (out->x + out->w, GST_VIDEO_INFO_WIDTH (transform->out_info));
  gint bottom = MIN (out->y + out->h, GST_VIDEO_INFO_HEIGHT (transform->out_info));
  Point corner = map_point (transform, component->x, component->y);
  Point other_corner = map_point (transform, (gdouble)component->x + component->width,
      (gdouble)component->y + component->height);
  Point centroid = map_point (transform, component->centroid_x + 0.5, component->centroid_y + 0.5);

  *mapped = *component;
  mapped->centroid_x = centroid.x - 0.5;
  mapped->centroid_y = centroid.y - 0.5;
  return cover_interval (
             corner.x, other_corner.x, MAX (out->x, 0), right, &mapped->x, &mapped->width) &&
         cover_interval (
             corner.y, other_corner.y, MAX (out->y, 0), bottom, &mapped->y, &mapped->height);
}

static GstCclTrackInfo
map_track (const GstVideoMetaTransformMatrix *transform, const GstCclTrackInfo *track)
{
  const gfloat (*matrix)[3] = transform->matrix;
  GstCclTrackInfo mapped = *track;

  mapped.velocity_x = matrix[0][0] * track->velocity_x + matrix[0][1] * track->velocity_y;
  mapped.velocity_y = matrix[1][0] * track->velocity_x + matrix[1][1] * track->velocity_y;
  return mapped;
}

static gboolean
map_meta (GstBuffer *dest, const GstCclMeta *meta, const GstVideoMetaTransformMatrix *transform)
{
  GstCclTrackInfo *tracks;
  GstCclComponent *rows;
  GstCclMeta *mapped;
  g_autofree guint *origins = NULL; /* [new row]: its number in the table of `meta` */
  guint n_rows = 0;

  if (is_identity (transform)) {
    gst_ccl_meta_share (gst_ccl_meta_add (dest, 0, 0, 0, NULL, 0), meta);
    return TRUE;
  }
  if (!is_axis_aligned (transform))
    return FALSE;
  rows = gst_ccl_rows_new (meta->n_rows);
  tracks = meta->tracks ? gst_ccl_tracks_new (meta->n_rows) : NULL;
  origins = g_new (guint, meta->n_rows);
  for (guint i = 0; i < meta->n_rows; i++) {
    if (!map_component (transform, &meta->rows[i], &rows[n_rows]))
      continue;
    if (tracks)
      tracks[n_rows] = map_track (transform, &meta->tracks[i]);
    origins[n_rows] = i;
    n_rows++;
  }
  mapped = gst_ccl_meta_add (dest, GST_VIDEO_INFO_WIDTH (transform->out_info),
      GST_VIDEO_INFO_HEIGHT (transform->out_info), meta->n_components - (meta->n_rows - n_rows),
      rows, n_rows);
  gst_ccl_meta_share_origin (mapped, meta, tracks);
  if (meta->columns)
    mapped->columns = gst_ccl_columns_select (meta->columns, origins, n_rows);
  if (meta->region_state)
    mapped->region_state = gst_ccl_region_state_select (meta->region_state, origins, n_rows);
  if (meta->classes)
    mapped->classes = gst_ccl_classes_select (meta->classes, origins, n_rows);
  return TRUE;
}

#endif

gboolean
gst_ccl_meta_transform (
    GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data)
{
  if (GST_META_TRANSFORM_IS_COPY (type)) {
    gst_ccl_meta_share (gst_ccl_meta_add (dest, 0, 0, 0, NULL, 0), (GstCclMeta *)meta);
    return TRUE;
  }
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE (type))
    return scale_meta (dest, (GstCclMeta *)meta, data);
#if GST_CHECK_VERSION(1, 28, 0)
  if (GST_VIDEO_META_TRANSFORM_IS_MATRIX (type))
    return map_meta (dest, (GstCclMeta *)meta, data);
#endif
  return FALSE;
}
