/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http.h"
#include "watch/config/http-address.h"

#include <libsoup/soup.h>
#include <string.h>

#include "http-connections.h"
#include "http-media.h"
#include "http-respond.h"
#include "http-routes.h"
#include "watch/system/log.h"

#define MAX_BODY_BYTES 65536
#define RETRY_SECONDS 2 /* until it listens */

struct _WatchHttp {
  SoupServer *server;
  WatchConnections *connections;
  WatchHttpRoutes *routes;
  gchar *address;
  gdouble timeout;
  gchar *trouble; /* why it cannot listen */
  guint retrying; /* id of a source; 0: it listens */
};

/* What browsers must not do with any response. */
static void
add_protection (SoupServerMessage *message)
{
  static const struct {
    const gchar *name, *value;
  } headers[] = {
      {"Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
          "media-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
          "frame-ancestors 'none'"},
      {"Cache-Control", "no-store"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (headers); i++)
    soup_message_headers_replace (
        soup_server_message_get_response_headers (message), headers[i].name, headers[i].value);
}

/* Called when the headers are here: a body that is too long is not kept. */
static void
check_headers (SoupServer *server, SoupServerMessage *message, const char *path, GHashTable *query,
    gpointer data)
{
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (message);

  add_protection (message);
  watch_http_media_note_range (message);
  if (soup_message_headers_get_encoding (headers) != SOUP_ENCODING_CHUNKED &&
      soup_message_headers_get_content_length (headers) <= MAX_BODY_BYTES)
    return;
  soup_message_body_set_accumulate (soup_server_message_get_request_body (message), FALSE);
  soup_message_headers_replace (
      soup_server_message_get_response_headers (message), "Connection", "close");
  watch_respond_error (message, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE, "the body is too long");
}

/* Tells where the server listens: the port may have been 0. */
static void
log_address (GSocketAddress *address)
{
  GInetSocketAddress *inet = G_INET_SOCKET_ADDRESS (address);
  g_autofree gchar *host = g_inet_address_to_string (g_inet_socket_address_get_address (inet));
  gboolean is_ipv6 = g_socket_address_get_family (address) == G_SOCKET_FAMILY_IPV6;

  watch_log_info ("web page at http://%s%s%s:%u/", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "",
      g_inet_socket_address_get_port (inet));
}

/* Each failure is reported once. */
static void
report_trouble (WatchHttp *self, const gchar *reason)
{
  if (g_strcmp0 (self->trouble, reason) != 0)
    watch_log_warning ("cannot listen at %s: %s; the cameras run without the page, which is tried "
                       "again every %d seconds",
        self->address, reason, RETRY_SECONDS);
  g_free (self->trouble);
  self->trouble = g_strdup (reason);
}

/* FALSE if the address is busy, or not there yet. */
static gboolean
listen_at (WatchHttp *self, GSocketAddress *address)
{
  g_autoptr (GSocketAddress) effective = NULL;
  g_autoptr (GError) error = NULL;

  self->connections = watch_connections_new (self->server, address, self->timeout, &error);
  if (!self->connections) {
    report_trouble (self, error->message);
    return FALSE;
  }
  effective = watch_connections_get_address (self->connections);
  log_address (effective);
  return TRUE;
}

static gboolean
on_retry (gpointer data)
{
  WatchHttp *self = data;
  g_autoptr (GSocketAddress) address = watch_http_address_parse (self->address, NULL);

  if (!listen_at (self, address))
    return G_SOURCE_CONTINUE;
  self->retrying = 0;
  return G_SOURCE_REMOVE;
}

static void
handle_request (SoupServer *server, SoupServerMessage *message, const char *path, GHashTable *query,
    gpointer data)
{
  watch_http_routes_handle (data, message, path, query);
}

WatchHttp *
watch_http_new (Watch *watch, GError **error)
{
  const WatchConfig *config = watch_get_config (watch);
  g_autoptr (GSocketAddress) address =
      config->http ? watch_http_address_parse (config->http, error) : NULL;
  WatchHttp *self;

  if (config->http && !address)
    return NULL;
  self = g_new0 (WatchHttp, 1);
  if (!address)
    return self;
  self->address = g_strdup (config->http);
  self->timeout = config->http_timeout;
  self->routes = watch_http_routes_new (watch);
  self->server = soup_server_new ("server-header", "ccl-watch", NULL);
  soup_server_add_early_handler (self->server, NULL, check_headers, NULL, NULL);
  soup_server_add_handler (self->server, NULL, handle_request, self->routes, NULL);
  if (!listen_at (self, address))
    self->retrying = g_timeout_add_seconds (RETRY_SECONDS, on_retry, self);
  return self;
}

gboolean
watch_http_free (WatchHttp *self, gint64 until)
{
  gboolean all_stopped = TRUE;

  if (self->retrying)
    g_source_remove (self->retrying);
  if (self->server)
    soup_server_disconnect (self->server);
  g_clear_pointer (&self->connections, watch_connections_free);
  if (self->routes)
    all_stopped = watch_http_routes_free (self->routes, until);
  g_clear_object (&self->server);
  g_free (self->address);
  g_free (self->trouble);
  g_free (self);
  return all_stopped;
}
