/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclrefusal.h"

#include <gst/base/gstbasetransform.h>

#define CUDA_MEMORY "memory:CUDAMemory"

/* Whether caps describe raw video and nothing else. */
static gboolean
is_raw_video (const GstCaps *caps)
{
  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    if (!gst_structure_has_name (gst_caps_get_structure (caps, i), "video/x-raw"))
      return FALSE;
  return !gst_caps_is_any (caps) && !gst_caps_is_empty (caps);
}

static gboolean
has_features (const GstCaps *caps, const GstCapsFeatures *features)
{
  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    if (gst_caps_features_is_equal (gst_caps_get_features (caps, i), features))
      return TRUE;
  return FALSE;
}

/* The element that copies frames with these features to system memory. */
static const gchar *
find_converter (const GstCapsFeatures *features)
{
  static const gchar *const converters[][2] = {
      {CUDA_MEMORY, "cudadownload"},
      {"memory:D3D11Memory", "d3d11download"},
      {"memory:DMABuf", "vapostproc"},
      {"memory:GLMemory", "gldownload"},
      {"memory:NVMM", "nvvideoconvert"},
      {"memory:VAMemory", "vapostproc"},
      {"memory:VulkanImage", "vulkandownload"},
      {"format:Interlaced", "deinterlace"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (converters); i++)
    if (gst_caps_features_contains (features, converters[i][0]))
      return converters[i][1];
  return "an element that copies them to system memory";
}

/* Why the first of the caps are refused. The caller frees the text. */
static gchar *
describe (const GstCaps *refused, const GstCaps *taken, const gchar *element)
{
  const GstCapsFeatures *features = gst_caps_get_features (refused, 0);
  const gchar *format = gst_structure_get_string (gst_caps_get_structure (refused, 0), "format");
  const gboolean is_cuda = gst_caps_features_contains (features, CUDA_MEMORY);

  if (!has_features (taken, features)) {
    gchar *name = gst_caps_features_to_string (features);
    gchar *text = g_strdup_printf ("Frames in %s cannot be labelled: insert %s before %s", name,
        find_converter (features), element);
    g_free (name);
    return text;
  }
  return g_strdup_printf ("Frames in %s%s%s cannot be labelled: insert %s before %s",
      format ? "the format " : "these formats", format ? format : "",
      is_cuda ? " in CUDA memory" : "", is_cuda ? "cudaconvert" : "videoconvert", element);
}

/* Why the sink pad takes none of the caps, whatever the peer downstream takes; NULL if it takes
 * some or if they are not raw video alone. The caller frees the text. */
static gchar *
explain (GstElement *element, const GstCaps *caps)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  GstCaps *taken = gst_pad_template_get_caps (gst_element_get_pad_template (element, "sink"));
  gchar *text = NULL;

  if (is_raw_video (caps) && !gst_caps_can_intersect (caps, taken))
    text = describe (caps, taken, factory ? GST_OBJECT_NAME (factory) : "this element");
  gst_caps_unref (taken);
  return text;
}

static gboolean
has_caps (GstPad *pad, const GstCaps *caps)
{
  GstCaps *current = gst_pad_get_current_caps (pad);
  gboolean are_equal = current && gst_caps_is_equal (current, caps);

  gst_clear_caps (&current);
  return are_equal;
}

/* Whether an element that owns this sink pad passes on a question about caps unchanged, as queues,
 * bins and filters without conversion do. */
static gboolean
passes_caps_on (GstPad *pad)
{
  GstObject *parent = gst_object_get_parent (GST_OBJECT_CAST (pad));
  GstBaseTransformClass *default_class = g_type_class_peek (GST_TYPE_BASE_TRANSFORM);
  gboolean passes_on =
      GST_PAD_IS_PROXY_CAPS (pad) ||
      (GST_IS_BASE_TRANSFORM (parent) &&
          GST_BASE_TRANSFORM_GET_CLASS (parent)->transform_caps == default_class->transform_caps);

  gst_clear_object (&parent);
  return passes_on;
}

/* The pad upstream of the element of a source pad; NULL if the element may convert caps. */
static GstPad *
get_pad_upstream (GstPad *source)
{
  GstIterator *links = gst_pad_iterate_internal_links (source);
  GValue value = G_VALUE_INIT;
  GstPad *upstream = NULL;

  if (links && gst_iterator_next (links, &value) == GST_ITERATOR_OK) {
    GstPad *sink = g_value_get_object (&value);
    if (passes_caps_on (sink))
      upstream = gst_pad_get_peer (sink);
    g_value_unset (&value);
  }
  g_clear_pointer (&links, gst_iterator_free);
  return upstream;
}

/* Whether a pad upstream has these caps, and does not only ask whether it may have them: then they
 * come in a caps event. */
static gboolean
are_sent (GstPad *sink, const GstCaps *caps)
{
  GstPad *source = gst_pad_get_peer (sink);
  gboolean found = FALSE;

  while (source && !found) {
    GstPad *upstream;

    found = has_caps (source, caps);
    upstream = found ? NULL : get_pad_upstream (source);
    gst_object_unref (source);
    source = upstream;
  }
  gst_clear_object (&source);
  return found;
}

void
gst_ccl_refusal_report (gchar **latest, GstElement *element, GstPad *sink, GstQuery *query)
{
  gboolean is_new;
  GstCaps *caps;
  gchar *text;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ACCEPT_CAPS)
    return;
  gst_query_parse_accept_caps (query, &caps);
  text = explain (element, caps);
  if (text && are_sent (sink, caps)) {
    GST_OBJECT_LOCK (element);
    is_new = g_strcmp0 (*latest, text) != 0;
    if (is_new) {
      g_free (*latest);
      *latest = g_strdup (text);
    }
    GST_OBJECT_UNLOCK (element);
    if (is_new)
      GST_ELEMENT_ERROR (
          element, CORE, NEGOTIATION, ("%s", text), ("refused caps: %" GST_PTR_FORMAT, caps));
  }
  g_free (text);
}
