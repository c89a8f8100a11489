/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decoder.h"

#include <string.h>

#include "watch/system/log.h"

#define DECODER_TYPES                                                                              \
  (GST_ELEMENT_FACTORY_TYPE_DECODER | GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO |                       \
      GST_ELEMENT_FACTORY_TYPE_MEDIA_IMAGE)

/* The plugins with the decoders of a kind. */
static const struct {
  const gchar *kind;
  const gchar *plugins[3];
} kinds[] = {
    {"vaapi", {"va", "vaapi"}}, {"v4l2", {"v4l2codecs", "video4linux2"}}, {"nvdec", {"nvcodec"}}};

static const gchar *const *
plugins_of_kind (const gchar *kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kind, kinds[i].kind) == 0)
      return kinds[i].plugins;
  return NULL;
}

static gboolean
is_software (GstElementFactory *factory)
{
  const gchar *class = gst_element_factory_get_metadata (factory, GST_ELEMENT_METADATA_KLASS);

  return !class || !strstr (class, "Hardware");
}

static gboolean
is_named (const gchar *names, const gchar *name)
{
  g_auto (GStrv) list = g_strsplit (names, ",", 0);

  return g_strv_contains ((const gchar *const *)list, name);
}

static gboolean
is_wanted (const gchar *choice, GstElementFactory *factory)
{
  const gchar *plugin = gst_plugin_feature_get_plugin_name (GST_PLUGIN_FEATURE (factory));
  const gchar *const *plugins = plugins_of_kind (choice);

  if (strcmp (choice, "software") == 0)
    return is_software (factory);
  if (plugins)
    return plugin && g_strv_contains (plugins, plugin);
  return is_named (choice, GST_OBJECT_NAME (factory));
}

/* The camera's choice; NULL if it has none, or no longer. */
static const gchar *
get_choice (WatchCamera *camera)
{
  const gchar *choice = camera_config (camera)->decoder;

  return choice && strcmp (choice, "auto") != 0 &&
                 !g_atomic_int_get (&camera->atomic.has_failed_decoder)
             ? choice
             : NULL;
}

/* Whether decodebin3 can choose a wanted decoder for the stream. It ignores those of the lowest
 * rank. */
static gboolean
has_wanted (const gchar *choice, GstCaps *caps)
{
  GList *all = gst_element_factory_list_get_elements (DECODER_TYPES, GST_RANK_MARGINAL);
  GList *fitting = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, FALSE);
  gboolean has = FALSE;

  for (GList *l = fitting; l && !has; l = l->next)
    has = is_wanted (choice, l->data);
  gst_plugin_feature_list_free (fitting);
  gst_plugin_feature_list_free (all);
  return has;
}

/* decodebin3 asks a decoder whether it accepts the caps, and takes the next one if it does not. */
static GstPadProbeReturn
on_query (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  const gchar *choice = get_choice (data);
  GstCaps *caps;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ACCEPT_CAPS || !choice)
    return GST_PAD_PROBE_OK;
  gst_query_parse_accept_caps (query, &caps);
  if (!has_wanted (choice, caps))
    return GST_PAD_PROBE_OK;
  gst_query_set_accept_caps_result (query, FALSE);
  return GST_PAD_PROBE_HANDLED;
}

void
watch_decoder_add (WatchCamera *camera, GstElement *decoder)
{
  const gchar *choice = get_choice (camera);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (decoder, "sink");

  if (pad && choice && !is_wanted (choice, gst_element_get_factory (decoder)))
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, on_query, camera, NULL);
}

void
watch_decoder_note_running (WatchCamera *camera, GstElement *decoder)
{
  GstElementFactory *factory = gst_element_get_factory (decoder);
  const gchar *name = g_intern_string (GST_OBJECT_NAME (factory));
  const gchar *choice = camera_config (camera)->decoder;
  gboolean is_new;

  g_mutex_lock (&camera->lock);
  is_new = camera->locked.status.decoder != name;
  camera->locked.status.decoder = name;
  g_mutex_unlock (&camera->lock);
  if (!is_new)
    return;
  if (choice && strcmp (choice, "auto") != 0 && !is_wanted (choice, factory))
    watch_log_warning ("camera %s: decoded by %s, because %s (decoder=%s)", camera->name, name,
        g_atomic_int_get (&camera->atomic.has_failed_decoder)
            ? "the one that was asked for has failed"
            : "there is none as asked for",
        choice);
  else
    watch_log_info ("camera %s: decoded by %s", camera->name, name);
}

void
watch_decoder_note_failure (WatchCamera *camera, GstObject *element)
{
  GstElementFactory *factory =
      GST_IS_ELEMENT (element) ? gst_element_get_factory (GST_ELEMENT (element)) : NULL;
  const gchar *choice = get_choice (camera);

  if (choice && factory && watch_camera_is_first_frame (camera) &&
      gst_element_factory_list_is_type (factory, DECODER_TYPES) && is_wanted (choice, factory))
    g_atomic_int_set (&camera->atomic.has_failed_decoder, TRUE);
}
