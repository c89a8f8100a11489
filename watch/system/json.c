/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "json.h"

JsonBuilder *
watch_json_begin (void)
{
  return json_builder_begin_object (json_builder_new ());
}

gchar *
watch_json_end (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = json_builder_get_root (json_builder_end_object (builder));

  g_object_unref (builder);
  return json_to_string (root, FALSE);
}

void
watch_json_append_number (GString *text, const gchar *format, gdouble number)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (text, g_ascii_formatd (digits, sizeof digits, format, number));
}

void
watch_json_add_text (JsonBuilder *builder, const gchar *name, const gchar *text)
{
  json_builder_set_member_name (builder, name);
  if (text)
    json_builder_add_string_value (builder, text);
  else
    json_builder_add_null_value (builder);
}

void
watch_json_add_int (JsonBuilder *builder, const gchar *name, gint64 number)
{
  json_builder_add_int_value (json_builder_set_member_name (builder, name), number);
}

void
watch_json_add_double (JsonBuilder *builder, const gchar *name, gdouble number)
{
  json_builder_add_double_value (json_builder_set_member_name (builder, name), number);
}

void
watch_json_add_boolean (JsonBuilder *builder, const gchar *name, gboolean is_true)
{
  json_builder_add_boolean_value (json_builder_set_member_name (builder, name), is_true);
}

void
watch_json_begin_object (JsonBuilder *builder, const gchar *name)
{
  json_builder_begin_object (json_builder_set_member_name (builder, name));
}

void
watch_json_begin_array (JsonBuilder *builder, const gchar *name)
{
  json_builder_begin_array (json_builder_set_member_name (builder, name));
}
