/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclproperty.h"

static GParamSpec *
new_spec (const GstCclProperty *row, gconstpointer initial)
{
  const GParamFlags flags =
      row->flags | G_PARAM_STATIC_STRINGS |
      (row->kind == GST_CCL_KIND_STATS ? G_PARAM_READABLE : G_PARAM_READWRITE);
  gconstpointer field = G_STRUCT_MEMBER_P (initial, row->offset);

  switch (row->kind) {
  case GST_CCL_KIND_BOOLEAN:
    return g_param_spec_boolean (row->name, row->nick, row->blurb, *(const gboolean *)field, flags);
  case GST_CCL_KIND_UINT:
    return g_param_spec_uint (row->name, row->nick, row->blurb, (guint)row->minimum,
        (guint)row->maximum, *(const guint *)field, flags);
  case GST_CCL_KIND_INT:
    return g_param_spec_int (row->name, row->nick, row->blurb, (gint)row->minimum,
        (gint)row->maximum, *(const gint *)field, flags);
  case GST_CCL_KIND_DOUBLE:
    return g_param_spec_double (row->name, row->nick, row->blurb, row->minimum, row->maximum,
        *(const gdouble *)field, flags);
  case GST_CCL_KIND_ENUM:
    return g_param_spec_enum (
        row->name, row->nick, row->blurb, row->get_type (), *(const gint *)field, flags);
  case GST_CCL_KIND_FLAGS:
    return g_param_spec_flags (
        row->name, row->nick, row->blurb, row->get_type (), *(const guint *)field, flags);
  case GST_CCL_KIND_STRING:
    return g_param_spec_string (row->name, row->nick, row->blurb, *(gchar *const *)field, flags);
  case GST_CCL_KIND_STATS:
    return g_param_spec_boxed (row->name, row->nick, row->blurb, GST_TYPE_STRUCTURE, flags);
  }
  g_return_val_if_reached (NULL);
}

void
gst_ccl_properties_install (GObjectClass *object_class, const GstCclProperty *rows, guint n,
    guint class_bit, gconstpointer initial)
{
  for (guint i = 0; i < n; i++) {
    if (!(rows[i].classes & class_bit))
      continue;
    g_object_class_install_property (object_class, i + 1, new_spec (&rows[i], initial));
    if (rows[i].get_type)
      gst_type_mark_as_plugin_api (rows[i].get_type (), 0);
  }
}

void
gst_ccl_property_set (const GstCclProperty *row, gpointer fields, const GValue *value)
{
  gpointer field = G_STRUCT_MEMBER_P (fields, row->offset);

  switch (row->kind) {
  case GST_CCL_KIND_BOOLEAN:
    *(gboolean *)field = g_value_get_boolean (value);
    break;
  case GST_CCL_KIND_UINT:
    *(guint *)field = g_value_get_uint (value);
    break;
  case GST_CCL_KIND_INT:
    *(gint *)field = g_value_get_int (value);
    break;
  case GST_CCL_KIND_DOUBLE:
    *(gdouble *)field = g_value_get_double (value);
    break;
  case GST_CCL_KIND_ENUM:
    *(gint *)field = g_value_get_enum (value);
    break;
  case GST_CCL_KIND_FLAGS:
    *(guint *)field = g_value_get_flags (value);
    break;
  case GST_CCL_KIND_STRING:
    g_free (*(gchar **)field);
    *(gchar **)field = g_value_dup_string (value);
    break;
  case GST_CCL_KIND_STATS:
    break;
  }
}

gboolean
gst_ccl_property_get (const GstCclProperty *row, gconstpointer fields, GValue *value)
{
  gconstpointer field = G_STRUCT_MEMBER_P (fields, row->offset);

  switch (row->kind) {
  case GST_CCL_KIND_BOOLEAN:
    g_value_set_boolean (value, *(const gboolean *)field);
    return TRUE;
  case GST_CCL_KIND_UINT:
    g_value_set_uint (value, *(const guint *)field);
    return TRUE;
  case GST_CCL_KIND_INT:
    g_value_set_int (value, *(const gint *)field);
    return TRUE;
  case GST_CCL_KIND_DOUBLE:
    g_value_set_double (value, *(const gdouble *)field);
    return TRUE;
  case GST_CCL_KIND_ENUM:
    g_value_set_enum (value, *(const gint *)field);
    return TRUE;
  case GST_CCL_KIND_FLAGS:
    g_value_set_flags (value, *(const guint *)field);
    return TRUE;
  case GST_CCL_KIND_STRING:
    g_value_set_string (value, *(gchar *const *)field);
    return TRUE;
  case GST_CCL_KIND_STATS:
    break;
  }
  return FALSE;
}

void
gst_ccl_properties_clear (const GstCclProperty *rows, guint n, gpointer fields)
{
  for (guint i = 0; i < n; i++)
    if (rows[i].kind == GST_CCL_KIND_STRING)
      g_clear_pointer ((gchar **)G_STRUCT_MEMBER_P (fields, rows[i].offset), g_free);
}
