/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclregionview.h"

#include <math.h>

static void
clear_view (gpointer data)
{
  GstCclRegionView *view = data;

  g_free (view->text);
  g_free (view->points);
}

/* FALSE unless the array has pairs of finite numbers. */
static gboolean
read_points (const GValue *array, GstCclRegionView *view)
{
  guint n = array && GST_VALUE_HOLDS_ARRAY (array) ? gst_value_array_get_size (array) : 0;

  if (n < 4 || n % 2)
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const GValue *value = gst_value_array_get_value (array, i);
    if (!G_VALUE_HOLDS_DOUBLE (value) || !isfinite (g_value_get_double (value)))
      return FALSE;
  }
  view->n_points = n / 2;
  view->points = g_new (GstCclRegionPoint, view->n_points);
  for (guint i = 0; i < view->n_points; i++)
    view->points[i] = (GstCclRegionPoint){
        g_value_get_double (gst_value_array_get_value (array, 2 * i)),
        g_value_get_double (gst_value_array_get_value (array, 2 * i + 1)),
    };
  return TRUE;
}

static gboolean
read_view (const GstStructure *region, GstCclRegionView *view)
{
  const gchar *name = gst_structure_get_string (region, "name");
  guint64 forward = 0, backward = 0;
  guint inside = 0;

  if (!name || !read_points (gst_structure_get_value (region, "points"), view))
    return FALSE;
  view->is_line = g_strcmp0 (gst_structure_get_string (region, "kind"), "line") == 0;
  gst_structure_get_uint (region, "inside", &inside);
  gst_structure_get_uint64 (region, "forward", &forward);
  gst_structure_get_uint64 (region, "backward", &backward);
  view->text = view->is_line ? g_strdup_printf ("%s %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT, name,
                                   forward, backward)
                             : g_strdup_printf ("%s %u", name, inside);
  return TRUE;
}

GArray *
gst_ccl_region_views_new (const GstStructure *structure)
{
  const GValue *array = gst_structure_get_value (structure, "regions");
  const guint n = array && GST_VALUE_HOLDS_ARRAY (array) ? gst_value_array_get_size (array) : 0;
  GArray *views = g_array_new (FALSE, FALSE, sizeof (GstCclRegionView));

  g_array_set_clear_func (views, clear_view);
  for (guint i = 0; i < n; i++) {
    const GValue *value = gst_value_array_get_value (array, i);
    GstCclRegionView view = {0};

    if (GST_VALUE_HOLDS_STRUCTURE (value) && read_view (gst_value_get_structure (value), &view))
      g_array_append_val (views, view);
  }
  return views;
}
