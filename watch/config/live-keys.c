/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "live-keys.h"

#include <gst/gst.h>
#include <string.h>

#define REGION_SCHEDULE "schedule."

static const gchar *const own_keys[] = {"schedule", "time-zone", "motion", "least-motion",
    "cooldown", "settle-time", "most-motion", "pictures", "picture-boxes", "clips", "clip-pre",
    "clip-post", "timeout", "frozen", "max-delay", "stuck", "retry-min", "retry-max", NULL};
static const gchar *const elements[] = {"ccl", "ccltrack"};

/* A reference, or NULL. */
static GObjectClass *
class_of_element (const gchar *name)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);
  g_autoptr (GstPluginFeature) loaded =
      factory ? gst_plugin_feature_load (GST_PLUGIN_FEATURE (factory)) : NULL;

  return loaded ? g_type_class_ref (
                      gst_element_factory_get_element_type (GST_ELEMENT_FACTORY (loaded)))
                : NULL;
}

static gboolean
is_live_property (const GParamSpec *property)
{
  return property && (property->flags & GST_PARAM_MUTABLE_PLAYING) &&
         (property->flags & G_PARAM_WRITABLE);
}

static gboolean
is_live_property_key (const gchar *key)
{
  const gchar *dot = strchr (key, '.');
  gboolean is_live = FALSE;

  for (guint i = 0; dot && i < G_N_ELEMENTS (elements); i++)
    if (strlen (elements[i]) == (gsize)(dot - key) && strncmp (key, elements[i], dot - key) == 0) {
      GObjectClass *class = class_of_element (elements[i]);

      is_live = class && is_live_property (g_object_class_find_property (class, dot + 1));
      g_clear_pointer (&class, g_type_class_unref);
    }
  return is_live;
}

/* Clips of another stream begin with its connection. */
static gboolean
is_live (const WatchCameraConfig *config, const gchar *key)
{
  if (strcmp (key, "clips") == 0 && config->record_uri)
    return FALSE;
  return g_strv_contains (own_keys, key) || g_str_has_prefix (key, REGION_SCHEDULE) ||
         is_live_property_key (key);
}

/* Whether the keys of `a` that `b` has not, or not so, may change. */
static gboolean
differ_alone (const WatchCameraConfig *a, const WatchCameraConfig *b)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, a->keys);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (g_strcmp0 (g_hash_table_lookup (b->keys, key), value) != 0 && !is_live (a, key))
      return FALSE;
  return TRUE;
}

gboolean
watch_live_keys_differ_alone (const WatchCameraConfig *a, const WatchCameraConfig *b)
{
  return differ_alone (a, b) && differ_alone (b, a);
}

static void
add_properties (GPtrArray *keys, const gchar *element)
{
  GObjectClass *class = class_of_element (element);
  guint n = 0;
  g_autofree GParamSpec **properties = class ? g_object_class_list_properties (class, &n) : NULL;

  for (guint i = 0; i < n; i++)
    if (is_live_property (properties[i]))
      g_ptr_array_add (keys, g_strdup_printf ("%s.%s", element, properties[i]->name));
  g_clear_pointer (&class, g_type_class_unref);
}

gchar **
watch_live_keys_list (void)
{
  GPtrArray *keys = g_ptr_array_new ();

  for (const gchar *const *key = own_keys; *key; key++)
    g_ptr_array_add (keys, g_strdup (*key));
  g_ptr_array_add (keys, g_strdup (REGION_SCHEDULE "*"));
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    add_properties (keys, elements[i]);
  g_ptr_array_add (keys, NULL);
  return (gchar **)g_ptr_array_free (keys, FALSE);
}
