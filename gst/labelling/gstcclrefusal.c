/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclrefusal.h"

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

gchar *
gst_ccl_refusal_explain (GstElement *element, const GstCaps *caps)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  GstCaps *taken = gst_pad_template_get_caps (gst_element_get_pad_template (element, "sink"));
  gchar *text = NULL;

  if (is_raw_video (caps) && !gst_caps_can_intersect (caps, taken))
    text = describe (caps, taken, factory ? GST_OBJECT_NAME (factory) : "this element");
  gst_caps_unref (taken);
  return text;
}

/* GStreamer refuses caps that the pad does not accept before the pad's event function sees them: a
 * probe is called earlier. The same event comes again with each frame. */
static GstPadProbeReturn
look_at_event (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstCclRefusal *refusal = data;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstCaps *caps;
  gchar *text;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (event, &caps);
  text = gst_ccl_refusal_explain (refusal->element, caps);
  if (text && g_strcmp0 (refusal->latest, text) != 0)
    GST_ELEMENT_ERROR (refusal->element, CORE, NEGOTIATION, ("%s", text),
        ("refused caps: %" GST_PTR_FORMAT, caps));
  g_free (refusal->latest);
  refusal->latest = text;
  return GST_PAD_PROBE_OK;
}

void
gst_ccl_refusal_init (GstCclRefusal *refusal, GstElement *element, GstPad *sink)
{
  refusal->element = element;
  refusal->latest = NULL;
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, look_at_event, refusal, NULL);
}

void
gst_ccl_refusal_clear (GstCclRefusal *refusal)
{
  g_clear_pointer (&refusal->latest, g_free);
}
