/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclquery.h"

#include <gst/video/video.h>

void
gst_ccl_query_remove_crop_meta (GstQuery *query)
{
  guint i;

  if (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, &i))
    gst_query_remove_nth_allocation_meta (query, i);
}

#define SAMPLE_QUERY "ccl-sample"

gboolean
gst_ccl_query_ask_for_sample (GstPad *source)
{
  g_autofree gchar *name = gst_object_get_name (GST_OBJECT_PARENT (source));
  g_autoptr (GstQuery) query = gst_query_new_custom (
      GST_QUERY_CUSTOM, gst_structure_new (SAMPLE_QUERY, "labeller", G_TYPE_STRING, name,
                            "is-nearest", G_TYPE_BOOLEAN, TRUE, NULL));

  return gst_pad_peer_query (source, query);
}

gboolean
gst_ccl_query_is_for_sample (GstQuery *query, const gchar **labeller, gboolean *is_nearest)
{
  const GstStructure *structure = gst_query_get_structure (query);

  if (GST_QUERY_TYPE (query) != GST_QUERY_CUSTOM || !structure ||
      !gst_structure_has_name (structure, SAMPLE_QUERY))
    return FALSE;
  *labeller = gst_structure_get_string (structure, "labeller");
  return *labeller && gst_structure_get_boolean (structure, "is-nearest", is_nearest);
}

void
gst_ccl_query_pass_labeller (GstQuery *query)
{
  const gchar *labeller;
  gboolean is_nearest;

  if (gst_ccl_query_is_for_sample (query, &labeller, &is_nearest))
    gst_structure_set (
        gst_query_writable_structure (query), "is-nearest", G_TYPE_BOOLEAN, FALSE, NULL);
}
