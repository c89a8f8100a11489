/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "secrets.h"

#include <gst/gst.h>
#include <string.h>

#include "log.h"

static gboolean
tells_secret (const gchar *text)
{
  return text &&
         g_regex_match_simple ("pw|pass|secret|token|key|cookie", text, G_REGEX_CASELESS, 0);
}

static GParamSpec *
find_property (const gchar *uri, const gchar *name)
{
  g_autoptr (GstElement) source =
      uri ? gst_element_make_from_uri (GST_URI_SRC, uri, NULL, NULL) : NULL;

  /* It belongs to the class, which stays. */
  return source ? g_object_class_find_property (G_OBJECT_GET_CLASS (source), name) : NULL;
}

/* Numbers and choices are no secrets, for instance the length of a key. */
static gboolean
can_be_secret (const GParamSpec *property)
{
  const GType type = G_TYPE_FUNDAMENTAL (property->value_type);

  return type == G_TYPE_STRING || type == G_TYPE_BOXED || type == G_TYPE_OBJECT;
}

gboolean
watch_is_secret_key (const gchar *key, const gchar *uri)
{
  const gboolean is_source = g_str_has_prefix (key, "source.");
  const gchar *name = strchr (key, '.');
  GParamSpec *property;

  if (!is_source && !g_str_has_prefix (key, "decoder."))
    return FALSE;
  name++;
  property = is_source ? find_property (uri, name) : NULL;
  if (property && !can_be_secret (property))
    return FALSE;
  return tells_secret (name) || strcmp (name, "extra-headers") == 0 ||
         (property && (tells_secret (g_param_spec_get_nick (property)) ||
                          tells_secret (g_param_spec_get_blurb (property))));
}

/* GStreamer, which knows the properties, is not initialised before the arguments are read. */
static gchar *
hide_properties (const gchar *text)
{
  g_autoptr (GRegex) regex =
      g_regex_new ("((?:^|=)(?:source|decoder)\\.[^=]*=).*", G_REGEX_DOTALL, 0, NULL);
  gchar *clean = g_regex_replace (regex, text, -1, 0, "\\1***", 0, NULL);

  return clean ? clean : g_strdup ("");
}

void
watch_hide_arguments (gint argc, gchar **argv)
{
  for (gint i = 1; i < argc; i++) {
    const gsize length = strlen (argv[i]);
    g_autofree gchar *redacted = watch_redact (argv[i]);
    g_autofree gchar *clean = hide_properties (redacted);
    const gsize clean_length = MIN (strlen (clean), length);

    memcpy (argv[i], clean, clean_length);
    memset (argv[i] + clean_length, 0, length - clean_length);
  }
}
