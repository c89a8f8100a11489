/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http-respond.h"

#include <string.h>

void
watch_respond (SoupServerMessage *message, guint status, const gchar *type, const gchar *text)
{
  soup_server_message_set_status (message, status, NULL);
  soup_server_message_set_response (message, type, SOUP_MEMORY_COPY, text, strlen (text));
}

void
watch_respond_json (SoupServerMessage *message, gchar *text)
{
  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  soup_server_message_set_response (
      message, "application/json", SOUP_MEMORY_TAKE, text, strlen (text));
}

void
watch_respond_bytes (SoupServerMessage *message, const gchar *type, GBytes *bytes)
{
  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  soup_message_headers_set_content_type (
      soup_server_message_get_response_headers (message), type, NULL);
  soup_message_body_append_bytes (soup_server_message_get_response_body (message), bytes);
}

void
watch_respond_error (SoupServerMessage *message, guint status, const gchar *text)
{
  g_autofree gchar *line = g_strdup_printf ("%s\n", text);

  watch_respond (message, status, "text/plain; charset=utf-8", line);
}

void
watch_respond_wrong_method (SoupServerMessage *message, const gchar *allowed)
{
  soup_message_headers_replace (
      soup_server_message_get_response_headers (message), "Allow", allowed);
  watch_respond_error (message, SOUP_STATUS_METHOD_NOT_ALLOWED, "this method is not possible here");
}
