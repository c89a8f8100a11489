/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclcontours.h"

#include "gst/ccl/meta/gstcclmeta-private.h"

#include <string.h>

/**
 * GstCclContours:
 *
 * The contours of a frame's components as closed polygons: the outer boundary of each, and its
 * holes. Reference counted and immutable.
 *
 * Contours are in the order of their components' labels. The outer contour of a component is the
 * first one of that label, its holes follow. An outer contour goes down its left side first:
 * counter-clockwise, as it is seen with y pointing downwards; holes are passed clockwise.
 *
 * Coordinates are in pixels of the frame that carries the metadata. Points of the kind
 * %GST_CCL_CONTOUR_KIND_PIXELS are pixels, with their centres at integer coordinates, as
 * centroids; those of %GST_CCL_CONTOUR_KIND_CRACKS are corners of pixels. They are whole numbers
 * until the video is scaled.
 *
 * Thread safety: all functions may be called from any thread.
 *
 * Since: 0.3
 */
struct _GstCclContours {
  GstBuffer *buffer;
  GstMapInfo map; /* of the buffer, for reading */
  GstCclContourKind kind;
  guint n_contours, n_points;
};

G_DEFINE_BOXED_TYPE (GstCclContours, gst_ccl_contours, gst_ccl_contours_ref, gst_ccl_contours_unref)

static const GstCclContour *
rows_of (const GstCclContours *self)
{
  return (const GstCclContour *)(gconstpointer)self->map.data;
}

static const gfloat *
points_of (const GstCclContours *self)
{
  return (const gfloat *)(gconstpointer)(rows_of (self) + self->n_contours);
}

/* Whether the rows are in the order that the type promises, and refer to points that exist. */
static gboolean
are_sound (const GstCclContour *rows, guint n_contours, guint n_points)
{
  for (guint i = 0; i < n_contours; i++) {
    const GstCclContour *row = &rows[i];
    const gboolean is_first = i == 0 || row->label > rows[i - 1].label;

    if (row->label == 0 || (i > 0 && row->label < rows[i - 1].label) || row->is_hole != !is_first ||
        (row->parent != GST_CCL_NO_CONTOUR && row->parent >= i) || row->n_points == 0 ||
        row->first_point > n_points || row->n_points > n_points - row->first_point)
      return FALSE;
  }
  return TRUE;
}

static void
release (gpointer data)
{
  GstCclContours *self = data;

  gst_buffer_unmap (self->buffer, &self->map);
  gst_buffer_unref (self->buffer);
}

/**
 * gst_ccl_contours_new: (skip)
 * @buffer: (transfer full): memory with @n_contours times #GstCclContour, then the points of all
 *   contours as pairs of #gfloat, x and y; bytes behind them are ignored. Nobody may write to it
 *   any more. It is released with the contours, so it may come from a pool
 * @kind: what the points are
 * @n_contours: the number of contours
 * @n_points: the number of points of all contours together
 *
 * Makes contours of memory that holds them, without a copy.
 *
 * Returns: (transfer full) (nullable): the contours; %NULL if the buffer is too small or cannot be
 *   read, or if the contours are not in the order that #GstCclContours describes
 *
 * Since: 0.3
 */
GstCclContours *
gst_ccl_contours_new (GstBuffer *buffer, GstCclContourKind kind, guint n_contours, guint n_points)
{
  const guint64 size = n_contours * (guint64)sizeof (GstCclContour) + n_points * (guint64)8;
  GstCclContours *self;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  self = g_atomic_rc_box_new (GstCclContours);
  *self = (GstCclContours){
      .buffer = buffer, .kind = kind, .n_contours = n_contours, .n_points = n_points};
  if (!gst_buffer_map (buffer, &self->map, GST_MAP_READ)) {
    gst_buffer_unref (buffer);
    g_atomic_rc_box_release (self);
    return NULL;
  }
  if (self->map.size < size || !are_sound (rows_of (self), n_contours, n_points)) {
    gst_ccl_contours_unref (self);
    return NULL;
  }
  return self;
}

/**
 * gst_ccl_contours_ref:
 * @contours: a #GstCclContours
 *
 * Takes a reference.
 *
 * Returns: (transfer full): the same @contours
 *
 * Since: 0.3
 */
GstCclContours *
gst_ccl_contours_ref (GstCclContours *contours)
{
  g_return_val_if_fail (contours != NULL, NULL);

  return g_atomic_rc_box_acquire (contours);
}

/**
 * gst_ccl_contours_unref:
 * @contours: (transfer full): a #GstCclContours
 *
 * Gives a reference back.
 *
 * Since: 0.3
 */
void
gst_ccl_contours_unref (GstCclContours *contours)
{
  g_return_if_fail (contours != NULL);

  g_atomic_rc_box_release_full (contours, release);
}

/**
 * gst_ccl_contours_get_kind:
 * @contours: a #GstCclContours
 *
 * What the points are.
 *
 * Returns: the kind
 *
 * Since: 0.3
 */
GstCclContourKind
gst_ccl_contours_get_kind (const GstCclContours *contours)
{
  g_return_val_if_fail (contours != NULL, GST_CCL_CONTOUR_KIND_PIXELS);

  return contours->kind;
}

/**
 * gst_ccl_contours_get_n_contours:
 * @contours: a #GstCclContours
 *
 * How many contours there are: outer ones and holes.
 *
 * Returns: the number of contours
 *
 * Since: 0.3
 */
guint
gst_ccl_contours_get_n_contours (const GstCclContours *contours)
{
  g_return_val_if_fail (contours != NULL, 0);

  return contours->n_contours;
}

/**
 * gst_ccl_contours_get_contour:
 * @contours: a #GstCclContours
 * @index: which contour, less than their number
 *
 * One contour.
 *
 * Returns: (transfer none) (nullable): the contour, valid as long as @contours; %NULL if there is
 *   none of that index
 *
 * Since: 0.3
 */
const GstCclContour *
gst_ccl_contours_get_contour (const GstCclContours *contours, guint index)
{
  g_return_val_if_fail (contours != NULL, NULL);

  return index < contours->n_contours ? rows_of (contours) + index : NULL;
}

/**
 * gst_ccl_contours_find:
 * @contours: a #GstCclContours
 * @label: the label of a component
 * @n_contours: (out): how many contours the component has; 0 if it is not known
 *
 * Finds the contours of a component: the outer one, then its holes.
 *
 * Returns: the index of the first one
 *
 * Since: 0.3
 */
guint
gst_ccl_contours_find (const GstCclContours *contours, guint32 label, guint *n_contours)
{
  const GstCclContour *rows;
  guint low = 0, high, end;

  g_return_val_if_fail (contours != NULL, 0);
  g_return_val_if_fail (n_contours != NULL, 0);

  rows = rows_of (contours);
  high = contours->n_contours;
  while (low < high) {
    const guint middle = low + (high - low) / 2;
    if (rows[middle].label < label)
      low = middle + 1;
    else
      high = middle;
  }
  for (end = low; end < contours->n_contours && rows[end].label == label;)
    end++;
  *n_contours = end - low;
  return low;
}

/**
 * gst_ccl_contours_get_points:
 * @contours: a #GstCclContours
 * @index: which contour, less than their number
 * @n_numbers: (out): twice the number of points
 *
 * The points of a contour.
 *
 * Returns: (transfer none) (array length=n_numbers) (nullable): x and y of each point in turn,
 *   valid as long as @contours; %NULL if there is no contour of that index
 *
 * Since: 0.3
 */
const gfloat *
gst_ccl_contours_get_points (const GstCclContours *contours, guint index, guint *n_numbers)
{
  const GstCclContour *row;

  g_return_val_if_fail (contours != NULL, NULL);
  g_return_val_if_fail (n_numbers != NULL, NULL);

  row = gst_ccl_contours_get_contour (contours, index);
  *n_numbers = row ? 2 * row->n_points : 0;
  return row ? points_of (contours) + 2 * (gsize)row->first_point : NULL;
}

/* A pixel's centre is half a pixel from its corners, which scaling keeps in proportion. */
GstCclContours *
gst_ccl_contours_scale (const GstCclContours *self, gdouble factor_x, gdouble factor_y)
{
  const gdouble centre = self->kind == GST_CCL_CONTOUR_KIND_PIXELS ? 0.5 : 0;
  const gsize rows_size = self->n_contours * sizeof (GstCclContour);
  const gfloat *points = points_of (self);
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, rows_size + self->n_points * 2 * sizeof (gfloat), NULL);
  GstMapInfo map;
  gfloat *scaled;

  if (!buffer)
    return NULL;
  if (!gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  if (rows_size > 0)
    memcpy (map.data, self->map.data, rows_size);
  scaled = (gfloat *)(gpointer)(map.data + rows_size);
  for (gsize i = 0; i < self->n_points; i++) {
    scaled[2 * i] = (gfloat)((points[2 * i] + centre) * factor_x - centre);
    scaled[2 * i + 1] = (gfloat)((points[2 * i + 1] + centre) * factor_y - centre);
  }
  gst_buffer_unmap (buffer, &map);
  return gst_ccl_contours_new (buffer, self->kind, self->n_contours, self->n_points);
}

gsize
gst_ccl_contours_get_data (const GstCclContours *self, gconstpointer *data, guint *n_points)
{
  *data = self->map.data;
  *n_points = self->n_points;
  return self->n_contours * sizeof (GstCclContour) + (gsize)self->n_points * 2 * sizeof (gfloat);
}

/**
 * gst_ccl_meta_get_contours:
 * @meta: a #GstCclMeta
 *
 * The contours of the components, which the elements attach when their property `attach-contours`
 * is set. They are complete also when the table is truncated.
 *
 * Returns: (transfer full) (nullable): the contours, to be given back with
 *   gst_ccl_contours_unref(); %NULL if none are attached
 *
 * Since: 0.3
 */
GstCclContours *
gst_ccl_meta_get_contours (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->contours ? gst_ccl_contours_ref (meta->contours) : NULL;
}

/**
 * gst_ccl_meta_set_contours: (skip)
 * @meta: a #GstCclMeta of a writable buffer
 * @contours: (transfer none) (nullable): the contours; a reference is kept. %NULL removes them
 *
 * Attaches contours, in place of the present ones.
 *
 * Since: 0.3
 */
void
gst_ccl_meta_set_contours (GstCclMeta *meta, GstCclContours *contours)
{
  GstCclContours *former;

  g_return_if_fail (meta != NULL);

  former = meta->contours;
  meta->contours = contours ? gst_ccl_contours_ref (contours) : NULL;
  g_clear_pointer (&former, gst_ccl_contours_unref);
}
