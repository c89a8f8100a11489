/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccljsoncontours.h"

#include <math.h>
#include <string.h>

#include "gstccljsonmember.h"

typedef struct {
  GArray *contours; /* GstCclContour, in the order of labels */
  GArray *points;   /* gfloat: x, y, x, y … */
} Reader;

/* A row with its label. Tracks that share a component have the same. */
typedef struct {
  guint32 label;
  guint row;
} LabelledRow;

static gint
compare_labels (gconstpointer a, gconstpointer b)
{
  const guint32 first = ((const LabelledRow *)a)->label, second = ((const LabelledRow *)b)->label;

  return (first > second) - (first < second);
}

static gboolean
read_point (JsonNode *node, Reader *reader)
{
  JsonArray *point = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  if (!point || json_array_get_length (point) != 2)
    return FALSE;
  for (guint i = 0; i < 2; i++) {
    gdouble number;
    gfloat value;

    if (!gst_ccl_json_node_number (json_array_get_element (point, i), &number) ||
        !(fabs (number) <= G_MAXFLOAT))
      return FALSE;
    value = (gfloat)number;
    g_array_append_val (reader->points, value);
  }
  return TRUE;
}

/* The first hole of the component with that label, or its outer contour; GST_CCL_NO_CONTOUR if the
 * line does not have them. */
static guint32
find_parent (const Reader *reader, guint32 label)
{
  const GstCclContour *contours = (const GstCclContour *)(gpointer)reader->contours->data;
  guint32 low = 0, high = reader->contours->len;

  while (low < high) {
    const guint32 middle = low + (high - low) / 2;
    if (contours[middle].label < label)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == reader->contours->len || contours[low].label != label)
    return GST_CCL_NO_CONTOUR;
  return low + 1 < reader->contours->len && contours[low + 1].label == label ? low + 1 : low;
}

/* outer: the index of the outer contour of the component. */
static gboolean
read_contour (JsonObject *object, guint32 label, guint outer, Reader *reader, GError **error)
{
  GstCclContour contour = {label, GST_CCL_NO_CONTOUR, reader->points->len / 2, 0, 0};
  JsonArray *points;
  guint32 inside;

  if (!gst_ccl_json_member_list (object, "points", &points, error))
    return FALSE;
  if (!points || json_array_get_length (points) == 0)
    return gst_ccl_json_member_fail (error, "points", "a list of points");
  contour.n_points = json_array_get_length (points);
  contour.is_hole = json_object_get_boolean_member_with_default (object, "hole", FALSE);
  if (contour.is_hole && outer < reader->contours->len) {
    contour.parent = outer;
  } else if (json_object_has_member (object, "inside")) {
    if (!gst_ccl_json_member_uint32 (object, "inside", &inside, error))
      return FALSE;
    contour.parent = find_parent (reader, inside);
  }
  for (guint i = 0; i < contour.n_points; i++)
    if (!read_point (json_array_get_element (points, i), reader))
      return gst_ccl_json_member_fail (error, "points", "a list of pairs of numbers");
  g_array_append_val (reader->contours, contour);
  return TRUE;
}

static gboolean
read_contours (JsonArray *list, guint32 label, Reader *reader, GError **error)
{
  const guint outer = reader->contours->len;

  for (guint i = 0; i < json_array_get_length (list); i++) {
    JsonObject *object;

    if (!gst_ccl_json_element_object (list, i, "contours", &object, error) ||
        !read_contour (object, label, outer, reader, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_rows (
    const GstCclMeta *meta, JsonObject *const *rows, guint n_rows, Reader *reader, GError **error)
{
  g_autofree LabelledRow *order = g_new (LabelledRow, n_rows);
  gboolean ok = TRUE;

  for (guint i = 0; i < n_rows; i++)
    order[i] = (LabelledRow){gst_ccl_meta_get_component (meta, i)->label, i};
  qsort (order, n_rows, sizeof *order, compare_labels);
  for (guint i = 0; i < n_rows && ok; i++) {
    JsonArray *list;

    if (order[i].label == 0 || (i > 0 && order[i].label == order[i - 1].label))
      continue;
    ok = gst_ccl_json_member_list (rows[order[i].row], "contours", &list, error) &&
         (!list || read_contours (list, order[i].label, reader, error));
  }
  return ok;
}

static GstCclContours *
new_contours (const Reader *reader, GstCclContourKind kind)
{
  const gsize rows_size = reader->contours->len * sizeof (GstCclContour);
  const gsize points_size = reader->points->len * sizeof (gfloat);
  guint8 *data = g_malloc (rows_size + points_size + 1);

  if (rows_size > 0)
    memcpy (data, reader->contours->data, rows_size);
  if (points_size > 0)
    memcpy (data + rows_size, reader->points->data, points_size);
  return gst_ccl_contours_new (gst_buffer_new_wrapped (data, rows_size + points_size + 1), kind,
      reader->contours->len, reader->points->len / 2);
}

gboolean
gst_ccl_json_contours_attach (
    GstCclMeta *meta, JsonObject *frame, JsonObject *const *rows, guint n_rows, GError **error)
{
  Reader reader;
  g_autoptr (GstCclContours) contours = NULL;
  const gchar *kind;
  gboolean ok;

  if (!json_object_has_member (frame, "contour_kind"))
    return TRUE;
  if (!gst_ccl_json_member_text (frame, "contour_kind", &kind, error))
    return FALSE;
  reader.contours = g_array_new (FALSE, FALSE, sizeof (GstCclContour));
  reader.points = g_array_new (FALSE, FALSE, sizeof (gfloat));
  ok = read_rows (meta, rows, n_rows, &reader, error);
  if (ok) {
    contours = new_contours (&reader,
        g_str_equal (kind, "cracks") ? GST_CCL_CONTOUR_KIND_CRACKS : GST_CCL_CONTOUR_KIND_PIXELS);
    ok = contours || gst_ccl_json_member_fail (error, "contours", "in the order of contours");
  }
  if (contours)
    gst_ccl_meta_set_contours (meta, contours);
  g_array_unref (reader.contours);
  g_array_unref (reader.points);
  return ok;
}
