/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclrefusal.h"
#include "shared/gstccli18n.h"

#define CUDA_MEMORY "memory:CUDAMemory"
#define MOST_ELEMENTS 16 /* upstream, through which a question comes */

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
  return _ ("an element that copies them to system memory");
}

/* Why the first of the caps are refused. The caller frees the text. */
static gchar *
describe (const GstCaps *refused, const GstCaps *taken, const gchar *element)
{
  const GstCapsFeatures *features = gst_caps_get_features (refused, 0);
  const gchar *format = gst_structure_get_string (gst_caps_get_structure (refused, 0), "format");
  const gboolean is_cuda = gst_caps_features_contains (features, CUDA_MEMORY);

  if (!has_features (taken, features)) {
    g_autofree gchar *name = gst_caps_features_to_string (features);

    return g_strdup_printf (_ ("Frames in %s cannot be labelled: insert %s before %s"), name,
        find_converter (features), element);
  }
  if (!format)
    return g_strdup_printf (_ ("Frames in these formats cannot be labelled: insert %s before %s"),
        is_cuda ? "cudaconvert" : "videoconvert", element);
  return g_strdup_printf (
      is_cuda ? _ ("Frames in the format %s in CUDA memory cannot be labelled: insert "
                   "cudaconvert before %s")
              : _ ("Frames in the format %s cannot be labelled: insert videoconvert "
                   "before %s"),
      format, element);
}

/* Why the sink pad takes none of the caps, whatever the peer downstream takes; NULL if it takes
 * some or if they are not raw video alone. The caller frees the text. */
static gchar *
explain (GstElement *element, const GstCaps *caps)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  g_autoptr (GstCaps) taken =
      gst_pad_template_get_caps (gst_element_get_pad_template (element, "sink"));

  return is_raw_video (caps) && !gst_caps_can_intersect (caps, taken)
             ? describe (caps, taken, factory ? GST_OBJECT_NAME (factory) : _ ("this element"))
             : NULL;
}

/* Whether an element between the pads converts, so that caps at its sink pad do not reach its src
 * pad. */
static gboolean
is_converted (GstPad *sink, GstPad *src)
{
  g_autoptr (GstCaps) in = gst_pad_get_current_caps (sink);
  g_autoptr (GstCaps) out = gst_pad_get_current_caps (src);

  /* A queue may hold frames with former caps. */
  return !GST_PAD_IS_PROXY_CAPS (sink) && in && out && !gst_caps_is_equal (in, out);
}

/* The pad that feeds the element of a src pad, with the same caps; NULL if there is none, or not
 * just one. The caller unrefs it. */
static GstPad *
find_feeding_pad (GstPad *src)
{
  g_autoptr (GstIterator) links = gst_pad_iterate_internal_links (src);
  g_auto (GValue) item = G_VALUE_INIT;
  g_autoptr (GstPad) sink = NULL;
  guint n = 0;

  while (links && gst_iterator_next (links, &item) == GST_ITERATOR_OK) {
    g_clear_object (&sink);
    sink = g_value_dup_object (&item);
    g_value_reset (&item);
    n++;
  }
  return n == 1 && !is_converted (sink, src) ? gst_pad_get_peer (sink) : NULL;
}

static gboolean
has_caps (GstPad *pad, const GstCaps *caps)
{
  g_autoptr (GstCaps) present = gst_pad_get_current_caps (pad);

  return present && gst_caps_is_equal (present, caps);
}

/* Whether a pad upstream of the sink pad has these caps, so that their event is on its way: a pad
 * has the caps before it pushes their event. */
static gboolean
are_coming (GstPad *sink, const GstCaps *caps)
{
  g_autoptr (GstPad) pad = gst_pad_get_peer (sink);

  for (guint i = 0; i < MOST_ELEMENTS && pad; i++) {
    GstPad *next;

    if (has_caps (pad, caps))
      return TRUE;
    next = find_feeding_pad (pad);
    gst_object_unref (pad);
    pad = next;
  }
  return FALSE;
}

/* Posts an error, once, if the caps are refused. */
static void
look_at_caps (GstCclRefusal *refusal, const GstCaps *caps)
{
  g_autofree gchar *text = explain (refusal->element, caps);
  gboolean is_known;

  GST_OBJECT_LOCK (refusal->element);
  is_known = g_strcmp0 (refusal->latest, text) == 0;
  g_free (refusal->latest);
  refusal->latest = g_strdup (text);
  GST_OBJECT_UNLOCK (refusal->element);
  if (text && !is_known)
    GST_ELEMENT_ERROR (refusal->element, CORE, NEGOTIATION, ("%s", text),
        ("refused caps: %" GST_PTR_FORMAT, caps));
}

/* GStreamer refuses caps that the pad does not accept before the pad's event function sees them: a
 * probe is called earlier. The same event comes again with each frame. */
static GstPadProbeReturn
look_at_event (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    look_at_caps (data, caps);
  }
  return GST_PAD_PROBE_OK;
}

/* A question posts nothing. But queues, tees and the like ask instead of passing a caps event on,
 * and the event never arrives. */
static GstPadProbeReturn
look_at_query (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  GstCaps *caps;

  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    gst_query_parse_accept_caps (query, &caps);
    if (are_coming (pad, caps))
      look_at_caps (data, caps);
  }
  return GST_PAD_PROBE_OK;
}

void
gst_ccl_refusal_init (GstCclRefusal *refusal, GstElement *element, GstPad *sink)
{
  refusal->element = element;
  refusal->latest = NULL;
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, look_at_event, refusal, NULL);
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH,
      look_at_query, refusal, NULL);
}

void
gst_ccl_refusal_clear (GstCclRefusal *refusal)
{
  gchar *latest;

  GST_OBJECT_LOCK (refusal->element);
  latest = refusal->latest;
  refusal->latest = NULL;
  GST_OBJECT_UNLOCK (refusal->element);
  g_free (latest);
}
